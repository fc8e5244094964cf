"""Made-up data sets with the shapes of the field."""

import numbers
from collections.abc import Mapping
from statistics import NormalDist
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.dataset import Dataset
from xmlcore.parallel import run_tasks
from xmlcore.progress import Progress, silent
from xmlcore.system import effective_jobs
from xmlcore.validation import INT32_MAX, check_count

PHASE = "Making rows"
BLOCK = 4096  # rows per task

WORD_OFFSET = 10.0  # keeps the most frequent words from being in every row
VOCABULARY = 48  # words of a topic or label,
VOCABULARY_OFFSET = 2.0  # the first ones said more often
FEATURE_SPREAD = 0.7  # standard deviations of the logarithms of a row's numbers of features
LABEL_SPREAD = 0.4  # and labels; those of bibtex, delicious and EUR-Lex are 0.7 to 1.4 and 0.3 to 0.6
SIZES = 4096  # equally likely sizes in a table

_SHAPE_FIELDS = (
    "n_train", "n_test", "n_features", "n_labels", "features_per_row", "labels_per_row", "label_exponent"
)  # fmt: skip

SYNTHETIC_SHAPES: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        name: MappingProxyType(dict(zip(_SHAPE_FIELDS, values)))
        for name, values in {
            "small": (2_000, 500, 1_000, 200, 40.0, 3.0, 0.7),
            "bibtex": (4_880, 2_515, 1_836, 159, 68.5, 2.4, 0.55),
            "mediamill": (31_000, 12_900, 120, 101, 120.0, 4.4, 1.0),
            "delicious": (12_920, 3_185, 500, 983, 18.5, 19.0, 0.8),
            "eurlex-4k": (15_500, 3_800, 5_000, 3_993, 236.0, 5.3, 0.65),
            "amazoncat-13k": (1_186_000, 307_000, 204_000, 13_330, 71.0, 5.0, 0.9),
            "wiki10-31k": (14_100, 6_600, 102_000, 31_000, 673.0, 18.6, 0.9),
            "amazon-670k": (490_000, 153_000, 136_000, 670_000, 76.0, 5.5, 0.5),
        }.items()
    }
)
"""What :func:`make_synthetic` takes as ``shape``: sizes like those of well-known data sets, rounded, and an exponent
that gives their most frequent labels about the right share."""


