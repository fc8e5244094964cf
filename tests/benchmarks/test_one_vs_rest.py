"""The benchmark of the C that OneVsRest chooses."""

import pytest

from benchmarks import one_vs_rest
from benchmarks.library import files
from xmlcore.datasets import make_synthetic


def test_the_chosen_C_is_measured_beside_1_and_the_best_of_a_grid(monkeypatch):
    data = make_synthetic(n_train=700, n_test=10, n_features=60, n_labels=8)
    monkeypatch.setattr(one_vs_rest, "GRID", (1.0, 8.0))
    found = one_vs_rest.measure(data.X_train, data.Y_train)
    assert (found["rows"], found["labels"]) == (560, 8) and found["C"] > 0
    assert found["chosen"]["fit_s"] > 0 and found["fixed"]["fit_s"] > 0
    # A label tree of one level with C = 1 is the model with C = 1, so the grid has that, too.
    assert all(best >= fixed - 0.02 for best, fixed in zip(found["best"], found["fixed"]["P"]))
    text = one_vs_rest.markdown({"data": {"small": found}, "date": "today"})
    gained = 100 * (found["chosen"]["P"][0] - found["fixed"]["P"][0])
    assert f"| small | 560 | 8 | {found['C']:.3g} | {gained:.2f} / " in text


def test_the_committed_table_is_that_of_the_committed_results():
    results = files.read_json(one_vs_rest.RESULTS)
    assert one_vs_rest.RESULTS.with_suffix(".md").read_text(encoding="utf-8") == one_vs_rest.markdown(results)
    assert set(results["data"]) == set(one_vs_rest.DATA)


@pytest.mark.parametrize("name", one_vs_rest.DATA)
def test_the_chosen_C_is_at_most_half_a_point_worse_than_1(name):
    """What the documentation says of the committed figures."""
    found = files.read_json(one_vs_rest.RESULTS)["data"][name]
    assert all(chosen >= fixed - 0.005 for chosen, fixed in zip(found["chosen"]["P"], found["fixed"]["P"]))
