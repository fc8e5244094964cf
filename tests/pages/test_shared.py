"""What the pages share, without a page around it."""

import dataclasses
import io
import json
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import streamlit as st

from pages.data import uploads
from pages.shared import charts, format, jobs, predictions, settings, tables, workspace
from xmlcore import Ranking, datasets, metrics, store
from xmlcore.datasets import Dataset, DatasetFormatError


@pytest.fixture
def data():
    X = [[0, 2.0, -3.0, 1.0], [1.0, 0, 0, 0], [0, 0, 0, 0]]
    Y = np.array([[1, 0, 1], [0, 0, 1], [0, 0, 0]])
    return Dataset(
        "tiny", X, Y, X, Y, feature_names=["ant", "bee", "cat", "bear"], label_names=["North", "East", "South"]
    )


@pytest.fixture
def ranking():
    labels = np.array([[2, 1, 0], [0, 2, -1], [1, -1, -1]], np.int32)
    return Ranking(labels, np.array([[0.9, 0.5, 0.1], [0.8, 0.3, 0], [0.7, 0, 0]], np.float32))


def test_right_predictions_are_told_from_wrong_ones_and_from_padding(data, ranking):
    assert metrics.hits(data.Y_test, ranking).tolist() == [
        [True, False, True],
        [False, True, False],
        [False, False, False],
    ]


def test_right_predictions_agree_with_a_plain_loop():
    rng = np.random.default_rng(1)
    Y = sp.csr_array(rng.random((50, 30)) < 0.1)
    Y.sort_indices()
    labels = np.array([rng.permutation(30)[:7] for _ in range(50)], np.int32)
    labels[::5, 4:] = -1
    expected = [[bool(j >= 0 and Y[i, j]) for j in labels[i]] for i in range(50)]
    assert metrics.hits(Y, Ranking(labels, np.zeros(labels.shape, np.float32))).tolist() == expected


def test_all_predictions_have_a_line_each_without_padding(data, ranking):
    frame = predictions.all_rows(data, ranking, 2)
    assert frame.columns.tolist() == ["row", "rank", "label", "name", "score", "correct"]
    assert frame[["row", "rank", "name", "correct"]].values.tolist() == [
        [0, 1, "South", True],
        [0, 2, "East", False],
        [1, 1, "North", False],
        [1, 2, "South", True],
        [2, 1, "East", False],
    ]


def test_missed_labels_are_named(data, ranking):
    assert predictions.missed(data, ranking, 0, 1) == ["North"]
    assert predictions.missed(data, ranking, 0, 3) == []


def test_worst_mistakes_are_confident_first_and_only_rows_that_could_be_right(data, ranking):
    assert predictions.worst_mistakes(ranking, data.Y_test).tolist() == [1]


def test_features_of_a_row_are_ordered_by_size_with_names(data):
    frame = tables.features(data, data.X_train, 0)
    assert frame["feature"].tolist() == ["cat", "bee", "bear"]
    assert frame["value"].tolist() == [-3, 2, 1]
    assert tables.features(data, data.X_train, 2).empty


@pytest.mark.parametrize(("query", "rows"), [("", [0, 1, 2]), ("BEE", [0]), ("ant", [1]), ("south", [0, 1]), ("x", [])])
def test_rows_are_found_by_label_or_feature_in_any_case(data, query, rows):
    assert tables.find_rows(data, "training", query).tolist() == rows


def test_rows_without_names_are_found_by_id(data):
    bare = Dataset("bare", data.X_train, data.Y_train, data.X_test, data.Y_test)
    assert tables.find_rows(bare, "training", "label 2").tolist() == [0, 1]
    assert tables.find_rows(bare, "test", "feature 1").tolist() == [0]
    assert tables.find_rows(bare, "test", "1").tolist() == [0]


def test_labels_per_row_counts_each_part(data):
    frame = tables.labels_per_row(data)
    assert frame.values.tolist() == [[part, n, 1] for part in ("training", "test") for n in range(3)]


@pytest.mark.parametrize(
    ("name", "stem"),
    [("bibtex.txt.gz", "bibtex"), ("a.b.svm", "a.b"), ("train-animals.txt", "train-animals"), ("Übung.txt", "Übung")]
    + [
        (name, "")
        for name in ("train", "trn.txt.gz", "Training_data (2).txt", "dataset.svm", "X_train.txt", ".txt", "3")
    ],
)
def test_uploads_are_named_after_their_file_if_its_name_tells_anything(name, stem):
    assert uploads.stem(name) == stem


