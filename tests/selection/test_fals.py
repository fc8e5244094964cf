"""FALS trains what it says, scores what the paper's formulas say in every order, and keeps the house's promises."""

import pickle

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from xmlcore import FALS, load_model
from xmlcore.models import ModelFormatError
from xmlcore.progress import Cancelled, silent
from xmlcore.selection import _network, _scoring
from xmlcore.selection._network import Network, Settings, Training, Workers, first_weights, layer_sizes
from xmlcore.selection.attribution import attributions
from xmlcore.selection.fals import best
from xmlcore.validation import csr_parts


def problem(n=60, d=12, n_labels=5, density=0.3, seed=0):
    """Rows of which feature c speaks for label c."""
    random = np.random.default_rng(seed)
    X = (random.random((n, d)) < density) * (0.5 + random.random((n, d)))
    Y = X[:, :n_labels] + 0.1 * random.random((n, n_labels)) > 0.6
    Y[0, 0] = True
    return sp.csr_array(X.astype(np.float32)), sp.csr_array(Y)


def random_network(sizes, activation="relu", seed=0, dtype=np.float32):
    weights, biases = first_weights(sizes, seed, dtype)
    return Network(tuple(3 * weight for weight in weights), tuple(biases), activation)


def task_of(network, X, method="gradient", fisher=False, seed=0):
    return _scoring.Task(network, X, method, fisher, Workers(2), silent, seed)


def joined(blocks):
    blocks = list(blocks)
    assert [block.labels.start for block in blocks[1:]] == [block.labels.stop for block in blocks[:-1]]
    return np.concatenate([block.scores for block in blocks])


