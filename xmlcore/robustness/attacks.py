"""Attacks: changes of rows that follow the model's gradient to change its prediction: docs/methods/robustness.md."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import blocks_of, pointers
from xmlcore.documented import documented
from xmlcore.models.rows import rows_for
from xmlcore.noise import RowPerturbation, check_flag, check_rows, check_seed, check_support
from xmlcore.parallel import run_blocks
from xmlcore.validation import check_count, check_fitted, check_labels, check_number

BLOCK_ROWS = 256  # most rows of a block
BLOCK_VALUES = 1 << 22  # most values of a block, counted as if all its rows had all features
BLOCK_LABELS = 4  # most true labels of a block, for each row of a full block
LARGEST = 1e30  # largest epsilon and largest step: sums stay finite in float32
FLOAT32_MAX = np.finfo(np.float32).max
LEAST = -1e300  # replaces the logarithm of 0, so that differences of logarithms are never nan


class _Attack(RowPerturbation):
    """The common part of attacks; a subclass says with ``_moved`` where the rows of a block go."""

    LEVEL = "epsilon"

    def __post_init__(self):
        object.__setattr__(self, "epsilon", check_number(self.epsilon, "epsilon", most=LARGEST))
        if self.norm not in (2, np.inf, "inf"):
            raise ValueError(f'norm must be 2 or infinity (numpy.inf or "inf"), not {self.norm!r:.200}')
        check_support(self.support)
        if self.objective not in ("margin", "loss"):
            raise ValueError(f'objective must be "margin" or "loss", not {self.objective!r:.200}')
        check_flag(self.nonnegative, "nonnegative")

    def entries(self, X: sp.csr_array) -> float:
        return X.shape[1]

    def _apply(self, X, rows, seed, model, Y, n_jobs):
        check_seed(seed)
        if model is None:
            raise ValueError(f"{type(self).__name__} follows a model's gradient: give model=")
        if not hasattr(model, "log_proba_gradient"):
            raise ValueError(
                f"{type(model).__name__} has no log_proba_gradient, which {type(self).__name__} follows: attack a "
                "model that has one, such as a PLT fitted on the same rows (surrogate= of evaluate), and predict the "
                "changed rows with this model"
            )
        check_fitted(model)
        X = rows_for(model, X)
        n = X.shape[0]
        Y = sp.csr_array((n, model.n_labels_), dtype=bool) if Y is None else check_labels(Y, n, model.n_labels_)
        ids = check_rows(rows, n)
        if self.nonnegative and X.nnz and X.data.min() < 0:
            raise ValueError(
                f"nonnegative=True, but X holds {X.data.min()}: setting it to 0 could change the row by more than "
                "epsilon"
            )
        if self.epsilon == 0 or n == 0:
            return X
        size = max(1, min(BLOCK_ROWS, BLOCK_VALUES // X.shape[1]))  # fewer with many labels: see BLOCK_LABELS
        blocks = blocks_of(pointers(np.maximum(1, np.diff(Y.indptr))), BLOCK_LABELS * size, size)

        def one(block):
            part = slice(*block)
            return self._moved(_Block(self, model, sp.csr_array(X[part]), sp.csr_array(Y[part]), ids[part]), seed)

        return sp.csr_array(sp.vstack(run_blocks(one, blocks, n_jobs), format="csr"))


@documented
@dataclass(frozen=True)
class FGSM(_Attack):
    """Attack with one step of length epsilon along the gradient (Goodfellow et al., ICLR 2015).

    Parameters
    ----------
    epsilon : float in [0, 1e30]
        Length of the step, in the unit of the values of X. 0 leaves rows as they are.
    norm : {2, inf, "inf"}
        Norm in which the length is measured. 2: the step is epsilon times the normalised gradient. inf: each feature
        changes by epsilon times the sign of its gradient; a feature whose gradient is 0 keeps its value.
    {support, objective, nonnegative}

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

    def _moved(self, task, seed):
        _, gradient = task.objective(task.clean)
        return task.stepped(None, gradient, self.epsilon)


