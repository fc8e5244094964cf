import subprocess
import sys
from importlib import import_module

import pytest
from compiled import compiled
from numba.core import config

from xmlcore import experiment
from xmlcore.models import compiling

warm_up = import_module("xmlcore.experiment.warm_up")  # the module: the package has its function under this name


def test_warm_up_leaves_nothing_to_compile(tmp_path):
    import numpy as np

    from xmlcore import PLT, metrics
    from xmlcore.datasets import read_matrix

    reports = []
    experiment.warm_up(lambda *report: reports.append(report))
    assert reports[0][0] == "Compiling code, once" and reports[-1][1] == 1.0
    assert [r[1] for r in reports] == sorted(r[1] for r in reports)
    before = compiled()

    random = np.random.default_rng(0)
    lines = [f"{i % 7},{7 + i % 4} {i % 9}:1 {9 + i % 3}:{random.random():.3f}" for i in range(60)]
    X, Y, *_ = read_matrix(("60 12 11\n" + "\n".join(lines) + "\n").encode())
    every = [{}, {"loss": "squared_hinge"}, {"tree": "random", "arity": 4}, {"n_estimators": 2}, {"beam": 3}]
    for options in [*every, {"tree": "huffman"}]:
        model = PLT(max_leaf_labels=3, max_iter=200, **options).fit(X, Y)
        metrics.measures(Y, model.predict_topk(X, k=5), 5, metrics.inverse_propensity(Y))
        model.predict_proba(X, threshold=0.2)
        model.predict(X)
        model.predict_topk(X.toarray() + 1, k=5)  # every row has every feature
    assert compiled() == before


def test_explanations_and_candidates_find_their_kernels_compiled():
    import numpy as np

    from xmlcore import PLT, DoubleSampling, explain

    experiment.warm_up()
    before = compiled()
    X = np.random.default_rng(0).random((60, 12)).astype(np.float32)
    Y = [[i % 11] for i in range(60)]
    wide = PLT(arity=16).fit(X, Y)  # eleven siblings are stored in lines of sixteen places
    explain.contributions(wide, X[:1], 0)
    model = DoubleSampling(n_candidates=3).fit(X, Y)
    model.pair_features(X[:2], model.candidates(X[:2]))
    assert compiled() == before


@pytest.fixture
def three_pieces(tmp_path, monkeypatch):
    """Pieces that only write down that they ran."""
    ran = []
    made = [warm_up.Piece(name, name, lambda name=name: ran.append(name)) for name in ("a", "b", "c")]
    monkeypatch.setattr(warm_up, "pieces", lambda: made)
    monkeypatch.setattr(compiling, "CACHE_FOLDER", tmp_path)
    return ran


def test_a_piece_that_another_process_compiles_comes_last(three_pieces):
    other = compiling.compile_lock("a")
    assert other.__enter__()
    ended = []

    def end(piece, seconds):
        ended.append((piece.title, seconds >= 0))
        if piece.title == "c":
            other.__exit__(None, None, None)

    warm_up.compile_pieces(ended=end)
    assert three_pieces == ["b", "c", "a"] and ended == [("b", True), ("c", True), ("a", True)]


def test_a_helper_leaves_to_others_what_they_compile(three_pieces):
    with compiling.compile_lock("b"):
        warm_up.compile_pieces(wait_for_others=False)
    assert three_pieces == ["a", "c"]


def test_the_reported_share_rises_with_every_piece(three_pieces):
    reports = []
    experiment.warm_up(lambda *report: reports.append(report[1]))
    assert reports == [0.0, 1 / 3, 2 / 3, 1.0]


def test_pieces_have_names_of_their_own():
    pieces = warm_up.pieces()
    assert len({piece.lock for piece in pieces}) == len(pieces)


PIECES = """
import importlib
from xmlcore.experiment.warm_up import pieces

def n_compiled(names):
    found = [name.split(".") for name in names.split()]
    kernels = [getattr(importlib.import_module(f"xmlcore._kernels.{module}"), name) for module, name in found]
    return [len(kernel.signatures) for kernel in kernels]

locks = [piece.lock for piece in pieces()]
assert locks.index("explanations") < locks.index("LdSM")
pieces()[locks.index("PLT-search")].run()
searches = "plt_search.search_best_first plt_threshold.search_threshold plt_search_together.search_together"
assert n_compiled(searches) == [1, 1, 0]
assert n_compiled("plt_training.train_group plt_clusters.split_labels") == [0, 0]
pieces()[locks.index("explanations")].run()
assert n_compiled("explain.share_along_paths plt_threshold.score_labels") == [1, 1]
assert n_compiled(searches) == [1, 1, 0]
pieces()[locks.index("PLT-together")].run()
assert n_compiled(searches) == [1, 1, 1]
"""


@pytest.mark.skipif(config.DISABLE_JIT, reason="kernels are not compiled (NUMBA_DISABLE_JIT)")
def test_search_and_explanations_of_label_trees_wait_for_no_other():
    done = subprocess.run([sys.executable, "-c", PIECES], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
