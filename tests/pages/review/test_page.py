"""The Review page, opened and used through app.py: doubts are decided, undone, kept, and make a corrected data set."""

import json
import re
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pages.review import decisions as of_page
from pages.review.view import Reviewed
from tests.pages.making import train, use_listed, word_data
from xmlcore import datasets, experiment, store
from xmlcore.state import database

pytestmark = pytest.mark.sections("To label", "By label", "Decisions", "Corrected data")


def decisions():
    return [[row.value[name] for name in ("row", "label", "decision")] for row in database().rows("reviews")]


@pytest.fixture
def found(page, key):
    """The doubts that the page shows."""
    task = experiment.task("review", {"run": key})
    page.until(lambda _: task.exists()).run()
    return task.load().doubts


def doubted(found):
    return found.assign(doubt=found["doubt"].where(found["kind"] == "missing", 0.5))


def asked(page):
    return next(text.value for text in page.at.markdown if "not seen the row" in text.value)


def test_doubts_are_decided_undone_and_corrected(page, key, found):
    data, first = word_data(), found.iloc[0]
    assert page.metrics()["Decided"] == "0" and data.label_name(first["label"]).replace("*", "\\*") in asked(page)
    change = {"wrong": ("remove", "x"), "missing": ("add", "a")}
    decision, button = change[first["kind"]]
    page.press(f"review.{button}")
    assert decisions() == [[first["row"], first["label"], decision]] and page.metrics()["Corrected"] == "1"
    second = asked(page)
    page.press("review.s")
    assert asked(page) != second and len(decisions()) == 1, "skipped, not decided"
    time.sleep(0.3)
    page.press("review.k")
    assert decisions()[1][2] == "keep" and page.metrics()["Decided"] == "2"
    page.press("review.undo")
    assert len(decisions()) == 1 and page.metrics()["Decided"] == "1"
    assert {"Decisions as CSV", "as JSON lines"} <= page.downloads()
    (row,), given = database().rows("reviews"), data.Y_train.indices[0]
    has = {"row": 0, "label": int(given), "decision": "add", "by": ""}
    database().put("reviews", f"{row.key}-", has)
    assert page.run().metrics()["Corrected"] == "1", "a label that the row has is not added"
    database().remove("reviews", f"{row.key}-")
    page.run()
    page.make("review.make")
    (record,) = store.entries("corrected")
    result, moment = experiment.load("correct", record["key"]), page.frame("when")["when"].iloc[0]
    made, (line,) = datasets.load_saved(result.dataset), record["params"]["decisions"]
    assert line[:4] == [first["row"], first["label"], decision, ""] and line[4][:16] == str(moment)[:16].replace(
        " ", "T"
    )
    changed = (made.Y_train != data.Y_train).tocoo()
    assert [changed.row.tolist(), changed.col.tolist()] == [[first["row"]], [first["label"]]]
    assert (made.Y_test != data.Y_test).nnz == 0 and "Corrected by a reviewer" in result.notes[-1]
    assert "words, corrected is ready" in page.text()
    page.press("review.train").until(lambda s: "P@1" in s.metrics())
    use_listed(page, "words, corrected")
    again = experiment.task("review", {"run": page.at.session_state["workspace.snapshot"]["shown"][result.dataset]})
    page.until(lambda _: again.exists()).run()
    assert page.frame("when")["decision"].tolist() == [decision] and page.metrics()["Decided"] == "0"


def test_a_key_at_once_after_another_decides_nothing_and_says_so(page, found, monkeypatch):
    monkeypatch.setattr("pages.review.view.SEEN_SECONDS", 60.0)
    page.press("review.k")
    second = asked(page)
    page.press("review.k")
    assert len(decisions()) == 1 and asked(page) == second
    assert "decided nothing" in " ".join(toast.value for toast in page.at.toast)


def test_another_tab_decides_and_decisions_are_withdrawn(page, found, session):
    first, second = found.iloc[0], found.iloc[1]
    other = session(page.token).go("review")
    page.press("review.k")
    other.press("review.k")
    assert decisions() == [[first["row"], first["label"], "keep"]], "the other tab sees that it is decided"
    assert "Another tab has decided this" in other.text() and other.metrics()["Decided"] == "1"
    other.press("review.k")
    page.press("review.undo")
    assert decisions() == [[second["row"], second["label"], "keep"]], "of this tab"
    page.tick(next(one for one in page.at.dataframe if "when" in one.value), 0).press("review.withdraw")
    assert not decisions() and page.metrics()["Decided"] == "0"


def test_labels_and_kinds_choose_what_is_reviewed(page, found):
    page.set("review.kind", "missing")
    assert "Is **topic" in asked(page) and " missing? " in asked(page)
    frame = page.frame("name", "kind", "percent")
    assert set(frame["kind"]) == {"missing"}
    page.set("review.label", "topic *3*")
    assert set(page.frame("name", "kind", "percent")["name"]) == {"topic *3*"}
    row = int(page.frame("name", "kind", "percent")["row"].iloc[1])
    page.tick(next(one for one in page.at.dataframe if "percent" in one.value), 1)
    assert f"**Training row {row}**" in page.text()


