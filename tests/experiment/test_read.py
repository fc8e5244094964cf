"""Files are read into a kept data set, and rows are split again, by tasks."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import making
import pytest

from xmlcore import datasets, experiment
from xmlcore.datasets import save_dataset
from xmlcore.experiment.engine import task_files
from xmlcore.jobs import worker
from xmlcore.progress import Cancelled
from xmlcore.system import cache_root

FRUIT = b"10 3 2\n" + b"".join(b"%d %d:1\n" % (i % 2, i % 3) for i in range(10))


def reading(content=FRUIT, **options):
    return making.reading("read", {}, {"train": content}, **options)


def test_the_kept_data_set_is_the_one_that_read_dataset_reads():
    task = reading(random_state=3)
    experiment.keep(task)
    read = datasets.read_dataset(FRUIT, random_state=3)
    assert datasets.load_saved(task.load().dataset).content_hash == read.content_hash
    assert task.load().notes == [read.notes[0].replace("data", "‹train›")]
    assert task.key != reading(random_state=4).key and task.key != reading(FRUIT + b"# a\n", random_state=3).key


def test_files_are_removed_when_read_also_if_that_fails():
    for content in (FRUIT, b"1 2\n"):
        task = reading(content)
        try:
            experiment.keep(task)
        except datasets.DatasetFormatError:
            pass
        with pytest.raises(ValueError, match="choose them again"), task_files.taken(task.key, ["train"]):
            pass
        assert not [*(cache_root() / "given").iterdir()]


def test_files_given_while_a_task_stops_stay():
    def stop(phase, fraction, detail=""):
        reading()  # chosen once more before the first run has ended
        raise Cancelled

    task = reading()
    with pytest.raises(Cancelled):
        experiment.keep(task, stop)
    experiment.keep(task)
    assert task.load().n_labels == 2
    task = reading(random_state=5)
    with task_files.taken(task.key, ["train"]):  # by a process that was killed
        task_files.drop(task.key)
        assert not [*(cache_root() / "given").iterdir()]


def test_reading_can_be_stopped_and_says_how_far_it_is():
    said = []

    def stop(phase, fraction, detail=""):
        said.append((phase, fraction))
        if fraction >= 0.5:
            raise Cancelled

    task = reading()
    with pytest.raises(Cancelled):
        experiment.keep(task, stop)
    assert said[-1] == ("Reading the training rows", 0.5) and not task.exists()


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="files need train"):
        experiment.task("read", {}, {"files": {"test": {}}})
    for params in ({"way": "sideways"}, {"way": "unseen", "test_size": 0.2}):
        with pytest.raises((ValueError, TypeError)):
            experiment.task("split", {"dataset": "0" * 32}, params)


@pytest.mark.parametrize("way", ["stratified", "random"])
def test_a_split_without_training_rows_is_refused(way, easy):
    n_rows = easy.n_train + easy.n_test
    for size in (n_rows, n_rows + 1, 1e-9):
        with pytest.raises(ValueError, match="rows for training"):
            experiment.task("split", {"dataset": save_dataset(easy)}, {"way": way, "test_size": size})
    experiment.task("split", {"dataset": save_dataset(easy)}, {"way": way, "test_size": n_rows - 1})


KILLED = """
import os, signal, sys
from xmlcore import experiment, store
from xmlcore.experiment.engine import task_files

moment, record = sys.argv[1], experiment.from_record(eval(sys.argv[2]))

def die(*args, **options):
    print("there", flush=True)
    signal.pause()

if moment == "reading":
    experiment.keep(record, die)
if moment == "the result is being written":
    type(record).facts = die
experiment.keep(record)
"""


@pytest.mark.skipif(os.name != "posix", reason="files are locked on POSIX systems only")
@pytest.mark.parametrize("moment", ["reading", "the result is being written"])
def test_files_of_a_killed_run_are_taken_by_the_next(moment):
    task = reading()
    command = [sys.executable, "-c", KILLED, moment, repr(task.to_record())]
    run = subprocess.Popen(command, cwd=Path(__file__).resolve().parents[2], stdout=subprocess.PIPE)
    try:
        assert run.stdout.readline() == b"there\n"
        with pytest.raises(ValueError, match="choose them again"), task_files.taken(task.key, ["train"]):
            pass
        assert not task.exists()
    finally:
        run.kill()
        run.communicate()
    experiment.keep(task)
    assert task.load().n_labels == 2 and not [*(cache_root() / "given").iterdir()]


def limits_with_files(progress):
    import resource

    with task_files.taken("key", ("train",)):
        return resource.getrlimit(resource.RLIMIT_DATA)[0], signal.getitimer(signal.ITIMER_REAL)[0]


@pytest.mark.skipif(sys.platform != "linux", reason="no other system limits a process so")
def test_a_worker_reads_files_within_limits_of_memory_and_time(own_cache, tmp_path, monkeypatch):
    import resource

    monkeypatch.setattr(worker, "_runs_jobs_only", False)
    before = resource.getrlimit(resource.RLIMIT_DATA)[0]
    for submitter in (worker.where_am_i(), "another process"):
        task_files.put("key", {"train": io.BytesIO(b"1")})
        outcome = worker.run(
            worker.pickled((limits_with_files, (), {})), tmp_path, os.environ["XMLCORE_CACHE"], submitter
        )
        memory, seconds = worker.unpickled(outcome["value"])
        is_limited = submitter == "another process"
        assert (memory != before, seconds > 3000) == (is_limited, is_limited)
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] == before
