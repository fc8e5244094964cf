"""Predictions for the rows of a file, and models that are packed and opened."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from making import kept, of_file

from xmlcore import experiment, store
from xmlcore.datasets import Dataset, DatasetFormatError, save_dataset, write_matrix
from xmlcore.datasets.texts import TextVectorizer
from xmlcore.experiment.engine import given
from xmlcore.experiment.kinds import predictions
from xmlcore.models import ModelFormatError
from xmlcore.ranking import Ranking


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


def test_columns_are_matched_by_name_and_notes_say_which_are_missing(run, named):
    columns = list(range(29, 4, -1))
    lines = [",".join(["other", *(named.feature_names[j] for j in columns)])]
    lines += [",".join(["7", *map(str, row)]) for row in named.X_test[:3].toarray()[:, columns].tolist()]
    found = of_file("predict", {"run": run.key}, "\n".join(lines).encode()).load()
    X = named.X_test[:3].toarray()
    X[:, :5] = 0
    expected = experiment.load_run_model(run.key).predict_topk(X, 5)
    assert (found.ranking.labels == expected.labels).all()
    assert found.missing.tolist() == [0, 1, 2, 3, 4] and found.unknown == ["other"]
    assert found.notes[0].startswith("The file lacks 5 of the model’s 30 features, which count as 0: word 0")


def test_a_file_that_does_not_fit_the_model_says_so_and_does_not_name_a_path(run):
    with pytest.raises(DatasetFormatError, match="promises 7 features, but the model has 30") as caught:
        of_file("predict", {"run": run.key}, b"1 7 6\n 0:1\n")
    assert caught.value.source == given.NAME.format("rows")


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
def test_texts_of_a_file_are_predicted_with_the_vectoriser_of_the_data_set(of_texts, column):
    task, data = of_texts
    texts = ["an apple,\nred", "iron", "xyzzy"]
    content = "number,body\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(texts))
    made = of_file("predict", {"run": task.key}, content.encode(), of="texts", k=2, text=column)
    found = made.load()
    assert predictions.given_rows("predict", made.key) == texts
    expected = experiment.load_run_model(task.key).predict_topk(data.vectorizer.transform(texts), 2)
    assert (found.ranking.labels == expected.labels).all()
    assert found.beginnings == ["an apple, red", "iron", "xyzzy"]
    assert found.notes == ["1 text has no word that the model knows."]


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


def test_a_file_that_is_no_packed_model_is_refused_without_naming_a_path():
    with pytest.raises(ModelFormatError, match="^the file is damaged, or no zip file"):
        of_file("open_model", {}, b"something else", "model")
    assert not list(given._folder("x").parent.glob("*"))  # nothing stays


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
