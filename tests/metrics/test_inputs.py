"""What the measures accept as a ranking, and what they say about the rest."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from xmlcore import Ranking, metrics

Y = np.array([[1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
IDS = np.array([[1, 2, 0], [2, 3, 1], [0, 1, 2]])
WEIGHTS = np.array([4.0, 1.0, 1.0, 3.0])


def same(first, second):
    assert list(first) == list(second)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


@pytest.mark.parametrize(
    "ranking",
    [
        *(IDS.astype(kind) for kind in (np.int8, np.int64, np.uint16, np.uint64)),
        np.asfortranarray(IDS),
        np.hstack([IDS, IDS[:, :1]])[:, :3],
        IDS.tolist(),
        [tuple(row) for row in IDS.tolist()],
        list(IDS.astype(np.uint32)),
        list(IDS.astype(np.uint64)),
        tuple(IDS.tolist()),
        Ranking(IDS.astype(np.int32), np.ones((3, 3), np.float32)),
    ],
    ids=lambda ranking: f"{type(ranking).__name__} of {getattr(ranking, 'dtype', type(ranking[0]).__name__)}",
)
def test_every_form_of_label_ids_measures_the_same(ranking):
    same(metrics.measures(Y, ranking, 3, WEIGHTS), metrics.measures(Y, IDS, 3, WEIGHTS))


def test_a_series_of_lists_is_a_list_of_lists():
    true = pd.Series([[0, 1], [3], []], index=[7, 7, 1])
    ranking = pd.Series(IDS.tolist(), index=[2, 1, 0])
    same(metrics.measures(true, ranking, 3, WEIGHTS), metrics.measures(Y, IDS, 3, WEIGHTS))
    same(metrics.measures(true, IDS, 3), metrics.measures(Y, IDS, 3))
    np.testing.assert_array_equal(
        metrics.inverse_propensity(true, n_labels=4), metrics.inverse_propensity([[0, 1], [3], []], n_labels=4)
    )


STORED = sp.csr_array((np.array([-1.0, 0.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 3, 3])), shape=(3, 4))
RANKINGS = {  # what ranks labels, k, and the labels and scores of rows
    "short lists": ([[1, 2, 0], [2], []], 3, [[1, 2, 0], [2, -1, -1], [-1, -1, -1]], np.zeros((3, 3))),
    "scores": (np.array([[0.1, -2, 7, 7], [0, np.inf, -np.inf, 0]]), 3, [[2, 3, 0], [1, 0, 3]],
               [[7, 7, 0.1], [np.inf, 0, 0]]),
    "few scores": (np.array([[0.2, 0.7]]), 4, [[1, 0, -1, -1]], [[0.7, 0.2, 0, 0]]),
    "stored scores of any sign": (STORED, 3, [[0, 2, -1], [1, -1, -1], [-1, -1, -1]], [[0, -1, 0], [3, 0, 0], 3 * [0]]),
    "a longer ranking": (Ranking(np.array([[4, 2, 0]]), np.array([[0.9, 0.5, 0.1]])), 2, [[4, 2]], [[0.9, 0.5]]),
}  # fmt: skip


@pytest.mark.parametrize("kind", RANKINGS)
def test_a_ranking_has_the_first_k_labels_and_is_padded(kind):
    given, k, labels, scores = RANKINGS[kind]
    ranking = metrics.as_ranking(given, k)
    assert isinstance(ranking, Ranking) and (ranking.labels.dtype, ranking.scores.dtype) == (np.int32, np.float32)
    assert ranking.labels.tolist() == labels
    np.testing.assert_array_equal(ranking.scores, np.array(scores, np.float32))


def test_ties_are_broken_in_the_precision_of_the_scores():
    close = np.array([[0.5, 0.5 + 1e-12]])
    assert metrics.as_ranking(close, 1).labels.tolist() == [[1]]
    assert metrics.as_ranking(close.astype(np.float32), 1).labels.tolist() == [[0]]


def test_duplicates_in_sparse_scores_are_summed():
    scores = sp.csr_array((np.array([1.0, 1.5, 2.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 4))
    assert metrics.as_ranking(scores, 2).labels.tolist() == [[2, 0]]
    assert scores.nnz == 3
    assert scores.indices.tolist() == [2, 0, 2]


def test_all_sparse_formats_and_whole_numbers_are_scores():
    dense = np.array([[0, 3, 1], [2, 0, 5]])
    for form in (sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_array):
        assert metrics.as_ranking(form(dense), 2).labels.tolist() == [[1, 2], [2, 0]]


def test_dense_scores_are_ranked_over_several_blocks(monkeypatch):
    scores = np.random.default_rng(0).random((23, 11))
    expected = np.argsort(-scores, axis=1)[:, :4]
    monkeypatch.setattr("xmlcore.metrics._inputs.BLOCK_VALUES", 40)
    np.testing.assert_array_equal(metrics.as_ranking(scores, 4).labels, expected)


def test_scores_too_large_for_float32_leak_no_warning(recwarn):
    assert metrics.as_ranking(np.array([[1e300, 2e300]]), 1).labels.tolist() == [[1]]
    assert not recwarn.list


def test_the_width_of_lists_of_labels():
    assert metrics.as_ranking([[1, 0]], 4, n_labels=2).labels.tolist() == [[1, 0, -1, -1]]
    assert metrics.precision_at_k([[0], [1]], [[9], [1]], 1).tolist() == [0.5]
    assert metrics.psprecision_at_k([[0], [1]], [[9], [1]], 1, inv_ps=np.ones(10)).tolist() == [0.5]
    with pytest.raises(ValueError, match="row 0 of the ranking has the label id 9"):
        metrics.psprecision_at_k([[0], [1]], [[9], [1]], 1, inv_ps=np.ones(5))


def with_label(label, row=1, place=2):
    """IDS with another label at a place."""
    ids = IDS.astype(np.int64)
    ids[row, place] = label
    return ids


FORMS = [np.asarray, np.ndarray.tolist, lambda ids: Ranking(ids, np.zeros(ids.shape))]
NOT_A_NUMBER = np.zeros((3, 4))
NOT_A_NUMBER[1, 2] = np.nan
TWICE = [[3, -1, -1], [], [2, 0], [1, 3, 0, 1, 3], [0, 0]]
DAMAGED_SCORES = sp.csr_array(np.ones((3, 4)))
DAMAGED_SCORES.indices[2] = -1
LONG = [[0], [2**70], [1]]
REFUSED = [  # what ranks labels, k, the error and what it says
    *((ids, 3, ValueError, "Y_true has 3 rows, but the ranking has 2") for ids in (IDS[:2], IDS[:2].tolist())),
    *((scores, 3, ValueError, "Y_true has 3 rows, but the ranking has 2")
      for scores in (np.zeros((2, 4)), sp.csr_array(np.eye(2, 4)))),
    *((ranking, k, ValueError, f"2 label.* per row and there are 4 labels.*needs {min(k, 4)} per row. Ask the model")
      for ranking in (IDS[:, :2], IDS[:, :2].tolist(), [[0], [1, 2], []]) for k in (3, 4, 9)),
    *((form(with_label(label)), 3, ValueError, f"row 1 of the ranking has the label id {label} at place 3: .* 0 to 3")
      for form in FORMS for label in (4, 100, -2, 2**40)),
    *((ids, 1, ValueError, r"row 1 of the ranking has the label id \d{20}")
      for ids in (LONG, np.array([[0], [2**64 - 1], [1]], np.uint64), [[0], [2**64 - 1], [1]])),
    *((form(with_label(0, 2, 1)), k, ValueError, "row 2 of the ranking has label 0 twice, again at place 2")
      for form in FORMS for k in (3, 1)),  # also what is not measured
    *((form(np.array([scores] * 3)), k, ValueError, "row 0 of the ranking has.*scores go in an array of floats")
      for form in FORMS for k in (1, 2, 3) for scores in ([7, 5, 1, 0], [3, 2, 2, 0], [3, -7, 2, 1], [0, 1, 0, 0])),
    *((Y, k, ValueError, "twice.*scores go in an array of floats") for k in (1, 3)),
    *((booleans, 3, TypeError, "booleans, which has no order")
      for booleans in (Y.astype(bool), sp.csr_array(Y.astype(bool)))),
    *((scores, 3, ValueError, "5 columns, but there are 4 labels")
      for scores in (np.zeros((3, 5)), sp.csr_array((3, 5)))),
    *((scores, 3, ValueError, "score of label 2 in row 1 is not a number")
      for scores in (NOT_A_NUMBER, NOT_A_NUMBER.astype(np.float32), sp.csr_array(NOT_A_NUMBER))),
    (sp.coo_array(np.ones(4)), 1, ValueError, "the scores have 1 dimension"),
    (np.array([0, 1, 2]), 1, ValueError, "the ranking has 1 dimension"),
    (Ranking(IDS[:, :2], np.zeros((3, 1))), 1, ValueError, r"labels of shape \(3, 2\), but scores of shape \(3, 1\)"),
    (DAMAGED_SCORES, 3, ValueError, "the matrix of scores is damaged"),
    ([[0.5, 0.1, 0.2, 0.3]] * 3, 1, TypeError, "holds 0.5: label ids are whole numbers"),
    ([[(0, 0.5)], [(1, 0.5)], []], 1, TypeError, r"holds \(0, 0.5\)"),
    ([[[0], [1, 2]]] * 3, 1, TypeError, r"row 0 of the ranking holds \[0\]"),
    ([["a"], [], []], 1, TypeError, "row 0 of the ranking holds 'a'"),
    ([[True], [False], [True]], 1, TypeError, "row 0 of the ranking holds True"),
    ([[0], {1}, [2]], 1, TypeError, "row 1 of the ranking is a set"),
    ([[0], "1", [2]], 1, TypeError, "row 1 of the ranking is a str"),
    ([0, 1, 2], 1, TypeError, "row 0 of the ranking is a int"),
    ("012", 1, TypeError, "a ranking is .* not str"),
    (None, 1, TypeError, "a ranking is .* not NoneType"),
    (np.array([[1j]]), 1, TypeError, "holds complex128 values"),
    (np.array([["a"]]), 1, TypeError, "holds <U1 values"),
    (Ranking(np.zeros((3, 4)), np.zeros((3, 4))), 1, TypeError, "ranking's labels are float64"),
    (IDS, 0, ValueError, "k must be"),
    (IDS, True, TypeError, "k must be"),
]  # fmt: skip


def test_what_is_no_ranking_of_the_rows_is_refused():
    for ranking, k, error, found in REFUSED:
        for measure in (metrics.precision_at_k, metrics.hits):
            with pytest.raises(error, match=found):
                measure(Y, ranking, k)
        if "rows" not in found:
            with pytest.raises(error, match=found):
                metrics.as_ranking(ranking, k, n_labels=4)


def test_wrong_ids_in_lists_of_any_length_are_named():
    with pytest.raises(ValueError, match="row 3 of the ranking has label 1 twice, again at place 4"):
        metrics.as_ranking(TWICE, 2)
    with pytest.raises(ValueError, match="row 3 of the ranking has the label id -3 at place 5"):
        metrics.as_ranking([*TWICE[:3], [1, 3, 0, 2, -3]], 2)
    found = metrics.as_ranking([*TWICE[:3], [1, 3, 0]], 2)
    assert found.labels.tolist() == [[3, -1], [-1, -1], [2, 0], [1, 3]]
    with pytest.raises(ValueError, match=r"row 1 of the ranking has the label id \d{20}"):
        metrics.precision_at_k([[0], [1], []], LONG, 1)
    with pytest.raises(ValueError, match="at most 2147483647 are supported"):
        metrics.as_ranking(sp.csr_array((1, 2**31)), 1)
    with pytest.raises(ValueError, match="pass k, the number of first labels"):
        metrics.hits(Y, np.zeros((3, 4)))


def test_a_binary_matrix_as_lists_is_not_taken_for_label_ids():
    with pytest.raises(ValueError, match="Y_true row 0 names label 0 more than once.*numpy.array"):
        metrics.precision_at_k(np.eye(4, dtype=int).tolist(), [[0], [1], [2], [3]], 1)
    with pytest.raises(ValueError, match="Y_true row 1 names label 1 more than once"):
        metrics.psprecision_at_k([[0], [1, 1]], [[0], [1]], 1, inv_ps=np.ones(2))
    with pytest.raises(ValueError, match="Y_train row 0 names label 0 more than once"):
        metrics.inverse_propensity(np.eye(4, dtype=int).tolist())


@pytest.mark.parametrize("inv_ps, error, found", [
    (np.ones(3), ValueError, "inv_ps has 3 values, but there are 4 labels"),
    (np.ones((4, 1)), ValueError, r"inv_ps has 2 dimension"),
    (2.0, ValueError, r"inv_ps has 0 dimension"),
    ([1, 2, 0, 1], ValueError, "inv_ps of label 2 is 0.0"),
    ([1, -2, 1, 1], ValueError, "inv_ps of label 1 is -2.0"),
    ([1, 2, 1, np.inf], ValueError, "inv_ps of label 3 is inf"),
    ([1, 2, 1, np.nan], ValueError, "inv_ps of label 3 is nan"),
    ([[1], [1, 2]], ValueError, "inv_ps is no array"),
    (["a"] * 4, TypeError, "inv_ps holds <U1 values"),
    ({0: 1.0}, TypeError, "inv_ps holds object values"),
    (None, TypeError, "needs inv_ps"),
])  # fmt: skip
def test_weights_that_cannot_be_used_are_refused(inv_ps, error, found):
    for measure in (metrics.psprecision_at_k, metrics.psrecall_at_k, metrics.psdcg_at_k, metrics.psndcg_at_k):
        with pytest.raises(error, match=found):
            measure(Y, IDS, 3, inv_ps=inv_ps)
    if inv_ps is not None:
        with pytest.raises(error, match=found):
            metrics.measures(Y, IDS, 3, inv_ps)


def test_a_damaged_sparse_matrix_is_an_error_not_a_crash():
    true = sp.csr_array(Y.astype(bool))
    true.indices[1] = 100_000_000
    for measure in (metrics.precision_at_k, metrics.recall_at_k, metrics.ndcg_at_k, metrics.hits, metrics.measures):
        with pytest.raises(ValueError, match="Y_true is damaged"):
            measure(true, IDS, k=3)
    with pytest.raises(ValueError, match="Y_true is damaged"):
        metrics.psprecision_at_k(true, IDS, 3, inv_ps=WEIGHTS)
    for weights in (metrics.inverse_propensity, metrics.inverse_log_frequency):
        with pytest.raises(ValueError, match="Y_train is damaged"):
            weights(true)


def test_room_after_the_last_entry_is_not_read():
    scores = sp.csr_array((np.array([1.0, np.nan]), np.array([2, 3]), np.array([0, 2])), shape=(1, 4))
    scores.indptr[1] = 1
    assert metrics.as_ranking(scores, 1).labels.tolist() == [[2]]
