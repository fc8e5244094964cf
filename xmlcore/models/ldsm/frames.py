"""Trees of LdSM as tables, for notebooks and the dashboard: of all nodes at once, or of a few given ones."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np

from xmlcore._kernels.ranking import top_k_sparse
from xmlcore.first_use import pd
from xmlcore.models.ldsm.trees import LdSMTree
from xmlcore.models.plt.frames import check_node, path_to, with_names
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count, csr_parts
from xmlcore.wording import rounded


def nodes_below(tree: "LdSMTree") -> np.ndarray:
    count = np.zeros(tree.parent.size, np.int64)
    order = np.argsort(-tree.depth, kind="stable")
    starts = np.flatnonzero(np.diff(tree.depth[order], prepend=tree.depth[order[0]] + 1))
    for nodes in np.split(order, starts[1:])[:-1]:  # deepest first, without the root
        np.add.at(count, tree.parent[nodes], count[nodes] + 1)
    return count


def below(tree: "LdSMTree", top: int = 0, levels: int = 4) -> np.ndarray:
    """Return the nodes to draw: ``top`` and so many levels below it."""
    return np.concatenate([*islice(_levels(tree, top), check_count(levels, "levels", least=0) + 1)])


def _levels(tree, top) -> Iterator[np.ndarray]:
    """Yield a node, its children, their children, and so on."""
    level = np.array([check_node(tree, top)], np.int64)
    while level.size:
        yield level
        children = tree.children[level].ravel()
        level = children[children >= 0].astype(np.int64)


def levels_that_fit(tree: "LdSMTree", top: int = 0, most_nodes: int = 400) -> int:
    """Return how many levels below ``top`` can be drawn with at most ``most_nodes`` nodes; at least 1."""
    drawn = np.cumsum([level.size for level in _levels(tree, top)])
    return max(int((drawn <= most_nodes).sum()) - 1, 1)


def visited(tree: "LdSMTree", leaves) -> np.ndarray:
    """Return the nodes that a row passes on its ways to some leaves, and the leaves, in ascending order."""
    found = frontier = np.unique(np.asarray(leaves, np.int64))
    while frontier.size:
        frontier = np.unique(tree.parent[frontier])
        frontier = frontier[frontier >= 0]
        found = np.union1d(found, frontier)
    return found.astype(np.int64)


def with_siblings(tree: "LdSMTree", nodes) -> np.ndarray:
    """Return nodes and their siblings in ascending order, so that parents come before their children."""
    parents = np.unique(tree.parent[np.asarray(nodes, np.int64)])
    children = tree.children[parents[parents >= 0]].ravel()
    return np.union1d(nodes, children).astype(np.int64)


def top_labels(tree: "LdSMTree", k: int = 3, nodes=None) -> tuple[np.ndarray, np.ndarray]:
    k = check_count(k, "k")
    part = tree.histograms if nodes is None else tree.histograms[np.asarray(nodes, np.int64)]
    labels, rows = np.empty((part.shape[0], k), np.int32), np.empty((part.shape[0], k))
    top_k_sparse(*csr_parts(part.astype(np.float64)), labels, rows)
    return labels, rows.astype(np.int64)


def told_apart_by(tree: "LdSMTree", nodes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for each node, the label whose share of rows rises most from the parent to the node."""
    hist, rows = tree.histograms, tree.n_samples
    labels, shares, before = np.full(len(nodes), -1, np.int32), np.zeros(len(nodes)), np.zeros(len(nodes))
    for i, v in enumerate(np.asarray(nodes).tolist()):
        parent = tree.parent[v]
        own, above = slice(hist.indptr[v], hist.indptr[v + 1]), slice(hist.indptr[parent], hist.indptr[parent + 1])
        ids = hist.indices[own]
        if parent < 0 or not ids.size:
            continue
        then = hist.data[above][np.searchsorted(hist.indices[above], ids)] / rows[parent]  # its labels are there too
        now = hist.data[own] / rows[v]
        best = int(np.argmax(now - then))
        labels[i], shares[i], before[i] = ids[best], now[best], then[best]
    return labels, shares, before