# Training -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_layers", [1, 2, 3, 5])
@pytest.mark.parametrize("activation, l2", [("relu", 0.0), ("sigmoid", 0.1)])
def test_gradients_are_those_of_finite_differences(n_layers, activation, l2, monkeypatch):
    X, Y = problem(n=9, d=6, n_labels=3)
    sizes = layer_sizes(6, 3, n_layers)
    settings = Settings(activation, 1, 9, 1e-3, l2, 0.0, 0)
    for dense in (0.0, 2.0):
        monkeypatch.setattr(_network, "DENSE", dense)
        with Workers(2) as workers:
            training = Training(csr_parts(X), csr_parts(Y)[:2], sizes, settings, workers, np.float64)
            start = [array.copy() for array in (*training.weights, *training.biases)]
            training.one_step(np.arange(9))
        rows, labels = X.toarray().astype(np.float64), Y.toarray()
        for number, mean in enumerate(training.mean):
            for place in list(np.ndindex(mean.shape))[:: max(1, mean.size // 6)]:
                moved = [array.copy() for array in start]
                values = []
                for step in (1e-6, -1e-6):
                    moved[number][place] = start[number][place] + step
                    values.append(
                        naive.fals.perceptron_loss(rows, labels, moved[:n_layers], moved[n_layers:], activation, l2)
                    )
                wanted = (values[0] - values[1]) / 2e-6
                found = mean[place] / 0.1  # the first mean is a tenth of the gradient
                assert found == pytest.approx(wanted, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("sizes, settings", [
    ([12, 8, 5], Settings("relu", 3, 16, 1e-2, 0.0, 0.0, 0)),
    ([12, 8, 7, 5], Settings("sigmoid", 3, 16, 1e-2, 0.05, 0.3, 1)),
    ([12, 5], Settings("relu", 3, 16, 1e-2, 0.0, 0.0, 2)),
])  # fmt: skip
def test_sparse_rows_train_as_dense_ones_and_slices_change_nothing(sizes, settings, monkeypatch):
    X, Y = problem()
    found = []
    for dense, work, threads in ((0.0, 4e6, 1), (2.0, 4e6, 1), (2.0, 1.0, 3)):
        monkeypatch.setattr(_network, "DENSE", dense)
        monkeypatch.setattr(_network, "SLICE_WORK", work)
        with Workers(threads) as workers:
            found.append(Training(csr_parts(X), csr_parts(Y)[:2], sizes, settings, workers, np.float64).run())
    for other in found[1:]:
        for a, b in zip((*found[0].weights, *found[0].biases), (*other.weights, *other.biases)):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_the_network_learns_what_there_is_to_learn():
    X, Y = problem(n=600)
    model = FALS(n_epochs=30, learning_rate=0.01, batch_size=32, random_state=1).fit(X, Y)
    assert (model.predict(X).toarray() == Y.toarray()).mean() > 0.95
    assert [int(label[0]) for label in model.selected_] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n_layers, sizes", [(1, [16, 4]), (2, [16, 8, 4]), (4, [16, 11, 8, 6, 4])])
def test_hidden_layers_are_a_geometric_series(n_layers, sizes):
    assert layer_sizes(16, 4, n_layers) == sizes
    assert layer_sizes(16, 4, 3, 10) == [16, 10, 10, 4]


# Scores ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["FALS", "FAMS", "FILS", "FIMS"])
@pytest.mark.parametrize("activation, n_layers", [("relu", 2), ("sigmoid", 2), ("relu", 3), ("relu", 1)])
def test_scores_are_those_of_the_formulas(pattern, activation, n_layers):
    X, Y = problem(n=25, d=7, n_labels=3)
    model = FALS(3, pattern, n_epochs=3, activation=activation, n_layers=n_layers, scoring="exact").fit(X, Y)
    network = model.network_
    expected = naive.fals.fals_scores(
        X.toarray().tolist(), [w.tolist() for w in network.weights], [b.tolist() for b in network.biases], activation,
        pattern,
    )  # fmt: skip
    np.testing.assert_allclose(model.scores_, expected, rtol=2e-4)
    assert model.scoring_ == "exact" and model.n_scored_ == 25
    for label in range(3):
        own = model.scores_[label if pattern in ("FALS", "FILS") else 0]
        assert model.selected_[label].tolist() == np.argsort(-own, kind="stable")[:3].tolist()
        np.testing.assert_array_equal(model.selected_scores_[label], own[model.selected_[label]])


@pytest.mark.parametrize("fisher", [False, True])
@pytest.mark.parametrize("activation", ["relu", "sigmoid"])
def test_the_cheaper_orders_give_the_direct_scores(fisher, activation):
    X, _ = problem(n=700, d=40)
    network = random_network([40, 23, 9], activation)
    task = task_of(network, X, fisher=fisher)
    slopes = _scoring.slopes(task)
    direct = joined(_scoring.direct_order(task, slopes))
    np.testing.assert_allclose(joined(_scoring.expanded_order(task, slopes[0])), direct, rtol=1e-4)
    if activation == "relu":
        found = _scoring.find_references(slopes[0], 0)
        assert len(found.reference) == 7 and 0 < found.share < 0.5
        np.testing.assert_allclose(joined(_scoring.reference_order(task, found)), direct, rtol=1e-4)


def test_every_order_is_taken_where_it_is_cheapest():
    X, Y = problem()
    wide = sp.csr_array(np.tile(X.toarray(), (4, 6)))
    assert FALS(n_hidden=4, n_epochs=1).fit(wide, sp.csr_array(np.tile(Y.toarray(), (4, 1)))).order_ == "expanded"
    model = FALS(n_hidden=300, n_epochs=1).fit(wide, sp.csr_array(np.tile(Y.toarray(), (4, 1))))
    assert model.order_ == "reference" == min(model.costs_.keys() - {"drawn rows"}, key=model.costs_.get)
    assert FALS(n_layers=3, n_epochs=1).fit(X, Y).order_ == "direct"
    assert FALS(n_layers=1, n_epochs=1).fit(X, Y).order_ == "closed form"


@pytest.mark.parametrize("sizes, activation", [([12, 9, 5], "relu"), ([12, 9, 5], "sigmoid"), ([12, 9, 7, 5], "relu")])
@pytest.mark.parametrize("fisher", [False, True])
def test_sampled_scores_are_within_their_standard_errors(sizes, activation, fisher):
    X, _ = problem(n=400)
    network = random_network(sizes, activation)
    exact = joined(_scoring.direct_order(task_of(network, X, fisher=fisher), _scoring.slopes(task_of(network, X))))
    off, errors = [], []
    for seed in range(30):
        (block,) = _scoring.sampled_order(task_of(network, X, fisher=fisher, seed=seed), 60)
        off.append(block.scores - exact)
        errors.append(block.error)
    within = 5 * np.sqrt(np.mean(np.square(errors), axis=0) / 30) + 1e-5 * exact  # of float32
    assert (np.abs(np.mean(off, axis=0)) < within).all()  # the estimate is right on average
    assert 0.8 < np.std(np.divide(off, errors)) < 1.3  # and as far off as it says
    (more,) = _scoring.sampled_order(task_of(network, X, fisher=fisher), 60 * 25)
    assert more.error.mean() == pytest.approx(np.mean(errors) / 5, rel=0.1)
    assert np.abs(more.scores - exact).mean() < np.mean(errors) / 3


@pytest.mark.parametrize("method", ["integrated_gradients", "deeplift", "lrp"])
def test_sampled_rows_of_other_attributions_carry_their_error(method):
    X, _ = problem(n=300)
    network = random_network([12, 9, 5])
    exact = joined(_scoring.present_order(task_of(network, X, method), None))
    z = []
    for seed in range(12):
        rows = np.random.default_rng(seed).choice(300, 100, replace=False)
        (block,) = _scoring.present_order(task_of(network, X, method), rows)
        z.append(((block.scores - exact) / np.maximum(block.error, 1e-12))[exact > 0])
    assert abs(np.mean(z)) < 0.4 and 0.7 < np.std(z) < 1.5
    (whole,) = _scoring.present_order(task_of(network, X, method), np.arange(300))
    np.testing.assert_allclose(whole.scores, exact, rtol=1e-6)
    assert not whole.error.any()


@pytest.mark.parametrize("method", ["integrated_gradients", "deeplift", "lrp"])
def test_errors_of_a_sum_over_labels_know_that_labels_share_the_rows(method, monkeypatch):
    X, _ = problem(n=300)
    network = random_network([12, 9, 5])
    whole = joined(_scoring.present_order(task_of(network, X, method), None))
    (together,) = _scoring.present_order(task_of(network, X, method), None, shared=True)
    np.testing.assert_allclose(together.scores[0], whole.sum(axis=0), rtol=1e-5)
    assert together.error is None and together.labels == slice(0, 5)
    monkeypatch.setattr(_scoring, "MEMORY", 48 * 12 * 2)  # two labels at a time
    z = []
    for seed in range(12):
        rows = np.random.default_rng(seed).choice(300, 100, replace=False)
        (block,) = _scoring.present_order(task_of(network, X, method), rows, shared=True)
        z.append(((block.scores - together.scores) / np.maximum(block.error, 1e-12))[together.scores > 0])
    assert abs(np.mean(z)) < 0.5 and 0.7 < np.std(z) < 1.5


def test_many_drawn_rows_in_parts_are_as_all_at_once(monkeypatch):
    X, _ = problem(n=400)
    network = random_network([12, 9, 5])
    (whole,) = _scoring.sampled_order(task_of(network, X), 90)
    monkeypatch.setattr(_scoring, "rows_at_once", lambda n_features: 16)
    (parts,) = _scoring.sampled_order(task_of(network, X), 90)
    np.testing.assert_allclose(parts.scores, whole.scores, rtol=1e-5)
    np.testing.assert_allclose(parts.error, whole.error, rtol=1e-4)


@pytest.mark.parametrize("method", ["integrated_gradients", "deeplift", "lrp"])
@pytest.mark.parametrize("sizes", [[12, 9, 5], [12, 8, 7, 5], [12, 5]])
def test_scores_of_other_attributions_are_means_of_their_squares(method, sizes):
    X, _ = problem(n=30)
    X = sp.csr_array(sp.vstack([X, sp.csr_array((1, 12), dtype=np.float32)]))  # a row without features
    network = random_network(sizes)
    expected = np.square(attributions(network, X, method)).mean(axis=0)
    found = joined(_scoring.present_order(task_of(network, X, method), None))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-9)


def test_blocks_of_labels_features_and_rows_change_nothing(monkeypatch):
    X, _ = problem(n=700, d=300, n_labels=5)
    network = random_network([300, 11, 9])

    def all_orders():
        task = task_of(network, X)
        slopes = _scoring.slopes(task)
        sampled = list(_scoring.sampled_order(task, 8))
        return [
            joined(_scoring.direct_order(task, slopes)),
            joined(_scoring.expanded_order(task, slopes[0])),
            joined(_scoring.reference_order(task, _scoring.find_references(slopes[0], 0))),
            joined(_scoring.present_order(task._replace(method="deeplift"), None)),
            np.concatenate([block.error for block in sampled]),
            joined(sampled),
        ]

    whole = all_orders()
    monkeypatch.setattr(_scoring, "MEMORY", 30_000)
    monkeypatch.setattr(_scoring, "CELLS", 300)
    monkeypatch.setattr(_scoring, "WIDEST", 2)
    monkeypatch.setattr(_scoring, "ENTRIES", 5_000)
    for a, b in zip(whole, all_orders()):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-9)


def test_scores_beyond_the_limit_are_not_kept_but_the_selection_is_the_same():
    X, Y = problem()
    whole = FALS(4).fit(X, Y)
    less = FALS(4, max_score_bytes=100).fit(X, Y)
    np.testing.assert_array_equal(less.selected_, whole.selected_)
    np.testing.assert_array_equal(less.selected_scores_, whole.selected_scores_)
    assert not hasattr(less, "scores_")
    with pytest.raises(AttributeError, match="240 bytes, more than max_score_bytes"):
        _ = less.scores_
    assert less.top_features(2, 9)["feature"].tolist() == whole.selected_[2].tolist()
    assert len(whole.top_features(2, 9)) == 9
    assert hasattr(FALS(4, "FAMS", max_score_bytes=100).fit(X, Y), "scores_")  # one row of 48 bytes


def test_best_features_are_those_of_a_full_sort():
    scores = np.array([3, 1, 3, 0, 3, 2], np.float32)
    assert [best(scores, k).tolist() for k in (1, 2, 4, 6)] == [[0], [0, 2], [0, 2, 4, 5], [0, 2, 4, 5, 1, 3]]


# Attributions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [[12, 9, 5], [12, 8, 7, 5], [12, 5]])
def test_each_attribution_keeps_its_axiom(sizes):
    X, _ = problem(n=6)
    X = X.astype(np.float64)
    for activation in ("relu", "sigmoid"):
        network = random_network(sizes, activation, dtype=np.float64)
        rise = network.outputs(X) - network.outputs(np.zeros((1, 12)))
        complete = attributions(network, X, "integrated_gradients", n_steps=4000).sum(axis=2)
        np.testing.assert_allclose(complete, rise, atol=2e-3)
        np.testing.assert_allclose(attributions(network, X, "deeplift").sum(axis=2), rise, atol=1e-9)


@pytest.mark.parametrize("activation", ["relu", "sigmoid"])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-20])
def test_small_differences_from_the_baseline_keep_their_digits(activation, scale):
    X, _ = problem(n=20)
    exact, rounded = (random_network([12, 9, 7, 5], activation, dtype=kind) for kind in (np.float64, np.float32))
    exact = exact._replace(weights=tuple(w.astype(np.float64) for w in rounded.weights),
                           biases=tuple(b.astype(np.float64) for b in rounded.biases))  # fmt: skip
    wanted = attributions(exact, X.astype(np.float64) * scale, "deeplift")
    found = attributions(rounded, X * np.float32(scale), "deeplift")
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=2e-5 * np.abs(wanted).max())
    assert np.abs(wanted).max() > 0


