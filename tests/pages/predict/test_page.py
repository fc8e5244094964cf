"""The Predict page, opened and used through app.py."""

import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest
from starlette.testclient import TestClient

from pages.predict import many
from pages.shared.results import predictions
from pages.shared.rows import explaining
from pages.shared.workspaces.tab_view import FILES
from tests.pages.conftest import Session
from tests.pages.making import fields_of, figure, numbers, put_file, said_plainly, train, word_data, written
from tests.pages.small import xmlc
from xmlcore import PLT, ExtendedPLT, LdSM, NearestRows, datasets, experiment, explain
from xmlcore.cli import main
from xmlcore.datasets.texts import TextVectorizer
from xmlcore.experiment.kinds.predictions import json_lines
from xmlcore.models.rules import decided_scores, decision_of
from xmlcore.serve import Served, make_app

pytestmark = pytest.mark.sections()

TOPICS = ("fruit", "metal", "music", "river", "stars")
WORDS = ("apple banana cherry", "iron copper tin", "violin drum song", "water bridge boat", "sun comet sky")


def text_data(n_test=20):
    """80 training and ``n_test`` test texts of 5 topics, each with words of its topics."""
    rng, texts, labels = np.random.default_rng(0), [], []
    for _ in range(80 + n_test):
        labels.append(sorted(rng.choice(5, rng.integers(1, 3), replace=False).tolist()))
        words = [word for j in labels[-1] for word in rng.choice(WORDS[j].split(), 2)]
        texts.append("The " + " <b>and</b> ".join(words) + ".")
    vectorizer = TextVectorizer(min_df=1)
    X = vectorizer.fit_transform(texts[:80])
    names = {"label_names": list(TOPICS), "feature_names": list(vectorizer.get_feature_names_out())}
    kept = {"texts_train": texts[:80], "texts_test": texts[80:], "vectorizer": vectorizer}
    return datasets.Dataset("texts", X, labels[:80], vectorizer.transform(texts[80:]), labels[80:], **names, **kept)


@pytest.fixture
def texts(ready):
    """A page on which a model for texts predicts."""
    train(ready, data=text_data())
    return ready.go("predict")


NOTHING_YET = "predicts once there is a"


def first_of(page):
    """The first label of the answer, and what it is the answer for."""
    return re.search(r"ranks (?:\*\*(.*?)\*\* first|no label) for (.*?)(?: \(|\. It)", page.text()).groups()


def typed(page, text):
    """The page after a text was typed."""
    return page.set("predict.way", "A text").set("predict.text", text)


def test_an_example_of_the_catalog_shows_until_a_text_is_typed(ready):
    train(ready, data=text_data())
    with fields_of(ready) as fields:
        entry = next(entry for entry in fields["known"].values() if entry["name"] == "texts")
        entry.update(source="catalog", entry="api-docs")
    page = ready.go("predict")
    listed = next(entry for entry in datasets.catalog() if entry.name == "api-docs")
    assert listed.example in first_of(page)[1] and page.at.text_area("predict.text").placeholder == listed.prompt
    assert first_of(page.set("predict.text", "A banana")) == ("fruit", "this text")
    assert listed.example in first_of(page.set("predict.text", " "))[1]
    assert "ranks no label for this text. It predicts" in page.set("predict.text", "xyzzy").text()


def html(page):
    return "\n".join(element.proto.body for element in page.at.get("html") if "hl-text" in element.proto.body)


