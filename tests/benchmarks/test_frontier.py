"""The benchmark of what precision costs."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import frontier
from benchmarks.library import files
from xmlcore import PLT, Ranking, metrics
from xmlcore.datasets import make_synthetic


def test_shares_of_a_row_add_up_to_one_and_missing_labels_have_none():
    ranking = Ranking(np.array([[2, 0], [1, -1], [0, 1]], np.int32), np.array([[3, 1], [2, 0], [0, 0]], np.float32))
    assert frontier.shares(ranking, 3).toarray().tolist() == [[0.25, 0, 0.75], [0, 1, 0], [0, 0, 0]]


def test_the_weights_are_those_of_the_best_member_when_the_other_is_always_wrong():
    Y = sp.csr_array(np.eye(6, dtype=bool))
    right, wrong = sp.csr_array(np.eye(6)), sp.csr_array(np.roll(np.eye(6), 1, axis=1))
    weights = frontier.best_weights([wrong, right], Y, metrics.inverse_propensity(Y))
    assert weights[1] > weights[0] and sum(weights) == pytest.approx(1)


def test_methods_and_their_mixture_are_measured_and_slow_ones_are_left_out(monkeypatch):
    data = make_synthetic(n_train=400, n_test=60, n_features=60, n_labels=8)
    monkeypatch.setattr(frontier, "METHODS", {"a": PLT(n_jobs=1), "b": PLT(n_estimators=2, n_jobs=1)})
    monkeypatch.setattr(frontier, "MEMBERS", ("a", "b"))
    lines = frontier.measure(data, 100.0, say=lambda text: None)
    assert [line["run"] for line in lines] == ["a", "b", "Mixture"]
    assert lines[2]["fit_s"] > lines[0]["fit_s"] + lines[1]["fit_s"] and sum(lines[2]["weights"].values()) == 1
    assert list(frontier.frame_of(lines)["run"]) == ["a", "b", "Mixture"]
    slow = frontier.measure(data, 0.0, say=lambda text: None)
    assert [line["run"] for line in slow] == ["a", "b"] and all("left out" in line["failed"] for line in slow)
    text = frontier.markdown({"data": {"small": {"date": "2026-01-01", "runs": [*lines, *slow]}}})
    assert "left out" in text and "**" in text


def test_committed_tables_are_those_of_the_committed_results():
    results = files.read_json(frontier.RESULTS)
    assert frontier.RESULTS.with_suffix(".md").read_text(encoding="utf-8") == frontier.markdown(results)
    assert frontier.as_json(results) == frontier.RESULTS.read_text(encoding="utf-8")
