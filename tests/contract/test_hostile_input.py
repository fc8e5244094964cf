"""Input that cannot be is refused with a message that says where; input that is only unusual is taken."""

import re
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from contract.estimators import (
    assert_same,
    case_of_rows,
    each_of_rows,
    each_once,
    fitted,
    model_of_rows,
    problem,
    results,
)
from contract.fuzzing import fit_and_predict, measure

(N_ROWS, N_FEATURES), N_LABELS = problem()[0].shape, problem()[1].shape[1]


def with_value(value, row=3, column=2, to=np.float64):
    X = problem()[0].astype(to)
    X[row, column] = value
    return X


def damaged(at, value, of=0):
    """A CSR matrix whose index arrays do not fit together; scipy builds it without a word."""
    matrix = sp.csr_array(problem()[of])
    matrix.indices[at] = value
    return matrix


# tests/test_validation.py has more of what ``check_features`` and ``check_labels`` refuse.
BAD_ROWS = {
    "nan": (lambda: with_value(np.nan), "not finite.*row 3, column 2"),
    "3-d": (lambda: np.ones((N_ROWS, N_FEATURES, 1)), "3 dimensions"),
    "words": (lambda: np.full((N_ROWS, N_FEATURES), "x"), "real numbers"),
    "a text among objects": (lambda: with_value("1.5", to=object), "row 3, column 2.*real numbers"),
    "a dict among objects": (lambda: with_value({}, to=object), "{} at row 3, column 2.*real numbers"),
    "too large a number among objects": (lambda: with_value(10**400, to=object), "too large"),
    "complex": (lambda: problem()[0] + 1j, "real numbers"),
    "ragged": (lambda: [[1.0]] * (N_ROWS - 1) + [[1.0, 2.0]], "different lengths"),
    "no columns": (lambda: np.ones((N_ROWS, 0)), "0 feature"),
    "none": (lambda: None, "X"),
    "index too large": (lambda: damaged(5, N_FEATURES), "damaged"),
}
BAD_LABELS = {
    "3-d": (lambda: problem()[1][..., None], "3 dimension"),
    "nan": (lambda: np.where(problem()[1], np.nan, 0.0), "labels are 0 or 1"),
    "too few rows": (lambda: problem()[1][1:], f"{N_ROWS - 1} rows.*{N_ROWS}"),
    "words": (lambda: np.full((N_ROWS, N_LABELS), "x"), "real numbers"),
    "none": (lambda: None, "Y|labels|None"),
    "index too large": (lambda: damaged(2, N_LABELS + 5, of=1), "damaged"),
}


@each_of_rows
def test_bad_rows_are_refused_when_fitting(case):
    for name, (make, message) in BAD_ROWS.items():
        assert_refused(name, message, case, lambda estimator, make=make: estimator.fit(make(), problem()[1]))


@each_of_rows
def test_bad_rows_are_refused_when_predicting(case):
    estimator = fitted(case)
    if not hasattr(estimator, "predict_proba"):
        pytest.skip("it predicts nothing")
    for name, (make, message) in BAD_ROWS.items():
        for predict in ("predict", "predict_proba", "predict_topk"):
            if hasattr(estimator, predict):
                message = "feature|rows|lengths" if name in ("no columns", "ragged") else message
                act = partial(lambda how, make, _: getattr(estimator, how)(make()), predict, make)
                assert_refused(name, message, case, act)
    for width in (N_FEATURES - 1, N_FEATURES + 1):
        with pytest.raises(ValueError, match=f"X has {width} features, but .* is expecting {N_FEATURES} features"):
            estimator.predict_proba(np.ones((2, width)))


@each_of_rows
def test_bad_labels_are_refused(case):
    for name, (make, message) in BAD_LABELS.items():
        assert_refused(name, message, case, lambda estimator, make=make: estimator.fit(problem()[0], make()))


