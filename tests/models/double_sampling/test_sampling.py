"""Examples and adversaries are drawn as the paper says, or from the candidates; other input is refused."""

import warnings
from collections import Counter

import naive
import numpy as np
import pytest
from models.double_sampling.problems import SPACES, binary, examples_of, paper, problem, recorded, sampled

from xmlcore import load_model

SEEDS = 70  # of samples whose mean is compared with the expected number


@pytest.mark.parametrize("per_class", [0.5, 1, 2, 3.7])
def test_every_class_gives_the_same_expected_number_of_examples(per_class):
    labels = [[k] for k, n in enumerate([1, 2, 3, 10, 50]) for _ in range(n)]
    counts = np.zeros(5)
    for seed in range(SEEDS):
        try:
            drawn = sampled(labels, 5, examples_per_class=per_class, random_state=seed)
            counts += np.bincount(drawn.classes, minlength=5)
        except ValueError:
            assert per_class == 0.5  # nothing drawn
    # A class's number is a sum of Bernoulli variables on top of a constant: variance at most per_class.
    assert np.abs(counts / SEEDS - per_class).max() < 4 * np.sqrt(per_class / SEEDS)


def test_each_copy_of_a_row_is_an_example_of_one_of_its_classes():
    _, _, labels = problem(most=3)
    sample = sampled(labels, 7, examples_per_class=4)
    assert all(k in labels[i] for i, k in zip(sample.rows.tolist(), sample.classes.tolist()))
    whole = sampled([[0, 1, 2]] * 3, 3, examples_per_class=6, n_adversarial=1)
    assert Counter(zip(whole.rows.tolist(), whole.classes.tolist())) == {(i, k): 2 for i in range(3) for k in range(3)}


def test_the_copies_that_were_trained_on_are_counted_by_class(tmp_path):
    X, _, labels = problem(n=60, most=2, skip=(2,))
    for params in ({}, {"leave_one_out": True}, {"balanced": False, "examples_per_class": 3}):
        model = paper(X, binary(labels), **params)
        sample = sampled(labels, 7, **params)
        others = [[k for k in drawn if k not in labels[i]] for i, _, drawn in examples_of(sample)]
        drawn = np.bincount([k for k, left in zip(sample.classes, others) if left], minlength=7)
        assert model.sampled_size_.dtype == np.int64 and np.array_equal(model.sampled_size_, drawn)
        assert model.n_pairs_ == sum(map(len, others)) < sample.adversaries.size and model.sampled_size_[2] == 0
    assert np.array_equal(load_model(model.save(tmp_path / "model")).sampled_size_, model.sampled_size_)


def test_unbalanced_sampling_takes_all_examples_equally_often():
    labels = [[k] for k, n in enumerate([1, 2, 3, 10, 50]) for _ in range(n)] + [[1, 3]] * 4
    size, counts = np.array([1, 6, 3, 14, 50]), np.zeros(5)
    for seed in range(SEEDS):
        drawn = sampled(labels, 5, examples_per_class=3, balanced=False, random_state=seed)
        counts += np.bincount(drawn.classes, minlength=5)
    share = 3 * 5 / 74  # of a copy per example
    deviation = np.sqrt(size * share * (1 - share) / SEEDS)
    assert (np.abs(counts / SEEDS - size * share) < 4 * deviation).all()


@pytest.mark.parametrize("distance, weighting", SPACES)
@pytest.mark.parametrize("q", [2, 4, 30])
def test_adversaries_are_the_other_candidates(q, distance, weighting, monkeypatch):
    space = {"distance": distance, "weighting": weighting}
    X, rows, labels = problem(n=50, n_terms=30, n_classes=12, most=2)
    params = {"adversaries": "candidates", "n_candidates": q, "examples_per_class": 30, "n_adversarial": 50} | space
    model, (_, sample, *_) = recorded(monkeypatch, X, binary(labels, 12), **params)
    found = {(i, k): own for i, k, own in examples_of(sample)}
    expected = {}
    for i, own in enumerate(labels):
        for k in own:
            others, is_near = naive.ds.other_candidates(i, k, rows, labels, q, **space)
            if is_near and model.class_size_[k] > 1:
                expected[i, k] = sorted(others)
    assert found == expected and len(found) > 5 and (q == 30 or len(found) < sum(map(len, labels)))
    left = [sum(k not in labels[i] for k in own) for i, own in zip(sample.rows, sample.adversaries.tolist())]
    assert np.array_equal(model.sampled_size_, np.bincount(sample.classes, np.array(left) > 0, minlength=12))
    assert model.n_pairs_ == sum(left)


def test_samples_and_candidates_that_are_too_few_are_refused():
    with pytest.raises(ValueError, match="n_candidates of at least 2"):
        paper(np.eye(4), [0, 0, 1, 1], adversaries="candidates", n_candidates=1)
    with pytest.raises(ValueError, match="raise n_candidates or examples_per_class"):
        # Each row is as far from the rest of its class as can be.
        X = [[9, 0, 1, 0], [0, 9, 0, 1], [9, 0, 0, 1], [0, 9, 1, 0], [9, 0, 0, 0], [0, 9, 0, 0]]
        paper(X, [0, 0, 1, 1, 2, 2], adversaries="candidates", n_candidates=2)
    with pytest.raises(ValueError, match="adversaries='candidates', which needs labels of two rows"):
        paper(np.eye(3), [0, 1, 2], adversaries="candidates")
    with pytest.raises(ValueError, match="leave_one_out, which needs labels of two rows"):
        paper(np.eye(3), [0, 1, 2], leave_one_out=True)


def test_one_class_for_all_rows_is_refused():
    with pytest.raises(ValueError, match="at least two labels"):
        paper(np.eye(3), [2, 2, 2])


def test_negative_values_are_refused_or_count_as_zero():
    X, _, labels = problem()
    noisy = X.copy()
    noisy[3, 4], noisy[5, 6] = -1.5, -2.0
    with pytest.raises(ValueError, match=r"2 negative value\(s\), the first -1.5 at row 3, column 4.*negative='zero'"):
        paper(noisy, binary(labels))
    with pytest.warns(UserWarning, match="2 negative"):
        model = paper(noisy, binary(labels), negative="zero")
    clean = np.maximum(noisy, 0)
    same = paper(clean, binary(labels))
    assert np.array_equal(model.weights_, same.weights_) and noisy[3, 4] == -1.5
    found, expected = same.predict_topk(noisy), same.predict_topk(clean)
    assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)


def test_data_without_any_feature_can_be_trained_on():
    with warnings.catch_warnings(action="error"):
        model = paper(np.zeros((4, 3)), [0, 1, 2, 2])
    assert model.predict_topk(np.ones((1, 3)), k=2).labels.tolist() == [[0, 1]] and model.empirical_risk_ == 1.0


def test_sums_beyond_float32_are_refused():
    with pytest.raises(ValueError, match="beyond float32: scale X"):
        paper(np.full((4, 2), 3e38), [0, 0, 1, 1])