def test_bars_of_a_test_row_add_up_to_its_scores(page, model):
    data = word_data()
    x = data.X_test[[3]]
    labels = model.predict_topk(x, 5).labels[0]
    frame = page.set("predict.row", 3).frame("rank", "name", "score")
    assert frame["label"].tolist() == labels.tolist()
    np.testing.assert_allclose(frame["score"], explain.label_values(model, x, labels.astype(np.int64)), rtol=1e-6)
    true = set(data.Y_test[[3]].indices.tolist())
    assert [line.startswith("✓") for line in frame["correct"]] == [int(j) in true for j in labels]
    assert f"ranks **topic *{labels[0]}*** first for test row 3 (" in page.text()
    assert page.at.number_input(key="predict.count").label.startswith("Labels shown, 1 to ")
    page.at.number_input(key="predict.row").set_value(0)
    assert len(page.set("predict.count", 7).frame("rank", "name", "score")) == 7
    x = data.X_test[[0]]
    second = int(model.predict_topk(x, 2).labels[0, 1])
    found = explain.contributions(model, x, second)
    spec = figure(page.set("predict.label", second), f"Contributions to topic *{second}*")
    drawn = sum(sum(numbers(trace["x"])) for trace in spec["data"] if trace["type"] == "bar")
    assert drawn == pytest.approx(found.attrs["total"] - found.attrs["baseline"], abs=1e-6)
    assert "Contributions" not in [tab.label for tab in page.at.tabs], "they are drawn above"
    assert page.go("explain").at.selectbox(key="explain.label").value == second  # both explain the same label


def add_feature(page, feature):
    """Find a feature by its name, and add it to a row."""
    page.set("predict.features.query", f"word_{feature}")
    return page.set(next(box.key for box in page.at.selectbox if box.key.startswith("predict.features.found")), feature)


@pytest.mark.sections()
def test_features_are_typed_and_outlive_the_page(page, model):
    assert f"{NOTHING_YET} feature." in page.set("predict.way", "Features").text(), "no text can be given"
    for feature in (4, 7):
        add_feature(page, feature)
    x = np.zeros((1, 24), np.float32)
    x[0, [4, 7]] = 1.0
    for _ in range(2):
        assert page.frame("rank", "name", "score")["label"].tolist() == model.predict_topk(x, 5).labels[0].tolist()
        page.go("data").go("predict")
    assert not page.at.button(key="predict.features.reset").disabled
    assert NOTHING_YET in page.press("predict.features.reset").text()
    assert page.at.button(key="predict.features.reset").disabled


@pytest.mark.sections("Contributions")
def test_a_text_is_predicted_marked_escaped_and_kept(texts):
    page = typed(texts, "An apple & a <b>drum</b>")
    data, model = text_data(), experiment.load_run_model(page.at.selectbox(key="predict.model").value)
    x = data.vectorizer.transform(["An apple & a <b>drum</b>"])
    labels = model.predict_topk(x, 5).labels[0]
    assert page.frame("rank", "name", "score")["label"].tolist() == labels.tolist()
    shown = html(page)
    assert "&lt;b&gt;" in shown and "<b>" not in shown
    found = explain.contributions(model, x, int(labels[0]))
    parts = dict(zip(found["feature"], found["contribution"]))
    for word in ("apple", "drum"):
        value = parts[data.feature_names.index(word)]
        assert ("hl-for" if value > 0 else "hl-against") in shown.split(f">{word}</mark>")[0].rsplit("<mark", 1)[1]
    assert NOTHING_YET in typed(texts, "").text()
    before = [tab.label for tab in page.at.tabs]
    assert "Contributions" in before
    assert "knows no word of the text" in typed(texts, "xyzzy").text()
    assert [tab.label for tab in typed(texts, "an apple").at.tabs] == before
    page = texts.go("data").go("predict")
    assert page.at.text_area(key="predict.text").value == "an apple"


@pytest.mark.sections("Contributions")
def test_the_text_of_a_test_row_has_marked_words(texts):
    shown = html(texts)
    assert "hl-for" in shown and any("known word" in box.label for box in texts.at.expander)
    assert (texts.frame("word", "times", "contribution")["times"] > 0).all()
    texts.set("predict.way", "A text").press("predict.take")
    assert texts.at.text_area(key="predict.text").value in text_data().texts_test
    train(texts, "DoubleSampling", data=text_data())
    assert figure(texts.go("predict"), "Contributions to") and not html(texts)
    for page in (texts.set("predict.way", "A test row"), texts.go("explain")):
        assert any("Text of the row" in element.proto.body for element in page.at.get("html"))


