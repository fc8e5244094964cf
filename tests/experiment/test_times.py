"""How long work took here, and what is known of tasks before they run."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from making import robustness, train

from xmlcore import experiment
from xmlcore._kernels._jit import CACHE_FOLDER
from xmlcore.datasets import save_dataset
from xmlcore.experiment.engine import times
from xmlcore.experiment.engine.task import SHORT
from xmlcore.experiment.engine.times import Took, Work
from xmlcore.state import FILE, database
from xmlcore.system import cache_root

FACTOR = 3.0
SLACK_BYTES = 100 << 20  # what a task may use beside what it says: it leaves out what is small
GB = 1 << 30


def test_every_kind_says_what_it_reads_and_the_memory_it_takes(some_of_each):
    timed = {row.key.rpartition("/")[0] for row in database().rows(times.TABLE)}
    for made in some_of_each:
        found = made.estimate()
        assert isinstance(found, experiment.Estimate) and found.is_short, made.kind
        assert isinstance(found.bytes, int) and found.bytes >= 0, made.kind
        assert (found.seconds is not None) == (made.work().group in timed or made.work().values == 0), made.kind
    assert {"train PLT", "select FALS", "robustness gaussian", "synthetic"} <= timed


def test_without_a_time_that_can_be_read_none_is_known(words):
    task = train(save_dataset(words))
    assert task.estimate().seconds is None and times.changed() == 0.0
    (cache_root() / FILE).unlink(missing_ok=True)
    (cache_root() / FILE).mkdir()  # a folder where the file should be
    assert times.nearest(task.work()) is None


@pytest.mark.parametrize(
    "values, settings, seconds",
    [
        (200, {"C": 1}, 20.0),  # in proportion to the values
        (100, {"C": 2}, 50.0),
        (100, {"C": 3}, None),  # other settings may take any time
        (100_001, {"C": 1}, None),
        (0, {"C": 1}, 0.0),
    ],
)
def test_work_takes_what_such_work_took_in_proportion(values, settings, seconds):
    times.add(Work("train PLT", 100, settings={"C": 1}), 10.0)
    times.add(Work("train PLT", 100, settings={"C": 1}), 90.0)  # beside another program
    times.add(Work("train PLT", 100, settings={"C": 2}), 50.0)
    times.add(Work("train LdSM", values, settings=settings), 1000.0)
    found = times.nearest(Work("train PLT", values, settings=settings))
    assert found == (None if seconds is None else Took(seconds))


@pytest.mark.parametrize(
    "kind, small, large",
    [
        ("select", {"method": "FALS", "params": {"n_hidden": 8}}, {"method": "FALS"}),
        ("compare_selections", {"selections": [None]}, {"selections": [None, ["FALS", {}]]}),
    ],
)
def test_a_small_network_does_not_tell_the_time_of_a_large_one(words, kind, small, large):
    small, large = (experiment.task(kind, {"dataset": save_dataset(words)}, params) for params in (small, large))
    times.add(small.work(), 1.0)
    assert (small.estimate().seconds, large.estimate().seconds) == (1.0, None)


def test_memory_is_that_which_work_took_if_it_was_much():
    small, large = Work("a", 100), Work("b", 100)
    times.add(small, 1.0, 1 << 20)
    times.add(large, 1.0, GB)
    assert times.nearest(small).bytes == 0
    assert [times.nearest(large._replace(values=values)).bytes for values in (50, 100, 200)] == [GB, GB, 2 * GB]


@pytest.mark.parametrize("field", ["values", "seconds", "bytes", "settings"])
@pytest.mark.parametrize("value", [None, "much", -1.0, 0.0, math.nan, math.inf])
def test_a_damaged_row_of_times_is_passed_over(field, value):
    times.add(Work("a", 100), 20.0)
    row = {"values": 100, "seconds": 1.0, "settings": {}, "bytes": 0} | {field: value}
    database().append(times.TABLE, "a", row if value is not None else value, 9)
    assert times.nearest(Work("a", 100)) is not None
    if field in ("values", "seconds"):
        assert times.nearest(Work("a", 100)) == Took(20.0)


def test_the_newest_times_of_a_group_are_kept(monkeypatch):
    monkeypatch.setattr(times, "MOST", 3)
    for seconds in (1.0, 2.0, 3.0, 4.0):
        times.add(Work("a", 100), seconds)
    assert [row.value["seconds"] for row in database().rows(times.TABLE)] == [2.0, 3.0, 4.0]


def test_more_data_trees_and_noise_are_more_work(words):
    of = save_dataset(words)
    one, three = (train(of, params={"n_estimators": n}).work() for n in (1, 3))
    noisy = train(of, params={"n_estimators": 1, "noise_sigma": 0.1}).work()
    assert three.values == pytest.approx(3 * one.values) and noisy.values > one.values
    assert noisy.bytes > 4 * words.n_train * words.n_features > 0 and one.bytes >= 12 * words.X_train.nnz
    curve = experiment.task("learning_curve", {"dataset": of}, {"shares": [0.5, 1.0], "seeds": [0, 1]})
    assert curve.work().values == pytest.approx(3 * train(of).work().values)


def test_a_task_of_many_rows_is_not_short(key):
    few, many = (robustness(key, "gaussian", [0.1], n_repeats=n) for n in (1, 1000))
    assert few.estimate().is_short and many.work().values > 50 * few.work().values
    assert not experiment.Estimate(values=1.01 * SHORT).is_short


# --- against the memory


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak of a part of the time"
)
@pytest.mark.long
@pytest.mark.parametrize("name", ["wide", "few"])
def test_memory_that_tasks_state_is_within_a_factor_of_three(name):
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