def test_outputs_near_1_have_gradients():
    network = Network((np.full((2, 1), 20, np.float32),), (np.zeros(1, np.float32),), "relu")
    X = sp.csr_array(np.array([[1, 0.5]], np.float32))  # f differs from 1 by e^-30
    (block,) = _scoring.closed_form(task_of(network, X))
    np.testing.assert_allclose(block.scores, (np.exp(-30) * 20) ** 2, rtol=1e-5)


@pytest.mark.parametrize("sizes", [[12, 9, 5], [12, 8, 7, 5]])
def test_relevance_is_conserved_where_something_comes_along_positive_weights(sizes):
    X, _ = problem(n=6)
    weights, biases = first_weights(sizes, 0, np.float64)
    for weight in weights:
        weight += 0.3  # so that each active unit has positive input
    network = Network(tuple(3 * weight for weight in weights), tuple(0 * bias for bias in biases), "relu")
    relevance = attributions(network, X.astype(np.float64), "lrp")
    np.testing.assert_allclose(relevance.sum(axis=2), network.outputs(X.astype(np.float64)), rtol=1e-4)
    assert (relevance >= 0).all()


def test_gradients_of_rows_are_those_of_finite_differences():
    X, _ = problem(n=4)
    for sizes, activation in (([12, 9, 5], "relu"), ([12, 9, 8, 5], "sigmoid")):
        network = random_network(sizes, activation, dtype=np.float64)
        rows = X.toarray().astype(np.float64)
        found = attributions(network, rows, "gradient")
        for d in range(12):
            step = np.zeros(12)
            step[d] = 1e-6
            wanted = (network.outputs(rows + step) - network.outputs(rows - step)) / 2e-6
            np.testing.assert_allclose(found[:, :, d], wanted, rtol=1e-5, atol=1e-8)


