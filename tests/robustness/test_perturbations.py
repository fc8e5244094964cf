"""Perturbations by name."""

import re
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT
from xmlcore.noise import GaussianNoise
from xmlcore.robustness import ValueScale, default_levels, evaluate, perturbation
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
    with pytest.raises(ValueError, match="unknown perturbation 'salt'.*gaussian, words, fgsm, pgd"):
        perturbation("salt", 0.1)
    with pytest.raises(ValueError, match="'certificate' changes no rows"):
        perturbation("certificate", 0.1)
    with pytest.raises(ValueError, match="'gaussian' has no option 'norm': it has support"):
        perturbation("gaussian", 0.1, norm=2)
