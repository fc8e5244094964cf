"""The Data page: what it says of a data set, other splits, and the rows of a label."""

import io
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from pages.data import answer, labels, problems, sizes
from pages.data.forms import form
from pages.data.forms import split as split_form
from pages.shared.operator import entrance
from pages.shared.workspaces import dataset_list, workspace
from tests.pages.making import use, use_listed
from tests.pages.small import small_data
from xmlcore import datasets, experiment, figures, store
from xmlcore.datasets import Dataset, DatasetFormatError, describe, examine, splits
from xmlcore.experiment.engine import task_files
from xmlcore.metrics.buckets import label_buckets

HEADERS = ("How often does a label occur?", "How large is it?")
HEADERS += ("How alike are training and test rows?", "Which labels belong together?", "Problems of the data set")

FORMS = ("Split again",)


@pytest.fixture
def leaky():
    X = np.array([[1.0, 0], [0, 1], [2, 2], [0, 0]])
    Y = [[0], [1], [0, 1], []]
    return Dataset("leaky", X, Y, X[[0, 2, 2]], [[0], [1], []])


def test_problems_have_a_button_that_opens_their_section(ready, leaky):
    use(ready, leaky)
    page = ready.run()
    assert "occur in training (3)" in page.text()
    assert "Problems of the data set" not in page.text()
    assert "Problems of the data set" in page.press("data.problems").text()
    assert any("scrollIntoView" in html.proto.body for html in page.at.get("html"))
    assert not any("scrollIntoView" in html.proto.body for html in page.run().at.get("html")), "it is done once"


@pytest.mark.parametrize(
    ("rows", "is_told"),
    [
        ([100] * 3 + [20] * 10 + [3] * 60, True),
        ([100] * 3 + [20] * 10 + [3] * 60 + [0] * 9, True),
        ([1000] + [0] * 59, False),
        ([300] * 3 + [50] * 10 + [20] * 11 + [3] * 4, True),
        ([100] * 60, False),
    ],
)
def test_the_answer_and_the_figure_have_the_same_tail(rows, is_told):
    counts = np.array(rows)
    figure = figures.label_frequency(pd.DataFrame({"n_train": counts, "bucket": label_buckets(counts)}))
    about = {"n_train": 100, "n_test": 0, "n_features": 5, "n_labels": counts.size}
    said = answer.sentence(
        SimpleNamespace(Y_train=SimpleNamespace(indices=np.repeat(np.arange(counts.size), counts)), **about), "x"
    )
    tail = next((int(re.search("[0-9]+", line.name)[0]) for line in figure.data if line.name.startswith("tail")), 0)
    assert (f"a tail of {tail} labels" in said) == is_told == ("tail" in said)
    assert (f"with at most {np.sort(counts)[tail - 1]} training row" in said) == is_told
    assert (f"never seen in training: {rows.count(0)} labels" in said) == (0 in rows)


@pytest.mark.sections("all")
def test_the_sections_answer_their_questions(ready):
    assert [header.value for header in ready.at.header] == list(HEADERS)
    assert {"Head labels", "Tail labels", "Mean imbalance (IRLbl)", "Complexity (TCS)"} <= ready.metrics().keys()
    assert re.fullmatch("about [0-9]+ %", ready.metrics()["Missing labels (a guess)"])
    assert ready.frame("quantity", "q95").shape == (6, 10)
    assert {"All statistics, CSV", "All features, CSV", "Pairs, CSV", "All labels, CSV"} <= ready.downloads()


def test_problems_have_numbers_and_shares_the_leak_first(leaky):
    found = problems.findings(leaky, describe(leaky), examine(leaky))
    assert found.iloc[0][["key", "number", "share"]].tolist() == [problems.LEAK, 3, 100.0]
    number = found.set_index("key")["number"]
    assert number["n_rows_without_features_train"] == 1 and number["n_labels_never_used"] == 0


def test_the_rows_of_a_label_and_of_a_label_set_are_found(leaky):
    found = datasets.label_sets(leaky)
    assert labels.set_name(leaky, int(found["row"].iloc[0])) == "label 0"
    assert labels.rows_with(leaky, int(found["row"].iloc[1])).values.tolist() == [["training", 1], ["test", 1]]
    rows = labels.rows_of(leaky, 0)
    assert rows.values.tolist() == [["training", 0], ["training", 2], ["test", 0]]
    file = labels.with_contents(leaky, rows)
    assert file[["part", "row"]].values.tolist() == rows.values.tolist() and {"labels", "features"} < {*file}
    assert all("label 0" in text for text in file["labels"])


