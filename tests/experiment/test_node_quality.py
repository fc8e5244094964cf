import pandas as pd
import pytest
from making import train

from xmlcore import experiment
from xmlcore.datasets import save_dataset
from xmlcore.models.plt.frames import quality_frame


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
