"""The search in several trees finds what its plain-Python twin finds."""

import os
import subprocess
import sys

import naive
import numpy as np
import pytest
from _kernels.plt_problems import sparse_rows

from xmlcore import PLT
from xmlcore._kernels.plt_ensemble import as_ensemble
from xmlcore._kernels.plt_search_ensemble import search_ensemble
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.validation import csr_parts

SHAPES = [("logistic", 2, 1, 2), ("logistic", 3, 4, 3), ("squared_hinge", 2, 5, 4), ("squared_hinge", 2, 99, 3)]


@pytest.fixture(scope="module", params=SHAPES)
def searched(request):
    """An ensemble with unused labels and labels of all rows, and what it finds with brute force and by the kernel."""
    loss, arity, leaf, n_trees = request.param
    Y = np.random.default_rng(0).random((60, 17)) < 0.15
    Y[:, 4], Y[:, 9], Y[:, 12] = False, True, Y[:, 11]
    C = 10.0 if loss == "logistic" else 1.0
    model = PLT(loss=loss, C=C, arity=arity, max_leaf_labels=leaf, n_estimators=n_trees, n_jobs=1)
    model.fit(sparse_rows(60, 25, 0), Y)
    X = sparse_rows(15, 25, 100)
    taken = model._search().take(csr_parts(X), (0, 15))
    rows = [naive.plt_rows.in_columns(x, model.feature_of_column_) for x in X.toarray().astype(float)]
    every = [naive.plt_search_ensemble.search_ensemble(model.fitted_, loss, x, 17) for x in rows]

    def top(k, beam=0):
        labels, sums = np.full((15, k), -1, np.int32), np.zeros((15, k))
        together = as_ensemble(model.fitted_, model.leaves_, model._search().gains(None))
        search_ensemble(together, LOSS_NUMBERS[loss], taken, np.arange(15), beam, labels, sums)
        return labels, sums

    return every, top


@pytest.mark.parametrize("k", [1, 3, 17])
def test_the_best_labels_are_those_of_brute_force(searched, k):
    every, top = searched
    for expected, labels, sums in zip(every, *top(k)):
        expected = [(label, total) for label, total in expected[:k] if total > 0]
        np.testing.assert_allclose(sums[: len(expected)], [total for _, total in expected], rtol=1e-4)
        assert (labels[len(expected) :] == -1).all() and (sums[len(expected) :] == 0).all()
        scores = dict(expected)  # labels may change places where rounding to float32 decides
        assert labels[: len(expected)].tolist() == sorted(scores, key=lambda one: (-round(scores[one], 6), one))


@pytest.mark.parametrize("beam", [1, 2])
def test_with_a_beam_every_label_that_is_found_has_its_exact_sum(searched, beam):
    every, top = searched
    for expected, labels, sums in zip(every, *top(5, beam)):
        scores = dict(expected)
        found = labels[labels >= 0]
        assert found.size and np.unique(found).size == found.size
        np.testing.assert_allclose(sums[: found.size], [scores[label] for label in found], rtol=1e-4)
        assert (np.diff(sums) <= 0).all() and sums[0] <= expected[0][1] * (1 + 1e-4)


def test_a_wide_beam_finds_what_the_exact_search_finds(searched):
    _, top = searched
    for exact, wide in zip(top(5), top(5, 64)):
        np.testing.assert_array_equal(exact, wide)


PREDICT = """
import sys
import numpy as np
from xmlcore import load_model

model, X, found = load_model(sys.argv[1]), np.load(sys.argv[2]), []
for beam in (None, 1, 2):
    for k in (1, 3, model.n_labels_):
        found.append(model.set_params(beam=beam).predict_topk(X, k).labels.ravel())
np.save(sys.argv[3], np.concatenate(found))
"""


@pytest.mark.parametrize(
    "leaf, C, unlabelled", [(1, 0.1, 0), pytest.param(2, 1.0, 20, marks=[pytest.mark.slow, pytest.mark.long])]
)
def test_nothing_is_read_or_written_outside_an_array(tmp_path, monkeypatch, leaf, C, unlabelled):
    """Without the compiler, in another process, an index outside an array is an error.

    Rows without labels give each root a probability, which is 0 in some trees only for some rows of large values.
    """
    random = np.random.default_rng(0)
    X = (random.random((60, 12)) * (random.random((60, 12)) < 0.5)).astype(np.float32)
    Y = np.eye(9, dtype=bool)[random.integers(0, 9, 60)] | (random.random((60, 9)) < 0.1)
    Y[:unlabelled] = False
    settings = {"loss": "logistic", "C": C, "n_estimators": 3, "n_jobs": 1, "weight_threshold": 0, "normalize": None}
    PLT(tree="random", arity=2, max_leaf_labels=leaf, **settings).fit(X, Y).save(tmp_path / "model")
    far = random.normal(size=(3 * unlabelled, 12)) * 10 ** random.uniform(0, 6, (3 * unlabelled, 1))
    np.save(tmp_path / "X.npy", np.concatenate([X[:20], far]))
    names = [str(tmp_path / name) for name in ("model", "X.npy", "without.npy", "found.npy")]
    command = [sys.executable, "-c", PREDICT, *names[:3]]
    subprocess.run(command, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, check=True)
    monkeypatch.setattr(sys, "argv", ["", *names[:2], names[3]])
    exec(PREDICT, {})
    np.testing.assert_array_equal(*map(np.load, names[2:]))