def file(name, content: bytes):
    made = io.BytesIO(content)
    made.name = name
    return made


FRUIT = b"10 3 2\n" + b"".join(b"%d %d:1\n" % (i % 2, i % 3) for i in range(10))


def test_an_upload_is_saved_without_names_of_its_files():
    one, notes, name = uploads.read(file("secret-client.txt", FRUIT), None, "")
    two, other_notes, other_name = uploads.read(file("fruit.txt", FRUIT), None, "Fruit")
    assert one == two  # the same content is kept once, for all sessions
    assert (name, other_name) == ("secret-client", "Fruit")
    assert notes == ["The test rows are 2 of the 10 rows of secret-client.txt, drawn at random with seed 0."]
    assert other_notes == [notes[0].replace("secret-client", "fruit")]
    saved = datasets.load_saved(one)
    assert "secret" not in repr((saved.name, saved.notes, store.info("datasets", one)))


def test_a_file_called_train_is_named_by_its_labels():
    assert uploads.read(file("train.txt", FRUIT), None, " ")[2] == "upload of 2 labels"


def test_names_that_are_not_unique_are_noted():
    names = file("labels.txt", b"pear\npear\n")
    notes = uploads.read(file("fruit.txt", FRUIT), None, "", label_names=names)[1]
    assert "A label name is not unique: “pear” stands for the labels 0, 1. Ids tell them apart." in notes


@pytest.mark.parametrize(
    ("train", "options", "said"),
    [
        (b"2 2 2\n1 1:1\n2 2:1\n", {}, "choose 1 at “Ids start at”"),
        (b"2 2 2\n0 0:1\n1 1:1\n", {"first_index": 1}, "but “Ids start at” is 1. Choose 0 at “Ids start at”"),
        (b"1 2 2\n0 0:1\n", {"test_size": 0.2}, "a test share of 20 % leaves 1 of 1 rows for training and 0"),
        (b"0 word:1\n", {}, "at “Feature names”"),
        (b"1,2,1\n0 0:1\n", {}, "header"),
        (FRUIT, {"label_names": b""}, "Give one name per line, in the order of the label ids"),
        (FRUIT, {"label_names": b"one\n"}, "1 label names, but there are 2 labels"),
    ],
)
def test_refusals_speak_of_the_controls_and_never_of_arguments(train, options, said):
    options = {what: file(f"{what}.txt", o) if isinstance(o, bytes) else o for what, o in options.items()}
    with pytest.raises(ValueError) as caught:
        uploads.read(file("mine.txt", train), None, "", **options)
    message = uploads.explain(caught.value).replace("\\", "").replace("  \n", " ")
    assert said in message
    for argument in ("first_index", "test_size", "max_bytes", "feature_names", "format=", "label_names="):
        assert argument not in message


def test_too_much_text_is_refused_in_words_of_the_page(monkeypatch):
    monkeypatch.setattr(uploads, "MAX_TEXT", 20)
    with pytest.raises(DatasetFormatError) as caught:
        uploads.read(file("mine.txt", FRUIT), None, "")
    assert "max_bytes" not in uploads.explain(caught.value).replace("\\", "")
    assert "The dashboard takes no more" in uploads.explain(caught.value)


def test_warnings_speak_of_the_controls_too():
    notes = uploads.read(file("mine.txt", b"1 1:1\n2 2:1\n1 1:2\n2 2:3\n"), None, "", test_size=0.5)[1]
    assert any("choose 1 at “Ids start at”" in note for note in notes)
    assert not any("first_index" in note for note in notes)


def test_the_chosen_row_is_listed_first_and_none_is_lost():
    found = np.arange(0, 1000, 2)
    assert tables.listed_rows(found, None, 3).tolist() == [0, 2, 4]
    assert tables.listed_rows(found, 900, 3).tolist() == [900, 0, 2]
    assert tables.listed_rows(found, 2, 3).tolist() == [2, 0, 4]
    assert tables.listed_rows(found, 3, 3).tolist() == [0, 2, 4]  # not among those found
    assert sorted(tables.listed_rows(found[:3], 4, 3)) == [0, 2, 4]


