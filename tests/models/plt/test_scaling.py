"""How rows are scaled before they are classified, by label trees and by one classifier per label."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler
from sklearn.preprocessing import normalize as to_length_1

from xmlcore import PLT, OneVsRest, explain, load_model, metrics
from xmlcore.datasets import make_synthetic
from xmlcore.models.plt.scaling import possible_scalings, scaled_rows
from xmlcore.robustness.certificates import certified_radius

pytestmark = pytest.mark.filterwarnings("ignore:.*stopped at max_iter")
BOTH = pytest.mark.parametrize("cls", [PLT, OneVsRest])
PRECISE = {"C": 1.0, "loss": "logistic", "weight_threshold": 0.0, "tol": 1e-4, "max_iter": 2000}


def classes(n=1000, n_columns=30, n_labels=8, seed=0, scale=3.0, mean=0.0):
    """Return dense rows around a centre of each class, whose columns have unlike scales and means, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_labels, n)
    X = rng.standard_normal((n_labels, n_columns))[y] + rng.standard_normal((n, n_columns))
    X = (X + mean * rng.standard_normal(n_columns)) * np.exp(scale * rng.standard_normal(n_columns))
    return X.astype(np.float32), np.eye(n_labels, dtype=bool)[y]


@BOTH
@pytest.mark.parametrize("unlike", [{"scale": 3.0}, {"scale": 0.0, "mean": 300.0}], ids=["scales", "means"])
def test_columns_of_unlike_scales_are_standardised(cls, unlike):
    X, Y = classes(**unlike)

    def precision(model):
        return metrics.precision_at_k(Y[700:], model.predict_topk(X[700:], 1), 1)[0]

    chosen, unit = (cls(normalize=normalize).fit(X[:700], Y[:700]) for normalize in ("auto", "l2"))
    assert chosen.settings_["normalize"] == chosen.normalize_ == "standardize"
    assert set(chosen.chosen_["normalize"]) == {"standardize", "l2"} and set(unit.chosen_["normalize"]) == {"l2"}
    assert precision(chosen) > precision(unit) + 0.2
    given = cls(**chosen.settings_).fit(X[:700], Y[:700])
    np.testing.assert_array_equal(given.predict_topk(X, 5).scores, chosen.predict_topk(X, 5).scores)


@BOTH
def test_with_few_rows_the_data_alone_decide(cls):
    X, Y = classes(200)
    model = cls().fit(X, Y)
    assert model.chosen_.empty and model.settings_["normalize"] == "standardize"
    assert cls().fit(*classes(200, scale=0.0)).settings_["normalize"] == "l2"


@BOTH
def test_dense_rows_of_like_scales_get_length_1(cls):
    X, Y = classes(scale=0.3)
    auto, unit = cls().fit(X, Y), cls(normalize="l2").fit(X, Y)
    assert auto.settings_ == unit.settings_ and auto.normalize_ == "l2"
    columns = auto.chosen_.columns.drop("seconds")
    assert auto.chosen_[columns].equals(unit.chosen_[columns])
    np.testing.assert_array_equal(auto.predict_proba(X).toarray(), unit.predict_proba(X).toarray())


@BOTH
@pytest.mark.parametrize("rare_noise, expected", [(False, "idf"), (True, "l2")])
def test_rare_features_weigh_more_where_that_is_better(cls, rare_noise, expected):
    """Each label has features of its own; the others, which say nothing, are frequent, or rare."""
    rng = np.random.default_rng(0)
    y, n_own = rng.integers(0, 40, 1500), 1 if rare_noise else 3
    Y, own = np.eye(40, dtype=bool)[y], rng.random((1500, 40 * n_own)) < 0.08 * rare_noise
    own[np.arange(1500), n_own * y + rng.integers(0, n_own, 1500)] = True
    n_others, density = (3000, 0.003) if rare_noise else (40, 0.3)
    X = sp.csr_array(np.hstack([own, rng.random((1500, n_others)) < density]).astype(np.float32))
    model = cls().fit(X, Y)
    trials = model.chosen_
    assert set(trials["normalize"]) == {"l2", "idf"} and model.normalize_ == "l2"
    two = trials.drop_duplicates("normalize").set_index("normalize")["score"]
    assert model.settings_["normalize"] == two.idxmax() == expected
    given = cls(**model.settings_).fit(X, Y)
    np.testing.assert_array_equal(given.predict_topk(X, 5).scores, model.predict_topk(X, 5).scores)


