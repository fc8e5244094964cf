"""Reading files that a user has given into a data set that is kept."""

import threading
from dataclasses import dataclass

from xmlcore.datasets import read_dataset, save_dataset
from xmlcore.datasets.errors import warnings_of_data
from xmlcore.datasets.readers.names import all_visible
from xmlcore.experiment.engine import given
from xmlcore.experiment.engine.task import Estimate, register
from xmlcore.experiment.engine.task_parameters import RANDOM_STATE, TEST_SIZE
from xmlcore.experiment.kinds.prepare import MakesDataset
from xmlcore.parameters import REQUIRED, Parameter
from xmlcore.progress import silent

SPLIT = (TEST_SIZE, RANDOM_STATE)  # of rows without a test file
FILES = ("train", "test", "labels", "test_labels", "label_names", "feature_names")  # arguments of read_dataset
OPTIONS = {
    "labels": None,
    "first_index": 0,
    "counts": "header",
    "leave_out": False,
}
# Larger numbers in a header are most likely wrong, and no page could show or train that many.
MAX_LABELS = 20_000_000
MAX_FEATURES = 200_000_000
START, READ_BYTE = 0.3, 5e-8  # seconds to begin, and to read and keep a byte of a file, which may be packed
_lock = threading.Lock()  # one reader at a time in a process, as Python records warnings of all threads together


@dataclass(frozen=True)
class ReadFiles:
    """A data set that was read from files and is kept."""

    dataset: str
    n_labels: int
    notes: list  # how the files were read. They name the files as :data:`xmlcore.experiment.engine.given.NAME` does.


class ReadsFiles(MakesDataset):
    """Read files that a user has given into a data set, and keep it."""

    result, needs = ReadFiles, ()
    doing = "Reading {dataset}"
    can_be_made_again = False
    what = "uploaded data"  # name of the data set until it is read
    read_byte, memory = 0.0, 0  # seconds to read a byte of a file, and bytes in memory for it

    def dataset_name(self):
        return self.what

    def estimate(self) -> Estimate:
        n_bytes = sum(file["bytes"] for file in self.params["files"].values())
        return Estimate(START + self.read_byte * n_bytes, self.memory * n_bytes)


@register
class Read(ReadsFiles):
    """Read files into a data set, and keep it. No inputs.

    Files and options have the names of the arguments of :func:`xmlcore.datasets.read_dataset`. The files are given to
    the task by :func:`xmlcore.experiment.engine.given.give` and removed when they have been read. Their names are not
    kept.
    """

    kind, folder, read_byte, memory = "read", "readings", READ_BYTE, 6

    PARAMETERS = (
        Parameter("files", "Files", "See ``given.described``.", "files", REQUIRED, options=FILES),
        *(Parameter(name, name, "See ``read_dataset``.", "any", default) for name, default in OPTIONS.items()),
        *SPLIT,
    )

    def run(self, progress=silent, files=None):
        with given.taken(self.key, self.params["files"]) as sources:
            arguments = {name: value for name, value in self.params.items() if name != "files"} | sources
            data, notes = read_noted(read_dataset, arguments, progress)
        progress("Saving", 0.0)
        return {"dataset": save_dataset(data), "n_labels": data.n_labels, "notes": notes}


def read_noted(reader, arguments, progress):
    """Return the data set that a function reads, without notes, and its notes and warnings as a list."""
    with _lock, warnings_of_data() as warned:
        data = reader(**arguments, name="uploaded data", max_bytes=given.MAX_TEXT, progress=progress)
    for noun, count, most in (("labels", data.n_labels, MAX_LABELS), ("features", data.n_features, MAX_FEATURES)):
        if count > most:
            raise ValueError(
                f"the files have {count:,} {noun}; the dashboard takes up to {most:,}. "
                "Is the header right? Larger data can be used from a notebook."
            )
    notes = [*data.notes, *warned]
    object.__setattr__(data, "notes", ())  # the class is frozen; this data set is ours
    return data, notes + _show_names(data)


def _show_names(data) -> list[str]:
    """Replace characters in names that cannot be seen, and return notes that say so."""
    notes = []
    for field in ("feature_names", "label_names"):
        names, changed = all_visible(getattr(data, field))
        if changed:
            object.__setattr__(data, field, names)
            have = field.removesuffix("_names") + (" name has" if changed == 1 else " names have")
            notes.append(f"{changed:,} {have} control characters, such as line breaks: these are shown as blanks or �.")
    return notes
