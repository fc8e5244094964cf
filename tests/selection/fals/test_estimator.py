"""FALS: its selection, network, warnings, saved files, and estimates of memory."""

import copy
import tracemalloc

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from selection.fals.problems import VARIANTS, problem

from xmlcore import FALS, load_model
from xmlcore.models import ModelFormatError
from xmlcore.selection.fals import training
from xmlcore.system import usable_cores


@pytest.mark.parametrize("params", VARIANTS, ids=str)
def test_threads_do_not_change_the_selection_and_a_seed_does(params, monkeypatch):
    X, Y = problem()
    monkeypatch.setattr(training, "SLICE_WORK", 100.0)
    first = FALS(4, n_epochs=2, random_state=3, n_jobs=1, **params).fit(X, Y)
    again = FALS(4, n_epochs=2, random_state=3, n_jobs=3, **params).fit(X, Y)
    other = FALS(4, n_epochs=1, random_state=4, n_jobs=1, **params).fit(X, Y)
    np.testing.assert_array_equal(first.scores_, again.scores_)
    np.testing.assert_array_equal(first.selected_, again.selected_)
    assert (first.scores_ != other.scores_).any()


@pytest.mark.parametrize("params", [*VARIANTS, {"max_score_bytes": 10}, {"keep_network": False}], ids=str)
def test_a_saved_selection_is_the_same_when_it_is_read(params, tmp_path):
    X, Y = problem()
    model = FALS(4, n_epochs=2, **params).fit(X, Y)
    back = load_model(model.save(tmp_path / "fals"))
    assert repr(back) == repr(model)
    fitted = {name for name in vars(model) if name.endswith("_") and name != "network_"}
    assert {name for name in vars(back) if name.endswith("_") and name != "network_"} == fitted
    for name in fitted:
        np.testing.assert_array_equal(getattr(back, name), getattr(model, name), err_msg=name)
    if model.network_ is None:
        with pytest.raises(ValueError, match="keep_network=True"):
            back.predict_proba(X)
    else:
        np.testing.assert_array_equal(back.predict_proba(X).toarray(), model.predict_proba(X).toarray())
        np.testing.assert_array_equal(back.attributions(X[:2]), model.attributions(X[:2]))


def test_a_pattern_changed_after_fitting_is_not_saved(tmp_path):
    X, Y = problem()
    for first, then in (("FALS", "FAMS"), ("FAMS", "FALS")):
        for kept in (0, 1 << 20):
            model = FALS(4, first, n_epochs=1, max_score_bytes=kept).fit(X, Y).set_params(pattern=then)
            back = load_model(model.save(tmp_path / f"{first} {kept}"))
            np.testing.assert_array_equal(back.selected_, model.selected_)
    with pytest.raises(AttributeError, match="all labels together take 48 bytes"):
        _ = FALS(4, "FAMS", n_epochs=1, max_score_bytes=0).fit(X, Y).scores_


def test_damaged_files_are_refused(tmp_path):
    X, Y = problem()
    model = FALS(4, n_epochs=1).fit(X, Y)
    for name, value in (
        ("selected_", model.selected_ + 20), ("scores_", model.scores_[:, 1:]), ("selected_", model.selected_ * 0),
        ("scores_", model.scores_ * np.float32(np.nan)), ("order_", "none"), ("scoring_", "auto"), ("costs_", [1]),
        ("layer_sizes_", []), ("layer_sizes_", "x"), ("layer_sizes_", [11, 8, 5]), ("n_scored_", 0), ("shared_", 2),
        ("n_rows_", None), ("seed_", -1),
    ):  # fmt: skip
        bad = copy.copy(model)
        setattr(bad, name, value)
        with pytest.raises(ModelFormatError):
            load_model(bad.save(tmp_path / name))


def test_binary_networks_are_of_one_label_each():
    X, Y = problem()
    model = FALS(4, n_epochs=3, binary=True, n_hidden=6).fit(X, Y)
    assert model.layer_sizes_ == [12, 6, 1] and model.network_.weights[0].shape == (5, 12, 6)
    fewer = FALS(4, n_epochs=3, binary=True, n_hidden=6).fit(X, Y[:, :2])
    np.testing.assert_array_equal(fewer.scores_, model.scores_[:2])  # no label knows of another
    into, out_of = model.network_.weights
    bias, last = model.network_.biases
    weights, biases = [into[3].tolist(), out_of[3].tolist()], [bias[3].tolist(), [float(last[3])]]
    expected = naive.fals.fals_scores(X.toarray().tolist(), weights, biases, "relu", "FALS")
    np.testing.assert_allclose(model.scores_[3], expected[0], rtol=1e-4)


