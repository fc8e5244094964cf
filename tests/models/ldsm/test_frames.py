"""Tables of trees agree with the arrays of the trees."""

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import LdSM
from xmlcore.models.ldsm import frames

WEIGHTS = (2.0, 1.0)


@pytest.fixture(scope="module", params=[2, 3])
def model(request):
    rng = np.random.default_rng(request.param)
    group = rng.integers(0, 6, 200)
    Y = (rng.random((200, 12)) < 0.1) | (np.arange(12) // 2 == group[:, None]) & (rng.random((200, 12)) < 0.8)
    Y[:, 0] |= ~Y.any(axis=1)
    X = sp.csr_array(np.repeat(Y, 2, axis=1) * rng.uniform(0.5, 1.5, (200, 24)))
    params = {"n_estimators": 3, "max_nodes": 40, "n_epochs": 40, "learning_rate": 1.0, "multiway_weight": 0.5}
    model = LdSM.preset("program", arity=request.param, **params).fit(X, Y)
    model.X = X
    assert min(tree.inner.size for tree in model.trees_) > 4
    return model


@pytest.fixture
def tree(model):
    return model.trees_[0]


@pytest.fixture(scope="module")
def one_node():
    return LdSM.preset("program", n_estimators=1, max_nodes=1).fit([[1.0], [2.0]], [[0], [0, 1]]).trees_[0]


def all_below(tree, v):
    return [v, *(w for c in tree.children[v] if c >= 0 for w in all_below(tree, int(c)))]


def counts(tree, v):
    return tree.histograms[[v]].toarray()[0]


def test_the_table_of_nodes_has_all_of_them_with_names(tree):
    frame = frames.nodes_frame(tree, lambda j: f"topic {j}")
    assert len(frame) == tree.parent.size
    assert frame["node"].tolist() == list(range(len(frame)))
    assert frame["rows"].tolist() == tree.n_samples.tolist()
    assert (frame["kind"] == "leaf").tolist() == (tree.children[:, 0] < 0).tolist()
    assert frame["objective"].isna().tolist() == (frame["kind"] == "leaf").tolist()
    for v in range(len(frame)):
        assert frame["share_1"][v] == pytest.approx(counts(tree, v).max() / tree.n_samples[v])
        best = [j for _, j in sorted((-n, j) for j, n in enumerate(counts(tree, v)) if n)][:3]
        for place in range(3):
            label = best[place] if place < len(best) else -1
            assert frame[f"label_{place + 1}"][v] == label
            assert frame[f"name_{place + 1}"][v] == ("" if label < 0 else f"topic {label}")
    child = frame.iloc[1]
    assert child["share_of_parent"] == tree.n_samples[1] / tree.n_samples[child["parent"]]


def test_levels_below_a_node(tree):
    nodes = frames.below(tree, 0, 2)
    assert sorted(nodes) == [v for v in range(tree.parent.size) if tree.depth[v] <= 2]
    top = int(tree.children[0, 0])
    assert set(frames.below(tree, top, 100)) == set(all_below(tree, top))
    assert frames.below(tree, top, 0).tolist() == [top]


def test_nodes_are_placed_by_depth_and_branch(tree):
    frame = frames.layout(tree, frames.below(tree, 0, 3)).set_index("node")
    assert frame["x"].tolist() == tree.depth[frame.index].tolist()
    ends = frame[~frame.index.isin(frame["parent"])]
    assert sorted(ends["y"]) == list(range(len(ends)))
    for v, children in frame[frame["parent"] >= 0].groupby("parent"):
        assert frame["y"][v] == (children["y"].min() + children["y"].max()) / 2
        assert set(children.index) == set(tree.children[v])
    below = frames.nodes_below(tree)
    assert frame["hidden"].tolist() == [below[v] if v in ends.index else 0 for v in frame.index]
    assert len(frame) + frame["hidden"].sum() == tree.parent.size  # every node is drawn or counted


def test_the_path_of_a_row_is_drawn_with_siblings(model, tree):
    applied = model.apply(model.X)
    several = [i for i in range(model.X.shape[0]) if applied.of(i, 0).size > 1]
    for row in [0, *several[:2]]:
        leaves = applied.of(row, 0)
        way = frames.visited(tree, leaves)
        expected = {0}
        for leaf in leaves:
            expected |= set(frames.path_to(tree, int(leaf)))
        assert set(way) == expected
        nodes = frames.with_siblings(tree, way)
        assert set(nodes) == expected | {int(c) for v in expected for c in tree.children[v] if c >= 0}
        frame = frames.drawing_frame(tree, nodes, str, WEIGHTS, leaves=leaves)
        assert set(frame["node"][frame["visited"]]) == expected
        assert len(frame) + frame["hidden"].sum() == tree.parent.size


def test_a_drawing_names_the_label_that_rises_most_and_j(model, tree):
    frame = frames.drawing_frame(tree, frames.below(tree, 0, 2), lambda j: f"t{j}", WEIGHTS)
    whole = frames.nodes_frame(tree)
    known = frames.drawing_frame(tree, frames.below(tree, 0, 2), lambda j: f"t{j}", WEIGHTS, all_nodes=whole)
    assert known.equals(frame.astype(known.dtypes))
    root = frame.iloc[0]
    assert root["told"] == "" and root["told_name"] == ""
    for row in frame.iloc[1:].to_dict("records"):
        gain = counts(tree, row["node"]) / tree.n_samples[row["node"]]
        gain = gain - counts(tree, row["parent"]) / tree.n_samples[row["parent"]]
        gain[counts(tree, row["node"]) == 0] = -np.inf
        assert row["told_name"] == f"t{gain.argmax()}"
    left, right = root["equation"].replace("−", "-").split(" = ")
    shown = [float(part) for part in (left, *right.replace("- 2 × ", "").replace("+ 1 × ", "").split(" "))]
    values = [tree.objective[0], tree.balance[0], tree.integrity[0], tree.multiway[0]]
    assert shown == pytest.approx(values, abs=6e-4)
    assert root["sent"].count("to") == model.arity


def test_leaves_are_counted_by_depth_with_their_rows(model):
    frame = frames.depth_frame(model.trees_)
    for t, tree in enumerate(model.trees_):
        mine, leaf = frame[frame["tree"] == t], tree.children[:, 0] < 0
        assert mine["leaves"].sum() == leaf.sum()
        assert mine["rows"].sum() == tree.n_samples[leaf].sum()
        assert mine["depth"].max() == tree.depth.max()


def test_parts_of_j_by_depth_add_up_to_it(model):
    weights = (model.integrity_weight, model.multiway_weight)
    frame = frames.objective_by_depth(model.trees_, weights)
    assert ((frame["least"] <= frame["mean"] + 1e-12) & (frame["mean"] <= frame["greatest"] + 1e-12)).all()
    means = frame.pivot(index="depth", columns="part", values="mean")
    np.testing.assert_allclose(means["J"], means[list(frames.PARTS)].sum(axis=1))
    at_root = frame[(frame["part"] == "J") & (frame["depth"] == 0)].iloc[0]
    roots = [tree.objective[0] for tree in model.trees_]
    assert (at_root["least"], at_root["greatest"], at_root["nodes"]) == (min(roots), max(roots), len(roots))


def test_impurity_imbalance_and_entropy_are_those_of_the_paper(model, tree):
    """Definitions 1 and 2, and the fall of entropy in the proof of Theorem 4, from the numbers of rows."""
    M, frame = model.arity, frames.nodes_frame(tree)
    assert frame["alpha"].isna().tolist() == (frame["kind"] == "leaf").tolist()
    for v in tree.inner:
        hist, sent = counts(tree, v), np.array([counts(tree, c) for c in tree.children[v]])
        P, P_of = sent.sum(axis=1) / hist.sum(), sent[:, hist > 0] / hist[hist > 0]
        pi = hist[hist > 0] / hist.sum()
        assert frame["beta"][v] == pytest.approx(max(abs(P - P.mean())))
        assert frame["alpha"][v] == pytest.approx(sum(pi @ np.minimum(p, P_of.sum(axis=0) - p) for p in P_of) / M)
        rows = [hist, *sent] / tree.n_samples[[v, *tree.children[v]]][:, None]
        G = [-(own[own > 0] * np.log(own[own > 0])).sum() for own in rows]
        right, left = tree.n_samples[tree.children[v]][:2] / tree.n_samples[v]
        both = right + left - 1
        fall = G[0] - (right - both) * G[1] - (left - both) * G[2] - both * G[0]
        assert frame["entropy_fall"][v] == pytest.approx(fall if M == 2 else np.nan, nan_ok=True)


def test_a_perfect_split_of_rows_with_six_labels_is_below_theorem_4():
    """Equation 54 has r²/8 for the fall of entropy if b = 0 and γ = 1; with six labels a row it falls by less."""
    side = np.arange(20) % 2
    Y = [[*range(6 * s, 6 * s + 6)] for s in side]
    model = LdSM.preset("program", n_estimators=1, max_nodes=3, integrity_weight=0.5).fit(np.eye(2)[side], Y)
    root = frames.nodes_frame(model.trees_[0]).iloc[0]
    assert (root["alpha"], root["beta"]) == (0, 0)
    assert root["entropy_fall"] == pytest.approx(6 * np.log(2)) and 6 * np.log(2) < 6**2 / 8


def test_bounds_of_lemmas_3_and_4_are_those_of_the_paper(model):
    weights, M = (1.0, 1.75), model.arity
    frame = frames.lemmas_frame(model.trees_, weights)
    beta, alpha = (frame[frame["measure"] == measure] for measure in ("beta", "alpha"))
    assert (beta["value"] <= beta["bound"] + 1e-12).all() and len(alpha) == sum(t.inner.size for t in model.trees_)
    for line in alpha.iloc[:9].itertuples():
        tree = model.trees_[line.tree]
        J = tree.balance[line.node] - tree.integrity[line.node] + 1.75 * tree.multiway[line.node]
        bound = (J - tree.balance[line.node] + 1.75) * 2 / (M * (2 * 1.75 - (M - 1)))
        assert line.term == pytest.approx(J - tree.balance[line.node])
        assert line.bound == pytest.approx(bound if M - 1 + tree.balance[line.node] >= 1.75 else np.nan, nan_ok=True)
    assert frames.lemmas_frame(model.trees_, (2.0, 1.0)).query("measure == 'alpha'")["bound"].isna().all()


def test_j_in_training_is_kept_by_depth(model):
    frame = frames.training_by_depth(model.trees_, WEIGHTS).set_index(["part", "depth", "epoch"])
    deep = np.concatenate([tree.trace[tree.depth[tree.inner] == 1] for tree in model.trees_])[:, -1].astype(float)
    J = deep[:, 1] - 2 * deep[:, 2] + deep[:, 3]
    found = frame.loc[("balance", 1, model.n_epochs)]
    assert found[["least", "mean", "greatest"]].tolist() == [deep[:, 1].min(), deep[:, 1].mean(), deep[:, 1].max()]
    parts = sum(frame.loc[(part, 1, 1), "mean"] for part in frames.PARTS)
    assert found["nodes"] == len(J) and len(frame.loc["J", 0]) == model.n_epochs and np.isfinite(parts)


def test_parts_of_j_in_training_add_up_to_it(model, tree):
    weights = (model.integrity_weight, model.multiway_weight)
    for at in (0, tree.inner.size - 1):
        node = int(tree.inner[at])
        frame = frames.training_trace(tree, node, weights)
        table = frame.pivot(index=["stage", "epoch"], columns="part", values="value")
        np.testing.assert_allclose(table["J"], table[list(frames.PARTS)].sum(axis=1), atol=1e-6)
        np.testing.assert_allclose(table.loc["training", "J"], tree.trace[at, :, 0], rtol=1e-6)
        assert table.loc[("split", model.n_epochs), "J"] == tree.objective[node]


def test_a_leaf_has_neither_training_nor_features(model, tree):
    for number in (-1, 12):
        with pytest.raises(ValueError, match="label must be"):
            frames.rows_with_label(tree, number)
    leaf = int(np.flatnonzero(tree.children[:, 0] < 0)[0])
    with pytest.raises(ValueError, match=f"node {leaf} is a leaf"):
        frames.training_trace(tree, leaf, WEIGHTS)
    with pytest.raises(ValueError, match=f"node {leaf} is a leaf"):
        frames.features_of_node(model, 0, leaf)


def test_labels_of_a_node_have_the_shares_sent_to_each_child(tree):
    frame = frames.labels_of_node(tree, 0, lambda j: f"topic {j}")
    assert frame["rows"].tolist() == sorted(counts(tree, 0)[counts(tree, 0) > 0], reverse=True)
    for row in frame.to_dict("records"):
        assert row["rows"] == counts(tree, 0)[row["label"]]
        assert row["share"] == pytest.approx(row["rows"] / tree.n_samples[0])
        assert row["name"] == f"topic {row['label']}"
        for c, child in enumerate(tree.children[0], 1):
            assert row[f"to_{c}"] == pytest.approx(counts(tree, child)[row["label"]] / row["rows"])
    assert len(frames.labels_of_node(tree, 0, k=2)) == 2
    leaf = int(np.flatnonzero(tree.children[:, 0] < 0)[0])
    assert not any(column.startswith("to_") for column in frames.labels_of_node(tree, leaf))


def rare(model):
    """A label of few rows, one of many, and one in between."""
    rows = [int(counts(model.trees_[0], 0)[j]) for j in range(model.n_labels_)]
    order = np.argsort(rows, kind="stable")
    return [int(order[0]), int(order[len(order) // 2]), int(order[-1])]


def test_leaves_of_a_label_hold_all_its_rows(model, tree):
    for label in rare(model):
        frame = frames.leaves_of_label(tree, label, lambda j: f"topic {j}")
        leaves = [v for v in range(tree.parent.size) if tree.children[v, 0] < 0 and counts(tree, v)[label]]
        assert frame["node"].tolist() == sorted(leaves, key=lambda v: (-counts(tree, v)[label], v))
        assert frame["share_of_label"].sum() >= 1 - 1e-12  # every row ends somewhere, some in several leaves
        for row in frame.to_dict("records"):
            own = counts(tree, row["node"])
            assert (row["with_label"], row["rows"]) == (own[label], tree.n_samples[row["node"]])
            assert row["depth"] == tree.depth[row["node"]]
            assert row["share_of_label"] == own[label] / counts(tree, 0)[label]
            assert row["share_with_label"] == own[label] / tree.n_samples[row["node"]]
            assert row["place"] == 1 + (own > own[label]).sum()
            assert row["name_1"] == f"topic {own.argmax()}" and row["share_1"] == own.max() / row["rows"]


def test_nodes_of_a_label_are_those_its_rows_reach_and_siblings(model, tree):
    for label in rare(model):
        reached = {v for v in range(tree.parent.size) if counts(tree, v)[label]}
        around = set(frames.with_siblings(tree, list(reached)))
        assert set(frames.nodes_of_label(tree, label)) == around
        assert set(frames.nodes_of_label(tree, label, len(around) - 1)) == reached or reached == around


def test_of_many_nodes_those_with_most_rows_are_connected(model, tree):
    label = rare(model)[-1]
    count = frames.rows_with_label(tree, label)
    reached = np.flatnonzero(count)
    last = int(frames.leaves_of_label(tree, label)["node"].iloc[-1])
    for most in range(1, reached.size):
        nodes = frames.nodes_of_label(tree, label, most)
        assert nodes.size == most and all(v == 0 or tree.parent[v] in nodes for v in nodes)
        assert count[nodes].min() >= count[np.setdiff1d(reached, nodes)].max()
        wanted = frames.nodes_of_label(tree, label, most, last)
        way = frames.path_to(tree, last)
        assert set(way) <= set(wanted) and wanted.size == max(most, len(way))
        frame = frames.drawing_frame(tree, wanted, str, WEIGHTS, label=label)  # raises unless they are connected
        assert len(frame) + frame["hidden"].sum() == tree.parent.size  # every node is drawn or counted


def test_a_drawing_of_a_label_has_its_share_at_each_node(model, tree):
    label = rare(model)[-1]
    nodes = frames.nodes_of_label(tree, label)
    frame = frames.drawing_frame(tree, nodes, lambda j: f"t{j}", WEIGHTS, label=label).set_index("node")
    for v, row in zip(frame.index, frame.to_dict("records")):
        own = counts(tree, v)
        assert row["visited"] == (own[label] > 0) and row["with_label"] == own[label]
        assert row["share_of_label"] == own[label] / counts(tree, 0)[label]
        assert row["share_with_label"] == own[label] / tree.n_samples[v]
        others = np.where(np.arange(12) == label, 0, own)
        assert row["companion"] == (f"t{others.argmax()}" if others.any() else "")
    assert frame["held"][0] == "100 %" and frame["having"][0].endswith("100 % of all that have it")
    assert (frame["having"] == "none with the label").tolist() == (frame["with_label"] == 0).tolist()


def test_the_deepest_node_with_all_rows_of_a_label_is_found(model, tree):
    for label in range(12):
        count = [counts(tree, v)[label] for v in range(tree.parent.size)]
        whole = [v for v, n in enumerate(count) if n == count[0]]
        assert frames.together_until(tree, label) == max(whole, key=lambda v: (tree.depth[v], -v))


def test_a_label_without_training_rows_has_no_nodes():
    Y = np.zeros((4, 3), bool)
    Y[:2, 0] = Y[2:, 2] = True
    tree = LdSM.preset("program", n_estimators=1, n_epochs=3).fit(np.eye(4), Y).trees_[0]
    assert not frames.rows_with_label(tree, 1).any()
    assert frames.nodes_of_label(tree, 1).size == 0
    assert frames.leaves_of_label(tree, 1, str).empty
    assert frames.together_until(tree, 1) == 0


def test_a_tree_of_one_leaf_has_all_tables(one_node):
    assert frames.nodes_below(one_node).tolist() == [0]
    assert frames.levels_that_fit(one_node) == 1
    frame = frames.drawing_frame(one_node, frames.below(one_node), str)
    assert frame[["node", "x", "y", "hidden"]].to_numpy().tolist() == [[0, 0, 0, 0]]
    for table in (frames.objective_by_depth, frames.training_by_depth, frames.lemmas_frame):
        assert table([one_node], WEIGHTS).empty
    assert frames.depth_frame([one_node]).to_numpy().tolist() == [[0, 0, 1, 2]]
    assert frames.nodes_of_label(one_node, 1).tolist() == [0]
    assert frames.leaves_of_label(one_node, 1)["place"].tolist() == [2]


def test_the_features_of_a_node_send_rows_to_its_children(model):
    """A row goes where the sums of weights and bias say, so its way to its leaves can be followed by the frames."""
    t, tree = 1, model.trees_[1]
    arity, forest = tree.children.shape[1], model.forest_
    reached = {0: np.arange(40)}
    for node in tree.inner.tolist():
        found = frames.features_of_node(model, t, node, "word {}".format)
        weights = np.zeros((model.X.shape[1], arity))
        weights[found["feature"]] = found[[f"weight_{c + 1}" for c in range(arity)]]
        same = sp.csr_array(model.X[:40]).toarray()[reached[node]]
        first = int(forest.first_child[int(forest.root[t]) + node])
        margins = same @ weights + forest.bias[first : first + arity]
        goes = margins >= 0.5
        goes[np.arange(len(same)), margins.argmax(axis=1)] |= ~goes.any(axis=1)
        for c, child in enumerate(tree.children[node].tolist()):
            reached[child] = reached[node][goes[:, c]]
        assert (found["to"] == weights[found["feature"]].argmax(axis=1) + 1).all()
        assert found["lead"].is_monotonic_decreasing and (found["lead"] > 0).all()
        assert found["name"].tolist() == [f"word {j}" for j in found["feature"]]
        few = frames.features_of_node(model, t, node, k=2)
        for c, mine in found.groupby("to"):
            assert few[few["to"] == c]["feature"].tolist() == mine["feature"].head(2).tolist()
        mean = np.linspace(-1, 2, model.X.shape[1])
        by_effect = frames.features_of_node(model, t, node, values=mean)
        assert set(by_effect["feature"]) == set(found["feature"]) and by_effect["effect"].is_monotonic_decreasing
        for line in by_effect.itertuples():
            pull = np.sort(weights[line.feature] * mean[line.feature])
            assert line.effect == pytest.approx(pull[-1] - pull[-2])
            assert weights[line.feature][line.to - 1] * mean[line.feature] == pull[-1]
    leaves = model.apply(model.X[:40])
    for row in range(40):
        ends = [v for v, rows in sorted(reached.items()) if tree.children[v, 0] < 0 and row in rows]
        assert ends == sorted(leaves.of(row, t).tolist())
