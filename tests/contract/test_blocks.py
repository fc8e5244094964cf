"""A list of matrices is one matrix of all, in which each has the same length in a row; others are refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.estimators import assert_same, each_of_rows, problem, results
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder, normalize

from xmlcore import PLT, explain, load_model, robustness
from xmlcore.arrays import side_by_side
from xmlcore.models import PackedModel
from xmlcore.validation import check_features


def blocks(form=sp.csr_array):
    X = problem()[0]
    return [form(X[:, :5]), X[:, 5:]]


def test_blocks_are_unit_rows_over_the_root_of_their_number():
    A, B = blocks()
    B = B * np.where(np.arange(len(B)) % 5, 7.0, 0.0)[:, None]
    n = np.maximum((np.diff(A.indptr) > 0).astype(int) + B.any(axis=1), 1)
    expected = sp.hstack([normalize(A), normalize(B)]).toarray() / np.sqrt(n)[:, None]
    found = side_by_side([check_features(A), check_features(B)])
    assert found.has_canonical_format and found.dtype == np.float32
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-7)


@each_of_rows
@pytest.mark.filterwarnings("ignore")
def test_a_list_is_fitted_predicted_and_saved_as_one_matrix(case, tmp_path):
    Y, one = problem()[1], side_by_side([*map(check_features, blocks())])
    model, expected = case.make().fit(blocks(pd.DataFrame), Y), case.make().fit(one, Y)
    if case.predicts:
        assert_same(results(model, blocks(pd.DataFrame)), results(expected, one))
    else:
        assert_same(results(model, one), results(expected, one))
    loaded = load_model(case.make().fit(blocks(), Y).save(tmp_path / "model"))
    assert loaded.block_widths_ == [5, 9] and loaded.n_features_in_ == 14
    A, B = blocks()
    for wrong, message in (
        ([A], r"the number of matrices in X is 1, but \w+ was fitted to 2, of 5 and 9 columns"),
        ([B, A], r"X\[0\] has 9 columns, but \w+ was fitted to 5 there"),
        ([A, B[1:]], r"X\[1\] has 47 rows, but X\[0\] has 48 rows"),
        (A, r"X has 5 features, but \w+, fitted to 2 matrices of 5 and 9 columns, is expecting 14"),
    ):
        with pytest.raises(ValueError, match=message):
            loaded._check_input(wrong)
    with pytest.raises(ValueError, match="X is a list of 2 matrices, but .* was fitted to one"):
        expected._check_input([A, B])


def test_blocks_are_explained_as_they_are_predicted():
    (A, B), Y = blocks(), problem()[1]
    model = PLT(max_leaf_labels=2).fit([A, B], Y)
    one = side_by_side([*map(check_features, blocks())])
    of_list, of_one = (explain.contributions(model, x, 0) for x in ([A[[3]], B[3]], one[[3]]))
    pd.testing.assert_frame_equal(of_list, of_one)
    of_list, of_one = (robustness.evaluate(model, X, Y).query("measure == 'P@k'") for X in ([A, B], one))
    pd.testing.assert_frame_equal(of_list, of_one)
    packed = PackedModel(model)
    raw = sp.hstack([A, B])
    np.testing.assert_array_equal(packed.predict_topk(raw).scores, model.predict_topk([A, B]).scores)


@pytest.mark.parametrize("sparse, output", [(True, "default"), (False, "default"), (False, "pandas")])
def test_the_output_of_a_column_transformer_is_rows_or_a_block(sparse, output):
    frame, Y = pd.DataFrame(problem()[0]).rename(columns="column {}".format), problem()[1]
    parts = (OneHotEncoder(sparse_output=sparse), list(frame)[:8]), ("passthrough", list(frame)[8:])
    rows = make_column_transformer(*parts, sparse_threshold=1.0).set_output(transform=output).fit_transform(frame)
    model, both = PLT(max_leaf_labels=2).fit(rows, Y), PLT(max_leaf_labels=2).fit([rows, frame], Y)
    assert sp.issparse(rows) == sparse and both.block_widths_ == [rows.shape[1], 14]
    assert model.predict(rows).shape == both.predict([rows, frame]).shape == Y.shape