def upload(page, key, name, content):
    """The page after a file was put into a field, and its button was pressed."""
    if key == "predict.file":
        page.set("predict.way", "A file")
    (field,) = (one.key for one in page.at.get("file_uploader") if one.key.startswith(f"{key}."))
    put_file(page, field, name, content)
    return page.run().press(key if key == "predict.open" else "predict.file.start")


def test_a_file_is_predicted_least_certain_rows_first(page, model, session):
    content = xmlc(word_data(), "test")
    upload(page, "predict.file", "new rows.txt", content)
    page.until(lambda s: "of new rows.txt" in s.text())
    X = datasets.read_matrix(content)[0]
    ranking = model.predict_topk(X, 5)
    top, margin = ranking.scores[:, 0], (ranking.scores[:, 0] - ranking.scores[:, 1]).astype(float)
    frame = page.frame("row", "sure", "labels")
    assert frame["row"].tolist() == np.argsort(top, kind="stable").tolist()
    np.testing.assert_allclose(frame["sure"], np.sort(top), atol=1e-6)
    assert "in the file are not used" in page.text()
    assert {"All predictions, CSV", "Predictions, JSON lines"} <= page.downloads()
    frame = page.set("predict.certainty", "margin").frame("row", "sure", "labels")
    assert frame["row"].tolist() == np.argsort(margin, kind="stable").tolist()
    assert ".file-" not in page.view
    row = np.argsort(margin, kind="stable")[0]
    assert first_of(page) == (f"topic *{ranking.labels[row, 0]}*", f"row {row} of new rows.txt")
    row = tick(page, 2)
    page.run()
    label = model.predict_topk(X[[row]], 1).labels[0, 0]
    shown = f"topic *{label}*", f"row {row} of new rows.txt"
    assert first_of(page.run()) == shown
    answers = [table.value for table in page.at.dataframe if {"rank", "score"} <= {*table.value.columns}]
    assert len(answers) == 1 and page.text().count(" first for ") == 1, "only this row is looked at"
    assert figure(page, f"Contributions to topic *{label}*")
    assert answers[0]["name"].iloc[0] == f"→ topic *{label}*" and page.frame("row", "sure")["row"].iloc[2] == row
    address = page.view
    again = session(page.token, address).go("predict")
    (listed,) = (table.proto for table in again.at.dataframe if {"row", "sure"} <= {*table.value.columns})
    assert json.loads(listed.selection_default)["selection"]["rows"] == [2], "the line is still ticked"
    assert first_of(again) == shown
    assert again.set("predict.way", "A test row").view == address.partition(".file-")[0]
    row = f"{address.rpartition('-')[0]}-999"
    for view in (row, f"{address.partition('.file-')[0]}.file-0123456789ab.given-2"):
        again = session(page.token, view).go("predict")
        assert many.GONE in again.text() and first_of(again)[1].endswith("of new rows.txt")
    assert many.GONE not in again.set("predict.way", "Features").text()


def test_another_model_predicts_the_row_of_the_file_in_view(page, key):
    upload(page, "predict.file", "new rows.txt", xmlc(word_data(), "test"))
    page.until(lambda s: "**30 rows** of new rows.txt" in s.text())
    row = tick(page, 2)
    page.run()
    second = train(page, "OneVsRest")
    page.go("predict").set("predict.model", second)
    assert "has not predicted new rows.txt" in page.text()
    page.press("predict.file.again").until(lambda s: "**30 rows** of new rows.txt" in s.text())
    label = experiment.load_run_model(second).predict_topk(word_data().X_test[[row]], 1).labels[0, 0]
    assert first_of(page) == (f"topic *{label}*", f"row {row} of new rows.txt")
    assert first_of(page.set("predict.model", key))[1] == f"row {row} of new rows.txt", "kept for both"


