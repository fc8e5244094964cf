"""Data sets are saved by content, as plain values, and loaded as they were."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import store
from xmlcore.datasets import Dataset, in_use_or_saved, load_saved, save_dataset
from xmlcore.datasets.saved import as_plain, from_plain
from xmlcore.datasets.texts import TextVectorizer


def small(**changes):
    fields = {"X_train": [[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]], "Y_train": [[0, 1], []], "X_test": [[0.0, 4.0, 0.0]],
              "Y_test": [[1]]}  # fmt: skip
    return Dataset("small", **fields | changes)


def test_a_saved_dataset_comes_back_by_its_fingerprint():
    dataset = small(label_names=["a", "b"])
    fingerprint = save_dataset(dataset)
    assert fingerprint == save_dataset(dataset) == dataset.fingerprint
    back = load_saved(fingerprint)
    assert back.label_names == ["a", "b"]
    assert (back.X_train != dataset.X_train).nnz == 0
    assert store.info("datasets", fingerprint)["n_labels"] == 2


def test_what_was_never_saved_is_an_error():
    with pytest.raises(store.StoreError):
        load_saved("0" * 32)
    with pytest.raises(ValueError):
        load_saved("../../etc")
    with pytest.raises(TypeError):
        save_dataset("small")


def test_a_dataset_in_use_is_not_read_again_and_one_that_is_not_used_any_more_is(monkeypatch):
    fingerprint = save_dataset(small())
    used = in_use_or_saved(fingerprint)
    assert in_use_or_saved(fingerprint) is used and load_saved(fingerprint) is not used
    del used
    loads = []
    monkeypatch.setattr(store, "load", lambda *args, load=store.load: loads.append(args) or load(*args))
    assert in_use_or_saved(fingerprint).n_labels == 2 and len(loads) == 1
    with pytest.raises(store.StoreError):
        in_use_or_saved("0" * 32)


def test_everything_but_the_class_is_kept():
    dataset = small(
        feature_names=["x", "y", "z"], label_names=["a", "b"], row_names_train=["r", "s"], row_names_test=["t"],
        notes=("one", "two"),
    )  # fmt: skip
    back = load_saved(save_dataset(dataset))
    for name in ("name", "feature_names", "label_names", "row_names_train", "row_names_test", "notes"):
        assert getattr(back, name) == getattr(dataset, name), name
    for name in ("X_train", "Y_train", "X_test", "Y_test"):
        own, kept = getattr(dataset, name), getattr(back, name)
        assert type(kept) is sp.csr_array and (kept.shape, kept.dtype) == (own.shape, own.dtype)
        assert np.array_equal(kept.toarray(), own.toarray()) and not kept.data.flags.writeable
    assert replace(back, name="other").fingerprint == dataset.fingerprint  # computed again from what was kept


def test_equal_content_is_saved_once_under_the_first_name():
    first = small()
    fingerprint = save_dataset(first)
    assert save_dataset(replace(first, name="later", notes=("new",))) == fingerprint
    back = load_saved(fingerprint)
    assert (back.name, back.notes) == ("small", ())
    assert len(list(store.entries("datasets"))) == 1


def test_the_plain_form_has_no_instance_of_a_class_of_ours():
    def classes(value):
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        return {type(value), *(kind for part in parts for kind in classes(part))}

    plain = as_plain(small(label_names=["a", "b"], notes=("one",)))
    assert classes(plain) <= {dict, list, str, int, np.ndarray, type(None)}
    assert from_plain(plain).fingerprint == small(label_names=["a", "b"]).fingerprint


def test_a_known_fingerprint_is_taken_over_and_not_computed():
    assert from_plain(as_plain(small()), "ab" * 16).fingerprint == "ab" * 16


TEXTS = {"texts_train": ["one two \ud800", ""], "texts_test": ["zwei\n東京"]}


def test_texts_and_vectoriser_are_kept_as_plain_values():
    vectorizer = TextVectorizer(min_df=1).fit(["one two three"])
    dataset = small(**TEXTS, vectorizer=vectorizer)
    assert dataset.fingerprint == small().fingerprint
    value = as_plain(dataset)
    assert value["texts_test"]["content"].dtype == np.uint8 and type(value["vectorizer"]["arrays"]["idf"]) is np.ndarray
    back = load_saved(save_dataset(dataset))
    assert (back.texts_train, back.texts_test) == (TEXTS["texts_train"], TEXTS["texts_test"])
    assert (back.vectorizer.transform(["one two"]) != vectorizer.transform(["one two"])).nnz == 0


def test_a_data_set_that_was_kept_before_it_had_texts_is_read():
    value = as_plain(small())
    assert not {"texts_train", "texts_test", "vectorizer"} & value.keys()
    back = from_plain(value)
    assert back.texts_train is back.texts_test is back.vectorizer is None


def test_texts_are_added_to_a_data_set_that_is_saved_without_them():
    fingerprint = save_dataset(small())
    save_dataset(small(**TEXTS))
    assert load_saved(fingerprint).texts_test == TEXTS["texts_test"]
    save_dataset(small())
    assert load_saved(fingerprint).texts_test == TEXTS["texts_test"]


def test_a_data_set_in_the_form_of_a_later_version_is_refused_and_left_as_it_is():
    fingerprint = save_dataset(small())
    value = store.load("datasets", fingerprint) | {"format": 2}
    with store.writing("datasets", fingerprint, replace=True, xmlcore="9") as path:
        store.write_value(path, value)
    said = (
        "The data set 'small' has version 2 of its format, written by xmlcore .* reads 1. It is newer: update xmlcore"
    )
    with pytest.raises(store.UnreadableArtifactError, match=said):
        load_saved(fingerprint)
    assert store.load("datasets", fingerprint)["format"] == 2