def test_fisher_information_is_the_squared_gradient_over_the_variance():
    """Equation 10, from the definition of Fisher information, equation 8."""
    X, _ = problem(n=5)
    network = random_network([12, 9, 5], dtype=np.float64)
    rows = X.toarray().astype(np.float64)
    f, squares = network.outputs(rows), attributions(network, rows) ** 2
    for d in range(12):
        step = np.zeros(12)
        step[d] = 1e-6
        up, down = network.outputs(rows + step), network.outputs(rows - step)
        if_one = (np.log(up) - np.log(down)) / 2e-6
        if_none = (np.log(1 - up) - np.log(1 - down)) / 2e-6
        information = f * if_one**2 + (1 - f) * if_none**2
        np.testing.assert_allclose(information, squares[:, :, d] / (f * (1 - f)), rtol=1e-5, atol=1e-10)


def test_label_specific_selections_hold_at_least_the_information_of_a_shared_one():
    """Inequality 11, for the means over rows: both sides in Fisher information and in squared gradients."""
    X, Y = problem(n=200)
    for own, together in (("FILS", "FIMS"), ("FALS", "FAMS")):
        specific, shared = (FALS(3, pattern, n_epochs=2).fit(X, Y) for pattern in (own, together))
        np.testing.assert_allclose(shared.scores_[0], specific.scores_.sum(axis=0), rtol=1e-5)
        assert specific.selected_scores_.sum() >= shared.selected_scores_[0].sum()


