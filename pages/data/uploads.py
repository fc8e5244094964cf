"""Read uploaded files into a saved data set, or say what is wrong with them."""

import copy
import re
import threading
import warnings

from pages.shared import format
from xmlcore import datasets
from xmlcore.datasets.sources import telling_name

MAX_TEXT = 4 << 30  # most bytes of an unpacked file: 1 GB of gzip can unpack to more than any machine's memory
# Larger numbers in a header are most likely wrong, and no page could show or train that many.
MAX_LABELS = 20_000_000
MAX_FEATURES = 200_000_000
_lock = threading.Lock()  # one reader at a time, as Python records warnings of all threads together


def read(train, test, name: str, **options) -> tuple[str, list[str], str]:
    """Read and save a data set; return its fingerprint, notes on its files, and a name.

    A saved data set is found by its content, so another session that uploads the same content gets the same data set:
    neither the names of files nor ``name`` are saved. The name returned is ``name``, or if that is empty, the name of
    the training file, or if that is only "train" or "data", the number of labels.

    Raises what ``read_dataset`` raises.
    """
    with _lock, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", datasets.DatasetWarning)
        data = datasets.read_dataset(train, test, name="uploaded data", max_bytes=MAX_TEXT, **options)
        for what, count, most in (("labels", data.n_labels, MAX_LABELS), ("features", data.n_features, MAX_FEATURES)):
            if count > most:
                raise ValueError(
                    f"the files have {count:,} {what}; the dashboard takes up to {most:,}. "
                    "Is the header right? Larger data can be used from a notebook."
                )
        notes = [*data.notes]
        data = copy.copy(data)  # a shallow copy: the matrices are shared
        object.__setattr__(data, "notes", ())  # the class is frozen; this copy is ours
        fingerprint = datasets.save_dataset(data)
    notes += [on_page(str(w.message)) for w in caught if issubclass(w.category, datasets.DatasetWarning)]
    return fingerprint, notes, name.strip() or telling_name(train.name) or _by_size(data)


def _by_size(data) -> str:
    """Return a name for a data set whose files have no telling name."""
    return f"upload of {format.count(data.n_labels, 'label')}"


def explain(error: Exception) -> str:
    """Return what went wrong, where, and what to do, as Markdown in the words of the page's controls."""
    if isinstance(error, MemoryError):
        return "This data needs more memory than there is. Try a part of its rows."
    if not isinstance(error, datasets.DatasetFormatError):
        return f"The files could not be read: {format.plain(on_page(str(error)))}"
    place = format.plain(error.source)
    if error.line is not None:
        place += f", line {error.line:,}"
    if error.column is not None:
        place += f", column {error.column:,}"
    text = f"**{place}**: {format.plain(on_page(error.found))}."
    return f"{text}  \n{format.plain(on_page(error.remedy))}" if error.remedy else text


# Messages of xmlcore name arguments of functions; the upload form has controls instead.
_ON_PAGE = (
    (r"\bPass first_index=([01])", r"Choose \1 at “Ids start at”"),
    (r"\bpass first_index=([01])", r"choose \1 at “Ids start at”"),
    (r"\bbut with first_index=1 ids start at 1", "but “Ids start at” is 1"),
    (
        r"If that is right( and there is memory for it)?, pass a larger max_bytes\.",
        "The dashboard takes no more. Larger data can be used from a notebook.",
    ),
    (r'(To take the numbers from the data), pass counts="data"\.', r"\1, tick “Take the numbers from the data”."),
    (r"Give the file that holds the labels as labels=\.\.\.", "Choose the file that holds the labels at “Label file”."),
    (r"If the labels are in a file of their own, give that as labels=\.\.\.", "Labels may be in a “Label file”."),
    (r"but labels= is given too", "but a label file is chosen too"),
    (r"but labels=.* names columns", "but “Labels are” names columns"),
    (r"Give the ARFF file, and this one as labels=\.\.\.", "Choose the ARFF file, and this one at “Label file”."),
    (r"Leave labels= out\.", "Clear “Label file”."),
    (r"Leave labels= out, or give the file with the labels.*", "Choose the files again."),
    (r"labels= is the file with the labels of the training rows.*", "“Label file of the test rows” is missing"),
    (r"Say which columns are labels: labels=.*", "Say at “Labels are” which columns are labels."),
    (
        r"Pass labels=: the Mulan XML file[^.]*\.",
        "Say it at “Labels are”, or choose the Mulan XML file at “Label file”.",
    ),
    (r": if these are the labels, pass labels=-?\d+", ""),
    (r"labels=-(\d+)(?=,)", r"the last \1 are labels"),
    (r"labels=(\d+)(?=,)", r"the first \1 are labels"),
    (r" ?\(labels=-?\d+\)", ""),
    (r" If the column lists labels, name it: labels=\.\.\.", " If the column lists labels, choose it at “Labels are”."),
    (r"Give the number of labels, such as labels=-3 for the last three\.", "Choose the last or the first columns."),
    (r"Read your file with a tool .*", "See “Formats, and a sample file”."),
    (r", or pass leave_out=True\.", "."),
    (r"Give names separately, as feature_names\.", "Give names in a file of their own, at “Feature names”."),
    (
        r"If it is a row with three labels, pass format=\"svmlight\"\.",
        "If it is a row with three labels, put a header above it.",
    ),
    (r"test_size=(0\.[0-9]+) leaves", lambda found: f"a test share of {100 * float(found[1]):.0f} % leaves"),
    (
        r"for the test: both need at least one",
        "for the test, and both need at least one. Choose another “Test share”, or give more rows or a test file.",
    ),
)


def on_page(message: str) -> str:
    """Return a message of xmlcore in the words of the upload form."""
    for pattern, instead in _ON_PAGE:
        message = re.sub(pattern, instead, message)
    return message
