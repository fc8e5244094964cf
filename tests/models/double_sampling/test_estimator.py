"""DoubleSampling in blocks of rows, its phases, its extensions, and warming up."""

import numpy as np
import pytest
from models.double_sampling.problems import EXTENSIONS, binary, problem

from xmlcore import DoubleSampling
from xmlcore.models.double_sampling import learning, prediction, sampling


@pytest.mark.parametrize("params", [{}, EXTENSIONS[3], EXTENSIONS[4]], ids=str)
def test_blocks_of_rows_change_nothing_for_any_number_of_workers(params, monkeypatch):
    X, _, labels = problem(n=90, n_classes=30, n_terms=40, most=2)
    models = [DoubleSampling.preset("paper", **params).fit(X, binary(labels, 30))]
    for module in (sampling, learning, prediction):
        monkeypatch.setattr(module, "BLOCK", 7)
    models += [DoubleSampling.preset("paper", n_jobs=n, **params).fit(X, binary(labels, 30)) for n in (1, 3)]
    expected = models[0].predict_topk(X, 10)
    for model in models[1:]:
        assert np.array_equal(model.weights_, models[0].weights_)
        found = model.predict_topk(X, 10)
        assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)
    other = DoubleSampling.preset("paper", random_state=1, **params).fit(X, binary(labels, 30))
    assert not np.array_equal(other.weights_, models[0].weights_)


def test_progress_names_its_phases():
    X, _, labels = problem()
    seen = {}
    model = DoubleSampling.preset("paper").fit(
        X, binary(labels), progress=lambda p, f, d: seen.setdefault(p, []).append(f)
    )
    model.predict_topk(X, progress=lambda p, f, d: seen.setdefault(p, []).append(f))
    assert list(seen) == [
        "Adding up labels",
        "Drawing pairs",
        "Features of pairs",
        "Learning from pairs of a row and a label",
        "Predicting",
    ]
    assert all(fractions[-1] == 1.0 for fractions in seen.values())
