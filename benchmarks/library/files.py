"""Result files: read, written whole or not at all, JSON with a line for each run."""

import json
import os
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "results"


def as_json(results):
    """Return results as JSON with a line for each run."""
    rest = json.dumps({name: value for name, value in results.items() if name != "runs"}, indent=1)
    runs = ",\n  ".join(json.dumps(run) for run in results["runs"])
    return f'{rest.removesuffix("}").rstrip()},\n "runs": [\n  {runs}\n ]\n}}\n'


def read_json(path):
    """Return the content of a JSON file; an empty dict if there is no file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def write_results(path, results, text):
    """Write results to a JSON file, and their tables to a Markdown file beside it."""
    write(path, as_json(results))
    write(path.with_suffix(".md"), text)


def write_sets(path, sets, text):
    """Write results of data sets to a JSON file, with a line for each run, and their tables to a Markdown file."""
    blocks = [f"{json.dumps(name)}: {as_json(found).rstrip()}" for name, found in sets.items()]
    write(path, '{"data": {\n' + ",\n".join(blocks) + "\n}}\n")
    write(path.with_suffix(".md"), text)


def write(path, text):
    """Write a text file as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
