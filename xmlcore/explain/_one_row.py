"""One row: why a label, along which nodes, and how firm the explanation is."""

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ldsm_splitting import THRESHOLD
from xmlcore._kernels.plt_factors import log_probability
from xmlcore.explain._attribution import LOSSES, Explainer, attributions, kind_of, unwrapped
from xmlcore.explain._names import feature_names as names_of_features
from xmlcore.explain._names import label_names as names_of_labels
from xmlcore.explain._names import with_names
from xmlcore.models.ldsm.frames import path_to
from xmlcore.validation import check_count, check_features, csr_parts


def magnitude(x, n: int = 5) -> list[tuple[int, float]]:
    """The features of a row that are largest in size: the explanation of the paper on extended PLTs.

    It does not ask the model, and is the same for every label; :func:`contributions` does.

    Parameters
    ----------
    x : sparse or dense, shape (D,) or (1, D)
        One row.
    n : int
        Most features.

    Returns
    -------
    list of (feature, value)
        Largest |value| first, equal ones by feature id; features of value 0 are left out.
    """
    n, x = check_count(n, "n"), _one_row(x)
    order = np.lexsort((x.indices, -np.abs(x.data)))[:n]
    return list(zip(x.indices[order].tolist(), x.data[order].astype(float).tolist()))


def contributions(model, x, label: int, *, dataset=None, feature_names=None):
    """What each feature of a row adds to a label's score.

    Parameters
    ----------
    model : fitted estimator
        PLT, OneVsRest, LdSM, DoubleSampling or what offers the same: see :func:`attributions`, which says how the score
        is shared out.
    x : sparse or dense, shape (D,) or (1, D)
        One row.
    label : int
    dataset : Dataset, optional
        Its feature names are added.
    feature_names : sequence of str, optional
        The same, without a data set.

    Returns
    -------
    DataFrame
        A line per feature of the row, largest |contribution| first, equal ones by id: ``feature``, ``name`` (when names
        are known), ``value`` (as in x), ``contribution``. ``attrs`` has ``baseline`` (the score without features),
        ``total`` (the score; baseline + contributions.sum()) and ``kind``: "log_proba", "margin", "share" or "score".
        For DoubleSampling features are the ten of the pair of row and class, always with names.

    Raises
    ------
    TypeError
        A model that cannot be explained.
    ValueError
        Not one row, another number of features or names, no such label.
    """
    import pandas as pd

    x = _one_row(x)
    label = check_count(label, "label", least=0, most=model.n_labels_ - 1)
    names = names_of_features(dataset, feature_names, model.n_features_in_)
    found = attributions(model, x, np.array([label]))
    parts = found.contributions
    order = np.lexsort((parts.indices, -np.abs(parts.data)))
    frame = pd.DataFrame(
        {
            "feature": parts.indices[order].astype(np.int64),
            "value": found.values.data[order],
            "contribution": parts.data[order],
        }
    )
    frame = with_names(frame, names if found.names is None else found.names)
    frame.attrs = {"baseline": float(found.baseline[0]), "total": float(found.total[0]), "kind": found.kind}
    return frame


def path(model, x, label: int, *, dataset=None, label_names=None):
    """The nodes on a row's way to a label, or, in trees over rows, to its leaves.

    Parameters
    ----------
    model : fitted PLT, OneVsRest or LdSM
    x : sparse or dense, shape (D,) or (1, D)
        One row.
    label : int
    dataset : Dataset, optional
        Its label names are added.
    label_names : sequence of str, optional
        The same, without a data set.

    Returns
    -------
    DataFrame
        *PLT and OneVsRest*: a line per node that has a factor, from the root of each tree down: ``tree`` (from 0),
        ``depth``, ``node``, ``n_labels`` (leaves at or below it), ``label`` (-1 for inner nodes), ``label_name``,
        ``bias``, ``margin``, ``factor``, ``log_factor``, ``log_proba`` (sum of the log factors so far). OneVsRest has
        one line; its factor is the sigmoid of the margin.

        *LdSM*: a line per node on each way from a root to a leaf that is reached: ``tree``, ``leaf`` (where this way
        ends), ``weight`` (of the way in the mean: 1 / (leaves reached in this tree) / (trees)), ``depth``, ``node``,
        ``n_rows`` (training rows there), ``share`` (of these that have the label), ``change`` (of the share, from the
        node above; nan at the root), ``margin`` (of the regressor that leads here; nan at the root), ``margin_1`` to
        ``margin_M`` (of its children; nan for leaves), ``entered_1`` to ``entered_M`` (whether the row goes there: at
        least 0.5, or the largest where none is). The mean of ``share`` over leaves, with their weights, is the label's
        probability.

    Raises
    ------
    TypeError
        A model without a path, such as DoubleSampling.
    """
    kind = kind_of(model)
    if kind == "score":
        raise TypeError(f"{type(model).__name__} scores pairs of row and class: there is no path; see contributions")
    model = unwrapped(model)
    x = check_features(_one_row(x), model.n_features_in_)
    label = check_count(label, "label", least=0, most=model.n_labels_ - 1)
    names = names_of_labels(dataset, label_names, model.n_labels_)
    if kind == "share":
        return _ways(model, x, label)
    return with_names(_linear_path(model, x, label, kind), names, "label", "label_name")


