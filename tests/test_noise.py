"""Noise depends on the seed, the row's id and the feature only; augmentation copies rows with it."""

import math

import naive
import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT, ExtendedPLT, noise
from xmlcore.augmentation import augment, augmented_bytes
from xmlcore.noise import GaussianNoise, WordNoise
from xmlcore.robustness import AdversarialTraining


def rows_of_words(n, d, seed=0, density=0.2):
    """Canonical CSR with positive values and some empty rows."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random_array((n, d), density=density, rng=rng, dtype=np.float32, format="csr"))
    X.data += np.float32(0.5)
    keep = np.ones(n, np.float32)
    keep[:: max(2, n // 3)] = 0
    X = sp.csr_array(sp.diags_array(keep) @ X, dtype=np.float32)
    X.eliminate_zeros()
    X.sort_indices()
    return X


def normals(n, d, seed=0, rows=None):
    """Standard normal numbers as :class:`GaussianNoise` draws them, (n, d)."""
    return GaussianNoise(1.0).apply(sp.csr_array((n, d), dtype=np.float32), rows, seed).toarray().astype(np.float64)


def assert_same(A, B):
    assert A.shape == B.shape
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(A, name), getattr(B, name))


def kinds(X):
    return [
        GaussianNoise(0.3),
        GaussianNoise(0.3, support="nonzero"),
        WordNoise(0.4, reference=X),
        WordNoise(0.7, swap=False, insert=False),
    ]


# Normal noise


@pytest.mark.parametrize("d", [1, 2, 7, 40])
def test_noise_is_box_and_mullers_of_the_documented_bits(d):
    ids = [0, 5, 2**40]
    found = normals(3, d, seed=123, rows=ids)
    expected = [[naive.noise.normal_of(123, i, f) for f in range(d)] for i in ids]
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)


@pytest.fixture(scope="module")
def many():
    return normals(2000, 1000, seed=3)


def test_noise_of_neighbours_is_independent(many):
    other_seed = normals(2000, 1000, seed=4)
    pairs = {
        "two of one pair": (many[:, ::2], many[:, 1::2]),
        "neighbouring pairs": (many[:, 1:-1:2], many[:, 2::2]),
        "neighbouring rows": (many[:-1], many[1:]),
        "rows and features": (many[:-1, :-1], many[1:, 1:]),
        "neighbouring seeds": (many, other_seed),
    }
    for name, (a, b) in pairs.items():
        n = a.size
        assert abs(np.sum(a * b)) < 4 * math.sqrt(n), name
        assert abs(np.sum((a * a - 1) * (b * b - 1))) < 4 * 2 * math.sqrt(n), name
        assert abs(np.sum(a * (b * b - 1))) < 4 * math.sqrt(2 * n), name
    halves = [np.sign(many[:, i::4]) for i in range(4)]  # signs of four neighbours together
    assert abs(np.sum(halves[0] * halves[1] * halves[2] * halves[3])) < 4 * math.sqrt(halves[0].size)


def test_noise_on_present_features_is_that_of_all_features_there():
    X = rows_of_words(9, 31)
    everywhere = GaussianNoise(0.2).apply(X, seed=5)
    present = GaussianNoise(0.2, support="nonzero").apply(X, seed=5)
    np.testing.assert_array_equal(present.indices, X.indices)
    np.testing.assert_array_equal(present.data, everywhere[X.nonzero()])
    assert everywhere.nnz == 9 * 31


@pytest.mark.parametrize("support", ["all", "nonzero"])
def test_values_that_become_zero_are_not_stored(support):
    noise = (np.float32(0.5) * normals(3, 5, seed=2)).astype(np.float32)
    dense = np.ones((3, 5), np.float32)
    dense[1, 3] = -noise[1, 3]
    dense[2, 4] = -noise[2, 4]
    found = GaussianNoise(0.5, support).apply(dense, seed=2)
    assert found.nnz == 13
    assert found.has_canonical_format and found.indices.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 4, 0, 1, 2, 3]
    np.testing.assert_array_equal(found.toarray(), dense + noise)
    assert_same(GaussianNoise(1e-50, support).apply(dense), sp.csr_array(dense))  # too small for float32


def test_the_largest_noise_on_the_largest_values_stays_finite():
    X = np.full((20, 50), np.finfo(np.float32).max)
    assert np.isfinite(GaussianNoise(1e30).apply(X).data).all()
    assert np.isfinite(GaussianNoise(1e30).apply(-X).data).all()


# Words


@pytest.mark.parametrize("drop, swap, insert", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)])
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_words_change_as_the_twin_says(drop, swap, insert, rate):
    X, reference = rows_of_words(12, 25, density=0.35), rows_of_words(30, 25, seed=1)
    ids = np.arange(12) * 7
    changed = WordNoise(rate, bool(drop), bool(swap), bool(insert), reference=reference).apply(X, ids, seed=9)
    entries = list(zip(reference.indices.tolist(), reference.data.tolist()))
    assert changed.has_canonical_format
    for i in range(12):
        row = dict(zip(X[[i]].indices.tolist(), X[[i]].data.tolist()))
        expected = naive.noise.word_noise(row, rate, 9, int(ids[i]), drop, swap, insert, entries)
        assert dict(zip(changed[[i]].indices.tolist(), changed[[i]].data.tolist())) == expected


def test_a_row_that_has_every_word_is_not_swapped_and_gets_none():
    X = sp.csr_array(np.arange(1, 7, dtype=np.float32).reshape(1, 6))
    assert_same(WordNoise(1.0, drop=False, reference=X).apply(X), X)
    assert WordNoise(1.0, reference=X).apply(X).nnz == 0  # dropped words do not come back


# Both


@pytest.mark.parametrize("number", range(4))
def test_a_rows_noise_does_not_depend_on_order_or_threads(number, monkeypatch):
    X = rows_of_words(40, 60)
    change = kinds(X)[number]
    whole = change.apply(X, seed=8, n_jobs=1)
    monkeypatch.setattr(noise, "TASK_ENTRIES", 100)  # several tasks
    assert_same(change.apply(X, seed=8, n_jobs=3), whole)
    order = np.random.default_rng(0).permutation(40)
    assert_same(change.apply(X[order], order, seed=8), whole[order])
    assert_same(change.apply(X[[7]], [7], seed=8), whole[[7]])
    other = change.apply(X, seed=9)
    assert other.nnz != whole.nnz or (other != whole).nnz > 0


@pytest.mark.parametrize("number", range(4))
def test_data_may_be_empty_and_is_never_changed(number):
    X = rows_of_words(8, 10)
    change = kinds(X)[number]
    before = X.copy()
    assert_same(change.apply(X.toarray(), seed=1), change.apply(X, seed=1))
    assert_same(X, before)
    assert change.apply(sp.csr_array((0, 10), dtype=np.float32)).shape == (0, 10)
    blank = change.apply(sp.csr_array((3, 10), dtype=np.float32))
    assert blank.nnz == (30 if number == 0 else 0)
    assert blank.dtype == np.float32


@pytest.mark.parametrize("make, error, message", [
    (lambda: GaussianNoise(0.1, "some"), ValueError, "support must be one of all, nonzero, not 'some'"),
    (lambda: WordNoise(0.1), ValueError, "reference=X_train"),
    (lambda: WordNoise(0.1, swap=False), ValueError, "reference=X_train"),
    (lambda: WordNoise(0.1, reference=np.zeros((2, 3))), ValueError, "reference has no entries"),
    (lambda: WordNoise(0.1, reference=np.array([[np.nan]])), ValueError, "reference holds 1 value"),
    (lambda: WordNoise(0.1, drop=False, swap=False, insert=False), ValueError, "no word would change"),
    (lambda: WordNoise(0.1, drop=0), TypeError, "drop must be True or False"),
    (lambda: WordNoise(0.1, reference=np.ones((2, 3))).apply(np.ones((2, 4))), ValueError, "X has 4 features, but"),
    (lambda: GaussianNoise(0.1).apply(np.ones((2, 3)), rows=[0]), ValueError, r"rows has the shape \(1,\)"),
    (lambda: GaussianNoise(0.1).apply(np.ones((2, 3)), rows=[0, -1]), ValueError, "rows has the id -1"),
    (lambda: GaussianNoise(0.1).apply(np.ones((2, 3)), rows=[0, 0.5]), TypeError, "ids must be whole numbers"),
    (lambda: GaussianNoise(0.1).apply([[1.0, np.inf]]), ValueError, "not finite"),
])  # fmt: skip
def test_invalid_arguments_raise_errors_that_name_them(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_noise_beyond_memory_is_refused_at_once(monkeypatch):
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 1 << 30)
    few = sp.csr_array(([1.0], [2], [0, 1]), shape=(1, 2**31 - 1))
    with pytest.raises(MemoryError, match="GaussianNoise would need about 17.2 GB .*2,147,483,647 features of 1 row"):
        GaussianNoise(0.1).apply(few)
    assert GaussianNoise(0.1, "nonzero").apply(few).nnz == 1


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
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 10)
    with pytest.raises(MemoryError, match="12 features of 60 rows"):
        augment(X, Y, GaussianNoise(0.05))
    augment(X, Y, GaussianNoise(0.05, "nonzero"))