@pytest.mark.sections("Decide")
def test_five_outlets_say_the_same_by_a_kept_decision(page, key, tmp_path, capsys):
    page.press("predict.decide").until(lambda s: any(box.key == "predict.decide.by" for box in s.at.selectbox))
    shown = page.set("predict.decide.by", "macro F1@3").frame("newly predicted")
    assert re.search(rf"Showing {len(shown)} of \d+ changed rows", page.text())
    page.set(f"predict.allowed {key}", "-0").press("predict.decide.keep")
    assert "kept for the 7 labels allowed" in page.text()
    row = page.at.number_input(key="predict.row").value

    def shown():
        frame = page.frame("rank", "decided", "score").query("decided == 'yes'")
        return dict(zip(frame["name"].str.removeprefix("→ "), frame["score"] / 100))

    found = {"Predict": shown()}
    upload(page, "predict.file", "new.txt", xmlc(word_data(), "test")).until(lambda s: "of new.txt" in s.text())
    of_file = experiment.load("predict", written(page)["widgets"][f"{FILES}{key}"][0]["key"])
    line = [*json_lines(of_file.ranking, word_data().label_name, decided=of_file.decided)][row]
    found["file"] = {one["name"]: one["probability"] for one in json.loads(line)["labels"] if one["predicted"]}
    page.go("explain").set("explain.row", row)
    found["Explain"] = shown()
    first = explaining.score(explaining.DECIDES, max(found["Explain"].values()))
    assert f"({said_plainly(first)})" in page.text()
    task = experiment.task("pack_model", {"run": key}, {"dataset_name": "words", "decision": "macro F1@3 among -0"})
    experiment.keep(task)
    (tmp_path / "rows.txt").write_bytes(xmlc(word_data(), "test"))
    with pytest.raises(SystemExit):
        main(["predict", str(task.file()), str(tmp_path / "rows.txt"), "--json", "--quiet"])
    line = capsys.readouterr().out.splitlines()[row]
    found["xmlcore predict"] = {one["name"]: one["score"] for one in json.loads(line)["labels"]}
    client = TestClient(make_app([Served.read(task.file(), "words")]))
    sent = {"row": word_data().X_test[[row]].toarray()[0].tolist()}
    (answer,) = client.post("/predict", json=sent).json()["predictions"]
    found["xmlcore serve"] = {one["label"]: one["score"] for one in answer}
    whole = found["xmlcore predict"]
    assert word_data().label_name(0) not in whole
    for of, values in found.items():  # both pages have the first five labels
        assert values == pytest.approx({name: whole[name] for name in values}, abs=1e-6), of
    assert [len(values) for values in found.values()] == [len(found["Explain"]), 3, len(found["Predict"]), 3, 3]


def decide_by(page, start):
    """The page after the decision was chosen whose name begins so."""
    options = page.at.selectbox(key="predict.decide.by").options
    return page.set("predict.decide.by", next(name for name in options if name.startswith(start)))


def predicted(page):
    """The labels that the table of a file says are predicted, by row."""
    frame = page.frame("row", "predicted", "labels").sort_values("row")
    names = frame["predicted"].str.replace(r" \(.*?\)", "", regex=True)
    return [{*filter(None, of_row.split(", "))} for of_row in names]


def files_of(page):
    return page.at.selectbox(key="predict.file shown").options


def named(sets):
    return [{f"topic *{j}*" for j in row.indices} for row in sets]