@BOTH
def test_idf_has_the_factors_of_scikit_learn(cls):
    data = make_synthetic(n_train=300, n_test=50, n_features=60, n_labels=9, features_per_row=8)
    X, X_test = (to_length_1(part) for part in (data.X_train, data.X_test))
    idf = TfidfTransformer(norm=None, smooth_idf=False).fit(X)
    model = cls(normalize="idf", **PRECISE).fit(data.X_train, data.Y_train)
    other = cls(normalize=None, **PRECISE).fit(idf.transform(X), data.Y_train)
    expected = other.predict_proba(idf.transform(X_test)).toarray()
    np.testing.assert_allclose(model.predict_proba(data.X_test).toarray(), expected, atol=2e-3)
    small = cls(normalize="idf", **PRECISE | {"C": 300.0})  # of the weights, only their ratios count
    small.fit(data.X_train, data.Y_train, sample_weight=np.full(300, 1 / 300))
    np.testing.assert_allclose(small.predict_proba(data.X_test).toarray(), expected, atol=2e-3)


def test_noise_does_not_change_document_frequencies():
    data = make_synthetic(n_train=300, n_test=50, n_features=60, n_labels=9, features_per_row=8)
    noisy = sp.csr_array(np.vstack([data.X_train.toarray(), np.ones((300, 60))]).astype(np.float32))
    of_rows = (sp.csr_array(data.X_train, copy=True), np.arange(60, dtype=np.int32), "idf", None, 300)
    clean, both = (scaled_rows(rows.copy(), *of_rows[1:])[1].factor for rows in (of_rows[0], noisy))
    np.testing.assert_allclose(both / both[0], clean / clean[0])


@BOTH
@pytest.mark.parametrize("dense", [True, False])
def test_standardised_columns_are_those_of_scikit_learn(cls, dense):
    X, Y = classes(300, scale=1.0, mean=2.0)
    if not dense:
        X = np.where(np.random.default_rng(1).random(X.shape) < 0.2, X, 0)
    scaler = StandardScaler(with_mean=dense).fit(X)
    model = cls(normalize="standardize", **PRECISE).fit(X, Y)
    other = cls(normalize=None, **PRECISE).fit(scaler.transform(X), Y)
    expected = other.predict_proba(scaler.transform(X)).toarray()
    np.testing.assert_allclose(model.predict_proba(X).toarray(), expected, atol=2e-3)
    np.testing.assert_allclose(model.label_probabilities(X, Y.argmax(1)), expected[Y], atol=2e-3)


@BOTH
@pytest.mark.parametrize("normalize", ["standardize", None])
def test_the_units_of_columns_or_of_all_values_do_not_matter(cls, normalize):
    X, Y = classes(300, scale=0.0)
    factor = 10.0 ** np.random.default_rng(2).integers(-6, 7, X.shape[1]) if normalize else 1e5
    model, other = (cls(normalize=normalize, **PRECISE).fit(rows, Y) for rows in (X, X * factor))
    proba = model.predict_proba(X).toarray()
    np.testing.assert_allclose(other.predict_proba(X * factor).toarray(), proba, atol=2e-3)


