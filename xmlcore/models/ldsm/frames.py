"""Trees of LdSM as tables: what a notebook or the dashboard needs to look at them.

Everything here is computed from the arrays of :class:`xmlcore.models.ldsm.LdSMTree`, for all nodes at once or for those
that are asked for, so that a tree of 100,000 nodes is no slower to look at than one of a hundred.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xmlcore.validation import check_count

if TYPE_CHECKING:
    import pandas as pd

    from xmlcore.models.ldsm import LdSMTree

# What J is made of, as contributions that add up to it.
OBJECTIVE = "J"
PARTS = ("balance", "class integrity", "multi-way")
INNER, LEAF = "inner", "leaf"


def nodes_below(tree: "LdSMTree") -> np.ndarray:
    """Count the nodes below each node.

    Parameters
    ----------
    tree : LdSMTree

    Returns
    -------
    ndarray of int64, shape (n_nodes,)
        0 for leaves.
    """
    count = np.zeros(tree.parent.size, np.int64)
    order = np.argsort(-tree.depth, kind="stable")
    starts = np.flatnonzero(np.diff(tree.depth[order], prepend=tree.depth[order[0]] + 1))
    for nodes in np.split(order, starts[1:])[:-1]:  # deepest first, without the root
        np.add.at(count, tree.parent[nodes], count[nodes] + 1)
    return count


def top_labels(tree: "LdSMTree", k: int = 3, nodes=None) -> tuple[np.ndarray, np.ndarray]:
    """Return the most frequent labels of nodes.

    Parameters
    ----------
    tree : LdSMTree
    k : int
    nodes : array of int, optional
        All by default.

    Returns
    -------
    labels : ndarray of int32, shape (n, k)
        Most frequent first, the smaller id first among equals; -1 where a node has fewer.
    rows : ndarray of int64, shape (n, k)
        The node's training rows that have the label.
    """
    k = check_count(k, "k")
    part = tree.histograms if nodes is None else tree.histograms[np.asarray(nodes, np.int64)]
    ptr, ids, counts = part.indptr.astype(np.int64), part.indices, part.data
    node = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    order = np.lexsort((ids, -counts.astype(np.int64), node))
    place = np.arange(ids.size) - ptr[node]  # lexsort keeps nodes together, in order
    kept = place < k
    labels = np.full((ptr.size - 1, k), -1, np.int32)
    rows = np.zeros((ptr.size - 1, k), np.int64)
    labels[node[kept], place[kept]] = ids[order[kept]]
    rows[node[kept], place[kept]] = counts[order[kept]]
    return labels, rows


def told_apart_by(tree: "LdSMTree", nodes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for each node, the label whose share of rows has grown most from the parent to it.

    The most frequent label is often the same for all nodes; this one says what a split has set apart.

    Parameters
    ----------
    tree : LdSMTree
    nodes : array of int

    Returns
    -------
    labels : ndarray of int32
        -1 for the root.
    shares, before : ndarray of float64
        Of the node's rows, and of its parent's, that have the label.
    """
    hist, rows = tree.histograms, tree.n_samples
    labels, shares, before = np.full(len(nodes), -1, np.int32), np.zeros(len(nodes)), np.zeros(len(nodes))
    for i, v in enumerate(np.asarray(nodes).tolist()):
        parent = tree.parent[v]
        if parent < 0:
            continue
        own, above = slice(hist.indptr[v], hist.indptr[v + 1]), slice(hist.indptr[parent], hist.indptr[parent + 1])
        ids = hist.indices[own]
        then = hist.data[above][np.searchsorted(hist.indices[above], ids)] / rows[parent]  # its labels are there too
        now = hist.data[own] / rows[v]
        best = int(np.argmax(now - then))
        labels[i], shares[i], before[i] = ids[best], now[best], then[best]
    return labels, shares, before


