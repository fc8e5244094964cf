"""Changes to rows that do not look at the model: noise on the values, and other words.

What happens to a row is a function of the seed, the row's id, and the feature or the place in the row: any part of a
matrix, on any number of threads, gets the same as the whole.
"""

import math
import numbers
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import noise
from xmlcore.parallel import run_tasks
from xmlcore.validation import INT32_MAX, check_count, check_features, csr_parts

SUPPORTS = ("all", "nonzero")
KINDS = ("gaussian", "words", "fgsm", "pgd")
LARGEST_SIGMA = 1e30  # 7.54 times as much is less than half a step of the largest float32: sums stay finite
SEED_MAX = 2**63 - 1
TASK_ENTRIES = 1 << 20  # of a result, for each task


@dataclass(frozen=True)
class GaussianNoise:
    """Independent normal noise on the features: X + N(0, sigma^2).

    Parameters
    ----------
    sigma : float in [0, 1e30]
        Standard deviation, in the units of X. 0 leaves X as it is. Noise of two levels with one seed differs by the
        factor between them and by nothing else.
    support : {"all", "nonzero"}
        "all": on every feature, which makes every row dense (the paper's). "nonzero": on the present ones only, where
        it is the same as with "all".

    Raises
    ------
    ValueError, TypeError
        Another support, or a sigma that is no number from 0 to 1e30.

    References
    ----------
    A. Date, S. Mehar, "Adversarial robustness and explainability in extreme multi-label classification with extended
    probabilistic label trees", 2025, section 3.2.
    """

    sigma: float
    support: str = "all"
    name: ClassVar[str] = "gaussian"

    def __post_init__(self):
        object.__setattr__(self, "sigma", check_level(self.sigma, "sigma", LARGEST_SIGMA))
        check_support(self.support)

    @property
    def level(self) -> float:
        """``sigma``."""
        return self.sigma

    def apply(self, X, rows=None, seed: int = 0, *, model=None, Y=None, n_jobs: int | None = None) -> sp.csr_array:
        """X with noise.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        rows : array_like of int, shape (n,), optional
            Ids of the rows, which choose the noise: 0 to n - 1 when not given. Rows of one id get the same noise.
        seed : int in [0, 2**63)
        model, Y
            Not looked at: attacks need them.
        n_jobs : int, optional
            Threads; all cores when None. Without effect on the result.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n, D)
            Canonical, and finite. With the support "all" it takes 8 n D bytes: hand in a part of the rows at a time.
        """
        X = check_features(X)
        rows, seed = check_rows(rows, X.shape[0]), check_seed(seed)
        if self.sigma == 0:
            return X
        return self._on_all(X, rows, seed, n_jobs) if self.support == "all" else self._on_present(X, rows, seed, n_jobs)

    def _on_all(self, X, rows, seed, n_jobs):
        n, D = X.shape
        parts = csr_parts(X)
        indices, data = np.empty(n * D, np.int32), np.empty(n * D, np.float32)

        def one_block(block):
            return noise.add_to_all(*parts, *block, D, rows, seed, np.float32(self.sigma), indices, data)

        zeros = _in_blocks(one_block, n, n * D, n_jobs)
        indptr = np.arange(n + 1, dtype=np.int32 if n * D <= INT32_MAX else np.int64) * D
        return _finished(data, indices, indptr, X.shape, sum(zeros))

    def _on_present(self, X, rows, seed, n_jobs):
        parts = csr_parts(X)
        data = np.empty(X.nnz, np.float32)

        def one_block(block):
            return noise.add_to_present(*parts, *block, rows, seed, np.float32(self.sigma), data)

        zeros = _in_blocks(one_block, X.shape[0], X.nnz, n_jobs)
        return _finished(data, X.indices, X.indptr, X.shape, sum(zeros))