@pytest.mark.sections("Decide")
def test_a_file_is_predicted_again_by_another_decision(page, key, model):
    content = xmlc(word_data(), "test")
    X = datasets.read_matrix(content)[0]
    page.set("predict.count", 1)
    upload(page, "predict.file", "new rows.txt", content)
    page.until(lambda s: "of new rows.txt" in s.text())
    sets = model.predict(X)
    assert predicted(page) == named(sets) and max(map(len, predicted(page))) > 1
    scores = decided_scores(model, X[[int(re.search(r"for row (\d+)", page.text())[1])]]).toarray()[0]
    also = [f"topic *{j}* (score = {scores[j]:.3g})" for j in np.argsort(-scores) if scores[j]][1:]
    assert f"**Also predicted, {len(also)}:** {', '.join(also)}\n" in page.text()
    assert page.metrics()["Labels per row"] == f"{sets.nnz / X.shape[0]:.1f}"
    assert not any(button.key == "predict.file.again" for button in page.at.button)
    page.press("predict.decide").until(lambda s: any(box.key == "predict.decide.by" for box in s.at.selectbox))
    page.set("predict.decide.by", "macro F1@3").press("predict.decide.keep")
    assert predicted(page) == named(sets), "what is kept is by the decision of before"
    page.press("predict.file.again").until(lambda s: any(b.key == "predict.file shown" for b in s.at.selectbox))
    rule = experiment.task("decide", {"run": key}).load().rule("macro F1@3")
    assert predicted(page) == named(rule.decided(model, X).tocsr())
    assert not any(button.key == "predict.file.again" for button in page.at.button)
    assert files_of(page) == ["1: new rows.txt, macro F1@3", "2: new rows.txt"]
    page.set(f"predict.allowed {key}", "-0; -1")
    assert "Predicted by another decision than now: the best labels for macro F1@3, of 6 allowed labels" in page.text()
    page.press("predict.file.again").until(lambda s: "1: new rows.txt, macro F1@3, -0;-1" in files_of(s))
    assert predicted(page) == named(replace(rule, allowed=np.arange(8) > 1).decided(model, X).tocsr())
    lines = experiment.load("predict", written(page)["widgets"][f"{FILES}{key}"][0]["key"])
    assert not {0, 1} & {*lines.ranking.labels.ravel(), *lines.decided.further["label"]}


@pytest.mark.parametrize(("column", "ids"), [("number", [0, 1]), ("Doc_ID", ["n/1", "n/2"])])
def test_texts_of_a_file_are_predicted_and_looked_at(texts, column, ids):
    content = f"{column},abstract\nn/1,An apple and a banana\nn/2,A comet in the sky{' and a sun' * 30}\n".encode()
    upload(texts, "predict.file", "new.csv", content)
    texts.until(lambda s: "**2 texts** of new.csv" in s.text())
    frame = texts.frame("row", "text", "labels").sort_values("row")
    whole, cut = frame["text"]
    assert whole == "An apple and a banana" and cut.startswith("A comet in the sky and a sun") and cut[-1] == "…"
    assert frame["first"].tolist() == ["fruit", "stars"]
    (table,) = (e.proto for e in texts.at.dataframe if "sure" in e.value.columns)
    assert "labels" not in table.column_order
    assert [line.split()[0] for line in frame["labels"]] == ["fruit", "stars"]
    assert frame["row"].tolist() == ids
    called = tick(texts, 1)
    row = ids.index(called)
    of = f"{'row' if ids == [0, 1] else 'id'} {called} of new.csv"
    assert first_of(texts.run()) == (["fruit", "stars"][row], of) and ["apple", "comet"][row] in html(texts)
    assert not texts.at.warning
    assert first_of(texts.set("predict.way", "A test row"))[1] == "test row 0"


@pytest.mark.parametrize(
    ("lines", "unlike"), [(text_data().texts_test, False), (["Der Mond und ein apple"] * 15, True)]
)
def test_a_file_of_another_language_is_unlike_the_test_rows(texts, lines, unlike):
    upload(texts, "predict.file", "new.csv", ("text\n" + "\n".join(lines)).encode())
    texts.until(lambda s: "of new.csv" in s.text())
    assert ("unknown words **80.0 %**" in texts.text()) == unlike


@pytest.mark.parametrize(("model", "loss", "said"), [
    (PLT(), "logistic", ("P", "P of at least 5.43 %")),
    (PLT(), "squared_hinge", ("score", "a score of at least 0.0543")),
    (ExtendedPLT(), "logistic", ("P", "P of at least 5.43 %")),
    (LdSM(), None, ("score", "P of at least 5.43 %")),
    (NearestRows(), None, ("score", "a score of at least 0.0543")),
])  # fmt: skip
def test_scores_are_called_p_where_they_are_probabilities(model, loss, said):
    model.loss_, model.threshold_, model.n_labels_ = loss, 0.0543, 2
    assert (predictions.noun(model), decision_of(model).removeprefix("labels with ")) == said


def tick(page, line):
    """What the browser sends when a line of the table of a file is chosen."""
    table = next(e for e in page.at.dataframe if {"row", "sure", "labels"} <= set(e.value.columns))
    page.tick(table, line)
    return table.value["row"].iloc[line]


