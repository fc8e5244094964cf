"""Trials on training texts choose words, pairs, stems or letters as features, and the choice goes where texts go."""

import numpy as np
import pytest

from xmlcore import TextClassifier, load_model
from xmlcore.datasets import TextVectorizer, read_text_dataset, with_words
from xmlcore.models import PackedModel, choosing_words, words_by_trials

COLOURS = "red blue green white black pink grey brown gold cyan".split()
SYLLABLES = "ba de fi go lu ma ne pi ro su ta ve".split()


def of_pairs(rng):
    """A label is which of two words comes first."""
    a, b = rng.choice(10, 2, replace=False)
    return f"{COLOURS[a]} {COLOURS[b]}", [f"{COLOURS[a]} first"]


def of_stems(rng):
    """Each word has many endings, and none is seen often."""
    label = rng.integers(20)
    root = "".join(SYLLABLES[i] for i in ((label * 7) % 12, (label * 5) % 11, label % 9, 4)) + "nd"
    return f"the {root}{rng.choice(['', 's', 'ed', 'ing', 'ings', 'er', 'ers', 'ly', 'ment'])} of it", [
        f"label {label}"
    ]


def of_words(rng):
    a, b = rng.choice(10, 2, replace=False)
    return f"{COLOURS[a]} {COLOURS[b]}", [COLOURS[a], COLOURS[b]]


def some_texts(kind, n=1500):
    rng = np.random.default_rng(0)
    texts, labels = zip(*(kind(rng) for _ in range(n)))
    return list(texts), list(labels)


@pytest.fixture(autouse=True)
def few_texts_are_enough(monkeypatch):
    monkeypatch.setattr(choosing_words, "LEAST_TEXTS", 1000)


@pytest.mark.parametrize(("kind", "features", "ngrams"), [(of_pairs, "words", (1, 2)), (of_words, "words", (1, 1))])
def test_what_pays_is_chosen_and_saved(kind, features, ngrams, tmp_path):
    texts, labels = some_texts(kind)
    model = TextClassifier().fit(texts, labels)
    settings = model.vectorizer_.settings_
    assert (settings["features"], settings["ngrams"]) == (features, ngrams)
    assert [trial["features"] for trial in model.vectorizer_.trials_][0] == "words"
    model.save(tmp_path / "model")
    PackedModel(model).save(tmp_path / "model.zip")
    for other in (load_model(tmp_path / "model"), load_model(tmp_path / "model.zip")):
        assert other.vectorizer_.trials_ == model.vectorizer_.trials_
        np.testing.assert_array_equal(other.predict_topk(texts[:50]).scores, model.predict_topk(texts[:50]).scores)


def test_words_with_many_endings_become_stems_or_letters():
    found = TextClassifier().fit(*some_texts(of_stems, 1200)).vectorizer_
    assert found.settings_["features"] != "words" and found.settings_["language"] == "english"


@pytest.mark.parametrize("settings", [{}, {"features": "words", "ngrams": (1, 2), "min_df": 2}])
def test_nothing_is_tried_with_few_texts_or_given_settings(settings, monkeypatch):
    if not settings:
        monkeypatch.setattr(choosing_words, "LEAST_TEXTS", 1501)
    texts, labels = some_texts(of_pairs)
    found = TextClassifier(vectorizer=TextVectorizer(**settings)).fit(texts, labels).vectorizer_
    assert not found.trials_ and found.settings_ | settings == found.settings_
    assert found.settings_["min_df"] == (2 if settings else 1)


def test_data_sets_name_what_was_chosen_and_the_same_is_chosen_again():
    texts, labels = some_texts(of_pairs)
    lines = "text,labels\n" + "".join(f"{text},{row[0]}\n" for text, row in zip(texts, labels))
    data = [read_text_dataset(lines.encode(), vectorizer=words_by_trials()) for _ in range(2)]
    assert data[0].fingerprint == data[1].fingerprint
    assert "words and pairs of them, chosen by trials" in data[0].notes[-1]
    again = with_words(data[0], data[0].vectorizer)
    assert again.content_hash == data[0].content_hash != read_text_dataset(lines.encode()).content_hash
