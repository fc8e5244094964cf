"""A result on the Train page: labels one by one, intervals, calibration, all measures, confusions, and the list."""

import functools

import numpy as np
import pandas as pd
import pytest

from pages.shared import cached, format, view
from pages.shared.process import room
from pages.shared.results import predictions
from pages.train import labels, measures
from pages.train.labels import rows_of_label
from tests.pages.making import figure, train, trained, word_data
from tests.pages.small import small_data
from xmlcore import PLT, LdSM, Ranking, experiment, metrics, review


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
    return page.until(lambda s: [box for box in s.at.selectbox if box.key == "train.run"])


@pytest.mark.usefixtures("first_figures")
@pytest.mark.sections("About this result")
def test_a_result_is_named_deleted_and_brought_back(ready, session, monkeypatch):
    page = two_runs(ready)
    newer = page.at.session_state["train.run"]
    assert figure(page, "P@1 against processor time"), "what a result is beside the others of this data set"
    page.set(f"train.name.{newer}", " my best ")
    assert page.at.selectbox(key="train.run").options == ["my best", "PLT"]
    assert "my best" in page.go("explain").at.selectbox(key="explain.run").options
    older = page.go("train").at.session_state["workspace.snapshot"]["runs"][0]["key"]
    assert page.set("train.run", older).at.selectbox(key="train.model").value == "PLT", "the form follows the result"
    assert "Deleted PLT." in page.press("train.delete").text()
    page = session(page.token).go("train")  # another tab, or a reload
    assert page.press("undo").at.session_state["train.run"] == older
    assert "Deleted " not in page.text() and not [b for b in page.at.button if b.key == "undo"]
    page.set("train.run", newer).press("train.delete")
    monkeypatch.setattr(room, "UNDO_SECONDS", -1)
    assert "Deleted " not in page.run().text()
    assert "On api-docs, PLT ranks" in page.text().replace("**", "")
    page.set("train.model", "OneVsRest").press("train.OneVsRest.submit")
    assert page.at.session_state["train.run"] == newer


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


def found(*bins):
    """The worst of bins (low, high, predictions, mean probability, share that is right), and the expected error."""
    frame = pd.DataFrame(bins, columns=["low", "high", "n", "predicted", "observed"])
    return measures.worst(frame), metrics.calibration_error(frame).expected


def test_the_worst_bin_has_most_of_the_error():
    sure, expected = found((0.0, 0.1, 500, 0.05, 0.05), (0.8, 0.9, 400, 0.85, 0.71), (0.9, 1.0, 5, 0.95, 0.0))
    assert (sure.low, sure.high, sure.observed) == (0.8, 0.9, 0.71) and expected == pytest.approx(0.067, abs=1e-3)
    assert "overconfident there" in measures.in_words(sure, expected, "score")
    assert "underconfident there" in measures.in_words(*found((0.4, 0.5, 100, 0.45, 0.9)), "score")
    assert found((0.4, 0.5, 100, 0.45, 0.46))[1] <= measures.RIGHT


def test_measures_are_lines_of_text_with_their_meaning():
    frame = pd.DataFrame(
        {"bucket": ["all"] * 4 + ["tail"], "measure": ["P@k"] * 4 + ["macro F1@k"], "k": [1, 2, 3, 5, 1],
         "value": [0.5, 0.4, 0.3, 0.2, float("nan")], "low": 0.1, "high": 0.9}
    )  # fmt: skip
    lines = measures.lines(frame, "all")
    assert lines["k = 1"].tolist() == ["50.00 (10.0–90.0)"] and "k = 2" not in lines
    assert lines["meaning"].tolist() == [metrics.MEASURES["P@k"].meaning]
    assert measures.lines(frame, "tail")["k = 1"].tolist() == ["–"]
    small = pd.Series({"value": 0.00024681, "low": 0.00023681, "high": 0.00025681})
    assert measures.in_percent(small) == "0.0247 (0.0237–0.0257)", "three significant digits"


