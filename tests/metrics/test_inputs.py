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


@pytest.mark.parametrize(
    "true",
    [
        *([[0, 1], [3], []], [{0, 1}, {3}, set()]),
        *(Y.astype(bool), Y.astype(np.float32)),
        *(sp.csr_matrix(Y), sp.csc_array(Y), sp.coo_array(Y.astype(bool))),
    ],
    ids=lambda true: type(true).__name__,
)
def test_every_form_of_true_labels_measures_the_same(true):
    same(metrics.measures(true, IDS, 3, WEIGHTS), metrics.measures(Y, IDS, 3, WEIGHTS))


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


def test_inputs_are_not_changed():
    ids, scores, weights = IDS.astype(np.int32), np.random.default_rng(0).random((3, 4)), WEIGHTS.copy()
    kept = ids.copy(), scores.copy()
    metrics.measures(Y, ids, 3, weights)
    metrics.measures(Y, scores, 3, weights)
    np.testing.assert_array_equal(ids, kept[0])
    np.testing.assert_array_equal(scores, kept[1])
    np.testing.assert_array_equal(weights, WEIGHTS)


def test_the_width_of_lists_of_labels():
    assert metrics.as_ranking([[1, 0]], 4, n_labels=2).labels.tolist() == [[1, 0, -1, -1]]
    assert metrics.precision_at_k([[0], [1]], [[9], [1]], 1).tolist() == [0.5]
    assert metrics.psprecision_at_k([[0], [1]], [[9], [1]], 1, inv_ps=np.ones(10)).tolist() == [0.5]
    with pytest.raises(ValueError, match="row 0 of the ranking has the label id 9"):
        metrics.psprecision_at_k([[0], [1]], [[9], [1]], 1, inv_ps=np.ones(5))


# Errors


@pytest.mark.parametrize("ranking", [IDS[:2], IDS[:2].tolist(), np.zeros((2, 4)), sp.csr_array(np.eye(2, 4))])
def test_a_different_number_of_rows_is_named(ranking):
    with pytest.raises(ValueError, match="Y_true has 3 rows, but the ranking has 2"):
        metrics.precision_at_k(Y, ranking, 3)


@pytest.mark.parametrize("ranking", [IDS[:, :2], IDS[:, :2].tolist(), [[0], [1, 2], []]])
@pytest.mark.parametrize("k", [3, 4, 9])
def test_a_ranking_too_short_for_k_asks_for_more_labels(ranking, k):
    with pytest.raises(ValueError, match=f"2 label.* per row and there are 4 labels.*needs {min(k, 4)} per row"):
        metrics.precision_at_k(Y, ranking, k)
    with pytest.raises(ValueError, match="Ask the model for more labels"):
        metrics.as_ranking(ranking, k, n_labels=4)


@pytest.mark.parametrize("form", [np.asarray, list, lambda ids: Ranking(ids, np.zeros(ids.shape))])
@pytest.mark.parametrize("label", [4, 100, -2, 2**40])
def test_a_label_id_out_of_range_is_named(form, label):
    ids = IDS.copy()
    ids[1, 2] = label
    with pytest.raises(
        ValueError, match=f"row 1 of the ranking has the label id {label} at place 3: ids go from 0 to 3"
    ):
        metrics.precision_at_k(Y, form(ids), 3)


@pytest.mark.parametrize(
    "ranking", [[[0], [2**70], [1]], np.array([[0], [2**64 - 1], [1]], np.uint64), [[0], [2**64 - 1], [1]]]
)
def test_a_label_id_beyond_64_bits_is_out_of_range(ranking):
    for true in (Y, [[0], [1], []]):
        with pytest.raises(ValueError, match=r"row 1 of the ranking has the label id \d{20}"):
            metrics.precision_at_k(true, ranking, 1)


def test_a_label_twice_in_a_row_is_named():
    ids = IDS.copy()
    ids[2] = [3, 0, 3]
    for form in (ids, ids.tolist(), Ranking(ids, np.zeros(ids.shape))):
        for k in (3, 1):  # also what is not measured
            with pytest.raises(ValueError, match="row 2 of the ranking has label 3 twice, again at place 3"):
                metrics.precision_at_k(Y, form, k)


def test_a_label_twice_in_ragged_lists_is_named():
    rows = [[3, -1, -1], [], [2, 0], [1, 3, 0, 1, 3], [0, 0]]
    with pytest.raises(ValueError, match="row 3 of the ranking has label 1 twice, again at place 4"):
        metrics.as_ranking(rows, 2)
    rows[3] = [1, 3, 0, 2, -3]
    with pytest.raises(ValueError, match="row 3 of the ranking has the label id -3 at place 5"):
        metrics.as_ranking(rows, 2)
    rows[3:] = [[1, 3, 0]]
    assert metrics.as_ranking(rows, 2).labels.tolist() == [[3, -1], [-1, -1], [2, 0], [1, 3]]


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, lambda m: Ranking(m, np.zeros(m.shape))])
def test_whole_numbers_that_are_scores_are_an_error_at_every_k(form, k):
    true = np.eye(4, dtype=int)
    for scores in (
        np.array([[7, 5, 1, 0]] * 4),  # no label has the id 7
        np.array([[3, 2, 2, 0]] * 4),
        np.array([[3, -7, 2, 1]] * 4),
        np.array([[0, 1, 0, 0]] * 4),
    ):
        with pytest.raises(ValueError, match="row 0 of the ranking has.*scores go in an array of floats"):
            metrics.precision_at_k(true, form(scores), k)


