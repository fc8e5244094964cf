"""The data set that is made on the user's machine from the documentation of libraries."""

import itertools
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from xmlcore import PLT, evaluate
from xmlcore.datasets import load
from xmlcore.datasets.registry import api_docs

DOC = """fit(x, *, y=None)

    Fit it to
    all rows.

    See `other` for more.

    .. math:: a = b

        a + b

    Parameters
    ----------
    x : int
        No prose.

    See Also
    --------
    mean, numpy.std : Two measures,
        which say more.
    :func:`~pack.inner.work` : Another.
    Base.go
    read the guide, too

    Notes
    -----
    median : Not related.
    """
SEE, NOTES = "See Also\n--------\n", "Notes\n-----\nz : 1"
DOCSTRINGS = {
    "whole": (DOC, ["Fit it to\nall rows."], ["mean", "numpy.std", "pack.inner.work", "Base.go"]),
    "at the end": (f"Do.\n\n\n  \nMore.\n\n{SEE}x : One.", ["Do.", "More."], ["x"]),
    "without blanks": (f"Do.\n\n{SEE}x: One.\ny:\n{NOTES}", ["Do."], ["x", "y"]),
    "other signs": ("Do.\n\nSee also:\n=========\n`x`, y()\n", ["Do."], ["x", "y"]),
    "none": (f"Do.\n\n>>> f()\n\n{NOTES}", ["Do."], []),
    "a short line": ("Do.\n\nSee Also\n--\nx : One.", ["Do."], []),
    "nothing": ("", [], []),
}  # fmt: skip


@pytest.mark.parametrize("kind", DOCSTRINGS)
def test_a_docstring_is_its_prose_and_the_names_of_see_also(kind):
    docstring, paragraphs, names = DOCSTRINGS[kind]
    assert api_docs.split_docstring(docstring) == (paragraphs, names)


def write_package(folder):
    package = folder / "pack"
    (package / "tests").mkdir(parents=True)
    doc = '"""Do the thing {}.\n\n    See Also\n    --------\n    {}\n    """'
    (package / "__init__.py").write_text(
        "print('noise')\nfrom pack.inner import work, Base, Child\nfrom os import path\n"
        "__all__ = ['work', 'Child', 'w']\nw = work\n"
    )
    (package / "inner.py").write_text(
        f"def work(a):\n    {doc.format('a, `inner.Base.go`, Child.still, SNAKE_1', 'inner.SNAKE_1, inner.Base : 2')}\n"
        f"alias = work\n_private = work\ndef _hidden(b):\n    {doc.format('b', 'work')}\n"
        f"def SNAKE_1():\n    {doc.format('s', 'pack.work')}\n"
        f"class Base:\n    {doc.format('c with ``x < 1``, `work`', 'nothing')}\n"
        f"    def go(self, d):\n        {doc.format('d', 'work, pack.inner.Base.go')}\n"
        f"    def _no(self):\n        {doc.format('e', 'work')}\n    def few(self):\n        'Do.'\n"
        f"class Child(Base):\n    @staticmethod\n    def still(f):\n        {doc.format('f', 'inner.Base.go')}\n"
    )
    (package / "broken.py").write_text("raise SystemExit('no')")
    (package / "_private.py").write_text(f"def f():\n    {doc.format('g', 'work')}\n")
    (package / "tests" / "__init__.py").write_text(f"def f():\n    {doc.format('h', 'work')}\n")


def test_a_scan_finds_functions_by_the_names_that_others_use(tmp_path, monkeypatch, capsys):
    write_package(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    reports = []
    try:
        rows = api_docs.scan(lambda **facts: reports.append(facts), ["pack"])
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "pack"]:
            del sys.modules[name]
    assert [(row["name"], row["text"], row["labels"]) for row in rows] == [
        ("pack.Child.still", "Do the thing f.", ["pack.Child.still", "pack.inner.Base.go"]),
        ("pack.inner.Base", "Do the thing c with x < 1, ….", ["pack.inner.Base"]),
        ("pack.inner.Base.go", "Do the thing d.", ["pack.inner.Base.go", "pack.work"]),
        ("pack.inner.SNAKE_1", "Do the thing s.", ["pack.inner.SNAKE_1", "pack.work"]),
        ("pack.work", "Do the thing a, …, Child.still, ….", ["pack.work", "pack.inner.SNAKE_1", "pack.inner.Base"]),
    ]
    assert [facts["failed"] for facts in reports if "failed" in facts] == ["pack.broken"]


@pytest.fixture(scope="session")
def built():
    reports = []
    dataset = api_docs.build(lambda phase, fraction, detail="": reports.append((phase, fraction)))
    return dataset, reports


