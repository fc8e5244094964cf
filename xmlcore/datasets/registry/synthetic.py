"""Synthetic data sets with the shapes of well-known ones."""

from collections.abc import Mapping
from statistics import NormalDist
from types import MappingProxyType
from typing import Any

import numpy as np

from xmlcore._kernels import synthetic as kernels
from xmlcore._kernels.rng import permutation
from xmlcore._kernels.synthetic import Problem, Zipf
from xmlcore.arrays import pointers
from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.readers.rows import canonical_csr
from xmlcore.parallel import run_tasks
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.system import effective_jobs
from xmlcore.validation import INT32_MAX, check_count, check_number

PHASE = "Making rows"
BLOCK = 4096  # number of rows that a thread makes at a time

WORD_OFFSET = 10.0  # added to a word's rank, so that the most frequent words are not in every row
VOCABULARY = 48  # number of words of a topic or label
VOCABULARY_OFFSET = 2.0  # added to a word's place in the vocabulary: the smaller, the more frequent are the first words
FEATURE_SPREAD = 0.7  # standard deviation of log(features per row): 0.7 to 1.4 in bibtex, delicious and EUR-Lex
LABEL_SPREAD = 0.4  # standard deviation of log(labels per row): 0.3 to 0.6 in these data sets
SIZES = 4096  # number of equally likely values in a table of labels per row or features per row

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
            "wiki10-31k": (14_100, 6_600, 102_000, 31_000, 673.0, 18.6, 0.9),
            "amazoncat-13k": (1_186_000, 307_000, 204_000, 13_330, 71.0, 5.0, 0.9),
            "amazon-670k": (490_000, 153_000, 136_000, 670_000, 76.0, 5.5, 0.5),
        }.items()
    }
)
"""The shapes of :func:`make_synthetic`: rounded sizes of well-known data sets, and an exponent with which the most
frequent labels have about the same share of all label occurrences as in the real data set."""


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
    progress: ProgressLike = silent,
) -> Dataset:
    """Make a learnable data set of any size, with many rare labels and features and a hidden hierarchy of labels.

    docs/scaling.md says how. The hierarchy is not part of the data set.

    Parameters
    ----------
    shape : str
        A name of :data:`SYNTHETIC_SHAPES`, such as "eurlex-4k" or "amazon-670k". It gives the values of the next seven
        parameters where they are None. Only the sizes and the frequencies of labels and words resemble that data set;
        its words, its topics and its difficulty do not.
    n_train, n_test : int, at least 1
        Number of rows.
    n_features, n_labels : int
        Number of columns: D, at least 1, and L, at least 2.
    features_per_row : float in [1, D]
        Mean number of features of a row; where the shape's is more than D, D / 2. The numbers are log-normal, between
        1 and D.
    labels_per_row : float in [1, L]
        Mean number of labels of a row; where the shape's is more than L, L / 2. The numbers are log-normal, between
        1 and L.
    label_exponent : float in [0, 2]
        The label with rank r in frequency is drawn with a probability proportional to ``r ** -label_exponent``.
    feature_exponent : float in [0, 2]
        The word with rank r is drawn, for vocabularies and as noise, with a probability proportional to
        ``(r + 10) ** -feature_exponent``.
    topic_size : int, at least 2
        Mean number of labels of a topic at the lowest level, and of topics within a higher topic. Sizes vary a lot.
    feature_noise : float in [0, 1]
        Share of words that do not depend on the row's labels. At 1 only the frequencies of labels can be learned.
    label_noise : float in [0, 1]
        Probability that a label is replaced, after the words are drawn, by a label drawn from all labels.
    random_state : int, optional
        The same value gives the same data, for any ``n_jobs``. None draws a new one.
    n_jobs : int, optional
        Number of threads; None and -1 mean all cores that this process may use.
    name : str, optional
        Name of the data set; derived from the shape when None.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    Dataset
        Rows have Euclidean length 1 and positive values, (1 + log of a word's count in the row) * idf. The idf is that
        of the word's probability. ``notes`` has the call that made the data set.

    Examples
    --------
    >>> from xmlcore.datasets import make_synthetic
    >>> make_synthetic(n_train=100, n_test=20)
    Dataset('synthetic small': 100 training rows, 20 test rows, 1000 features, 200 labels)
    """
    progress = to_progress(progress)
    given = dict(zip(
        _SHAPE_FIELDS, (n_train, n_test, n_features, n_labels, features_per_row, labels_per_row, label_exponent)
    ))  # fmt: skip
    sizes = synthetic_sizes(shape, **given)
    laws = {
        "feature_exponent": feature_exponent,
        "topic_size": topic_size,
        "feature_noise": feature_noise,
        "label_noise": label_noise,
    }
    check_count(topic_size, "topic_size", least=2)
    for field, most in (("feature_exponent", 2), ("feature_noise", 1), ("label_noise", 1)):
        check_number(laws[field], field, 0, most)
    effective_jobs(n_jobs)
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a string, not {name!r:.200}")
    if random_state is None:
        random_state = np.random.SeedSequence().entropy
    check_count(random_state, "random_state", least=0)
    seeds = np.random.SeedSequence([random_state, 0x5E7]).generate_state(4, np.uint32).tolist()
    problem = _problem(sizes, feature_exponent, topic_size, feature_noise, label_noise, *seeds[:2])
    tables = (
        _size_table(sizes["labels_per_row"], LABEL_SPREAD, sizes["n_labels"]),
        _size_table(sizes["features_per_row"], FEATURE_SPREAD, sizes["n_features"]),
    )
    X_train, Y_train, X_test, Y_test = _make_parts(
        problem, tables, (sizes["n_train"], sizes["n_test"]), seeds[2:], n_jobs, progress
    )
    options = sizes | laws | {"random_state": random_state}
    note = "Made up by make_synthetic(" + ", ".join(f"{field}={value}" for field, value in options.items()) + ")."
    own_shape = any(value is not None for value in given.values())
    default = f"synthetic {sizes['n_labels']:,} labels" if own_shape else f"synthetic {shape}"
    return Dataset(name or default, X_train, Y_train, X_test, Y_test, notes=(note,))


