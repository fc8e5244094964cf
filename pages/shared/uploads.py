"""Uploaded files become a saved data set, or a message that says what is wrong with them."""

import threading
import warnings

from pages.shared import text
from xmlcore import datasets

MAX_TEXT = 4 << 30  # bytes of a file once unpacked: 1 GB of gzip can hold more than any machine has
# A header may promise what no page can show or train: a wrong one is more likely than that many labels.
MAX_LABELS = 20_000_000
MAX_FEATURES = 200_000_000
_ENDINGS = (".gz", ".bz2", ".xz", ".zip", ".txt", ".svm", ".libsvm", ".dat")
_lock = threading.Lock()  # Python records warnings per process, not per thread: one reader at a time


def read(train, test, name: str, **options) -> tuple[str, list[str]]:
    """Read and save. Returns the fingerprint and what is worth knowing about the files.

    Raises what ``read_dataset`` raises.
    """
    with _lock, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", datasets.DatasetWarning)
        data = datasets.read_dataset(train, test, name=name, max_bytes=MAX_TEXT, **options)
        for what, count, most in (("labels", data.n_labels, MAX_LABELS), ("features", data.n_features, MAX_FEATURES)):
            if count > most:
                raise ValueError(
                    f"the files have {count:,} {what}; the dashboard takes up to {most:,}. "
                    "Is the header right? Larger data can be used from a notebook."
                )
        fingerprint = datasets.save_dataset(data)
    return fingerprint, [str(w.message) for w in caught if issubclass(w.category, datasets.DatasetWarning)]


def explain(error: Exception) -> str:
    """What went wrong, where, and what to do, as Markdown."""
    if isinstance(error, MemoryError):
        return "This data needs more memory than there is. Try a part of its rows."
    if not isinstance(error, datasets.DatasetFormatError):
        return f"The files could not be read: {text.plain(error)}"
    place = text.plain(error.source)
    if error.line is not None:
        place += f", line {error.line:,}"
    if error.column is not None:
        place += f", column {error.column:,}"
    said = f"**{place}**: {text.plain(error.found)}."
    return f"{said}  \n{text.plain(error.remedy)}" if error.remedy else said


def free_name(wanted: str, taken: list[str]) -> str:
    """Return ``wanted``, with a number when the workspace has another data set of that name."""
    found, number = wanted, 1
    while found in taken:
        number += 1
        found = f"{wanted} ({number})"
    return found


def stem(file_name: str) -> str:
    """``bibtex.txt.gz`` -> ``bibtex``."""
    name, cut = file_name, True
    while cut:
        cut = next((ending for ending in _ENDINGS if name.lower().endswith(ending) and len(name) > len(ending)), None)
        name = name[: -len(cut)] if cut else name
    return name[:80]