@pytest.mark.parametrize("params, message", [
    ({"n_features": 13}, "n_features is 13, but X has 12 features"),
    ({"pattern": "FILS", "attribution": "lrp"}, "Fisher information"),
    ({"n_layers": 1, "n_hidden": 4}, "no hidden layer"),
    ({"binary": True, "n_layers": 3}, "binary=True is for n_layers=2"),
    ({"binary": True, "scoring": "sampled"}, "not for it"),
    ({"n_scored_rows": 61, "scoring": "sampled"}, "X has 60 rows: scoring='exact' uses all"),
    ({"learning_rate": 1e30}, "diverged"),
    ({"l2": 1e39}, "diverged"),
])  # fmt: skip
def test_parameters_that_do_not_fit_together_are_named(params, message):
    X, Y = problem()
    with pytest.raises((ValueError, TypeError), match=message):
        FALS(**params).fit(X, Y)


def test_features_in_other_units_are_warned_of():
    X, Y = problem(n=200)
    year = sp.csr_array(sp.hstack([X, sp.csr_array(np.full((200, 1), 2000, np.float32))]))
    with pytest.warns(UserWarning, match="feature 12 has absolute values up to 2,000, the median feature up to 1"):
        FALS(2).fit(year, Y)
    message = (
        r"scores of all \d+ feature\(s\) are 0 for all labels, .* values up to 2e.12, .*: divide each .*MaxAbsScaler"
    )
    for kind in (np.float32, np.int64, np.uint64):
        with pytest.raises(ValueError, match=message):
            FALS(2).fit((year * 1e9).astype(kind), Y)
    with pytest.warns(UserWarning, match="5 of 5 labels, label 0 first, have fewer than 12 features"):
        FALS(12, attribution="lrp").fit(X.multiply(np.arange(12) < 9).tocsr(), Y)


@pytest.mark.parametrize("params", [{"scoring": "sampled"}, {"binary": True}], ids=str)
def test_a_seed_is_the_same_number_whatever_its_type(params):
    X, Y = problem()
    seeds = (200, np.uint8(200), np.int32(200), np.uint32(200))
    models = [FALS(3, n_epochs=1, random_state=seed, **params).fit(X, Y) for seed in seeds]
    assert all(np.array_equal(model.scores_, models[0].scores_) for model in models)
    drawn = FALS(3, n_epochs=1, random_state=None).fit(X, Y)
    again = FALS(3, n_epochs=1, random_state=drawn.seed_).fit(X, Y)
    np.testing.assert_array_equal(drawn.scores_, again.scores_)


@pytest.mark.parametrize("params, scoring", [
    ({"scoring": "sampled", "n_scored_rows": 8}, "sampled"), ({"scoring": "exact"}, "exact"), ({}, "exact"),
])  # fmt: skip
def test_the_way_of_scoring_is_reported(params, scoring):
    X, Y = problem()
    model = FALS(3, n_epochs=1, **params).fit(X, Y)
    assert model.scoring_ == scoring == model.estimate(X, 5)["scoring"]
    assert model.n_scored_ == (8 if scoring == "sampled" else 60)
    if scoring == "exact":
        with pytest.raises(AttributeError, match="the scores are exact"):
            _ = model.standard_error_


def test_supports_mark_selected_features():
    X, Y = problem()
    model = FALS(0.25, n_epochs=1).fit(X, Y)
    assert model.n_selected_ == 3 and model.selected_.dtype == np.int32 and model.selected_.shape == (5, 3)
    assert np.flatnonzero(model.support(2)).tolist() == sorted(model.selected_[2].tolist())
    assert np.flatnonzero(model.support()).tolist() == np.unique(model.selected_).tolist()
    assert FALS(0.01, n_epochs=1).fit(X, Y).n_selected_ == 1
    assert FALS(1.0, n_epochs=1).fit(X, Y).n_selected_ == 12


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
        *((params, 20, 1_000) for params in FITS[:5]),
    ],
)
def test_a_fit_takes_the_memory_that_is_estimated(params, n_features, n_labels):
    random = np.random.default_rng(0)
    X, Y = (
        sp.csr_array((np.ones(240), random.integers(0, width, 240), np.arange(0, 241, 5)), shape=(48, width))
        for width in (n_features, n_labels)
    )
    model = FALS(**{"n_epochs": 1, "n_hidden": 4, "n_jobs": 1} | params)
    model.fit(*problem()), usable_cores()  # which import what is needed
    estimate = model.estimate(X, n_labels)["bytes"]
    tracemalloc.start()
    try:
        model.fit(X, Y > 0)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.3 * estimate < taken < 1.1 * estimate
