"""All that a drawing of a tree shows: places, labels, and the objective in words."""

from collections.abc import Callable

import numpy as np

from xmlcore.first_use import pd
from xmlcore.models.ldsm.frames.labels import rows_with_label
from xmlcore.models.ldsm.frames.nodes import nodes_below, visited
from xmlcore.models.ldsm.frames.tables import nodes_frame, told_apart_by, with_names
from xmlcore.models.ldsm.trees import LdSMTree
from xmlcore.typing import DataFrame
from xmlcore.wording import rounded


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
    rows = with_names(rows, label_name)
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
    frame["sent"] = [_sent(tree, v) for v in order]
    if leaves is not None:
        frame["visited"] = np.isin(order, visited(tree, leaves))
    if label is not None:
        _add_label(frame, tree, label)
    return frame


def _sent(tree, v):
    children = tree.children[v]
    if children[0] < 0:
        return ""
    shares = tree.n_samples[children] / tree.n_samples[v]
    return " / ".join(f"{rounded(share)} to {child}" for share, child in zip(shares, children))


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
