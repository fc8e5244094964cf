"""Compiling ahead."""

import warnings

from xmlcore.progress import Progress, silent

PHASE = "Compiling kernels"


def warm_up(progress: Progress = silent) -> None:
    """Compile every kernel, or load it from disk, by doing a tiny piece of real work of each sort.

    The first time on a machine, and after a change of kernels or of Numba, this takes some 20 seconds of one core;
    later two. Run in a worker, it leaves that worker with all kernels loaded, and the others with kernels to load from
    disk.

    Parameters
    ----------
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a toy problem need not converge
        done = 0
        for percent, what in _pieces():
            progress(PHASE, done / 100, what)
            done += percent
    progress(PHASE, 1.0)


def _pieces():
    """Do the work, saying before each piece what it is and how much of the whole it takes."""
    yield 15, "reading files"
    from xmlcore import datasets

    datasets.warm_up()
    yield 10, "measures"
    from xmlcore import metrics

    metrics.warm_up()
    yield 40, "training label trees"
    import numpy as np

    from xmlcore.models import PLT

    X = np.random.default_rng(0).random((20, 6)).astype(np.float32)
    Y = [[row % 5, 5 + row % 3] for row in range(20)]
    options = {"max_leaf_labels": 2, "n_jobs": 1}
    one = PLT(**options).fit(X, Y)
    two = PLT(loss="squared_hinge", tree="random", n_estimators=2, **options).fit(X, Y)
    narrow = PLT(beam=2, **options).fit(X, Y)
    yield 35, "searching label trees"
    for model in (one, two, narrow):
        model.predict_topk(X, k=2)
        model.predict_proba(X, threshold=0.1)
