"""Measures on perturbed rows: against loops by hand."""

import math

import naive
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from xmlcore import PLT, Ranking, metrics
from xmlcore.datasets import describe, make_synthetic
from xmlcore.progress import Cancelled
from xmlcore.robustness import GaussianNoise, evaluate, evaluation, summarise


@pytest.fixture(scope="module")
def data():
    return make_synthetic("small", n_train=300, n_test=120, n_features=80, n_labels=30, features_per_row=12)


@pytest.fixture(scope="module")
def model(data):
    return PLT(max_leaf_labels=8, random_state=0, tol=1.0).fit(data.X_train, data.Y_train)


@pytest.fixture(scope="module")
def frame(model, data):
    return evaluate(model, data.X_test, data.Y_test, sigmas=(0.02, 0.1), Y_train=data.Y_train, n_repeats=2)


def without_times(frame):
    return frame[~frame["measure"].isin(evaluation.TIMES)].reset_index(drop=True)


def value(frame, **keys):
    for name, key in keys.items():
        frame = frame[frame[name] == key]
    assert len(frame) == 1, keys
    return frame["value"].item()


class Recorder:
    """A model that remembers what it was asked; labels by the row's largest features."""

    n_features_in_, n_labels_ = 80, 30

    def __init__(self):
        self.asked = []

    def predict_topk(self, X, k):
        self.asked.append((X.copy(), k))
        best = np.argsort(-np.abs(X.toarray()), axis=1, kind="stable")[:, :k].astype(np.int32) % 30
        repeats = np.array([[label in row[:j] for j, label in enumerate(row)] for row in best.tolist()])
        return Ranking(np.where(repeats, np.int32(-1), best), np.zeros(best.shape, np.float32))


def test_the_frame_has_each_value_once(frame):
    assert frame.columns.tolist() == evaluation.COLUMNS
    keys = ["perturbation", "sigma", "k", "repeat", "bucket", "measure"]
    assert not frame.duplicated(keys).any()
    assert set(frame["perturbation"]) == {"gaussian"}
    assert sorted(set(frame["sigma"])) == [0.0, 0.02, 0.1]
    assert sorted(set(frame["repeat"])) == [0, 1]
    of_all = {"P@k", "nDCG@k", "PSDCG@k (1/log)", "PSDCG@k", "PSP@k", "predict_s", "perturb_s"}
    assert set(frame[frame["bucket"] == "all"]["measure"]) == of_all
    assert set(frame[frame["bucket"] == "tail"]["measure"]) == {"P@k", "micro R@k"}
    assert len(frame) == 3 * 2 * (3 * (5 + 3 * 2) + 2)  # levels, repeats, places, measures; times


def test_each_k_is_timed_on_demand_and_measures_stay(model, data):
    X, Y = data.X_test, data.Y_test
    frames = [evaluate(model, X, Y, [0.1], n_repeats=1, time_each_k=each) for each in (False, True)]
    timed = [frame[frame["measure"] == "predict_s"] for frame in frames]
    assert [part["k"].tolist() for part in timed] == [[5, 5], [1, 3, 5, 1, 3, 5]] and (timed[1]["value"] > 0).all()
    plain, each = (frame[~frame["measure"].str.endswith("_s")].reset_index(drop=True) for frame in frames)
    pd.testing.assert_frame_equal(plain, each)


