"""The data set that is made on the user's machine from the documentation of libraries."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from xmlcore.datasets import load
from xmlcore.datasets.registry import api_docs

DOC = """Fit it.

    Text before.

    Parameters
    ----------
    X, y : array-like of shape (n, d)
        Long text: with colons.

        ====  =====
        a     b
        ====  =====

    *args, **kwargs
        More.
    sample_weight: array, default=None
    `alpha` : float
    This is a sentence, not a name : really

    Returns
    -------
    self : object
        Parameters are gone.
    """


RETURNS = "Returns\n-------\nw : int"
TWO_MORE = "Parameters\n==========\nx : int\n\n---\ny : int\n\n Notes\n -----\nz : int\n\nNotes\n---- -\n"
DOCSTRINGS = {
    "whole": (DOC, "Fit it.\n\nText before.\n\nReturns\n-------\nself : object\n    Parameters are gone.",
              ["X", "y", "args", "kwargs", "sample_weight", "alpha"]),
    "at the end": ("Do.\n\nParameters\n----------\nx : int\n    One.\n", "Do.", ["x"]),
    "to the next underlined line": (f"Do.\n\n{TWO_MORE}{RETURNS}", f"Do.\n\n{RETURNS}", ["x", "y", "z", "Notes"]),
    "none": (f"Do.\n\n{RETURNS}", None, None),
    "others": ("Do.\n\nOther Parameters\n----------------\nx : int", None, None),
    "in a line": ("Parameters : x", None, None),
    "the line above": ("----------\nParameters", None, None),
    "too short a line": ("Do.\n\n    Indented\n\n  Parameters\n  --\n  x : int", None, None),
    "nothing": ("", None, None),
}  # fmt: skip


@pytest.mark.parametrize("kind", DOCSTRINGS)
def test_the_section_of_parameters_leaves_the_docstring(kind):
    docstring, text, names = DOCSTRINGS[kind]
    found = api_docs.split_docstring(docstring)
    assert (found and (found[0].strip(), found[1])) == (None if text is None else (text, names))


def write_package(folder):
    package = folder / "pack"
    (package / "tests").mkdir(parents=True)
    doc = '"""Do.\n\n    Parameters\n    ----------\n    {} : int\n    """'
    (package / "__init__.py").write_text(
        "print('noise')\nfrom pack.inner import work, Base, Child\nfrom os import path\n__all__ = ['work', 'Child']\n"
    )
    (package / "inner.py").write_text(
        f"def work(a):\n    {doc.format('a')}\nalias = work\n_private = work\n"
        f"def _hidden(b):\n    {doc.format('b')}\n"
        f"class Base:\n    {doc.format('c')}\n    def go(self, d):\n        {doc.format('d')}\n"
        f"    def _no(self):\n        {doc.format('e')}\n"
        f"class Child(Base):\n    @staticmethod\n    def still(f):\n        {doc.format('f')}\n"
    )
    (package / "broken.py").write_text("raise SystemExit('no')")
    (package / "_private.py").write_text(f"def f():\n    {doc.format('g')}\n")
    (package / "tests" / "__init__.py").write_text(f"def f():\n    {doc.format('h')}\n")


def test_a_scan_finds_each_object_once_by_its_shortest_name(tmp_path, monkeypatch, capsys):
    write_package(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    reports = []
    try:
        rows = api_docs.scan(lambda **facts: reports.append(facts), ["pack"])
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "pack"]:
            del sys.modules[name]
    assert [(row["name"], row["parameters"]) for row in rows] == [
        ("pack.Child.still", ["f"]),
        ("pack.inner.Base", ["c"]),
        ("pack.inner.Base.go", ["d"]),
        ("pack.work", ["a"]),
    ]
    assert [facts["failed"] for facts in reports if "failed" in facts] == ["pack.broken"]


@pytest.fixture(scope="session")
def built():
    reports = []
    dataset = api_docs.build(lambda phase, fraction, detail="": reports.append((phase, fraction)))
    return dataset, reports


def test_api_docs_is_a_real_long_tailed_data_set(built):
    dataset, reports = built
    rows = dataset.n_train + dataset.n_test
    assert 3500 < rows < 8000
    assert dataset.n_test == round(rows / 5)
    assert 6000 < dataset.n_features < 15000
    assert 900 < dataset.n_labels < 3000
    assert len(dataset.feature_names) == dataset.n_features
    names = [*dataset.row_names_train, *dataset.row_names_test]
    assert len(set(names)) == rows
    assert not any(part.startswith("_") for name in names for part in name.split("."))
    assert {"numpy.mean", "numpy.sin", "pandas.read_csv", "scipy.special.gammainc", "numpy.ndarray.sort"} <= set(names)
    assert {"sklearn.svm.SVC", "sklearn.linear_model.LogisticRegression.fit", "pandas.DataFrame.dropna"} <= set(names)
    counts = np.bincount(np.r_[dataset.Y_train.indices, dataset.Y_test.indices], minlength=dataset.n_labels)
    assert counts.min() >= 2
    assert "random_state" in dataset.label_names
    lengths = np.sqrt(dataset.X_train.multiply(dataset.X_train).sum(axis=1))
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)
    assert [phase for phase, _ in reports].index("Counting words") > 50
    assert all(0 <= fraction <= 1 for _, fraction in reports)
    assert "scikit-learn" in dataset.notes[0]


def test_api_docs_keeps_its_texts_and_what_made_rows_of_them(built):
    dataset, _ = built
    assert all(text.startswith(f"{name}\n") for name, text in zip(dataset.row_names_test, dataset.texts_test))
    for part in ("train", "test"):
        X = dataset.vectorizer.transform(getattr(dataset, f"texts_{part}"))
        assert (X != getattr(dataset, f"X_{part}")).nnz == 0
    others = TfidfVectorizer(min_df=2, token_pattern="[A-Za-z]{2,}").fit(dataset.texts_train + dataset.texts_test)
    assert list(others.get_feature_names_out()) == dataset.feature_names
    np.testing.assert_allclose(others.idf_, dataset.vectorizer.idf_, rtol=1e-12)


def test_api_docs_labels_are_the_parameters_of_the_function(built):
    dataset, _ = built
    names = dataset.row_names_train + dataset.row_names_test
    row = names.index("sklearn.metrics.accuracy_score")
    Y, row = (dataset.Y_train, row) if row < dataset.n_train else (dataset.Y_test, row - dataset.n_train)
    labels = {dataset.label_name(j) for j in Y.indices[Y.indptr[row] : Y.indptr[row + 1]]}
    assert labels == {"y_true", "y_pred", "normalize", "sample_weight"}


@pytest.mark.slow
def test_api_docs_depends_on_no_hash_seed_and_no_imports(built):
    code = (
        f"import sys; sys.path[:] = {json.dumps(sys.path)}\n"
        "import sklearn.experimental.enable_halving_search_cv, scipy.stats\n"
        "import sklearn.feature_extraction.text\n"  # which fitting a vectoriser needs
        "from xmlcore.datasets.registry import api_docs\n"
        "before = set(sys.modules)\n"
        "fingerprint = api_docs.build(lambda *facts: None).fingerprint\n"
        "new = set(sys.modules) - before\n"
        "print(fingerprint, {name for name in new if name.startswith(('sklearn', 'pandas'))})"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": "17"})
    assert done.stdout.strip() == f"{built[0].fingerprint} set()", done.stderr


def test_api_docs_is_kept_and_made_again_for_other_versions(built, monkeypatch):
    calls = []
    monkeypatch.setattr(api_docs, "build", lambda progress: calls.append(1) or built[0])
    first = load("api-docs")
    phases = []
    second = load("api-docs", progress=lambda *facts: phases.append(facts))
    assert (len(calls), first.fingerprint) == (1, second.fingerprint)
    assert second.row_names_test == built[0].row_names_test
    assert phases[-1][1] == 1.0
    monkeypatch.setattr(api_docs, "_versions", lambda: {"numpy": "99"})
    load("api-docs")
    assert len(calls) == 2


def test_a_scan_that_dies_is_a_clear_error(monkeypatch):
    monkeypatch.setattr(api_docs.sys, "path", ["/nowhere"])
    with pytest.raises(RuntimeError, match="documentation could not be read|ended with code"):
        monkeypatch.setattr(api_docs, "__file__", "/nowhere/scan.py")
        api_docs._scan_in_process(lambda *facts: None)
