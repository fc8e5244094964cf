"""Perturbations that follow the model's gradient: the rows that change its answer the most.

Both attacks move a row x to x + d, with d inside a ball of radius epsilon, so as to raise an objective:

- ``"margin"``: log P(best wrong label) - log P(best true label). Above 0 the label ranked first is wrong.
- ``"loss"``: minus the mean of log P over the true labels.

The true labels are those of Y. A row without labels there, or any row when there is no Y, has the label that the model
ranks first for the clean row. Under ``"margin"`` a row of which all labels are true, or for which a beam finds no wrong
one, stays as it is; so does, under both, a row whose gradient is 0, such as a row of zeros.

Values may become negative, and a row may get every feature that its labels' classifiers look at; ``nonnegative=True``
and ``support="nonzero"`` prevent that. The ball holds up to the rounding of the result to float32.

References
----------
I. Goodfellow, J. Shlens, C. Szegedy, "Explaining and harnessing adversarial examples", ICLR 2015.
A. Madry et al., "Towards deep learning models resistant to adversarial attacks", ICLR 2018.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from xmlcore.parallel import run_tasks
from xmlcore.robustness.perturbations import check_level, check_rows, check_seed, check_support
from xmlcore.validation import check_count, check_features, check_labels

BLOCK_ROWS = 256
BLOCK_VALUES = 1 << 22  # of a block, if all its rows had all features
BLOCK_LABELS = 4  # as many labels as that for each row of a full block
LARGEST = 1e30  # of epsilon and of a step: sums stay finite in float32
FLOAT32_MAX = np.finfo(np.float32).max
LEAST = -1e300  # in place of the logarithm of 0, so that differences are numbers


@dataclass(frozen=True)
class FGSM:
    """One step along the gradient, as long as is allowed (Goodfellow et al., ICLR 2015).

    Parameters
    ----------
    epsilon : float in [0, 1e30]
        Radius of the ball, in the unit of the values of X. 0 leaves rows as they are.
    norm : {2, inf, "inf"}
        2: the step is epsilon times the normalised gradient. inf: epsilon times its sign, where it is not 0, so that a
        feature without influence keeps its value.
    support : {"all", "nonzero"}
        Which features may change: all, or those that the row has.
    objective : {"margin", "loss"}
        What is raised, see :mod:`xmlcore.robustness.attacks`.
    nonnegative : bool
        Clip values below 0, which keeps rows in the ball; X must have none.

    Examples
    --------
    >>> import numpy as np
    >>> from xmlcore import PLT
    >>> from xmlcore.robustness.attacks import FGSM
    >>> X = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
    >>> model = PLT(random_state=0).fit(X, [[0], [0], [1], [1]])
    >>> changed = FGSM(epsilon=0.9).apply(X, model=model)
    >>> bool((model.predict_topk(changed, k=1).labels != model.predict_topk(X, k=1).labels).all())
    True
    """

    epsilon: float
    norm: float | str = 2
    support: str = "all"
    objective: str = "margin"
    nonnegative: bool = False

    name: ClassVar[str] = "fgsm"

    def __post_init__(self):
        _check(self)

    @property
    def level(self) -> float:
        """``epsilon``."""
        return self.epsilon

    def apply(self, X, rows=None, seed=0, *, model=None, Y=None, n_jobs=None) -> sp.csr_array:
        """Attack rows.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        rows, seed
            Taken as every perturbation takes them, and without effect: nothing here is random.
        model : estimator with ``log_proba_gradient`` and ``predict_topk``
            What is attacked; fitted.
        Y : sparse or dense binary, shape (n, L), or lists of label ids, optional
            The true labels.
        n_jobs : int, optional
            Blocks of rows worked on at the same time; all cores when None.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n, D)
            Each row depends on that row of X and Y, and the model, only.

        Raises
        ------
        ValueError, TypeError
            No model, one without gradients, or data that do not fit it.

        Notes
        -----
        Two gradients and one search per row under "margin", one gradient per true label under "loss". Memory, beside
        the result, is that of a block of at most 256 rows.
        """

        def attack(task):
            value, gradient = task.objective(task.clean)
            return task.stepped(None, gradient, self.epsilon)

        return _apply(self, attack, X, rows, seed, model, Y, n_jobs)


@dataclass(frozen=True)
class PGD:
    """Steps along the gradient, each projected back into the ball (Madry et al., ICLR 2018).

    Of all places that it came by, the clean row included, a row takes the one where the objective is largest. The best
    wrong label and the best true one are found anew at every step.

    Parameters
    ----------
    epsilon, norm, support, objective, nonnegative
        As of :class:`FGSM`.
    n_steps : int, at least 1
    step : float, optional
        Length of a step; 2.5 * epsilon / n_steps when None, as in the paper's implementation.
    random_start : bool
        Start at a uniform point of the ball instead of the clean row: of the part of it spanned by the features along
        which the clean row's objective has a gradient, so that rows stay sparse.

    Notes
    -----
    A surer attack on a row is the best of several seeds with ``random_start=True``.
    """

    epsilon: float
    norm: float | str = 2
    n_steps: int = 20
    step: float | None = None
    support: str = "all"
    objective: str = "margin"
    random_start: bool = False
    nonnegative: bool = False

    name: ClassVar[str] = "pgd"

    def __post_init__(self):
        _check(self)
        check_count(self.n_steps, "n_steps")
        if self.step is not None and check_level(self.step, "step", LARGEST) == 0:
            raise ValueError("step must be above 0, or None for 2.5 * epsilon / n_steps")
        _check_flag(self.random_start, "random_start")

    @property
    def level(self) -> float:
        """``epsilon``."""
        return self.epsilon

    def apply(self, X, rows=None, seed=0, *, model=None, Y=None, n_jobs=None) -> sp.csr_array:
        """Attack rows.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        rows : array_like of int, shape (n,), optional
            Ids of the rows, 0 to n - 1 when None: a random start depends on the seed and the id.
        seed : int, at least 0
        model : estimator with ``log_proba_gradient`` and ``predict_topk``
            What is attacked; fitted.
        Y : sparse or dense binary, shape (n, L), or lists of label ids, optional
            The true labels.
        n_jobs : int, optional
            Blocks of rows worked on at the same time; all cores when None.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n, D)
            Each row depends on that row of X and Y, its id, the seed and the model only.

        Raises
        ------
        ValueError, TypeError
            No model, one without gradients, or data that do not fit it.

        Notes
        -----
        ``n_steps`` + 1 times the work of :class:`FGSM`, one more with a random start. Memory, beside the result, is
        that of a block of at most 256 rows.
        """
        length = 2.5 * self.epsilon / self.n_steps if self.step is None else self.step

        def attack(task):
            best = place = task.clean
            value, gradient = task.objective(place)
            if self.random_start:
                place = task.random_place(gradient, seed)
                best, value, gradient = task.better(best, value, place)
            for _ in range(self.n_steps):
                place = task.stepped(place, gradient, length)
                best, value, gradient = task.better(best, value, place)
            return best

        return _apply(self, attack, X, rows, seed, model, Y, n_jobs)


class _Block:
    """Some rows under attack."""

    def __init__(self, attack, model, clean, labels, ids):
        self.attack = attack
        self.model = model
        self.clean = clean
        self.ids = ids
        none = np.diff(labels.indptr) == 0
        self.true = _lists(labels)
        if none.any():
            first = model.predict_topk(clean[none], k=1).labels[:, :1]
            for i, own in zip(np.flatnonzero(none), first):
                self.true[i] = own[own >= 0]

    def objective(self, X):
        """Value (float64) of each row and its gradient (csr float64), which is 0 for rows that are left alone."""
        return self._loss(X) if self.attack.objective == "loss" else self._margin(X)

    def _loss(self, X):
        row = np.repeat(np.arange(len(self.true)), [own.size for own in self.true])
        logs, gradient = self._gradients(X, row, np.concatenate(self.true))
        shares = 1.0 / np.bincount(row, minlength=X.shape[0])[row]
        mean = sp.csr_array((shares, (row, np.arange(row.size))), shape=(X.shape[0], row.size))
        return -(mean @ logs), _restricted(-(mean @ gradient), self.allowed())

    def _margin(self, X):
        n = X.shape[0]
        wrong, known = np.full(n, -1), np.full(n, -1)
        # So many labels that one of them is wrong, rounded up: few searches, and the same for a row in any block.
        counts = np.array([own.size for own in self.true])
        wanted = np.minimum(2 ** np.ceil(np.log2(counts + 1)).astype(int), self.model.n_labels_)
        for k in np.unique(wanted):
            some = np.flatnonzero(wanted == k)
            for i, found in zip(some, self.model.predict_topk(X[some], k=int(k)).labels):
                is_true = np.isin(found, self.true[i])
                wrong[i] = next(iter(found[~is_true & (found >= 0)]), -1)
                known[i] = next(iter(found[is_true]), -1)
        attacked = wrong >= 0
        # Where no true label is among those found, all are looked at.
        tried = [own if label < 0 else np.array([label]) for own, label in zip(self.true, known)]
        tried = [own if yes else own[:0] for own, yes in zip(tried, attacked)]
        row = np.concatenate([np.flatnonzero(attacked), np.repeat(np.arange(n), [own.size for own in tried])])
        labels = np.concatenate([wrong[attacked], *tried])
        logs, gradient = self._gradients(X, row, labels)
        n_wrong = int(attacked.sum())
        value = np.zeros(n)
        value[attacked] = logs[:n_wrong]
        signs, used = np.ones(n_wrong), np.arange(n_wrong)
        if row.size > n_wrong:
            pairs = np.arange(n_wrong, row.size)
            order = pairs[np.lexsort((labels[pairs], -logs[pairs], row[pairs]))]
            best = order[np.concatenate([[True], np.diff(row[order]) > 0])]
            value[row[best]] -= logs[best]
            signs, used = np.concatenate([signs, -np.ones(best.size)]), np.concatenate([used, best])
        difference = sp.csr_array((signs, (row[used], used)), shape=(n, row.size))
        return value, _restricted(difference @ gradient, self.allowed())

    def _gradients(self, X, row, labels):
        logs, gradient = self.model.log_proba_gradient(X[row], labels)
        gradient = sp.csr_array(gradient, dtype=np.float64)
        np.clip(gradient.data, -FLOAT32_MAX, FLOAT32_MAX, out=gradient.data)
        return np.maximum(logs, LEAST), gradient

    def allowed(self):
        return self.clean if self.attack.support == "nonzero" else None

    def stepped(self, X, gradient, length):
        """The rows of X (None: the clean ones) after a step, back in the ball."""
        move = gradient if X is None or X is self.clean else sp.csr_array(X - self.clean, dtype=np.float64)
        if _is_two(self.attack.norm):
            step = _scaled(gradient, length, least=0.0)
        else:
            step = _like(gradient, length * np.sign(gradient.data))
        return self._placed(step if move is gradient else move + step)

    def random_place(self, gradient, seed):
        """A uniform point of the ball over the features that the gradient has."""
        values, epsilon = np.empty(gradient.nnz), self.attack.epsilon
        for i, (start, end) in enumerate(zip(gradient.indptr[:-1], gradient.indptr[1:])):
            rng, size = np.random.default_rng([seed, self.ids[i]]), end - start
            if _is_two(self.attack.norm):
                direction = rng.standard_normal(size)
                radius = epsilon * rng.random() ** (1.0 / max(1, size))
                values[start:end] = direction * (radius / max(np.linalg.norm(direction), 1e-300))
            else:
                values[start:end] = rng.uniform(-epsilon, epsilon, size)
        return self._placed(_like(gradient, values))

    def _placed(self, move):
        """Clean rows plus a move that is brought back into the ball first."""
        epsilon = self.attack.epsilon
        if _is_two(self.attack.norm):
            move = _scaled(move, epsilon, least=epsilon)
        else:
            move = _like(move, np.clip(move.data, -epsilon, epsilon))
        placed = sp.csr_array(self.clean + move, dtype=np.float32)
        if self.attack.nonnegative:
            np.maximum(placed.data, 0.0, out=placed.data)
        np.clip(placed.data, -FLOAT32_MAX, FLOAT32_MAX, out=placed.data)
        placed.eliminate_zeros()
        placed.sort_indices()
        return placed

    def better(self, best, value, X):
        """Best places and values of each row when those of X are looked at too, and the gradient there."""
        new, gradient = self.objective(X)
        taken = new > value
        if taken.any():
            n = taken.size
            both = sp.vstack([best, X], format="csr")
            best = sp.csr_array(both[np.where(taken, n + np.arange(n), np.arange(n))])
        return best, np.where(taken, new, value), gradient


def _apply(attack, one_block, X, rows, seed, model, Y, n_jobs):
    check_seed(seed)
    if model is None:
        raise ValueError(f"{type(attack).__name__} follows a model's gradient: give model=")
    if not hasattr(model, "log_proba_gradient"):
        raise ValueError(
            f"{type(model).__name__} has no log_proba_gradient, which {type(attack).__name__} follows: attack a model "
            "that has, such as a PLT fitted on the same rows, and hand the changed rows to this one"
        )
    model._check_fitted()
    X = check_features(X, model.n_features_in_)
    n = X.shape[0]
    Y = sp.csr_array((n, model.n_labels_), dtype=bool) if Y is None else check_labels(Y, n, model.n_labels_)
    ids = check_rows(rows, n)
    if attack.nonnegative and X.nnz and X.data.min() < 0:
        raise ValueError(f"nonnegative=True, but X holds {X.data.min()}: rows would leave the ball when clipped")
    if attack.epsilon == 0 or n == 0:
        return X
    blocks = _blocks(np.maximum(1, np.diff(Y.indptr)), max(1, min(BLOCK_ROWS, BLOCK_VALUES // X.shape[1])))

    def one(block):
        return one_block(_Block(attack, model, sp.csr_array(X[block]), sp.csr_array(Y[block]), ids[block]))

    parts = run_tasks(one, blocks, [block.stop - block.start for block in blocks], n_jobs)
    return sp.csr_array(sp.vstack(parts, format="csr"))


def _blocks(n_labels, size):
    """Slices of at most ``size`` rows, and fewer where rows have many labels: each may need a gradient."""
    blocks, start, total = [], 0, 0
    for i, count in enumerate(n_labels.tolist()):
        if i > start and (i - start == size or total + count > BLOCK_LABELS * size):
            blocks.append(slice(start, i))
            start, total = i, 0
        total += count
    return [*blocks, slice(start, n_labels.size)]


def _check(attack):
    object.__setattr__(attack, "epsilon", check_level(attack.epsilon, "epsilon", LARGEST))
    if not (_is_two(attack.norm) or attack.norm == np.inf or attack.norm == "inf"):
        raise ValueError(f'norm must be 2 or infinity (numpy.inf or "inf"), not {attack.norm!r}')
    check_support(attack.support)
    if attack.objective not in ("margin", "loss"):
        raise ValueError(f'objective must be "margin" or "loss", not {attack.objective!r}')
    _check_flag(attack.nonnegative, "nonnegative")


def _check_flag(value, name):
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, not {value!r}")


def _is_two(norm):
    return not isinstance(norm, bool) and norm == 2


def _lists(labels):
    return np.split(labels.indices.astype(np.int64), labels.indptr[1:-1])


def _like(matrix, values):
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _scaled(matrix, length, least):
    """Rows longer than ``least`` brought to ``length``; each row by a sum of its own entries, in their order."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    norms = np.sqrt(np.bincount(row, matrix.data.astype(np.float64) ** 2, matrix.shape[0]))
    scale = np.where(norms > least, length / np.where(norms > 0, norms, 1.0), 1.0)
    return _like(matrix, matrix.data * scale[row])


def _restricted(gradient, allowed):
    """The gradient as canonical CSR without zeros, of the allowed features only."""
    gradient = sp.csr_array(gradient)
    if allowed is not None:
        gradient = sp.csr_array(gradient.multiply(allowed != 0))
    gradient.sum_duplicates()
    gradient.eliminate_zeros()
    return gradient
