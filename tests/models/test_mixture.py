"""Mixture: weights from held-out rows, members trained on all rows, scores that are sums of the members' parts."""

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT, LdSM, Mixture, NearestRows, OneVsRest, explain, load_model
from xmlcore.datasets import make_synthetic
from xmlcore.metrics.statistics import beta_curve
from xmlcore.models.mixture.weighing import END, Candidates, calibrated
from xmlcore.models.rules import decided_scores
from xmlcore.ranking import Ranking

MEMBERS = (PLT(C=1.0, normalize="l2"), NearestRows(10), LdSM(n_estimators=3, max_nodes=15))


class Useless:
    """A model of a user's own that always predicts the last label."""

    def fit(self, X, Y):
        self.n_labels = Y.shape[1]
        return self

    def predict_proba(self, X):
        return np.tile(np.eye(self.n_labels)[-1] / 2, (X.shape[0], 1))


@pytest.fixture(scope="module")
def data():
    return make_synthetic(n_train=400, n_test=80, n_features=120, n_labels=12, random_state=1)


@pytest.fixture(scope="module")
def fitted(data):
    return Mixture([*MEMBERS]).fit(data.X_train, data.Y_train)


def test_candidates_are_those_that_a_member_ranks():
    one = Ranking(np.array([[2, 0], [1, -1]]), np.array([[0.9, 0.5], [0.7, 0.0]]))
    other = Ranking(np.array([[0, 3], [3, 2]]), np.array([[0.4, 0.0], [0.3, 0.2]]))
    found = Candidates.of([one, other], 4)
    assert found.ptr.tolist() == [0, 2, 5] and found.labels.tolist() == [0, 2, 1, 2, 3]
    assert found.scores.tolist() == [[0.5, 0.4], [0.9, 0], [0.7, 0], [0, 0.2], [0, 0.3]]


def test_curves_make_probabilities_of_scores():
    rng = np.random.default_rng(0)
    scores = rng.random(20_000)
    right = (rng.random(scores.size) < scores**2).astype(float)
    p = calibrated(scores[:, None], beta_curve(scores, right, 1.0, END)[None])[:, 0]
    assert np.abs(p - scores**2).max() < 0.05 and calibrated(np.zeros((1, 1)), np.ones((1, 3)))[0, 0] == 0


def test_a_useless_member_gets_no_weight_and_is_left_out(data):
    model = Mixture([MEMBERS[0], Useless()]).fit(data.X_train, data.Y_train)
    assert model.part_names_ == ["PLT"] and len(model.members_) == 1 and model.weights_.tolist() == [[1.0]]
    assert model.chosen_.set_index("member").loc["Useless", "weight"] == 0


def test_members_are_trained_on_all_rows_with_their_settings(data):
    model = Mixture([PLT(), NearestRows(10)]).fit(data.X_train, data.Y_train)
    members = dict(zip(model.part_names_, model.members_))
    assert {member.n_rows_seen_ for member in model.members_} == {data.n_train}
    assert "PLT" not in members or members["PLT"].C != "auto"


def test_fitted_models_are_mixed_without_training_them_again(data):
    models = [type(one)(**one.get_params()).fit(data.X_train, data.Y_train) for one in MEMBERS]
    model = Mixture.of(models, data.X_train, data.Y_train)
    assert all(any(member is one for one in models) for member in model.members_)
    assert model.weights_.sum() == pytest.approx(len(model.weights_)) and len(model.chosen_) == len(models)
    with pytest.raises(ValueError, match="other rows"):
        Mixture.of(models, data.X_train[:300], data.Y_train[:300])
    with pytest.raises(ValueError, match="other rows"):  # with the same labels
        Mixture.of(models, *(sp.vstack([part, part[:1] * 0]) for part in (data.X_train, data.Y_train)))
    with pytest.raises(TypeError, match="no model of xmlcore"):
        Mixture.of([Useless()], data.X_train, data.Y_train)