@pytest.mark.sections("Open a model")
def test_files_that_do_not_fit_say_why_with_their_names(page):
    assert NOTHING_YET not in page.set("predict.way", "A file").text()
    upload(page, "predict.file", "wrong.txt", b"1 7 2\n 0:1\n")
    said = page.until(lambda s: s.at.error).at.error[0].value.replace("\\", "")
    assert "wrong.txt" in said and "but the model has 24" in said
    upload(page, "predict.file", "other.txt", b"1 8 2\n 0:1\n")
    (other,) = page.until(lambda s: any("8 features" in error.value for error in s.at.error)).at.error
    assert "wrong.txt" not in said_plainly(other.value), "the answer to another file"
    upload(page, "predict.open", "other.zip", b"no zip at all")
    page.until(lambda s: any("no zip file" in error.value for error in s.at.error))


@pytest.mark.sections("Save the model", "Open a model")
def test_a_model_is_packed_opened_again_and_predicts_the_same(page, key, model):
    page.press("predict.pack").until(lambda s: any(".zip" in label for label in s.downloads()))
    lines = "\n".join(code.value for code in page.at.code if code.language == "sh").split("\n")
    assert lines[0].startswith("python -m xmlcore serve words-PLT-") and lines[0].endswith(".zip")
    x = word_data().X_test[[0]]
    values = {word_data().feature_name(j): value for j, value in zip(x.indices, x.data)}
    sent = json.loads(shlex.split(lines[1])[-1])
    assert lines[1].startswith("curl ") and sent["row"] == pytest.approx(values)
    task = experiment.task("pack_model", {"run": key}, {"dataset_name": "words"})
    upload(page, "predict.open", "model.zip", task.file().read_bytes())
    page.until(lambda s: "(from a file)" in str(s.at.selectbox(key="predict.model").options))
    assert page.run().at.selectbox(key="predict.model").value != key
    assert f"(from a file)** {NOTHING_YET}" in page.text()
    x = np.zeros((1, 24), np.float32)
    x[0, 4] = 1.0
    frame = add_feature(page, 4).frame("rank", "name", "score")
    assert frame["label"].tolist() == model.predict_topk(x, 5).labels[0].tolist()
    assert frame["name"].iloc[0].startswith("→ topic *")


def test_a_model_that_ranks_fewer_labels_says_so(ready, key):
    train(ready, "DoubleSampling", n_candidates=3)
    page = ready.go("predict")
    assert "5 labels, the model ranks 3" in page.text()
    assert "the model ranks" not in page.set("predict.count", 3).text()


def outcome(page):
    """The table of what a decision gives."""
    return page.frame("measure", "test").set_index("measure")


def drawn(page):
    """The recall and the precision of the two decisions of the figure, in percent."""
    cuts, *points = figure(page, "Precision–recall curve")["data"]
    assert cuts["name"] == "thresholds" and points[0]["name"] == "this decision"
    return {point["name"]: (*numbers(point["x"]), *numbers(point["y"])) for point in points}


