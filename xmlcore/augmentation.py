"""Add changed copies to training rows, for adversarial training."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.noise import check_perturbation, check_support
from xmlcore.system import check_memory
from xmlcore.typing import Labels, Matrix, Perturbation, Ranker
from xmlcore.validation import check_count, check_features, check_labels, check_number

BYTES_PER_VALUE = 8  # bytes of one value of a sparse row: a float32 value and an int32 column
# Measured peak memory of training a label tree on two threads, as a multiple of the memory of the training rows: they
# exist once when they are made, when they are stacked and when the model converts them, and in every thread.
COPIES = 6


class Augmented(NamedTuple):
    """Training rows, followed by changed copies of some of them."""

    X: sp.csr_array  # float32 (N + m, D)
    Y: sp.csr_array  # bool (N + m, L)
    rows: np.ndarray  # int64 (m,), the row of which each copy was made


def augment(
    X: Matrix,
    Y: Labels,
    perturbation: Perturbation,
    augment_ratio: float = 1.0,
    random_state: int = 0,
    model: Ranker | None = None,
) -> Augmented:
    """Return the rows, followed by m = round(N * augment_ratio) perturbed copies with the same labels."""
    X = check_features(X)
    Y = check_labels(Y, n_rows=X.shape[0])
    ratio, n = check_number(augment_ratio, "augment_ratio", 0.0, above=True), X.shape[0]
    check_perturbation(perturbation)
    check_count(random_state, "random_state", least=0)
    # It differs from the seed that a test with ``random_state`` uses.
    seed = int(np.random.SeedSequence([random_state, 0xC0B1]).generate_state(1, np.uint64)[0] >> np.uint64(1))
    if getattr(perturbation, "support", None) == "all" and getattr(perturbation, "name", "") == "gaussian":
        of = f"noise on all {X.shape[1]:,} features of {n:,} rows, {ratio:g} times"
        remedy = "use noise_support='nonzero', or a smaller augment_ratio"
        check_memory(augmented_bytes(*X.shape, X.nnz, ratio, "all"), "AdversarialTraining", of, remedy)
    m = round(n * ratio)
    rounds, rest = divmod(m, n) if n else (0, 0)
    if m == 0:
        raise ValueError(
            f"augment_ratio={ratio:g} of {n:,} rows gives no copy, so that nothing would be trained on noise: give "
            f"more than {0.5 / max(1, n):.2g}"
        )
    drawn = np.random.default_rng([random_state, 0]).permutation(n)[:rest]
    rows = np.concatenate([np.tile(np.arange(n), rounds), np.sort(drawn)]).astype(np.int64)
    streams = rows + n * np.repeat(np.arange(rounds + 1), [n] * rounds + [rest])
    copies = perturbation.apply(X[rows], rows=streams, seed=seed, model=model, Y=Y[rows])
    both = sp.vstack([X, copies], format="csr", dtype=np.float32)
    return Augmented(sp.csr_array(both), sp.csr_array(sp.vstack([Y, Y[rows]], format="csr")), rows)


def augmented_bytes(n_rows: int, n_features: int, nnz: int, augment_ratio: float, support: str) -> int:
    """Estimate the peak memory of training on noisy copies, in bytes, without the data that exist before.

    Parameters
    ----------
    n_rows, n_features, nnz : int
        Of the training rows; ``nnz`` is their number of stored values.
    augment_ratio : float
        Number of noisy copies, divided by the number of training rows.
    support : {"nonzero", "all"}
        Which features get noise, see :class:`xmlcore.robustness.AdversarialTraining`.

    Returns
    -------
    int
        Six times the bytes of the clean and noisy values, which was measured for a label tree on two threads. The
        memory of the model is not included.
    """
    for name, count in (("n_rows", n_rows), ("n_features", n_features), ("nnz", nnz)):
        check_count(count, name, 0)
    check_number(augment_ratio, "augment_ratio")
    check_support(support)
    copies = round(n_rows * augment_ratio) * n_features if support == "all" else round(nnz * augment_ratio)
    return COPIES * BYTES_PER_VALUE * (nnz + copies)
