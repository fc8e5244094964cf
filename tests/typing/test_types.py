"""Type checkers know the public names: scripts of users pass, and mistakes are found.

The scripts are the examples of the documentation, page by page, and ``right.py`` and ``wrong.py`` of this folder.
"""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from public_names import public_functions

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
NUMPY = tuple(map(int, np.__version__.split(".")[:2]))
# Pages whose examples no type checker can follow, with the reason.
LEFT_OUT = {
    "architecture": "parts of files",
    "text": "a data set has a vectoriser and texts if it was made of texts, which its type does not say",
    "own_texts": "the same",
}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """A folder with the scripts, far from the checkout: xmlcore is found as an installed package is."""
    folder = tmp_path_factory.mktemp("scripts")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        if blocks and page.stem not in LEFT_OUT:
            name = "_".join(page.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
            (folder / f"page_{name}.py").write_text("\n".join(blocks), encoding="utf-8")
    for name in ("right.py", "wrong.py"):
        (folder / name).write_text((HERE / name).read_text(encoding="utf-8"), encoding="utf-8")
    assert (folder / "page_README.py").is_file()
    return folder


def run(*command, folder):
    """The output of a type checker that runs in a folder, with xmlcore on the path."""
    path = {"PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=os.environ | path, capture_output=True, text=True
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr  # there are errors, those of wrong.py
    return ran.stdout


def assert_only_the_mistakes(found, folder):
    """``found`` are the errors: file and line -> message."""
    lines = (folder / "wrong.py").read_text(encoding="utf-8").splitlines()
    expected = {("wrong.py", number) for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert not {place: message for place, message in found.items() if place not in expected}
    assert found.keys() == expected


@pytest.mark.slow
@pytest.mark.skipif(NUMPY < (2, 3), reason="the types of NumPy before 2.3 are partly unknown")
def test_pyright_passes_scripts_and_finds_mistakes(scripts):
    report = json.loads(run("pyright", "--outputjson", "--pythonpath", sys.executable, ".", folder=scripts))
    assert report["summary"]["filesAnalyzed"] == len(list(scripts.glob("*.py")))
    errors = [one for one in report["generalDiagnostics"] if one["severity"] == "error"]
    found = {(Path(one["file"]).name, one["range"]["start"]["line"] + 1): one["message"] for one in errors}
    assert_only_the_mistakes(found, scripts)


@pytest.mark.slow
@pytest.mark.long  # pyright finds the same mistakes in the same scripts
def test_mypy_passes_scripts_and_finds_mistakes(scripts, tmp_path):
    # As for installed packages, errors in xmlcore are not reported, and packages without types are Any.
    options = ("--follow-imports=silent", "--ignore-missing-imports", "--check-untyped-defs", "--no-color-output")
    text = run("mypy", *options, "--cache-dir", str(tmp_path), ".", folder=scripts)
    errors = re.findall(r"^(\w+\.py):(\d+): error: (.*)$", text, re.MULTILINE)
    assert_only_the_mistakes({(name, int(line)): message for name, line, message in errors}, scripts)


def test_every_public_function_is_typed():
    functions = public_functions()
    assert len(functions) > 450
    lacking = []
    for name, function in functions.items():
        signature = inspect.signature(function)
        lacking += [
            f"{name}: {parameter.name}"
            for number, parameter in enumerate(signature.parameters.values())
            if parameter.annotation is parameter.empty and not (number == 0 and parameter.name in ("self", "cls"))
        ]
        if signature.return_annotation is signature.empty and not name.endswith("__init__"):
            lacking.append(f"{name}: its result")
    assert not lacking