def test_a_binary_matrix_as_lists_is_not_taken_for_label_ids():
    with pytest.raises(ValueError, match="Y_true row 0 names label 0 more than once.*numpy.array"):
        metrics.precision_at_k(np.eye(4, dtype=int).tolist(), [[0], [1], [2], [3]], 1)
    with pytest.raises(ValueError, match="Y_true row 1 names label 1 more than once"):
        metrics.psprecision_at_k([[0], [1, 1]], [[0], [1]], 1, inv_ps=np.ones(2))
    with pytest.raises(ValueError, match="Y_train row 0 names label 0 more than once"):
        metrics.inverse_propensity(np.eye(4, dtype=int).tolist())


def test_a_binary_matrix_in_the_place_of_a_ranking_is_an_error():
    for k in (1, 3):
        with pytest.raises(ValueError, match="twice.*scores go in an array of floats"):
            metrics.precision_at_k(Y, Y, k)
    for booleans in (Y.astype(bool), sp.csr_array(Y.astype(bool))):
        with pytest.raises(TypeError, match="booleans, which has no order"):
            metrics.precision_at_k(Y, booleans, 3)


def test_scores_of_another_number_of_labels_are_an_error():
    for scores in (np.zeros((3, 5)), sp.csr_array((3, 5))):
        with pytest.raises(ValueError, match="5 columns, but there are 4 labels"):
            metrics.precision_at_k(Y, scores, 3)
        with pytest.raises(ValueError, match="5 columns, but there are 4 labels"):
            metrics.as_ranking(scores, 3, n_labels=4)


def test_scores_that_are_not_numbers_are_named():
    scores = np.zeros((3, 4))
    scores[1, 2] = np.nan
    for form in (scores, scores.astype(np.float32), sp.csr_array(scores)):
        with pytest.raises(ValueError, match="score of label 2 in row 1 is not a number"):
            metrics.precision_at_k(Y, form, 3)


@pytest.mark.parametrize("ranking, found", [
    ([[0.5, 0.1, 0.2, 0.3]] * 3, "holds 0.5: label ids are whole numbers"),
    ([[(0, 0.5)], [(1, 0.5)], []], r"holds \(0, 0.5\)"),
    ([[[0], [1, 2]]] * 3, r"row 0 of the ranking holds \[0\]"),
    ([["a"], [], []], "row 0 of the ranking holds 'a'"),
    ([[True], [False], [True]], "row 0 of the ranking holds True"),
    ([[0], {1}, [2]], "row 1 of the ranking is a set"),
    ([[0], "1", [2]], "row 1 of the ranking is a str"),
    ([0, 1, 2], "row 0 of the ranking is a int"),
    ("012", "a ranking is .* not str"),
    (None, "a ranking is .* not NoneType"),
    (np.array([[1j]]), "holds complex128 values"),
    (np.array([["a"]]), "holds <U1 values"),
    (Ranking(np.zeros((3, 4)), np.zeros((3, 4))), "ranking's labels are float64"),
])  # fmt: skip
def test_what_is_no_ranking_is_a_type_error(ranking, found):
    with pytest.raises(TypeError, match=found):
        metrics.precision_at_k(Y, ranking, 1)


def test_rankings_of_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="at most 2147483647 are supported"):
        metrics.as_ranking(sp.csr_array((1, 2**31)), 1)
    with pytest.raises(ValueError, match="the scores have 1 dimension"):
        metrics.precision_at_k(Y, sp.coo_array(np.ones(4)), 1)
    with pytest.raises(ValueError, match="the ranking has 1 dimension"):
        metrics.precision_at_k(Y, np.array([0, 1, 2]), 1)
    with pytest.raises(ValueError, match=r"labels of shape \(3, 2\), but scores of shape \(3, 1\)"):
        metrics.precision_at_k(Y, Ranking(IDS[:, :2], np.zeros((3, 1))), 1)


@pytest.mark.parametrize("k, error", [(0, ValueError), (True, TypeError)])
def test_k_is_a_positive_whole_number(k, error):
    for measure in (metrics.precision_at_k, metrics.hits, lambda _, ranking, k: metrics.as_ranking(ranking, k)):
        with pytest.raises(error, match="k must be"):
            measure(Y, IDS, k)
    with pytest.raises(ValueError, match="pass k, the number of first labels"):
        metrics.hits(Y, np.zeros((3, 4)))


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
    true, scores = sp.csr_array(Y.astype(bool)), sp.csr_array(np.ones((3, 4)))
    true.indices[1], scores.indices[2] = 100_000_000, -1
    for measure in (metrics.precision_at_k, metrics.recall_at_k, metrics.ndcg_at_k, metrics.hits, metrics.measures):
        with pytest.raises(ValueError, match="Y_true is damaged"):
            measure(true, IDS, k=3)
    with pytest.raises(ValueError, match="Y_true is damaged"):
        metrics.psprecision_at_k(true, IDS, 3, inv_ps=WEIGHTS)
    for weights in (metrics.inverse_propensity, metrics.inverse_log_frequency):
        with pytest.raises(ValueError, match="Y_train is damaged"):
            weights(true)
    with pytest.raises(ValueError, match="the matrix of scores is damaged"):
        metrics.precision_at_k(Y, scores, 3)
    with pytest.raises(ValueError, match="the matrix of scores is damaged"):
        metrics.as_ranking(scores, 2)


def test_room_after_the_last_entry_is_not_read():
    scores = sp.csr_array((np.array([1.0, np.nan]), np.array([2, 3]), np.array([0, 2])), shape=(1, 4))
    scores.indptr[1] = 1
    assert metrics.as_ranking(scores, 1).labels.tolist() == [[2]]
