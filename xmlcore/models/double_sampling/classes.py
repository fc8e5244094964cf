"""The sums of classes: the sum of each term over the rows of each class, all that a model keeps of training rows."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import ds_classes as kernels
from xmlcore.arrays import (
    PART,
    all_hold,
    are_pointers,
    are_rising_lists,
    blocks_of,
    column_counts,
    csr_of,
    pointers,
    read_only,
    rises,
    sums_of_lists,
)  # fmt: skip
from xmlcore.models.saving import ModelFormatError
from xmlcore.parallel import run_tasks

TERM_BLOCKS = 16  # number of tasks into which the terms are divided
# The empty MoreOfClasses of models without the extended features.
NO_MORE = read_only(kernels.MoreOfClasses(*(np.empty(0) for _ in kernels.MoreOfClasses._fields)))


class ClassTerms(NamedTuple):
    """The sum of each of V terms in each of L classes, as postings (class, sum) that are listed term by term."""

    feature_of_column: np.ndarray  # int32 (V,): the feature id of each term
    ptr: np.ndarray  # int64 (V + 1,): where the postings of each term begin
    classes: np.ndarray  # int32, of each posting
    sums: np.ndarray  # float32, of each posting: the sum of the term over the rows of the class
    document_counts: np.ndarray  # int64 (V,): the number of pairs of a row with the term and one of its classes
    class_size: np.ndarray  # int64 (L,): the number of rows of each class
    n_rows: int

    @classmethod
    def of(cls, x, Y, feature_of_column, n_jobs, progress) -> "ClassTerms":
        """Compute the sums of each class over its training rows, the CSR arrays ``x`` in columns."""
        members, n_classes_of = Y.astype(np.float64), np.diff(Y.indptr)
        rows_in_columns = csr_of(*x, (Y.shape[0], max(1, feature_of_column.size)))
        ptr = pointers(column_counts(x[1], feature_of_column.size))
        bounds = np.unique(np.searchsorted(ptr, np.linspace(0, ptr[-1], TERM_BLOCKS + 1)))
        blocks = list(zip(bounds[:-1].tolist(), bounds[1:].tolist()))

        def one_block(block):
            """Sum a block of terms: number of postings of each, classes, sums, rows times classes."""
            # The rows are listed by term in parts, because a second copy of all of them would take much memory.
            by_term = sp.csr_array(rows_in_columns[:, slice(*block)].T)
            sums = sp.csr_array(by_term.astype(np.float64) @ members)
            sums.sort_indices()
            counts = np.add.reduceat(n_classes_of[by_term.indices], by_term.indptr[:-1])
            return np.diff(sums.indptr), sums.indices, sums.data, counts

        costs = [ptr[b] - ptr[a] for a, b in blocks]
        parts = run_tasks(one_block, blocks, costs, n_jobs, progress, "Adding up labels", "blocks of terms")
        if max((part[2].max() for part in parts), default=0.0) > float(np.finfo(np.float32).max):
            raise ValueError("the values of a feature, added up over the rows of a label, are beyond float32: scale X")
        sizes, classes, sums, counts = (
            np.concatenate([np.empty(0, dtype), *(part[i] for part in parts)], dtype=dtype, casting="same_kind")
            for i, dtype in enumerate((np.int64, np.int32, np.float32, np.int64))
        )
        class_size = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64)
        return cls(feature_of_column, pointers(sizes), classes, sums, counts, class_size, Y.shape[0])

    def index(self, distance, weighting) -> kernels.ClassIndex:
        """Return the classes in the form that kernels read: postings, weights of terms, centroids."""
        n_classes, n_examples = self.class_size.size, int(self.class_size.sum())
        term_totals = sums_of_lists(self.ptr, self.sums, np.float64)
        idf = 1.0 + np.log((1.0 + n_examples) / (1.0 + self.document_counts))
        weight = idf if weighting == "tfidf" else np.ones(idf.size)
        total, square = self._totals(lambda _, y: y), self._totals(lambda t, y: (weight[t] * y) ** 2)
        present = np.flatnonzero(self.class_size)
        scale = np.zeros(n_classes)
        if distance == "cosine":
            scale[square > 0] = 1.0 / np.sqrt(square[square > 0])
            centre = (square > 0).astype(np.float64)
        else:
            scale[present] = 1.0 / self.class_size[present]
            centre = square * scale**2
        centre[self.class_size == 0] = np.inf
        mean_total = float(total[present].mean()) or 1.0
        order = present[np.argsort(centre[present], kind="stable")].astype(np.int32)
        work = np.cumsum(self.document_counts * np.diff(self.ptr).astype(np.float64))
        # The number of most frequent terms that cause the share ``HEAD`` of the work for the training rows.
        head = int(np.searchsorted(work, kernels.HEAD * work[-1])) + 1 if work.size else 0
        reach = scale * np.sqrt(self._totals(lambda t, y: np.where(t < head, weight[t] * y, 0.0) ** 2))
        far = np.maximum.reduceat(reach, np.arange(0, n_classes, kernels.GROUP))
        return read_only(
            kernels.ClassIndex(
                self.ptr, self.classes, self.sums, weight, idf, term_totals.sum() / term_totals, total, mean_total,
                scale, centre, order, distance == "cosine", head, reach, far,
            )
        )  # fmt: skip

    def more(self, index, weighting) -> kernels.MoreOfClasses:
        """Return what the extended features need in addition to the index, which :meth:`index` returned."""
        weight = np.ones(index.idf.size) if weighting == "tfidf" else index.idf
        other = self._totals(lambda t, y: (weight[t] * y) ** 2)
        damped = self._totals(lambda t, y: (np.log1p(y) * index.idf[t]) ** 2)
        return read_only(kernels.MoreOfClasses(weight, other, damped))

    def _totals(self, value) -> np.ndarray:
        """Return the sum over the postings of each class of ``value(terms, sums)``: float64 (L,)."""
        totals = np.zeros(self.class_size.size)
        for first, end in blocks_of(self.ptr, PART // 16):  # NumPy makes arrays of the size of the postings
            terms = np.repeat(np.arange(first, end), np.diff(self.ptr[first : end + 1]))
            part = slice(self.ptr[first], self.ptr[end])
            totals += np.bincount(self.classes[part], value(terms, self.sums[part].astype(np.float64)), totals.size)
        return totals


def check_postings(arrays, values):
    """Raise ModelFormatError unless the postings of a saved model fit together and all ids are in range."""
    ptr, classes, sums, size = (arrays[name] for name in ("ptr", "classes", "sums", "class_size"))
    n_terms, K = arrays["feature_of_column"].size, values["n_labels"]
    if not (
        are_pointers(ptr, n_terms, classes.size)
        and rises(ptr, 1)
        and size.size == K
        and bool((size >= 0).all() and (size <= values["n_rows"]).all())
        and np.count_nonzero(size) >= 2
        and size.sum() >= values["n_rows"]
        and sums.size == classes.size
        and all_hold(np.isfinite, sums)
        and sums.min(initial=1) > 0
        and arrays["document_counts"].size == n_terms
        and bool((arrays["document_counts"] > 0).all() and (arrays["document_counts"] <= size.sum()).all())
    ):
        raise ModelFormatError("its arrays do not fit together: the file was damaged or written by something else")
    if not (are_rising_lists(ptr, classes, K) and all_hold(lambda part: size[part] > 0, classes)):
        raise ModelFormatError(
            "the postings in its arrays are invalid: the file was damaged or written by something else"
        )