def nodes_frame(
    tree: "LdSMTree", label_name: Callable[[int], str] | None = None, k: int = 3, nodes=None
) -> "DataFrame":
    chosen = np.arange(tree.parent.size) if nodes is None else np.asarray(nodes, np.int64)
    parent, n = tree.parent[chosen], tree.n_samples[chosen]
    labels, rows = top_labels(tree, k, None if nodes is None else chosen)
    shares = rows / np.maximum(n, 1)[:, None]
    columns = {
        "node": chosen,
        "parent": parent,
        "depth": tree.depth[chosen],
        "kind": np.where(tree.children[chosen, 0] >= 0, "inner", "leaf"),
        "rows": n,
        "share_of_parent": np.where(parent >= 0, n / tree.n_samples[parent.clip(0)], 1.0),
        "below": nodes_below(tree)[chosen] if (tree.children[chosen, 0] >= 0).any() else 0,
    }
    columns |= {name: getattr(tree, name)[chosen] for name in ("objective", "balance", "integrity", "multiway")}
    return _with_labels(columns | split_terms(tree, chosen), labels, shares, label_name)


def split_terms(tree: "LdSMTree", nodes) -> dict[str, np.ndarray]:
    """Return α, β and the fall of the entropy by the splits of nodes (docs/methods/ldsm.md), NaN without one."""
    found = {name: np.full(len(nodes), np.nan) for name in ("alpha", "beta", "entropy_fall")}
    inner = np.flatnonzero(tree.children[nodes, 0] >= 0)
    split, M = np.asarray(nodes)[inner], tree.children.shape[1]
    children = tree.children[split]
    total, parts = tree.histograms[split].sum(axis=1), [tree.histograms[children[:, c]] for c in range(M)]
    every, sent = sum(parts), np.column_stack([part.sum(axis=1) for part in parts]) / total[:, None]
    found["alpha"][inner] = sum(part.minimum(every - part).sum(axis=1) for part in parts) / (M * total)
    found["beta"][inner] = abs(sent - sent.mean(axis=1, keepdims=True)).max(axis=1)
    if M == 2:
        first, second = (tree.n_samples[children] / tree.n_samples[split][:, None]).T
        both = np.maximum(first + second - 1, 0)
        of_children = (1 - second) * _entropy(tree, children[:, 0]) + (1 - first) * _entropy(tree, children[:, 1])
        found["entropy_fall"][inner] = (1 - both) * _entropy(tree, split) - of_children
    return found


def _entropy(tree, nodes):
    """Return the sum of -ρ ln ρ over the labels of each node, where ρ is the share of its rows with the label."""
    part = tree.histograms[nodes]
    at = np.repeat(np.arange(len(nodes)), np.diff(part.indptr))
    shares = part.data / tree.n_samples[nodes][at]
    return np.bincount(at, -shares * np.log(shares), minlength=len(nodes))


def _with_labels(columns, labels, shares, label_name) -> "DataFrame":
    """Return a table of nodes with columns for the most frequent labels, their shares, and their names."""
    for place, (label, share) in enumerate(zip(labels.T, shares.T), 1):
        columns |= {f"label_{place}": label, f"share_{place}": share}
    frame = pd.DataFrame(columns)
    return frame if label_name is None else with_label_names(frame, label_name)


def with_label_names(frame: "DataFrame", label_name: Callable[[int], str]) -> "DataFrame":
    """Add the names of the labels to a table of :func:`nodes_frame`; empty text where there is no label."""
    frame = frame.copy()
    for column in [c for c in frame.columns if c.startswith("label_")]:
        ids = frame[column].to_numpy()
        known = {int(j): label_name(int(j)) for j in np.unique(ids) if j >= 0}
        place = frame.columns.get_loc(column) + 1
        frame.insert(place, column.replace("label_", "name_"), [known.get(int(j), "") for j in ids])
    return frame


