"""Compiling of all kernels before they are needed, in pieces that several processes can share."""

import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore import datasets, explain, metrics, robustness
from xmlcore._kernels._caching import tell_once
from xmlcore.models import PLT, DoubleSampling, LdSM, NearestRows, OneVsRest, base
from xmlcore.models.compiling import COMPILING, compile_lock
from xmlcore.models.plt.warming import TOGETHER
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.selection import BRDT, FALS


class Piece(NamedTuple):
    """Some kernels that one process compiles, by running small pieces of work."""

    lock: str  # See :func:`xmlcore.models.compiling.compile_lock`.
    title: str
    run: Callable[[], None]


def warm_up(progress: ProgressLike = silent) -> None:
    """Compile every kernel, or load it from disk, by running small pieces of work of each sort."""
    progress, count, ended = to_progress(progress), len(pieces()), []
    compile_pieces(lambda piece: progress(COMPILING, len(ended) / count, piece.title), lambda *one: ended.append(one))
    progress(COMPILING, 1.0)


def compile_pieces(begun=None, ended=None, wait_for_others: bool = True) -> None:
    """Compile all pieces, or load them from disk; a piece that another process is compiling is left for the end."""
    tell_once(None)  # whoever calls this says it
    left, wait = pieces(), False
    while left:
        skipped = []
        for piece in left:
            if begun:
                begun(piece)
            with compile_lock(piece.lock, wait) as mine:
                if mine:
                    start = time.perf_counter()
                    with warnings.catch_warnings(action="ignore"):  # of models that are trained on a few rows
                        piece.run()
                    if ended:
                        ended(piece, time.perf_counter() - start)
                else:
                    skipped.append(piece)
        left, wait = skipped if wait_for_others else [], True


def pieces() -> list[Piece]:
    """Return all pieces, in the order in which the first results of the dashboard need them."""

    def of(model):
        (run,) = model.warm_up_pieces().values()
        return run

    label_tree = PLT().warm_up_pieces()
    return [
        Piece("PLT-search", "searching label trees", label_tree["PLT-search"]),
        Piece("PLT-training", "training label trees", label_tree["PLT-training"]),
        Piece("measures", "measures", metrics.warm_up),
        Piece("explanations", "explanations", _explain),
        Piece("DoubleSampling", "double sampling", of(DoubleSampling())),
        Piece("FALS", "feature selection", _select),
        Piece("LdSM", "decision trees", of(LdSM())),
        Piece("PLT-together", "searching many rows together", label_tree["PLT-together"]),
        Piece("noise", "noise and other explanations", _perturb),
        Piece("reading", "reading files", datasets.warm_up),
        Piece("OneVsRest", "baselines", of(OneVsRest(C=1.0, normalize="l2"))),
        Piece("NearestRows", "nearest rows", of(NearestRows())),
        Piece("ensembles", "ensembles, beams, reranking", _ensembles),
    ]


def _run(model):
    for run in model.warm_up_pieces().values():
        run()


def _ensembles():
    """Use the kernels that some values of the parameters need in addition."""
    for model in (PLT(), LdSM()):  # another process may be compiling them
        base.warm_up(model)
    _run(PLT(loss="squared_hinge", tree="random", n_estimators=2))
    _run(PLT(tree="huffman", beam=2))
    _run(LdSM(rerank_beta=0.5, rerank_space="idf"))


def _toy():
    base.warm_up(PLT(), (TOGETHER,))  # another process may be compiling it
    X = np.random.default_rng(0).random((12, 6)).astype(np.float32)
    Y = [[row % 4] for row in range(12)]
    return X, Y, PLT(tol=1.0).fit(X, Y)


def _explain():
    """Use the kernels of explanations of label trees."""
    X, _, model = _toy()
    _explain_one(model, X)
    explain.label_values(model, X[:1], [0])


def _explain_one(model, X):
    explain.contributions(model, X[:1], 0)
    explain.path(model, X[:1], 0)


def _perturb():
    """Use the kernels of noise and attacks, and of explanations of other models."""
    X, Y, model = _toy()
    for other in (OneVsRest(), LdSM()):
        base.warm_up(other, (TOGETHER,))
    for kind, options in (("gaussian", {}), ("words", {"reference": X}), ("pgd", {"n_steps": 1})):
        robustness.evaluate(model, X, Y, (0.1,), (1,), n_repeats=1, perturbation=kind, options=options, Y_train=Y)
    robustness.perturbation("gaussian", 0.1, support="nonzero").apply(X)
    for explained in (OneVsRest().fit(X, Y), LdSM(n_estimators=1, max_nodes=5, n_epochs=1).fit(X, Y)):
        _explain_one(explained, X)


def _select():
    """Use the kernels of FALS, of decision trees and of the measures for multi-label data."""
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
