"""Result files: read, written whole or not at all, JSON with a line for each run."""

import json
import os
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "results"


def as_json(results):
    """JSON with a line for each run."""
    rest = json.dumps({name: value for name, value in results.items() if name != "runs"}, indent=1)
    runs = ",\n  ".join(json.dumps(run) for run in results["runs"])
    return f'{rest.removesuffix("}").rstrip()},\n "runs": [\n  {runs}\n ]\n}}\n'


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