def labels_of_node(
    tree: "LdSMTree", node: int, label_name: Callable[[int], str] | None = None, k: int | None = None
) -> "DataFrame":
    """Return the labels of a node's training rows, and where the node sends them."""
    node = check_node(tree, node)
    hist = tree.histograms
    present = slice(hist.indptr[node], hist.indptr[node + 1])
    labels, counts = hist.indices[present], hist.data[present].astype(np.int64)
    order = np.lexsort((labels, -counts))[:k]
    labels, counts = labels[order], counts[order]
    columns = with_names({"label": labels}, label_name)
    columns |= {"rows": counts, "share": counts / tree.n_samples[node]}
    if tree.children[node, 0] >= 0:
        for c, child in enumerate(tree.children[node], 1):
            columns[f"to_{c}"] = hist[[child]].toarray()[0][labels] / counts
    return pd.DataFrame(columns)


def rows_with_label(tree: "LdSMTree", label: int) -> np.ndarray:
    """Count, for every node, its training rows that have a label."""
    hist = tree.histograms
    label = check_count(label, "label", least=0, most=hist.shape[1] - 1)
    at = np.flatnonzero(hist.indices == label)
    count = np.zeros(tree.parent.size, np.int64)
    count[np.searchsorted(hist.indptr, at, side="right") - 1] = hist.data[at]
    return count


def nodes_of_label(tree: "LdSMTree", label: int, most_nodes: int = 400, node: int | None = None) -> np.ndarray:
    """Return the nodes to draw for a label: those that its training rows reach."""
    most_nodes = check_count(most_nodes, "most_nodes")
    count = rows_with_label(tree, label)
    reached = np.flatnonzero(count)
    if reached.size > most_nodes:
        way = [] if node is None or count[check_node(tree, node)] == 0 else path_to(tree, node)
        # A parent has at least its child's rows, and the smaller number: any first part of this order is connected.
        order = reached[np.lexsort((reached, -count[reached]))]
        others = order[~np.isin(order, way)][: max(most_nodes - len(way), 0)]
        return np.union1d(way, others).astype(np.int64)
    around = with_siblings(tree, reached)
    return around if around.size <= most_nodes else reached.astype(np.int64)


def together_until(tree: "LdSMTree", label: int) -> int:
    """Return the deepest node that all training rows of a label reach; of equally deep ones, that made first."""
    count = rows_with_label(tree, label)
    whole = np.flatnonzero(count == count[0])
    return int(whole[np.argmax(tree.depth[whole])]) if count[0] else 0


def leaves_of_label(
    tree: "LdSMTree", label: int, label_name: Callable[[int], str] | None = None, k: int = 3
) -> "DataFrame":
    """Return a table of the leaves that a label's training rows reach, and of the other labels there."""
    count = rows_with_label(tree, label)
    nodes = np.flatnonzero((count > 0) & (tree.children[:, 0] < 0))
    nodes = nodes[np.lexsort((nodes, -count[nodes]))]
    part = tree.histograms[nodes]
    of = np.repeat(np.arange(nodes.size), np.diff(part.indptr))
    before = np.bincount(of[part.data > count[nodes][of]], minlength=nodes.size)
    labels, rows = top_labels(tree, k, nodes)
    columns = {
        "node": nodes,
        "depth": tree.depth[nodes],
        "with_label": count[nodes],
        "share_of_label": count[nodes] / max(int(count[0]), 1),
        "rows": tree.n_samples[nodes],
        "share_with_label": count[nodes] / tree.n_samples[nodes],
        "place": before + 1,
    }
    return _with_labels(columns, labels, rows / tree.n_samples[nodes][:, None], label_name)


