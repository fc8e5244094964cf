"""Data sets are saved by content, as plain values, and loaded as they were."""

from dataclasses import fields, replace

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import store
from xmlcore.datasets import Dataset, in_use_or_saved, load_saved, save_dataset
from xmlcore.datasets.saved import FORMAT, MATRICES, as_plain, from_plain
from xmlcore.datasets.texts import TextVectorizer


def small(**changes):
    given = {"name": "small", "X_train": [[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]], "Y_train": [[0, 1], []],
             "X_test": [[0.0, 4.0, 0.0]], "Y_test": [[1]]}  # fmt: skip
    return Dataset(**given | changes)


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


def test_a_data_set_in_use_is_not_read_again(monkeypatch):
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
    assert replace(back).fingerprint == dataset.fingerprint  # computed again from what was kept


def words(lowercase):
    return TextVectorizer(min_df=1, lowercase=lowercase).fit(["one two ten"])


FULL = {
    "name": "a", "feature_names": ["x", "y", "z"], "label_names": ["x", "y"], "row_names_train": ["x", "y"],
    "row_names_test": ["a"], "notes": ("a",), "texts_train": ["x", "Ann"], "texts_test": ["Ann"],
    "vectorizer": words(True), "label_parents": {"x": "top"}, "label_aliases": {"ex": "x"},
    "columns": {"language": ["en", "de", None]},
}  # fmt: skip
NOTHING = {"name": "", "notes": ()}  # in the place of None


@pytest.mark.parametrize("field", FULL)
def test_data_sets_that_differ_in_anything_are_kept_apart(field):
    assert {*FULL, *MATRICES} == {known.name for known in fields(Dataset)}
    own = {"name": "b", "vectorizer": words(False), "label_parents": {"y": "top"}, "label_aliases": {"ex": "y"}}
    own["columns"] = {"language": ["en", None, "de"]}
    other = own.get(field) or [*FULL[field][:-1], "b"]
    named = field != "label_names"  # None, and parents of labels need names
    full = {name: value for name, value in FULL.items() if named or name not in ("label_parents", "label_aliases")}
    every = [small(**full | {field: value}) for value in (FULL[field], other, NOTHING.get(field))]
    keys = [save_dataset(one) for one in every]
    assert len({*keys}) == 3
    for one, key in zip(every, keys):
        assert str(as_plain(load_saved(key)).get(field)) == str(as_plain(one).get(field))


def test_the_plain_form_has_no_instance_of_a_class_of_ours():
    def classes(value):
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        return {type(value), *(kind for part in parts for kind in classes(part))}

    plain = as_plain(small(label_names=["a", "b"], notes=("one",)))
    assert classes(plain) <= {dict, list, str, int, np.ndarray, type(None)}
    assert from_plain(plain).content_hash == small(label_names=["a", "b"]).content_hash


def test_a_known_fingerprint_is_taken_over_and_not_computed():
    assert from_plain(as_plain(small()), "ab" * 16).fingerprint == "ab" * 16


TEXTS = {"texts_train": ["one two \ud800", ""], "texts_test": ["zwei\n東京"]}


def test_texts_and_vectoriser_are_kept_as_plain_values():
    vectorizer = TextVectorizer(min_df=1).fit(["one two three"])
    dataset = small(**TEXTS, vectorizer=vectorizer)
    value = as_plain(dataset)
    assert value["texts_test"]["content"].dtype == np.uint8 and type(value["vectorizer"]["arrays"]["idf"]) is np.ndarray
    back = load_saved(save_dataset(dataset))
    assert (back.texts_train, back.texts_test) == (TEXTS["texts_train"], TEXTS["texts_test"])
    assert (back.vectorizer.transform(["one two"]) != vectorizer.transform(["one two"])).nnz == 0


@pytest.mark.parametrize(("form", "remedy"), [(1, "Make it again"), (FORMAT + 1, "It is newer: update xmlcore")])
def test_a_data_set_in_another_form_is_refused_and_stays(form, remedy):
    fingerprint = save_dataset(small())
    value = store.load("datasets", fingerprint) | {"format": form}
    with store.writing("datasets", fingerprint, replace=True, xmlcore="9") as path:
        store.write_value(path, value)
    said = f"The data set 'small' has version {form} of its format, written by xmlcore .* reads {FORMAT}. {remedy}"
    with pytest.raises(store.UnreadableArtifactError, match=said):
        load_saved(fingerprint)
    assert store.load("datasets", fingerprint)["format"] == form
