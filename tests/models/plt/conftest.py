"""A fitted model that the tests of PLT share."""

import pytest
from models.plt.plt_problems import problem

from xmlcore import PLT


@pytest.fixture(scope="module")
def small():
    X, Y, X_test, _ = problem()
    return PLT(max_leaf_labels=5, loss="logistic", n_jobs=1).fit(X, Y), X, Y, X_test
