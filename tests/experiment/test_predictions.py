"""Predictions for the rows of a file, and models that are packed and opened."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from making import kept, of_file

from tests.archiving import changed, members
from xmlcore import PLT, DoubleSampling, LdSM, OneVsRest, decisions, experiment, store, wording
from xmlcore.datasets import Dataset, DatasetFormatError, save_dataset, write_matrix
from xmlcore.datasets.texts import TextVectorizer
from xmlcore.experiment.engine import task_files
from xmlcore.experiment.kinds import predictions
from xmlcore.models import ModelFormatError, PackedModel
from xmlcore.models.rules import calibrated, decided_scores, decision_of
from xmlcore.ranking import Ranking
from xmlcore.wording import csv_safe


@pytest.fixture
def named(words):
    return replace(words, name="named", label_names=[f"topic {j}" for j in range(words.n_labels)])


@pytest.fixture
def run(named):
    return kept("train", {"dataset": save_dataset(named)}, model="OneVsRest")


def text_of(data):
    """The test rows as XMLC text, with their labels."""
    with tempfile.TemporaryDirectory() as folder:
        write_matrix(Path(folder) / "rows", data.X_test, data.Y_test)
        return (Path(folder) / "rows").read_bytes()


def test_predictions_for_a_file_are_those_of_the_model(run, named):
    task = of_file("predict", {"run": run.key}, text_of(named), k=4)
    found, model = task.load(), experiment.load_run_model(run.key)
    expected = model.predict_topk(named.X_test, 4)
    assert (found.ranking.labels == expected.labels).all() and (found.ranking.scores == expected.scores).all()
    assert found.notes == ["The labels in the file are not used."]
    rows = predictions.given_rows("predict", task.key)
    assert (rows.toarray() == named.X_test.toarray()).all() and rows.dtype == np.float32
    assert task.title == "Predicting a file with a model of named (OneVsRest)"


def test_columns_are_matched_by_name(run, named):
    columns = list(range(29, 4, -1))
    lines = [",".join(["other", "key", *(named.feature_names[j] for j in columns)])]
    rows = named.X_test[:3].toarray()[:, columns].tolist()
    lines += [",".join(["7", f"r/{i}", *map(str, row)]) for i, row in enumerate(rows)]
    found = of_file("predict", {"run": run.key}, "\n".join(lines).encode()).load()
    assert found.ids == ["r/0", "r/1", "r/2"]
    X = named.X_test[:3].toarray()
    X[:, :5] = 0
    expected = experiment.load_run_model(run.key).predict_topk(X, 5)
    assert (found.ranking.labels == expected.labels).all()
    assert found.missing.tolist() == [0, 1, 2, 3, 4] and found.unknown == ["other"]
    assert found.notes[0].startswith("The file lacks 5 of the model’s 30 features, which count as 0: word 0")


def test_a_file_that_does_not_fit_the_model_is_refused(run):
    with pytest.raises(DatasetFormatError, match="states 7 features, but the model has 30") as caught:
        of_file("predict", {"run": run.key}, b"1 7 6\n 0:1\n")
    assert caught.value.source == task_files.NAME.format("rows")


@pytest.fixture
def of_texts():
    """A kept run on texts of two topics, and its data set."""
    texts = ["red apple", "green apple", "old iron", "new iron", "apple and iron"] * 4
    labels = [["fruit"], ["fruit"], ["metal"], ["metal"], ["fruit", "metal"]] * 4
    vectorizer = TextVectorizer()
    X, ids = vectorizer.fit_transform(texts), [[("fruit", "metal").index(name) for name in row] for row in labels]
    more = {"texts_train": texts, "texts_test": texts[:5], "vectorizer": vectorizer}
    data = Dataset("documents", X, ids, X[:5], ids[:5], label_names=["fruit", "metal"], **more)
    return kept("train", {"dataset": save_dataset(data)}, model="OneVsRest"), data


@pytest.mark.parametrize("column", [None, "body"])
def test_texts_of_a_file_are_vectorised_as_the_data_set(of_texts, column):
    task, data = of_texts
    texts = ["an apple,\nred", "iron", "xyzzy"]
    content = "number,body\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(texts))
    made = of_file("predict", {"run": task.key}, content.encode(), of="texts", k=2, text=column)
    found = made.load()
    assert predictions.given_rows("predict", made.key) == texts
    expected = experiment.load_run_model(task.key).predict_topk(data.vectorizer.transform(texts), 2)
    assert (found.ranking.labels[:2] == expected.labels[:2]).all()
    assert (found.ranking.labels[2] == -1).all() and 2 not in {*found.decided.further["row"]}
    assert found.beginnings == ["an apple, red", "iron", "xyzzy"]
    assert found.notes == ["The model knows no word of 1 of 3 texts, so they get no labels."] and found.ids is None


IDS = {
    "repeated, numbers and formulas": ["a", "a", "007", "1.50", "-3", "=1+1", " x "],
    "some empty": ["b", "", "c", "", "b", "7", "8"],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_the_ids_of_a_file_of_texts_stand_in_its_predictions(of_texts, ids, format):
    ids = ids * 30
    texts = [f"{('an apple', 'old iron')[i % 2]}, number {i}" for i in range(len(ids))]
    lines = [f'{one},"{text}"' for one, text in zip(ids, texts)]
    if format == "jsonl":
        lines = [json.dumps({"Doc_ID": int(one) if one == "8" else one, "text": text}) for one, text in zip(ids, texts)]
    content = "\n".join([*["Doc_ID,text"] * (format == "csv"), *lines])
    task = of_file("predict", {"run": of_texts[0].key}, content.encode(), of="texts", k=1)
    found = task.load()
    assert found.ids == [one.strip() for one in ids]
    assert [note for note in found.notes if "label" in note] == []
    assert any("without an id" in note for note in found.notes) == ("" in ids)
    frame = predictions.frame_of(found.ranking, str, None, None, found.ids)
    assert [*frame][:3] == ["row", "id", "rank"] and frame["id"].tolist() == [found.ids[row] for row in frame["row"]]
    in_file = csv_safe(frame).set_index("row")["id"]
    assert "=1+1" not in ids or in_file[5] == "'=1+1" and in_file[[2, 4]].tolist() == ["007", "-3"]
    rows = [json.loads(line) for line in predictions.json_lines(found.ranking, str, ids=found.ids)]
    assert [row["id"] for row in rows] == found.ids
    again = kept("predict", task.inputs, **task.params | {"k": 2, "again": task.key})
    assert again.load().ids == found.ids


def test_a_column_of_texts_is_no_column_of_ids(of_texts):
    for content in (b"url,id\nan apple,2\n", b'{"id": [1], "url": "an apple"}\n', b'{"id": 1.5, "url": "iron"}\n'):
        found = of_file("predict", {"run": of_texts[0].key}, content, of="texts", text="url").load()
        assert found.ids == (["2"] if b"id\n" in content else None) and len(found.ranking.labels) == 1


def test_texts_need_a_model_for_texts_and_a_column_with_texts(run, of_texts):
    with pytest.raises(ValueError, match="takes rows of features, not texts"):
        of_file("predict", {"run": run.key}, b"text\nan apple\n", of="texts")
    with pytest.raises(DatasetFormatError, match="'words'.*text"):
        of_file("predict", {"run": of_texts[0].key}, b"a,text\n1,an apple\n", of="texts", text="words")
    with pytest.raises(ValueError, match="of must be one of rows, texts"):
        experiment.task("predict", {"run": run.key}, {"files": {"rows": {}}, "of": "words"})


def test_a_packed_model_that_is_opened_again_predicts_the_same(run, named):
    packed = kept("pack_model", {"run": run.key})
    opened = of_file("open_model", {}, packed.file().read_bytes(), "model")
    assert opened.load().name == "OneVsRest on named" and not opened.load().is_text
    assert opened.load().card["data"]["fingerprint"] == named.fingerprint
    one = of_file("predict", {"run": run.key}, text_of(named)).load()
    store.delete("runs", run.key)
    store.delete("datasets", named.fingerprint)
    again = of_file("predict_opened", {"packed": opened.key}, text_of(named))
    assert (again.load().ranking.labels == one.ranking.labels).all()
    assert again.title == "Predicting a file with a model of OneVsRest on named"
    assert not list((store.folder("opened-models", opened.key)).glob("*.npz"))


def test_a_card_has_the_name_that_its_data_set_is_given(run):
    card = kept("pack_model", {"run": run.key}, dataset_name="my texts").load().card
    assert card["name"] == "OneVsRest on my texts" and card["data"]["name"] == "my texts"
    with pytest.raises(TypeError, match="dataset_name must be a string, not 3"):
        experiment.task("pack_model", {"run": run.key}, {"dataset_name": 3})


def test_a_file_that_is_no_packed_model_is_refused():
    with pytest.raises(ModelFormatError, match="^the file is damaged, or no zip file"):
        of_file("open_model", {}, b"something else", "model")
    assert not list(task_files._folder("x").parent.glob("*"))  # nothing stays


def test_an_opened_model_keeps_only_what_belongs_to_it(run):
    content = kept("pack_model", {"run": run.key}).file().read_bytes()

    def more(files, about):
        files["names.json"] = json.dumps(json.loads(files["names.json"]) | {"other": [[]] * 1000}).encode()

    opened = of_file("open_model", {}, changed(content, more), "model")
    file = store.folder("opened-models", opened.key) / "model.zip"
    assert members(file.read_bytes())["names.json"] == members(content)["names.json"]
    with pytest.raises(ModelFormatError, match=r"the card of the model has 1,0\d\d,\d{3} characters"):
        of_file("open_model", {}, changed(content, lambda files, about: about.update(x="x" * 10**6)), "model")


RANKING = Ranking(
    np.array([[2, 0], [1, -1], [-1, -1]], np.int32), np.array([[0.75, 0.5], [0.9, 0], [0, 0]], np.float32)
)


def test_certainty_is_a_margin_or_the_top_score():
    assert predictions.certainty(RANKING).tolist() == pytest.approx([0.25, 0.9, 0])
    assert predictions.certainty(RANKING, "top score").tolist() == pytest.approx([0.75, 0.9, 0])
    one = Ranking(RANKING.labels[:, :1], RANKING.scores[:, :1])
    assert predictions.certainty(one).tolist() == pytest.approx([0.75, 0.9, 0])
    with pytest.raises(ValueError, match="by must be one of"):
        predictions.certainty(RANKING, "entropy")


def test_predictions_are_a_table_and_lines_of_json_with_all_rows():
    names = ["a", "b", "c"]
    frame = predictions.frame_of(RANKING, "label {}".format, names)
    assert frame.equals(RANKING.to_frame([f"label {j}" for j in range(3)], names)) and len(frame) == 3
    lines = [json.loads(line) for line in predictions.json_lines(RANKING, "label {}".format)]
    assert lines[1] == {"row": 1, "labels": [{"label": 1, "name": "label 1", "score": 0.9}]}
    assert [line["row"] for line in lines] == [0, 1, 2] and lines[2]["labels"] == []


def test_tables_and_json_say_which_labels_are_predicted():
    further = pd.DataFrame({"row": [1, 1], "rank": [4, 0], "label": [0, 5], "score": np.float32([0.5, np.nan])})
    decided = predictions.Decided("", np.array([[True, False], [False, False], [False, False]]), further, None)
    frame = predictions.frame_of(RANKING, "label {}".format, ["a", "b", "c"], decided)
    assert [*frame] == ["row", "name", "rank", "label", "label_name", "score", "predicted"]
    assert frame[["row", "rank", "label", "predicted"]].to_numpy().tolist() == [
        [0, 1, 2, True], [0, 2, 0, False], [1, 1, 1, False], [1, 4, 0, True], [1, pd.NA, 5, True]
    ]  # fmt: skip
    assert frame["label_name"].iloc[4] == "label 5" and frame["name"].iloc[4] == "b"
    lines = [json.loads(line) for line in predictions.json_lines(RANKING, "label {}".format, None, decided)]
    assert [[(one["label"], one["predicted"]) for one in line["labels"]] for line in lines] == [
        [(2, True), (0, False)], [(1, False), (0, True), (5, True)], []
    ]  # fmt: skip
    assert lines[1]["labels"][2] == {"label": 5, "name": "label 5", "score": None, "predicted": True}


def sets_of(decided, ranking, n_labels):
    """The labels that are predicted, dense: those of the ranking and the further ones."""
    sets = np.zeros((len(ranking.labels), n_labels), bool)
    row, place = np.nonzero(decided.ranked)
    sets[row, ranking.labels[row, place]] = True
    sets[decided.further["row"], decided.further["label"]] = True
    return sets


def check_decided(model, X, k, allowed=None):
    """Compare with the sets of the model, and the further labels with a whole ranking."""
    ranking, whole = (model.predict_topk(X, depth, labels=allowed) for depth in (k, model.n_labels_))
    decided = predictions.decided_of(model, X, ranking, allowed=allowed)
    expected = decided_scores(model, X, allowed=allowed).astype(bool)
    np.testing.assert_array_equal(sets_of(decided, ranking, model.n_labels_), expected.toarray())
    further = decided.further[decided.further["rank"] > 0]
    assert (further["rank"] > k).all() and decided.by == decision_of(model, allowed)
    assert len(further) == len(decided.further) or isinstance(model, LdSM)  # which ranks by more than probabilities
    assert decided.further["score"].isna().sum() == len(decided.further) - len(further)
    assert further["label"].tolist() == whole.labels[further["row"], further["rank"] - 1].tolist()
    np.testing.assert_allclose(further["score"], whole.scores[further["row"], further["rank"] - 1])
    assert further[["row", "rank"]].to_numpy().tolist() == sorted(further[["row", "rank"]].to_numpy().tolist())
    return np.diff(expected.indptr), decided


@pytest.mark.filterwarnings("ignore:.* end in mixed leaves")
@pytest.mark.parametrize("model", [PLT(random_state=0), OneVsRest(), LdSM(random_state=0), DoubleSampling()])
def test_the_model_decides_also_beyond_ranked_labels(model, easy, monkeypatch):
    monkeypatch.setattr(predictions.rules, "ROWS_AT_ONCE", 7)
    model.fit(easy.X_train[:150], easy.Y_train[:150])
    X, by_another = easy.X_test, (LdSM, DoubleSampling)  # number than the score
    for threshold in (1.0, 0.3, 1e-6):
        model.threshold_ = threshold
        counts, decided = check_decided(model, X, 1)
        of_p = isinstance(model, by_another) or model.loss_ == "logistic"
        cut = "P of at least {} %" if of_p else "a score of at least {}"
        assert decided.by == "labels with " + cut.format(wording.significant(threshold * (100 if of_p else 1)))
        if decided.probability is not None:
            ranking = model.predict_topk(X, 1)
            frame = predictions.frame_of(ranking, str, None, decided)
            assert ((frame["probability"] >= threshold - 1e-6) == frame["predicted"]).all(), "as the sentence says"
            assert frame["probability"].notna().all() and (frame["probability"].round(7) == frame["probability"]).all()
            lines = [json.loads(line)["labels"] for line in predictions.json_lines(ranking, str, None, decided)]
            assert [one["probability"] for labels in lines for one in labels] == frame["probability"].tolist()
    assert (decided.probability is not None) == isinstance(model, by_another)
    assert counts.max() > 4  # which takes more than one deeper ranking
    decisions.learn(model, easy.X_train[150:], easy.Y_train[150:], "macro F1@3").keep()
    counts, decided = check_decided(model, X, 2)
    assert (counts == 3).all() and len(decided.further) >= len(counts)
    check_decided(model, X, 12)
    _, decided = check_decided(model, X, 1, np.arange(model.n_labels_) != 2)
    assert decided.by.endswith(f"of {model.n_labels_ - 1} allowed labels") and 2 not in {*decided.further["label"]}


@pytest.mark.parametrize("about", [{"measure": "cut 0.3"}, {"measure": "macro F1"}, {"promise": "recall"}], ids=str)
def test_ranked_labels_have_the_deciding_probability(easy, about):
    model = PLT(random_state=0).fit(easy.X_train[:150], easy.Y_train[:150])
    rule = decisions.learn(model, easy.X_train[150:], easy.Y_train[150:], "micro R", least={"micro P": 0.8})
    replace(rule, about=about).keep()
    ranking = model.predict_topk(easy.X_test, 3)
    frame = predictions.frame_of(ranking, str, None, predictions.decided_of(model, easy.X_test, ranking))
    wanted = calibrated(model, easy.X_test)[frame["row"], frame["label"]]
    np.testing.assert_allclose(frame["probability"], np.ravel(wanted), atol=1e-7)
    assert not frame["predicted"].all() and (frame["probability"].round(7) == frame["probability"]).all()


@pytest.mark.parametrize("model", [PLT(random_state=0), DoubleSampling()])
def test_a_model_of_classes_predicts_one_for_each_row(model, classes):
    y = classes.Y_train.indices.astype(str)
    counts, decided = check_decided(model.fit(classes.X_train, y), classes.X_test[:50], 2)
    assert (counts == 1).all() and decided.by == "the best label" and decided.ranked[:, 0].all()


def test_a_file_without_rows_has_nothing_predicted(run, named):
    model = experiment.load_run_model(run.key)
    decided = predictions.decided_of(model, named.X_test[:0], model.predict_topk(named.X_test[:0], 3))
    assert decided.ranked.shape == (0, 3) and decided.further.empty


def test_each_decision_of_a_file_is_another_result(key, easy):
    content, model = text_of(easy), experiment.load_run_model(key)
    rules = kept("decide", {"run": key}).load()
    cut = f"cut {float(rules.cuts['cut'].iloc[9])}"
    made = {name: of_file("predict", {"run": key}, content, k=2, decision=name) for name in (None, "macro F1@3", cut)}
    assert len({task.key for task in made.values()}) == 3
    for name, task in made.items():
        expected = model.predict(easy.X_test) if name is None else rules.rule(name).decided(model, easy.X_test)
        found = task.load()
        sets = sets_of(found.decided, found.ranking, easy.n_labels)
        np.testing.assert_array_equal(sets, expected.toarray() > 0)
    assert made["macro F1@3"].load().decided.by == "the best labels for macro F1@3"
    percent = f"{100 * float(cut.removeprefix('cut ')):.4g} %"
    assert made[cut].load().decided.by == f"labels with a calibrated probability of at least {percent}"
    assert experiment.load_run_model(key).rule_ is None


def test_an_opened_model_predicts_by_its_own_decision(easy):
    model = PLT(random_state=0).fit(easy.X_train[:80], easy.Y_train[:80])
    rule = decisions.promise(model, easy.X_train[80:], easy.Y_train[80:], recall=0.5, risk=0.2)
    opened = of_file("open_model", {}, PackedModel(rule.keep()).to_bytes(), "model")
    found = of_file("predict_opened", {"packed": opened.key}, text_of(easy), k=1).load()
    expected = rule.predict(easy.X_test).toarray()
    np.testing.assert_array_equal(sets_of(found.decided, found.ranking, easy.n_labels), expected)
    assert found.decided.by.startswith("sets of labels whose recall is at least 0.5")
    strange = of_file("predict_opened", {"packed": opened.key}, b"120 24 12\n" + b" 0:1 2:1 4:1\n" * 120).load()
    assert strange.decided.unlike.startswith("The rows differ significantly from those")


def test_kept_rows_are_predicted_by_another_decision(key, easy, of_texts):
    first = of_file("predict", {"run": key}, text_of(easy), k=2)
    kept("decide", {"run": key})
    again = kept("predict", {"run": key}, **first.params | {"decision": "macro F1@3", "again": first.key})
    anew = of_file("predict", {"run": key}, text_of(easy), k=2, decision="macro F1@3")
    assert again.key == anew.key != first.key and again.load().notes == first.load().notes
    assert again.load().decided.by == "the best labels for macro F1@3"
    assert (predictions.given_rows("predict", again.key) != predictions.given_rows("predict", first.key)).nnz == 0

    task, _ = of_texts
    first = of_file("predict", {"run": task.key}, b"text\nred apple\nxyzzy\n", of="texts", text="text")
    again = experiment.task("predict", {"run": task.key}, first.params | {"k": 1, "again": first.key})
    experiment.keep(again)
    assert again.load().beginnings == ["red apple", "xyzzy"] and again.load().notes == first.load().notes
    assert predictions.given_rows("predict", again.key) == ["red apple", "xyzzy"]
    store.delete("predictions", first.key)
    with pytest.raises(store.MissingArtifactError):
        kept("predict", {"run": task.key}, **first.params | {"k": 3, "again": first.key})
