"""Documents are read into a kept data set by a task."""

import re

import making
import pytest

from xmlcore import datasets, experiment

CSV = "title,body,tags\n" + "".join(f"t{i},word{i % 4} of text,red;{'blue' if i % 2 else 'green'}\n" for i in range(30))
COLUMNS = {"text": ["title", "body"], "labels": "tags"}


def reading(content=CSV, more=None, **params):
    return making.reading("read_texts", {}, {"train": content.encode()} | (more or {}), **params)


def test_texts_are_read_as_read_text_dataset_reads_them():
    task = reading(**COLUMNS, vectorizer={"ngrams": (1, 2), "sublinear": False}, random_state=2)
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
    task = reading(content, {"names": b"<http://a/1>\tcats\n<http://a/2>\tdogs\n"})
    experiment.keep(task)
    assert datasets.load_saved(task.load().dataset).label_names == ["cats", "dogs"]


def test_settings_decide_the_key_and_are_checked_at_once():
    assert reading(**COLUMNS).key == reading(**COLUMNS, vectorizer={"max_df": 1.0}).key
    assert reading(**COLUMNS).key != reading(**COLUMNS, vectorizer={"min_df": 3}).key
    for params, message in (
        ({"vectorizer": {"min_df": -1}}, "min_df"),
        ({"vectorizer": {"never": 1}}, "never"),
        ({"first_index": 1}, "first_index"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            reading(**params)


def test_warnings_become_notes_and_errors_name_the_file():
    task = reading(CSV + "t30,no labels here,\n", **COLUMNS)
    experiment.keep(task)
    assert any(note.endswith("1 of 31 documents (in line 32) is without labels") for note in task.load().notes)
    with pytest.raises(datasets.DatasetFormatError, match="‹train›: it has no column 'text'"):
        experiment.keep(reading())