def nodes_frame(
    tree: "LdSMTree", label_name: Callable[[int], str] | None = None, k: int = 3, nodes=None
) -> "pd.DataFrame":
    """Return a table of a tree's nodes.

    Parameters
    ----------
    tree : LdSMTree
    label_name : callable, optional
        Name of a label by its id, such as ``dataset.label_name``; adds the columns ``name_1`` to ``name_k``.
    k : int
        Most frequent labels of each node.
    nodes : array of int, optional
        Which nodes, in which order; all by default.

    Returns
    -------
    DataFrame, a row per node
        ``node``; ``parent`` (-1 for the root); ``depth``; ``kind`` ("inner" or "leaf"); ``rows``, training rows that
        reach it; ``share_of_parent``, of the parent's rows; ``below``, nodes below it; ``purity``, share of its rows
        that have its most frequent label; ``objective``, ``balance``, ``integrity``, ``multiway`` as in the tree,
        without their weights, NaN for leaves; ``label_1``, ``share_1`` to ``label_k``, ``share_k``: its most frequent
        labels (-1 for none) and the shares of its rows that have them.
    """
    import pandas as pd

    chosen = np.arange(tree.parent.size) if nodes is None else np.asarray(nodes, np.int64)
    parent, n = tree.parent[chosen], tree.n_samples[chosen]
    labels, rows = top_labels(tree, k, None if nodes is None else chosen)
    shares = rows / n[:, None]
    columns = {
        "node": chosen,
        "parent": parent,
        "depth": tree.depth[chosen],
        "kind": np.where(tree.children[chosen, 0] >= 0, INNER, LEAF),
        "rows": n,
        "share_of_parent": np.where(parent >= 0, n / tree.n_samples[parent], 1.0),
        "below": nodes_below(tree)[chosen] if (tree.children[chosen, 0] >= 0).any() else 0,
        "purity": shares[:, 0],
    }
    columns |= {name: getattr(tree, name)[chosen] for name in ("objective", "balance", "integrity", "multiway")}
    for place in range(k):
        columns |= {f"label_{place + 1}": labels[:, place], f"share_{place + 1}": shares[:, place]}
    frame = pd.DataFrame(columns)
    return frame if label_name is None else with_names(frame, label_name)


def with_names(frame: "pd.DataFrame", label_name: Callable[[int], str]) -> "pd.DataFrame":
    """Add the names of the labels to a table of :func:`nodes_frame`; empty text where there is no label."""
    frame = frame.copy()
    for column in [c for c in frame.columns if c.startswith("label_")]:
        ids = frame[column].to_numpy()
        known = {int(j): label_name(int(j)) for j in np.unique(ids) if j >= 0}
        place = frame.columns.get_loc(column) + 1
        frame.insert(place, column.replace("label_", "name_"), [known.get(int(j), "") for j in ids])
    return frame


# --- which nodes to draw, and where ---


def path_to(tree: "LdSMTree", node: int) -> list[int]:
    """Nodes from the root to ``node``, both included."""
    path = [_check_node(tree, node)]
    while tree.parent[path[-1]] >= 0:
        path.append(int(tree.parent[path[-1]]))
    return path[::-1]


def below(tree: "LdSMTree", top: int = 0, levels: int = 4) -> np.ndarray:
    """Nodes of the part of a tree that is drawn: ``top`` and so many levels below it.

    Parameters
    ----------
    tree : LdSMTree
    top : int
    levels : int

    Returns
    -------
    ndarray of int64
        Level by level, ``top`` first.
    """
    found = [np.array([_check_node(tree, top)], np.int64)]
    for _ in range(check_count(levels, "levels", least=0)):
        children = tree.children[found[-1]].ravel()
        children = children[children >= 0]
        if children.size == 0:
            break
        found.append(children.astype(np.int64))
    return np.concatenate(found)


def levels_that_fit(tree: "LdSMTree", top: int = 0, most_nodes: int = 400) -> int:
    """Return the most levels below ``top`` with at most ``most_nodes`` nodes; at least 1."""
    level, drawn, levels = np.array([_check_node(tree, top)]), 1, 0
    while True:
        level = tree.children[level].ravel()
        level = level[level >= 0]
        drawn += level.size
        if level.size == 0 or drawn > most_nodes:
            return max(levels, 1)
        levels += 1