def synthetic_sizes(shape: str, **given: object) -> dict[str, Any]:
    """Return the checked sizes that :func:`make_synthetic` uses, by name; those not ``given`` are the shape's."""
    if not isinstance(shape, str) or shape not in SYNTHETIC_SHAPES:
        raise ValueError(f"there is no shape {shape!r:.200}: choose one of {', '.join(map(repr, SYNTHETIC_SHAPES))}")
    sizes = dict(SYNTHETIC_SHAPES[shape]) | {field: value for field, value in given.items() if value is not None}
    for field in ("n_train", "n_test", "n_features"):
        check_count(sizes[field], field, most=INT32_MAX)
    check_count(sizes["n_labels"], "n_labels", least=2, most=INT32_MAX)
    for field, count in (("features_per_row", "n_features"), ("labels_per_row", "n_labels")):
        if given.get(field) is None and sizes[field] > sizes[count]:  # the shape's, which does not fit what is given
            sizes[field] = max(1.0, sizes[count] / 2)
        if check_number(sizes[field], field) > sizes[count] or sizes[field] < 1:
            raise ValueError(f"{field} must be from 1 to {count}, {sizes[count]:,}, not {sizes[field]}")
    check_number(sizes["label_exponent"], "label_exponent", 0, 2)
    return sizes


def _make_parts(problem, tables, n_rows, seeds, n_jobs, progress):
    """Return X and Y of the training rows, then X and Y of the test rows, all made on one set of threads."""
    parts, tasks = [], []
    for n, seed in zip(n_rows, seeds):
        label_counts, feature_counts = np.empty(n, np.int64), np.empty(n, np.int64)
        kernels.draw_sizes(seed, *tables, label_counts, feature_counts)
        label_ptr, feature_ptr = pointers(label_counts), pointers(feature_counts)
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
        matrices.append(canonical_csr(feature_ptr, features, values, problem.feature_ids.size))
        matrices.append(canonical_csr(label_ptr, labels, np.ones(labels.size, bool), problem.label_ids.size))
    return matrices


def _size_table(mean, spread, most):
    """Return ``SIZES`` equally likely sizes of a row, int32: log-normal, from 1 to ``most``, with this mean."""
    normal = NormalDist()
    unscaled = np.exp([spread * normal.inv_cdf((i + 0.5) / SIZES) for i in range(SIZES)])

    def sizes(scale):
        return np.clip(np.rint(scale * unscaled), 1, most)

    low, high = 0.0, 2.0 * most / unscaled[0]
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if sizes(middle).mean() < mean else (low, middle)
    return sizes(high).astype(np.int32)


def _zipf(n, exponent, offset):
    """Return a distribution of numbers r from 0 to n - 1, with probability proportional to (r + offset)**-exponent."""
    power = 1.0 - exponent
    if abs(power) < 1e-6:
        return Zipf(n, offset, 0.0, float(np.log(offset)), float(np.log(n + offset)))
    return Zipf(n, offset, power, offset**power, (n + offset) ** power)


def _shares(law):
    """Return the probability of each number under a distribution from :func:`_zipf`: float64 (n,)."""
    edges = np.arange(law.n + 1) + law.offset
    heights = np.log(edges) if law.power == 0.0 else edges**law.power
    return np.diff(heights) / (law.high - law.low)


def _problem(sizes, feature_exponent, topic_size, feature_noise, label_noise, seed, vocabulary_seed):
    """Return the topics, the frequencies of labels and words, and the ids, which all rows share, for the kernels."""
    n_labels, n_features = sizes["n_labels"], sizes["n_features"]
    bottom, parent, first, last = _topics(n_labels, topic_size, seed)
    # Frequent labels are at random places of the hierarchy, and ids depend on neither place nor frequency.
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
    levels = []
    bounds = np.arange(1, n_labels)  # the bound p is between the places p - 1 and p
    while levels == [] or bounds.size:
        n_bounds = -(-(bounds.size + 1) // topic_size) - 1
        chosen = permutation(bounds.size, seed, 3 + len(levels))[:n_bounds]
        bounds = np.sort(bounds[chosen])
        levels.append(np.concatenate([[0], bounds, [n_labels]]).astype(np.int32))
    levels.reverse()
    parent, start = [np.array([-1], np.int32)], 0
    for level_above, level in zip(levels, levels[1:]):
        parent_in_level = np.searchsorted(level_above, level[:-1], side="right") - 1
        parent.append((start + parent_in_level).astype(np.int32))
        start += level_above.size - 1
    bottom = start + np.searchsorted(levels[-1], np.arange(n_labels), side="right") - 1
    first = np.concatenate([level[:-1] for level in levels])
    last = np.concatenate([level[1:] for level in levels])
    return bottom.astype(np.int32), np.concatenate(parent), first, last