def labels_of(dataset, row_name):
    """Names of the labels of a row, wherever it is."""
    part = "train" if row_name in dataset.row_names_train else "test"
    Y, row = getattr(dataset, f"Y_{part}"), getattr(dataset, f"row_names_{part}").index(row_name)
    return {dataset.label_name(j) for j in Y.indices[Y.indptr[row] : Y.indptr[row + 1]]}


def test_api_docs_is_a_real_long_tailed_data_set(built):
    dataset, reports = built
    rows = dataset.n_train + dataset.n_test
    assert 2500 < rows < 5000
    assert dataset.n_test == round(rows / 5)
    assert 2500 < dataset.n_features < 6000
    assert 1800 < dataset.n_labels < 4000
    assert len(dataset.feature_names) == dataset.n_features
    names = [*dataset.row_names_test, *dataset.row_names_train]
    assert len(set(names)) == rows
    assert not any(part.startswith("_") for name in names for part in name.split("."))
    assert {"numpy.mean", "numpy.sin", "pandas.read_csv", "scipy.special.gammainc", "numpy.ndarray.sort"} <= set(names)
    assert {"sklearn.svm.SVC", "numpy.concatenate", "pandas.DataFrame.dropna", "pandas.Series.str.lower"} <= set(names)
    counts = np.bincount(np.r_[dataset.Y_train.indices, dataset.Y_test.indices], minlength=dataset.n_labels)
    assert counts.min() >= 2 and np.median(counts) <= 3
    assert min(np.diff(dataset.Y_train.indptr)) > 0, "each row has a label"
    assert len({*dataset.texts_train, *dataset.texts_test}) == rows
    lengths = np.sqrt(dataset.X_train.multiply(dataset.X_train).sum(axis=1))
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)
    assert [phase for phase, _ in reports].index("Counting words") > 50
    assert all(0 <= fraction <= 1 for _, fraction in reports)
    assert "scikit-learn" in dataset.notes[0]


def test_rows_of_api_docs_are_in_random_order(built):
    names = built[0].row_names_train
    follow = np.mean([first < second for first, second in itertools.pairwise(names)])
    assert 0.4 < follow < 0.6
    third = {name.partition(".")[0] for name in names[: len(names) // 3]}
    assert third == {"numpy", "scipy", "sklearn", "pandas"}


def test_api_docs_keeps_its_texts_and_what_made_rows_of_them(built):
    dataset, _ = built
    for part in ("train", "test"):
        X = dataset.vectorizer.transform(getattr(dataset, f"texts_{part}"))
        assert (X != getattr(dataset, f"X_{part}")).nnz == 0
    others = TfidfVectorizer(min_df=2, sublinear_tf=True, token_pattern="[A-Za-z]{2,}")
    others.fit(dataset.texts_test + dataset.texts_train)
    assert list(others.get_feature_names_out()) == dataset.feature_names
    np.testing.assert_allclose(others.idf_, dataset.vectorizer.idf_, rtol=1e-12)


def test_api_docs_labels_are_the_function_and_its_see_also(built):
    dataset, _ = built
    assert labels_of(dataset, "pandas.read_csv") >= {"pandas.read_csv", "pandas.read_fwf", "pandas.read_table"}
    assert labels_of(dataset, "numpy.linalg.inv") >= {"numpy.linalg.inv", "scipy.linalg.inv"}
    assert "sklearn.preprocessing.StandardScaler" in labels_of(dataset, "sklearn.preprocessing.scale")


def test_texts_of_api_docs_do_not_tell_their_labels(built):
    dataset, _ = built
    telling = labels = 0
    for name, text in zip(dataset.row_names_train, dataset.texts_train):
        words = set(re.findall(r"\w+", text))
        own = {label.rpartition(".")[2] for label in labels_of(dataset, name)}
        assert not any("_" in word for word in own & words), name
        telling, labels = telling + len(own & words), labels + len(own)
    assert telling < 0.1 * labels, "a plain word such as sort may stand in a sentence"


def test_a_typed_sentence_finds_functions_in_api_docs(built):
    dataset, _ = built
    model = PLT().fit(dataset.X_train, dataset.Y_train, label_names=dataset.label_names)
    questions = {
        "read a csv file into a table": "pandas.read_csv",
        "random forest of decision trees for classification": "sklearn.ensemble.RandomForestClassifier",
        "inverse of a matrix": "scipy.linalg.inv",
        "fill missing values": "pandas.Series.fillna",
    }
    ranking = model.predict_topk(dataset.vectorizer.transform(questions), k=5)
    for name, found in zip(questions.values(), ranking.names(dataset.label_names)):
        assert name in found
    assert evaluate(model, dataset, k=1)["P@k"][0] > 0.4


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
