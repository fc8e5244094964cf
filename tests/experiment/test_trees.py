"""Trees of an ensemble as jobs of their own: the same result as of one job, and nothing else is left of them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from xmlcore import experiment, store
from xmlcore.datasets import save_dataset
from xmlcore.experiment.engine.fitting import WatchedTraining
from xmlcore.experiment.kinds import trees
from xmlcore.jobs import Queue

FIXED = {"arity": 2, "max_leaf_labels": 3, "loss": "logistic", "C": 1.0, "n_estimators": 3}


@pytest.fixture
def queue():
    with ThreadPoolExecutor(1) as thread:  # tests/jobs/test_dask.py has worker processes
        made = Queue(executor=thread)
        yield made
        made.shutdown()


def kept_trees():
    return {record["key"] for record in store.entries("trees")}


def test_an_ensemble_of_three_jobs_is_that_of_one(easy, queue):
    params = FIXED | {"max_iter": 2, "random_state": 8}
    task = experiment.task("train", {"dataset": save_dataset(easy)}, {"model": "PLT", "params": params})
    job = experiment.submit(queue, task, title="Train", owner="anna", apart=True, group="g")
    assert [one.title for one in reversed(queue.jobs("anna"))] == [
        *(f"Train, tree {number} of 3" for number in (1, 2, 3)), "Train",
    ]  # fmt: skip
    assert {one.plan.group for one in queue.jobs("anna")} == {"g"}, "paused with the others of the group"
    assert job.result(120) == task.key and "Putting trees together" in job.phases
    found, expected = task.load(), experiment.run(easy, "PLT", params)
    np.testing.assert_array_equal(found.ranking.labels, expected.ranking.labels)
    np.testing.assert_array_equal(found.ranking.scores, expected.ranking.scores)
    assert found.measures.equals(expected.measures) and found.size == expected.size
    assert found.memory["peak_bytes"] > 0 and found.times["fit_s"] > 0 and found.times["fit_cpu_s"] > 0
    assert found.warnings and all("stopped at max_iter=2" in text for text in found.warnings)
    assert not kept_trees()
    again = experiment.submit(queue, task, apart=True)  # it is kept: no tree is trained for it
    assert again.result(60) == task.key and not again.plan.after


def test_trees_trained_before_an_interruption_are_used(easy, queue, monkeypatch):
    params = FIXED | {"random_state": 9}
    task = experiment.task("train", {"dataset": save_dataset(easy)}, {"model": "PLT", "params": params})
    made = trees.trees_of(task)
    experiment.keep(made[0])
    experiment.keep(made[2])
    job = experiment.submit(queue, task, apart=True)
    assert [one.key for one in job.plan.after] == [made[1].key]
    assert {("trees", tree.key) for tree in made} <= set(job.plan.reads)  # they are not removed to make room
    assert job.result(60) == task.key and not kept_trees()


def test_models_of_one_part_are_one_job(easy, queue):
    def parts(model, apart=True, **params):
        task = experiment.task("train", {"dataset": save_dataset(easy)}, {"model": model, "params": params})
        job = experiment.submit(queue, task, apart=apart)
        queue.cancel(job.id)
        return len(job.plan.after)

    assert parts("PLT", n_estimators=1) == parts("OneVsRest") == parts("PLT", n_estimators=2, noise_sigma=0.1) == 0
    assert parts("PLT", None, n_estimators=2, C=2.0) == 0 and not queue.spreads
    assert parts("PLT", n_estimators=2) == 0, "the shape that is chosen has one level: one tree is trained"


def test_what_all_trees_warn_of_is_said_once():
    known = [WatchedTraining(warnings=["all", "mine"]), WatchedTraining(warnings=["all"])]
    assert trees._said(known) == ["all", "tree 1 of 2: mine"]
