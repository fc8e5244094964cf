"""Small data sets, and a kept result of every kind."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore.datasets import Dataset, save_dataset, write_matrix
from xmlcore.datasets.registry import catalog as registry

sys.path.insert(0, str(Path(__file__).parent))  # for `import making`

from making import kept, of_file  # noqa: E402


@pytest.fixture(scope="session")
def data():
    """A few labels for each row, from linear scores."""
    rng = np.random.default_rng(0)
    X = sp.random_array((150, 20), density=0.3, rng=rng, dtype=np.float32, format="csr")
    scores = X @ rng.standard_normal((20, 12))
    Y = sp.csr_array(scores > np.quantile(scores, 0.85, axis=0))
    return Dataset("toy", X[:120], Y[:120], X[120:], Y[120:])


@pytest.fixture(scope="session")
def easy():
    """Labels of groups of rows, each with features of its own."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 6, 260)
    Y = (rng.random((260, 12)) < 0.05) | (np.arange(12) // 2 == group[:, None]) & (rng.random((260, 12)) < 0.8)
    Y[:, 0] |= ~Y.any(axis=1)
    X = sp.csr_array(np.repeat(Y, 2, axis=1) * rng.uniform(0.5, 1.5, (260, 24)))
    return Dataset("easy", X[:200], Y[:200], X[200:], Y[200:])


@pytest.fixture
def key(easy):
    """The key of a small PLT on the easy data set."""
    return kept("train", {"dataset": save_dataset(easy)}, params={"max_leaf_labels": 4, "random_state": 2}, k=3).key


@pytest.fixture(scope="session")
def classes():
    """One class per row, some frequent and most rare."""
    rng = np.random.default_rng(1)
    means = rng.poisson(0.4, (40, 60)) * rng.integers(1, 4, (40, 60))
    of = np.minimum(rng.zipf(1.4, 700) - 1, 39)
    X = sp.csr_array(rng.poisson(0.05 + means[of]).astype(np.float32))
    Y = sp.csr_array((np.ones(700, bool), of, np.arange(701)), shape=(700, 40))
    return Dataset("classes", X[:500], Y[:500], X[500:], Y[500:])


@pytest.fixture(scope="session")
def words():
    """Three features for each label, and some that mean nothing."""
    rng = np.random.default_rng(3)
    Y = rng.random((160, 6)) < 0.3
    X = np.repeat(Y, 3, axis=1) * rng.uniform(0.5, 1.5, (160, 18)) * (rng.random((160, 18)) < 0.8)
    X = np.hstack([X, (rng.random((160, 12)) < 0.2).astype(float)])
    names = [f"word {j}" for j in range(30)]
    return Dataset("toy", X[:120], Y[:120], X[120:], Y[120:], feature_names=names)


def read_from(data):
    """A kept task that reads the training rows of a data set from a file."""
    with tempfile.TemporaryDirectory() as folder:
        write_matrix(Path(folder) / "train.txt", data.X_train, data.Y_train)
        return of_file("read", {}, (Path(folder) / "train.txt").read_bytes(), "train")


def read_documents(more=""):
    """A kept task that reads documents from a file; ``more`` is in one of them, and is no feature."""
    content = "text,labels\n" + "one two,a;b\nthree one,b\n" * 8 + f"one {more},b\n"
    return of_file("read_texts", {}, content.encode(), "train")


@pytest.fixture
def every_kind(easy, monkeypatch):
    """Makes a kept task of every kind; the data set of the catalog takes no time."""
    from types import SimpleNamespace

    entry, _ = registry._ENTRIES["api-docs"]
    made = SimpleNamespace(load=lambda progress: easy)
    monkeypatch.setattr(registry, "import_module", lambda name: made)
    monkeypatch.setitem(registry._ENTRIES, "api-docs", (entry, "anywhere"))
    return _every_kind


@pytest.fixture
def some_of_each(easy, classes, every_kind):
    """A kept task of every kind."""
    return every_kind(easy, classes)


def _every_kind(easy, classes, name="other"):
    """Return a kept task of every kind; ``name`` is in the uploads."""
    few = {"n_epochs": 2, "n_hidden": 6}
    of = {"dataset": save_dataset(easy)}
    run = kept("train", of)
    trees = kept("train", of, model="LdSM", params={"n_estimators": 3, "max_nodes": 20})
    one_class = kept("train", {"dataset": save_dataset(classes)}, model="DoubleSampling")
    selection = kept("select", of, params=few)
    return [
        kept("prepare", {}, name="api-docs"),
        kept("synthetic", {}, n_train=60, n_test=20),
        kept("export", of),
        kept("description", of),
        run,
        selection,
        kept("compare_selections", of, selections=[None, ["ChiSquared", {}]], shares=[0.1], seeds=[0]),
        kept("selection_stability", of, params=few, seeds=[0, 1]),
        kept("reduced", {"selection": selection.key}, n_per_label=2),
        kept("prefixes", {"run": trees.key}),
        kept("measures", {"run": run.key}, n_resamples=20),
        kept("node_quality", {"run": run.key}),
        kept("decide", {"run": run.key}),
        kept("robustness", {"run": run.key}, kind="gaussian", levels=[0.1], n_repeats=1),
        kept("explanations", {"run": run.key}, n_rows=5),
        kept("review", {"run": run.key}, parts=2),
        kept("to_label", {"run": run.key}, n=3),
        kept("correct", of, decisions=[[0, 0, "add"]]),
        kept("sampling", {"run": one_class.key}, n_candidates=[2, 5]),
        kept("examine", of),
        kept("map", of),
        kept("split", of),
        kept("tree", of, params={"n_estimators": 2}),
        kept("trial", of, model="OneVsRest"),
        kept("sweep", of, model="OneVsRest", grid={"C": [1.0]}),
        kept("learning_curve", of, model="OneVsRest", shares=[0.5, 1.0], seeds=[0]),
        read_from(easy),
        documents := read_documents(name),
        kept("words", {"dataset": documents.load().dataset}, vectorizer={"ngrams": (1, 2)}),
        packed := kept("pack_model", {"run": run.key}),
        opened := of_file("open_model", {}, packed.file().read_bytes(), "model"),
        of_file("given_predictions", of, b"0\n" * easy.n_test, "predictions", name=name),
        of_file("predict", {"run": run.key}, b"0:1 3:2\n1:1\n"),
        of_file("predict_opened", {"packed": opened.key}, b"0:1 3:2\n1:1\n"),
    ]