# The estimator --------------------------------------------------------------------------------------------------------

VARIANTS = [
    {},
    {"pattern": "FIMS"},
    {"n_layers": 3, "activation": "sigmoid"},
    {"n_layers": 1},
    {"binary": True},
    {"binary": True, "dropout": 0.2, "l2": 0.01, "attribution": "deeplift"},
    {"scoring": "sampled", "dropout": 0.3},
    {"attribution": "lrp", "scoring": "sampled", "n_scored_rows": 20},
    {"attribution": "integrated_gradients", "l2": 0.01},
]


@pytest.mark.parametrize("params", VARIANTS, ids=str)
def test_the_same_seed_gives_the_same_selection_whatever_the_threads(params, monkeypatch):
    X, Y = problem()
    monkeypatch.setattr(_network, "SLICE_WORK", 100.0)
    first = FALS(4, n_epochs=3, random_state=3, n_jobs=1, **params).fit(X, Y)
    again = FALS(4, n_epochs=3, random_state=3, n_jobs=3, **params).fit(X, Y)
    other = FALS(4, n_epochs=3, random_state=4, n_jobs=3, **params).fit(X, Y)
    np.testing.assert_array_equal(first.scores_, again.scores_)
    np.testing.assert_array_equal(first.selected_, again.selected_)
    assert (first.scores_ != other.scores_).any()


@pytest.mark.parametrize("params", [*VARIANTS, {"max_score_bytes": 10}, {"keep_network": False}], ids=str)
def test_a_saved_selection_comes_back_whole(params, tmp_path):
    X, Y = problem()
    model = FALS(4, n_epochs=2, **params).fit(X, Y)
    back = load_model(model.save(tmp_path / "fals"))
    assert repr(back) == repr(model)
    fitted = {name for name in vars(model) if name.endswith("_") and name != "network_"}
    assert {name for name in vars(back) if name.endswith("_") and name != "network_"} == fitted
    for name in fitted:
        np.testing.assert_array_equal(getattr(back, name), getattr(model, name), err_msg=name)
    if model.network_ is None:
        with pytest.raises(ValueError, match="keep_network=True"):
            back.predict_proba(X)
    else:
        np.testing.assert_array_equal(back.predict_proba(X).toarray(), model.predict_proba(X).toarray())
        np.testing.assert_array_equal(back.attributions(X[:2]), model.attributions(X[:2]))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).selected_, model.selected_)


def test_a_pattern_changed_after_fitting_does_not_change_what_is_saved(tmp_path):
    X, Y = problem()
    for first, then in (("FALS", "FAMS"), ("FAMS", "FALS")):
        for kept in (0, 1 << 20):
            model = FALS(4, first, n_epochs=1, max_score_bytes=kept).fit(X, Y).set_params(pattern=then)
            back = load_model(model.save(tmp_path / f"{first} {kept}"))
            np.testing.assert_array_equal(back.selected_, model.selected_)
    with pytest.raises(AttributeError, match="all labels together take 48 bytes"):
        _ = FALS(4, "FAMS", n_epochs=1, max_score_bytes=0).fit(X, Y).scores_