def test_names_that_a_spreadsheet_would_run_get_an_apostrophe_and_numbers_do_not():
    frame = pd.DataFrame(
        {"name": ["=1+1", "+SUM(1)", "-cmd", "@x", "\tx", "-5", "+1.5", "a=b", ""], "value": [-1.0] * 9}
    )
    safe = tables.csv_safe(frame)
    expected = ["'=1+1", "'+SUM(1)", "'-cmd", "'@x", "'\tx", "-5", "+1.5", "a=b", ""]
    assert safe["name"].tolist() == expected
    assert safe["value"].tolist() == [-1.0] * 9
    assert tables.csv_safe(safe)["name"].tolist() == expected
    assert frame["name"][0] == "=1+1"  # the table shown is not changed


def test_predictions_carry_the_names_of_their_rows(data, ranking):
    named = dataclasses.replace(data, row_names_test=["=first", "second", "third"], label_names=["@n", "e", "s"])
    frame = predictions.all_rows(named, ranking, 1)
    assert frame.columns.tolist() == ["row", "row_name", "rank", "label", "name", "score", "correct"]
    assert frame["row_name"].tolist() == ["'=first", "second", "third"]
    assert frame["name"].tolist() == ["s", "'@n", "e"]


@pytest.mark.parametrize(
    ("values", "shown"), [([1, 300], "%.0f"), ([0.5, 2], "%.4f"), ([12.5], "%.2f"), ([1e4, 0.5], "%.0f")]
)
def test_values_have_the_digits_that_mean_something(values, shown):
    assert tables.value_format(values) == shown


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([3, 1], "2 features of this row, largest value first."),
        ([-3, 1], "2 features of this row, largest absolute value first."),
        ([1, 1], "2 features of this row, each with the value 1."),
        ([1], "1 feature of this row, with the value 1."),
    ],
)
def test_an_order_is_only_spoken_of_where_there_is_one(values, said):
    assert tables.about_features(pd.DataFrame({"value": np.array(values, float)})) == said


def test_format_errors_say_where_what_and_the_remedy():
    error = DatasetFormatError("my_file.txt", "found 'x'", "Give a number.", line=1234, column=5)
    said = uploads.explain(error).replace("\\", "")
    assert said.startswith("**my_file.txt, line 1,234, column 5**: found 'x'.")
    assert said.endswith("Give a number.")


def test_markdown_in_names_is_shown_as_it_is():
    assert format.plain("a*b_c $x$ [l](u) :red[x] <b>") == r"a\*b\_c \$x\$ \[l\]\(u\) \:red\[x\] \<b\>"


@pytest.mark.parametrize(
    ("value", "said"), [(0.0123, "12 ms"), (1.234, "1.2 s"), (42.4, "42 s"), (125, "2 min 05 s"), (59.6, "60 s")]
)
def test_durations_have_the_digits_that_mean_something(value, said):
    assert format.seconds(value) == said


def test_sizes_and_counts():
    assert [format.size(v) for v in (12, 1234, 5_100_000, 250_000_000, 3.2e9)] == [
        "12 bytes",
        "1.2 kB",
        "5.1 MB",
        "250 MB",
        "3.2 GB",
    ]
    assert [format.count(n, "row") for n in (0, 1, 1234)] == ["0 rows", "1 row", "1,234 rows"]


def test_names_of_downloads_are_harmless():
    assert format.file_name("../a b/ü.txt") == "a-b--.txt"
    assert format.file_name("...") == "data"


def test_csv_is_complete_and_quotes_what_needs_it():
    frame = pd.DataFrame({"name": ['a,"b"', "c\nd"], "n": [1, 2]})
    assert charts.csv_bytes(frame).decode() == 'name,n\n"a,""b""",1\n"c\nd",2\n'