def test_scaled_rows_have_a_mean_squared_length_of_1():
    X = sp.csr_array(classes(300, scale=1.0, mean=2.0)[0])
    thin = sp.random_array((300, 30), density=0.2, rng=np.random.default_rng(0), dtype=np.float32, format="csr")
    every = np.arange(30, dtype=np.int32)
    for how in ("standardize", None):
        for rows in (X, thin):
            scaled, scaling = scaled_rows(rows.copy(), every, how)
            assert (scaled**2).sum() / 300 == pytest.approx(1.0, rel=1e-5) and scaled.nnz == rows.nnz
            np.testing.assert_allclose(scaled.toarray(), (rows.toarray() - scaling.centre) * scaling.factor, atol=1e-5)
            assert scaling.centre.any() == (how == "standardize" and rows is X)


def test_odd_columns_and_values_do_no_harm(tmp_path):
    rng = np.random.default_rng(0)
    Y = np.eye(3, dtype=bool)[rng.integers(0, 3, 60)]
    X = rng.standard_normal((60, 6)) + 3 * Y.repeat(2, axis=1)
    odd = X * 10.0 ** np.array([30, -30, 37, -44, 0, 0])
    odd[:, 4], odd[:, 5] = 7.0, 1e8 + (np.arange(60) == 7)
    for rows in (odd, np.zeros((60, 6)), np.ones((60, 6)), X[:, :1], X * 1e-44):
        assert "l2" in possible_scalings(sp.csr_array(rows.astype(np.float32)))
        for normalize in ("auto", "standardize", None):
            for cls in (PLT, OneVsRest):
                model = load_model(cls(normalize=normalize).fit(rows, Y).save(tmp_path / "model.npz"))
                proba = model.predict_proba(rows).toarray()
                assert np.isfinite(proba).all() and (0 <= proba).all() and (proba <= 1).all()
    assert (PLT(normalize="standardize").fit(odd, Y).predict_topk(odd, 1).labels[:, 0] == Y.argmax(1)).mean() > 0.8


@pytest.mark.parametrize("model", [PLT(), PLT(n_estimators=2, max_leaf_labels=3), OneVsRest()], ids=str)
@pytest.mark.parametrize("normalize", ["standardize", None, "l2"])
def test_contributions_and_gradients_are_in_units_of_columns(model, normalize):
    X, Y = classes(200, n_columns=6, scale=1.0, mean=1.0)
    model = type(model)(**model.get_params() | {"normalize": normalize, "loss": "logistic", "C": 10.0}).fit(X, Y)
    X, labels = np.vstack([X[:5], np.zeros((1, 6))]).astype(np.float64), np.arange(6)
    found = explain.attributions(model, X, labels)
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), found.total, rtol=1e-9)

    def log_proba(rows, labels):
        total = explain.attributions(model, rows, labels).total
        return -np.logaddexp(0, -total) if isinstance(model, OneVsRest) else total

    of_rows = np.array([model.predict_proba(X).toarray()[i, label] for i, label in enumerate(labels)])
    np.testing.assert_allclose(np.exp(log_proba(X, labels)), of_rows, rtol=1e-4)
    log_p, gradient = model.log_proba_gradient(X, labels)
    np.testing.assert_allclose(log_p, log_proba(X, labels), rtol=1e-6)
    X = np.round(X * 256) / 256  # so that steps are exact in float32
    gradient = model.log_proba_gradient(X, labels)[1].toarray()
    assert gradient[5].any() == (normalize != "l2")  # whether a row of zeros has a direction
    X, labels, gradient = (part[: 6 if gradient[5].any() else 5] for part in (X, labels, gradient))
    for j in range(6):
        step = np.eye(6)[j] / 128
        slope = (log_proba(X + step, labels) - log_proba(X - step, labels)) * 64
        np.testing.assert_allclose(gradient[:, j], slope, rtol=0.02, atol=0.02 * np.abs(gradient).max())


def test_only_rows_of_length_1_are_certified():
    X, Y = classes(200)
    with pytest.raises(ValueError, match="normalize='standardize': only models of rows of length 1 can be certified"):
        certified_radius(PLT().fit(X, Y), X)
