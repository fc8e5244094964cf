"""Uploaded files become data sets, or messages in the words of the page."""

import io

import pytest

from pages.data.forms import form, upload
from pages.shared import sending
from pages.shared.workspaces import dataset_list
from xmlcore import datasets, experiment, store, system
from xmlcore.datasets import DatasetFormatError
from xmlcore.experiment.engine import task_files
from xmlcore.experiment.kinds.prepare import MadeDataset


def file(name, content: bytes):
    made = io.BytesIO(content)
    made.name = name
    return made


ARFF = b"@relation 'r: -C -1'\n@attribute a numeric\n@attribute b {0,1}\n@attribute c {0,1}\n@data\n1,0,1\n2,1,0\n"
FRUIT = b"10 3 2\n" + b"".join(b"%d %d:1\n" % (i % 2, i % 3) for i in range(10))


def read(train, test=None, **options):
    """Read files as a worker does; return the fingerprint of the data set and notes as pages show them."""
    make_task, files = upload.reading(train, test, **options)
    task = make_task()
    task_files.put(task.key, files)
    experiment.keep(task)
    result = task.load()
    return result.dataset, [said(note, files) for note in result.notes]


def said(text, files):
    """A note or the message of an error as pages show it."""
    text = sending.on_page(text.fault) if isinstance(text, Exception) else text
    return dataset_list.with_names(text, form.names_of(files))


def test_an_upload_is_saved_without_names_of_its_files():
    one, notes = read(file("secret-client.txt", FRUIT))
    two, other_notes = read(file("fruit.txt", FRUIT))
    assert one == two  # the same content is kept once, for all sessions
    assert "10 rows of secret-client.txt" in notes[0]
    assert other_notes == [notes[0].replace("secret-client", "fruit")]
    saved, task = datasets.load_saved(one), upload.reading(file("secret-client.txt", FRUIT), None)[0]()
    kept = (saved.name, saved.notes, store.info("datasets", one), task.load(), store.info("readings", task.key))
    assert "secret" not in repr(kept)
    assert len([*(system.cache_root() / "given").iterdir()]) == 1, "files are removed when they have been read"


def test_a_file_that_fails_is_not_read_at_each_run(monkeypatch):
    def fail():
        raise IndexError

    monkeypatch.setattr(form.st, "session_state", {upload.FORM.pressed: True})
    monkeypatch.setattr(form.jobs, "failed", lambda kind: [])
    with pytest.raises(IndexError):
        form._make(upload.FORM, form.Request(fail, {"train": file("x.csv", b"a,b\n")}))
    assert form.st.session_state[upload.FORM.pressed] is False


@pytest.mark.parametrize(("files", "name"), [
    ({"train": "bibtex_train.txt.gz"}, "bibtex"),
    ({"train": "train.txt", "test": "bibtex-test.txt", "label_names": "labels.txt"}, "bibtex"),
    ({"train": "fruit.zip"}, "fruit"),
    ({"train": "train.txt.gz"}, "train"),
    ({}, "upload of 2 labels"),
    ({"train": "\u202etxt.niart"}, "�txt.niart"),
])  # fmt: skip
def test_a_data_set_is_named_after_a_telling_file(files, name, monkeypatch):
    listed = []
    monkeypatch.setattr(dataset_list.workspace, "get", lambda field: {})
    monkeypatch.setattr(dataset_list, "add_dataset", lambda fingerprint, name, *_, **__: listed.append(name))
    monkeypatch.setattr(dataset_list.workspace, "notify", lambda message: None)
    names = form.names_of({what: file(name, b"") for what, name in files.items()})
    dataset_list.list_dataset("read", MadeDataset("f", n_labels=2), True, files=names)
    assert listed == [name]


def test_names_are_cleaned_noted_and_told_apart():
    names = file("labels.txt", "\u202ereap\nred\x07apple\n".encode())
    fingerprint, notes = read(file("fruit.txt", FRUIT), label_names=names)
    assert datasets.load_saved(fingerprint).label_names == ["�reap", "red�apple"]
    assert any(note.startswith("2 label names have control") for note in notes)
    same = {"train": file("fruit.txt", FRUIT), "test": file("fruit.txt", b"1 3 2\n0 a:1\n")}
    with pytest.raises(DatasetFormatError) as caught:
        read(**same)
    assert said(caught.value, same).startswith("fruit.txt (test), line 2")
    names = file("labels.txt", b"pear\npear\n")
    notes = read(file("fruit.txt", FRUIT), label_names=names)[1]
    assert any("'pear' stands for the labels" in note for note in notes)


@pytest.mark.parametrize(("train", "options", "control"), [
    (b"2 2 2\n1 1:1\n2 2:1\n", {}, "Ids start at"),
    (b"2 2 2\n0 0:1\n1 1:1\n", {"first_index": 1}, "Ids start at"),
    (b"1 2 2\n0 0:1\n", {"test_size": 0.2}, "Test share"),
    (b"0 word:1\n", {}, "Feature names"),
    (FRUIT, {"labels": -1}, "Labels are"),
    (b"a,tags\n5,x\n", {}, "Labels are"),
    (ARFF, {"labels": -5}, "Labels are"),
])  # fmt: skip
def test_refusals_name_the_controls_and_no_arguments(train, options, control):
    with pytest.raises(ValueError) as caught:
        read(file("mine.txt", train), **options)
    message = said(caught.value, {"train": file("mine.txt", train)})
    assert f"“{control}" in message and "=" not in message.replace("(ids 0 to", "") and "_" not in message


def test_notes_name_no_arguments_and_refusals_no_folders(monkeypatch):
    notes = read(file("mine.arff", ARFF), test_size=0.5)[1]
    assert any(note.endswith("Are these the labels?") for note in notes)
    notes = read(file("mine.arff", ARFF.replace(b"a numeric", b"a {1,2,3}")), test_size=0.5)[1]
    assert any("became 3 features" in note for note in notes)
    notes = read(file("mine.txt", b"1 1:1\n2 2:1\n1 1:2\n2 2:3\n"), test_size=0.5)[1]
    assert any(note.endswith("Do ids start at 1?") for note in notes)
    monkeypatch.setattr(task_files, "MAX_TEXT", 20)
    with pytest.raises(DatasetFormatError) as caught:
        read(file("mine.txt", FRUIT))
    message = said(caught.value, {})
    assert "max_bytes" not in message and "only in a notebook" in message
    message = form.explain(OSError(28, "No space left on device", "/home/owner/cache"))
    assert message.endswith(": No space left on device.")
    error = DatasetFormatError("my_file.txt", "found 'x'", "Give a number.", line=1234, column=5)
    message = form.explain(error).replace("\\", "")
    assert all(fact in message for fact in ("my_file.txt, line 1234", "column 5", "'x'. Give a number."))


@pytest.mark.parametrize(("limit", "what"), [("MAX_LABELS", "labels"), ("MAX_FEATURES", "features")])
def test_more_than_the_dashboard_takes_is_refused(limit, what, monkeypatch):
    monkeypatch.setattr(f"xmlcore.experiment.kinds.read.{limit}", 4)
    text = b"2 5 5\n1 0:1\n2 1:1\n"
    with pytest.raises(ValueError, match=f"5 {what}; the dashboard takes up to 4"):
        read(file("a.txt", text), file("b.txt", text))
    assert store.entries("datasets") == []