@dataclass(frozen=True)
class WordNoise:
    """Words that are missing, mistaken for others, or too many: for rows whose features are words.

    With n the features that a row has, in the order in which it happens:

    1. Each is dropped with probability ``rate``.
    2. Each that was not dropped is swapped with probability ``rate``: another feature takes its place and its value.
    3. ``rate * n`` features are inserted, rounded up or down at random so that this is the mean. A new one has a value
       drawn from its own values in the reference.

    Words that come in are drawn in proportion to the rows of the reference that have them. Of those that the row had
    at first, or that came in already, none is taken: it is drawn again, and after 64 such draws in a row the swap
    leaves its feature where it is and the insertion is left out (which happens only to rows that have nearly every
    word that is ever used). A dropped word does not come back.

    Parameters
    ----------
    rate : float in [0, 1]
        0 leaves X as it is.
    drop, swap, insert : bool
        Which of the three happen.
    reference : sparse or dense, shape (N, D)
        The training rows. Needed for swaps and insertions at rates above 0.

    Raises
    ------
    ValueError, TypeError
        A rate that is no number from 0 to 1, nothing that may happen, a reference that is missing or has no entries,
        or what :func:`xmlcore.validation.check_features` finds wrong with it.

    Notes
    -----
    Time O(features * log(features)) for each row, and at worst O(features**2) tiny steps for rows that get many words.
    """

    rate: float
    drop: bool = True
    swap: bool = True
    insert: bool = True
    reference: object = field(default=None, repr=False, compare=False)
    name: ClassVar[str] = "words"

    def __post_init__(self):
        object.__setattr__(self, "rate", check_level(self.rate, "rate", 1.0))
        for name in ("drop", "swap", "insert"):
            given = getattr(self, name)
            if not isinstance(given, (bool, np.bool_)):
                raise TypeError(f"{name} must be True or False, not {given!r}")
            object.__setattr__(self, name, bool(given))
        if not (self.drop or self.swap or self.insert):
            raise ValueError("drop, swap and insert are all False: nothing would happen to a word")
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

    @property
    def level(self) -> float:
        """``rate``."""
        return self.rate

    def apply(self, X, rows=None, seed: int = 0, *, model=None, Y=None, n_jobs: int | None = None) -> sp.csr_array:
        """X with other words.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
            D as the reference has it.
        rows, seed, model, Y, n_jobs
            As for :meth:`GaussianNoise.apply`.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n, D)
            Canonical. A row without features stays so.

        Raises
        ------
        ValueError
            X has another number of features than the reference.
        """
        X = check_features(X)
        rows, seed = check_rows(rows, X.shape[0]), check_seed(seed)
        if self.rate == 0:
            return X
        n, D = X.shape
        reference, values = np.empty(0, np.int32), np.empty(0, np.float32)
        if self.swap or self.insert:
            if self.reference.shape[1] != D:
                raise ValueError(
                    f"X has {D} features, but the reference has {self.reference.shape[1]}: both need the same "
                    "vocabulary, in the same order"
                )
            _, reference, values = csr_parts(self.reference)
        parts = csr_parts(X)
        settings = (self.rate, self.drop, self.swap, self.insert)
        lengths = noise.longest_rows(parts[0], rows, seed, self.rate if self.insert else 0.0)
        at = np.cumsum(lengths) - lengths
        size = int(lengths.sum())
        indices, data, counts = np.empty(size, np.int32), np.empty(size, np.float32), np.empty(n, np.int64)

        def one_block(block):
            noise.change_words(*parts, *block, rows, seed, *settings, reference, values, at, indices, data, counts)

        _in_blocks(one_block, n, size, n_jobs)
        indptr = np.empty(n + 1, np.int64)
        noise.close_gaps(at, counts, indices, data, indptr)
        used = int(indptr[-1])
        return _finished(data[:used], indices[:used], indptr, X.shape, 0)