def make_synthetic(
    shape: str = "small",
    *,
    n_train: int | None = None,
    n_test: int | None = None,
    n_features: int | None = None,
    n_labels: int | None = None,
    features_per_row: float | None = None,
    labels_per_row: float | None = None,
    label_exponent: float | None = None,
    feature_exponent: float = 1.0,
    topic_size: int = 8,
    feature_noise: float = 0.3,
    label_noise: float = 0.1,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    name: str | None = None,
    progress: Progress = silent,
) -> Dataset:
    """Make up a learnable data set of any size, with long tails and a hidden hierarchy of labels.

    Labels are the leaves of a hierarchy of topics that nobody is shown. A row gets a first label by the labels'
    frequencies and further ones from the same topic, or from a wider one. Every label and every topic has a vocabulary,
    and the row's words are drawn from those of its labels and of the topics above them: related labels share words, and
    occur together. The rest of the words, ``feature_noise``, are drawn from all words.

    Parameters
    ----------
    shape : str
        A name of :data:`SYNTHETIC_SHAPES`, such as "eurlex-4k" or "amazon-670k": it gives the values of what is None
        below. Only sizes and tails are alike; words, topics and how hard the problem is are made up.
    n_train, n_test : int, at least 1
        Rows.
    n_features, n_labels : int
        Columns: D, at least 1, and L, at least 2.
    features_per_row : float in [1, D]
        Mean number of nonzeros; log-normal, between 1 and D.
    labels_per_row : float in [1, L]
        Mean number of labels; log-normal, between 1 and L.
    label_exponent : float in [0, 2]
        The label of rank r in frequency is drawn with a probability proportional to ``r ** -label_exponent``.
    feature_exponent : float in [0, 2]
        Words are drawn, for vocabularies and as noise, with a probability proportional to
        ``(r + 10) ** -feature_exponent``.
    topic_size : int, at least 2
        Labels of a lowest topic, on average, and topics of a topic above. Sizes vary a lot.
    feature_noise : float in [0, 1]
        Share of words that speak of none of the row's labels. At 1 nothing but the labels' frequencies can be learnt.
    label_noise : float in [0, 1]
        Chance that a label is exchanged, after its words have been said, for one drawn from all labels.
    random_state : int, optional
        Same value, same data, for any ``n_jobs``. None draws a fresh one.
    n_jobs : int, optional
        Threads; None and -1 mean all cores this process may use.
    name : str, optional
        Of the data set; made from the shape when None.
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`; an exception from it stops the work.

    Returns
    -------
    Dataset
        Rows of Euclidean length 1 with positive values, (1 + log of a word's count in the row) * idf, where the idf is
        that of the word's own frequency law. ``notes`` say how it was made.

    Raises
    ------
    ValueError, TypeError
        An unknown shape, or a value out of range; the message names it.

    Notes
    -----
    What holds for every data set made:

    - Every row has at least one label and one feature. The means asked for are those of the law; a sample's differ by
      chance.
    - Every label can occur. The label of rank r has about ``n_train * labels_per_row * p_r`` training rows, somewhat
      fewer among the most frequent ones, because a row has a label once. Nothing makes it occur: with the shape
      "amazon-670k" a label has 4.0 training rows in the mean, the rarest about 2, and some 5 % of all labels none. In
      the published data sets labels without training rows are mostly left out.
    - Label and feature ids tell nothing: they are dealt at random.
    - Row i depends on i, ``random_state`` and what all rows share, not on the number of rows: the first rows of a
      larger data set are those of a smaller one.

    O(nonzeros + D + L) time and memory, beside the result about as much again for checking it.

    Examples
    --------
    >>> from xmlcore.datasets import make_synthetic
    >>> make_synthetic(n_train=100, n_test=20)
    Dataset('synthetic small': 100 training rows, 20 test rows, 1000 features, 200 labels)
    """
    if shape not in SYNTHETIC_SHAPES:
        raise ValueError(f"there is no shape {shape!r}: choose one of {', '.join(map(repr, SYNTHETIC_SHAPES))}")
    given = dict(zip(
        _SHAPE_FIELDS, (n_train, n_test, n_features, n_labels, features_per_row, labels_per_row, label_exponent)
    ))  # fmt: skip
    sizes = {field: SYNTHETIC_SHAPES[shape][field] if value is None else value for field, value in given.items()}
    for field in ("n_train", "n_test", "n_features"):
        check_count(sizes[field], field, most=INT32_MAX)
    check_count(sizes["n_labels"], "n_labels", least=2, most=INT32_MAX)
    check_count(topic_size, "topic_size", least=2)
    if random_state is not None:
        check_count(random_state, "random_state", least=0)
    effective_jobs(n_jobs)
    for field, count in (("features_per_row", "n_features"), ("labels_per_row", "n_labels")):
        _check_number(sizes[field], field, 1, sizes[count], f"{count}, {sizes[count]:,}")
    for field, value in (("label_exponent", sizes["label_exponent"]), ("feature_exponent", feature_exponent)):
        _check_number(value, field, 0, 2)
    for field, value in (("feature_noise", feature_noise), ("label_noise", label_noise)):
        _check_number(value, field, 0, 1)
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a string, not {name!r}")

    if random_state is None:
        random_state = np.random.SeedSequence().entropy
    seeds = np.random.SeedSequence([random_state, 0x5E7]).generate_state(4, np.uint32).tolist()
    problem = _problem(sizes, feature_exponent, topic_size, feature_noise, label_noise, *seeds[:2])
    tables = (
        _size_table(sizes["labels_per_row"], LABEL_SPREAD, sizes["n_labels"]),
        _size_table(sizes["features_per_row"], FEATURE_SPREAD, sizes["n_features"]),
    )
    X_train, Y_train, X_test, Y_test = _make_parts(
        problem, tables, (sizes["n_train"], sizes["n_test"]), seeds[2:], n_jobs, progress
    )
    options = sizes | {
        "feature_exponent": feature_exponent,
        "topic_size": topic_size,
        "feature_noise": feature_noise,
        "label_noise": label_noise,
        "random_state": random_state,
    }
    note = "Made up by make_synthetic(" + ", ".join(f"{field}={value}" for field, value in options.items()) + ")."
    own_shape = any(value is not None for value in given.values())
    default = f"synthetic {sizes['n_labels']:,} labels" if own_shape else f"synthetic {shape}"
    return Dataset(name or default, X_train, Y_train, X_test, Y_test, notes=(note,))


def _check_number(value, name, least, most, said=None):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if not least <= value <= most:  # not a number is out of range, too
        raise ValueError(f"{name} must be from {least} to {said or most}, not {value}")


def _make_parts(problem, tables, n_rows, seeds, n_jobs, progress):
    """X and Y of the training rows and of the test rows, made in blocks of rows by one set of threads."""
    from xmlcore._kernels import synthetic as kernels

    parts, tasks = [], []
    for n, seed in zip(n_rows, seeds):
        label_counts, feature_counts = np.empty(n, np.int64), np.empty(n, np.int64)
        kernels.draw_sizes(seed, *tables, label_counts, feature_counts)
        label_ptr, feature_ptr = _pointers(label_counts), _pointers(feature_counts)
        labels = np.empty(label_ptr[-1], np.int32)
        features = np.empty(feature_ptr[-1], np.int32)
        values = np.empty(feature_ptr[-1], np.float32)
        part = (label_ptr, labels, feature_ptr, features, values)
        parts.append(part)
        tasks += [(seed, start, min(start + BLOCK, n), part) for start in range(0, n, BLOCK)]

    def fill(task):
        seed, start, end, part = task
        kernels.fill_rows(problem, seed, start, end, *part)

    run_tasks(fill, tasks, [end - start for _, start, end, _ in tasks], n_jobs, progress, PHASE, "blocks of rows")
    matrices = []
    for label_ptr, labels, feature_ptr, features, values in parts:
        n = label_ptr.size - 1
        matrices.append(_csr(values, features, feature_ptr, (n, problem.feature_ids.size)))
        matrices.append(_csr(np.ones(labels.size, bool), labels, label_ptr, (n, problem.label_ids.size)))
    return matrices


