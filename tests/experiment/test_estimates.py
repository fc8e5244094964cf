"""Estimates of the time and memory of tasks, on data sets of different shapes."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from xmlcore import experiment
from xmlcore._kernels._jit import CACHE_FOLDER
from xmlcore.datasets import save_dataset
from xmlcore.experiment.engine import estimates, times
from xmlcore.state import FILE, database
from xmlcore.system import cache_root

FACTOR = 3.0
SLACK_BYTES = 100 << 20  # what a task may use beside what is estimated: estimates leave out what is small


def test_estimates_of_trees_grow_with_rows_and_features(words):
    seconds = estimates.tree_seconds
    assert seconds(words, 5, 50) < seconds(words, 30, 50) < seconds(words, 30)


def test_every_estimate_is_a_number_of_seconds_and_bytes(some_of_each):
    for row in database().rows(times.TABLE):  # what was learned while other programs ran
        database().remove(times.TABLE, row.key)
    for made in some_of_each:
        found = made.estimate()
        least = 0 if made.kind == "sweep" else 1e-6  # all trainings of the sweep are known
        assert isinstance(found, experiment.Estimate) and least <= found.seconds < 60, made.kind
        assert isinstance(found.bytes, int) and found.bytes >= 0, made.kind


def test_noise_in_training_on_all_features_says_what_memory_it_takes(words):
    params = experiment.full_params("PLT", {"noise_sigma": 0.1})
    noisy = estimates.train(words, "PLT", params)
    assert noisy.bytes > 4 * words.n_train * words.n_features
    assert noisy.seconds > estimates.train(words, "PLT", experiment.full_params("PLT")).seconds


def plt_work(data, **params):
    return estimates.training(data, "PLT", experiment.full_params("PLT", params))


def expected(data, **params):
    """Seconds that the training of a PLT is expected to take, by its formula's."""
    work = plt_work(data, **params)
    return times.expected(work) / work.seconds


def test_without_times_or_a_database_that_can_be_read_an_estimate_is_that_of_its_formula(words):
    assert expected(words) == 1.0 and times.changed() == 0.0
    (cache_root() / FILE).mkdir(parents=True)  # a folder where the file should be
    assert expected(words) == 1.0 and times.most_bytes(plt_work(words)) == 0


def test_two_times_bring_estimates_within_a_factor_of_three_and_other_models_nearer(words, easy):
    for trees in (1, 3):
        work = plt_work(words, n_estimators=trees)
        times.add(work, 20 * work.seconds + 100)
    work = plt_work(words, n_estimators=2)
    near = times.expected(work) / (20 * work.seconds + 100)
    assert 1 / 3 < near < 3
    other = estimates.training(words, "LdSM", experiment.full_params("LdSM"))
    far, own = times.expected(other) / other.seconds, expected(words)
    assert 1 < far < own, "a slow machine is slow for all models"
    assert 1 < expected(easy, n_estimators=20) < own


def test_a_short_time_tells_little_and_long_ones_are_not_lost_in_it(words):
    work = plt_work(words)
    times.add(work, 0.01)
    assert expected(words) > 0.9
    times.add(work, 1000 * work.seconds + 100)
    long = times.expected(work)
    for _ in range(5):
        times.add(work, 0.01)
    assert times.expected(work) == pytest.approx(long, rel=0.1)


def test_what_waited_for_other_programs_is_learned_as_what_the_processors_worked_for_it(words):
    work = plt_work(words)
    times.add(work, 200.0, worked=20.0)
    times.add(work, 20.0, worked=35.0)  # on two cores of an idle machine
    assert [row.value[1] for row in database().rows(times.TABLE)] == [20.0, 20.0]


def test_a_run_that_takes_its_time_makes_the_next_estimate_surer(words):
    work, took = plt_work(words), 50.0
    shares = []
    for _ in range(4):
        times.add(work, took)
        shares.append(abs(math.log(times.expected(work) / took)))
    assert shares == sorted(shares, reverse=True) and shares[0] < math.log(3)


@pytest.mark.parametrize(
    "row",
    [
        *(None, "much", [1.0], [0.0, 1.0, {}, 0], [1.0, -2.0, {}, 0], [1.0, 2.0, {"a": "b"}, 0]),
        *([math.nan, 1, {}, 0], [1, math.inf, {}, 0], [1, 1e-200, {}, 0], [1, 2, {"a": math.nan}, 0]),
    ],
)
def test_a_damaged_row_of_times_is_passed_over(words, row):
    times.add(plt_work(words), 20.0)
    alone = expected(words)
    database().append(times.TABLE, "train PLT", row, 9)
    assert expected(words) == alone > 1.0


def test_the_newest_times_of_a_group_are_kept(words, monkeypatch):
    monkeypatch.setattr(times, "MOST", 3)
    for seconds in (1.0, 2.0, 3.0, 4.0):
        times.add(plt_work(words), seconds)
    assert [row.value[1] for row in database().rows(times.TABLE)] == [2.0, 3.0, 4.0]


def test_memory_is_that_which_trainings_took_as_far_as_they_took_much(words):
    params = experiment.full_params("PLT")
    least = estimates.train(words, "PLT", params).bytes
    assert least >= 12 * words.X_train.nnz
    times.add(plt_work(words), 1.0, 1 << 20)
    assert estimates.train(words, "PLT", params).bytes == least
    times.add(plt_work(words), 1.0, 1 << 30)
    assert estimates.train(words, "PLT", params).bytes == 1 << 30
    noisy = experiment.full_params("PLT", {"noise_sigma": 0.1, "noise_support": "nonzero"})
    assert estimates.train(words, "PLT", noisy).bytes == pytest.approx(2 << 30, rel=0.01), "twice the values"


def test_trainings_trials_and_selections_are_learned_from(words):
    of = {"dataset": save_dataset(words)}
    for kind, params, group in (
        ("train", {"model": "PLT"}, "train PLT"),
        ("trial", {"model": "OneVsRest"}, "train OneVsRest"),
        ("select", {"method": "ChiSquared"}, "select ChiSquared"),
    ):
        experiment.keep(experiment.task(kind, of, params))
        (row,) = database().rows(times.TABLE, f"{group}/")
        assert row.value[1] > 0 and row.value[2]["values"] > 0


# --- against the clock


def test_a_model_without_an_estimate_of_its_own_is_estimated_as_one_classifier_per_label(words):
    params = experiment.full_params("OneVsRest")
    assert estimates.train(words, "another", params) == estimates.train(words, "OneVsRest", params)


# --- against the memory


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak of a part of the time"
)
@pytest.mark.long
@pytest.mark.parametrize("name", ["wide", "few"])
def test_estimates_of_memory_are_within_a_factor_of_three(name):
    tests = Path(__file__).resolve().parents[1]
    folders = [str(tests.parent), str(tests), str(tests / "experiment")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(folders),
        "XMLCORE_KERNEL_CACHE": str(CACHE_FOLDER.parent),  # the kernels that are compiled already
        "MALLOC_MMAP_THRESHOLD_": "65536",  # arrays that are freed are given back
    }
    command = [sys.executable, str(tests / "experiment" / "memory.py"), name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    far = [
        f"{what}: {used >> 20} MB, estimated {about >> 20} MB"
        for what, about, used in found
        if not (about <= FACTOR * used + SLACK_BYTES and used <= FACTOR * about + SLACK_BYTES)
    ]
    assert not far, "\n".join([f"on {name}:", *far])
    assert max(used for _, _, used in found) > 3 * SLACK_BYTES  # the comparison is about something