def test_damaged_files_are_refused(tmp_path):
    X, Y = problem()
    model = FALS(4, n_epochs=1).fit(X, Y)
    for name, value in (
        ("selected_", model.selected_ + 20), ("scores_", model.scores_[:, 1:]), ("selected_", model.selected_ * 0),
        ("scores_", model.scores_ * np.float32(np.nan)), ("order_", "none"), ("scoring_", "auto"), ("costs_", [1]),
        ("layer_sizes_", []), ("layer_sizes_", "x"), ("layer_sizes_", [11, 8, 5]), ("n_scored_", 0), ("shared_", 2),
        ("n_rows_", None), ("seed_", -1),
    ):  # fmt: skip
        bad = FALS(4, n_epochs=1).fit(X, Y)
        setattr(bad, name, value)
        with pytest.raises(ModelFormatError):
            load_model(bad.save(tmp_path / name))


def test_binary_networks_are_of_one_label_each():
    X, Y = problem()
    model = FALS(4, n_epochs=3, binary=True, n_hidden=6).fit(X, Y)
    assert model.layer_sizes_ == [12, 6, 1] and model.network_.weights[0].shape == (5, 12, 6)
    fewer = FALS(4, n_epochs=3, binary=True, n_hidden=6).fit(X, Y[:, :2])
    np.testing.assert_array_equal(fewer.scores_, model.scores_[:2])  # no label knows of another
    into, out_of = model.network_.weights
    bias, last = model.network_.biases
    weights, biases = [into[3].tolist(), out_of[3].tolist()], [bias[3].tolist(), [float(last[3])]]
    expected = naive.fals.fals_scores(X.toarray().tolist(), weights, biases, "relu", "FALS")
    np.testing.assert_allclose(model.scores_[3], expected[0], rtol=1e-4)


def test_fitting_stops_where_progress_raises_and_leaves_the_model_as_it_was():
    X, Y = problem(n=300)
    model = FALS(4, n_epochs=2).fit(X, Y)
    before = dict(vars(model))
    seen = []
    model.fit(X, Y, progress=lambda phase, fraction, detail="": seen.append((phase, fraction)))
    phases = list(dict.fromkeys(phase for phase, _ in seen))
    assert phases == ["Training the network", "Comparing rows", "Scoring features"]
    assert all(0 <= fraction <= 1 for _, fraction in seen)
    kept = vars(model)["selected_"]
    for wanted in phases:

        def stop(phase, fraction, detail="", wanted=wanted):
            if phase == wanted:
                raise Cancelled

        model.set_params(n_features=7)
        with pytest.raises(Cancelled):
            model.fit(X, Y, progress=stop)
        assert vars(model)["selected_"] is kept and model.n_selected_ == 4
    np.testing.assert_array_equal(kept, before["selected_"])


@pytest.mark.parametrize("params, message", [
    ({"n_features": 0}, "n_features must be at least 1"),
    ({"n_features": 13}, "n_features is 13, but X has 12 features"),
    ({"n_features": 1.5}, r"in \(0, 1\]"),
    ({"n_features": True}, "a count or a share"),
    ({"pattern": "fals"}, "pattern must be one of 'FALS'"),
    ({"attribution": "ig"}, "attribution must be one of"),
    ({"pattern": "FILS", "attribution": "lrp"}, "Fisher information"),
    ({"n_layers": 6}, "n_layers must be from 1 to 5"),
    ({"n_layers": 1, "n_hidden": 4}, "no hidden layer"),
    ({"binary": True, "n_layers": 3}, "binary=True is for n_layers=2"),
    ({"binary": True, "scoring": "sampled"}, "not for it"),
    ({"dropout": 1.0}, r"dropout must be in \[0, 1\)"),
    ({"l2": -1}, "l2 must be at least 0"),
    ({"learning_rate": "fast"}, "learning_rate must be a number"),
    ({"n_scored_rows": 1}, "n_scored_rows must be at least 2"),
    ({"n_scored_rows": 61, "scoring": "sampled"}, "X has 60 rows: scoring='exact' takes all"),
    ({"learning_rate": 1e30}, "diverged"),
    ({"l2": 1e39}, "diverged"),
    ({"random_state": -1}, "random_state must be from 0"),
    ({"scoring": "fast"}, "scoring must be one of"),
    ({"keep_network": 1}, "True or False"),
])  # fmt: skip
def test_bad_parameters_are_named(params, message):
    X, Y = problem()
    with pytest.raises((ValueError, TypeError), match=message):
        FALS(**params).fit(X, Y)