def perturbation(kind: str, level: float, **options):
    """Make a perturbation by name.

    Parameters
    ----------
    kind : {"gaussian", "words", "fgsm", "pgd"}
        :class:`GaussianNoise`, :class:`WordNoise`, :class:`~xmlcore.robustness.FGSM` or
        :class:`~xmlcore.robustness.PGD`.
    level : float
        Its sigma, rate or epsilon: 0 leaves rows as they are.
    **options
        Its other arguments.

    Returns
    -------
    GaussianNoise, WordNoise, FGSM or PGD
        It has ``.apply(X, rows, seed, *, model, Y, n_jobs)``, ``.level`` and ``.name``.

    Raises
    ------
    ValueError
        Another kind; an option that this kind does not have; or what the class finds wrong.
    """
    cls = perturbation_class(kind)
    known = option_names(kind)
    unknown = set(options) - set(known)
    if unknown:
        raise ValueError(
            f"{kind!r} has no option {', '.join(map(repr, sorted(unknown)))}: it has {', '.join(known) or 'none'}"
        )
    return cls(level, **options)


def perturbation_class(kind: str) -> type:
    """The class of a kind of perturbation; ValueError for another kind."""
    if kind == "gaussian":
        return GaussianNoise
    if kind == "words":
        return WordNoise
    if kind in KINDS:
        from xmlcore.robustness import attacks

        return attacks.FGSM if kind == "fgsm" else attacks.PGD
    raise ValueError(f"unknown perturbation {kind!r}: known are {', '.join(KINDS)}")


def option_names(kind: str) -> list[str]:
    """Arguments that a kind of perturbation takes beside its level."""
    from dataclasses import fields

    return [f.name for f in fields(perturbation_class(kind)) if f.init][1:]


def check_level(value, name: str, most: float) -> float:
    """Return ``value`` as a float when it is a number in [0, most]; raise otherwise."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if not math.isfinite(value) or not 0 <= value <= most:
        raise ValueError(f"{name} must be from 0 to {most:g}, not {value}")
    return float(value)


def check_support(support) -> None:
    """Raise ValueError unless ``support`` is one of ``SUPPORTS``."""
    if not isinstance(support, str) or support not in SUPPORTS:
        raise ValueError(f"support must be one of {', '.join(SUPPORTS)}, not {support!r}")


def check_rows(rows, n: int) -> np.ndarray:
    """Ids of n rows (int64), 0 to n - 1 for None; raise unless there is one, not negative, for each."""
    if rows is None:
        return np.arange(n, dtype=np.int64)
    ids = np.asarray(rows)
    if ids.ndim != 1 or ids.size != n:
        raise ValueError(f"rows has the shape {ids.shape}, but X has {n} rows: one id for each is needed")
    if ids.size == 0:
        return np.empty(0, np.int64)
    if ids.dtype.kind not in "iu":
        raise TypeError(f"rows holds {ids.dtype} values: ids are whole numbers")
    if ids.min() < 0 or ids.max() > SEED_MAX:
        raise ValueError(f"rows has the id {ids.min() if ids.min() < 0 else ids.max()}: ids are from 0 to 2**63 - 1")
    return np.ascontiguousarray(ids, np.int64)


def check_seed(seed) -> np.uint64:
    """Return the seed as kernels take it; raise unless it is a whole number from 0 to 2**63 - 1."""
    return np.uint64(check_count(seed, "seed", least=0, most=SEED_MAX))


def _in_blocks(function, n_rows, n_entries, n_jobs) -> list:
    """Call ``function((first row, last row + 1))`` on threads for all rows."""
    size = max(1, int(n_rows * TASK_ENTRIES / max(1, n_entries)))
    blocks = [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    return run_tasks(function, blocks, [end - start for start, end in blocks], n_jobs)


def _finished(data, indices, indptr, shape, zeros) -> sp.csr_array:
    matrix = sp.csr_array((data, indices, indptr), shape=shape)
    if zeros:
        matrix.eliminate_zeros()
    return matrix
