"""Noise: random changes of feature values and of words, which do not depend on a model.

Every random number is a function of the seed, the row's id, and the feature or the position in the row. The change of a
row therefore depends neither on the other rows nor on the number of threads.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import noise
from xmlcore._kernels.arrays import CsrRows
from xmlcore.arrays import pointers
from xmlcore.documented import documented
from xmlcore.parallel import row_blocks, run_tasks
from xmlcore.system import check_memory
from xmlcore.typing import ArrayLike, Labels, Matrix, Ranker
from xmlcore.validation import INT32_MAX, check_count, check_features, check_is, check_number, csr_parts

SUPPORTS = ("all", "nonzero")
# Largest standard deviation. The largest noise is 7.54 times as much, less than half the distance between the two
# largest float32 numbers, so that a value plus noise stays finite.
LARGEST_SIGMA = 1e30
SEED_MAX = 2**63 - 1  # largest seed and largest row id
TASK_ENTRIES = 1 << 20  # entries of the result that one task writes
BLOCK_BYTES = 64 << 20  # memory of one block of changed rows, in bytes
ENTRY_BYTES = 8  # bytes of one entry of a sparse row: a float32 value and an int32 column
WHOLE_ROWS = 1024  # number of rows that models predict at a time: larger blocks hold a multiple of it


class RowPerturbation:
    """A change of rows: noise, or an attack on a model."""

    LEVEL: ClassVar[str]  # the field of its strength: sigma, rate or epsilon

    @property
    def level(self) -> float:
        """Return the strength of the change: sigma, rate or epsilon."""
        return getattr(self, self.LEVEL)

    def entries(self, X: sp.csr_array) -> float:
        """Return how many entries a changed row has, in the mean or at most."""
        raise NotImplementedError

    @documented
    def apply(
        self,
        X: Matrix,
        rows: ArrayLike | None = None,
        seed: int = 0,
        *,
        model: Ranker | None = None,
        Y: Labels | None = None,
        n_jobs: int | None = None,
    ) -> sp.csr_array:
        """Return changed rows.

        Parameters
        ----------
        {X}
            D is the number of features of the reference, or of the model.
        rows : array_like of int, shape (n,), optional
            Ids of the rows; 0 to n - 1 when None. The random numbers of a row depend on the seed and its id, so rows
            with the same id get the same noise.
        seed : int in [0, 2**63)
            FGSM, which is not random, ignores it.
        model : estimator with ``log_proba_gradient`` and ``predict_topk``, optional
            The fitted model that is attacked; noise ignores it.
        Y : sparse or dense binary, shape (n, L), or lists of label ids, optional
            The true labels, for attacks.
        {n_jobs}

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n, D)
            In canonical form; all values are finite. A row depends only on the same row of X and Y, its id, the seed
            and the model. :class:`GaussianNoise` with ``support="all"`` takes 8 n D bytes: pass some rows at a time.
        """
        return self._apply(X, rows, seed, model, Y, n_jobs)


@dataclass(frozen=True)
class GaussianNoise(RowPerturbation):
    """Independent normal noise on the features: X + N(0, sigma^2), as in section 3.2 of Date and Mehar (2025).

    Parameters
    ----------
    sigma : float in [0, 1e30]
        Standard deviation, in the units of X. 0 leaves X as it is. With one seed, the noise of two values of sigma
        differs only by the factor between them.
    support : {"all", "nonzero"}
        Which features get noise. "all": every feature, which makes every row dense (as in the paper). "nonzero": the
        features that the row has, whose noise is the same as with "all".
    """

    sigma: float
    support: str = "all"
    name: ClassVar[str] = "gaussian"
    LEVEL: ClassVar[str] = "sigma"

    def __post_init__(self):
        object.__setattr__(self, "sigma", check_number(self.sigma, "sigma", most=LARGEST_SIGMA))
        check_support(self.support)

    def entries(self, X: sp.csr_array) -> float:
        return X.shape[1] if self.support == "all" else X.nnz / X.shape[0] + 1

    def _apply(self, X, rows, seed, model, Y, n_jobs):
        X = check_features(X)
        rows, seed = check_rows(rows, X.shape[0]), check_seed(seed)
        if self.sigma == 0:
            return X
        return self._on_all(X, rows, seed, n_jobs) if self.support == "all" else self._on_present(X, rows, seed, n_jobs)

    def _on_all(self, X, rows, seed, n_jobs):
        n, D = X.shape
        of = f"noise on all {D:,} features of {n:,} rows"
        check_memory(8 * n * D, "GaussianNoise", of, 'take fewer rows at a time, or support="nonzero"')
        parts = csr_parts(X)
        indices, data = np.empty(n * D, np.int32), np.empty(n * D, np.float32)

        def one_block(block):
            noise.add_to_all(*parts, *block, D, rows, seed, np.float32(self.sigma), indices, data)

        _in_blocks(one_block, n, n * D, n_jobs)
        indptr = np.arange(n + 1, dtype=np.int32 if n * D <= INT32_MAX else np.int64) * D
        return _without_zeros(data, indices, indptr, X.shape)

    def _on_present(self, X, rows, seed, n_jobs):
        parts = csr_parts(X)
        data = np.empty(X.nnz, np.float32)

        def one_block(block):
            noise.add_to_present(*parts, *block, rows, seed, np.float32(self.sigma), data)

        _in_blocks(one_block, X.shape[0], X.nnz, n_jobs)
        return _without_zeros(data, X.indices, X.indptr, X.shape)


@dataclass(frozen=True)
class WordNoise(RowPerturbation):
    """Random changes of words, for rows whose features are words: words are dropped, swapped and inserted.

    Each feature of a row is dropped with probability ``rate``; each other one is swapped with this probability for a
    new one, which gets its value; and ``rate`` times its features are inserted, on average, with values drawn from
    those in the reference. New features are drawn as often as reference rows have them: docs/methods/robustness.md.

    Parameters
    ----------
    rate : float in [0, 1]
        0 leaves X as it is.
    drop, swap, insert : bool
        Which of the three steps are done.
    reference : sparse or dense, shape (N, D)
        The training rows. Required for swaps and insertions when ``rate`` is above 0.
    """

    rate: float
    drop: bool = True
    swap: bool = True
    insert: bool = True
    reference: object = field(default=None, repr=False, compare=False)
    name: ClassVar[str] = "words"
    LEVEL: ClassVar[str] = "rate"

    def __post_init__(self):
        object.__setattr__(self, "rate", check_number(self.rate, "rate", most=1.0))
        for name in ("drop", "swap", "insert"):
            object.__setattr__(self, name, check_flag(getattr(self, name), name))
        if not (self.drop or self.swap or self.insert):
            raise ValueError("drop, swap and insert are all False: no word would change")
        if self.reference is not None:
            object.__setattr__(self, "reference", check_features(self.reference, name="reference"))
        if self.rate > 0 and (self.swap or self.insert):
            if self.reference is None:
                raise ValueError(
                    "swapped and inserted words are drawn from training rows: give them as reference=X_train, or set "
                    "swap=False and insert=False"
                )
            if self.reference.nnz == 0:
                raise ValueError("reference has no entries: there is no word to draw from it")

    def entries(self, X: sp.csr_array) -> float:
        return 2 * X.nnz / X.shape[0] + 1

    def _apply(self, X, rows, seed, model, Y, n_jobs):
        X = check_features(X)
        rows, seed = check_rows(rows, X.shape[0]), check_seed(seed)
        if self.rate == 0:
            return X
        reference, values = np.empty(0, np.int32), np.empty(0, np.float32)
        if self.swap or self.insert:
            if self.reference.shape[1] != X.shape[1]:
                raise ValueError(
                    f"X has {X.shape[1]} features, but the reference has {self.reference.shape[1]}: both need the same "
                    "vocabulary, in the same order"
                )
            _, reference, values = csr_parts(self.reference)
        parts = CsrRows(*csr_parts(X))
        change = noise.Change(seed, self.rate, self.drop, self.swap, self.insert)
        words = noise.Entries(reference, values)

        def one_block(block):
            return noise.change_words(parts, *block, rows, change, words)

        changed = _in_blocks(one_block, X.shape[0], 2 * X.nnz, n_jobs)
        none = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
        sizes, indices, data = map(np.concatenate, zip(none, *changed))
        return sp.csr_array((data, indices, pointers(sizes)), shape=X.shape)


def check_flag(value, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, not {value!r:.200}")
    return bool(value)


def check_support(support) -> None:
    if not isinstance(support, str) or support not in SUPPORTS:
        raise ValueError(f"support must be one of {', '.join(SUPPORTS)}, not {support!r:.200}")


def check_perturbation(perturbation) -> None:
    check_is(perturbation, "apply", "perturbation", "one with apply(X, rows, seed), such as GaussianNoise(0.1),")


def check_rows(rows, n: int) -> np.ndarray:
    """Return the ids of n rows as int64, 0 to n - 1 for None; raise unless there is a valid id for each row."""
    if rows is None:
        return np.arange(n, dtype=np.int64)
    ids = np.asarray(rows)
    if ids.ndim != 1 or ids.size != n:
        raise ValueError(f"rows has the shape {ids.shape}, but X has {n} rows: each row needs one id")
    if ids.size == 0:
        return np.empty(0, np.int64)
    if ids.dtype.kind not in "iu":
        raise TypeError(f"rows holds {ids.dtype} values: ids must be whole numbers")
    if ids.min() < 0 or ids.max() > SEED_MAX:
        raise ValueError(
            f"rows has the id {ids.min() if ids.min() < 0 else ids.max()}: ids must be from 0 to 2**63 - 1"
        )
    return np.ascontiguousarray(ids, np.int64)


def check_seed(seed) -> np.uint64:
    """Return the seed as uint64, for kernels; raise unless it is a whole number from 0 to 2**63 - 1."""
    return np.uint64(check_count(seed, "seed", least=0, most=SEED_MAX))


def blocks_of_noisy_rows(X, entries: float, most: int | None = None) -> list[tuple[int, int]]:
    """Split rows into blocks whose changed copies, of that many entries each, take at most about 64 MiB each."""
    n = X.shape[0]
    size = max(1, int(BLOCK_BYTES / (ENTRY_BYTES * entries)))
    if most is not None:
        size = min(size, most)
    if size > WHOLE_ROWS:
        size -= size % WHOLE_ROWS
    return row_blocks(n, size)


def _in_blocks(function, n_rows, n_entries, n_jobs) -> list:
    """Call ``function((first row, last row + 1))`` on threads for blocks of all rows; return the results."""
    blocks = row_blocks(n_rows, max(1, int(n_rows * TASK_ENTRIES / max(1, n_entries))))
    return run_tasks(function, blocks, [end - start for start, end in blocks], n_jobs)


def _without_zeros(data, indices, indptr, shape) -> sp.csr_array:
    matrix = sp.csr_array((data, indices, indptr), shape=shape)
    matrix.eliminate_zeros()
    return matrix