@pytest.mark.sections("All labels", "Labels together")
def test_a_ticked_label_or_label_set_shows_its_rows(ready):
    table = next(t for t in ready.at.dataframe if list(t.value.columns)[:3] == ["rows", "labels", "size"])
    assert table.value["rows"].is_monotonic_decreasing
    labels_of_set, rows = table.value[["labels", "rows"]].iloc[0]
    shown = ready.tick(table, 0).frame("part", "row", "features")
    assert f"Rows of {labels_of_set}" in ready.text()
    assert len(shown) == rows and set(shown["labels"]) == {labels_of_set}
    table = next(t for t in ready.at.dataframe if "partners" in t.value)
    name, n_train, n_test = table.value.iloc[2][["name", "n_train", "n_test"]]
    ready.tick(table, 2)
    assert (
        f"Rows of {name}" in ready.text() and f"{n_train + n_test} rows, {n_test} of them for the test" in ready.text()
    )
    assert all(name in text for text in ready.frame("part", "row", "features")["labels"])
    assert ready.set("labels.order", "rarest first").frame("partners")["rank"].tolist() == list(range(8, 0, -1))
    rows = ready.frame("partners")["n_train"]
    few = int(rows.iloc[2])
    assert ready.set("labels.most", few).frame("partners")["n_train"].tolist() == rows[rows <= few].tolist()
    assert "None of 8 labels" in ready.set("labels.most", 0).text()
    ready.set("labels.most", None)


def test_a_stratified_split_is_a_second_data_set(ready):
    said = ready.make("resplit.make").text()
    assert "stratified 20 %**: 80 rows" in said and "stratification with seed 0" in said
    first = ready.at.session_state["workspace.snapshot"]
    assert [entry["name"] for entry in first["known"].values()] == ["api-docs", "api-docs, stratified 20 %"]
    use_listed(ready, "api-docs")
    name = next(field.key for field in ready.at.text_input if (field.key or "").startswith("resplit.name"))
    ready.set(name, "another name").make("resplit.make")
    assert "with the same content as another name" in ready.text()
    now = ready.at.session_state["workspace.snapshot"]
    assert now["known"] == first["known"] and now["dataset"] == first["dataset"]


def test_a_data_set_that_is_gone_is_not_split(monkeypatch, server):
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", {})
    workspace.open_workspace()
    monkeypatch.setattr(st, "rerun", lambda: None)
    form._make(split_form.FORM, form.Request(split_form.asked("f" * 32, "random", {"test_size": 0.2})))
    (job,) = server.jobs()
    job.wait(20)
    assert job.state == "failed" and "ffffffff" in job.error


def split(data, way, values, notes=()):
    """The data set that the form makes of another one."""
    values = {name: io.BytesIO(value) if isinstance(value, bytes) else value for name, value in values.items()}
    for file in values.values():
        if isinstance(file, io.BytesIO):
            file.name = "numbers.txt"
    task = split_form.asked(datasets.save_dataset(data), way, values, notes)
    files = {part: file for part, file in values.items() if isinstance(file, io.BytesIO)}
    task_files.put(task.key, files)
    experiment.keep(task)
    return datasets.load_saved(task.load().dataset)