def _linear_path(model, x, label, kind):
    import pandas as pd

    unit = x.astype(np.float64)
    length = np.sqrt((unit.data**2).sum())
    unit.data /= length if length else 1.0
    if kind == "margin":
        weights, bias = model.linear_margins(np.array([label]))
        parts = [(0, np.array([0]), np.array([0]), np.array([1]), np.array([label]), weights, bias)]
        losses = ["logistic"]
    else:
        parts, losses = [], []
        for number, (tree, _) in enumerate(Explainer(model).trees):
            nodes = tree.path(label)
            public = model.trees_[number]
            parts.append(
                (
                    number, public.depth[nodes], nodes, _leaves_below(tree)[nodes], tree.label[nodes],
                    tree.weights[nodes], tree.bias[nodes],
                )
            )  # fmt: skip
            losses.append(tree.loss)
    frames = []
    for (number, depth, nodes, n_labels, labels, weights, bias), loss in zip(parts, losses):
        margin = np.asarray((weights.astype(np.float64) @ unit.T).todense()).ravel() + bias
        log_factor = np.array([log_probability(m, LOSSES[loss]) for m in margin.tolist()])
        columns = {"tree": number, "depth": depth, "node": nodes, "n_labels": n_labels, "label": labels, "bias": bias}
        columns |= {"margin": margin, "factor": np.exp(log_factor), "log_factor": log_factor}
        frames.append(pd.DataFrame(columns | {"log_proba": np.cumsum(log_factor)}))
    return pd.concat(frames, ignore_index=True)


def _leaves_below(tree):
    """Leaves at or below each node of a label tree; parents come before their children, level by level."""
    count = (tree.label >= 0).astype(np.int64)
    for v in range(count.size - 1, 0, -1):
        count[tree.parent[v]] += count[v]
    return count


def _ways(model, x, label):
    import pandas as pd

    leaves = model.apply(x)
    _, columns, place = model.in_columns(x)
    values = x.data[place]
    by_column = np.argsort(columns, kind="stable")
    columns, values = columns[by_column], values[by_column].astype(np.float64)
    lines = []
    for t, tree in enumerate(model.trees_):
        reached = np.sort(leaves.of(0, t))
        hist, seen = tree.histograms, {}
        for leaf in reached.tolist():
            for v in path_to(tree, leaf):
                if v not in seen:
                    seen[v] = _margins(model, t, v, columns, values)
                above = int(tree.parent[v])
                child = -1 if above < 0 else int(np.flatnonzero(tree.children[above] == v)[0])
                lines.append(
                    (
                        t, leaf, 1.0 / (reached.size * len(model.trees_)), int(tree.depth[v]), v,
                        int(tree.n_samples[v]), np.nan if above < 0 else seen[above][child], *seen[v],
                    )
                )  # fmt: skip
    M = model.trees_[0].children.shape[1]
    margins = [f"margin_{c + 1}" for c in range(M)]
    frame = pd.DataFrame(lines, columns=["tree", "leaf", "weight", "depth", "node", "n_rows", "margin", *margins])
    at = []
    for t, part in frame.groupby("tree", sort=False):
        hist = model.trees_[t].histograms
        column = np.asarray(hist[part["node"].to_numpy()][:, [label]].todense()).ravel()
        at.append(column / part["n_rows"].to_numpy())
    share = np.concatenate(at)
    frame.insert(6, "share", share)
    change = np.diff(share, prepend=np.nan)
    change[frame["depth"].to_numpy() == 0] = np.nan
    frame.insert(7, "change", change)
    found = frame[margins].to_numpy()
    entered = found >= THRESHOLD
    none = ~entered.any(axis=1) & ~np.isnan(found[:, 0])
    entered[none, np.argmax(found[none], axis=1)] = True
    for c in range(M):
        frame[f"entered_{c + 1}"] = entered[:, c]
    return frame


def _margins(model, t, v, columns, values):
    """Margins of a node's children, as float64; nan for a leaf."""
    forest, M = model.forest_, model.trees_[0].children.shape[1]
    v = int(forest.root[t]) + v
    g, first = int(forest.group[v]), int(forest.first_child[v])
    if g < 0:
        return (np.nan,) * M
    start, end = int(forest.column_ptr[g]), int(forest.column_ptr[g + 1])
    own = forest.columns[start:end]
    at = np.searchsorted(own, columns)
    known = at < own.size
    known[known] = own[at[known]] == columns[known]
    weights = forest.weights[M * start : M * end].reshape(-1, M)[at[known]].astype(np.float64)
    return tuple((forest.bias[first : first + M] + values[known] @ weights).tolist())