def layout(tree: "LdSMTree", nodes, n_below: np.ndarray | None = None) -> "DataFrame":
    """Place nodes for a drawing from left to right: x is the depth; each node that ends a branch has its own line."""
    drawn = set(np.asarray(nodes).tolist())
    tops = [v for v in drawn if int(tree.parent[v]) not in drawn]
    if len(tops) != 1:
        raise ValueError(f"the nodes must have one top, not {len(tops)}")
    order, y, lines = [], {}, 0
    stack = [(tops[0], False)]
    while stack:
        v, done = stack.pop()
        children = [c for c in tree.children[v].tolist() if c in drawn]
        if done:
            y[v] = (y[children[0]] + y[children[-1]]) / 2
            continue
        order.append(v)
        if children:
            stack.append((v, True))
            stack.extend((c, False) for c in reversed(children))
        else:
            y[v] = float(lines)
            lines += 1
    order = np.array(order, np.int64)
    parent = tree.parent[order].copy()
    parent[0] = -1
    n_below = nodes_below(tree) if n_below is None else n_below
    hidden = [sum(int(n_below[c]) + 1 for c in tree.children[v].tolist() if c >= 0 and c not in drawn) for v in order]
    return pd.DataFrame(
        {"node": order, "parent": parent, "x": tree.depth[order], "y": [y[v] for v in order.tolist()], "hidden": hidden}
    )


def drawing_frame(
    tree: "LdSMTree",
    nodes,
    label_name: Callable[[int], str] = str,
    weights: tuple[float, float] = (1.0, 1.0),
    *,
    leaves=None,
    label: int | None = None,
    all_nodes: "DataFrame | None" = None,
) -> "DataFrame":
    """Return a table of all that a drawing of nodes shows, for :func:`xmlcore.figures.tree`."""
    placed = layout(tree, nodes, None if all_nodes is None else all_nodes["below"].to_numpy())
    order = placed["node"].to_numpy()
    rows = nodes_frame(tree, nodes=order) if all_nodes is None else all_nodes.iloc[order].reset_index(drop=True)
    rows = with_label_names(rows, label_name)
    frame = placed.join(rows.drop(columns=["node", "parent"]))
    k = sum(column.startswith("name_") for column in frame.columns)
    frame["labels"] = [
        ", ".join(f"{row[f'name_{i}']} {rounded(row[f'share_{i}'])}" for i in range(1, k + 1) if row[f"label_{i}"] >= 0)
        for row in frame.to_dict("records")
    ]
    told, share, before = told_apart_by(tree, order)
    frame["told_name"] = ["" if j < 0 else label_name(int(j)) for j in told]
    frame["told"] = [
        f"{name} {rounded(now)}, before {rounded(then)}" if name else ""
        for name, now, then in zip(frame["told_name"], share, before)
    ]
    frame["equation"] = [
        ""
        if np.isnan(J)
        else f"{J:.3f} = {b:.3f} − {weights[0]:g} × {i:.3f} + {weights[1]:g} × {m:.3f}".replace("-", "−")
        for J, b, i, m in zip(frame["objective"], frame["balance"], frame["integrity"], frame["multiway"])
    ]
    sent = tree.n_samples[tree.children[order]] / tree.n_samples[order][:, None]  # of leaves nothing
    frame["sent"] = [
        " / ".join(f"{rounded(share)} to {child}" for share, child in zip(shares, children) if child >= 0)
        for shares, children in zip(sent, tree.children[order])
    ]
    if leaves is not None:
        frame["visited"] = np.isin(order, visited(tree, leaves))
    if label is not None:
        _add_label(frame, tree, label)
    return frame


def _add_label(frame, tree, label):
    """Add the columns of :func:`drawing_frame` about one label, in place."""
    order = frame["node"].to_numpy()
    having = rows_with_label(tree, label)
    frame["visited"] = having[order] > 0
    frame["with_label"] = having[order]
    frame["share_with_label"] = having[order] / tree.n_samples[order]
    frame["share_of_label"] = having[order] / max(int(having[0]), 1)
    frame["held"] = [rounded(share) for share in frame["share_of_label"]]
    frame["having"] = [
        f"{n:,} with the label: {rounded(own)} of these, {all_} of all that have it" if n else "none with the label"
        for n, own, all_ in zip(frame["with_label"], frame["share_with_label"], frame["held"])
    ]
    frame["companion"] = np.where(frame["label_1"] == label, frame["name_2"], frame["name_1"])


