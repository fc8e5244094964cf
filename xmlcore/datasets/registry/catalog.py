"""The catalog of data sets that the program can make or download."""

from importlib import import_module

from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.registry.entries import CatalogEntry, published
from xmlcore.datasets.saved import save_dataset
from xmlcore.progress import ProgressLike, silent, to_progress

_ENTRIES = {
    "api-docs": (
        CatalogEntry(
            "api-docs",
            "Documentation of Python functions: a row per public function, class or method, the words of its prose as "
            "features, the functions that its See Also names, and itself if others name it, as labels. About 3,200 "
            "rows, 3,400 words and 2,600 labels with a long tail.",
            "Made on this machine from the installed numpy, scipy, scikit-learn and pandas, once; "
            "nothing is downloaded.",
            row="a function of a Python library",
            label="a function that its See Also names, or the function itself",
            prompt="Type what a function should do",
            example="read a csv file into a table",
        ),
        "xmlcore.datasets.registry.api_docs",
    )
} | {entry.name: (entry, "xmlcore.datasets.registry.downloaded") for entry in published()}


def catalog() -> list[CatalogEntry]:
    """Return the data sets that :func:`load` knows."""
    return [entry for entry, _ in _ENTRIES.values()]


def load(name: str, progress: ProgressLike | None = None) -> Dataset:
    """Return a data set of the catalog: made or downloaded the first time, and read from the cache later.

    Parameters
    ----------
    name : str
        A name of :func:`catalog`.
    progress : Progress, optional
        See :class:`xmlcore.progress.Progress`; an exception from it stops the work.

    Raises
    ------
    DownloadError
        The file of a published data set cannot be downloaded. A note of the error says how to get it by hand.
    DatasetFormatError
        The file of a published data set cannot be read.
    """
    found, module = _entry(name)
    progress = to_progress(progress or silent)
    load_it = import_module(module).load
    return load_it(found, progress) if found.published else load_it(progress)


def entry(name: str) -> CatalogEntry:
    return _entry(name)[0]


def made_from(name: str) -> dict:
    """Return what decides the content of a data set of the catalog, such as versions of libraries; see :func:`load`."""
    return getattr(import_module(_entry(name)[1]), "made_from", dict)()


def _entry(name):
    if name not in _ENTRIES:
        known = ", ".join(map(repr, _ENTRIES))
        raise ValueError(f"there is no data set {name!r:.200} in the catalog: it has {known}")
    return _ENTRIES[name]


def prepare(name: str, progress: ProgressLike = silent) -> str:
    """Load a data set of the catalog, save it for :func:`load_saved`, and return its fingerprint."""
    progress = to_progress(progress)
    return save_dataset(load(name, progress), made_by={"made_by": "prepare", "inputs": {}})
