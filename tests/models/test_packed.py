"""Packed models: read back as they were, and refused when they are foreign or damaged."""

import io
import os
import warnings

import numpy as np
import pandas as pd
import pytest

from tests.archiving import changed, members, npz, replaced, zipped
from xmlcore import PLT, OneVsRest, TextClassifier, load_model
from xmlcore.datasets.texts import TextVectorizer
from xmlcore.models import ModelFormatError, PackedModel, looks_packed, packed, read_packed

LABELS = [f"subject {j} é" for j in range(6)]
FEATURES = [f"word {j}" for j in range(9)]


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).random((40, 9), np.float32)


@pytest.fixture(scope="module")
def model(rows):
    return PLT(max_leaf_labels=2, n_jobs=1).fit(rows, [[i % 6, (i * 5 + 1) % 6][: 1 + i % 2] for i in range(40)])


@pytest.fixture(scope="module")
def content(model):
    return PackedModel(model, LABELS, FEATURES, card={"name": "A | model", "data": {"name": "toy"}}).to_bytes()


def same(ranking, other):
    return all(np.array_equal(one, two) and one.dtype == two.dtype for one, two in zip(ranking, other))


def test_a_packed_model_comes_back_with_names_and_card(model, rows, content):
    got = read_packed(content)
    assert same(got.predict_topk(rows, k=4), model.predict_topk(rows, k=4))
    assert (got.label_names, got.feature_names, got.is_text) == (LABELS, FEATURES, False)
    assert (got.label_name(2), got.feature_name(3)) == (LABELS[2], FEATURES[3])
    card = got.card
    assert (card["name"], card["model"], card["features"], card["labels"]) == ("A | model", "PLT", 9, 6)
    assert card["data"] == {"name": "toy"} and card["parameters"]["max_leaf_labels"] == 2
    assert {"xmlcore", "Python", "numpy"} <= card["versions"].keys() and card["created"]
    assert card["parameters"].keys() == model.get_params().keys() - {"tree"} | {"tree"}


def test_path_bytes_file_and_folder_give_the_same_model(model, rows, content, tmp_path):
    path = PackedModel(model, LABELS, FEATURES).save(tmp_path / "new" / "m.zip")
    ranking = model.predict_topk(rows, k=3)
    for source in (path, str(path), content, io.BytesIO(content), model.save(tmp_path / "folder")):
        assert same(read_packed(source).predict_topk(rows, k=3), ranking)
    assert same(load_model(path).predict_topk(rows, k=3), ranking) and isinstance(load_model(path), PLT)
    assert same(load_model(tmp_path / "folder").predict_topk(rows, k=3), ranking)
    assert os.listdir(path.parent) == ["m.zip"]


def test_a_model_is_told_from_other_files_by_the_names_in_it(model, content, tmp_path):
    PackedModel(model).save(tmp_path / "m.zip")
    (tmp_path / "other.zip").write_bytes(zipped({"run.json": b"{}"}))
    (tmp_path / "cut.zip").write_bytes(content[:-30])
    (tmp_path / "text.txt").write_text("1 2 3")
    model.save(tmp_path / "folder")
    names = ("m.zip", "folder", "other.zip", "cut.zip", "text.txt", "absent", ".")
    assert [looks_packed(tmp_path / name) for name in names] == [True, True, False, False, False, False, False]


def test_saving_replaces_a_file_and_leaves_a_folder(model, tmp_path):
    (tmp_path / "m.zip").write_bytes(b"earlier")
    assert load_model(PackedModel(model).save(tmp_path / "m.zip")).n_labels_ == 6
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="name a file"):
        PackedModel(model).save(tmp_path / "folder")
    assert sorted(os.listdir(tmp_path)) == ["folder", "m.zip"]


def test_the_readme_says_how_to_load_it_without_markup(content):
    text = members(content)["README.md"].decode()
    assert text.startswith("# A \\| model") and 'load_model("model.zip")' in text and "python -m xmlcore serve" in text
    measures = [{"measure": "P@k", "k": 1, "value": 0.5, "low": 0.4, "high": 0.6}, {"measure": "R@k", "k": 3}, 7]
    text = packed.card_text({"measures": measures, "model": "<b>[x](y)"}, is_text=True, decision="<i>", has_rule=False)
    assert "| measure | at 1 | at 3 |" in text
    assert "| P | 50.00 (40.00 to 60.00) | not defined |" in text and "| R | not defined | not defined |" in text
    assert "\\<b\\>\\[x\\](y)" in text and "suggest" in text
    for card in ({"measures": [{"k": "x"}, None], "data": 3, "parameters": [1]}, {"measures": 5}, {"measures": {}}):
        assert packed.card_text(card, is_text=False, decision="", has_rule=False)  # of a file that someone else made


def test_numbers_that_json_lacks_are_null_in_the_card(model):
    card = {"measures": [{"measure": "P@k", "k": 1, "value": float("nan"), "low": np.float64("inf")}]}
    got = read_packed(PackedModel(model, card=card).to_bytes())
    assert got.card["measures"] == [{"measure": "P@k", "k": 1, "value": None, "low": None}]
    with pytest.raises(TypeError, match="JSON"):
        PackedModel(model, card={"x": object()})


TEXTS = ["a red cat", "the red dog", "blue cat and dog", "a blue bird", "red bird", "green cat", "green dog"] * 5
TEXT_LABELS = [["red", "cat"], ["red"], ["blue"], ["blue", "bird"], ["bird"], [], ["green"]] * 5


@pytest.fixture(scope="module", params=[None, 8], ids=["words", "hashed"])
def classifier(request):
    vectorizer = TextVectorizer(min_df=1, hashing_bits=request.param)
    return TextClassifier(PLT(max_leaf_labels=2, n_jobs=1), vectorizer).fit(TEXTS, TEXT_LABELS)


