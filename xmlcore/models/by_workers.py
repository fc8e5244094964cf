"""Rows in files that a cluster predicts: jobs predict a block of them each."""

import functools
import shutil
import uuid

from xmlcore import __version__
from xmlcore._kernels._jit import kernels_version
from xmlcore.arrays import blocks_of
from xmlcore.progress import silent, to_progress

BLOCK = 1 << 20  # values of the rows that a worker predicts at a time


@functools.cache
def version() -> str:
    return f"xmlcore {__version__} with kernels {kernels_version()}"


def check_version(needed: str) -> None:
    """Raise ValueError in a worker that came later and has another version."""
    if version() != needed:
        raise ValueError(f"a worker has {version()}, and {needed} is needed: install the same on all machines")


def predicted(cluster, model, method: str, X, args, options) -> list:
    """Return what a method of a model gives for blocks of rows in files, in their order."""
    progress = to_progress(options.pop("progress", silent))
    cluster.check(version, X.folder)
    blocks, shared = blocks_of(X.indptr, BLOCK), X.folder / f"model-{uuid.uuid4().hex}"
    try:
        model.save(shared)
        tasks = [(str(shared), str(X.folder), block, method, args, options, version()) for block in blocks]
        costs = [float(X.indptr[end] - X.indptr[first] + end - first) for first, end in blocks]
        return cluster.run(predict_block, tasks, costs, progress, "Predicting")
    finally:
        shutil.rmtree(shared, ignore_errors=True)


def predict_block(model: str, rows: str, block: tuple[int, int], method: str, args, options, needed: str):
    """Predict a block of rows; a worker calls it."""
    check_version(needed)
    model, rows = _opened(model, rows)
    return getattr(model, method)(rows[slice(*block)], *args, **options)


@functools.lru_cache(1)
def _opened(model, rows):
    from xmlcore.mapped import open_rows
    from xmlcore.models.saving import read_folder

    model = read_folder(model, mmap=True)
    threads = {name: 1 for name in model.get_params() if name.rpartition("__")[2] == "n_jobs"}  # a job has one
    return model.set_params(**threads), open_rows(rows)
