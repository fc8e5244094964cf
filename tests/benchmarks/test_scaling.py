"""The growth study: its phases, its count of work, and a point from beginning to end."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import scaling
from benchmarks.library import data, processes, scaling_tables
from xmlcore import PLT
from xmlcore.datasets import make_synthetic


def test_phases_are_timed_and_the_quietest_run_counts(monkeypatch):
    phases = scaling.Phases()
    phases.begun = [("A", 2.0), ("B", 5.0), ("A", 9.0)]
    assert phases.seconds(1.0, 10.0) == {"Checking the input": 1.0, "A": 4.0, "B": 4.0}
    runs = [{"others_cpu": 0.5}, {"others_cpu": 0.2}, {"others_cpu": 0.3}, {"others_cpu": 0.0}]
    for attempts, expected in ((1, 0.5), (3, 0.2), (4, 0.0)):
        waiting = iter(runs)
        monkeypatch.setattr(processes, "run_process", lambda *_, waiting=waiting, **how: next(waiting))
        assert processes.quietest({}, None, options(attempts=attempts))["others_cpu"] == expected


@pytest.mark.parametrize("arity", [2, 5])
def test_work_is_counted_as_by_hand(arity):
    data = make_synthetic(n_train=60, n_test=1, n_labels=40, n_features=50, features_per_row=5)
    model = PLT(arity=arity, max_leaf_labels=4, n_jobs=1).fit(data.X_train, data.Y_train)
    tree = model.trees_[0]
    if arity == 5:
        assert np.unique(tree.depth[tree.leaf_of_label]).size > 1  # leaves of several depths
    expected = 0
    for i in range(60):
        labels = data.Y_train.indices[data.Y_train.indptr[i] : data.Y_train.indptr[i + 1]]
        nodes = set()
        for leaf in tree.leaf_of_label[labels]:
            while (leaf := int(tree.parent[leaf])) >= 0:
                nodes.add(leaf)
        expected += len(nodes) * int(data.X_train.indptr[i + 1] - data.X_train.indptr[i])
    assert scaling.node_nonzeros(tree, data.X_train, data.Y_train) == expected


@pytest.fixture
def run(tmp_path):
    """What the two processes of a point do, here in one."""
    sizes = {"n_train": 120, "n_test": 30, "n_features": 80, "n_labels": 150, "features_per_row": 8}
    job = {"threads": 1, "data": str(tmp_path)}
    about = data.make(job | {"make": sizes})
    params = scaling.PARAMS | {"arity": 2, "max_leaf_labels": 20}
    job |= {"about": about, "params": params, "repeat": False, "limit_bytes": None, "tell_every": None}
    found = scaling.measure(job | {"count_work": True})
    return json.loads(json.dumps({"axes": ["N"], "arity": 2, "others_cpu": 0.0} | about | found))


def options(**more):
    defaults = {"threads": 2, "params": {}, "quick": False, "scale": 0.1, "limit_gb": 12.0}
    return SimpleNamespace(**defaults | more)


def test_a_point_is_measured_from_beginning_to_end(run):
    assert run["n_train"] == 120 and run["n_labels"] == 150 and run["depth"] >= 2
    assert run["train_s"] > 0 and run["exact_us"] > 0 and run["beam_us"] > 0
    assert sum(run["phases_s"].values()) == pytest.approx(run["train_s"])
    assert scaling_tables.clustering_s(run) > 0
    assert run["node_nonzeros"] > run["nonzeros"]
    for name in ("exact_precision", "beam_precision", "frequency_precision"):
        assert len(run[name]) == 3 and 0 <= min(run[name]) <= max(run[name]) <= 100


def test_a_part_has_the_most_frequent_labels_and_all_test_rows():
    Y = np.zeros((6, 3), bool)
    Y[[0, 1, 2], 2] = Y[[2, 3], 0] = Y[4, 1] = True  # row 5 has none
    X = np.arange(1, 13, dtype=np.float32).reshape(6, 2)
    toy = data.Dataset("toy", X, Y, X, Y)
    part = data.frequent_part(toy, 2)
    assert part.X_train.toarray().tolist() == X[:4].tolist()
    assert part.Y_train.toarray().tolist() == Y[:4][:, [0, 2]].tolist()
    assert part.Y_test.toarray().tolist() == Y[:, [0, 2]].tolist()
    labels = np.tile(np.array([1, 0, -1, -1, -1], np.int32), (6, 1))
    assert scaling.percent(part.Y_test, labels)[0] == pytest.approx(100 * 3 / 4)  # of the rows that have a label