def assert_refused(name, message, case, act):
    estimator = case.make()
    try:
        act(estimator)
    except (ValueError, TypeError) as error:
        assert re.search(message, str(error), re.S), f"{name}: {error}"
    else:
        raise AssertionError(f"{name} was accepted")
    assert not [attribute for attribute in vars(estimator) if attribute.endswith("_")], name


@model_of_rows
def test_a_bad_k_or_threshold_is_refused(case):
    estimator, X = fitted(case), problem()[0]
    for k in (0, -1, 1.5, True, "3", None):
        with pytest.raises((ValueError, TypeError), match="k must be"):
            estimator.predict_topk(X, k=k)
    for threshold in (-0.1, 1.1, np.nan, "x", None, True):
        with pytest.raises((ValueError, TypeError), match="threshold must be"):
            estimator.predict_proba(X, threshold=threshold)
        with pytest.raises((ValueError, TypeError), match="threshold must be"):
            estimator.predict(X, threshold=2 if threshold is None else threshold)


@model_of_rows
def test_rankings_beyond_memory_are_refused(case, monkeypatch):
    estimator, X = fitted(case), problem()[0]
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 1 << 30)
    for k in (2**31 - 1, 2**62):
        for weights in (None, np.ones(N_LABELS)):
            with pytest.raises(MemoryError, match=f"GB of memory for {N_ROWS} rows of {k:,} labels, but 1.1 GB are fr"):
                estimator.predict_topk(X, k, weights=weights)


@each_of_rows
def test_labels_beyond_memory_are_refused_at_once(case, monkeypatch):
    X, many = problem()[0], 2**31 - 1
    ids = np.arange(N_ROWS) % N_LABELS
    ids[-1] = many - 1
    matrix = sp.csr_array((np.ones(N_ROWS, bool), ids, np.arange(N_ROWS + 1)), shape=(N_ROWS, many))
    learns = [fitted(case).partial_fit] if hasattr(fitted(case), "partial_fit") else []
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 1 << 33)
    for learn in (case.make().fit, *learns):
        for Y in (matrix, [[label] for label in ids.tolist()]):
            with pytest.raises(MemoryError, match="GB of memory for 2,147,483,647 labels, but 8.6 GB are free"):
                learn(X, Y)


@each_of_rows
def test_no_training_rows_are_refused_and_no_rows_are_predicted(case):
    with pytest.raises(ValueError, match="row|label"):
        case.make().fit(np.ones((0, N_FEATURES)), np.ones((0, N_LABELS)))
    for empty in (np.ones((0, N_FEATURES)), sp.csr_array((0, N_FEATURES))):
        found = results(fitted(case), empty)
        for name, array in found.items():
            assert name.endswith("_") or array.shape[0] == 0


@model_of_rows
def test_labels_of_no_row_are_refused_by_models(case):
    for Y in (np.zeros((N_ROWS, N_LABELS)), sp.csr_array((N_ROWS, N_LABELS)), [[]] * N_ROWS):
        with pytest.raises(ValueError, match="label"):
            case.make().fit(problem()[0], Y)


@case_of_rows
@pytest.mark.filterwarnings("ignore")
def test_empty_rows_and_unused_labels_are_taken(case):
    X, Y = problem()[0].copy(), problem()[1].copy()
    X[[0, 5]] = 0
    Y[7] = False
    Y = np.hstack([Y, np.zeros((N_ROWS, 1), bool)])
    X = np.hstack([X, np.zeros((N_ROWS, 1))])
    estimator = case.make().fit(X, Y)
    assert (estimator.n_features_in_, estimator.n_labels_) == (N_FEATURES + 1, N_LABELS + 1)
    found = results(estimator, np.vstack([X, np.zeros((1, N_FEATURES + 1))]))
    for array in found.values():
        assert np.isfinite(array).all()
    if "probabilities" in found and not case.rounds:  # a network learns it only in more epochs
        assert (found["probabilities"][:, N_LABELS] < 0.5).all()


