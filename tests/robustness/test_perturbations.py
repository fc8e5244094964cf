"""Perturbations by name, levels that suit the values of a data set, and tables of what noise does."""

import re
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from xmlcore import PLT, robustness
from xmlcore.noise import GaussianNoise
from xmlcore.robustness import ValueScale, default_levels, evaluate, perturbation, training_sigma
from xmlcore.robustness.perturbations import CHANGES, KINDS, REFERENCE, option_defaults


def rows_of_words(n):
    rng = np.random.default_rng(0)
    return sp.csr_array(sp.random_array((n, 10), density=0.3, rng=rng, dtype=np.float32, format="csr"))


@pytest.mark.parametrize("kind", CHANGES)
def test_level_0_leaves_rows_as_they_are(kind):
    X = rows_of_words(8)
    model = PLT(tol=1.0).fit(X, np.arange(8)[:, None] % 3 == np.arange(3))
    change = perturbation(kind, 0)
    assert (change.name, change.level) == (kind, 0.0)
    assert (change.apply(X, model=model) != X).nnz == 0


@pytest.mark.parametrize("kind", CHANGES)
def test_every_kind_is_measured_at_its_default_levels(kind):
    X = rows_of_words(8)
    Y = np.arange(8)[:, None] % 3 == np.arange(3)
    row, model = KINDS[kind], PLT(tol=1.0).fit(X, Y)
    levels = default_levels(kind, 2, ValueScale.of(X))
    options = {REFERENCE: X} if row.needs == REFERENCE else {}
    frame = evaluate(model, X, Y, levels, (1,), n_repeats=1, perturbation=kind, options=options)
    assert sorted(set(frame["sigma"])) == [0.0, *levels] and max(levels) <= row.most
    defaults = option_defaults(kind)
    assert all(option.default == defaults[option.name] for option in row.options)
    said = row.text + (row.of_level or row.level).format(0.1, 10) + row.in_words({})
    assert re.search("0.1|10", said) and "10" in row.level.format(10, 10)


def test_perturbations_are_made_by_name_with_their_options():
    X = rows_of_words(5)
    assert perturbation("gaussian", 0.1, support="nonzero") == GaussianNoise(0.1, "nonzero")
    made = perturbation("words", 0.2, swap=False, reference=X)
    assert (made.level, made.name, made.swap) == (0.2, "words", False)
    assert "reference" not in repr(made)
    with pytest.raises(FrozenInstanceError):
        made.rate = 0.5
    with pytest.raises(ValueError, match="unknown perturbation 'salt'.*fgsm, gaussian, pgd, words"):
        perturbation("salt", 0.1)
    with pytest.raises(ValueError, match="'certificate' changes no rows"):
        perturbation("certificate", 0.1)
    with pytest.raises(ValueError, match="'gaussian' has no option 'norm': it has support"):
        perturbation("gaussian", 0.1, norm=2)


def test_levels_are_the_papers_unless_values_are_far_off():
    assert default_levels("gaussian", "2", ValueScale(0.3, 1, 10)) == (0.01, 0.05, 0.1)
    assert default_levels("gaussian", "2", ValueScale(40, 200, 10)) == (1.0, 5.0, 10.0)
    assert default_levels("fgsm", "2", ValueScale(0.3, 1, 10)) == (0.05, 0.1, 0.2)
    for length in (0.003, 0.7, 7.03, 1234.5):
        found = default_levels("pgd", "2", ValueScale(1, length, 10))
        assert 0 < found[0] < found[1] < found[2] < length


def test_the_scale_is_of_what_is_there():
    X = sp.csr_array(np.array([[3.0, 4, 0], [0, 0, 0], [0, 1, 0]], np.float32))
    assert ValueScale.of(X) == ValueScale(value=3.0, length=3.0, features=1.0)
    assert ValueScale.of(sp.csr_array((2, 3), dtype=np.float32)) == ValueScale(1.0, 1.0, 0.0)
    largest = float(np.finfo(np.float32).max)
    huge = ValueScale.of(sp.csr_array(np.full((2, 1), largest, np.float32)))
    assert huge == ValueScale(value=largest, length=largest, features=1.0)
    for kind, row in KINDS.items():
        assert not any(map(row.fault, default_levels(kind, 2, huge)))


def test_training_noise_is_the_papers_unless_values_are_far_off():
    assert training_sigma(ValueScale(0.3, 1, 10)) == 0.05
    assert training_sigma(ValueScale(40, 200, 10)) == 5.0


X = sp.csr_array(np.array([[3.0, 0, -4, 1, 0, 0], [0, 0, 0, 0, 0, 0]], np.float32))
NOISY = sp.csr_array(np.array([[2.0, 0.1, -4, 0, 0.9, -0.2], [0, 0, 0, 0, 0, 1]], np.float32))


def test_values_under_noise_are_the_largest_and_some_new():
    found = robustness.values_under_noise(X, NOISY, 4)
    assert found.to_numpy().tolist() == [
        [0, 2, -4, -4],
        [0, 0, 3, 2],
        [0, 4, 0, pytest.approx(0.9)],
        [0, 5, 0, pytest.approx(-0.2)],
        [1, 5, 0, 1],
    ]
    assert len(robustness.values_under_noise(X, NOISY, 6, new=6)) == 7


def test_lengths_are_of_rows_and_of_what_noise_adds():
    own, added = robustness.lengths(X, NOISY)
    np.testing.assert_allclose(own, [26**0.5, 0], rtol=1e-6)
    np.testing.assert_allclose(added, [(1 + 0.01 + 1 + 0.81 + 0.04) ** 0.5, 1], rtol=1e-6)
    own, added = robustness.lengths(1e30 * X, 1e30 * NOISY)  # whose squares are beyond float32
    np.testing.assert_allclose([own[0], added[1]], [26**0.5 * 1e30, 1e30], rtol=1e-6)


def test_the_table_of_losses_has_a_line_per_run_and_k():
    line = {"run": "PLT", "bucket": "all", "measure": "P@k", "k": 1, "low": 0.0, "high": 1.0}
    times = {**line, "measure": "predict_s", "k": 5, "drop_mean": np.nan}
    summary = pd.DataFrame(
        [
            {**line, "sigma": 0.0, "mean": 0.8, "drop_mean": 0.0},
            {**line, "sigma": 0.1, "mean": 0.6, "drop_mean": 0.25},
            {**times, "sigma": 0.0, "mean": 1.0},
            {**times, "sigma": 0.1, "mean": 3.0},
        ]
    )
    (found,) = robustness.loss_table(summary, 0.1, ["P@k"], [1], {"PLT": 100}).to_dict("records")
    assert (found["P@k clean"], found["P@k"], found["P@k drop"]) == (0.8, 0.6, 0.25)
    assert (found["ms per row clean"], found["ms per row"]) == pytest.approx((10, 30))
