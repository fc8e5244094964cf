"""The rule that chooses defaults on held-out rows, what it is applied to, and the tables."""

import json

import numpy as np
import pytest

from benchmarks import recommended
from benchmarks.library import files, recommended_tables
from tests.benchmarks import making


def one(P, time=1.0):
    return {"measures": {"P@1": P, "P@3": P}, "seconds": 7 * time, "time": time}


def held_out(**candidates):
    """Two data sets; a candidate is a pair of its values, the reference has 50."""
    rows = [{"reference": one(50.0)} | {name: both[at] for name, both in candidates.items()} for at in (0, 1)]
    return {name: {"train": 9, "rest": 9, "splits": 1, "rows": rows[at]} for at, name in enumerate(("a", "b"))}


def test_the_best_mean_gain_is_taken_and_what_gains_only_where_it_had_a_say_is_noise():
    found = held_out(
        slow=(one(80.0, 3.0), one(80.0, 3.0)),
        loses=(one(90.0), one(49.0)),
        good=(one(60.0, 4.0), one(55.0, 0.9)),
        fair=(one(55.0), one(55.0)),
        failed=({"failed": "it diverged"}, one(99.0)),
    )
    assert recommended_tables.choose(found) == "good"
    assert recommended_tables.choose(held_out(worse=(one(40.0), one(40.0)))) == "reference"
    assert recommended_tables.choose(found, ["a"]) == "loses"
    assert recommended_tables.choose(found, ["a"], paper="slow") == "loses"
    assert recommended_tables.choose(found, paper="slow") == "slow"  # twice its own time is allowed
    assert recommended_tables.left_out(found) == {"a": ("failed", -1.0), "b": ("loses", pytest.approx(-0.02))}
    noise = held_out(one_likes=(one(60.0), one(49.9)), other_likes=(one(49.9), one(55.0)))
    assert recommended_tables.choose(noise) == "one_likes" and recommended_tables.recommended(noise) == "reference"
    assert recommended_tables.recommended(held_out(good=(one(60.0), one(55.0)))) == "good"
    reference, other = ({"measures": {"OE": value, "AP": 0.5}} for value in (0.4, 0.2))
    assert recommended_tables.gain(other, reference) == pytest.approx(0.5)


def test_candidates_are_judged_on_rows_that_they_were_not_trained_on_and_name_parameters():
    X, Y = np.arange(40)[:, None], np.arange(40)[:, None]
    train, _, rest, _ = recommended.split(X, Y, seed=0, most=20)
    assert len(train) == 20 and len(rest) == 13 and not set(train.ravel()) & set(rest.ravel())
    for method in recommended.METHODS.values():
        assert method.candidates["reference"] == {} and method.reference in method.model.PRESETS
        for changes in method.candidates.values():
            assert changes.keys() <= recommended.params_of(method, {}).keys()


def test_the_defaults_are_what_the_rule_takes_on_the_committed_figures():
    results = files.read_json(recommended.OUT)
    for name, method in recommended.METHODS.items():
        taken = method.candidates[recommended_tables.recommended(results[name]["held out"], method.paper)]
        assert recommended.params_of(method, taken) == method.model.presets()["recommended"], name
    text = recommended.OUT.with_suffix(".md").read_text(encoding="utf-8")
    assert text == recommended_tables.markdown(results)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(recommended.METHODS))
def test_a_method_is_measured_from_beginning_to_end(kind, tmp_path, monkeypatch):
    making.write_data(tmp_path, "made", n_train=240, n_features=30, labels_per_row=1.0)
    method = recommended.METHODS[kind]
    few, fit = dict(list(method.candidates.items())[:2]), recommended.fit_once
    sizes = {"n_estimators": 2, "n_epochs": 2, "max_nodes": 50}

    def fit_small(method, params, *others):
        return fit(method, params | {key: value for key, value in sizes.items() if key in params}, *others)

    monkeypatch.setattr(recommended, "fit_once", fit_small)
    monkeypatch.setitem(recommended.METHODS, kind, method._replace(candidates=few))
    monkeypatch.setattr(recommended, "MOST_LABELS", 3)
    out = ["--out", str(tmp_path / "found.json")]
    for more in ([], ["--missing"], ["--test"]):
        monkeypatch.setattr(
            "sys.argv", ["x", str(tmp_path), "--method", kind, "--data", "made", "--splits", "1", *out, *more]
        )
        recommended.main()
    found = json.loads((tmp_path / "found.json").read_text())[kind]
    assert not [row for row in found["held out"]["made"]["rows"].values() if "failed" in row]
    assert found["test"]["made"].keys() == method.model.presets().keys()
    text = (tmp_path / "found.md").read_text()
    assert "**Held-out training rows**" in text and "**Test rows**" in text
