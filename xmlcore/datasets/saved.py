"""Save data sets in the cache folder, so that worker processes and later sessions can load them."""

import sys
import weakref
from typing import Any

import scipy.sparse as sp

from xmlcore import __version__, store
from xmlcore.arrays import packed, unpacked
from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.texts.vectorizer import TextVectorizer
from xmlcore.validation import check_is
from xmlcore.wording import refusal

KIND = "datasets"
FORMAT = 2  # version of the dict that as_plain returns; docs/versions.md says what happens when it changes
MATRICES = ("X_train", "Y_train", "X_test", "Y_test")
COUNTS = ("n_train", "n_test", "n_features", "n_labels")
TEXTS = ("texts_train", "texts_test")
OF_LABELS = ("label_parents", "label_aliases")  # which few data sets have
OTHERS = ("name", "feature_names", "label_names", "row_names_train", "row_names_test", "notes", "content_hash")
# Those that load_saved has returned, by cache folder and fingerprint, while they are used.
_in_use = weakref.WeakValueDictionary()


def save_dataset(dataset: Dataset, made_by: dict[str, Any] | None = None) -> str:
    """Save a data set for :func:`load_saved`, unless it is saved already, and return its :attr:`Dataset.fingerprint`.

    A saved file found to be damaged is replaced.

    Parameters
    ----------
    dataset : Dataset
    made_by : dict, optional
        How it can be made again, in types that JSON has: ``inputs`` has the fingerprint of what it is made from.
        Without it, the data set is taken for one that cannot be made again: it is removed only when that is asked for.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"a Dataset is needed, not {type(dataset).__name__}")
    fingerprint = dataset.fingerprint
    replaced = store.damaged(KIND, fingerprint)
    if replaced or not store.exists(KIND, fingerprint):
        facts = {"name": dataset.name, "xmlcore": __version__} | {count: getattr(dataset, count) for count in COUNTS}
        facts |= {"train_values": dataset.X_train.nnz, "test_values": dataset.X_test.nnz}
        facts |= {"train_labels": dataset.Y_train.nnz}
        if dataset.texts_test is not None:  # bytes in memory while they are unpacked, beside those of the file
            texts = [text for name in TEXTS for text in getattr(dataset, name) or ()]
            facts["text_memory"] = sum(map(sys.getsizeof, texts)) + sum(map(len, texts))
        facts |= {"again": made_by is not None} | (made_by or {})
        with store.writing(KIND, fingerprint, replace=replaced, **facts) as path:
            store.write_value(path, as_plain(dataset))
    return fingerprint


def load_saved(fingerprint: str) -> Dataset:
    """Load a data set that :func:`save_dataset` saved; raise StoreError if there is none that can be read."""
    made = from_plain(store.load(KIND, fingerprint), fingerprint)
    _in_use[str(store.cache_root()), fingerprint] = made
    return made


def in_use_or_saved(fingerprint: str) -> Dataset:
    """Return a saved data set as :func:`load_saved` does, but do not read it again while this process uses it."""
    check_is(fingerprint, str, "fingerprint", "the text that save_dataset() returned")
    found = _in_use.get((str(store.cache_root()), fingerprint))
    return load_saved(fingerprint) if found is None else found


def as_plain(dataset: Dataset) -> dict:
    value = {name: getattr(dataset, name) for name in OTHERS} | {"format": FORMAT, "notes": list(dataset.notes)}
    for name in MATRICES:
        matrix = getattr(dataset, name)
        parts = {"indptr": matrix.indptr, "indices": matrix.indices, "data": matrix.data}
        value[name] = parts | {"shape": list(matrix.shape)}
    for name in TEXTS:
        if getattr(dataset, name) is not None:
            value[name] = dict(zip(("content", "ends"), packed(getattr(dataset, name))))
    value |= {name: of for name in (*OF_LABELS, "columns") if (of := getattr(dataset, name)) is not None}
    if dataset.vectorizer is not None:
        value["vectorizer"] = dict(zip(("settings", "arrays"), dataset.vectorizer.to_plain()))
    return value


def from_plain(value: dict, fingerprint: str | None = None) -> Dataset:
    if value.get("format") != FORMAT:
        written_by = None if fingerprint is None else store.info(KIND, fingerprint).get("xmlcore")
        title = f"The data set {value.get('name')!r:.100}"
        raise store.UnreadableArtifactError(refusal(title, value.get("format"), FORMAT, written_by))
    state = {name: value[name] for name in OTHERS}
    state |= {"notes": tuple(value["notes"]), "columns": value.get("columns")}
    parents, aliases = (value.get(name) for name in OF_LABELS)
    parents = None if parents is None else {name: tuple(above) for name, above in parents.items()}
    state |= dict(zip(OF_LABELS, (parents, aliases)))
    for name in TEXTS:
        parts = value.get(name)
        state[name] = None if parts is None else unpacked(parts["content"], parts["ends"])
    saved = value.get("vectorizer")
    state["vectorizer"] = None if saved is None else TextVectorizer.from_plain(saved["settings"], saved["arrays"])
    for name in MATRICES:
        parts = value[name]
        matrix = sp.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
        matrix.has_canonical_format = True
        state[name] = matrix
    if fingerprint is not None:
        state["fingerprint"] = fingerprint
    made = Dataset.__new__(Dataset)
    made.__setstate__(state)
    return made