@pytest.mark.parametrize("repeat", [0, 1])
def test_measures_are_those_of_a_loop_by_hand(frame, model, data, repeat):
    seed = evaluation._seed_of(0, repeat)
    jain, logarithmic = metrics.inverse_propensity(data.Y_train), metrics.inverse_log_frequency(data.Y_train)
    true = [set(data.Y_test[[i]].indices.tolist()) for i in range(data.n_test)]
    buckets = describe(data).labels["bucket"]
    for sigma in (0.0, 0.02, 0.1):
        X = GaussianNoise(sigma).apply(data.X_test, seed=seed)
        for k in (1, 3, 5):
            ranking = model.predict_topk(X, k)
            expected = {
                "P@k": metrics.precision_at_k(data.Y_test, ranking, k),
                "nDCG@k": metrics.ndcg_at_k(data.Y_test, ranking, k),
                "PSDCG@k (1/log)": metrics.psdcg_at_k(data.Y_test, ranking, k, inv_ps=logarithmic),
                "PSDCG@k": metrics.psdcg_at_k(data.Y_test, ranking, k, inv_ps=jain),
                "PSP@k": metrics.psprecision_at_k(data.Y_test, ranking, k, inv_ps=jain),
            }
            own = frame[(frame["sigma"] == sigma) & (frame["repeat"] == repeat) & (frame["k"] == k)]
            for name, values in expected.items():
                assert value(own, bucket="all", measure=name) == pytest.approx(values[-1], abs=1e-12)
            for bucket in ("head", "torso", "tail"):
                members = set(np.flatnonzero(buckets == bucket).tolist())
                p, r = naive.measures.bucket_measures(true, ranking.labels.tolist(), members, k)
                assert value(own, bucket=bucket, measure="P@k") == pytest.approx(p, abs=1e-12)
                assert value(own, bucket=bucket, measure="micro R@k") == pytest.approx(r, abs=1e-12)


def test_a_bucket_without_a_test_row_has_no_recall():
    Y_train = np.arange(5)[:, None] < [5, 3, 1]
    Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0]])  # a row without labels; label 2, the tail, is nowhere

    class First:
        def predict_topk(self, X, k):
            labels = np.tile(np.array([0, 1, 2], np.int32)[:k], (X.shape[0], 1))
            return Ranking(labels, np.zeros(labels.shape, np.float32))

    found = evaluate(First(), np.ones((3, 2)), Y, (), (1, 2), n_repeats=1, Y_train=Y_train)
    assert math.isnan(value(found, k=1, bucket="tail", measure="micro R@k"))
    assert value(found, k=1, bucket="head", measure="micro R@k") == 1.0
    assert value(found, k=1, bucket="torso", measure="micro R@k") == 0.0
    assert value(found, k=2, bucket="torso", measure="micro R@k") == 1.0
    assert value(found, k=2, bucket="torso", measure="P@k") == pytest.approx(1 / 2 / 3)


def test_drop_is_relative_to_level_0_of_the_same_repeat(frame):
    measured = without_times(frame)
    clean = measured[measured["sigma"] == 0].set_index(["k", "repeat", "bucket", "measure"])["value"]
    for row in measured.itertuples():
        at_0 = clean[row.k, row.repeat, row.bucket, row.measure]
        expected = (at_0 - row.value) / at_0 if at_0 else math.nan
        assert row.drop == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert set(measured[measured["sigma"] == 0]["drop"].dropna()) == {0.0}
    assert measured[measured["sigma"] == 0.1]["drop"].dropna().any()
    assert frame[frame["measure"].isin(evaluation.TIMES)]["drop"].isna().all()


def test_drop_is_not_defined_where_nothing_is_right_at_level_0(data):
    class Never(Recorder):
        def predict_topk(self, X, k):
            return Ranking(np.full((X.shape[0], k), -1, np.int32), np.zeros((X.shape[0], k), np.float32))

    found = evaluate(Never(), data.X_test, data.Y_test, (0.1,), n_repeats=1)
    assert (without_times(found)["value"] == 0).all() and found["drop"].isna().all()


@pytest.mark.parametrize("kind, options", [("gaussian", {}), ("gaussian", {"support": "nonzero"}), ("words", {})])
def test_neither_blocks_nor_threads_change_a_measure(model, data, kind, options, monkeypatch):
    if kind == "words":
        options = {"reference": data.X_train}
    arguments = (model, data.X_test, data.Y_test, (0.1,))
    keywords = dict(n_repeats=1, perturbation=kind, options=options, Y_train=data.Y_train)
    whole = evaluate(*arguments, **keywords, n_jobs=1)
    monkeypatch.setattr("xmlcore.noise.BLOCK_BYTES", 5000)
    parts = evaluate(*arguments, **keywords, n_jobs=2)
    pd.testing.assert_frame_equal(without_times(whole), without_times(parts))


