"""Trees of an ensemble that are trained apart, in processes or on machines of their own, and joined to one model."""

import numpy as np

from xmlcore.models.ldsm.estimator import LdSM
from xmlcore.models.ldsm.trees import joined
from xmlcore.models.plt.estimator import PLT
from xmlcore.models.plt.shapes import trees_asked_for
from xmlcore.progress import ProgressLike, silent, to_progress

_APART = (PLT, LdSM)  # not their subclasses, which keep more than trees


def n_trees_trained_apart(model) -> int:
    count = trees_asked_for(model.get_params(deep=False)) if isinstance(model, _APART) else 0
    several = type(model) in _APART and count > 1 and isinstance(model.random_state, (int, np.integer))
    return count if several else 0


def train_tree(model, X, Y, number: int, progress: ProgressLike = silent):
    progress = to_progress(progress)
    count = n_trees_trained_apart(model)
    if not 0 <= number < count:
        raise ValueError(f"there is no tree {number} to train apart: this model has {count} of them")
    part = type(model)(**model.get_params(deep=False))
    part._only_tree = number
    part.fit(X, Y, progress=progress)
    del part._only_tree
    return part


def ensemble_of_trees(parts: list):
    """Return the ensemble whose trees were trained apart: bit for bit the model that ``fit`` trains."""
    first = parts[0]
    needed = n_trees_trained_apart(first)
    if isinstance(first, PLT):
        needed = min(needed, first._n_trees(first.settings_, first.n_labels_))
        parts = parts[:needed]  # the others are equal to these
    if len(parts) != needed:
        raise ValueError(f"{len(parts)} trees are not the {needed} of this model")
    joined = type(first)(**first.get_params(deep=False))
    (_join_plt if isinstance(first, PLT) else _join_ldsm)(joined, parts)
    joined._keep(*first._kept())
    return joined


def _join_plt(model, parts):
    of = parts[0]
    trees, fitted = [part.trees_[0] for part in parts], [part.fitted_[0] for part in parts]
    model._set_fitted(trees, fitted, of.feature_of_column_, of.n_features_in_, of.n_labels_, of.settings_)
    model.settings_, model._trials, model.threshold_ = of.settings_, of._trials, of.threshold_
    model.n_iter_ = max(part.n_iter_ for part in parts)


def _join_ldsm(model, parts):
    (values, first), *_ = states = [part._state() for part in parts]
    model._set_fitted(values, first | joined([arrays for _, arrays in states]))
