"""Compiling ahead."""

from xmlcore.progress import Progress, silent

PHASE = "Compiling kernels"


def warm_up(progress: Progress = silent) -> None:
    """Compile every kernel, or load it from disk, by doing a tiny piece of real work of each sort.

    The first time on a machine, and after a change of kernels or of Numba, this takes some 40 seconds of one core;
    later two. Run in a worker, it leaves that worker with all kernels loaded, and the others with kernels to load from
    disk.

    Parameters
    ----------
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`.
    """
    done = 0
    for percent, what in _pieces():
        progress(PHASE, done / 100, what)
        done += percent
    progress(PHASE, 1.0)


def _pieces():
    """Do the work, saying before each piece what it is and how much of the whole it takes."""
    yield 7, "reading files"
    from xmlcore import datasets

    datasets.warm_up()
    yield 4, "measures"
    from xmlcore import metrics

    metrics.warm_up()
    yield 55, "label trees"
    from xmlcore.models import PLT, LdSM
    from xmlcore.models.base import warm_up

    warm_up(PLT())
    yield 5, "ensembles and beams"
    warm_up(PLT(loss="squared_hinge", tree="random", n_estimators=2))
    warm_up(PLT(tree="huffman", beam=2))
    yield 29, "decision trees"
    warm_up(LdSM())
    warm_up(LdSM(rerank_beta=0.5, rerank_space="idf"))