@pytest.mark.parametrize("kind, decision", [("missing", "add"), ("wrong", "remove")])
def test_a_label_is_decided_at_once_and_undone_at_once(page, found, kind, decision, monkeypatch):
    found = doubted(found)  # these data have no wrong labels
    left = Reviewed.left.func
    monkeypatch.setattr(Reviewed, "left", property(lambda view: doubted(left(view))))
    strong = found[(found["kind"] == kind) & (found["doubt"] >= 0.2)]
    (label, n), *_ = strong["label"].value_counts().items()
    table = next(one for one in page.at.dataframe if f"{kind}_low" in one.value)
    page.tick(table, table.value["label"].tolist().index(label))
    page.set("review.least", 20)
    assert f"topic *{label}* is perhaps {kind} in {n} rows" in page.text().replace("**", "")
    page.press(f"review.all.{kind}")
    rows = strong.loc[strong["label"] == label, "row"]
    assert decisions() == [[row, label, decision] for row in rows] and page.metrics()["Corrected"] == str(n)
    page.press("review.undo")
    assert not decisions()


def test_labels_without_doubts_are_added_and_removed(page, found):
    row = int(re.search(r"Training row (\d+)", page.text())[1])
    given = sorted(word_data().Y_train[[row]].indices.tolist())
    absent = next(j for j in range(word_data().n_labels) if j not in given)
    page.set(f"review.others.{row}", f"topic *{given[0]}*; Topic *{absent}*").press("review.others")
    assert decisions() == [[row, given[0], "remove"], [row, absent, "add"]]
    others = re.search(r"Other labels: (.*)\.", page.text().replace("\\", ""))[1]
    assert f"topic *{absent}*" in others and f"topic *{given[0]}*" not in others
    page.press("review.undo")
    assert not decisions()


def test_rows_go_to_label_studio_and_annif_and_come_back():
    names = ["a", "http://x.org/b", "c"]
    data = datasets.Dataset("texts", np.eye(2), [[0], [0, 1]], np.eye(2), [[0], [1]], label_names=names,
                            texts_train=["one", "two"], texts_test=["", ""])  # fmt: skip
    lines = [[1, 0, "remove"], [1, 2, "add"], [1, 1, "keep"]]
    made = pd.DataFrame(lines, columns=["row", "label", "decision"])
    (task,) = tasks = json.loads(of_page.label_studio(data, made))
    assert task["data"] == {"text": "two", "row": 1}
    assert task["annotations"][0]["result"][0]["value"] == {"choices": ["http://x.org/b", "c"]}
    assert json.loads(of_page.annif(data, made)) == {
        "text": "two", "subjects": [{"uri": "http://x.org/b"}, {"label": "c"}]
    }  # fmt: skip
    assert of_page.from_label_studio(data, tasks).to_numpy().tolist() == sorted(lines, key=lambda line: line[1])
    chosen = {"type": "taxonomy", "value": {"taxonomy": [["above", "c"]]}}
    given = [{"data": {"row": 0}, "annotations": [{"result": [chosen]}, {"was_cancelled": True, "result": []}]}]
    assert of_page.from_label_studio(data, given).to_numpy().tolist() == [[0, 0, "remove"], [0, 2, "add"]]
    chosen["value"]["taxonomy"] = [["d"]]
    with pytest.raises(ValueError, match="row 0 has the label 'd'"):
        of_page.from_label_studio(data, given)


def test_rows_like_this_one_are_those_of_largest_cosine(page, found):
    X = word_data().X_train.toarray()
    row = int(found.iloc[0]["row"])
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosine = unit @ unit[row]
    cosine[row] = -1
    frame = page.frame("row", "cosine", "has")
    assert frame["cosine"].to_numpy() == pytest.approx(np.sort(cosine)[::-1][: len(frame)], abs=1e-6)


def test_rows_without_labels_are_labelled_as_suggested(ready, server):
    data = word_data()
    Y = data.Y_train.toarray()
    Y[:30] = 0
    train(ready, data=replace(data, Y_train=sp.csr_array(Y)))
    at_rest = lambda s: "Which labels does" in s.text() and not any(job.active for job in server.jobs())  # noqa: E731
    page = ready.go("review").until(at_rest).run()  # with the doubts, beside which the button to undo stands
    row = int(re.search(r"training row (\d+)", page.text())[1])
    assert row < 30 and "30 training rows without labels" in page.text()
    page.set(f"review.further.{row}", "no such label")
    assert "No label is called no such label" in page.text()
    page.set(f"review.further.{row}", "Topic *7*").press("review.label_row")
    made = decisions()
    assert [row, 7, "add"] in made and {line[0] for line in made} == {row}
    assert f"training row {row}**" not in page.text()
    page.press("review.undo")
    assert not decisions() and f"training row {row}**" in page.text()
    page.press("review.later_row")
    assert f"training row {row}**" not in page.text() and not decisions()
