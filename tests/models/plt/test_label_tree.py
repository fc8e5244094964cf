"""The shapes of label trees: how they are built, given, widened and kept."""

import functools
import itertools
import time
import warnings

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from xmlcore import PLT, ExtendedPLT, experiment, load_model
from xmlcore._kernels import plt_shapes
from xmlcore._kernels.plt_clusters import normalise_rows
from xmlcore.arrays import unsigned_parts
from xmlcore.datasets import Dataset
from xmlcore.models import LabelTree
from xmlcore.models.base import warm_up
from xmlcore.models.plt import building
from xmlcore.models.plt.building import build_tree, label_representations
from xmlcore.validation import check_features, check_labels, csr_parts


def problem(n=150, d=30, n_labels=30, seed=0):
    """Sparse rows whose labels depend on their features; some labels are frequent, and label 1 has no row."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.2, rng=rng, dtype=np.float32, format="csr")
    scores = X @ rng.standard_normal((d, n_labels)) + 0.3 * rng.standard_normal((n, n_labels))
    Y = scores > np.quantile(scores, 0.95, axis=0) - np.linspace(0, 0.8, n_labels)
    Y[:, 1] = False
    return X, sp.csr_array(Y)


def random_tree(n_labels, seed):
    """Parents and labels of a tree of nodes in any order, with one to five children."""
    rng = np.random.default_rng(seed)
    groups = [int(j) for j in rng.permutation(n_labels)]
    while len(groups) > 1:
        size = min(int(rng.integers(1, 6)), len(groups))
        taken = [groups.pop(int(rng.integers(len(groups)))) for _ in range(size)]
        groups.append(taken)
    parents, labels, queue = [-1], [-1], [(0, groups[0])]
    for node, children in queue:
        for child in children:
            if isinstance(child, list):
                queue.append((len(parents), child))
            labels.append(-1 if isinstance(child, list) else child)
            parents.append(node)
    place = rng.permutation(len(parents))
    shuffled, shuffled_labels = np.empty(len(parents), np.int64), np.empty(len(parents), np.int64)
    shuffled[place] = [-1 if p < 0 else place[p] for p in parents]
    shuffled_labels[place] = labels
    return shuffled, shuffled_labels


def same_arrays(a, b):
    return all(np.array_equal(np.asarray(x), np.asarray(y)) for p, q in zip(a.fitted_, b.fitted_) for x, y in zip(p, q))


def check_exact(model, X, k=4):
    """Top k and threshold searches are what going through all labels gives."""
    found, proba = model.predict_topk(X[:4], k), model.predict_proba(X[:4])
    for i, x in enumerate(X[:4].toarray().astype(float)):
        columns = naive.plt_search.in_columns(x, model.feature_of_column_)
        every = naive.plt_search.label_log_probabilities(model.fitted_[0], model.loss_, columns)
        best = sorted(every, key=lambda j: (-every[j], j))[:k]
        assert found.labels[i].tolist() == best
        np.testing.assert_allclose(proba[[i]].toarray()[0], [np.exp(every[j]) for j in range(len(every))], rtol=1e-4)


@pytest.mark.parametrize("arity", [2, 3, 4, 7, 16])
def test_huffman_merges_as_its_twin(arity):
    for n_labels, seed in itertools.product([1, 2, 3, 4, 5, 16, 17, 60], range(4)):
        counts = np.sort(np.random.default_rng(seed).integers(0, 4**seed, n_labels))  # many ties, then few
        found = plt_shapes.huffman_parents(counts, min(arity, max(2, n_labels)))
        assert found.tolist() == naive.plt_training.huffman_parents(counts.tolist(), arity)


def huffman(counts, arity):
    return build_tree("huffman", len(counts), arity, 100, 0, frequencies=np.array(counts))


@pytest.mark.parametrize("arity", [2, 5])
def test_a_huffman_model_predicts_exactly(arity):
    X, Y = problem()
    model = PLT(tree="huffman", arity=arity, max_leaf_labels=1000).fit(X, Y)
    counts = Y.toarray().sum(axis=0)
    assert model.trees_[0] == huffman(counts, arity) == PLT(tree="huffman", arity=arity).fit(X, Y).trees_[0]
    assert counts[1] == 0 and model.predict_proba(X)[:, [1]].nnz == 0
    check_exact(model, X)


@pytest.mark.parametrize("arity", [2, 3, 16, 256])
def test_random_trees_are_split_as_their_twin(arity):
    for n_labels, most in itertools.product([1, 2, 15, 41, 700], [1, 10, 1000]):
        tree = build_tree("random", n_labels, arity, most, 3)
        parent, label = naive.plt_training.balanced_tree(
            n_labels, arity, most, lambda node, labels: naive.plt_training.random_split(labels, arity, 3, node)
        )
        assert tree.parent.tolist() == parent and tree.label.tolist() == label, (n_labels, most)
        assert tree.parent.dtype == tree.label.dtype == np.int32


def representations(n_labels, seed=0):
    X, Y = problem(n_labels=n_labels, seed=seed)
    X = check_features(X)
    normalise_rows(csr_parts(X)[0], X.data)
    return label_representations(X, check_labels(Y))


@pytest.mark.parametrize("arity, max_leaf_labels, n_labels", [(2, 1, 41), (2, 10, 90), (3, 4, 41), (16, 1, 300)])
def test_clustered_trees_are_split_node_by_node(arity, max_leaf_labels, n_labels, monkeypatch):
    matrix = representations(n_labels)

    def split(node, labels):
        members = np.array(labels, np.int32)
        clusters = building.split_labels(
            *unsigned_parts(matrix), members, 30, arity, building.KMEANS_TOLERANCE, building.KMEANS_ITERATIONS, 9, node
        )
        return [members[clusters == c].tolist() for c in range(arity)]

    parent, label = naive.plt_training.balanced_tree(n_labels, arity, max_leaf_labels, split)
    for task_labels, n_jobs in ((512, 1), (20, 1), (20, 3)):
        monkeypatch.setattr(building, "TASK_LABELS", task_labels)
        tree = build_tree("kmeans", n_labels, arity, max_leaf_labels, 9, matrix, n_jobs)
        assert tree.parent.tolist() == parent and tree.label.tolist() == label


def test_many_labels_are_no_work_per_label():
    build_tree("random", 50, 2, 1, 0)  # compiles
    start = time.process_time()
    tree = build_tree("random", 200_000, 2, 1, 0)
    assert time.process_time() - start < 3  # a Python step per label would take longer
    assert tree.n_nodes == 399_999 and tree.depth.max() == 18


@pytest.mark.parametrize("tree", ["kmeans", "random", "huffman"])
@pytest.mark.parametrize(
    "arity, max_leaf_labels", [(2, 1), (3, 10), (16, 1), (16, 10), (256, 1), (2**31 - 1, 2**31 - 1)]
)
def test_any_arity_trains_and_predicts_exactly(tree, arity, max_leaf_labels):
    X, Y = problem(n_labels=40)
    model = PLT(tree=tree, arity=arity, max_leaf_labels=max_leaf_labels, n_jobs=1).fit(X, Y)
    assert model.trees_[0].n_children.max() <= max(arity, max_leaf_labels)
    check_exact(model, X)


@pytest.mark.parametrize("tree", ["kmeans", "random", "huffman", LabelTree.from_nested([0])])
def test_a_single_label_is_a_leaf_under_the_root(tree):
    model = PLT(tree=tree, collapse_layers=2).fit(np.eye(3), [[0], [], [0]])
    assert model.trees_[0] == LabelTree([-1, 0], [-1, 0])
    assert model.predict_topk(np.eye(3), 1).labels.tolist() == [[0]] * 3


def test_a_node_of_more_children_than_a_group_holds():
    X, Y = problem(n=400, n_labels=600)
    model = PLT(tree="huffman", arity=600).fit(X, Y)
    assert model.trees_[0].n_nodes == 601
    check_exact(model, X)


@pytest.mark.parametrize("seed", range(8))
def test_from_parents_keeps_the_tree_and_renumbers_its_nodes(seed):
    parents, labels = random_tree(25, seed)
    tree = LabelTree.from_parents(parents, labels)
    expected = []
    for clade in naive.plt_training.clades(parents, labels):  # each once: single children are left out
        if clade not in expected and len(clade) > 1:
            expected.append(clade)
    assert naive.plt_training.clades(tree.parent, tree.label) == expected
    assert (np.diff(tree.parent) >= 0).all() and (tree.parent[1:] < np.arange(1, tree.n_nodes)).all()
    assert tree.n_labels == 25 and tree.label[tree.leaf_of_label].tolist() == list(range(25))
    assert LabelTree.from_parents(tree.parent, tree.label) == tree == LabelTree(tree.parent, tree.label)


def test_siblings_stay_in_the_order_of_their_numbers():
    tree = LabelTree.from_parents([3, 3, 1, -1, 1, 1], [2, -1, 3, -1, 0, 1])
    assert tree.parent.tolist() == [-1, 0, 0, 2, 2, 2] and tree.label.tolist() == [-1, 2, -1, 3, 0, 1]


@pytest.mark.parametrize("parents, labels", [([4, 0, 1, 2, -1, 2], [-1, -1, -1, 0, -1, 1]), ([1, 2, -1], [0, -1, -1])])
def test_nodes_above_the_first_branching_are_left_out(parents, labels):
    n_labels = max(labels) + 1
    assert LabelTree.from_parents(parents, labels) == LabelTree([-1] + [0] * n_labels, [-1, *range(n_labels)])


@pytest.mark.parametrize("parents, labels, message", [
    ([-1, 0, -1], [-1, 0, 1], "nodes 0 and 2 both have the parent -1"),
    ([1, 0], [-1, 0], "no node has the parent -1"),
    ([-1, 0, 9], [-1, 0, 1], "node 2 has the parent 9: nodes are 0 to 2"),
    ([-1, 0, 3, 4, 2, 3], [-1, 0, -1, -1, -1, 1], "node 2 is in a circle, or below one"),
    ([-1, 0, 0], [-1, 0, -1], "node 2 has neither children nor a label"),
    ([-1, 0, 0, 1], [-1, 1, 0, 2], "node 1 has children and the label 1"),
    ([-1, 0, 0], [-1, 0, -7], "node 2 has the label -7"),
    ([-1, 0, 0, 0], [-1, 0, 1, 0], "nodes 1 and 3 both have the label 0"),
    ([-1, 0, 0, 0], [-1, 0, 5, 1], "label 2 has no leaf: with 3 leaves .* node 2 has the label 5"),
    ([-1], [0], "node 0 is the root and has no children"),
    ([], [], "parents is empty"),
    ([-1, 0], [-1], "2 parents and 1 labels"),
    ([[-1, 0]], [-1, 0], "parents must be a list"),
    ([-1, 0.0], [-1, 0], "parents holds float64 values"),
    ([-1, 0], [None, 0], "labels holds object values"),
])  # fmt: skip
def test_what_is_not_a_tree_is_refused_with_the_node(parents, labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        LabelTree.from_parents(parents, labels)


@pytest.mark.parametrize("parents, labels, node", [
    ([1, -1, 1], [0, -1, 1], 1),
    ([-1, 0, 1, 0], [-1, -1, 0, 1], 3),
    ([-1, 0, 3, 0, 3], [-1, 0, 1, -1, 2], 2),
])  # fmt: skip
def test_arrays_in_another_order_are_refused_by_the_constructor(parents, labels, node):
    with pytest.raises(ValueError, match=f"node {node} is not in breadth-first order.*from_parents"):
        LabelTree(parents, labels)


def test_from_nested_is_what_it_looks_like():
    tree = LabelTree.from_nested([[0, 1], [2, [3, 4]]])
    assert tree.parent.tolist() == [-1, 0, 0, 1, 1, 2, 2, 6, 6]
    assert tree.label.tolist() == [-1, -1, -1, 0, 1, 2, -1, 3, 4]
    assert repr(tree) == "LabelTree(n_labels=5, n_nodes=9, depth=3)"
    assert tree == LabelTree.from_nested(((np.int64(0), 1), [[2], np.array([3, 4])]))
    assert LabelTree.from_nested([range(3), np.array([[3, 4], [5, 6]])]).n_children.tolist()[:5] == [2, 3, 2, 0, 0]


@pytest.mark.parametrize("groups, message", [
    ([0, [1, []]], r"the list at \[1\]\[1\] is empty"),
    ([], "the list given is empty"),
    ([0, [2, 0]], r"label 0 occurs twice, at \[0\] and at \[1\]\[1\]"),
    ([0, [1, [3]]], r"label 2 is missing: there are 3 leaves.*largest is 3, at \[1\]\[1\]\[0\]"),
    ([0, "1"], r"'1' at \[1\] is neither a label id nor a list"),
    ([0, [1, 2.0]], r"2.0 at \[1\]\[1\] is neither"),
    ([0, True], r"True at \[1\] is neither"),
    ([0, {1, 2}], r"\{1, 2\} at \[1\] is neither"),
    ([0, -1], r"-1 at \[1\] cannot be a label"),
    ([0, 2**70], r"at \[1\] cannot be a label"),
    (3, "a nested tree is a list"),
    ([0, *[[1]] * 2], r"the list at \[2\] contains itself, or occurs twice"),
])  # fmt: skip
def test_nested_lists_that_are_no_tree_are_refused(groups, message):
    with pytest.raises((ValueError, TypeError), match=message):
        LabelTree.from_nested(groups)


def test_a_list_within_itself_is_refused_and_does_not_hang():
    groups = [0, []]
    groups[1].append(groups[1])
    with pytest.raises(ValueError, match=r"the list at \[1\]\[0\] contains itself"):
        LabelTree.from_nested(groups)


def test_a_tree_deeper_than_pythons_recursion_limit():
    def chain(n_labels):
        return LabelTree.from_nested(functools.reduce(lambda groups, j: [j, groups], range(1, n_labels), [0]))

    tree = chain(5000)
    assert tree.depth.max() == 4999
    assert tree.collapsed(1).depth.max() == 2500
    assert tree.collapsed(10**9).depth.max() == 1
    X, Y = problem(n=40, n_labels=1200)
    model = PLT(tree=chain(1200), C=0.1).fit(X, Y)
    assert model.size()["depth"] == 1199
    check_exact(model, X)


@pytest.mark.parametrize("params", [{}, {"tree": "random", "arity": 3}, {"tree": "huffman"}, {"collapse_layers": 1}])
def test_a_fitted_tree_used_again_gives_the_same_model(params):
    X, Y = problem()
    first = PLT(max_leaf_labels=4, **params).fit(X, Y)
    again = PLT(max_leaf_labels=4, tree=first.trees_[0]).fit(X, Y)
    assert same_arrays(first, again)
    np.testing.assert_array_equal(first.predict_topk(X).scores, again.predict_topk(X).scores)


def test_a_tree_of_other_labels_is_refused():
    X, Y = problem()
    tree = LabelTree.from_nested(list(range(31)))
    with pytest.raises(ValueError, match="the tree has 31 labels, but Y has 30"):
        PLT(tree=tree).fit(X, Y)
    with pytest.raises(ValueError, match="the tree has 31 labels, but Y has 30"):
        PLT(tree=tree).fit(X, Y.toarray())
    lists = [Y[[i]].indices.tolist() for i in range(Y.shape[0])]
    assert PLT(tree=tree).fit(X, lists).n_labels_ == 31  # ids alone do not say how many labels there are
    with pytest.raises(ValueError, match="label id 29, but there are 29 labels"):
        PLT(tree=LabelTree.from_nested(list(range(29)))).fit(X, lists)


def test_a_tree_whose_arrays_were_changed_is_refused_not_read():
    tree = LabelTree.from_nested([[0, 1], 2])
    tree.parent[3] = 77
    with pytest.raises(ValueError, match="node 3 has the parent 77"):
        PLT(tree=tree).fit(np.eye(3), np.eye(3))


def test_trees_that_cannot_differ_are_warned_of():
    X, Y = problem()
    with pytest.warns(UserWarning, match="tree='huffman' gives 2 trees of one shape"):
        PLT(tree="huffman", n_estimators=2).fit(X, Y)
    with pytest.warns(UserWarning, match="a LabelTree as tree gives 3 trees of one shape"):
        model = PLT(tree=LabelTree.from_nested(list(range(30))), n_estimators=3).fit(X, Y)
    assert model.trees_[0] == model.trees_[2]
    with warnings.catch_warnings(action="error"):
        assert len(PLT(n_estimators=2, max_leaf_labels=4).fit(X, Y).trees_) == 2
        PLT(tree="huffman").fit(X, Y)


@pytest.mark.parametrize("cls", [PLT, ExtendedPLT])
def test_one_level_trains_one_tree_and_says_so(cls):
    X, Y = problem()
    with pytest.warns(UserWarning, match="1 tree is trained in place of n_estimators=3.*smaller max_leaf_labels"):
        model = cls(n_estimators=3).fit(X, Y)
    assert len(model.trees_) == 1 and model.trees_[0] == cls().fit(X, Y).trees_[0]
    assert len(cls(n_estimators=3, arity=2, max_leaf_labels=30).fit(X, Y).trees_) == 3  # as it was told


def test_trees_are_equal_when_their_nodes_are():
    one, two, other = (LabelTree.from_nested(groups) for groups in ([[0, 1], 2], ([0, 1], 2), [[0, 2], 1]))
    assert one == two and hash(one) == hash(two) and one != other and one != "kmeans"
    assert len({one, two, other}) == 2


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_leaf_labels", [1, 2, 4])
def test_collapsing_keeps_what_its_twin_keeps(seed, max_leaf_labels):
    tree = LabelTree.from_parents(*random_tree(40, seed))
    for layers in (0, 1, 2, 5, 10**30):
        found = tree.collapsed(layers, max_leaf_labels)
        expected = naive.plt_training.collapsed_clades(tree.parent, tree.label, layers, max_leaf_labels)
        assert naive.plt_training.clades(found.parent, found.label) == expected
        assert found.n_labels == 40


def test_nothing_to_collapse_gives_the_tree_itself():
    tree = build_tree("random", 100, 2, 60, 0)
    assert tree.collapsed(0) is tree and tree.collapsed(3, 60) is tree
    with pytest.raises(ValueError, match="layers must be at least 0"):
        tree.collapsed(-1)
    with pytest.raises(ValueError, match="max_leaf_labels must be at least 1"):
        tree.collapsed(1, 0)


@pytest.mark.parametrize("tree", ["kmeans", "random", "huffman", "given"])
@pytest.mark.parametrize("max_leaf_labels", [1, 4])
def test_a_model_collapses_the_tree_of_any_strategy(tree, max_leaf_labels):
    X, Y = problem(n_labels=60)
    tree = LabelTree.from_parents(*random_tree(60, 1)) if tree == "given" else tree
    plain = PLT(tree=tree, max_leaf_labels=max_leaf_labels).fit(X, Y)
    wide = clone(plain).set_params(collapse_layers=2).fit(X, Y)
    expected = plain.trees_[0].collapsed(2, 1 if tree == "huffman" else max_leaf_labels)
    assert wide.trees_[0] == expected != plain.trees_[0]
    assert wide.size()["depth"] < plain.size()["depth"]
    check_exact(wide, X)


def test_a_saved_model_keeps_a_users_tree(tmp_path):
    X, Y = problem()
    tree = LabelTree.from_parents(*random_tree(30, 2))
    model = PLT(tree=tree, collapse_layers=1, max_leaf_labels=1).fit(X, Y)
    assert model.trees_[0] != tree  # the parameter and the fitted tree are two things
    loaded = load_model(model.save(tmp_path / "model"))
    assert loaded.get_params() == model.get_params() and isinstance(loaded.tree, LabelTree)
    assert loaded.trees_ == model.trees_
    np.testing.assert_array_equal(loaded.predict_topk(X).scores, model.predict_topk(X).scores)
    assert same_arrays(loaded.fit(X, Y), model)
    again = load_model(loaded.save(tmp_path / "model"))
    assert again.tree == tree


def test_warming_up_covers_any_arity_and_tree(monkeypatch):
    split, calls = building.split_labels, []
    monkeypatch.setattr(building, "split_labels", lambda *args: calls.append(args) or split(*args))
    warm_up(PLT(arity=256))
    assert calls
    tree = LabelTree.from_nested([[0, 1], 2])
    with warnings.catch_warnings(action="error"):
        for model in (PLT(tree=tree, n_estimators=2), PLT(tree="huffman", arity=16, n_estimators=2, collapse_layers=2)):
            params = model.get_params()
            warm_up(model)
            assert model.get_params() == params and not hasattr(model, "trees_")


def test_a_run_takes_a_users_tree_and_keeps_the_warnings():
    X, Y = problem()
    data = Dataset("toy", X[:100], Y[:100], X[100:], Y[100:])
    tree = LabelTree.from_nested([list(range(10)), list(range(10, 30))])
    run = experiment.run(data, "PLT", {"tree": tree, "n_estimators": 2})
    assert run.params["tree"] == tree and run.size["depth"] == 2
    assert any("trees of one shape" in warning for warning in run.warnings)
