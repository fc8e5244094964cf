"""Warnings about names and labels of data that can be read, but may not be what they seem."""

import numpy as np

from xmlcore.datasets.errors import warn

_SHOWN = 3  # most examples that a warning names


def remark(parts, feature_names, label_names) -> None:
    """Warn of names that stand for two things, and of labels that all rows have or, in tables and ARFF, none."""
    source = parts[0].source
    for noun, names in (("label", label_names), ("feature", feature_names)):
        _warn_of_repeated(source, noun, names)
    if feature_names is not None and label_names is not None:
        both = sorted(set(feature_names) & set(label_names))
        if both:
            count = "a label is" if len(both) == 1 else f"{len(both):,} labels are"
            warn(f"{source}: {count} named like a feature: {_some(map(repr, both))}. Is it among the features too?")
    if sum(part.Y.shape[0] for part in parts) > 1:
        _warn_of_constant(source, _in_every_row([part.Y for part in parts]), label_names, "every row has")
    if parts[0].format in ("arff", "csv"):  # there each label has a column; elsewhere ids without rows are usual
        counts = sum(np.bincount(part.Y.indices, minlength=part.Y.shape[1]) for part in parts)
        _warn_of_constant(source, np.flatnonzero(counts == 0), label_names, "no row has")


def _in_every_row(matrices):
    matrices = [Y for Y in matrices if Y.shape[0]]
    if not matrices or any((np.diff(Y.indptr) == 0).any() for Y in matrices):
        return np.empty(0, np.int32)
    first = matrices[0]
    candidates = first.indices[: first.indptr[1]]  # of one row, as there may be billions of labels
    n_rows = sum(Y.shape[0] for Y in matrices)
    found = np.concatenate([Y.indices[np.isin(Y.indices, candidates)] for Y in matrices])
    labels, counts = np.unique(found, return_counts=True)
    return labels[counts == n_rows]


def _warn_of_constant(source, labels, names, which):
    if labels.size:
        shown = _some(f"{j}" if names is None else f"{names[j]!r:.200}" for j in labels[: _SHOWN + 1].tolist())
        count = "a label that" if labels.size == 1 else f"{labels.size:,} labels that"
        warn(f"{source}: there {'is' if labels.size == 1 else 'are'} {count} {which}: {shown}")


def _warn_of_repeated(source, noun, names):
    """Warn if two labels or two features have one name."""
    if names is None or len(set(names)) == len(names):
        return
    ids = {}
    for j, name in enumerate(names):
        ids.setdefault(name, []).append(j)
    repeated = {name: found for name, found in ids.items() if len(found) > 1}
    name, found = next(iter(repeated.items()))
    which = f"{noun}s {', '.join(map(str, found[:_SHOWN]))}{' and more' if len(found) > _SHOWN else ''}"
    first = f"{name[:40] + ('…' if len(name) > 40 else '')!r:.200} stands for the {which}"
    if len(repeated) == 1:
        warn(f"{source}: a {noun} name is not unique: {first}. Ids tell them apart.")
    else:
        warn(f"{source}: {len(repeated):,} {noun} names are not unique; {first}. Ids tell them apart.")


def _some(shown) -> str:
    """Return a few of some texts, and an ellipsis if there are more."""
    shown = list(shown)
    return ", ".join(shown[:_SHOWN]) + (", …" if len(shown) > _SHOWN else "")