def visited(tree: "LdSMTree", leaves) -> np.ndarray:
    """Nodes that a row passes on its ways to some leaves, with these, in ascending order."""
    found = frontier = np.unique(np.asarray(leaves, np.int64))
    while frontier.size:
        frontier = np.unique(tree.parent[frontier])
        frontier = frontier[frontier >= 0]
        found = np.union1d(found, frontier)
    return found.astype(np.int64)


def with_siblings(tree: "LdSMTree", nodes) -> np.ndarray:
    """Nodes and their siblings, in ascending order: parents come before their children."""
    parents = np.unique(tree.parent[np.asarray(nodes, np.int64)])
    children = tree.children[parents[parents >= 0]].ravel()
    return np.union1d(nodes, children).astype(np.int64)


def layout(tree: "LdSMTree", nodes, n_below: np.ndarray | None = None) -> "pd.DataFrame":
    """Place nodes for a drawing from left to right: depth is x, and a node that ends a branch has a line of its own.

    Parameters
    ----------
    tree : LdSMTree
    nodes : array of int
        Connected: one of them is above all others, and with any other comes its parent.
    n_below : ndarray, optional
        ``nodes_below(tree)``, if it is at hand.

    Returns
    -------
    DataFrame
        ``node``, ``parent`` (-1 for the top), ``x`` (depth), ``y`` (0 and up, whole numbers at the ends of branches,
        in the middle of its drawn children for others), ``hidden`` (nodes below it that are not drawn and not below
        another drawn one).
    """
    import pandas as pd

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
    all_nodes: "pd.DataFrame | None" = None,
) -> "pd.DataFrame":
    """Return all that a drawing of nodes shows, for :func:`xmlcore.figures.tree`.

    Parameters
    ----------
    tree : LdSMTree
    nodes : array of int
        From :func:`below`, :func:`nodes_of_label`, or :func:`with_siblings` of :func:`visited`.
    label_name : callable
    weights : pair of float
        ``integrity_weight`` and ``multiway_weight`` of the model.
    leaves : array of int, optional
        Leaves that a row reaches: adds ``visited``, whether it passes a node.
    label : int, optional
        Adds ``visited``, whether training rows of the label pass a node, and ``with_label`` (how many),
        ``share_with_label`` (of the node's rows), ``share_of_label`` (of the label's rows), ``held`` (the latter in
        words), ``having`` (all three in words) and ``companion`` (the most frequent other label of the node, empty
        where it has none).
    all_nodes : DataFrame, optional
        ``nodes_frame(tree)``, if it is at hand.

    Returns
    -------
    DataFrame
        Columns of :func:`layout` and :func:`nodes_frame`, with ``labels`` (the most frequent labels with their shares,
        in words), ``told_name`` and ``told`` (the label that has grown most from the parent, see
        :func:`told_apart_by`), ``equation`` (J of its parts) and ``sent`` (shares of rows sent to each child).
    """
    placed = layout(tree, nodes, None if all_nodes is None else all_nodes["below"].to_numpy())
    order = placed["node"].to_numpy()
    rows = nodes_frame(tree, nodes=order) if all_nodes is None else all_nodes.iloc[order].reset_index(drop=True)
    rows = with_names(rows, label_name)
    frame = placed.join(rows.drop(columns=["node", "parent"]))
    k = sum(column.startswith("name_") for column in frame.columns)
    frame["labels"] = [
        ", ".join(f"{row[f'name_{i}']} {percent(row[f'share_{i}'])}" for i in range(1, k + 1) if row[f"label_{i}"] >= 0)
        for row in frame.to_dict("records")
    ]
    told, share, before = told_apart_by(tree, order)
    frame["told_name"] = ["" if j < 0 else label_name(int(j)) for j in told]
    frame["told"] = [
        f"{name} {percent(now)}, before {percent(then)}" if name else ""
        for name, now, then in zip(frame["told_name"], share, before)
    ]
    frame["equation"] = [
        ""
        if np.isnan(J)
        else f"{J:.3f} = {b:.3f} − {weights[0]:g} × {i:.3f} + {weights[1]:g} × {m:.3f}".replace("-", "−")
        for J, b, i, m in zip(frame["objective"], frame["balance"], frame["integrity"], frame["multiway"])
    ]
    frame["sent"] = [_sent(tree, v) for v in order]
    if leaves is not None:
        frame["visited"] = np.isin(order, visited(tree, leaves))
    if label is not None:
        having = rows_with_label(tree, label)
        frame["visited"] = having[order] > 0
        frame["with_label"] = having[order]
        frame["share_with_label"] = having[order] / tree.n_samples[order]
        frame["share_of_label"] = having[order] / max(int(having[0]), 1)
        frame["held"] = [percent(share) for share in frame["share_of_label"]]
        frame["having"] = [
            f"{n:,} with the label: {percent(own)} of these, {all_} of all that have it" if n else "none with the label"
            for n, own, all_ in zip(frame["with_label"], frame["share_with_label"], frame["held"])
        ]
        frame["companion"] = np.where(frame["label_1"] == label, frame["name_2"], frame["name_1"])
    return frame


