"""Selections are kept whole, and are what the selectors keep."""

import numpy as np
import pytest
from making import select

from xmlcore import experiment, store
from xmlcore.datasets import save_dataset
from xmlcore.selection import ChiSquaredSelection

FEW = {"n_epochs": 2, "n_hidden": 6}


def test_a_selection_is_what_the_selector_keeps(words):
    found = experiment.select(words, "ChiSquared", {"n_features": 4})
    fitted = ChiSquaredSelection(4).fit(words.X_train, words.Y_train)
    np.testing.assert_array_equal(found.selected, fitted.selected_)
    expected = np.take_along_axis(fitted.scores_, fitted.selected_, axis=1)
    np.testing.assert_allclose(found.selected_scores, expected)
    assert found.standard_error is None and found.selected.dtype == np.int32
    assert (found.title, found.shared, found.n_selected) == ("Chi-squared", False, 4)
    assert found.params == {"n_features": 4, "per_label": True} and found.times["fit_s"] > 0


def test_fals_is_kept_with_how_it_was_computed_and_its_model(words):
    from xmlcore.models import load_model

    fingerprint = save_dataset(words)
    key = experiment.keep(select(fingerprint, "FALS", FEW))
    assert key == select(fingerprint, "FALS", FEW).key and store.exists("selections", key)
    found = experiment.load("select", key)
    assert found.selected.shape == found.selected_scores.shape == (6, 3)
    assert found.info["scoring"] == "exact" and found.info["order"] and found.standard_error is None
    assert (np.diff(found.selected_scores, axis=1) <= 0).all()
    model = load_model(store.folder("selections", key) / "model")
    np.testing.assert_array_equal(model.selected_, found.selected)


@pytest.mark.parametrize("method", ["ChiSquared", "FALS"])
def test_scores_belong_to_their_features_when_all_are_kept(words, method):
    params = {"n_features": 1.0} | (FEW if method == "FALS" else {})
    found = experiment.select(words, method, params)
    assert found.n_selected == 30 and (np.diff(found.selected_scores, axis=1) <= 0).all()


def test_a_selection_is_not_refused_for_what_its_warm_up_gives(words):
    params = {"n_layers": 5, "n_epochs": 5, "random_state": 2, "n_features": 3}
    assert experiment.select(words, "FALS", params).n_selected == 3


@pytest.mark.parametrize("per_label", [True, False])
def test_scores_and_standard_errors_are_of_features_kept(words, per_label):
    n_rows = 25  # more than the warm-up has
    params = {**FEW, "pattern": "FALS" if per_label else "FAMS", "scoring": "sampled", "n_scored_rows": n_rows}
    found = experiment.select(words, "FALS", params)
    fitted = experiment.selector("FALS", params).fit(words.X_train, words.Y_train)
    for label in (0, 5):
        row = label if per_label else 0
        np.testing.assert_array_equal(found.standard_error[label], fitted.standard_error_[row, found.selected[label]])
        np.testing.assert_array_equal(found.selected_scores[label], fitted.scores_[row, found.selected[label]])


def test_patterns_for_all_labels_repeat_one_set(words):
    found = experiment.select(words, "FALS", {**FEW, "pattern": "FAMS"})
    assert found.shared and found.title == "FAMS"
    assert (found.selected == found.selected[0]).all() and found.selected_scores.shape == (6, 3)


def test_a_share_of_all_differs_from_one_feature():
    share = select("ab" * 16, "FALS", {"n_features": 1.0}).key
    count = select("ab" * 16, "FALS", {"n_features": 1}).key
    assert share != count
    assert select("ab" * 16, "FALS", {"n_features": 0.1}).key == select("ab" * 16).key


@pytest.mark.parametrize("method, params, said", [("ReliefF", None, "'ReliefF'"), ("FALS", {"depth": 3}, "depth")])
def test_what_a_method_refuses_is_refused_when_the_task_is_made(method, params, said):
    with pytest.raises(ValueError, match=said):
        select("0" * 32, method, params)


def test_memory_of_a_selection_is_known_before_it_is_made(words):
    for method in experiment.SELECTORS:
        found = experiment.selection_plan(words, method)
        assert found["seconds"] is None and found["bytes"] > 0
    assert experiment.selection_plan(words, "FALS")["order"]
    with pytest.raises(ValueError, match="FILS"):
        experiment.selection_plan(words, "FALS", {"pattern": "FILS", "attribution": "lrp"})