def test_bad_data_are_named():
    X, Y = problem()
    with pytest.raises(ValueError, match="nothing to learn"):
        FALS().fit(X, sp.csr_array(Y.shape, dtype=bool))
    with pytest.raises(ValueError, match="59 rows"):
        FALS().fit(X, Y[:59])
    bad = X.toarray()
    bad[3, 4] = np.nan
    with pytest.raises(ValueError, match="row 3, column 4"):
        FALS().fit(bad, Y)
    with pytest.raises(NotFittedError):
        FALS().top_features(0)
    model = FALS(n_epochs=1).fit(X, Y)
    with pytest.raises(ValueError, match="label must be from 0 to 4"):
        model.top_features(5)
    with pytest.raises(ValueError, match="3 feature names"):
        model.top_features(0, feature_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="11 features"):
        model.predict_proba(X[:, :11])


def test_features_in_other_units_and_networks_without_gradients_are_told_of():
    X, Y = problem(n=200)
    year = sp.csr_array(sp.hstack([X, sp.csr_array(np.full((200, 1), 2000, np.float32))]))
    with pytest.warns(UserWarning, match="feature 12 has values up to 2,000, the median feature up to 1"):
        FALS(2).fit(year, Y)
    with pytest.raises(ValueError, match="scores of all features are 0 for all labels"):
        FALS(2).fit(year * np.float32(1e9), Y)
    with pytest.warns(UserWarning, match="5 of 5 labels, label 0 first, have fewer than 12 features"):
        FALS(12, attribution="lrp").fit(X.multiply(np.arange(12) < 9).tocsr(), Y)


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.uint32])
def test_a_seed_is_the_same_number_whatever_its_type(kind):
    X, Y = problem()
    for params in ({"scoring": "sampled"}, {"binary": True}):
        a, b = (FALS(3, n_epochs=1, random_state=seed, **params).fit(X, Y) for seed in (kind(200), 200))
        np.testing.assert_array_equal(a.scores_, b.scores_)
    drawn = FALS(3, n_epochs=1, random_state=None).fit(X, Y)
    again = FALS(3, n_epochs=1, random_state=drawn.seed_).fit(X, Y)
    np.testing.assert_array_equal(drawn.scores_, again.scores_)


@pytest.mark.parametrize("params, scoring", [
    ({"scoring": "sampled", "n_scored_rows": 8}, "sampled"), ({"scoring": "exact"}, "exact"), ({}, "exact"),
])  # fmt: skip
def test_what_was_done_is_said(params, scoring):
    X, Y = problem()
    model = FALS(3, n_epochs=1, **params).fit(X, Y)
    assert model.scoring_ == scoring == model.estimate(X, 5)["scoring"]
    assert model.n_scored_ == (8 if scoring == "sampled" else 60)
    frame = model.top_features(1, 4, feature_names=[f"word {i}" for i in range(12)])
    assert list(frame)[:3] == ["feature", "name", "score"] and ("standard_error" in frame) == (scoring == "sampled")
    assert frame["name"][0] == f"word {frame['feature'][0]}"
    if scoring == "exact":
        with pytest.raises(AttributeError, match="the scores are exact"):
            _ = model.standard_error_


def test_scoring_is_sampled_of_itself_where_exact_scores_cost_too_much(monkeypatch):
    X, Y = problem(n=500)
    monkeypatch.setattr("xmlcore.selection.fals.EXACT_UP_TO", 1e3)
    assert FALS(n_hidden=300, n_epochs=1).fit(X, Y).order_ == "drawn rows"
    assert FALS(n_hidden=300, n_epochs=1, scoring="exact").fit(X, Y).scoring_ == "exact"


def test_an_estimate_comes_before_fitting():
    X, Y = problem()
    estimate = FALS().estimate(X, 5)
    assert estimate["order"] in estimate["costs"] and estimate["n_hidden"] == round((12 * 5) ** 0.5)
    assert FALS().estimate((60, 12), 5, nnz=X.nnz)["costs"] == estimate["costs"]
    small, large = FALS().estimate((10**4, 500), 100), FALS().estimate((10**5, 500), 1000)
    assert large["seconds"] > 10 * small["seconds"] and large["bytes"] > small["bytes"]
    huge = FALS().estimate((65_687, 36_865), 2000, nnz=742_000)
    assert huge["scoring"] == "sampled" and 3.8e9 < huge["bytes"] < 8e9
    for params in VARIANTS:
        assert FALS(**params).estimate(X, 5)["seconds"] > 0