@model_of_rows
def test_rows_without_labels_are_left_out_and_counted(case):
    if not hasattr(fitted(case), "n_unlabelled_"):
        pytest.skip("it learns from them that there may be no label")
    X, Y = problem()
    with pytest.warns(UserWarning, match="3 of 51 training rows have no label"):
        estimator = case.make().fit(np.vstack([X[:10], X[:3], X[10:]]), np.vstack([Y[:10], 0 * Y[:3], Y[10:]]))
    assert estimator.n_unlabelled_ == 3 and estimator.n_rows_ == N_ROWS
    assert_same(results(estimator), results(fitted(case)))


@case_of_rows
@pytest.mark.filterwarnings("ignore")
def test_one_huge_or_tiny_value_gives_finite_results(case):
    for value in (3e38, 1e-44):
        X = with_value(value)
        for name, array in results(case.make().fit(X, problem()[1]), X).items():
            assert array.dtype.kind != "f" or np.isfinite(array).all(), (name, value)


@each_of_rows
def test_booleans_and_small_integers_are_numbers(case):
    X, Y = problem()
    expected = results(case.make().fit((X > 0).astype(float), Y))
    for rows in (X > 0, sp.csc_array(X > 0), (X > 0).astype(np.int8)):
        assert_same(results(case.make().fit(rows, Y)), expected)


@each_of_rows
def test_negative_values_are_taken_or_refused_by_name(case):
    X, Y = problem()[0] - 1.0, problem()[1]
    if case.positive:
        with pytest.raises(ValueError, match="Negative values in data: X holds"):
            case.make().fit(X, Y)
    else:
        for array in results(case.make().fit(X, Y), X).values():
            assert np.isfinite(array).all()


@each_of_rows
def test_ambiguous_labels_are_refused_in_every_size(case):
    X = np.eye(4)
    for size in (2, 3, 4):
        nested = np.eye(4, dtype=int)[:, :size]
        nested[:, 0] = 1 - nested[:, 1]
        with pytest.raises(ValueError, match=r"numpy\.array\("):
            case.make().fit(X, nested.tolist())


OF_LABELS = {  # public methods that take the id of a label for each row
    "label_probabilities": lambda model, X, ids: model.label_probabilities(X, ids),
    "log_proba_gradient": lambda model, X, ids: model.log_proba_gradient(X, ids),
    "score_parts": lambda model, X, ids: model.score_parts(X, ids),
    "pair_features": lambda model, X, ids: model.pair_features(X, np.array([ids, ids]).T if len(ids) > 1 else ids),
    "linear_margins": lambda model, X, ids: model.linear_margins(ids if len(ids) > 1 else ids[0]),
    "linear_nodes": lambda model, X, ids: model.linear_nodes(0).path(ids[1:] and ids[1]),
}
WRONG = [0, N_LABELS], [0, -2], [0, 2**40], [0, 0.5], [True, False], [0, "a"], [0, None], [0]


@pytest.mark.parametrize("method", OF_LABELS)
@pytest.mark.parametrize("ids", WRONG, ids=str)
def test_ids_of_labels_that_cannot_be_are_refused(method, ids):
    for case in case_of_rows.args[1]:
        if case.predicts and hasattr(model := fitted(case), method):
            with pytest.raises((ValueError, TypeError), match="label|class|ids go from"):
                OF_LABELS[method](model, problem()[0][:2], np.array(ids, object) if None in ids else ids)


SEEDS, FEW_MEASURES = (*range(25), 1305), 300  # ``python -m benchmarks.hostile`` tries many; 1305 failed once


@each_once
def test_hostile_matrices_are_refused_or_harmless(case):
    done = sum(fit_and_predict(case, seed) for seed in SEEDS)
    assert 0 < done < len(SEEDS) or case.takes_texts


def test_a_few_hostile_rankings_are_refused_or_measured():
    done = sum(measure(seed) for seed in range(FEW_MEASURES))
    assert 0 < done < FEW_MEASURES
