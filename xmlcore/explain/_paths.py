"""The nodes on a label's path in label trees, and the nodes that a row visits in the trees of LdSM."""

from collections.abc import Sequence

import numpy as np

from xmlcore._kernels.ldsm_splitting import THRESHOLD
from xmlcore._kernels.plt_factors import log_probability
from xmlcore.explain._attribution import NOT_OF_FEATURES, Explainer, kind_of, one_row
from xmlcore.explain._contributions import names_of, with_names
from xmlcore.first_use import pd
from xmlcore.models.ldsm.frames import path_to, regressors, row_in_columns
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.models.plt.scaling import UNIT, as_read
from xmlcore.models.rules import innermost
from xmlcore.typing import DataFrame, Dataset, Matrix, Ranker
from xmlcore.validation import check_count


def path(
    model: Ranker, x: Matrix, label: int, *, dataset: "Dataset | None" = None, label_names: Sequence[str] | None = None
) -> "DataFrame":
    """Return the nodes on a label's path in label trees, or on a row's ways to its leaves in the trees of LdSM.

    Parameters
    ----------
    model : fitted PLT, OneVsRest or LdSM
        Others, such as DoubleSampling, have no path: a TypeError.
    x : sparse or dense, shape (D,) or (1, D)
        One row.
    label : int
    dataset : Dataset, optional
        Gives the names of the labels.
    label_names : sequence of str, optional
        Names of the labels, where there is no data set.

    Returns
    -------
    DataFrame
        *PLT and OneVsRest*: a row per node that has a factor, from the root of each tree down, with the columns
        ``tree`` (from 0), ``depth``, ``node``, ``n_labels`` (leaves at or below it), ``label`` (-1 for inner nodes),
        ``label_name``, ``bias``, ``margin``, ``factor``, ``log_factor``, ``log_proba`` (sum of the log factors down to
        the node). OneVsRest has one row, whose factor is the sigmoid of the margin.

        *LdSM*: a row per node on each way from a root to a leaf that x reaches, with the columns ``tree``, ``leaf``
        (where the way ends), ``weight`` (of the way in the mean: 1 / (leaves reached in this tree) / (trees)),
        ``depth``, ``node``, ``n_rows`` (training rows of the node), ``share`` (share of these that have the label),
        ``change`` (difference of the share to that of the parent; nan at the root), ``margin`` (the node's own; nan at
        the root), ``margin_1`` to ``margin_M`` (of its children; nan for leaves), ``entered_1`` to ``entered_M``
        (whether the row goes to the child: its margin is at least 0.5, or the largest if none is). The weighted mean of
        ``share`` over leaves is the label's probability.
    """
    kind = kind_of(model)
    if kind in NOT_OF_FEATURES:
        raise TypeError(f"{type(model).__name__} has no tree, so there is no path; see contributions")
    model = innermost(model)
    x = one_row(model, x)
    label = check_count(label, "label", least=0, most=model.n_labels_ - 1)
    names = names_of("label", dataset, label_names, model.n_labels_)
    if kind == "share":
        return _ways(model, x, label)
    return with_names(_linear_path(model, x, label, kind), names, "label", "label_name")


def _linear_path(model, x, label, kind):
    """Return a table of the nodes on the path of a label, one for OneVsRest, without the names of labels."""
    read = as_read(x, getattr(model, "normalize_", UNIT))
    if kind in ("margin", "margin_score"):
        about = {"tree": 0, "depth": 0, "node": 0, "n_labels": 1, "label": label}
        parts = [(about, *model.linear_margins(np.array([label])), "logistic")]
    else:
        parts = []
        for number, (tree, _) in enumerate(Explainer(model).trees):
            nodes = tree.path(label)
            about = {"tree": number, "depth": model.trees_[number].depth[nodes], "node": nodes}
            about |= {"n_labels": _leaves_below(tree)[nodes], "label": tree.label[nodes]}
            parts.append((about, tree.weights[nodes], tree.bias[nodes], tree.loss))
    frames = []
    for about, weights, bias, loss in parts:
        margin = np.asarray((weights.astype(np.float64) @ read.T).todense()).ravel() + bias
        log_factor = np.array([log_probability(m, LOSS_NUMBERS[loss]) for m in margin.tolist()])
        factors = {"factor": np.exp(log_factor), "log_factor": log_factor, "log_proba": np.cumsum(log_factor)}
        frames.append(pd.DataFrame(about | {"bias": bias, "margin": margin} | factors))
    return pd.concat(frames, ignore_index=True)


def _leaves_below(tree):
    count = (tree.label >= 0).astype(np.int64)
    for v in range(count.size - 1, 0, -1):
        count[tree.parent[v]] += count[v]
    return count


def _ways(model, x, label):
    """Return a frame of the nodes on each way of a row from a root to a leaf that it reaches in the trees of LdSM."""
    leaves, frames, M = model.apply(x), [], model.trees_[0].children.shape[1]
    columns, values = row_in_columns(model, x)
    for t, tree in enumerate(model.trees_):
        reached = np.sort(leaves.of(0, t)).tolist()
        leaf, node = np.array([(leaf, v) for leaf in reached for v in path_to(tree, leaf)], np.int64).T
        visited, place = np.unique(node, return_inverse=True)
        margins = np.full((visited.size, M), np.nan)  # of the children of each visited node
        for v, of_children in zip(visited.tolist(), margins):
            found = regressors(model, t, v, columns)  # bias, weights, and which of the columns have some
            of_children[:] = np.nan if found is None else found[0] + values[found[2]] @ found[1]
        above, margins = tree.parent[node], margins[place]
        child = (tree.children[above] == node[:, None]).argmax(axis=1)
        of_parent = np.roll(margins, 1, axis=0)  # which comes just before
        own = np.where(above < 0, np.nan, of_parent[np.arange(node.size), child])
        rows = tree.n_samples[node].astype(np.int64)
        share = tree.histograms[node][:, [label]].toarray().ravel() / np.maximum(rows, 1)
        change = np.where(above < 0, np.nan, np.diff(share, prepend=np.nan))
        about = {"tree": t, "leaf": leaf, "weight": 1.0 / (len(reached) * len(model.trees_))}
        about |= {"depth": tree.depth[node].astype(np.int64), "node": node, "n_rows": rows, "share": share}
        about |= {"change": change, "margin": own} | {f"margin_{c + 1}": margins[:, c] for c in range(M)}
        entered = margins >= THRESHOLD
        best = np.argmax(margins, axis=1)[:, None] == np.arange(M)
        entered |= best & ~(entered.any(axis=1) | np.isnan(margins[:, 0]))[:, None]
        frames.append(pd.DataFrame(about | {f"entered_{c + 1}": entered[:, c] for c in range(M)}))
    return pd.concat(frames, ignore_index=True)
