"""Augmentation: which rows are copied, how the copies differ, and how much memory they take."""

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT, ExtendedPLT
from xmlcore.augmentation import augment, augmented_bytes
from xmlcore.noise import GaussianNoise
from xmlcore.robustness import AdversarialTraining


def problem(n=60, D=12, L=7, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, L)) < 0.2
    Y[np.arange(n), rng.integers(0, L, n)] = True
    X = np.where(rng.random((n, D)) < 0.1, 1.0, 0.0)
    X[:, :L] += Y
    return sp.csr_array(X.astype(np.float32)), sp.csr_array(Y)


@pytest.mark.parametrize("ratio, copies", [(0.25, 15), (1.0, 60), (1.51, 91), (2.0, 120), (0.01, 1)])
def test_noisy_copies_follow_the_clean_rows(ratio, copies):
    X, Y = problem()
    both = augment(X, Y, GaussianNoise(0.05), ratio)
    assert both.X.shape == (60 + copies, 12) and both.X.dtype == np.float32 and both.Y.dtype == bool
    assert (both.X[:60] != X).nnz == 0 and (both.Y[:60] != Y).nnz == 0
    assert (both.Y[60:] != Y[both.rows]).nnz == 0
    change = np.abs(both.X[60:].toarray() - X[both.rows].toarray())
    assert (change > 0).all() and change.max() < 0.3
    counts = np.bincount(both.rows, minlength=60)
    assert counts.max() - counts.min() <= 1


def test_copies_of_one_row_differ_and_depend_on_the_seed():
    X, Y = problem()
    both = augment(X, Y, GaussianNoise(0.05), 2.0, random_state=3)
    first, second = both.X[60:120].toarray(), both.X[120:].toarray()
    assert (first != second).all()
    assert (augment(X, Y, GaussianNoise(0.05), 2.0, random_state=3).X != both.X).nnz == 0
    assert (augment(X, Y, GaussianNoise(0.05), 2.0, random_state=4).X != both.X).nnz > 0
    drawn = [augment(X, Y, GaussianNoise(0.05), 0.5, random_state=seed).rows.tolist() for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_memory_of_dense_copies_counts_all_values():
    assert augmented_bytes(1000, 500, 20_000, 1.0, "nonzero") == 6 * 8 * 40_000
    assert augmented_bytes(1000, 500, 20_000, 0.5, "all") == 6 * 8 * (20_000 + 500 * 500)


def test_noise_in_training_is_not_that_of_a_test():
    X, Y = problem(200)
    for seed in (0, 5):
        trained = augment(X, Y, GaussianNoise(0.05), 1.0, seed).X[200:].toarray() - X.toarray()
        tested = GaussianNoise(0.05).apply(X, seed=seed).toarray() - X.toarray()
        assert abs(np.corrcoef(trained.ravel(), tested.ravel())[0, 1]) < 0.1


def test_too_few_or_too_many_copies_are_refused(monkeypatch):
    X, Y = problem()
    with pytest.raises(ValueError, match="0.001 of 60 rows gives no copy"):
        ExtendedPLT(augment_ratio=0.001).fit_for_adversarial_examples(X, Y)
    with pytest.raises(MemoryError, match="noise_support='nonzero'"):
        AdversarialTraining(PLT(), augment_ratio=1e12).fit(X, Y)
    monkeypatch.setattr("xmlcore.augmentation.free_bytes", lambda: 10)
    with pytest.raises(MemoryError, match="12 features of 60 rows"):
        augment(X, Y, GaussianNoise(0.05))
    augment(X, Y, GaussianNoise(0.05, "nonzero"))
