"""Double sampling: draw the examples (π), and the adversarial classes that each example is compared with (κ)."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import ds_sampling as kernels
from xmlcore._kernels.ds_classes import ClassIndex
from xmlcore.arrays import pointers
from xmlcore.models.double_sampling.candidates import CrossFitted
from xmlcore.models.double_sampling.classes import NO_MORE, ClassTerms
from xmlcore.parallel import row_blocks, run_blocks, run_tasks
from xmlcore.progress import Progress, silent
from xmlcore.validation import csr_parts

# Numbers of the random streams of: copies of examples, adversaries, the label tree, the trees of cross-fitting.
COPIES, DRAWS, TREE, CROSS = 1, 2, 3, 4
BLOCK = 1024  # number of examples per task


class NoExampleError(ValueError):
    """No example, or no pair, is left to learn the ranking function from."""


class Sample(NamedTuple):
    """The examples and adversaries that were drawn: M copies of examples, kappa adversaries each."""

    rows: np.ndarray  # int64 (M,): the training row of each copy
    classes: np.ndarray  # int32 (M,): the class of which the copy is an example
    adversaries: np.ndarray  # int32 (M, kappa): the classes with which the copy is compared, in rising order


class RowsToSample(NamedTuple):
    """The training data in the form that the steps of training read."""

    x: tuple  # CSR rows in the model's columns: int64 pointers, int32 columns, float32 values
    Y: sp.csr_array  # bool (N, L): each row has at least one class
    class_size: np.ndarray  # int64 (L,): the number of rows of each class
    index: ClassIndex
    by_class: tuple  # the terms of each class and their sums, as CSR arrays: int64 pointers, int32 terms, float32 sums
    more: tuple = NO_MORE  # MoreOfClasses: further values of the classes, for the extended features
    vectors: sp.csr_array | None = None  # the rows in the form that label trees read, see as_vectors
    trees: CrossFitted | None = None  # label trees, each trained without a part of the rows

    @classmethod
    def of(cls, params, x, Y, classes: ClassTerms) -> "RowsToSample":
        """Compute the fields that follow from the sums of the classes, and return all of them."""
        index = classes.index(params.distance, params.weighting)
        more = classes.more(index, params.weighting) if params.features == "extended" else NO_MORE
        by_term = sp.csc_array((index.sums, index.classes, index.ptr), shape=(index.total.size, index.ptr.size - 1))
        return cls(x, Y, classes.class_size, index, csr_parts(sp.csr_array(by_term)), more)


def draw_sample(params, data: RowsToSample, entropy: int, progress: Progress = silent) -> Sample:
    copies = draw_copies(params, data.Y, data.class_size, entropy)
    if params.adversaries == "candidates":
        return _against_candidates(params, data, copies, entropy, progress)
    return draw_adversaries(params, data.Y, data.class_size, copies, entropy, progress)


def leaves_out(params) -> bool:
    """Return whether an example is subtracted from the sums of its class before its features are computed."""
    return bool(params.leave_one_out) or params.adversaries == "candidates"


def draw_copies(params, Y, class_size, entropy: int) -> np.ndarray:
    """Draw the number of copies of each example, which is an entry of Y: int64, shape (number of entries of Y,)."""
    labels = csr_parts(Y)[1]
    copies = np.zeros(labels.size, np.int64)
    size = np.maximum(class_size, 1)
    if not params.balanced:
        size = np.full(class_size.size, class_size.sum() / np.count_nonzero(class_size))
    expected, seed = params.examples_per_class / size, stream_seed(entropy, COPIES)

    def one_block(block):
        kernels.draw_copies(labels, expected, seed, *block, copies)

    blocks = row_blocks(labels.size, BLOCK)
    run_blocks(one_block, blocks, params.n_jobs)
    if leaves_out(params):
        copies[class_size[labels] == 1] = 0
    if not copies.any():
        cause = "adversaries='candidates'" if params.adversaries == "candidates" else "leave_one_out"
        raise NoExampleError(
            f"no example was drawn with examples_per_class={params.examples_per_class}"
            + (f" and {cause}, which needs labels of two rows" if leaves_out(params) else "")
            + (": make it larger" if class_size.max() > 1 else ': use DoubleSampling.preset("paper")')
        )
    return copies


def draw_adversaries(params, Y, class_size, copies, entropy: int, progress: Progress = silent) -> Sample:
    """Draw κ wrong classes for each copy of a (row, class) pair, uniformly among those with training rows."""
    labels, start = csr_parts(Y)[1], pointers(copies)
    present = np.flatnonzero(class_size).astype(np.int32)
    place = np.full(class_size.size, -1, np.int32)
    place[present] = np.arange(present.size, dtype=np.int32)
    kappa = min(params.n_adversarial, present.size - 1)
    adversaries, seed = np.empty((int(start[-1]), kappa), np.int32), stream_seed(entropy, DRAWS)

    def one_block(block):
        kernels.draw_adversaries(labels, start, present, place, seed, *block, adversaries)

    blocks = row_blocks(labels.size, BLOCK)
    costs = [start[b] - start[a] + 1 for a, b in blocks]
    run_tasks(one_block, blocks, costs, params.n_jobs, progress, "Drawing pairs", "blocks of examples")
    return Sample(*_copied(Y, copies), adversaries)


def _copied(Y, copies):
    """Return the row and the class of each copy: two arrays of shape (M,)."""
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    return np.repeat(rows, copies), np.repeat(csr_parts(Y)[1], copies)


def _against_candidates(params, data, copies, entropy, progress) -> Sample:
    rows, classes = _copied(data.Y, copies)
    q = min(params.n_candidates, data.index.order.size)
    if data.trees is None:
        others, kept = _near_others(params, data, rows, classes, q, progress)
    else:
        # By a label tree that was trained without the row.
        top = data.trees.top(data.vectors, rows, q, params.n_jobs)
        removed = top == classes[:, None]
        kept = removed.any(axis=1)
        removed[~kept, -1] = True
        others = top[~removed].reshape(rows.size, q - 1)
    rows, classes, others = rows[kept], classes[kept], others[kept]
    if rows.size == 0:
        raise NoExampleError(
            f"no example has its own label among its {q} candidates after it was taken out of the label's rows: raise "
            "n_candidates or examples_per_class, or set adversaries='random'"
        )
    if params.n_adversarial < q - 1:
        random = np.random.default_rng(stream_seed(entropy, DRAWS))
        drawn = np.argsort(random.random(others.shape), axis=1, kind="stable")[:, : params.n_adversarial]
        others = np.take_along_axis(others, drawn, axis=1)
    return Sample(rows, classes, np.sort(others, axis=1))


def _near_others(params, data, rows, classes, q, progress):
    """Find the candidates of each copy by their centroids, after the example was taken out of its class."""
    m = rows.size
    others, kept = np.empty((m, q - 1), np.int32), np.empty(m, bool)
    sample = Sample(rows, classes, others[:, :0])

    def one_block(block):
        kernels.near_others(data.x, sample, *block, data.class_size, data.by_class, data.index, others, kept)

    blocks = row_blocks(m, BLOCK)
    run_blocks(one_block, blocks, params.n_jobs, progress, "Finding adversaries", "blocks of examples")
    return others, kept


def classes_of_the_same_row(sample: Sample, Y) -> np.ndarray | None:
    """Return which adversaries are also classes of the copy's row: bool (M, kappa), or None if no adversary is."""
    with_several = np.flatnonzero(np.diff(Y.indptr)[sample.rows] > 1)  # copies of rows with several classes
    keys = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)) * np.int64(Y.shape[1]) + Y.indices  # rising
    is_class = np.zeros(sample.adversaries.shape, bool)
    for first, stop in row_blocks(with_several.size, BLOCK):
        part = with_several[first:stop]
        wanted = sample.rows[part, None] * np.int64(Y.shape[1]) + sample.adversaries[part]
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        is_class[part] = keys[at] == wanted
    return is_class if is_class.any() else None


def stream_seed(entropy: int, stream: int) -> int:
    """Return the seed of the random stream with number ``stream``, such as ``COPIES``."""
    return int(np.random.SeedSequence([entropy, stream]).generate_state(1, np.uint32)[0])
