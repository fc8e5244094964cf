"""Progress of growing trees is proportional to the work, also within large nodes, where training can be stopped."""

import numpy as np
import pytest

from xmlcore import LdSM
from xmlcore.datasets import make_synthetic
from xmlcore.models.ldsm import progress
from xmlcore.progress import Cancelled


def split_evenly(tree, rows, levels):
    """Split all nodes of a balanced tree, level by level; return the fraction after each."""
    reported, nodes = [], 1
    for level in range(levels):
        for _ in range(2**level):
            size = rows // 2**level
            tree.begin(size, np.zeros((tree.n_epochs, 4)))
            nodes += 2
            tree.end(size, size if level + 1 < levels else 0, nodes)
            reported.append(tree.fraction())
    return reported


def test_every_level_of_a_balanced_tree_counts_the_same():
    tree = progress.TreeGrowth(n_rows=1024, n_epochs=3, max_nodes=127, arity=2)
    reported = split_evenly(tree, 1024, 6)
    at_end_of_level = [reported[2**level - 2] for level in range(1, 7)]
    np.testing.assert_allclose(at_end_of_level, np.arange(1, 7) / 6, atol=0.12)
    assert reported == sorted(reported) and reported[-1] < 1
    tree.ended = True
    assert tree.fraction() == 1


@pytest.fixture
def one_large_node(monkeypatch):
    """Rows whose root takes some tenths of a second to train; progress is read every few milliseconds."""
    monkeypatch.setattr(progress, "EVERY", 0.005)
    data = make_synthetic(n_train=2_000, n_test=1, n_labels=20, n_features=200, features_per_row=20)
    LdSM.preset("program", n_estimators=1, n_epochs=1, max_nodes=3, n_jobs=1).fit(data.X_train[:50], data.Y_train[:50])
    return data.X_train, data.Y_train, LdSM.preset("program", n_estimators=1, n_epochs=500, max_nodes=3, n_jobs=1)


def test_a_large_node_reports_before_it_is_done(one_large_node):
    X, Y, model = one_large_node
    reported = []
    model.fit(X, Y, progress=lambda phase, fraction, detail="": reported.append((phase, fraction, detail)))
    fractions = [fraction for _, fraction, _ in reported]
    assert fractions == sorted(fractions) and len(set(fractions)) > 5 and fractions[-1] == 1
    assert {report[::2] for report in reported if report[1] < 1} == {("Growing trees", "0 of 1 trees")}
    assert reported[-1][2] == "1 of 1 trees"


def stop(phase, fraction, detail=""):
    if fraction > 0:
        raise Cancelled


ENDLESS = 100_000  # epochs: a test that waits for all of them times out


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_training_stops_within_a_large_node(one_large_node, n_jobs, monkeypatch):
    X, Y, model = one_large_node
    before, trees, traces = model.set_params(n_epochs=1).fit(X, Y).trees_, [], []
    begin = progress.TreeGrowth.begin

    def noted(tree, n_rows, trace):
        trees.append(tree)
        traces.append(trace)
        begin(tree, n_rows, trace)

    monkeypatch.setattr(progress.TreeGrowth, "begin", noted)
    model.set_params(n_epochs=ENDLESS, n_jobs=n_jobs, n_estimators=n_jobs, n_attempts=64)
    with pytest.raises(Cancelled):
        model.fit(X, Y, progress=stop)
    assert trees and len(set(trees)) == len(trees)  # a stopped node is not tried again, also where others never began
    assert any(np.isfinite(trace[0, 1]) for trace in traces) and all(np.isnan(trace[-1, 1]) for trace in traces)
    assert model.trees_ is before


def test_an_error_in_one_tree_stops_the_others(one_large_node, monkeypatch):
    X, Y, model = one_large_node
    begin, seen = progress.TreeGrowth.begin, []

    def second_fails(tree, n_rows, trace):
        begin(tree, n_rows, trace)
        seen.append(trace)
        if len(seen) == 2:
            raise MemoryError("no more")

    monkeypatch.setattr(progress.TreeGrowth, "begin", second_fails)
    with pytest.raises(MemoryError, match="no more"):
        model.set_params(n_estimators=2, n_jobs=2, n_epochs=ENDLESS).fit(X, Y)
