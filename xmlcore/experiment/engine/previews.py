"""Previews of uploaded files, made in other processes: the server parses no file, so none can stop it."""

import contextlib
import functools
import io
import os
import tempfile
import time
from concurrent.futures import BrokenExecutor, wait
from pathlib import Path
from typing import NamedTuple

from xmlcore.datasets import DatasetFormatError, TextVectorizer
from xmlcore.datasets.errors import warnings_of_data
from xmlcore.datasets.texts import words
from xmlcore.jobs.pool import SHORT_NICENESS, WorkerPool
from xmlcore.system import limited, own_temporary_folder
from xmlcore.wording import size

PROCESSES = 2
SECONDS = 20.0  # after which a preview is given up
MEMORY = 2 << 30  # bytes that previews may take beside what their process had at first
IDLE_SECONDS = 300.0  # after which an idle process ends
_server = os.getpid()


def preview(function, file, **options) -> tuple:
    """Return the result of a function of xmlcore for a file, and its warnings; options may have further files."""
    with tempfile.TemporaryDirectory(dir=own_temporary_folder()) as folder:
        contents = {name: value for name, value in {"": file, **options}.items() if hasattr(value, "getbuffer")}
        for i, value in enumerate(contents.values()):
            Path(folder, str(i)).write_bytes(value.getbuffer())
        files = {name: (os.path.join(folder, str(i)), value.name) for i, (name, value) in enumerate(contents.items())}
        others = {name: value for name, value in options.items() if name not in files}
        return call(_read, function, files, others, name=file.name)


def call(function, *values, name: str):
    """Return ``function(*values)``; ``name`` is the file's name for users. Raises as :func:`preview`."""
    with tempfile.TemporaryDirectory(dir=own_temporary_folder()) as folder:
        begun, end = Path(folder, "begun"), None
        future = _pool().submit(_bounded, _server, begun, function, values)
        while wait([future], 0.1).not_done:  # the time counts from when a process has begun
            if end is None and begun.exists():
                end = time.monotonic() + SECONDS
            if end is not None and time.monotonic() > end:
                _pool().kill(future)
                why = f"it takes more than {SECONDS:.0f} seconds to read"
                raise DatasetFormatError(name, why, "If it is right, read it in a notebook.")
    try:
        return future.result()
    except MemoryError:
        raise DatasetFormatError(name, f"it takes more than {size(MEMORY)} of memory to read") from None
    except BrokenExecutor:
        raise DatasetFormatError(name, "the process that read it ended", "Is there enough memory?") from None


class VectorizerTrial(NamedTuple):
    """Result of the settings of a vectoriser on some texts."""

    n_features: int
    n_values: int  # that are not 0
    n_empty: int  # texts without features
    analyzer: str  # "words" or "letters"
    warned: list[str]


def try_vectorizer(params: dict, texts: list) -> VectorizerTrial:
    """Return the result of a vectoriser on texts; raises as ``fit_transform`` does. Its pattern is the user's."""
    vectorizer = TextVectorizer(**params)
    with warnings_of_data() as warned:
        X = vectorizer.fit_transform(texts)
    n_empty = int((X.indptr[1:] == X.indptr[:-1]).sum())
    n_features, analyzer = int((vectorizer.idf_ > 0).sum()), vectorizer.analyzer_
    return VectorizerTrial(n_features, X.nnz, n_empty, analyzer, warned)


def _bounded(server, begun, function, values):
    begun.touch()
    if os.getpid() != server:
        words.limit_search(words.SECONDS)
        with limited(MEMORY):
            return function(*values)
    return function(*values)


def _read(function, files, options):
    with contextlib.ExitStack() as stack, warnings_of_data() as warned:
        opened = {name: stack.enter_context(_opened(*file)) for name, file in files.items()}
        found = function(opened.pop(""), **opened, **options)
    return found, warned


def _opened(path, name):
    file = io.FileIO(path)
    file.name = name  # which messages name
    return io.BufferedReader(file)


@functools.cache
def _pool() -> WorkerPool:
    return WorkerPool(PROCESSES, idle_seconds=IDLE_SECONDS, niceness=SHORT_NICENESS)