OBJECTIVE = "J"
PARTS = ("balance", "class integrity", "multi-way")  # of J


def depth_frame(trees: Sequence["LdSMTree"]) -> "DataFrame":
    """Count leaves, and the training rows in them, by depth."""
    nodes = [
        pd.DataFrame({"tree": t, "depth": tree.depth, "rows": tree.n_samples})[tree.children[:, 0] < 0]
        for t, tree in enumerate(trees)
    ]
    by_depth = pd.concat(nodes).astype(np.int64).groupby(["tree", "depth"], as_index=False)
    return by_depth.agg(leaves=("rows", "size"), rows=("rows", "sum"))


def contributions(objective, balance, integrity, multiway, weights: tuple[float, float]) -> dict:
    """Return J and its parts by name; the parts have their weights and signs, so that they add up to J."""
    return {OBJECTIVE: objective, PARTS[0]: balance, PARTS[1]: -weights[0] * integrity, PARTS[2]: weights[1] * multiway}


def objective_by_depth(trees: Sequence["LdSMTree"], weights: tuple[float, float]) -> "DataFrame":
    """Return J of the splits and its weighted parts by depth (Figure 1 of the paper)."""
    names = ("objective", "balance", "integrity", "multiway")
    values = [np.concatenate([getattr(tree, name)[tree.inner] for tree in trees]) for name in names]
    depth = np.concatenate([tree.depth[tree.inner] for tree in trees])
    return _ranges(contributions(*values, weights), {"depth": depth})


def training_by_depth(trees: Sequence["LdSMTree"], weights: tuple[float, float]) -> "DataFrame":
    """Return J and its weighted parts after each epoch of the training of nodes, by their depth (Figure 1)."""
    depth = np.concatenate([tree.depth[tree.inner] for tree in trees])
    trace = np.concatenate([tree.trace for tree in trees]).astype(np.float64)
    epochs = np.tile(np.arange(1, trace.shape[1] + 1), depth.size)
    by = {"depth": np.repeat(depth, trace.shape[1]), "epoch": epochs}
    return _ranges(contributions(*trace.reshape(-1, 4).T, weights), by)


def _ranges(parts, by) -> "DataFrame":
    """Return the least, the mean and the greatest value of each part of J, and their number, by columns."""
    frames = (pd.DataFrame({"part": part, **by, "value": value}) for part, value in parts.items())
    groups = [frame.groupby(["part", *by])["value"] for frame in frames]
    found = [group.agg(least="min", mean="mean", greatest="max", nodes="size").reset_index() for group in groups]
    return pd.concat(found, ignore_index=True)


def lemmas_frame(trees: Sequence["LdSMTree"], weights: tuple[float, float]) -> "DataFrame":
    """Return β and α of all splits, the part of J that bounds each, and the bound of lemma 3 or 4; NaN without one."""
    M, (integrity, multiway) = trees[0].children.shape[1], weights
    room = 2 * multiway - integrity * (M - 1)
    parts = []
    for t, tree in enumerate(trees):
        terms, inner = split_terms(tree, tree.inner), tree.inner
        purity = multiway * tree.multiway[inner] - integrity * tree.integrity[inner]
        stated = (room > 0) & (integrity * (M - 1) + tree.balance[inner] >= multiway)  # the condition of lemma 4
        bound = np.where(stated, (purity + multiway) * 2 / (M * room or 1), np.nan)
        for measure, term, bounds in (("beta", tree.balance[inner], tree.balance[inner]), ("alpha", purity, bound)):
            columns = {"tree": t, "node": inner, "measure": measure, "term": term, "value": terms[measure]}
            parts.append(pd.DataFrame(columns | {"bound": bounds}))
    return pd.concat(parts, ignore_index=True)