def test_names_of_labels_are_those_of_fitted_models():
    X, Y = [[1.0, 0.0], [0.0, 1.0]] * 10, [["a"], ["b"]] * 10
    ones = [model.fit(X, Y, label_names=["b", "a"]) for model in (PLT(), NearestRows(1))]
    model = Mixture.of(ones, X, Y)
    assert model.label_names_ == ["b", "a"] and model.predict_topk([[1.0, 0.0]], 1, labels=["a"]).labels == [[1]]
    with pytest.raises(ValueError, match="different names"):
        Mixture.of([ones[0], NearestRows(1).fit(X, Y)], X, Y)


def test_members_propose_labels_that_are_allowed(data):
    model = Mixture([PLT(C=1.0, normalize="l2")], n_candidates=2).fit(data.X_train, data.Y_train)
    found, alone = (one.predict_topk(data.X_test, 2, labels=[3, 9]) for one in (model, model.members_[0]))
    np.testing.assert_array_equal(found.labels, alone.labels)
    assert np.all(found.scores > 0)
    x, (label, other) = data.X_test[:1], found.labels[0]
    values = explain.label_values(model, x, [label, other], allowed=[3, 9])
    np.testing.assert_allclose(values, found.scores[0])
    totals = [explain.contributions(model, x, j, allowed=[3, 9]).attrs["total"] for j in (label, other)]
    np.testing.assert_allclose(totals, values, rtol=1e-6)
    model.threshold_ = float(values.min())
    assert decided_scores(model, x, allowed=np.isin(np.arange(data.n_labels), [3, 9])).nnz == 2


def test_a_mixture_of_one_ranks_as_its_member(data):
    one = Mixture([PLT(C=1.0, normalize="l2")]).fit(data.X_train, data.Y_train)
    alone = PLT(C=1.0, normalize="l2").fit(data.X_train, data.Y_train)
    np.testing.assert_array_equal(one.predict_topk(data.X_test).labels, alone.predict_topk(data.X_test).labels)


def test_it_is_no_worse_than_its_members(data, fitted):
    scores = [type(one)(**one.get_params()).fit(data.X_train, data.Y_train).score(data.X_test, data.Y_test)
              for one in MEMBERS]  # fmt: skip
    assert fitted.score(data.X_test, data.Y_test) >= max(scores) - 0.04


def test_equal_members_have_names_of_their_own(data):
    model = Mixture([PLT(C=0.1), PLT(C=10.0)]).fit(data.X_train, data.Y_train)
    assert model.chosen_["member"].tolist() == ["PLT 1", "PLT 2"]


def test_few_rows_give_all_members_the_same_weight():
    model = Mixture([OneVsRest(), NearestRows()]).fit([[1, 0], [0, 1]], [[0], [1]])
    assert model.weights_.tolist() == [[0.5, 0.5]]


def test_a_loaded_mixture_has_the_table_of_its_members(fitted, tmp_path):
    assert load_model(fitted.save(tmp_path / "m")).chosen_.equals(fitted.chosen_)


def test_members_that_are_not_ours_cannot_be_saved(data, tmp_path):
    model = Mixture([Useless()]).fit(data.X_train, data.Y_train)
    with pytest.raises(TypeError, match="Useless"):
        model.save(tmp_path / "m")


@pytest.mark.parametrize("members", [[], PLT(), [PLT], [object()]])
def test_members_must_be_models(data, members):
    with pytest.raises(TypeError, match="members"):
        Mixture(members).fit(data.X_train, data.Y_train)


@pytest.mark.parametrize("which", ["mixture", "neighbours"])
def test_contributions_of_parts_add_up_to_the_score(data, fitted, which):
    model = fitted if which == "mixture" else NearestRows(10).fit(data.X_train, data.Y_train)
    ranking, x = model.predict_topk(data.X_test[:1], 2), data.X_test[[0]]
    frame = explain.contributions(model, x, int(ranking.labels[0, 0]))
    assert frame.attrs["kind"] == ("part" if which == "mixture" else "votes") and not explain.explains_features(model)
    assert frame["contribution"].sum() == pytest.approx(ranking.scores[0, 0], abs=1e-6)
    assert set(frame["name"]) <= set((fitted if which == "mixture" else model).part_names_)
    both = explain.contrast(model, x, *map(int, ranking.labels[0]))
    assert both.attrs["total"] == pytest.approx(ranking.scores[0, 0] - ranking.scores[0, 1], abs=1e-6)
