"""The study of partial_fit: what it trains, and its table."""

import numpy as np
import pytest

from benchmarks import partial_fit
from benchmarks.library import files
from xmlcore.datasets import make_synthetic


@pytest.mark.parametrize("name, params", [("LdSM", {"n_estimators": 2, "max_nodes": 9}), ("DoubleSampling", {})])
def test_the_three_models_are_measured_on_the_test_rows(name, params):
    data = make_synthetic(n_train=330, n_test=40, n_features=200, n_labels=8, random_state=0)
    found = partial_fit.measured(partial_fit.MODELS[name], data, 1, params)
    for which in partial_fit.NAMES:
        assert found[which]["seconds"] >= 0 and 5 < found[which]["P@1"] <= 100
    first, rest = partial_fit.divided(330, 1)
    assert (first.size, rest.size) == (300, 30) and np.array_equal(np.sort([*first, *rest]), np.arange(330))


def test_the_table_has_the_change_and_the_cost():
    def fit(more):
        return {"seconds": 0.5 * more + 1, "P@1": 60.0 - more, "P@3": 40.0, "P@5": 30.0}

    fits = [{"all": fit(0), "first": fit(3), "more": fit(at) | {"seconds": 0.1}} for at in (0, 2)]
    results = {"runs": [{"model": "LdSM", "data": "bibtex", "fits": fits}], "date": "today", "threads": 1,
               "machine": {"cpu": "a processor", "cores": 2, "memory_gib": None, "system": "Linux"}, "versions": {},
               "xmlcore_code": "a"}  # fmt: skip
    shown = partial_fit.markdown(results)
    assert "| bibtex | 60.00 / 40.00 / 30.00 | 57.00 / 40.00 / 30.00 | 59.00 / 40.00 / 30.00 | -1.00 ± 12.71 |" in shown
    assert shown.splitlines()[-4].endswith("| 10.0 % |") or "| 1 | 10.0 % |" in shown


def test_the_committed_table_is_that_of_the_committed_results():
    results = files.read_json(partial_fit.RESULT)
    assert partial_fit.RESULT.with_suffix(".md").read_text(encoding="utf-8") == partial_fit.markdown(results)
    assert {run["model"] for run in results["runs"]} == partial_fit.MODELS.keys()
