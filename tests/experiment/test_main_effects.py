"""Shares of the differences between settings that one parameter explains."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway

from xmlcore.experiment import main_effects
from xmlcore.experiment.main_effects import FEW, NONE, ONE_VALUE, SAME


def grid(effect_a=0.0, effect_b=0.0, noise=0.01, seeds=1, seed=0, n_a=3, n_b=4):
    random = np.random.default_rng(seed)
    lines = [
        {"rung": 0, "setting": i, "a": 10.0**a, "b": "xyzw"[b], "seed": s,
         "value": 0.5 + effect_a * a + effect_b * b + noise * random.standard_normal()}
        for i, (a, b) in enumerate(itertools.product(range(n_a), range(n_b))) for s in range(seeds)
    ]  # fmt: skip
    return pd.DataFrame(lines)


def test_effects_are_those_of_analysis_of_variance():
    trials = grid(0.05, 0.01, seeds=2)
    found = main_effects(trials, ["b", "a"]).set_index("parameter")
    assert found.index.tolist() == ["a", "b"] and set(found["n_settings"]) == {12}
    means = trials.groupby(["a", "b"])["value"].mean().reset_index()
    for name in "ab":
        groups = [part["value"] for _, part in means.groupby(name)]
        assert found.loc[name, "p"] == pytest.approx(f_oneway(*groups).pvalue)
        eta = sum(len(g) * (g.mean() - means["value"].mean()) ** 2 for g in groups) / (11 * means["value"].var())
        assert found.loc[name, "share"] == pytest.approx(eta)


def test_no_influence_is_told_from_a_small_one():
    for share, why in ((0.0, SAME), (1e-6, "")):
        found = main_effects(grid(0.05, share, noise=0.0), ["b", "a"]).set_index("parameter")["why"]
        assert found.to_dict() == {"a": "", "b": why}


def test_no_difference_is_said_of_whole_grids_only():
    drawn = {
        "C": [1, 1, 2, 3, 4, 5, 6, 7],
        "eps": [0.1, 0.2] * 4,
        "value": [0.5, 0.5, 0.3, 0.7, 0.31, 0.72, 0.29, 0.69],
    }
    drawn = pd.DataFrame(drawn | {"rung": 0, "setting": range(8)})
    assert (
        main_effects(drawn, ["eps"]).loc[0, "p"] < 0.05
        and main_effects(drawn, ["C", "eps"])["why"].tolist().count(SAME) == 0
    )
    beams = {
        "C": [0.1] * 3 + [1.0] * 3 + [9.0] * 3,
        "beam": [None, 2, 8] * 3,
        "value": [0.1] * 3 + [0.5] * 3 + [0.6] * 3,
    }
    found = main_effects(pd.DataFrame(beams | {"rung": 0, "setting": range(9)}), ["C", "beam"])
    assert found.set_index("parameter")["why"].to_dict() == {"C": "", "beam": SAME}


def test_the_test_of_no_influence_holds_its_level():
    found = [main_effects(grid(noise=1.0, seed=seed, n_a=2, n_b=3), ["a", "b"]) for seed in range(40)]
    assert 0.02 < (pd.concat(found)["p"] < 0.05).mean() < 0.08


def test_drawn_numbers_are_grouped():
    random = np.random.default_rng(0)
    drawn = pd.DataFrame(
        {"rung": 0, "setting": range(40), "C": random.random(40), "name": [f"n{i}" for i in range(40)]}
    )
    drawn["one"], drawn["value"] = 5, drawn["C"] ** 2
    found = main_effects(drawn, ["C", "name", "one"]).set_index("parameter")
    assert found.loc["C", "share"] > 0.9 and found.loc["C", "n_groups"] == 6
    assert found["why"].to_dict() == {"C": "", "name": FEW, "one": ONE_VALUE} and found["share"].isna().sum() == 2
    assert main_effects(drawn[:5], ["C"])["why"].tolist() == [FEW]
    assert main_effects(drawn.assign(value=0.5, C=[1, 2] * 20), ["C"])["why"].tolist() == [NONE]
    assert main_effects(drawn.assign(value=np.nan), ["C"])["why"].tolist() == [FEW]


def test_effects_are_of_the_first_round_of_halving():
    first = grid(0.05).assign(rung=0)
    best = first[first["a"] == 100].assign(rung=1, value=0.99)
    failed = first.assign(setting=first["setting"] + 100, value=np.nan)
    every = main_effects(pd.concat([first, best, failed]), ["a", "b"])
    assert every.equals(main_effects(first, ["a", "b"])) and every["n_settings"].tolist() == [12, 12]