def _sent(tree, v):
    children = tree.children[v]
    if children[0] < 0:
        return ""
    shares = tree.n_samples[children] / tree.n_samples[v]
    return " / ".join(f"{percent(share)} to {child}" for share, child in zip(shares, children))


def percent(share: float) -> str:
    """``34 %``; one digit after the point below 10 %. Only none is 0 %, and only all is 100 %."""
    if 0 < share < 0.0005:
        return f"{100 * share:.1g} %"
    if 0.995 <= share < 1:
        return f"{min(100 * share, 99.9):.1f} %"
    return f"{100 * share:.1f} %" if 0 < share < 0.0995 else f"{100 * share:.0f} %"


# --- what the paper's figures are drawn from ---


def depth_frame(trees: Sequence["LdSMTree"]) -> "pd.DataFrame":
    """Count leaves, and training rows in them, by depth.

    Parameters
    ----------
    trees : sequence of LdSMTree

    Returns
    -------
    DataFrame
        ``tree`` (from 0), ``depth``, ``leaves``, ``rows``: a row in several leaves counts in each. Depths without a
        leaf are left out.
    """
    import pandas as pd

    parts = []
    for t, tree in enumerate(trees):
        leaf = tree.children[:, 0] < 0
        depth = tree.depth[leaf]
        leaves = np.bincount(depth)
        rows = np.bincount(depth, weights=tree.n_samples[leaf]).astype(np.int64)
        at = np.flatnonzero(leaves)
        parts.append(pd.DataFrame({"tree": t, "depth": at, "leaves": leaves[at], "rows": rows[at]}))
    return pd.concat(parts, ignore_index=True)


def contributions(objective, balance, integrity, multiway, weights: tuple[float, float]) -> dict:
    """What J is made of, by name, each with its weight and sign, so that the parts add up to it."""
    return {
        OBJECTIVE: objective,
        PARTS[0]: balance,
        PARTS[1]: -weights[0] * integrity,
        PARTS[2]: weights[1] * multiway,
    }


def objective_by_depth(trees: Sequence["LdSMTree"], weights: tuple[float, float]) -> "pd.DataFrame":
    """Return J of the splits, and its weighted parts, by depth (the paper's Figure 1).

    Parameters
    ----------
    trees : sequence of LdSMTree
    weights : pair of float
        ``integrity_weight`` and ``multiway_weight`` of the model.

    Returns
    -------
    DataFrame
        ``part`` ("J", "balance", "class integrity", "multi-way"), ``depth``, ``least``, ``mean``, ``greatest``, and
        ``nodes``, the inner nodes at that depth. Parts have their weights and signs: their means add up to that of J.
    """
    import pandas as pd

    inner = [tree.children[:, 0] >= 0 for tree in trees]
    values = {
        name: np.concatenate([getattr(tree, name)[mask] for tree, mask in zip(trees, inner)])
        for name in ("objective", "balance", "integrity", "multiway")
    }
    depth = np.concatenate([tree.depth[mask] for tree, mask in zip(trees, inner)])
    parts = []
    for part, value in contributions(*values.values(), weights).items():
        grouped = pd.Series(value).groupby(depth)
        found = grouped.agg(least="min", mean="mean", greatest="max", nodes="size")
        parts.append(found.rename_axis("depth").reset_index().assign(part=part))
    columns = ["part", "depth", "least", "mean", "greatest", "nodes"]
    return pd.concat(parts, ignore_index=True)[columns]


