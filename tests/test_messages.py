"""Messages of errors have little of the user's data, however much there is."""

import ast
from pathlib import Path

import numpy as np
import pytest

from xmlcore import PLT, metrics, robustness
from xmlcore.datasets import DatasetFormatError, load, make_synthetic, read_matrix, read_texts
from xmlcore.datasets.texts import TextVectorizer

PACKAGE = Path(__file__).parent.parent / "xmlcore"
LONG = "x" * 100_000
OWN = {"first_use.py", "wrapping.py", "run_code.py"}  # of names in Python's own words, and of Python code


def whole_values(path):
    """Yield the places of a file at which an f-string has the whole ``repr`` of a value."""
    tree = ast.parse(path.read_text())
    shown = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "__repr__"]
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.conversion == ord("r") and node.format_spec is None:
            is_part = isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Slice)
            is_constant = isinstance(node.value, ast.Name) and node.value.id.isupper()
            if not is_part and not is_constant and not any(f.lineno <= node.lineno <= f.end_lineno for f in shown):
                yield f"{path}:{node.lineno}"


def test_no_message_has_the_whole_of_a_value():
    assert not [place for path in PACKAGE.rglob("*.py") if path.name not in OWN for place in whole_values(path)]


@pytest.mark.parametrize("call", [
    lambda: PLT(C=LONG).fit(np.eye(2), [[0], [1]]),
    lambda: PLT(n_estimators=-(10**4000)).fit(np.eye(2), [[0], [1]]),
    lambda: PLT().set_params(**{LONG: 1}),
    lambda: PLT(loss=[LONG]).fit(np.eye(2), [[0], [1]]),
    lambda: load(LONG),
    lambda: make_synthetic(shape=LONG),
    lambda: metrics.precision_at_k([[0]], [[0]], k=LONG),
    lambda: robustness.evaluate(None, np.eye(2), [[0], [1]], kind=LONG),
    lambda: TextVectorizer(pattern=LONG).fit(["a"]),
])  # fmt: skip
def test_an_error_about_a_long_value_is_short(call):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert len(str(caught.value)) < 800


@pytest.mark.parametrize(("name", "content", "read", "options"), [
    ("a.csv", f"{LONG},b\n1,2\n", read_matrix, {}),
    ("a.csv", f"{LONG},{LONG}\n1,2\n", read_matrix, {"labels": [LONG]}),
    ("a.csv", f"a,b\n1,{LONG}\n", read_matrix, {"labels": -1}),
    ("a.txt", f"1 2 2\n{LONG} 0:1\n", read_matrix, {}),
    ("a.arff", f"@relation a\n@attribute {LONG} {LONG}\n@data\n1\n", read_matrix, {"labels": [LONG]}),
    ("a.jsonl", f'{{"{LONG}": 1}}\n', read_texts, {"text": LONG}),
    ("a.tsv", f"{LONG}\t{LONG}\nb\tc\n", read_texts, {"text": LONG, "labels": "d"}),
])  # fmt: skip
def test_an_error_about_a_file_of_long_names_is_short(name, content, read, options, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(DatasetFormatError) as caught:
        read(tmp_path / name, **options)
    assert len(str(caught.value).replace(str(tmp_path), "")) < 1300