@documented
@dataclass(frozen=True)
class PGD(_Attack):
    """Attack with several steps along the gradient (projected gradient descent; Madry et al., ICLR 2018).

    After each step the row is projected back to within epsilon of the clean row. The result is the row with the largest
    objective among the clean row and the rows after each step. The best wrong label and the best true label are
    searched again at every step.

    Parameters
    ----------
    epsilon : float in [0, 1e30]
        Largest length of the whole change, in the unit of the values of X.
    norm : {2, inf, "inf"}
        Norm in which the length is measured, see :class:`FGSM`.
    n_steps : int, at least 1
        Number of steps.
    step : float, optional
        Length of a step; 2.5 * epsilon / n_steps when None, as in the paper's implementation.
    {support, objective}
    random_start : bool
        Start at a random row within epsilon of the clean row instead of at the clean row: the best of several seeds is
        a stronger attack. Only features for which the clean row's objective has a gradient are changed, so that rows
        stay sparse.
    {nonnegative}
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
        super().__post_init__()
        check_count(self.n_steps, "n_steps")
        if self.step is not None and check_number(self.step, "step", most=LARGEST) == 0:
            raise ValueError("step must be above 0, or None for 2.5 * epsilon / n_steps")
        check_flag(self.random_start, "random_start")

    def _moved(self, task, seed):
        length = 2.5 * self.epsilon / self.n_steps if self.step is None else self.step
        best = place = task.clean
        value, gradient = task.objective(place)
        if self.random_start:
            place = task.random_place(gradient, seed)
            best, value, gradient = task.better(best, value, place)
        for _ in range(self.n_steps):
            place = task.stepped(place, gradient, length)
            best, value, gradient = task.better(best, value, place)
        return best


class _Block:
    """A block of rows under attack: their true labels, the objective and its gradient, and moves within epsilon."""

    def __init__(self, attack, model, clean, labels, ids):
        # ``clean`` are the unchanged rows (CSR), ``labels`` their labels in Y (CSR), ``ids`` the ids of the rows.
        self.attack = attack
        self.model = model
        self.clean = clean
        self.ids = ids
        has_no_label = np.diff(labels.indptr) == 0
        self.true = np.split(labels.indices.astype(np.int64), labels.indptr[1:-1])
        if has_no_label.any():
            first = model.predict_topk(clean[has_no_label], k=1).labels[:, :1]
            for i, label in zip(np.flatnonzero(has_no_label), first):
                self.true[i] = label[label >= 0]

    def objective(self, X):
        """Return the objective of each row (float64) and its gradient (CSR, float64; 0: not attacked)."""
        if self.attack.objective == "margin":
            return self._margin(X)
        row = np.repeat(np.arange(len(self.true)), [labels.size for labels in self.true])
        logs, gradient = self._gradients(X, row, np.concatenate(self.true))
        shares = 1.0 / np.bincount(row, minlength=X.shape[0])[row]
        mean = sp.csr_array((shares, (row, np.arange(row.size))), shape=(X.shape[0], row.size))
        return -(mean @ logs), self._restricted(-(mean @ gradient))

    def _margin(self, X):
        n = X.shape[0]
        wrong, best_true = self._best_labels(X)
        attacked = wrong >= 0
        # The best true label, or all true labels of a row if the search has found none of them.
        candidates = [true if label < 0 else np.array([label]) for true, label in zip(self.true, best_true)]
        candidates = [tried if is_attacked else tried[:0] for tried, is_attacked in zip(candidates, attacked)]
        row = np.concatenate([np.flatnonzero(attacked), np.repeat(np.arange(n), [tried.size for tried in candidates])])
        labels = np.concatenate([wrong[attacked], *candidates])
        logs, gradient = self._gradients(X, row, labels)
        n_wrong = int(attacked.sum())
        signs = np.zeros(row.size)
        signs[:n_wrong] = 1
        order = n_wrong + np.lexsort((labels[n_wrong:], -logs[n_wrong:], row[n_wrong:]))
        signs[order[np.unique(row[order], return_index=True)[1]]] = -1  # the best true label of each row
        difference = sp.csr_array((signs, (row, np.arange(row.size))), shape=(n, row.size))
        return difference @ logs, self._restricted(difference @ gradient)

    def _best_labels(self, X):
        """Return the best wrong and the best true label of each row, -1 where the search finds none."""
        best_wrong, best_true = np.full(X.shape[0], -1), np.full(X.shape[0], -1)
        # At least one label more than the row has true ones, so that one is wrong. The number is rounded up to a power
        # of 2, so that there are few searches, and so that a row is searched in the same way in every block.
        counts = np.array([labels.size for labels in self.true])
        wanted = np.minimum(2 ** np.ceil(np.log2(counts + 1)).astype(int), self.model.n_labels_)
        for k in np.unique(wanted):
            rows = np.flatnonzero(wanted == k)
            for i, ranked in zip(rows, self.model.predict_topk(X[rows], k=int(k)).labels):
                is_true = np.isin(ranked, self.true[i])
                best_wrong[i] = next(iter(ranked[~is_true & (ranked >= 0)]), -1)
                best_true[i] = next(iter(ranked[is_true]), -1)
        return best_wrong, best_true

    def _gradients(self, X, row, labels):
        """Return log P and its gradient, both finite, for pairs of a row of X and a label."""
        logs, gradient = self.model.log_proba_gradient(X[row], labels)
        gradient = sp.csr_array(gradient, dtype=np.float64)
        np.clip(gradient.data, -FLOAT32_MAX, FLOAT32_MAX, out=gradient.data)
        return np.maximum(logs, LEAST), gradient

    def _restricted(self, gradient):
        """Return the gradient of the features that may change, as canonical CSR without zeros."""
        gradient = sp.csr_array(gradient)
        if self.attack.support == "nonzero":
            gradient = sp.csr_array(gradient.multiply(self.clean != 0))
        gradient.sum_duplicates()
        gradient.eliminate_zeros()
        return gradient

    def stepped(self, X, gradient, length):
        """Return the rows of X (None: the clean rows) after one step, projected back to within epsilon."""
        move = gradient if X is None or X is self.clean else sp.csr_array(X - self.clean, dtype=np.float64)
        if self.attack.norm == 2:
            step = _scale_rows(gradient, length, least=0.0)
        else:
            step = _like(gradient, length * np.sign(gradient.data))
        return self._placed(step if move is gradient else move + step)

    def random_place(self, gradient, seed):
        """Return a random row within epsilon of each clean row, which differs in the features of the gradient only."""
        values, epsilon = np.empty(gradient.nnz), self.attack.epsilon
        for i, (start, end) in enumerate(zip(gradient.indptr[:-1], gradient.indptr[1:])):
            rng, size = np.random.default_rng([seed, self.ids[i]]), end - start
            if self.attack.norm == 2:
                direction = rng.standard_normal(size)
                radius = epsilon * rng.random() ** (1.0 / max(1, size))
                values[start:end] = direction * (radius / max(np.linalg.norm(direction), 1e-300))
            else:
                values[start:end] = rng.uniform(-epsilon, epsilon, size)
        return self._placed(_like(gradient, values))

    def _placed(self, move):
        """Return the clean rows plus a move, which is shortened to epsilon first."""
        epsilon = self.attack.epsilon
        if self.attack.norm == 2:
            move = _scale_rows(move, epsilon, least=epsilon)
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
        """Return for each row the one of ``best`` and X with the larger objective, this objective, and X's gradient."""
        new, gradient = self.objective(X)
        improved = new > value
        if improved.any():
            n = improved.size
            both = sp.vstack([best, X], format="csr")
            best = sp.csr_array(both[np.where(improved, n + np.arange(n), np.arange(n))])
        return best, np.where(improved, new, value), gradient


def _like(matrix, values):
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _scale_rows(matrix, length, least):
    """Scale rows that are longer than ``least`` to ``length``; a row's result does not depend on other rows."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    norms = np.sqrt(np.bincount(row, matrix.data.astype(np.float64) ** 2, matrix.shape[0]))
    scale = np.where(norms > least, length / np.where(norms > 0, norms, 1.0), 1.0)
    return _like(matrix, matrix.data * scale[row])