def test_rows_are_perturbed_a_bounded_part_at_a_time(data, monkeypatch):
    monkeypatch.setattr("xmlcore.noise.BLOCK_BYTES", 25 * 80 * 8)
    recorder = Recorder()
    evaluate(recorder, data.X_test, data.Y_test, (0.1,), n_repeats=1)
    noisy = [X for X, _ in recorder.asked if X.nnz == X.shape[0] * 80]
    assert [X.shape[0] for X in noisy] == [1, 25, 25, 25, 25, 20]  # the first one compiles
    seed = evaluation._seed_of(0, 0)
    expected = GaussianNoise(0.1).apply(data.X_test, seed=seed).toarray()
    np.testing.assert_array_equal(np.vstack([X.toarray() for X in noisy[1:]]), expected)


def test_labels_are_ranked_once_at_the_largest_k(data):
    recorder = Recorder()
    found = evaluate(recorder, data.X_test, data.Y_test, (0.3, 0.1), (3, 1), n_repeats=2)
    assert {k for _, k in recorder.asked} == {3}
    assert len(recorder.asked) == 2 + 2 * 3  # two to compile
    assert list(dict.fromkeys(found["sigma"])) == [0.0, 0.3, 0.1]
    assert list(dict.fromkeys(found[found["bucket"] == "all"]["k"])) == [1, 3]
    assert set(found["measure"]) == {"P@k", "nDCG@k", *evaluation.TIMES}  # what needs no Y_train
    assert set(found["bucket"]) == {"all"}


def test_levels_share_a_repeats_noise_and_repeats_do_not(data):
    recorder = Recorder()
    evaluate(recorder, data.X_test, data.Y_test, (0.01, 0.1), n_repeats=2, random_state=5)
    noise = [(X - data.X_test).toarray() for X, _ in recorder.asked if X.shape[0] == 120 and X.nnz == 120 * 80]
    np.testing.assert_allclose(10 * noise[0], noise[1], atol=1e-5)
    assert abs(np.corrcoef(noise[1].ravel(), noise[3].ravel())[0, 1]) < 0.05


def test_the_seed_decides(model, data):
    def measured(random_state):
        return without_times(evaluate(model, data.X_test, data.Y_test, (0.1,), n_repeats=1, random_state=random_state))

    first = measured(1)
    pd.testing.assert_frame_equal(first, measured(1))
    assert not first.equals(measured(2))
    assert len(measured(None)) == len(first)


def test_progress_rises_once_from_0_to_1_and_stops_the_work(model, data, monkeypatch):
    monkeypatch.setattr("xmlcore.noise.BLOCK_BYTES", 40 * 80 * 8)
    said = []
    evaluate(model, data.X_test, data.Y_test, (0.1,), n_repeats=2, progress=lambda *words: said.append(words))
    fractions = [fraction for _, fraction, _ in said]
    assert fractions == sorted(fractions) and fractions[0] == 0 and fractions[-1] == 1
    assert (
        "Changing rows and predicting again",
        1 / 4 + 40 / 120 / 4,
        "repeat 1 of 2, level 0.1: row 40 of 120",
    ) in said

    def stop(phase, fraction, detail=""):
        if fraction > 0.3:
            raise Cancelled

    recorder = Recorder()
    with pytest.raises(Cancelled):
        evaluate(recorder, data.X_test, data.Y_test, (0.1,), n_repeats=2, progress=stop)
    assert len(recorder.asked) == 2 + 1 + 1  # to compile, level 0, one block


def test_an_attack_follows_the_model_or_the_surrogate(model, data):
    X, Y = data.X_test[:40], data.Y_test[:40]
    own = evaluate(model, X, Y, (0.3,), (1,), n_repeats=1, perturbation="fgsm", options={"norm": 2})
    assert value(own, sigma=0.3, measure="P@k") < value(own, sigma=0.0, measure="P@k")
    recorder = Recorder()
    for predicting, attacked in ((recorder, None), (model, recorder)):
        with pytest.raises(ValueError, match="Recorder has no log_proba_gradient.*surrogate="):
            evaluate(predicting, X, Y, (0.3,), perturbation="fgsm", surrogate=attacked)
    evaluate(recorder, X, Y, (0.3,), n_repeats=1, perturbation="fgsm", surrogate=model)
    moved = (recorder.asked[-1][0] - X).toarray()
    assert 0 < np.linalg.norm(moved, axis=1).max() <= 0.3 * (1 + 1e-5)