def training_trace(tree: "LdSMTree", node: int, weights: tuple[float, float]) -> "pd.DataFrame":
    """Return J of a node and its weighted parts while it was trained.

    Parameters
    ----------
    tree : LdSMTree
    node : int
        An inner node.
    weights : pair of float
        ``integrity_weight`` and ``multiway_weight`` of the model.

    Returns
    -------
    DataFrame
        ``epoch`` (from 1), ``part`` ("J", "balance", "class integrity", "multi-way"), ``value``, and ``stage``:
        "training" for the estimates after each epoch, and once, at the last epoch, "split" for where rows were then
        sent. Parts have their weights and signs and add up to J.

    Raises
    ------
    ValueError
        The node is a leaf: it was not trained.
    """
    import pandas as pd

    node = _check_node(tree, node)
    at = int(np.searchsorted(tree.inner, node))
    if at == tree.inner.size or tree.inner[at] != node:
        raise ValueError(f"node {node} is a leaf: it was not trained")
    trace = tree.trace[at].astype(np.float64)
    n_epochs = trace.shape[0]
    stages = {
        "training": (np.arange(1, n_epochs + 1), trace),
        "split": (
            np.array([max(n_epochs, 1)]),
            np.array([[tree.objective[node], tree.balance[node], tree.integrity[node], tree.multiway[node]]]),
        ),
    }
    return pd.concat(
        [
            pd.DataFrame({"epoch": epochs, "part": part, "value": value, "stage": stage})
            for stage, (epochs, values) in stages.items()
            for part, value in contributions(*values.T, weights).items()
        ],
        ignore_index=True,
    )


# --- one node, one row ---


def labels_of_node(
    tree: "LdSMTree", node: int, label_name: Callable[[int], str] | None = None, k: int | None = None
) -> "pd.DataFrame":
    """Return the labels of a node's training rows, and where the node sends them.

    Parameters
    ----------
    tree : LdSMTree
    node : int
    label_name : callable, optional
        Adds ``name``.
    k : int, optional
        Most frequent labels only.

    Returns
    -------
    DataFrame
        Most frequent first: ``label``, ``name``, ``rows``, ``share`` (of the node's rows that have it) and, for an
        inner node, ``to_1`` to ``to_M``: the share of its rows that goes to each child.
    """
    import pandas as pd

    node = _check_node(tree, node)
    hist = tree.histograms
    present = slice(hist.indptr[node], hist.indptr[node + 1])
    labels, counts = hist.indices[present], hist.data[present].astype(np.int64)
    order = np.lexsort((labels, -counts))[:k]
    labels, counts = labels[order], counts[order]
    columns = {"label": labels}
    if label_name is not None:
        columns["name"] = [label_name(int(j)) for j in labels]
    columns |= {"rows": counts, "share": counts / tree.n_samples[node]}
    if tree.children[node, 0] >= 0:
        for c, child in enumerate(tree.children[node], 1):
            own = slice(hist.indptr[child], hist.indptr[child + 1])
            at = np.searchsorted(hist.indices[own], labels).clip(max=own.stop - own.start - 1)
            columns[f"to_{c}"] = np.where(hist.indices[own][at] == labels, hist.data[own][at], 0) / counts
    return pd.DataFrame(columns)


def leaves_frame(
    trees: Sequence["LdSMTree"], leaves, row: int, label_name: Callable[[int], str] | None = None, k: int = 3
) -> "pd.DataFrame":
    """Return the leaves that a row reaches, a line each.

    Parameters
    ----------
    trees : sequence of LdSMTree
    leaves : Leaves
        Of :meth:`xmlcore.LdSM.apply`.
    row : int
        Its place among the rows that were applied.
    label_name, k
        As for :func:`nodes_frame`.

    Returns
    -------
    DataFrame
        ``tree`` (from 0), then the columns of :func:`nodes_frame`, and ``weight``: what the leaf counts in the mean,
        1 / (leaves of the row in this tree) / (trees).
    """
    import pandas as pd

    parts = []
    for t in range(leaves.n_trees):
        reached = np.sort(leaves.of(row, t))
        part = nodes_frame(trees[t], label_name, k, nodes=reached)
        part.insert(0, "tree", t)
        parts.append(part.assign(weight=1.0 / (reached.size * leaves.n_trees)))
    return pd.concat(parts, ignore_index=True)


