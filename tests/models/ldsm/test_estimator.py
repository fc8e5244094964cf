"""What LdSM offers: parameters, warnings, progress, and precision on real data."""

import numpy as np
import pytest
import scipy.sparse as sp
from ldsm_examples import assert_same_model, small_data, small_model

from xmlcore import LdSM, metrics


def test_rows_without_labels_are_left_out_with_a_warning():
    X, labels = small_data()
    with pytest.warns(UserWarning, match="2 of 62 training rows have no label and are left out"):
        model = small_model().fit(sp.vstack([X[[0]], X, X[[1]]], format="csr"), [[], *labels, []])
    assert model.n_unlabelled_ == 2 and model.n_rows_ == X.shape[0]
    assert_same_model(model, small_model().fit(X, labels), X)


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name, figures",
    [("bibtex", (58.3, 34.4, 25.7)), pytest.param("delicious", (67.9, 61.5, 56.4), marks=pytest.mark.slow)],
)
def test_precision_is_that_of_the_published_program(name, figures, real_data):
    """The figures are means of three seeds; one seed may be 1 point below in P@1 and half a point in the others."""
    from xmlcore.datasets import read_dataset

    data = read_dataset(real_data / name / "train.txt.gz", real_data / name / "test.txt.gz", name=name)
    ranking = LdSM.preset("program").fit(data.X_train, data.Y_train).predict_topk(data.X_test, 5)
    found = 100 * metrics.precision_at_k(data.Y_test, ranking, 5)[[0, 2, 4]]
    assert (found >= np.array(figures) - [1.0, 0.5, 0.5]).all(), found
