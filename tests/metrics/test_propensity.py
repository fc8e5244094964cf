from math import log

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import metrics

Y = [[0], [0, 2], [0], [2]]  # counts 3, 0, 2


def test_weights_by_hand():
    C = (log(4) - 1) * 2.5**0.55
    expected = [1 + C / 4.5**0.55, 1 + C / 1.5**0.55, 1 + C / 3.5**0.55]
    np.testing.assert_allclose(metrics.inverse_propensity(Y), expected, rtol=1e-14)
    for n in (1, 2):  # where the formula would fall below 1
        np.testing.assert_array_equal(metrics.inverse_propensity(np.eye(n, 3)), [1, 1, 1])
    np.testing.assert_allclose(metrics.inverse_log_frequency(Y), [1 / log(4), 1 / log(2), 1 / log(3)], rtol=1e-14)


@pytest.mark.parametrize("weights", [metrics.inverse_propensity, metrics.inverse_log_frequency])
def test_more_labels_may_be_named_and_labels_are_0_or_1(weights):
    repeated = sp.coo_array((np.ones(7), ([0, 0, 1, 1, 2, 3, 3], [0, 0, 0, 2, 0, 2, 2])), shape=(4, 3))
    with pytest.raises(ValueError, match="labels are 0 or 1"):
        weights(repeated.tocsr())
    with pytest.raises(ValueError, match="Y_train has no rows"):
        weights(np.zeros((0, 3)))
    np.testing.assert_array_equal(weights(Y, n_labels=5)[:3], weights(Y))
    assert weights(Y, n_labels=5).dtype == np.float64