@pytest.mark.slow  # the next test, and tests of the task, have most of it
@pytest.mark.sections("Decide", "Save the model")
def test_a_decision_is_looked_at_kept_and_forgotten(page, key, model, monkeypatch):
    """The first view is what predict gives now."""
    monkeypatch.setattr("pages.predict.decide.FEWEST", 50, raising=False)  # labels predicted at the first cut
    page.press("predict.decide").until(lambda s: any(box.key == "predict.decide.by" for box in s.at.selectbox))
    found = experiment.task("decide", {"run": key}).load()
    now = found.measures.set_index("measure").loc["predict, as it is"]
    expected = pytest.approx(tuple(100 * now[["micro R", "micro P"]]))
    assert drawn(page)["currently predicted"] == expected
    n_drawn = len(numbers(figure(page, "Precision–recall curve")["data"][0]["x"]))
    assert n_drawn == (found.cuts["labels"] * word_data().n_test > 49.5).sum() < len(found.cuts)
    decide_by(page, "Highest recall")
    page.set("predict.decide.least precision", 80.0)
    order = ["held-out micro R", "held-out micro P"]
    held = found.cuts[found.cuts["held-out micro P"] >= 0.8].sort_values(order).iloc[-1]
    values = pytest.approx([100 * held["micro R"], 100 * now["micro R"], 100 * held["held-out micro R"]])
    assert outcome(page).loc["Recall, %", ["test", "other", "held_out"]].tolist() == values
    (line,) = figure(page, "Precision–recall curve")["layout"]["shapes"]
    assert line["y0"] == line["y1"] == 80, "the bound asked for is drawn"
    gave, low, high = outcome(page).loc["Precision, %", ["test", "low", "high"]]
    assert gave == pytest.approx(100 * held["micro P"]) and low < gave < high
    data, rule = word_data(), found.rule(f"cut {held['cut']}")
    sets = rule.decided(model, data.X_test).astype(bool)
    right, all_of = sets.multiply(data.Y_test).sum(axis=1), sets.sum(axis=1)
    drawn_again = np.random.default_rng(0).integers(len(right), size=(2000, len(right)))
    ends = np.percentile(100 * right[drawn_again].sum(axis=1) / all_of[drawn_again].sum(axis=1), [2.5, 97.5])
    assert [low, high] == pytest.approx(ends, abs=1.5), "as by drawing test rows again"
    decide_by(page, "Highest precision").set("predict.decide.least recall", 70.0)
    held = found.cuts[found.cuts["held-out micro R"] >= 0.7].sort_values(order[::-1]).iloc[-1]
    assert outcome(page).loc["Precision, %", "held_out"] == pytest.approx(100 * held["held-out micro P"])
    page.set("predict.decide.by", "macro F1")
    assert outcome(page).loc["macro F1, %", "other"] == pytest.approx(100 * now["macro F1"])
    page.set("predict.decide.by", "macro F1@3").press("predict.decide.keep")
    told = found.measures.set_index("measure").loc["macro F1@3"]
    assert outcome(page)["test"].tolist() == pytest.approx([100 * told["decided"], 100 * told["plain"]])
    assert "Kept with the model" in page.text() and "the best labels for macro F1@3" in page.text()
    points = drawn(page)
    kept = pytest.approx((100 * told["micro R"], 100 * told["micro P"]))
    assert points["without a decision"] != points["this decision"] == kept
    assert re.search(r"[1-9]\d* of \d+ test rows get other labels by it than without this decision", page.text())
    decide_by(page, "A threshold")
    assert drawn(page)["currently predicted"] == points["this decision"] != drawn(page)["this decision"]
    assert (
        0
        < len(page.frame("newly predicted"))
        <= int(re.search(r"(\d+) of \d+ test rows get other labels by it than now", page.text())[1])
    )
    page.set("predict.decide.by", "macro F1@3")
    page.press("predict.pack").until(lambda s: any(".zip" in label for label in s.downloads()))
    settings = {"dataset_name": "words", "decision": "macro F1@3"}
    assert experiment.task("pack_model", {"run": key}, settings).exists()
    assert "Kept with the model" not in page.press("predict.decide.keep").text()


@pytest.mark.sections("Decide")
@pytest.mark.parametrize("fewest", [50, 10**6])
def test_a_kept_cut_of_few_labels_is_offered_and_forgotten(page, key, monkeypatch, fewest):
    monkeypatch.setattr("pages.predict.decide.FEWEST", fewest)
    page.press("predict.decide").until(lambda s: s.at.select_slider)
    cuts = experiment.task("decide", {"run": key}).load().cuts
    many = (cuts["labels"] * word_data().n_test > fewest - 0.5).sum()
    assert len(page.at.select_slider(key="predict.decide.cut").options) == (many or len(cuts)), (
        "all where none has many"
    )
    kept = f"cut {cuts['cut'].iloc[0]}"
    with fields_of(page) as fields:
        fields["widgets"][f"predict.decision {key}"] = kept
    page = Session(page.token).go("predict")
    assert page.at.select_slider(key="predict.decide.cut").value == kept
    assert "Forget it" in [button.label for button in page.at.button]
