"""Kept runs are measured: all measures, parts of ensembles, nodes, what features do; data sets are examined."""

import functools

import numpy as np
import pandas as pd
import pytest
from making import kept, stop, train

from xmlcore import PLT, LdSM, evaluate, experiment, metrics, store
from xmlcore.datasets import examine, save_dataset
from xmlcore.metrics.buckets import label_buckets
from xmlcore.models.plt.frames import quality_frame
from xmlcore.progress import Cancelled


def test_a_kept_run_is_measured_with_intervals(easy):
    key = experiment.keep(train(save_dataset(easy), "PLT", {}))
    task = experiment.task("measures", {"run": key}, {"n_resamples": 50})
    assert task.work().values > 0 and task.title.startswith("Measuring a result on easy")
    said = []
    experiment.keep(task, lambda phase, fraction, detail="": said.append(fraction))
    assert said == sorted(said) and said[-1] <= 1
    found, run = task.load(), experiment.load("train", key)
    assert found.n_resamples == 50
    frame = found.measures.set_index(["bucket", "measure", "k"])
    for line in run.measures.itertuples():
        assert frame.loc[("all", line.measure, line.k), "value"] == pytest.approx(line.value)
    defined = found.measures.dropna()
    assert (defined["low"] <= defined["value"] + 1e-12).all() and (defined["value"] <= defined["high"] + 1e-12).all()
    buckets = label_buckets(np.bincount(easy.Y_train.indices, minlength=easy.n_labels))
    by_bucket = metrics.labels_by_bucket(metrics.by_label(easy.Y_test, run.ranking, 3), buckets).set_index("bucket")
    for bucket in ("head", "torso", "tail"):
        assert frame.loc[(bucket, "macro F1@k", 3), "value"] == pytest.approx(by_bucket.loc[bucket, "macro_f1"])
        assert frame.loc[(bucket, "micro R@k", 3), "value"] == pytest.approx(by_bucket.loc[bucket, "recall"])
    assert set(found.measures.query("bucket == 'all'")["measure"]) == {
        name for name in metrics.MEASURES if "hierarchical" not in name
    }


def test_the_seed_decides(easy):
    ranking = PLT().fit(easy.X_train, easy.Y_train).predict_topk(easy.X_test, 5)
    one, again, other = (
        experiment.measure_ranking(ranking, easy, 2, n_resamples=20, random_state=seed) for seed in (0, 0, 1)
    )
    pd.testing.assert_frame_equal(one, again)
    assert not one.equals(other)


@pytest.fixture(scope="module")
def forest(easy):
    return LdSM(n_estimators=5, max_nodes=20, learning_rate=1.0).fit(easy.X_train, easy.Y_train)


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


def test_measures_of_parts_end_with_those_of_the_run(easy):
    fingerprint = save_dataset(easy)
    key = experiment.keep(train(fingerprint, "LdSM", {"n_estimators": 3, "max_nodes": 20}))
    run = experiment.load("train", key)
    task = experiment.task("prefixes", {"run": key})
    assert task.work().values > 0

    with pytest.raises(Cancelled):
        experiment.keep(task, stop)
    assert not store.exists("prefixes", task.key)

    said, details = [], set()
    stored = experiment.keep(task, lambda *shown: said.append(shown[1]) or details.add(str(shown[-1]).split(":")[0]))
    assert {"1 tree", "2 trees", "20 nodes"} <= details
    assert stored == task.key == experiment.keep(task, stop)  # at once
    assert said == sorted(said) and 0 <= said[0] and said[-1] <= 1 + 1e-9
    frame = experiment.load("prefixes", stored).measures
    for _, rows in frame.groupby("axis"):
        whole = rows[(rows["n_trees"] == 3) & (rows["max_nodes"] == 20)]
        pairs = whole.merge(run.measures, on=["measure", "k"])
        assert len(pairs) == 25 and set(pairs["measure"]) < set(run.measures["measure"])
        assert (pairs["value_x"] == pairs["value_y"]).all()


def test_only_models_of_trees_over_rows_have_parts(data):
    with pytest.raises(TypeError, match="not PLT"):
        experiment.prefix_measures(PLT().fit(data.X_train, data.Y_train), data)


def measure(run, **params):
    return experiment.task("node_quality", {"run": run}, params)


def test_nodes_are_measured_on_the_test_rows_and_kept(easy):
    key = experiment.keep(train(save_dataset(easy), "PLT", {"n_estimators": 2, "arity": 3, "max_leaf_labels": 2}))
    model = experiment.load_run_model(key)
    for tree in (0, 1):
        task = measure(key, tree=tree)
        experiment.keep(task)
        found = task.load()
        expected = quality_frame(model.linear_nodes(tree), model.trees_[tree], easy.X_test, easy.Y_test)
        pd.testing.assert_frame_equal(found.nodes, expected)
        assert (found.n_rows, found.n_test) == (easy.n_test, easy.n_test)
        assert task.work().values > 0 and f"label tree {tree + 1}" in task.title


def test_a_title_names_the_model_of_the_run(easy):
    task = measure(experiment.keep(train(save_dataset(easy))))
    titles = [task.titled("mine", about) for about in ("", "my model", "mine")]
    assert titles == [f"{task.title_on('mine')}{about}" for about in (" (PLT)", " (my model)", "")]
    assert task.title.endswith("(PLT)")


def test_a_sample_of_test_rows_depends_on_the_seed(easy):
    key = experiment.keep(train(save_dataset(easy)))
    one, same, other = (measure(key, n_rows=20, seed=seed).run() for seed in (0, 0, 1))
    assert (one["n_rows"], one["n_test"]) == (20, easy.n_test)
    pd.testing.assert_frame_equal(one["nodes"], same["nodes"])
    assert not one["nodes"].equals(other["nodes"])


def test_a_model_that_learned_from_noisy_rows_is_measured_too(easy):
    key = experiment.keep(train(save_dataset(easy), "PLT", {"noise_sigma": 0.1, "noise_support": "nonzero"}))
    assert measure(key).run()["nodes"]["auc"].notna().any()
    assert experiment.label_tree_model(experiment.load_run_model(key)).trees_


def test_only_trees_that_a_model_has_are_measured(easy):
    of = save_dataset(easy)
    with pytest.raises(ValueError, match="the model has 1 trees"):
        measure(experiment.keep(train(of)), tree=1).run()
    with pytest.raises(ValueError, match="OneVsRest has no label tree"):
        measure(experiment.keep(train(of, "OneVsRest"))).run()


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


def test_the_task_keeps_what_the_function_computes(easy):
    found, expected = kept("examine", {"dataset": save_dataset(easy)}).load(), examine(easy)
    assert found.summary == expected.summary
    assert found.pairs.equals(expected.pairs) and found.features.equals(expected.features)
