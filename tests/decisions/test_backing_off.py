"""Sets of labels are described by few entries that hold all of them, and as few other labels as can be."""

import itertools

import numpy as np
import pytest
from decisions.held_out_examples import parts

from xmlcore import PLT, LabelTree, decisions
from xmlcore.decisions.backing_off import _Groups, _of_taxonomy


def naive(groups, labels, at_most):
    """The least number of labels in entries that hold a set, by trying all sets of entries."""
    entries = [{j} for j in groups.place] + [{*groups._below(v)} for v in range(len(groups.parent))]
    tries = (few for n in range(1, at_most + 1) for few in itertools.combinations(entries, n))
    return min(sum(map(len, few)) for few in tries if {*labels} <= set().union(*few))


@pytest.mark.parametrize("seed", range(8))
def test_entries_hold_the_set_with_the_fewest_labels(seed):
    rng = np.random.default_rng(seed)
    parent = [-1] + [int(rng.integers(0, v)) for v in range(1, 12)]
    label = [-1] + [v - 1 if v % 4 else -1 for v in range(1, 12)]  # at inner nodes, too
    groups = _Groups(parent, label, lambda v, labels: str(v))
    for size, at_most in ((2, 1), (4, 2), (5, 3), (8, 3)):
        chosen = rng.permutation(sorted(groups.place))[:size].tolist()
        found = groups.entries(chosen, at_most)
        assert len(found) <= at_most and {*chosen} <= {j for entry in found for j in entry.labels}
        assert sum(len(entry.labels) for entry in found) == naive(groups, chosen, at_most)


def test_a_promise_of_recall_holds_for_groups_of_the_label_tree():
    _, (X, Y), (X_test, _) = parts()
    model = PLT(max_leaf_labels=5, C=1.0, loss="squared_hinge").fit(X[:300], Y[:300])
    promise = decisions.promise(model, X[300:], Y[300:], recall=0.5)
    sets = promise.predict(X_test)
    found = decisions.back_off(promise, X_test, at_most=3)
    wide = np.flatnonzero(np.diff(sets.indptr) > 3)
    assert wide.size and all(len(entries) <= 3 for entries in found)
    for row, entries in zip(sets, found):
        held = [j for entry in entries for j in entry.labels]
        assert {*row.indices} <= {*held} and len(held) == len({*held})
    assert [entry.labels for entry in found[0]] == [(j,) for j in sets[[0]].indices] or 0 in wide
    assert decisions.back_off(promise, X_test[:0]) == []
    named = decisions.back_off(promise, X_test, at_most=3, names=[f"label {j}" for j in range(40)])
    assert [[entry.labels for entry in entries] for entries in named] == [
        [e.labels for e in entries] for entries in found
    ]
    assert all(entry.name.startswith("label ") for entries in named for entry in entries if len(entry.labels) < 40)
    with pytest.raises(ValueError, match="names has 1 names, but there are 40 labels"):
        decisions.back_off(promise, X_test, names=["a"])
    assert any("…" in entry.name and "labels)" in entry.name for row in wide for entry in found[row])


def test_a_taxonomy_gives_its_names_and_a_label_can_be_a_group():
    model, held_out, (X, _) = parts()
    taxonomy = {str(j): "even" if j % 2 == 0 else "1" for j in range(40) if j != 1}  # the odd labels are in label 1
    rule = decisions.learn(model, *held_out, "P@6")
    for row, entries in zip(rule.predict(X[:50]), decisions.back_off(rule, X[:50], 2, taxonomy=taxonomy)):
        even = {j for j in row.indices if j % 2 == 0}
        names = {entry.name for entry in entries}
        if len(even) > 1 and len(row.indices) - len(even) > 1:
            assert names == {"even", "1"}
            assert {len(entry.labels) for entry in entries} == {20}


def test_what_is_no_taxonomy_is_said():
    model, held_out, (X, _) = parts()
    rule = decisions.learn(model, *held_out, "P@6")
    for taxonomy, says in (
        ({"0": "a", "a": "b", "b": "a"}, "a circle: a in b in a"),
        ({"x": "y"}, "none of the 40 labels"),
    ):
        with pytest.raises(ValueError, match=says):
            decisions.back_off(rule, X, taxonomy=taxonomy)
    _, (X, Y), _ = parts()
    flat = PLT(tree=LabelTree.from_nested([*range(40)])).fit(X, Y)
    with pytest.raises(ValueError, match="give a taxonomy"):
        decisions.back_off(decisions.learn(flat, X, Y, "P@6"), X)


def test_a_taxonomy_may_lack_labels_and_have_any_order():
    model, _, _ = parts()
    groups = _of_taxonomy([str(j) for j in range(40)], {"top": "all", "0": "low", "low": "top"})
    assert [entry.name for entry in groups.entries([0, 1, 2], 1)] == ["any label"]
    assert [(entry.name, len(entry.labels)) for entry in groups.entries([0], 1)] == [("0", 1)]