def test_estimates_know_weight_decay_draws_and_binary_networks():
    X, Y = problem()
    large = ((10_000, 20_000), 50, 400_000)
    assert FALS(l2=1e-3).estimate(*large)["training_seconds"] > 3 * FALS().estimate(*large)["training_seconds"]
    few, many = (FALS(scoring="sampled", n_scored_rows=n).estimate(*large)["bytes"] for n in (16, 9_000))
    assert few < many < few + (1 << 30)  # drawn rows go through in parts
    for activation in ("relu", "sigmoid"):
        model = FALS(2, binary=True, n_hidden=20, activation=activation, n_epochs=1)
        assert model.estimate(X, 5)["order"] == model.fit(X, Y).order_ == "expanded"
    assert FALS().estimate(X.toarray().tolist(), 5)["costs"] == FALS().estimate(X, 5)["costs"]


@pytest.mark.parametrize("shape, nnz, message", [
    ((60,), None, r"must be \(rows, features\)"), ((60, 10, 3), None, r"must be \(rows, features\)"),
    ((60, 10), -5, "nnz must be from 0 to 600"), ((60, 10), 10**9, "nnz must be from 0 to 600"),
])  # fmt: skip
def test_shapes_that_cannot_be_are_named(shape, nnz, message):
    with pytest.raises(ValueError, match=message):
        FALS().estimate(shape, 4, nnz)


def test_errors_count_among_the_bytes_of_scores():
    X, Y = problem()
    assert hasattr(FALS(4, n_epochs=1, scoring="sampled", max_score_bytes=480).fit(X, Y), "standard_error_")
    with pytest.raises(AttributeError, match="and their standard errors take 480 bytes"):
        _ = FALS(4, n_epochs=1, scoring="sampled", max_score_bytes=479).fit(X, Y).scores_


def test_supports_mark_selected_features():
    X, Y = problem()
    model = FALS(0.25, n_epochs=1).fit(X, Y)
    assert model.n_selected_ == 3 and model.selected_.dtype == np.int32 and model.selected_.shape == (5, 3)
    assert np.flatnonzero(model.support(2)).tolist() == sorted(model.selected_[2].tolist())
    assert np.flatnonzero(model.support()).tolist() == np.unique(model.selected_).tolist()
    assert FALS(0.01, n_epochs=1).fit(X, Y).n_selected_ == 1
    assert FALS(1.0, n_epochs=1).fit(X, Y).n_selected_ == 12


def test_dense_rows_lists_of_labels_and_clones_do():
    X, Y = problem()
    lists = [row.indices.tolist() for row in Y]
    a = FALS(4, n_epochs=1).fit(X.toarray().astype(np.float64), lists)
    b = clone(FALS(4, n_epochs=1)).fit(X, Y)
    np.testing.assert_array_equal(a.selected_, b.selected_)
    top = b.predict_topk(X, 7)
    assert top.labels.shape == (60, 7) and (top.labels[:, 5:] == -1).all()
    proba = b.predict_proba(X).toarray()
    np.testing.assert_array_equal(np.take_along_axis(proba, top.labels[:, :5], axis=1), top.scores[:, :5])


@pytest.mark.real_data
def test_words_selected_for_bibtex_tags_are_about_them(real_data):
    from xmlcore.datasets import read_dataset

    data = read_dataset(real_data / "bibtex" / "train.txt.gz")
    model = FALS(0.02, n_epochs=5, n_hidden=80).fit(data.X_train, data.Y_train)
    sampled = FALS(0.02, n_epochs=5, n_hidden=80, scoring="sampled", n_scored_rows=64).fit(data.X_train, data.Y_train)
    inside = np.mean([np.isin(a, b).mean() for a, b in zip(model.selected_, sampled.selected_)])
    assert inside > 0.9
    carriers = np.asarray(data.Y_train.T.astype(np.float32) @ data.X_train.astype(bool).astype(np.float32).toarray())
    lift = carriers / np.maximum(1, data.X_train.astype(bool).sum(axis=0))
    own = np.mean([lift[c, features[:5]].mean() for c, features in enumerate(model.selected_)])
    assert own > 3 * lift.mean()