# --- one label ---


def rows_with_label(tree: "LdSMTree", label: int) -> np.ndarray:
    """Count, for every node, its training rows that have a label.

    Parameters
    ----------
    tree : LdSMTree
    label : int

    Returns
    -------
    ndarray of int64, shape (n_nodes,)
        That of the root is the number of the label's rows. Those of leaves may add up to more: rows may go several
        ways.
    """
    label = check_count(label, "label", least=0)
    hist = tree.histograms
    if label >= hist.shape[1]:
        raise ValueError(f"label must be below {hist.shape[1]:,}, the number of labels, not {label:,}")
    at = np.flatnonzero(hist.indices == label)
    count = np.zeros(tree.parent.size, np.int64)
    count[np.searchsorted(hist.indptr, at, side="right") - 1] = hist.data[at]
    return count


def nodes_of_label(tree: "LdSMTree", label: int, most_nodes: int = 400, node: int | None = None) -> np.ndarray:
    """Nodes to draw for a label: those that its training rows reach, from the root.

    Parameters
    ----------
    tree : LdSMTree
    label : int
    most_nodes : int
        When rows of the label reach more, the ones with most of them are returned.
    node : int, optional
        A node that is to be among them with its path from the root, if rows of the label reach it.

    Returns
    -------
    ndarray of int64
        In ascending order, and connected; with the siblings that rows of the label pass by, if these fit, too. Empty
        when no training row has the label.
    """
    most_nodes = check_count(most_nodes, "most_nodes")
    count = rows_with_label(tree, label)
    reached = np.flatnonzero(count)
    if reached.size > most_nodes:
        way = [] if node is None or count[_check_node(tree, node)] == 0 else path_to(tree, node)
        # A parent has at least its child's rows, and the smaller number: any first part of this order is connected.
        order = reached[np.lexsort((reached, -count[reached]))]
        others = order[~np.isin(order, way)][: max(most_nodes - len(way), 0)]
        return np.union1d(way, others).astype(np.int64)
    around = with_siblings(tree, reached)
    return around if around.size <= most_nodes else reached.astype(np.int64)


def together_until(tree: "LdSMTree", label: int) -> int:
    """Return the deepest node that has all training rows of a label; the first made among equally deep ones."""
    count = rows_with_label(tree, label)
    whole = np.flatnonzero(count == count[0])
    return int(whole[np.argmax(tree.depth[whole])]) if count[0] else 0


def leaves_of_label(
    tree: "LdSMTree", label: int, label_name: Callable[[int], str] | None = None, k: int = 3
) -> "pd.DataFrame":
    """Return the leaves that hold a label's training rows, and the other labels there.

    Parameters
    ----------
    tree : LdSMTree
    label : int
    label_name : callable, optional
        Adds ``name_1`` to ``name_k``.
    k : int
        Most frequent labels of each leaf.

    Returns
    -------
    DataFrame, a row per leaf
        Most rows of the label first: ``node``, ``depth``; ``with_label``, its rows that have the label;
        ``share_of_label``, of the label's training rows (more than 1 in sum when rows go several ways); ``rows``, its
        training rows; ``share_with_label``, of these; ``place`` of the label among the leaf's labels, 1 when none is
        more frequent; ``label_1``, ``share_1`` to ``label_k``, ``share_k`` as in :func:`nodes_frame`.
    """
    import pandas as pd

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
    for place in range(k):
        columns |= {
            f"label_{place + 1}": labels[:, place],
            f"share_{place + 1}": rows[:, place] / tree.n_samples[nodes],
        }
    frame = pd.DataFrame(columns)
    return frame if label_name is None else with_names(frame, label_name)


def _check_node(tree, node) -> int:
    node = check_count(node, "node", least=0)
    if node >= tree.parent.size:
        raise ValueError(f"node must be below {tree.parent.size:,}, the number of nodes of the tree, not {node:,}")
    return node