def agreement(a, b, n: int = 10) -> dict:
    """How much two explanations agree.

    Parameters
    ----------
    a, b : DataFrame
        Of :func:`contributions`.
    n : int
        Features that count as the top ones.

    Returns
    -------
    dict
        "spearman": Spearman's correlation of the ranks of |contribution| over all features that one of them has; one
        that is missing contributes 0, and equal ones share their mean rank. nan where it is not defined: fewer than two
        features, or all of one side equal. "overlap": Jaccard's index of the n features of largest |contribution|,
        those that contribute nothing left out; 1 when both sides have none.
    """
    n = check_count(n, "n")
    (ids_a, parts_a), (ids_b, parts_b) = (
        (frame["feature"].to_numpy(np.int64), np.abs(frame["contribution"].to_numpy(np.float64))) for frame in (a, b)
    )
    return _agreement(ids_a, parts_a, ids_b, parts_b, n)


def _agreement(ids_a, parts_a, ids_b, parts_b, n):
    union = np.union1d(ids_a, ids_b)
    sizes = np.zeros((2, union.size))
    for side, ids, parts in ((0, ids_a, parts_a), (1, ids_b, parts_b)):
        sizes[side, np.searchsorted(union, ids)] = parts
    one, two = (set(np.lexsort((union, -side))[:n][np.sort(-side)[:n] < 0].tolist()) for side in sizes)
    overlap = len(one & two) / len(one | two) if one | two else 1.0
    ranks = np.stack([_mean_ranks(side) for side in sizes])
    ranks -= ranks.mean(axis=1, keepdims=True) if union.size else 0.0
    spread = np.sqrt((ranks**2).sum(axis=1)).prod()
    spearman = float((ranks[0] * ranks[1]).sum() / spread) if spread > 0 else float("nan")
    return {"spearman": spearman, "overlap": float(overlap)}


def _mean_ranks(values):
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[which]


def stability(model, x, label: int, perturbation, n_repeats: int = 10, n: int = 10, seed: int = 0, row: int = 0):
    """How much an explanation changes when the row is perturbed.

    Parameters
    ----------
    model : fitted estimator
    x : sparse or dense, shape (D,) or (1, D)
        One row.
    label : int
    perturbation : object
        With ``apply(X, rows, seed, model=..., Y=...)``, such as :class:`xmlcore.robustness.GaussianNoise`. It is called
        once with the row ``n_repeats`` times, as rows ``row * n_repeats`` and the following; an attack, which is not
        random, gives the same row each time.
    n_repeats : int
    n : int
        Features that count as the top ones.
    seed : int
    row : int, at least 0
        The row's number among others that are looked at with this seed: each has noise of its own.

    Returns
    -------
    DataFrame
        A line per repeat: ``repeat``, ``spearman`` and ``overlap`` (:func:`agreement` with the explanation of the row
        as it is), ``total`` (the label's score in the perturbed row). ``attrs`` has ``total``, that of the row as it
        is, and ``kind``.
    """
    import pandas as pd

    explainer = Explainer(model)
    x = check_features(_one_row(x), model.n_features_in_)
    label = check_count(label, "label", least=0, most=model.n_labels_ - 1)
    n_repeats, n, row = check_count(n_repeats, "n_repeats"), check_count(n, "n"), check_count(row, "row", least=0)
    repeats = np.arange(n_repeats, dtype=np.int64)
    X = sp.csr_array(sp.vstack([x] * n_repeats, format="csr"))
    Y = sp.csr_array(
        (np.ones(n_repeats, bool), np.full(n_repeats, label), np.arange(n_repeats + 1)),
        shape=(n_repeats, model.n_labels_),
    )
    perturbed = perturbation.apply(X, rows=row * n_repeats + repeats, seed=seed, model=model, Y=Y)
    clean = explainer.rows(x, np.array([label]))
    found = explainer.rows(perturbed, np.full(n_repeats, label))
    ptr, ids, parts = csr_parts(found.contributions)
    own = clean.contributions.indices, np.abs(clean.contributions.data)
    lines = [
        _agreement(*own, ids[ptr[i] : ptr[i + 1]], np.abs(parts[ptr[i] : ptr[i + 1]]), n) for i in range(n_repeats)
    ]
    frame = pd.DataFrame(lines, columns=["spearman", "overlap"])
    frame.insert(0, "repeat", repeats)
    frame["total"] = found.total
    frame.attrs = {"total": float(clean.total[0]), "kind": clean.kind}
    return frame


def _one_row(x):
    x = check_features(x, name="x")
    if x.shape[0] != 1:
        raise ValueError(f"x has {x.shape[0]} rows: one row is explained at a time")
    return x
