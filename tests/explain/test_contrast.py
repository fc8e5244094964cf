"""Why one label and not another: what a feature adds to the difference of their scores."""

import numpy as np
import pytest
import scipy.sparse as sp
from explain.fitted import NAMES, data

from xmlcore import explain

MODELS = ("PLT", "PLTs", "OneVsRest", "LdSM")


@pytest.mark.parametrize("name", MODELS)
def test_contrasts_add_up_to_the_difference_of_the_scores(models, name):
    model = models[name]
    X, _ = data(7, n=6)
    for i in range(6):
        frame = explain.contrast(model, X[[i]], 2, 9)
        one, other = (explain.contributions(model, X[[i]], j).set_index("feature") for j in (2, 9))
        assert frame.attrs["kind"] == one.attrs["kind"] and frame["contribution"].any()
        assert frame.attrs["total"] == pytest.approx(one.attrs["total"] - other.attrs["total"], abs=1e-9)
        expected = (one["contribution"] - other["contribution"])[frame["feature"]]
        np.testing.assert_allclose(frame["contribution"], expected, atol=1e-9)
        assert frame.attrs["baseline"] + frame["contribution"].sum() == pytest.approx(frame.attrs["total"], abs=1e-9)
        assert (np.diff(frame["contribution"].abs()) <= 0).all()


def test_a_contrast_of_pairs_adds_up_to_the_difference_of_f(models):
    model, (X, _) = models["pairs"], data(12, n=1)
    frame = explain.contrast(model, X, 3, 8).set_index("name")
    one, other = model.pair_features(X, np.array([[3, 8]]))[0]
    assert frame["value"].loc[model.feature_names_].tolist() == pytest.approx((one - other).tolist())
    assert frame["contribution"].sum() == pytest.approx((one - other) @ model.weights_) == frame.attrs["total"]


def test_a_row_without_features_has_nothing_to_compare(models):
    for name in NAMES:
        frame = explain.contrast(models[name], sp.csr_array((1, 30), dtype=np.float32), 0, 1)
        assert frame.empty and frame.attrs["total"] == pytest.approx(frame.attrs["baseline"], abs=1e-12)


def test_what_is_no_label_is_refused(models):
    with pytest.raises(ValueError, match="other"):
        explain.contrast(models["PLT"], data()[0][[0]], 0, 99)