@pytest.fixture
def token(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", {})
    workspace.open_workspace()
    return workspace.token()


def test_workspace_is_kept_on_disk_and_found_by_its_address(token, monkeypatch):
    workspace.update(dataset="abc", wanted=None)
    monkeypatch.setattr(st, "session_state", {})
    workspace.open_workspace()
    assert workspace.token() == token
    assert workspace.get("dataset") == "abc"


def test_address_is_restored_when_a_page_switch_drops_it(token):
    st.query_params.clear()
    workspace.open_workspace()
    assert st.query_params == {"workspace": token}


def test_two_tabs_of_a_workspace_do_not_undo_each_other(token, monkeypatch):
    first = st.session_state
    second = {}
    monkeypatch.setattr(st, "session_state", second)
    workspace.open_workspace()
    workspace.add_dataset("f1", "one", "upload", use=False)
    monkeypatch.setattr(st, "session_state", first)
    workspace.add_dataset("f2", "two", "upload", use=True)
    assert set(workspace.get("known")) == {"f1", "f2"}


def test_workspace_file_is_whole_at_every_moment(token):
    path = workspace._path(token)
    over = threading.Event()
    broken = []

    def read():
        while not over.is_set():
            try:
                json.loads(path.read_text())
            except ValueError as error:
                broken.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(200):
        workspace.update(lambda data, i=i: data["widgets"].__setitem__("x", "y" * (i * 50)))
    over.set()
    reader.join()
    assert not broken
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_kept_widget_values_come_back_and_unfit_ones_do_not(token, monkeypatch):
    made = workspace.keep("w", 1)
    assert made["value"] == 1
    st.session_state["w"] = 7  # as the widget does
    made["on_change"](*made["args"])
    assert workspace.keep("w", 1)["value"] == 1  # what a living widget was made with does not change
    monkeypatch.setattr(st, "session_state", {})
    workspace.open_workspace()
    assert workspace.keep("w", 1)["value"] == 7
    assert workspace.keep("w", 1, options=(7, 1))["index"] == 0
    st.session_state["w"] = 7
    assert workspace.keep("w", 1, lambda v: v < 5)["value"] == 1
    assert "w" not in st.session_state


def test_tokens_are_not_paths():
    with pytest.raises(ValueError, match="token"):
        workspace._path("../../../../tmp/evil")


@pytest.mark.parametrize("header, what", [("2 5 2000000000", "labels"), ("2 2000000000 5", "features")])
def test_a_header_that_promises_too_much_is_refused_before_anything_is_made_of_it(header, what):
    text = f"{header}\n1 0:1\n2 1:1\n".encode()
    with pytest.raises(ValueError, match=f"2,000,000,000 {what}; the dashboard takes up to .*Is the header right"):
        uploads.read(file("a.txt", text), file("b.txt", text), "wide")
    assert store.entries("datasets") == []


RECORD = {"id": "a", "kind": "train", "inputs": {}, "params": {"model": "PLT"}, "fingerprint": "f"}


@pytest.mark.parametrize("ended", ["done", "cancelled"])
def test_a_job_that_ends_while_the_page_is_drawn_is_watched_until_its_result_is_taken_in(monkeypatch, ended):
    job = SimpleNamespace(id="a", state=ended)
    monkeypatch.setattr(workspace, "get", lambda name: [RECORD])
    monkeypatch.setattr(jobs, "find", lambda record: job)
    assert jobs.active("train", fingerprint="f", model="PLT") == [job]


@pytest.mark.parametrize(
    ("model", "message", "said"),
    [
        (
            "LdSM",
            "class integrity counts for too much: n_attempts=5 tries again, or make integrity_weight smaller",
            "class integrity counts for too much: “Attempts at a split” = 5 tries again, or make “Weight of class "
            "integrity, λ1” smaller",
        ),
        (
            "OneVsRest",
            "stopped at max_iter=20 before tol=0.1: raise max_iter, or tol when precision does not change",
            "stopped at “Most Newton steps” = 20 before “Tolerance” = 0.1: raise “Most Newton steps”, or “Tolerance” "
            "when precision does not change",
        ),
        (
            "DoubleSampling",
            "adversaries='candidates' needs n_candidates of at least 2",
            "“Adversarial classes from” = candidates needs “Candidates, q” of at least 2",
        ),
        ("FALS", "binary=True is for n_layers=2", "“A network for each label (FALSb)” = on is for “Layers” = 2"),
        ("PLT", "fewer threads (n_jobs), another loss of C's", "fewer threads (n_jobs), another loss of C's"),
        (None, "max_iter=20", "max_iter=20"),
    ],
)
def test_messages_call_parameters_as_the_form_does(model, message, said):
    assert settings.in_form(model, message) == said


def test_ordinals():
    assert [format.ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111, 1013)] == (
        "1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th 1,013th".split()
    )


def test_labels_are_found_by_their_id_and_exact_names_come_first():
    labels = pd.DataFrame({"label": [7, 3, 1, 0], "name": ["bc", "C", "31", "a c"]})
    assert tables.find_labels(labels, " c ")["label"].tolist() == [3, 7, 0]
    assert tables.find_labels(labels, "3")["label"].tolist() == [3, 1]
    assert tables.find_labels(labels, "31").head(1)["label"].tolist() == [1]
    assert tables.find_labels(labels.assign(name=["bc", "C", "7", "a c"]), "7")["label"].tolist() == [1, 7]
    assert tables.find_labels(labels, "9" * 5000).empty
    assert tables.find_labels(labels, "")["label"].tolist() == [7, 3, 1, 0]