def training_trace(tree: "LdSMTree", node: int, weights: tuple[float, float]) -> "DataFrame":
    """Return J of a node and its weighted parts after each epoch of its training."""
    node = check_node(tree, node)
    at = int(np.searchsorted(tree.inner, node))
    if at == tree.inner.size or tree.inner[at] != node:
        raise ValueError(f"node {node} is a leaf: it was not trained")
    trace = tree.trace[at].astype(np.float64)
    n_epochs = trace.shape[0]
    split = [[tree.objective[node], tree.balance[node], tree.integrity[node], tree.multiway[node]]]
    stages = {"training": (np.arange(1, n_epochs + 1), trace), "split": ([max(n_epochs, 1)], np.array(split))}
    return pd.concat(
        [
            pd.DataFrame({"epoch": epochs, "part": part, "value": value, "stage": stage})
            for stage, (epochs, values) in stages.items()
            for part, value in contributions(*values.T, weights).items()
        ],
        ignore_index=True,
    )


def features_of_node(
    model,
    t: int,
    node: int,
    feature_name: Callable[[int], str] | None = None,
    k: int | None = None,
    values: np.ndarray | None = None,
) -> "DataFrame":
    """Return the features of a node's regressors, those that tell its children apart most first."""
    t = check_count(t, "t", least=0, most=len(model.trees_) - 1)
    tree, forest = model.trees_[t], model.forest_
    node, arity = check_node(tree, node), tree.children.shape[1]
    g = int(forest.group[int(forest.root[t]) + node])
    if g < 0:
        raise ValueError(f"node {node} is a leaf: it sends no rows to children")
    start, end = int(forest.column_ptr[g]), int(forest.column_ptr[g + 1])
    weights = forest.weights[arity * start : arity * end].reshape(-1, arity).astype(np.float64)
    features = model.feature_of_column_[forest.columns[start:end]]
    typical = np.ones(features.size) if values is None else np.asarray(values, np.float64)[features]
    signed = weights * np.where(typical < 0, -1.0, 1.0)[:, None]
    ordered = np.sort(signed, axis=1)
    to, lead = np.argmax(signed, axis=1) + 1, ordered[:, -1] - ordered[:, -2]
    effect = lead * np.abs(typical)
    order = np.lexsort((features, -effect))
    order = order[effect[order] > 0]
    if k is not None:
        order = order[pd.Series(order).groupby(to[order]).cumcount() < check_count(k, "k")]
    columns = with_names({"feature": features[order]}, feature_name)
    columns |= {f"weight_{c + 1}": weights[order, c] for c in range(arity)}
    return pd.DataFrame(columns | {"to": to[order], "lead": lead[order], "effect": effect[order]})


def row_in_columns(model, x) -> tuple[np.ndarray, np.ndarray]:
    """Return a row's columns in the model, ascending, and its values in them as float64; x is canonical CSR (1, D)."""
    _, columns, place = model.in_columns(x)
    order = np.argsort(columns, kind="stable")
    return columns[order], x.data[place][order].astype(np.float64)


def regressors(model, t: int, node: int, columns) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the regressors of a node's children for the columns of a row, ascending; None for a leaf."""
    forest, M = model.forest_, model.trees_[0].children.shape[1]
    v = int(forest.root[t]) + node
    g, first = int(forest.group[v]), int(forest.first_child[v])
    if g < 0:
        return None
    start, end = int(forest.column_ptr[g]), int(forest.column_ptr[g + 1])
    of_node = forest.columns[start:end]
    place = np.searchsorted(of_node, columns)
    used = place < of_node.size
    used[used] = of_node[place[used]] == columns[used]
    weights = forest.weights[M * start : M * end].reshape(-1, M)[place[used]].astype(np.float64)
    return forest.bias[first : first + M].astype(np.float64), weights, used
