"""A run measures what the estimator does, is kept whole, and is found again."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from xmlcore import PLT, LdSM, evaluate, experiment, jobs, metrics, store
from xmlcore.datasets import Dataset, save_dataset
from xmlcore.experiment.catalog import NOISE
from xmlcore.progress import Cancelled


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = sp.random_array((150, 20), density=0.3, rng=rng, dtype=np.float32, format="csr")
    scores = X @ rng.standard_normal((20, 12))
    Y = sp.csr_array(scores > np.quantile(scores, 0.85, axis=0))
    return Dataset("toy", X[:120], Y[:120], X[120:], Y[120:])


def test_evaluate_gives_the_measures_of_the_ranking(data):
    model = PLT().fit(data.X_train, data.Y_train)
    found = evaluate(model, data, k=3)
    ranking = model.predict_topk(data.X_test, 5)
    weights = metrics.inverse_propensity(data.Y_train)
    np.testing.assert_array_equal(found["ranking"].labels, ranking.labels)
    np.testing.assert_allclose(found["P@k"], metrics.precision_at_k(data.Y_test, ranking, 3))
    np.testing.assert_allclose(found["nDCG@k"], metrics.ndcg_at_k(data.Y_test, ranking, 3))
    np.testing.assert_allclose(found["R@k"], metrics.recall_at_k(data.Y_test, ranking, 3))
    np.testing.assert_allclose(found["PSP@k"], metrics.psprecision_at_k(data.Y_test, ranking, weights, 3))
    np.testing.assert_allclose(found["PSnDCG@k"], metrics.psndcg_at_k(data.Y_test, ranking, weights, 3))
    assert found["predict_s"] > 0
    assert found["predict_ms_per_row"] == pytest.approx(1000 * found["predict_s"] / 30)


def test_a_run_is_a_fit_and_an_evaluation(data):
    run = experiment.run(data, "PLT", {"C": 2.0, "max_leaf_labels": 3}, k=4)
    model = PLT(C=2.0, max_leaf_labels=3).fit(data.X_train, data.Y_train)
    expected = evaluate(model, data, k=4)
    table = run.measures.pivot(index="k", columns="measure", values="value")
    assert table.index.tolist() == [1, 2, 3, 4]
    for measure in ("P@k", "R@k", "nDCG@k", "PSP@k", "PSnDCG@k"):
        np.testing.assert_allclose(table[measure], expected[measure])
    assert run.params == {**experiment.full_params("PLT"), "C": 2.0, "max_leaf_labels": 3}
    assert run.size == model.size()
    assert run.ranking.labels.shape == (30, 5)
    assert run.times["fit_s"] > 0 and run.times["compile_s"] > 0
    assert (run.dataset_name, run.fingerprint, run.k) == ("toy", data.fingerprint, 4)


def test_warnings_of_the_training_are_kept_with_the_run(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = experiment.run(data, "PLT", {"max_iter": 1, "tol": 1e-4})
    assert any("max_iter=1" in warning for warning in run.warnings)
    assert experiment.run(data).warnings == []


def test_a_saved_run_comes_back_with_a_model_that_predicts_the_same(data):
    fingerprint = save_dataset(data)
    key = experiment.run_saved(fingerprint, "PLT", {"n_estimators": 2})
    assert key == experiment.run_key(fingerprint, "PLT", {"n_estimators": 2})
    run = experiment.load_run(key)
    again = experiment.load_run_model(key).predict_topk(data.X_test, 5)
    np.testing.assert_array_equal(again.labels, run.ranking.labels)
    np.testing.assert_array_equal(again.scores, run.ranking.scores)
    assert store.info("runs", key)["dataset"] == "toy"


def test_asking_again_does_no_work(data):
    fingerprint = save_dataset(data)
    key = experiment.run_saved(fingerprint, "PLT")
    created = store.info("runs", key)["created"]
    reports = []
    assert experiment.run_saved(fingerprint, "PLT", {"C": 10}, progress=lambda *r: reports.append(r)) == key
    assert reports == []
    assert store.info("runs", key)["created"] == created


def test_keys_know_defaults_data_and_k(data):
    key = experiment.run_key("ab" * 16, "PLT")
    assert experiment.run_key("ab" * 16, "PLT", experiment.full_params("PLT"), 5) == key
    others = {
        experiment.run_key("cd" * 16, "PLT"),
        experiment.run_key("ab" * 16, "PLT", {"C": 11}),
        experiment.run_key("ab" * 16, "PLT", None, 6),
    }
    assert len(others) == 3 and key not in others


def test_a_cancelled_run_leaves_nothing(data):
    fingerprint = save_dataset(data)

    def stop(phase, fraction, detail=""):
        if phase == "Training nodes":
            raise Cancelled

    with pytest.raises(Cancelled):
        experiment.run_saved(fingerprint, "PLT", progress=stop)
    assert store.entries("runs") == []


def test_phases_are_reported_in_order(data):
    phases = []
    experiment.run_saved(save_dataset(data), "PLT", progress=lambda phase, *_: phases.append(phase))
    assert list(dict.fromkeys(phases)) == [
        "Reading data",
        "Compiling kernels",
        "Clustering labels",
        "Training nodes",
        "Predicting",
        "Saving",
    ]


def test_a_run_in_a_worker_is_the_run_here(data):
    fingerprint = save_dataset(data)
    queue = jobs.Queue(n_workers=1)
    try:
        job = queue.submit(experiment.run_saved, fingerprint, "PLT", title="Training")
        key = job.result(timeout=120)
    finally:
        queue.shutdown()
    here = experiment.run(data)
    np.testing.assert_array_equal(experiment.load_run(key).ranking.scores, here.ranking.scores)


@pytest.mark.parametrize(
    "model, params, message",
    [("FastXML", None, "unknown model 'FastXML'"), ("PLT", {"depth": 3}, "PLT has no parameter depth")],
)
def test_unknown_models_and_parameters_are_named(data, model, params, message):
    with pytest.raises(ValueError, match=message):
        experiment.run(data, model, params)


def test_every_form_parameter_is_the_estimators(data):
    for name, info in experiment.MODELS.items():
        defaults = info.cls().get_params()
        assert {p.name for p in NOISE} <= {p.name for p in info.parameters}
        for parameter in info.parameters:
            if parameter not in NOISE:
                assert parameter.default == defaults[parameter.name], (name, parameter.name)
            assert parameter.help and parameter.label
            if parameter.kind == "choice":
                assert parameter.default in parameter.options


def test_the_form_says_what_an_empty_beam_means():
    beam = next(p for p in experiment.MODELS["PLT"].parameters if p.name == "beam")
    assert beam.optional and beam.empty == "exact" and beam.help.startswith("Empty searches exactly.")


# Smaller models out of one --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forest(easy):
    return LdSM(n_estimators=5, max_nodes=20, learning_rate=1.0).fit(easy.X_train, easy.Y_train)


@pytest.fixture(scope="module")
def easy():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 6, 260)
    Y = (rng.random((260, 12)) < 0.05) | (np.arange(12) // 2 == group[:, None]) & (rng.random((260, 12)) < 0.8)
    Y[:, 0] |= ~Y.any(axis=1)
    X = sp.csr_array(np.repeat(Y, 2, axis=1) * rng.uniform(0.5, 1.5, (260, 24)))
    return Dataset("easy", X[:200], Y[:200], X[200:], Y[200:])


def test_parts_of_a_model_are_measured_as_models_trained_so(easy, forest):
    frame = experiment.prefix_measures(forest, easy, k=3, n_trees=[2, 5], max_nodes=[1, 8, 20])
    for (axis, trees, most), rows in frame.groupby(["axis", "n_trees", "max_nodes"]):
        model = LdSM(n_estimators=trees, max_nodes=most, learning_rate=1.0).fit(easy.X_train, easy.Y_train)
        expected = evaluate(model, easy, k=3)
        for line in rows.to_dict("records"):
            assert line["value"] == expected[line["measure"]][line["k"] - 1], (axis, trees, most)
        assert set(rows["depth"]) == {model.size()["depth"]}
    assert set(frame["measure"]) == {"P@k", "R@k", "nDCG@k", "PSP@k", "PSnDCG@k"}
    assert len(frame) == 5 * 5 * 3


def test_points_reach_from_one_to_the_whole_model(forest):
    n_trees, max_nodes = experiment.prefix_points(forest)
    assert n_trees == [1, 2, 3, 5]
    assert max_nodes[0] == 1 and max_nodes[-1] == 20
    assert 2 not in max_nodes  # with two children per node, the same trees as 1


@pytest.mark.parametrize("beta", [1.0, 0.5])
def test_rows_of_the_same_leaves_share_their_prediction_only_where_that_is_exact(easy, beta):
    model = LdSM(n_estimators=3, max_nodes=9, learning_rate=1.0, rerank_beta=beta).fit(easy.X_train, easy.Y_train)
    for trees, most in ((3, 9), (2, 5), (1, 1)):
        found = experiment.prefixes._predict_by_leaves(model, easy.X_test, 5, lambda *_: None, trees, most)
        expected = model.predict_topk(easy.X_test, 5, n_trees=trees, max_nodes=most)
        np.testing.assert_array_equal(found.labels, expected.labels)
        np.testing.assert_array_equal(found.scores, expected.scores)


def test_measures_of_parts_are_kept_end_with_those_of_the_run_and_can_be_stopped(easy):
    fingerprint = save_dataset(easy)
    key = experiment.run_saved(fingerprint, "LdSM", {"n_estimators": 3, "max_nodes": 20})
    run = experiment.load_run(key)
    assert experiment.prefix_seconds(run, experiment.load_run_model(key)) > 0

    def stop(phase, fraction, detail=""):
        raise Cancelled

    with pytest.raises(Cancelled):
        experiment.prefixes_saved(key, progress=stop)
    assert not store.exists("prefixes", experiment.prefixes_key(key))

    said = []
    stored = experiment.prefixes_saved(key, progress=lambda phase, fraction, detail="": said.append(fraction))
    assert stored == experiment.prefixes_key(key) == experiment.prefixes_saved(key, progress=stop)  # at once
    assert said == sorted(said) and 0 <= said[0] and said[-1] <= 1 + 1e-9
    frame = experiment.load_prefixes(stored)
    for _, rows in frame.groupby("axis"):
        whole = rows[(rows["n_trees"] == 3) & (rows["max_nodes"] == 20)]
        pairs = whole.merge(run.measures, on=["measure", "k"])
        assert len(pairs) == len(run.measures) == 25
        assert (pairs["value_x"] == pairs["value_y"]).all()


def test_only_models_of_trees_over_rows_have_parts(data):
    with pytest.raises(TypeError, match="not PLT"):
        experiment.prefix_measures(PLT().fit(data.X_train, data.Y_train), data)


# Noise, attacks and explanations --------------------------------------------------------------------------------------


def test_noise_in_training_makes_a_twin_of_the_same_class(data):
    from xmlcore.robustness import AdversarialTraining

    params = {"max_leaf_labels": 3, "noise_sigma": 0.2, "noise_ratio": 0.5, "noise_support": "nonzero"}
    key = experiment.run_saved(save_dataset(data), "PLT", params)
    expected = AdversarialTraining(PLT(max_leaf_labels=3), 0.2, 0.5, "nonzero", 0).fit(data.X_train, data.Y_train)
    model = experiment.load_run_model(key)
    assert type(model) is PLT
    found = experiment.load_run(key).ranking
    np.testing.assert_array_equal(found.scores, expected.predict_topk(data.X_test, 5).scores)
    np.testing.assert_array_equal(model.predict_topk(data.X_test, 5).scores, found.scores)


def test_a_kept_run_is_measured_under_noise_once(data):
    from xmlcore import robustness

    key = experiment.run_saved(save_dataset(data), "PLT")
    asked = (key, "gaussian", [0.1, 0.05, 0.1], {"support": "nonzero"}, 2, 7)
    stored = experiment.robustness_saved(*asked)
    assert stored == experiment.robustness_key(*asked)
    assert stored == experiment.robustness_key(key, "gaussian", (0.05, 0.1), {"support": "nonzero"}, 2, 7)
    found = experiment.load_robustness(stored)
    model = experiment.load_run_model(key)
    expected = robustness.evaluate(
        model,
        data.X_test,
        data.Y_test,
        (0.05, 0.1),
        support="nonzero",
        n_repeats=2,
        random_state=7,
        Y_train=data.Y_train,
    )
    times = expected["measure"].isin(["predict_s", "perturb_s"])
    assert expected[~times].equals(found.frame[~times])
    assert (found.kind, found.levels, found.n_rows, found.n_test, found.surrogate) == (
        "gaussian", [0.05, 0.1], 30, 30, None,
    )  # fmt: skip

    def stop(phase, fraction, detail=""):
        raise Cancelled

    assert experiment.robustness_saved(*asked, progress=stop) == stored  # at once
    with pytest.raises(Cancelled):
        experiment.robustness_saved(key, "gaussian", [0.3], progress=stop)


def test_a_sample_of_test_rows_is_measured_when_asked_and_the_seed_draws_it(data):
    key = experiment.run_saved(save_dataset(data), "PLT")
    found = experiment.load_robustness(experiment.robustness_saved(key, "words", [0.2], n_repeats=1, n_rows=11))
    assert (found.n_rows, found.n_test) == (11, 30)
    rows = [experiment.train.sampled_rows(30, 11, seed).tolist() for seed in (0, 0, 1)]
    assert rows[0] == rows[1] != rows[2] and len(set(rows[0])) == 11
    assert experiment.train.sampled_rows(30, 99, 0).size == experiment.train.sampled_rows(30, None, 0).size == 30


@pytest.mark.filterwarnings("ignore:.*splits were undone")
def test_a_model_without_a_gradient_is_attacked_through_a_plt_and_the_result_says_so(data):
    fingerprint = save_dataset(data)
    own = experiment.run_saved(fingerprint, "PLT")
    for model, said in (("PLT", None), ("OneVsRest", None), ("LdSM", "PLT with default settings")):
        key = experiment.run_saved(fingerprint, model, {"n_estimators": 2} if model == "LdSM" else {})
        found = experiment.load_robustness(experiment.robustness_saved(key, "fgsm", [2.0], n_repeats=1))
        assert (found.surrogate or "").startswith(said or "") and (found.surrogate is None) == (said is None)
        at_1 = found.frame[
            (found.frame["measure"] == "P@k") & (found.frame["k"] == 1) & (found.frame["bucket"] == "all")
        ]
        assert at_1["value"].iloc[-1] < at_1["value"].iloc[0]
    assert experiment.run_saved(fingerprint, "PLT") == own


@pytest.mark.parametrize("model", ["PLT", "OneVsRest", "LdSM", "DoubleSampling"])
@pytest.mark.filterwarnings("ignore:.*splits were undone")
def test_explanations_of_a_kept_run_are_made_once_for_a_sample_of_test_rows(easy, model):
    key = experiment.run_saved(save_dataset(easy), model, {"n_estimators": 2} if model == "LdSM" else {})
    stored = experiment.explanations_saved(key, n_rows=12, seed=3)
    assert stored == experiment.explanations_key(key, 12, 3)
    found = experiment.load_explanations(stored)
    assert found.rows.size == 12 and found.n_test == 60 and (np.diff(easy.X_test[found.rows].indptr) > 0).all()
    assert set(found.deletion["row"]) == set(found.rows)
    methods = {"magnitude", "random"} | ({"contributions"} if model != "DoubleSampling" else set())
    assert set(found.deletion["method"]) == methods
    assert set(found.stability["row"]) == set(found.rows) and set(found.stability["sigma"]) == {0.1, 0.3, 1.0}
    assert found.importance["mean_abs"].is_monotonic_decreasing and len(found.importance)

    def stop(phase, fraction, detail=""):
        raise Cancelled

    assert experiment.explanations_saved(key, n_rows=12, seed=3, progress=stop) == stored
    with pytest.raises(Cancelled):
        experiment.explanations_saved(key, n_rows=13, progress=stop)


@pytest.fixture(scope="module")
def classes():
    """One class per row, some frequent and most rare."""
    rng = np.random.default_rng(1)
    means = rng.poisson(0.4, (40, 60)) * rng.integers(1, 4, (40, 60))
    of = np.minimum(rng.zipf(1.4, 700) - 1, 39)
    X = sp.csr_array(rng.poisson(0.05 + means[of]).astype(np.float32))
    Y = sp.csr_array((np.ones(700, bool), of, np.arange(701)), shape=(700, 40))
    return Dataset("classes", X[:500], Y[:500], X[500:], Y[500:])


def test_double_sampling_with_other_numbers_is_what_training_with_them_gives(classes):
    from xmlcore import DoubleSampling

    key = experiment.run_saved(save_dataset(classes), "DoubleSampling", {"random_state": 3})
    asked = {"n_adversarial": (2, 5), "examples_per_class": (1.0,), "n_candidates": (3, 10, 100), "n_repeats": 2}
    stored = experiment.sampling_saved(key, **asked)
    assert stored == experiment.sampling_key(key, **(asked | {"n_adversarial": [5, 2, 2]}))
    found = experiment.load_sampling(stored)
    assert found.sweep[["axis", "n_adversarial", "examples_per_class", "seed"]].to_numpy().tolist() == [
        ["n_adversarial", 2, 2.0, 3], ["n_adversarial", 2, 2.0, 4],
        ["n_adversarial", 5, 2.0, 3], ["n_adversarial", 5, 2.0, 4],
        ["examples_per_class", 10, 1.0, 3], ["examples_per_class", 10, 1.0, 4],
    ]  # fmt: skip
    model = DoubleSampling(n_adversarial=5, random_state=4).fit(classes.X_train, classes.Y_train)
    ranking = model.predict_topk(classes.X_test, 1)
    line = found.sweep.iloc[3]
    assert line["accuracy"] == metrics.accuracy(classes.Y_test, ranking)
    assert line["macro_f1"] == metrics.macro_f1(classes.Y_test, ranking)
    assert line["n_pairs"] == model.n_pairs_ and line["empirical_risk"] == model.empirical_risk_
    own, true = experiment.load_run_model(key), classes.Y_test.indices
    recall = [(own.candidates(classes.X_test, q) == true[:, None]).any(axis=1).mean() for q in (3, 10, 100)]
    np.testing.assert_allclose(found.candidates["recall"], recall)
    fewer = own.predict_topk(classes.X_test, 1, n_candidates=3)
    assert found.candidates["accuracy"].iloc[0] == metrics.accuracy(classes.Y_test, fewer)
    assert found.buckets["n_rows"].sum() == classes.n_test
    whole = metrics.accuracy(classes.Y_test, own.predict_topk(classes.X_test, 1))
    shares = (found.buckets["accuracy"].fillna(0) * found.buckets["n_rows"]).sum()
    assert shares / classes.n_test == pytest.approx(whole)

    def stop(phase, fraction, detail=""):
        raise Cancelled

    assert experiment.sampling_saved(key, **asked, progress=stop) == stored
    with pytest.raises(Cancelled):
        experiment.sampling_saved(key, n_adversarial=(3,), progress=stop)


def test_values_of_kappa_above_the_other_candidates_are_one_training(classes):
    params = experiment.full_params("DoubleSampling", {"adversaries": "candidates", "n_candidates": 4})
    sweep = experiment.sampling_study(classes, params, (2, 3, 5, 50), (1.0,))[0]
    assert sweep["n_adversarial"].tolist() == [2, 3, 3]  # the last one is of the other axis
    assert experiment.most_adversaries(params, 40) == 3 and experiment.most_adversaries(params, 3) == 2
    assert experiment.most_adversaries(params | {"adversaries": "random"}, 40) == 39


def test_a_value_that_cannot_be_trained_with_leaves_the_others(classes):
    rows = np.flatnonzero(np.isin(classes.Y_train.indices, (0, 1)))
    two = Dataset("two", classes.X_train[rows], classes.Y_train[rows], classes.X_test, classes.Y_test)
    params = experiment.full_params("DoubleSampling")
    sweep = experiment.sampling_study(two, params, (), (1e-5, 2.0), (1, 2))[0]
    assert "no example was drawn" in sweep["failed"].iloc[0] and sweep["failed"].iloc[1] == ""
    assert np.isnan(sweep["accuracy"].iloc[0]) and np.isfinite(sweep["accuracy"].iloc[1])


@pytest.mark.parametrize("params", [{}, {"candidates_from": "plt"}])
def test_predicting_in_blocks_of_rows_changes_nothing_but_memory(classes, monkeypatch, params):
    from xmlcore.experiment import sampling as _sampling

    params = experiment.full_params("DoubleSampling", params)
    model = experiment.estimator("DoubleSampling", params).fit(classes.X_train, classes.Y_train)
    timed = "predict_ms_per_row"
    whole = experiment.sampling_study(classes, params, n_candidates=(3, 40), model=model)[1:]
    assert experiment.candidate_bytes(200, 40) == 40 * 200 * 40
    monkeypatch.setattr(_sampling, "CANDIDATES_AT_ONCE", 100)
    assert experiment.candidate_bytes(200, 40) == 40 * 2 * 40 and experiment.candidate_bytes(200, 500) == 40 * 500
    taken, predict = [], model.predict_topk

    def watched(X, *args, **kwargs):
        taken.append(X.shape[0])
        return predict(X, *args, **kwargs)

    monkeypatch.setattr(model, "predict_topk", watched)
    parts = experiment.sampling_study(classes, params, n_candidates=(3, 40), model=model)[1:]
    pd.testing.assert_frame_equal(parts[0].drop(columns=timed), whole[0].drop(columns=timed))
    pd.testing.assert_frame_equal(parts[1], whole[1])
    assert max(taken) == 33 and taken.count(2) >= 98


def test_only_runs_of_double_sampling_have_its_numbers(data):
    with pytest.raises(TypeError, match="not of PLT"):
        experiment.sampling_saved(experiment.run_saved(save_dataset(data), "PLT"))
