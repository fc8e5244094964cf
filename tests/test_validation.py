"""Valid input becomes canonical arrays of one type, and other input an error that says what is wrong and where."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from xmlcore import validation
from xmlcore.validation import (
    INT32_MAX,
    check_count,
    check_features,
    check_label_ids,
    check_labels,
    check_number,
    check_row,
    check_structure,
    check_unambiguous,
    csr_parts,
    feature_names,
)

# Features and labels --------------------------------------------------------------------------------------------------

DENSE = np.array([[0.0, 1.5, 0.0], [-2.0, 0.0, 0.5]])
FORMS = {
    "lists": DENSE.tolist(),
    "float64": DENSE,
    "Fortran order": np.asfortranarray(DENSE),
    "every other row": np.repeat(DENSE, 2, axis=0)[::2],
    "DataFrame": pd.DataFrame(DENSE),
    **{name: getattr(sp, f"{name}_array")(DENSE) for name in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")},
    "matrix": sp.csr_matrix(DENSE),
    "float16": DENSE.astype(np.float16),
}


@pytest.mark.parametrize("form", FORMS)
def test_features_of_every_form_become_the_same_canonical_rows(form):
    found = check_features(FORMS[form], 3)
    assert type(found) is sp.csr_array and found.dtype == np.float32 and found.has_canonical_format
    assert np.array_equal(found.toarray(), DENSE.astype(np.float32)) and found.nnz == 3


def test_a_vector_is_one_row_and_bools_are_values():
    assert check_features([1, 0, 2]).toarray().tolist() == [[1.0, 0.0, 2.0]]
    for form in (np.array([[3, 0]], np.int16), sp.coo_array(np.array([[3, 0]])), sp.csr_array(np.array([[3, 0]]))):
        assert check_features(form).toarray().tolist() == [[3.0, 0.0]]
    assert check_features(np.array([[True, False]])).toarray().tolist() == [[1.0, 0.0]]
    assert check_features(np.zeros((0, 4))).shape == (0, 4)


def test_messages_name_matrix_model_and_place():
    with pytest.raises(ValueError, match=r"rows has 3 features, but PLT is expecting 5 features as input"):
        check_features(DENSE, 5, name="rows", model="PLT")
    with pytest.raises(ValueError, match="2 value.*first is nan at row 1, column 0"):
        check_features([[0.0, 1.0], [np.nan, np.inf]])
    with pytest.raises(ValueError, match="first is inf at row 0, column 1"):
        check_features(np.array([[0.0, 1e39]]))  # finite in float64, and not in float32
    with pytest.raises(ValueError, match="first is inf at row 0, column 0"):
        check_features(sp.csr_array((np.full(2, 3e38), [0, 0], [0, 2]), shape=(1, 1)))  # the sum of duplicates
    wide = sp.coo_array((np.ones(1), (np.zeros(1, np.int64), np.array([5], np.int64))), shape=(1, INT32_MAX + 1))
    with pytest.raises(ValueError, match=f"at most {INT32_MAX} are supported"):
        check_features(wide)


LABELS = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]])
LABEL_FORMS = {
    "whole numbers": LABELS,
    "bool": LABELS.astype(bool),
    "float": LABELS.astype(float),
    "csc": sp.csc_array(LABELS),
    "lists of ids": [[1], [2, 0], []],
    "sets": [{1}, {0, 2}, set()],
    "tuples and arrays": [(1,), np.array([0, 2]), np.array([])],
    "Series of lists": pd.Series([[1], [0, 2], []], index=[7, 7, 7]),
    "twice in a sparse matrix": sp.csr_array(
        (np.ones(4, bool), np.array([1, 1, 2, 0]), np.array([0, 2, 4, 4])), shape=(3, 3)
    ),
}


@pytest.mark.parametrize("form", LABEL_FORMS)
def test_labels_of_every_form_become_the_same_canonical_rows(form):
    found = check_labels(LABEL_FORMS[form], 3, 3)
    assert type(found) is sp.csr_array and found.dtype == bool and found.has_canonical_format
    assert np.array_equal(found.toarray(), LABELS) and found.data.all() and found.nnz == 3


def test_lists_are_as_wide_as_their_largest_id():
    assert check_labels([[0], [4]]).shape == (2, 5) and check_labels([[0], [4]], n_labels=9).shape == (2, 9)
    assert check_labels([[], []], n_labels=2).nnz == 0


@pytest.mark.parametrize("labels, options, error, message", [
    ([[0], [1, 3]], {"n_labels": 3}, ValueError, r"Y row 1 has the label id 3, but there are 3 labels"),
    ([[0], [-1]], {}, ValueError, r"Y row 1 has the label id -1: ids start at 0"),
    ([[0], [2, 2]], {}, ValueError, r"Y row 1 names label 2 more than once"),
    ([[0], [0.5]], {}, TypeError, r"Y row 1 is \[0.5\]: label ids are whole numbers"),
    ([[], []], {}, ValueError, r"Y has no labels at all"),
    ([[0]], {"n_rows": 2}, ValueError, r"Y has 1 rows, but the features have 2"),
    (LABELS, {"n_labels": 4}, ValueError, r"Y has 3 labels, but 4 are expected"),
    (LABELS * 3, {"name": "Y_test"}, ValueError, r"Y_test holds 3 at row 0, column 1: labels are 0 or 1"),
    (LABELS[0], {}, ValueError, r"Y has 1 dimension"),
    ("0,1", {}, ValueError, r"Y has 0 dimension"),
])  # fmt: skip
def test_labels_that_cannot_be_are_named(labels, options, error, message):
    with pytest.raises(error, match=message):
        check_labels(labels, **options)


def test_one_label_id_per_row_is_a_vector_of_ids_in_range():
    found = check_label_ids([2, 0], 2, 3)
    assert found.dtype == np.int32 and found.tolist() == [2, 0]
    assert check_label_ids([], 0, 3).tolist() == []
    for labels, error, message in (
        ([2.0, 0.0], TypeError, "label ids are whole numbers"),
        ([2], ValueError, "has shape .1,., but X has 2 rows"),
        ([0, 3], ValueError, "the id 3 at row 1: ids go from 0 to 2"),
        ([-1, 0], ValueError, "the id -1 at row 0"),
    ):
        with pytest.raises(error, match=message):
            check_label_ids(labels, 2, 3)


# Damaged sparse matrices ----------------------------------------------------------------------------------------------


def sound(format):
    dense = np.zeros((4, 6))
    dense[[0, 0, 1, 3], [1, 4, 2, 5]] = 1
    return sp.bsr_array(dense, blocksize=(2, 3)) if format == "bsr" else getattr(sp, f"{format}_array")(dense)


@pytest.mark.parametrize("format, part, at, value, message", [
    ("csr", "indices", 2, 6, "X is damaged: row 1 has the index 6, but indices go from 0 to 5"),
    ("csr", "indices", 0, -1, "row 0 has the index -1"),
    ("csc", "indices", 1, 4, "column 2 has the index 4, but indices go from 0 to 3"),
    ("bsr", "indices", 0, 2, "row 0 has the index 2, but indices go from 0 to 1"),
    ("csr", "indptr", 0, 1, "its indptr does not fit 4 rows"),
    ("csr", "indptr", 1, 4, "the entries of row 1 end before they begin"),
    ("csr", "indptr", 4, 900, "the entries of row 3 end .* after the last one"),
    ("coo", "col", 3, 6, "axis 1 has an index outside 0 to 5"),
    ("coo", "row", 0, -2, "axis 0 has an index outside 0 to 3"),
])  # fmt: skip
def test_index_arrays_that_do_not_fit_together_are_refused(format, part, at, value, message):
    matrix = sound(format)
    getattr(matrix, part)[at] = value
    with pytest.raises(ValueError, match=message):
        check_structure(matrix)


@pytest.mark.parametrize("harm, message", [
    (lambda m: m.rows[0].__setitem__(1, 6), "row 0 has an index that is no whole number from 0 to 5"),
    (lambda m: m.rows[1].__setitem__(0, -1), "row 1 has an index"),
    (lambda m: m.rows[1].__setitem__(0, 10**12), "row 1 has an index"),
    (lambda m: m.rows[3].__setitem__(0, "a"), "row 3 has an index"),
    (lambda m: m.data[0].pop(), "row 0 has 2 indices and 1 values"),
    (lambda m: setattr(m, "rows", m.rows[:-1]), "3 lists of indices and 4 of values for 4 rows"),
])  # fmt: skip
def test_lists_of_lists_that_do_not_fit_together_are_refused(harm, message):
    matrix = sound("lil")
    harm(matrix)
    for check in (check_structure, check_features, check_labels):
        with pytest.raises(ValueError, match=message):
            check(matrix)


def test_diagonals_without_their_offsets_are_refused():
    matrix = sound("dia")
    matrix.offsets = matrix.offsets[:-1]
    with pytest.raises(ValueError, match="2 offsets for 3 diagonals"):
        check_features(matrix)


@pytest.mark.parametrize("row", [[[1, 2]], [[1], [2]], [1, [2]], [np.array([1, 2])], [()]])
def test_nested_lists_of_labels_are_refused(row):
    with pytest.raises(TypeError, match="row 1 is .*lists in a list: give one list of label ids per row"):
        check_labels([[0], row])
    with pytest.raises(ValueError, match="different shapes: give a binary matrix"):
        check_labels([[0, 1], np.zeros((1, 2))])


def test_parts_of_a_matrix_have_the_types_of_kernels():
    X = check_features(DENSE)
    ptr, indices, data = csr_parts(X)
    assert (
        (ptr.dtype, indices.dtype) == (np.int64, np.int32) and data is X.data and np.shares_memory(indices, X.indices)
    )
    wide = sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    ptr, indices, _ = csr_parts(wide)
    assert (ptr.dtype, indices.dtype) == (np.int64, np.int32) and indices.tolist() == X.indices.tolist()


# Names, numbers, rows, fitted estimators ------------------------------------------------------------------------------


def test_names_of_features_are_those_of_a_frame():
    frame = pd.DataFrame(DENSE, columns=["a", "b", "c"])
    assert feature_names(frame).tolist() == ["a", "b", "c"] and feature_names(frame).dtype == object
    for nameless in (DENSE, sp.csr_array(DENSE), DENSE.tolist(), pd.DataFrame(DENSE), pd.DataFrame()):
        assert feature_names(nameless) is None
    with pytest.raises(TypeError, match="int, str as feature name"):
        feature_names(pd.DataFrame(DENSE, columns=["a", 1, "c"]))


@pytest.mark.parametrize("value", [True, np.True_, 2.0, "2", None])
def test_a_count_is_a_whole_number_and_no_bool(value):
    with pytest.raises(TypeError, match="k must be a whole number, not"):
        check_count(value, "k")


def test_a_count_has_bounds_and_becomes_an_int():
    assert type(check_count(np.int8(3), "k")) is int and check_count(0, "k", least=0) == 0
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        check_count(0, "k")
    with pytest.raises(ValueError, match="k must be from 2 to 5, not 6"):
        check_count(6, "k", least=2, most=5)


@pytest.mark.parametrize("options, inside, outside, words", [
    ({}, [0, 5, np.float32(0.5)], [-1e-9], "at least 0"),
    ({"most": 1.0}, [0, 1], [-0.1, 1.1], "from 0 to 1"),
    ({"most": 1.0, "above": True}, [1e-300, 1], [0, 2], "above 0 and at most 1"),
    ({"most": 1.0, "below": True}, [0, 0.999], [1, -1], "at least 0 and below 1"),
    ({"least": -np.inf, "most": 3, "below": True}, [-1e300, 2.9], [3], "below 3"),
])  # fmt: skip
def test_a_number_has_bounds_which_the_message_states(options, inside, outside, words):
    for value in inside:
        assert check_number(value, "C", **options) == value
    for value in outside:
        with pytest.raises(ValueError, match=f"C must be {words}, not {value}"):
            check_number(value, "C", **options)


@pytest.mark.parametrize("value", [True, "1", None, 1j, np.nan, np.inf, 10**400, [1.0]])
def test_a_number_is_finite_and_real(value):
    with pytest.raises(TypeError, match="C must be a finite number, not"):
        check_number(value, "C")


def test_one_row_is_a_vector_or_a_matrix_of_one_row():
    assert check_row([0.0, 2.0]).toarray().tolist() == check_row([[0.0, 2.0]]).toarray().tolist() == [[0.0, 2.0]]
    for rows in (np.eye(2), np.zeros((0, 2))):
        with pytest.raises(ValueError, match="x has . rows: one row is needed"):
            check_row(rows)
    with pytest.raises(ValueError, match="x has 2 features"):
        check_row([0.0, 2.0], 3)


def test_frames_of_numbers_and_bool_are_read_column_by_column():
    frame = pd.DataFrame(
        {
            "count": pd.array([1, 2, 0], dtype="Int64"),
            "seen": pd.array([True, False, True], dtype="boolean"),
            "share": [0.5, 0.0, 1.5],
            "new": [True, False, False],
            "rare": pd.arrays.SparseArray([0, 0, 4]),
            "weight": pd.array([0.25, 0.0, 1.0], dtype="Float32"),
        }
    )
    expected = [[1, 1, 0.5, 1, 0, 0.25], [2, 0, 0, 0, 0, 0], [0, 1, 1.5, 0, 4, 1]]
    assert check_features(frame).toarray().tolist() == expected
    for columns in (["new"], ["new", "share"], ["share"], ["count"], ["seen"]):
        places = [list(frame.columns).index(column) for column in columns]
        np.testing.assert_array_equal(check_features(frame[columns]).toarray(), np.array(expected)[:, places])
    labels = frame[["seen", "new"]]
    assert check_labels(labels).toarray().tolist() == [[True, True], [False, False], [True, False]]


def test_dense_rows_become_sparse_part_by_part(monkeypatch):
    X = np.random.default_rng(0).integers(-1, 2, (50, 7)) / 4
    monkeypatch.setattr(validation, "VALUES_AT_ONCE", 21)
    for form in (X, X.astype(np.float16), np.asfortranarray(X), np.ma.masked_array(X), pd.DataFrame(X), X.tolist()):
        found = check_features(form)
        assert (found != sp.csr_array(X)).nnz == 0 and found.nnz == np.count_nonzero(X) and found.dtype == np.float32
        assert found.has_sorted_indices and found.has_canonical_format
    X[40, 3], X[45, 2] = np.nan, 1e300
    for form in (X, pd.DataFrame(X), np.asfortranarray(X), X.astype(object)):
        with pytest.raises(ValueError, match=r"2 value\(s\) .* in float32; the first is nan at row 40, column 3"):
            check_features(form)
    with pytest.raises(ValueError, match="X is masked at row 40, column 3: replace or drop masked values"):
        check_features(np.ma.masked_invalid(X))


def test_a_frame_with_a_bad_value_is_refused_by_its_place():
    missing = pd.DataFrame({"a": [1.0, 2.0], "b": pd.array([True, None], dtype="boolean")})
    with pytest.raises(ValueError, match="not finite .* nan at row 1, column 1"):
        check_features(missing)
    with pytest.raises(ValueError, match="Y holds nan at row 1, column 1"):
        check_labels(missing.assign(a=[1.0, 0.0]))
    for wrong in (pd.Categorical(["x", "y"]), ["x", "y"], pd.to_datetime(["2020-01-01"] * 2)):
        with pytest.raises(TypeError, match="values in column 'kind': real numbers"):
            check_features(pd.DataFrame({"a": [1, 2], "kind": wrong}))


def test_a_damaged_sparse_row_is_refused():
    row = sp.csr_array(np.array([0.0, 1.5, 2.0]))
    row.indices[0] = 7
    with pytest.raises(ValueError, match="X is damaged: it has an index outside 0 to 2"):
        check_features(row)


@pytest.mark.parametrize(
    "Y",
    [[[0, 1], [1, 0]], [[0, 1]], [(1, 0), (1, 0)], [np.array([0, 1])] * 3, [[0, 0], [1, 1]], pd.Series([[0, 1]] * 2)],
)
def test_lists_that_may_be_ids_or_a_matrix_are_refused(Y):
    with pytest.raises(ValueError, match=r"two label ids or a matrix of 0 and 1: give sets.*numpy\.array"):
        check_unambiguous(Y)


@pytest.mark.parametrize(
    "Y",
    [[[0], [1]], [{0, 1}, {1}], [[0, 1], [1, 2]], [[0, 1], []], np.eye(2), sp.csr_array(np.eye(2)), [["a", "b"]], [],
     pd.DataFrame(np.eye(2)), pd.DataFrame(np.eye(2), columns=["ab", "cd"])],
)  # fmt: skip
def test_lists_with_one_meaning_are_not_called_ambiguous(Y):
    assert check_unambiguous(Y) is None
