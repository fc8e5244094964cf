"""Agreement of explanations, and stability under noise."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from explain.fitted import NAMES, D, data
from scipy.stats import spearmanr

from xmlcore import PLT, explain
from xmlcore.robustness import GaussianNoise

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped", "ignore:.*splits separated nothing")


def frame_of(**parts):
    return pd.DataFrame({"feature": [int(name[1:]) for name in parts], "contribution": list(parts.values())})


class Noise:
    def __init__(self, sigma):
        self.sigma, self.calls = sigma, []

    def apply(self, X, rows=None, seed=0, *, model=None, Y=None, n_jobs=None):
        self.calls.append((X.shape, rows.tolist(), seed, Y.indices.tolist()))
        noise = [np.random.default_rng([seed, row]).standard_normal(X.shape[1]) for row in rows.tolist()]
        return sp.csr_array((X.toarray() + self.sigma * np.array(noise)).astype(np.float32))


def test_agreement_by_hand():
    a, b = frame_of(f0=4.0, f1=-3.0, f2=1.0), frame_of(f1=-3.0, f0=5.0, f7=0.5)
    found = explain.agreement(a, b, n=2)
    # sizes over 0, 1, 2, 7: (4, 3, 1, 0) and (5, 3, 0, 0.5)
    assert found == {"spearman": pytest.approx(0.8), "overlap": 1.0}
    assert explain.agreement(a, b, n=3)["overlap"] == pytest.approx(2 / 4)
    assert explain.agreement(a, a, n=2) == {"spearman": pytest.approx(1.0), "overlap": 1.0}
    assert math.isnan(explain.agreement(a, a, n=3)["overlap"]), "three features are all among the first three"


def test_agreement_shares_ranks_among_equals_as_scipy_does():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(-3, 4, (2, 12)).astype(float)
        found = explain.agreement(*(pd.DataFrame({"feature": range(12), "contribution": c}) for c in (a, b)))
        assert found["spearman"] == pytest.approx(spearmanr(np.abs(a), np.abs(b)).statistic)


def test_agreement_without_anything_to_rank():
    none, zero, one = frame_of(), frame_of(f1=0.0, f2=0.0), frame_of(f1=2.0)
    assert math.isnan(explain.agreement(one, one)["spearman"]) and math.isnan(explain.agreement(one, one)["overlap"])
    assert math.isnan(explain.agreement(zero, zero)["spearman"]) and explain.agreement(zero, none, 1)["overlap"] == 1
    assert explain.agreement(zero, one, 1)["overlap"] == 0
    assert math.isnan(explain.agreement(none, none)["spearman"])


@pytest.mark.parametrize("name", NAMES)
def test_explanations_agree_without_noise_and_less_with_noise(models, name):
    X, _ = data(12, n=1)
    label = int(models[name].predict_topk(X, 1).labels[0, 0])
    noise = Noise(0.0)
    still = explain.stability(models[name], X, label, noise, n_repeats=3, n=2, seed=7)
    assert noise.calls == [((3, D), [0, 1, 2], 7, [label] * 3)]
    assert still["repeat"].tolist() == [0, 1, 2] and (still["overlap"] == 1).all()
    np.testing.assert_allclose(still["spearman"], 1)
    np.testing.assert_allclose(still["total"], still.attrs["total"])
    noisy = [explain.stability(models[name], X, label, Noise(sigma), n_repeats=20, n=5) for sigma in (0.05, 3.0)]
    assert noisy[1]["overlap"].mean() < noisy[0]["overlap"].mean() <= 1


def test_stability_is_agreement_with_perturbed_rows(models):
    X, _ = data(13, n=1)
    noise, model = Noise(0.3), models["PLT"]
    found = explain.stability(model, X, 2, noise, n_repeats=4, n=3, seed=1)
    rows = noise.apply(sp.csr_array(sp.vstack([X] * 4)), np.arange(4), 1, Y=sp.csr_array(np.eye(1)))
    clean = explain.contributions(model, X, 2)
    for i in range(4):
        other = explain.contributions(model, rows[[i]], 2)
        expected = explain.agreement(clean, other, n=3)
        assert found["spearman"][i] == pytest.approx(expected["spearman"])
        assert found["overlap"][i] == expected["overlap"] and found["total"][i] == other.attrs["total"]


def test_rows_get_different_noise_with_one_seed():
    X, Y = np.eye(6, dtype=np.float32) + 0.1, [[i % 3] for i in range(6)]
    model = PLT(tol=1.0).fit(X, Y)
    noise = GaussianNoise(0.3)
    totals = [explain.stability(model, X[:1], 0, noise, 4, row=row)["total"].tolist() for row in (0, 0, 1)]
    assert totals[0] == totals[1] and not set(totals[0]) & set(totals[2])
