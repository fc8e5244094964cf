"""The labels one by one on the Train page, and the list of results."""

import numpy as np
import pandas as pd
import pytest

from pages.shared import format
from pages.shared.process import room
from pages.shared.results import predictions
from pages.train import labels
from pages.train.labels import rows_of_label
from tests.pages.making import figure, trained
from tests.pages.small import small_data
from xmlcore import PLT, LdSM, Ranking, metrics


@pytest.fixture(scope="module")
def data():
    return small_data()


def test_rows_of_a_label_have_it_or_its_prediction(data):
    random = np.random.default_rng(0)
    labels = np.array([random.permutation(data.n_labels)[:5] for _ in range(data.n_test)], dtype=np.int32)
    scores = np.sort(random.random(labels.shape).astype(np.float32), axis=1)[:, ::-1]
    Y = data.Y_test.toarray()
    for label in range(data.n_labels):
        frame = rows_of_label(data, Ranking(labels, scores), label, 3)
        predicted = (labels[:, :3] == label).any(axis=1)
        true = Y[:, label]
        expected = {"found": true & predicted, "missed": true & ~predicted, "wrong": predicted & ~true}
        for how, mask in expected.items():
            assert set(frame.loc[frame["how"] == how, "row"]) == set(np.flatnonzero(mask))
        for line in frame.dropna().itertuples():
            assert labels[line.row, int(line.rank) - 1] == label
            assert scores[line.row, int(line.rank) - 1] == pytest.approx(line.score)


def test_labels_are_measured_one_by_one_and_the_numbers_add_up(ready):
    page = trained(ready)
    table = page.frame("n_train", "f1")
    data = small_data()
    assert len(table) == data.n_labels and table["rows"].sum() == data.Y_test.nnz
    assert table["n_train"].is_monotonic_decreasing
    before = table["right"].sum() + table["wrong"].sum()
    table = page.set("train.labels.k", 1).frame("n_train", "f1")
    assert table["right"].sum() + table["wrong"].sum() == data.n_test < before
    assert "No label has “nothing" in page.search("train.labels.query", "nothing like this").text()


def test_labels_that_are_never_predicted_correctly_are_counted():
    every = pd.DataFrame({"rows": [4, 2, 1, 0], "predicted": [4, 1, 0, 2], "right": [3, 0, 0, 0]})
    every = every.assign(f1=[0.75, 0.0, 0.0, np.nan])
    micro, macro = map(format.percent, metrics.f1_of_labels(every))
    said = labels.sentence(every, 5)
    assert said.startswith("**2 of 3 labels with") and said.endswith(f" is **{micro}**, macro F1 **{macro}**.")


def two_runs(session):
    page = trained(session).set("train.model", "OneVsRest").press("train.OneVsRest.submit")
    return page.until(lambda s: [box for box in s.at.selectbox if box.key == "train.shown"])


@pytest.mark.usefixtures("first_figures")
@pytest.mark.sections("About this result")
def test_a_result_is_named_deleted_and_brought_back(ready, session, monkeypatch):
    page = two_runs(ready)
    newer = page.at.session_state["train.shown"]
    assert figure(page, "P@1 against processor time"), "what a result is beside the others of this data set"
    page.set(f"train.name.{newer}", " my best ")
    assert page.at.selectbox(key="train.shown").options == ["my best", "PLT"]
    assert "my best" in page.go("explain").at.selectbox(key="explain.run").options
    older = page.go("train").at.session_state["workspace.snapshot"]["runs"][0]["key"]
    assert page.set("train.shown", older).at.selectbox(key="train.model").value == "PLT", "the form follows the result"
    assert "Deleted PLT." in page.press("train.delete").text()
    page = session(page.token).go("train")  # another tab, or a reload
    assert page.press("undo").at.session_state["train.shown"] == older
    assert "Deleted " not in page.text() and not [b for b in page.at.button if b.key == "undo"]
    page.set("train.shown", newer).press("train.delete")
    monkeypatch.setattr(room, "UNDO_SECONDS", -1)
    assert "Deleted " not in page.run().text()
    assert "On api-docs, PLT ranks" in page.text().replace("**", "")
    page.set("train.model", "OneVsRest").press("train.OneVsRest.submit")
    assert page.at.session_state["train.shown"] == newer


@pytest.mark.sections("Single predictions")
def test_scores_have_the_name_and_the_scale_of_the_explain_page(ready):
    columns = {
        model: predictions.score_column(model, [0.9])
        for model in (
            *(PLT(loss=loss).fit([[1.0], [0.0]], [[0], [1]]) for loss in ("logistic", "squared_hinge")),
            LdSM(),
        )
    }
    assert [column["label"] for column in columns.values()] == ["P, %", "Score", "Score"]
    assert ["no calibrated" in str(c["help"]) for c in columns.values()] == [False, True, False]
    assert "Explain page has P" in list(columns.values())[-1]["help"]
    page = two_runs(ready)
    shown = page.frame("rank", "name", "correct", "score")["score"].tolist()
    assert page.go("explain").frame("rank", "name", "score")["score"].tolist() == pytest.approx(shown)
