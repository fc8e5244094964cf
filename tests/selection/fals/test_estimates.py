"""Estimates of memory know the parameters."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from selection.fals.problems import VARIANTS, problem

from xmlcore import FALS


def test_estimates_need_no_fit():
    X, Y = problem()
    estimate = FALS().estimate(X, 5)
    assert estimate["order"] in estimate["costs"] and estimate["n_hidden"] == round((12 * 5) ** 0.5)
    assert FALS().estimate((60, 12), 5, nnz=X.nnz)["costs"] == estimate["costs"]
    small, large = FALS().estimate((10**4, 500), 100), FALS().estimate((10**5, 500), 1000)
    assert large["bytes"] > small["bytes"]
    huge = FALS().estimate((65_687, 36_865), 2000, nnz=742_000)
    assert huge["scoring"] == "sampled" and 3.8e9 < huge["bytes"] < 8e9
    for params in VARIANTS:
        assert FALS(**params).estimate(X, 5)["bytes"] > 0


def test_estimates_depend_on_draws_and_binary_networks():
    X, Y = problem()
    large = ((10_000, 20_000), 50, 400_000)
    few, many = (FALS(scoring="sampled", n_scored_rows=n).estimate(*large)["bytes"] for n in (16, 9_000))
    assert few < many < few + (1 << 30)  # drawn rows go through in parts
    for activation in ("relu", "sigmoid"):
        model = FALS(2, binary=True, n_hidden=20, activation=activation, n_epochs=1)
        assert model.estimate(X, 5)["order"] == model.fit(X, Y).order_ == "expanded"
    assert FALS().estimate(X.toarray().tolist(), 5)["costs"] == FALS().estimate(X, 5)["costs"]


@pytest.mark.parametrize("shape, nnz, message", [
    ((60,), None, r"must be \(rows, features\)"), ((60, 10, 3), None, r"must be \(rows, features\)"),
    ((60, 10), -5, "nnz must be at least 0"), ((60, 10), 10**9, "nnz must be from 0 to 600"),
])  # fmt: skip
def test_impossible_shapes_are_refused(shape, nnz, message):
    with pytest.raises(ValueError, match=message):
        FALS().estimate(shape, 4, nnz)


def test_a_network_that_does_not_fit_into_memory_is_refused(monkeypatch):
    X, Y = problem()
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 1_000)
    with pytest.raises(MemoryError, match="about .* GB of memory for 12 features and 5 labels, but 0.0 GB are free"):
        FALS().fit(X, Y, progress=lambda *_: pytest.fail("it trains"))
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 1 << 34)
    for binary in (False, True):
        with pytest.raises(MemoryError, match="set n_hidden or n_epochs to a smaller number"):
            FALS(n_epochs=2**31 - 1, binary=binary).fit(X, Y)
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: None)
    FALS(n_epochs=1).fit(X, Y)


FITS = (
    {"n_jobs": 2}, {"n_layers": 3}, {"binary": True}, {"pattern": "FAMS"}, {"scoring": "sampled", "n_scored_rows": 16},
    {"attribution": "deeplift"}, {"attribution": "lrp", "scoring": "sampled", "n_scored_rows": 16},
)  # fmt: skip


@pytest.mark.parametrize(
    ("params", "n_features", "n_labels"),
    [
        *((params, 100_000, 7) for params in FITS[3:5]),
        *((params, 20_000, 7) for params in FITS[:3] + FITS[5:]),
        *((params, 20, 2_000) for params in FITS[:5]),
    ],
)
def test_a_fit_takes_the_memory_that_is_estimated(params, n_features, n_labels):
    random = np.random.default_rng(0)
    X, Y = (
        sp.csr_array((np.ones(240), random.integers(0, width, 240), np.arange(0, 241, 5)), shape=(48, width))
        for width in (n_features, n_labels)
    )
    model = FALS(**{"n_epochs": 1, "n_hidden": 4, "n_jobs": 1} | params)
    model.fit(*problem())  # imports what it needs
    estimate = model.estimate(X, n_labels)["bytes"]
    tracemalloc.start()
    try:
        model.fit(X, Y > 0)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.3 * estimate < taken < 1.1 * estimate
