"""Files of rows and of texts are read into a kept data set, and split or cut into words again, by tasks."""

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import making
import pytest
from making import kept

from tests.experiment.conftest import read_documents
from xmlcore import datasets, experiment
from xmlcore.datasets import TextVectorizer, save_dataset, with_words
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


CSV = "title,body,tags\n" + "".join(f"t{i},word{i % 4} of text,red;{'blue' if i % 2 else 'green'}\n" for i in range(30))
COLUMNS = {"text": ["title", "body"], "labels": "tags"}


def reading_texts(content=CSV, more=None, **params):
    return making.reading("read_texts", {}, {"train": content.encode()} | (more or {}), **params)


def test_texts_are_read_as_read_text_dataset_reads_them():
    task = reading_texts(**COLUMNS, vectorizer={"ngrams": (1, 2), "sublinear": False}, random_state=2)
    experiment.keep(task)
    vectorizer = datasets.TextVectorizer(ngrams=(1, 2), sublinear=False)
    read = datasets.read_text_dataset(CSV.encode(), random_state=2, vectorizer=vectorizer, **COLUMNS)
    found, kept = task.load(), datasets.load_saved(task.load().dataset)
    assert kept.content_hash == read.content_hash and found.n_labels == 3
    assert kept.texts_test == read.texts_test and kept.vectorizer.settings_ == read.vectorizer.settings_
    assert found.notes[:2] == [note.replace("data,", "‹train›,") for note in read.notes]
    assert re.fullmatch(r"Words became \d+ features; a training row has .+ of them on average\.", found.notes[-1])


def test_a_vocabulary_is_a_file_of_the_task():
    content = "text,subject_uris\n" + "one two,<http://a/1>\ntwo one,<http://a/2>\n" * 5
    task = reading_texts(content, {"names": b"<http://a/1>\tcats\n<http://a/2>\tdogs\n"})
    experiment.keep(task)
    assert datasets.load_saved(task.load().dataset).label_names == ["cats", "dogs"]


def test_settings_decide_the_key_and_are_checked_at_once():
    assert reading_texts(**COLUMNS).key == reading_texts(**COLUMNS, vectorizer={"max_df": 1.0}).key
    assert reading_texts(**COLUMNS).key != reading_texts(**COLUMNS, vectorizer={"min_df": 3}).key
    for params, message in (
        ({"vectorizer": {"min_df": -1}}, "min_df"),
        ({"vectorizer": {"never": 1}}, "never"),
        ({"first_index": 1}, "first_index"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            reading_texts(**params)


def test_warnings_become_notes_and_errors_name_the_file():
    task = reading_texts(CSV + "t30,no labels here,\n", **COLUMNS)
    experiment.keep(task)
    assert any(note.endswith("1 of 31 documents (in line 32) is without labels") for note in task.load().notes)
    with pytest.raises(datasets.DatasetFormatError, match="‹train›: it has no column 'text'"):
        experiment.keep(reading_texts())


def test_the_kept_data_set_has_the_same_rows_and_other_features():
    before = datasets.load_saved(read_documents().load().dataset)
    task = kept("words", {"dataset": before.fingerprint}, vectorizer={"ngrams": (1, 2), "min_df": 1})
    after, made = datasets.load_saved(task.load().dataset), with_words(before, TextVectorizer(ngrams=(1, 2), min_df=1))
    assert after.content_hash == made.content_hash != before.content_hash
    assert (after.texts_train, after.label_names) == (before.texts_train, before.label_names)
    assert (after.Y_test != before.Y_test).nnz == 0 and "one two" in after.feature_names
    assert "min_df=1, ngrams=(1, 2)" in made.notes[-1]
    assert task.load().notes[0] == made.notes[-1] and task.load().notes[1].startswith("Words became")
    trained = kept("train", {"dataset": after.fingerprint}, model="PLT")
    code = experiment.code_of(trained.key)
    assert "words_by_trials(datasets.TextVectorizer(" in code and "datasets.with_words(data, vectorizer)" in code


def test_a_data_set_without_texts_is_refused(easy):
    with pytest.raises(ValueError, match="has no texts to make features from"):
        experiment.keep(experiment.task("words", {"dataset": save_dataset(easy)}, {}))