@pytest.mark.sections("Measures", "Calibration")
def test_intervals_all_measures_and_calibration(ready):
    key = train(ready, "LdSM")
    page = ready.go("train")
    run = experiment.load("train", key)
    headline = page.frame("measure", "k = 1").set_index("measure")["k = 1"]
    assert {"coverage@k", "abandonment@k", "macro P@k", "macro F1@k"} <= set(headline.index)
    value = run.measures.query("measure == 'P@k' and k == 1")["value"].iloc[0]
    assert headline["P@k"].startswith(f"{100 * value:.2f} (") and page.metrics()["P@1"].startswith(f"{100 * value:.1f}")
    page.until(lambda s: any(metric.delta for metric in s.at.metric if metric.label == "Expected error"))
    assert "calibrated" in [trace.get("name") for trace in figure(page, "Are scores right")["data"]]
    [card] = [metric for metric in page.at.metric if metric.label == "Expected error"]
    learnt = experiment.task("decide", {"run": key}).load().rule("micro F1").calibration
    Y, calibrated = word_data().Y_test, run.ranking._replace(scores=learnt(run.ranking.scores))
    own, other = (metrics.calibration_error(metrics.reliability(Y, of, 5)) for of in (run.ranking, calibrated))
    assert card.value == f"{100 * own.expected:.1f} points", "the model's own is what is quoted"
    assert card.delta == f"{100 * other.expected:.1f} points calibrated" and own.expected > other.expected
    page.press("train.every").until(lambda s: "draws of the test rows" in s.text())
    lines = page.frame("measure", "meaning")
    assert set(lines["measure"]) == {name for name in metrics.MEASURES if "hierarchical" not in name}
    page.at.radio(key="train.every.bucket").set_value("tail")
    assert len(page.run().frame("measure", "meaning")) == len(experiment.kinds.measures.OF_BUCKETS)


@pytest.mark.sections("Confusions")
def test_a_pair_that_is_ticked_shows_its_rows(ready):
    run = experiment.load("train", train(ready))
    Y = cached.dataset(run.fingerprint).Y_test
    page = ready.go("train")
    found = metrics.confusions(Y, run.ranking)
    table = page.frame("missed_name", "wrong_name")
    assert np.allclose(table["swaps"], found.pairs["swaps"]) and len(table) == found.n_pairs
    radio = page.at.radio(key="train.confusions.k")
    assert f"at most {run.ranking.labels.shape[1]}" in radio.options[0]
    assert "swaps. Tick one" in page.text() and "Rows that miss" not in page.text()
    (drawn,) = [t for t in page.at.dataframe if "missed_name" in t.value]
    page.tick(drawn, 1)
    pair = found.pairs[["row", "missed", "wrong"]].iloc[1]
    looked = view.parsed(page.view)
    assert (looked.row, looked.label, looked.other) == (pair["row"], pair["wrong"], pair["missed"])
    assert f"Rows that miss {table['missed_name'][1]} and have {table['wrong_name'][1]}" in page.text()
    rows = metrics.confused_rows(Y, run.ranking, pair["missed"], pair["wrong"])
    assert any(t.value["row"].tolist() == rows.tolist() for t in page.at.dataframe if "row" in t.value)
    page.set("train.confusions.k", 5)
    assert len(page.frame("missed_name")) == metrics.confusions(Y, run.ranking, 5).n_pairs > 0
    assert "No test row has both" in page.search("train.confusions.query", "nothing like this").text()


@pytest.mark.sections("Weak groups", "Map")
def test_rows_of_a_weak_group_are_listed(ready, monkeypatch):
    monkeypatch.setattr(labels, "FEWEST", 20)
    monkeypatch.setattr(review, "slices", functools.partial(review.slices, least=5))
    page = trained(ready)
    table = page.frame("name", "difference")
    assert "groups are significantly weaker" in page.text() and table["rows"].between(5, 15).all()
    page.walk(at="group-1", section="Weak groups")
    assert f"Rows of “{table['name'][1]}”" in page.text()
    members = page.frame("row", "first", "labels")["row"]
    assert len(members) == table["rows"][1]
    (button,) = (one.key for one in page.at.button if one.label == "Show on the map")
    page.press(button).go("data").until(lambda page: "with rings on the map" in page.text())
    assert sorted(page.frame("row", "part")["row"]) == sorted(members)