def test_splits_are_those_of_the_functions(tmp_path):
    data = small_data()
    fold = split(data, "folds", {"n_folds": 4, "fold": 1, "random_state": 5})
    assert fold.content_hash == datasets.split_again(data, n_folds=4, fold=1, random_state=5).content_hash
    at_random = split(data, "random", {"test_size": 0.3, "random_state": 5})
    assert at_random.n_test == 24
    assert (at_random.name, at_random.notes) == ("data split anew", ()), "names stay in the workspace"
    files = {"train": b"1\n3\n", "test": b"80\n", "column": 0, "first": 1}
    by_file = split(data, "file", files)
    assert (by_file.X_train != data.X_train[[0, 2]]).nnz == (by_file.X_test != data.X_test[[19]]).nnz == 0
    datasets.write_matrix(tmp_path / "one.txt", data.X_train, data.Y_train)
    read = datasets.read_dataset(tmp_path / "one.txt", random_state=9)
    files = {"train": b"1\n60\n", "test": b"5\n", "column": 0, "first": 1}
    found = split(read, "file", files, read.notes)
    assert np.allclose(found.X_train.toarray(), data.X_train[[0, 59]].toarray(), atol=1e-6)
    assert np.allclose(found.X_test.toarray(), data.X_train[[4]].toarray(), atol=1e-6)
    for way, values in (("folds", {"fold": 1, "n_folds": 5}), ("unseen", {}), ("random", {"test_size": 0.2})):
        name = split_form._name("n" * 300, way, values)
        assert len(name) == dataset_list.LONGEST_NAME and name.endswith(split_form._name("", way, values))


@pytest.mark.parametrize("n_rows", [2, 4])
def test_few_rows_are_split_into_as_many_folds_at_most(ready, n_rows):
    data = small_data()
    rows = n_rows // 2
    few = Dataset("few", data.X_train[:rows], data.Y_train[:rows], data.X_test[:rows], data.Y_test[:rows])
    fingerprint = use(ready, few)
    with pytest.raises(ValueError, match=f"there are only {n_rows} rows"):
        split_form.asked(fingerprint, "folds", {})
    if n_rows == 2:
        (error,) = ready.go("data").make("resplit.make").at.error
        assert "2 of 2 rows for training" in error.value
    page = ready.go("data").set("resplit.way", "folds")
    assert page.at.number_input(key="resplit.n_folds").value == n_rows
    assert f"few, fold 1 of {n_rows}**" in page.make("resplit.make").text()


def test_row_numbers_that_do_not_fit_are_refused():
    with pytest.raises(DatasetFormatError, match="'90'"):
        split(small_data(), "file", {"train": b"1\n90\n", "test": b"5\n", "column": 0, "first": 1})
    with pytest.raises(DatasetFormatError) as caught:
        split(small_data(), "file", {"train": b"0\n1\n", "test": b"5\n", "column": 0, "first": 1})
    said = form.explain(caught.value)
    assert "first row" in said and "first=0" not in said
    data = datasets.split_again(small_data())
    with pytest.raises(ValueError, match="itself a new split"):
        split(data, "file", {"train": b"1\n", "test": b"5\n", "column": 0, "first": 1}, data.notes)
    notes = [f"{splits.PUBLISHED_SPLIT} the first."]
    with pytest.raises(ValueError, match="as your own data"):
        split(small_data(), "file", {"train": b"1\n", "test": b"5\n", "column": 0, "first": 1}, notes)


def test_rows_that_cannot_be_split_have_a_reason(ready):
    ready.set("resplit.way", "unseen").make("resplit.make")
    assert ready.at.error[0].value.startswith("**The rows could not be")
    assert len(ready.at.session_state["workspace.snapshot"]["known"]) == 1
    assert "there is nothing to leave out" in ready.at.error[0].value
    assert not ready.click("Dismiss").at.error


@pytest.mark.sections("Size", "Labels together")
def test_a_large_data_set_is_examined_by_a_worker(ready, monkeypatch):
    monkeypatch.setattr(sizes, "AT_ONCE", 0.0)
    for entry in store.entries("descriptions"):  # kept at the first visit, to compare data sets
        store.delete("descriptions", entry["key"])
    ready.run()
    assert "80 rows" in ready.text() and "20" in str(ready.metrics()), "also while a worker counts"
    ready.until(lambda s: "How large is it?" in s.text())
    fingerprint = ready.at.session_state["workspace.snapshot"]["dataset"]
    assert experiment.task("description", {"dataset": fingerprint}).exists()
    monkeypatch.setattr(sizes, "EXAMINED_AT_ONCE", 0.0)
    ready.run().until(lambda s: s.at.get("radio") and any(one.key == "together.which" for one in s.at.radio))
    ready.set("together.which", "pairs")
    assert any(chart.proto.id.endswith("together.heat") for chart in ready.at.get("plotly_chart"))
    assert "st-key-together-heat]" in entrance.WIDE, "a phone scrolls it, and shows each name"
