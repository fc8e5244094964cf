"""Data sets kept under the cache folder, so that worker processes and later sessions find them."""

import scipy.sparse as sp

from xmlcore import store
from xmlcore.datasets.dataset import Dataset

KIND = "datasets"
FORMAT = 1  # of the dict made by as_plain
MATRICES = ("X_train", "Y_train", "X_test", "Y_test")
COUNTS = ("n_train", "n_test", "n_features", "n_labels")
OTHERS = ("name", "feature_names", "label_names", "row_names_train", "row_names_test", "notes")


def save_dataset(dataset: Dataset) -> str:
    """Keep a data set for :func:`load_saved`, unless it is kept already.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    str
        Its fingerprint. The first data set kept with this content decides ``name``, ``notes`` and row names.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"a Dataset is needed, not {type(dataset).__name__}")
    fingerprint = dataset.fingerprint
    if not store.exists(KIND, fingerprint):
        store.save(KIND, fingerprint, as_plain(dataset), **_facts(dataset))
    return fingerprint


def load_saved(fingerprint: str) -> Dataset:
    """Read a data set that :func:`save_dataset` kept.

    A data set that an earlier version kept as an instance of :class:`Dataset` is kept as plain values from then on.

    Parameters
    ----------
    fingerprint : str

    Returns
    -------
    Dataset

    Raises
    ------
    xmlcore.store.StoreError
        A ``KeyError``: nothing is kept under this fingerprint, or it was damaged and has been removed.
    ValueError
        Not a fingerprint.
    """
    value = store.load(KIND, fingerprint)
    if isinstance(value, dict):
        return from_plain(value, fingerprint)
    store.rewrite(KIND, fingerprint, as_plain(value))
    return value


def as_plain(dataset: Dataset) -> dict:
    """Return a data set as numbers, text, arrays, and lists and dicts of these, for :func:`from_plain`."""
    value = {name: getattr(dataset, name) for name in OTHERS} | {"format": FORMAT, "notes": list(dataset.notes)}
    for name in MATRICES:
        matrix = getattr(dataset, name)
        parts = {"indptr": matrix.indptr, "indices": matrix.indices, "data": matrix.data}
        value[name] = parts | {"shape": list(matrix.shape)}
    return value


def from_plain(value: dict, fingerprint: str | None = None) -> Dataset:
    """Return the data set that :func:`as_plain` was given.

    Parameters
    ----------
    value : dict
        Not checked again: the data set was checked when it was made.
    fingerprint : str, optional
        Of the data set, where it is known: saves computing it.
    """
    state = {name: value[name] for name in OTHERS} | {"notes": tuple(value["notes"])}
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


def _facts(dataset) -> dict:
    return {"name": dataset.name} | {count: getattr(dataset, count) for count in COUNTS}
