"""Reading files that a user has given into a data set that is kept; and other words of its texts as features."""

import threading

from xmlcore.datasets import TextVectorizer, read_dataset, read_text_dataset, with_label_table, with_words
from xmlcore.datasets.errors import warnings_of_data
from xmlcore.datasets.readers.names import all_visible
from xmlcore.experiment.catalog import RANDOM_STATE, TEST_SIZE
from xmlcore.experiment.engine import task_files
from xmlcore.experiment.engine.task import register
from xmlcore.experiment.engine.times import Work
from xmlcore.experiment.kinds.prepare import MakesDataset
from xmlcore.models import words_by_trials
from xmlcore.parameters import REQUIRED, Parameter
from xmlcore.progress import silent

SPLIT = (TEST_SIZE, RANDOM_STATE)  # of rows without a test file
LABEL_TABLE = "label_table"  # the file of with_label_table; others are arguments of read_dataset
FILES = ("train", "test", "labels", "test_labels", "label_names", "feature_names", LABEL_TABLE)
OPTIONS = {"labels": None, "first_index": 0, "counts": "header", "leave_out": False}
# Larger numbers in a header are most likely wrong, and no page could show or train that many.
MAX_LABELS = 20_000_000
MAX_FEATURES = 200_000_000
_lock = threading.Lock()  # one reader at a time in a process, as Python records warnings of all threads together


def passed(reader: str, options: dict) -> list[Parameter]:
    """Return parameters that are passed to a function which reads files, and checks them."""
    return [Parameter(name, name, f"See ``{reader}``.", "any", default) for name, default in options.items()]


class ReadsFiles(MakesDataset):
    """Read files that a user has given into a data set, and keep it."""

    needs = ()
    doing = "Reading {dataset}"
    can_be_made_again = False
    noun = "uploaded data"  # name of the data set until it is read
    memory = 6  # bytes for a byte of a file, which may be packed

    def dataset_name(self):
        return self.noun

    def work(self):
        n_bytes = sum(file["bytes"] for file in self.params["files"].values())
        return Work(self.kind, n_bytes, self.memory * n_bytes)


@register
class Read(ReadsFiles):
    """Read files into a data set, and keep it. No inputs."""

    kind, folder = "read", "readings"

    PARAMETERS = (
        Parameter("files", "Files", "See ``task_files.described``.", "files", REQUIRED, options=FILES),
        *passed("read_dataset", OPTIONS),
        *SPLIT,
    )

    def run(self, progress=silent, files=None):
        with task_files.taken(self.key, self.params["files"]) as sources:
            arguments = {name: value for name, value in self.params.items() if name != "files"} | sources
            data, notes = read_noted(read_dataset, arguments, progress)
        return self.saved(data, progress, data.name, notes, n_labels=data.n_labels)


def read_noted(reader, arguments, progress):
    """Return the data set that a function reads, without notes, and its notes and warnings as a list."""
    table = arguments.pop(LABEL_TABLE, None)
    with _lock, warnings_of_data() as warned:
        data = reader(**arguments, name="uploaded data", max_bytes=task_files.MAX_TEXT, progress=progress)
        data = data if table is None else with_label_table(data, table)
    for noun, count, most in (("labels", data.n_labels, MAX_LABELS), ("features", data.n_features, MAX_FEATURES)):
        if count > most:
            raise ValueError(
                f"the files have {count:,} {noun}; the dashboard takes up to {most:,}. "
                "Is the header right? Larger data can be used from a notebook."
            )
    return data, [*data.notes, *warned] + _show_names(data)


def _show_names(data) -> list[str]:
    notes = []
    for field in ("feature_names", "label_names"):
        names, changed = all_visible(getattr(data, field))
        if changed:
            object.__setattr__(data, field, names)
            have = field.removesuffix("_names") + (" name has" if changed == 1 else " names have")
            notes.append(f"{changed:,} {have} control characters, such as line breaks: these are shown as blanks or �.")
    return notes


TEXT_FILES = ("train", "test", "names", "vectors", "test_vectors", LABEL_TABLE)  # arguments, and the table
TEXT_OPTIONS = {
    "text": "text", "labels": "labels", "format": "auto", "separator": "auto", "encoding": "utf-8", "header": "auto"
}  # fmt: skip
VECTORIZER = Parameter("vectorizer", "Words", "Parameters of a ``TextVectorizer``.", "dict", {})


@register
class ReadTexts(ReadsFiles):
    """Read documents and their labels into a data set, and keep it. No inputs."""

    kind, folder, noun = "read_texts", "text-readings", "uploaded texts"
    memory = 8

    PARAMETERS = (
        Parameter("files", "Files", "See ``task_files.described``.", "files", REQUIRED, options=TEXT_FILES),
        VECTORIZER,
        *passed("read_text_dataset", TEXT_OPTIONS),
        *SPLIT,
    )

    def complete(self, params):
        return with_vectorizer(params)

    def run(self, progress=silent, files=None):
        with task_files.taken(self.key, self.params["files"]) as sources:
            options = {name: value for name, value in self.params.items() if name != "files"}
            options["vectorizer"] = words_by_trials(vectorizer_of(self.params["vectorizer"]))
            data, notes = read_noted(read_text_dataset, options | sources, progress)
        return self.saved(data, progress, data.name, [*notes, note_on_words(data)], n_labels=data.n_labels)


def note_on_words(data) -> str:
    """Return a sentence on how many features words became."""
    words, of_row = "Words and vectors" if data.vectorizer.widths_beside_ else "Words", data.X_train.nnz / data.n_train
    return f"{words} became {data.n_features:,} features; a training row has {of_row:.1f} of them on average."


def with_vectorizer(params: dict) -> dict:
    """Return parameters of a task with all parameters of the vectoriser, checked."""
    vectorizer = vectorizer_of(params["vectorizer"])
    vectorizer.check()
    return params | {"vectorizer": vectorizer.get_params()}


def vectorizer_of(params: dict):
    """Return the vectoriser with parameters that may come from JSON, which has lists for tuples."""
    return TextVectorizer(**{name: tuple(v) if isinstance(v, list) else v for name, v in params.items()})


@register
class OtherWords(MakesDataset):
    """Make the features of a data set anew from its texts, and keep the data set that has them. Inputs: ``dataset``."""

    kind, folder, needs = "words", "words", ("dataset",)
    doing = "Making words of {dataset} features"
    on_cluster = False  # it keeps a data set besides its result

    PARAMETERS = (VECTORIZER,)

    def complete(self, params):
        return with_vectorizer(params)

    def work(self):
        return Work(self.kind, self.sizes["bytes"], 6 * self.sizes["bytes"])

    def run(self, progress=silent, files=None):
        vectorizer = words_by_trials(vectorizer_of(self.params["vectorizer"]))
        made = with_words(self.dataset(progress), vectorizer, progress=progress)
        return self.saved(made, progress, "data with other words", [made.notes[-1], note_on_words(made)])