@pytest.mark.parametrize("changed, error, message", [
    ({"sigmas": 0.1}, TypeError, "sigmas must be a sequence"),
    ({"sigmas": (0.1, 0.1)}, ValueError, "a level twice"),
    ({"ks": ()}, ValueError, "ks is empty"),
    ({"ks": (1, 1)}, ValueError, "a place twice"),
    ({"support": "some"}, ValueError, "support must be one of"),
    ({"perturbation": "salt"}, ValueError, "unknown perturbation 'salt'"),
    ({"perturbation": "words"}, ValueError, "reference=X_train"),
    ({"perturbation": "words", "support": "nonzero"}, ValueError, "'words' has no support"),
    ({"options": {"norm": 2}}, ValueError, "'gaussian' has no option 'norm'"),
    ({"surrogate": Recorder()}, ValueError, "'gaussian' follows no gradient"),
    ({"X": np.ones((2, 3))}, ValueError, "X has 3 features"),
    ({"X": np.ones((2, 80))}, ValueError, "Y has 120 rows, but the features have 2"),
    ({"X": np.ones((0, 80)), "Y": np.ones((0, 30))}, ValueError, "X has no rows"),
    ({"Y_train": np.ones((3, 4))}, ValueError, "Y_train has 4 labels, but 30 are expected"),
    ({"Y_train": np.ones((0, 30))}, ValueError, "Y_train has no rows"),
])  # fmt: skip
def test_what_cannot_be_is_said_before_any_work(data, changed, error, message):
    recorder = Recorder()
    arguments = {"X": data.X_test, "Y": data.Y_test, "sigmas": (0.1,), **changed}
    with pytest.raises(error, match=message):
        evaluate(recorder, **arguments)
    assert not recorder.asked


def test_summaries_have_the_intervals_of_students_t(model, data):
    frame = evaluate(model, data.X_test, data.Y_test, (0.1,), (1, 5), n_repeats=4)
    summary = summarise(frame, level=0.9)
    assert summary.columns.tolist() == [
        "perturbation", "sigma", "k", "bucket", "measure", "n", "mean", "low", "high", "drop_mean", "drop_low",
        "drop_high",
    ]  # fmt: skip
    assert len(summary) == 2 * (2 * 2 + 2)
    own = frame[(frame["sigma"] == 0.1) & (frame["k"] == 5) & (frame["measure"] == "nDCG@k")]
    row = summary[(summary["sigma"] == 0.1) & (summary["k"] == 5) & (summary["measure"] == "nDCG@k")].iloc[0]
    for column, prefix in (("value", ""), ("drop", "drop_")):
        values = own[column].to_numpy()
        expected = stats.t.interval(0.9, 3, loc=values.mean(), scale=stats.sem(values))
        assert (row[f"{prefix}low"], row[f"{prefix}high"]) == pytest.approx(expected)
        assert row[f"{prefix}mean"] == pytest.approx(values.mean())
    assert row["n"] == 4
    assert summary[summary["measure"] == "predict_s"]["drop_mean"].isna().all()


def test_a_summary_of_one_repeat_has_no_interval(frame):
    once = frame[frame["repeat"] == 0]
    both = pd.concat([once.assign(run="a"), once.assign(run="b", value=once["value"] / 2)])
    summary = summarise(both)
    assert summary["low"].isna().all() and summary["high"].isna().all() and (summary["n"] <= 1).all()
    a, b = (summary[summary["run"] == run].reset_index(drop=True) for run in "ab")
    np.testing.assert_allclose(a["mean"], 2 * b["mean"])
    assert a["measure"].tolist() == b["measure"].tolist()
    with pytest.raises(ValueError, match="frame has no column drop"):
        summarise(frame.drop(columns="drop"))
