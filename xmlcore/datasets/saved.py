"""Data sets kept under the cache folder, so that worker processes and later sessions find them."""

from xmlcore.datasets.dataset import Dataset

KIND = "datasets"


def save_dataset(dataset: Dataset) -> str:
    """Keep a data set for :func:`load_saved`; a second time costs nothing.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    str
        Its fingerprint. The first data set kept with this content decides ``name``, ``notes`` and row names.
    """
    from xmlcore import store

    if not isinstance(dataset, Dataset):
        raise TypeError(f"a Dataset is needed, not {type(dataset).__name__}")
    fingerprint = dataset.fingerprint
    if not store.exists(KIND, fingerprint):
        facts = ("n_train", "n_test", "n_features", "n_labels")
        store.save(KIND, fingerprint, dataset, name=dataset.name, **{fact: getattr(dataset, fact) for fact in facts})
    return fingerprint


def load_saved(fingerprint: str) -> Dataset:
    """Read back what :func:`save_dataset` kept.

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
    from xmlcore import store

    return store.load(KIND, fingerprint)
