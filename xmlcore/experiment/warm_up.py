"""Compiling of all kernels before they are needed."""

from xmlcore.experiment.estimates import measure_speed
from xmlcore.progress import Progress, silent

PHASE = "Compiling kernels"


def warm_up(progress: Progress = silent) -> None:
    """Compile every kernel, or load it from disk, by running small pieces of work of each sort.

    The first time on a machine, and after a change of kernels or of Numba, this takes about 70 seconds of one core;
    later it takes two seconds. If a worker runs it, this worker then has all kernels in memory, and other workers can
    load them from disk. It also measures the speed of the machine once, for estimates.

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
    """Run all pieces of work; before each piece, yield its percentage of the whole time and its name."""
    yield 5, "reading files"
    from xmlcore import datasets

    datasets.warm_up()
    yield 2, "measures"
    from xmlcore import metrics

    metrics.warm_up()
    yield 37, "label trees"
    from xmlcore.models import PLT, DoubleSampling, LdSM, OneVsRest
    from xmlcore.models.base import warm_up

    warm_up(PLT())
    yield 3, "ensembles and beams"
    warm_up(PLT(loss="squared_hinge", tree="random", n_estimators=2))
    warm_up(PLT(tree="huffman", beam=2))
    yield 15, "decision trees"
    warm_up(LdSM())
    warm_up(LdSM(rerank_beta=0.5, rerank_space="idf"))
    yield 11, "baselines, double sampling"
    warm_up(OneVsRest())
    warm_up(DoubleSampling())
    yield 17, "noise and explanations"
    _perturb_and_explain()
    yield 9, "feature selection"
    _select()
    yield 1, "measuring how fast this machine is"
    measure_speed()


def _perturb_and_explain():
    """Use the kernels of noise, attacks, certificates and explanations."""
    import numpy as np

    from xmlcore import explain, robustness
    from xmlcore.models import PLT, LdSM, OneVsRest

    X = np.random.default_rng(0).random((12, 6)).astype(np.float32)
    Y = [[row % 4] for row in range(12)]
    model = PLT(tol=1.0).fit(X, Y)
    for kind, options in (("gaussian", {}), ("words", {"reference": X}), ("pgd", {"n_steps": 1})):
        robustness.evaluate(model, X, Y, (0.1,), (1,), n_repeats=1, perturbation=kind, options=options, Y_train=Y)
    robustness.perturbation("gaussian", 0.1, support="nonzero").apply(X)
    robustness.certified_radius(model, X[:2])
    for explained in (model, OneVsRest().fit(X, Y), LdSM(n_estimators=1, max_nodes=5, n_epochs=1).fit(X, Y)):
        explain.contributions(explained, X[:1], 0)
        explain.path(explained, X[:1], 0)


def _select():
    """Use the kernels of FALS, of decision trees and of the measures for multi-label data."""
    import numpy as np
    import scipy.sparse as sp

    from xmlcore import metrics
    from xmlcore.selection import BRDT, FALS

    random = np.random.default_rng(0)
    X = random.random((40, 6)).astype(np.float32)
    Y = [[row % 4] for row in range(40)]
    for scoring in ("exact", "sampled"):
        FALS(n_epochs=1, scoring=scoring).fit(X, Y)
    FALS(n_epochs=1).fit(sp.csr_array(X * (random.random(X.shape) < 0.1)), Y)  # other kernels
    trees = BRDT().fit(X, Y)
    scores = trees.predict_proba(X)
    for measure in (metrics.one_error, metrics.ranking_loss, metrics.average_precision, metrics.micro_auc):
        measure(Y, scores)
