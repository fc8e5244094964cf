"""What features do in kept runs."""

import functools

import numpy as np
import pytest
from making import stop, train

from xmlcore import experiment
from xmlcore.datasets import save_dataset
from xmlcore.progress import Cancelled


@pytest.mark.parametrize("model", ["PLT", "OneVsRest", "LdSM", "DoubleSampling"])
@pytest.mark.filterwarnings("ignore:.*splits separated nothing")
def test_explanations_are_made_for_a_sample_of_test_rows(easy, model):
    key = experiment.keep(train(save_dataset(easy), model, {"n_estimators": 2} if model == "LdSM" else {}))
    fractions, made = [], functools.partial(experiment.task, "explanations", {"run": key})
    stored = experiment.keep(made({"n_rows": 12, "seed": 3}), lambda _, fraction, *__: fractions.append(fraction))
    assert fractions == sorted(fractions) and len(set(fractions)) > 12
    assert stored == made({"seed": 3, "n_rows": 12}).key
    found = experiment.load("explanations", stored)
    assert found.rows.size == 12 and found.n_test == 60 and (np.diff(easy.X_test[found.rows].indptr) > 0).all()
    assert set(found.deletion["row"]) == set(found.rows)
    methods = {"magnitude", "random"} | ({"contributions"} if model != "DoubleSampling" else set())
    assert set(found.deletion["method"]) == methods
    assert set(found.stability["row"]) == set(found.rows) and set(found.stability["sigma"]) == {0.1, 0.3, 1.0}
    assert found.importance["mean_abs"].is_monotonic_decreasing and len(found.importance)
    assert experiment.keep(made({"n_rows": 12, "seed": 3}), stop) == stored
    with pytest.raises(Cancelled):
        experiment.keep(made({"n_rows": 13}), stop)