def test_a_model_for_texts_comes_back_with_its_words(classifier, tmp_path):
    got = read_packed(PackedModel(classifier).save(tmp_path / "t.zip"))
    assert got.is_text and got.label_names == classifier.labels_ and repr(got) == "PackedModel(PLT for texts, 5 labels)"
    want = classifier.predict_topk(TEXTS, k=3)
    assert same(got.predict_topk(TEXTS, k=3), want) and same(got.predict_topk(np.array(TEXTS), k=3), want)
    assert same(got.predict_topk(classifier.vectorizer_.transform(TEXTS), k=3), want)
    loaded = load_model(tmp_path / "t.zip")
    assert isinstance(loaded, TextClassifier) and loaded.suggest(TEXTS, k=2) == classifier.suggest(TEXTS, k=2)
    assert same(read_packed(loaded.save(tmp_path / "folder")).predict_topk(TEXTS, k=3), want)
    hashed = classifier.vectorizer_.get_params()["hashing_bits"] is not None
    assert (got.feature_names is None) == hashed and "suggest" in got.describe()


def test_a_vectoriser_of_another_model_is_refused(classifier, model, content):
    with pytest.raises(ValueError, match=r"the vectoriser makes \d+ features, but the model has 9"):
        PackedModel(model, vectorizer=classifier.vectorizer_)
    other = PackedModel(classifier).to_bytes()
    parts = {name: members(other)[name] for name in packed.VECTORIZER}
    with pytest.raises(ModelFormatError, match="the vectoriser makes"):
        read_packed(changed(content, lambda files, about: files.update(parts)))
    with pytest.raises(ModelFormatError):
        read_packed(replaced(other, "vectorizer/settings.json", b'{"format": 1}'))


def test_what_does_not_fit_the_model_is_refused(model, rows):
    for arguments, error, message in (
        ((model, ["a", "b"]), ValueError, "2 names, but there are 6 labels"),
        ((model, None, ["a"]), ValueError, "feature_names has 1 names"),
        ((model, [1] * 6), TypeError, "names are strings"),
        (([],), TypeError, "a list does not predict labels"),
        ((OneVsRest(),), ValueError, "not fitted"),
    ):
        with pytest.raises(error, match=message):
            PackedModel(*arguments)
    for texts, message in ((["a text"], "rows of 9 features, not texts"), ("a text", "give a list of texts")):
        with pytest.raises(TypeError, match=message):
            PackedModel(model).predict_topk(texts)


# What an archive is refused for whatever it holds stands in tests/test_archives.py.
FOREIGN = {
    "code": ("model/x.py", b"import os", "it has 'model/x.py'"),
    "half a vectoriser": ("vectorizer/settings.json", b"{}", "lacks vectorizer/arrays.npz"),
    "deep JSON": ("names.json", b"[" * 100_000, "names.json"),
    "names that are a list": ("names.json", b"[7]", "names.json has no names"),
    "names that are numbers": ("names.json", b'{"labels": [1, 2, 3, 4, 5, 6]}', "names are strings"),
    "too few names": ("names.json", b'{"labels": ["a"]}', "1 names, but there are 6"),
    "other arrays": ("model/arrays.npz", npz(x=np.zeros(3)), "lacks"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file_is_refused_and_nothing_is_written(kind, content, tmp_path, monkeypatch):
    name, part, reason = FOREIGN[kind]
    monkeypatch.setattr(packed.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ModelFormatError, match=reason) as caught:
        read_packed(replaced(content, name, part))
    assert str(tmp_path) not in str(caught.value) and len(str(caught.value)) < 400
    assert not list(tmp_path.iterdir())


def test_messages_say_what_was_found(content, tmp_path):
    with pytest.raises(ModelFormatError, match="it lacks model/arrays.npz"):
        read_packed(changed(content, lambda files, about: files.pop("model/arrays.npz")))
    with pytest.raises(FileNotFoundError, match="no file or folder .*absent.zip"):
        read_packed(tmp_path / "absent.zip")
    (tmp_path / "unpacked").mkdir()
    (tmp_path / "unpacked" / "manifest.json").touch()
    with pytest.raises(ModelFormatError, match="is an unpacked zip: give the zip file itself"):
        read_packed(tmp_path / "unpacked")


def test_ids_without_a_label_or_feature_have_no_name():
    model = PLT().fit([[1.0, 0.0], [0.0, 1.0]], [[0], [1]])
    for named in (PackedModel(model), PackedModel(model, ["a", "b"], ["x", "y"])):
        for name in (named.label_name, named.feature_name):
            with pytest.raises(ValueError, match="must be from 0 to 1"):
                name(-1)  # pads a Ranking: not the last one
            with pytest.raises(ValueError, match="must be from 0 to 1"):
                name(2)


def test_rows_need_the_names_of_the_packed_features(model, rows):
    packed_model = PackedModel(model, feature_names=FEATURES)  # the model was fitted without names
    named = pd.DataFrame(rows, columns=FEATURES)
    with warnings.catch_warnings(action="error"):
        assert same(packed_model.predict_topk(named, 3), model.predict_topk(rows, 3))
        assert same(packed_model.predict_topk(rows, 3), model.predict_topk(rows, 3))
    with pytest.raises(ValueError, match="same order"):
        packed_model.predict_topk(named[FEATURES[::-1]])
    fitted = PLT(n_jobs=1).fit(named, [[i % 6] for i in range(40)])
    with warnings.catch_warnings(action="error"):
        assert PackedModel(fitted).predict_topk(named).labels.shape == (40, 5)