def _pointers(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _csr(data, indices, indptr, shape):
    if data.size <= INT32_MAX:
        indptr = indptr.astype(np.int32)
    return sp.csr_array((data, indices, indptr), shape=shape)


def _size_table(mean, spread, most):
    """Equally likely sizes, int32: log-normal, in [1, most], with this mean."""
    normal = NormalDist()
    shape = np.exp([spread * normal.inv_cdf((i + 0.5) / SIZES) for i in range(SIZES)])

    def sizes(scale):
        return np.clip(np.rint(scale * shape), 1, most)

    low, high = 0.0, 2.0 * most / shape[0]
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if sizes(middle).mean() < mean else (low, middle)
    return sizes(high).astype(np.int32)


def _zipf(n, exponent, offset):
    from xmlcore._kernels.synthetic import Zipf

    power = 1.0 - exponent
    if abs(power) < 1e-6:
        return Zipf(n, offset, 0.0, float(np.log(offset)), float(np.log(n + offset)))
    return Zipf(n, offset, power, offset**power, (n + offset) ** power)


def _shares(law):
    """Probabilities of a law's numbers, float64 (n,)."""
    edges = np.arange(law.n + 1) + law.offset
    heights = np.log(edges) if law.power == 0.0 else edges**law.power
    return np.diff(heights) / (law.high - law.low)


def _problem(sizes, feature_exponent, topic_size, feature_noise, label_noise, seed, vocabulary_seed):
    from xmlcore._kernels.rng import permutation
    from xmlcore._kernels.synthetic import Problem

    n_labels, n_features = sizes["n_labels"], sizes["n_features"]
    bottom, parent, first, last = _topics(n_labels, topic_size, seed)
    # Frequent labels are anywhere in the hierarchy, and ids tell neither place nor frequency.
    weights = np.arange(1, n_labels + 1, dtype=np.float64) ** -sizes["label_exponent"]
    cumulative = np.concatenate([[0.0], np.cumsum(weights[permutation(n_labels, seed, 0)])])
    words = _zipf(n_features, feature_exponent, WORD_OFFSET)
    feature_ids = permutation(n_features, seed, 1)
    idf = np.empty(n_features, np.float32)
    idf[feature_ids] = 1.0 - np.log(-np.expm1(-sizes["features_per_row"] * _shares(words)))
    return Problem(
        bottom=bottom,
        parent=parent,
        first=first,
        last=last,
        cumulative=cumulative / cumulative[-1],
        label_ids=permutation(n_labels, seed, 2),
        feature_ids=feature_ids,
        idf=idf,
        words=words,
        vocabulary=_zipf(VOCABULARY, 1.0, VOCABULARY_OFFSET),
        vocabulary_seed=vocabulary_seed,
        feature_noise=float(feature_noise),
        label_noise=float(label_noise),
    )


def _topics(n_labels, topic_size, seed):
    """Nested ranges of places: the bounds of a level are drawn from those of the level below.

    Returns
    -------
    bottom : int32 (L,)
        Lowest topic of every place.
    parent, first, last : int32 (T,)
        Topics, the one of all labels first; a topic's places are first to last - 1.
    """
    from xmlcore._kernels.rng import permutation

    levels = []
    bounds = np.arange(1, n_labels)  # between two neighbours
    while levels == [] or bounds.size:
        kept = -(-(bounds.size + 1) // topic_size) - 1
        chosen = permutation(bounds.size, seed, 3 + len(levels))[:kept]
        bounds = np.sort(bounds[chosen])
        levels.append(np.concatenate([[0], bounds, [n_labels]]).astype(np.int32))
    levels.reverse()
    parent, start = [np.array([-1], np.int32)], 0
    for above, level in zip(levels, levels[1:]):
        holder = np.searchsorted(above, level[:-1], side="right") - 1
        parent.append((start + holder).astype(np.int32))
        start += above.size - 1
    bottom = start + np.searchsorted(levels[-1], np.arange(n_labels), side="right") - 1
    first = np.concatenate([level[:-1] for level in levels])
    last = np.concatenate([level[1:] for level in levels])
    return bottom.astype(np.int32), np.concatenate(parent), first, last
