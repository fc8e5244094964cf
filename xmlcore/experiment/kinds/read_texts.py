"""Reading files of documents that a user has given into a data set that is kept: its features are words."""

import time

from xmlcore.datasets import TextVectorizer, read_text_dataset, save_dataset
from xmlcore.experiment.engine import given
from xmlcore.experiment.engine.task import register
from xmlcore.experiment.kinds.read import SPLIT, ReadsFiles, read_noted
from xmlcore.parameters import REQUIRED, Parameter
from xmlcore.progress import silent

FILES = ("train", "test", "names")  # arguments of read_text_dataset
OPTIONS = {
    "text": "text",
    "labels": "labels",
    "format": "auto",
    "separator": "auto",
    "encoding": "utf-8",
    "header": "auto",
}
VECTORIZER = Parameter("vectorizer", "Words", "Parameters of a ``TextVectorizer``.", "dict", {})
READ_BYTE = 2.5e-7  # seconds to read a byte of a file, which may be packed, and to turn its words into features


@register
class ReadTexts(ReadsFiles):
    """Read documents and their labels into a data set, and keep it. No inputs."""

    kind, folder, what = "read_texts", "text-readings", "uploaded texts"
    read_byte, memory = READ_BYTE, 8

    PARAMETERS = (
        Parameter("files", "Files", "See ``given.described``.", "files", REQUIRED, options=FILES),
        VECTORIZER,
        *(Parameter(name, name, "See ``read_text_dataset``.", "any", default) for name, default in OPTIONS.items()),
        *SPLIT,
    )

    def complete(self, params):
        return with_vectorizer(params)

    def run(self, progress=silent, files=None):
        began = []

        def watched(phase, fraction, detail=""):
            if phase == "Reading words" and not began:
                began.append(time.perf_counter())
            progress(phase, fraction, detail)

        with given.taken(self.key, self.params["files"]) as sources:
            options = {name: value for name, value in self.params.items() if name != "files"}
            options["vectorizer"] = vectorizer_of(self.params["vectorizer"])
            data, notes = read_noted(read_text_dataset, options | sources, watched)
        notes.append(note_on_words(data, time.perf_counter() - began[0]))
        progress("Saving", 0.0)
        return {"dataset": save_dataset(data), "n_labels": data.n_labels, "notes": notes}


def note_on_words(data, seconds: float) -> str:
    """Return a sentence on how many features words became, and in which time."""
    return (
        f"Words became {data.n_features:,} features in {seconds:.2g} s; a training row has "
        f"{data.X_train.nnz / data.n_train:.1f} of them on average."
    )


def with_vectorizer(params: dict) -> dict:
    """Return parameters of a task with all parameters of the vectoriser, checked."""
    vectorizer = vectorizer_of(params["vectorizer"])
    vectorizer.check()
    return params | {"vectorizer": vectorizer.get_params()}


def vectorizer_of(params: dict):
    """Return the vectoriser with parameters that may come from JSON, which has lists for tuples."""
    return TextVectorizer(**{name: tuple(v) if isinstance(v, list) else v for name, v in params.items()})
