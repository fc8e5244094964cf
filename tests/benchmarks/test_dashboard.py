"""The study of interactions with the dashboard: its percentile, and its table."""

import numpy as np

from benchmarks import dashboard, many_results
from benchmarks.library import browser


def test_the_percentile_is_the_smallest_value_that_one_in_twenty_exceeds():
    values = np.random.default_rng(0).permutation(100).tolist()
    assert browser.percentile_95(values) == 94
    assert browser.percentile_95([3.0]) == 3.0


def test_the_table_names_what_takes_longer_than_a_second():
    machine = {"cpu": "a processor", "cores": 2, "memory_gib": 8.0, "system": "Linux"}
    results = {
        "date": "2025-01-01", "machine": machine, "versions": {"numba": "1"}, "threads": 2, "data": "toy", "rounds": 2,
        "xmlcore_code": "abc", "runs": [
            {"page": "Train", "what": "open", "seconds": [0.5, 1.5]},
            {"page": "Data", "what": "random row", "seconds": [0.2, 0.4]},
        ],
    }  # fmt: skip
    text = dashboard.markdown(results)
    assert "2 interactions, 2 rounds" in text and "at most 1.50 s" in text
    assert "Longer than one second in a round: Train: open." in text
    assert "| Data | random row | 0.30 | 0.40 |" in text and "While a training runs" not in text
    results["busy"] = [{"page": "Trees", "what": "open", "seconds": [1.0, 2.5]}]
    text = dashboard.markdown(results)
    assert "on all cores: median 1.75 s, at most 2.50 s." in text and "| Trees | open | 1.75 | 2.50 |" in text


def test_every_page_is_opened_and_55_interactions_are_timed():
    assert sum(1 + len(interactions) for interactions in dashboard.INTERACTIONS.values()) == 55


def test_28_interactions_with_the_compare_page_are_timed_with_1000_results():
    assert len(many_results.INTERACTIONS["Compare"]) == 28
    machine = {"cpu": "a processor", "cores": 2, "memory_gib": 8.0, "system": "Linux"}
    results = {
        "date": "2025-01-01", "machine": machine, "versions": {"numba": "1"}, "threads": 2, "data": "toy", "rounds": 2,
        "count": 1000, "xmlcore_code": "abc", "runs": [{"page": "Compare", "what": "open", "seconds": [0.5, 0.7]}],
    }  # fmt: skip
    text = many_results.markdown(results)
    assert "With 1,000 results on toy: 1 interactions, 2 rounds." in text and "in a round: none." in text
