"""PLT chooses the parameters that are "auto" by trials on training rows, and says what it chose."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from contract.test_progress import Recorder
from models.plt.plt_problems import same_scores
from sklearn.metrics import f1_score

from xmlcore import PLT, ExtendedPLT, load_model, metrics
from xmlcore.datasets import make_synthetic, read_dataset
from xmlcore.models.ensembles import ensemble_of_trees, train_tree
from xmlcore.models.plt import choosing
from xmlcore.models.plt.choosing import decide
from xmlcore.models.plt.label_tree import LabelTree
from xmlcore.models.plt.shapes import BINARY, Sizes, possible_shapes, relative_cost
from xmlcore.models.plt.trials import NAMES, RULE, STREAM, Data, rows_of_some_labels
from xmlcore.progress import Cancelled
from xmlcore.robustness import AdversarialTraining

EVERY_AUTO = dict.fromkeys(NAMES, "auto")
PUBLISHED = {"arity": 2, "max_leaf_labels": 100, "loss": "logistic", "C": 10.0, "normalize": "l2"}


@pytest.fixture(scope="module")
def data():
    return make_synthetic(n_train=900, n_test=200, n_features=150, n_labels=60, features_per_row=12, labels_per_row=3)


@pytest.fixture(scope="module")
def many_labels():
    """Rows of one of 300 labels: a sample of the rows has less than three of each."""
    data = make_synthetic(n_train=3000, n_test=10, n_features=300, n_labels=300, features_per_row=15, labels_per_row=1)
    return sp.csr_array(data.X_train), sp.csr_array(data.Y_train)


@pytest.fixture(scope="module")
def fitted(data):
    return PLT(n_jobs=1).fit(data.X_train, data.Y_train)


def same_model(a, b, X):
    return same_scores(a.predict_topk(X, 5), b.predict_topk(X, 5))


def test_chosen_settings_train_the_same_model_without_trials(data, fitted, tmp_path):
    loaded = load_model(fitted.save(tmp_path / "model"))
    assert loaded.settings_ == fitted.settings_ and loaded.chosen_.equals(fitted.chosen_)
    assert set(fitted.settings_) == set(NAMES) and "auto" not in fitted.settings_.values()
    assert {name: getattr(fitted, name) for name in NAMES} == EVERY_AUTO  # fit changes no parameter
    again = PLT(**fitted.settings_).fit(data.X_train, data.Y_train)
    assert same_model(fitted, again, data.X_test)
    assert again.settings_ == fitted.settings_ and again.chosen_.empty
    choice = PLT().choose(data.X_train, data.Y_train)
    assert choice.settings == fitted.settings_ and len(choice.trials) == len(fitted.chosen_)


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_the_choice_depends_on_the_seed_alone(data, n_jobs, monkeypatch):
    expected = PLT(random_state=3, n_jobs=1).fit(data.X_train, data.Y_train)
    monkeypatch.setattr(time, "perf_counter", iter(range(10**6)).__next__)
    other = PLT(random_state=3, n_jobs=n_jobs).fit(data.X_train, data.Y_train)
    assert other.settings_ == expected.settings_
    columns = [name for name in expected.chosen_ if name != "seconds"]
    assert other.chosen_[columns].equals(expected.chosen_[columns])
    assert same_model(other, expected, data.X_test)
    firsts = {PLT(random_state=seed).choose(data.X_train, data.Y_train).trials[0]["P@1"] for seed in range(4)}
    assert len(firsts) > 1  # each seed draws another sample


def test_trials_are_measured_on_other_rows_than_trained_on(data, fitted):
    table = fitted.chosen_
    assert len(table) == 4 and (table["rows"] == 225).all() and (table["seconds"] > 0).all()
    order = np.random.default_rng([0, STREAM]).permutation(900)
    trained, measured = np.sort(order[:225]), np.sort(order[225:])
    for line in table.to_dict("records"):
        settings = {name: line[name] for name in NAMES}
        model = PLT(**settings).fit(data.X_train[trained], data.Y_train[trained])
        ranking = model.predict_topk(data.X_train[measured], 5)
        expected = metrics.precision_at_k(data.Y_train[measured], ranking, 5)[[0, 2, 4]]
        np.testing.assert_allclose([line["P@1"], line["P@3"], line["P@5"]], expected, rtol=1e-12)
    ratios = table[["P@1", "P@3", "P@5"]] / table[["P@1", "P@3", "P@5"]].iloc[0]
    np.testing.assert_allclose(table["score"], ratios.mean(axis=1))


def test_with_levels_trials_have_all_rows_of_some_labels(many_labels):
    X, Y = many_labels
    model = PLT(arity=4, max_leaf_labels=20).fit(X, Y)
    few = model.chosen_[model.chosen_["labels"] < 300]
    assert len(few) == len(model.chosen_) - 1 == 6  # three values of C for each scaling; one trial is for the cut
    part = rows_of_some_labels(Data(X, Y, None, None), 1500, [0, STREAM, 1])
    assert part.Y.shape[1] == few["labels"].iloc[0] and part.Y.nnz == part.X.shape[0]
    order = np.random.default_rng([0, STREAM, 2]).permutation(part.X.shape[0])
    trained, measured = (np.sort(rows) for rows in np.split(order, [2 * order.size // 3]))
    last = 19  # of 300 labels in four parts, each in four parts again
    shape = {"arity": min(4, -(-part.Y.shape[1] // last)), "max_leaf_labels": last}
    for line in few.to_dict("records"):
        settings = {name: line[name] for name in NAMES} | shape
        trial = PLT(**settings).fit(part.X[trained], part.Y[trained])
        ranking = trial.predict_topk(part.X[measured], 5)
        assert line["P@1"] == pytest.approx(metrics.precision_at_k(part.Y[measured], ranking, 5)[0])
    best = few.loc[few["score"].idxmax()]
    assert model.settings_["normalize"] == best["normalize"] and 0.25 < model.settings_["C"] / best["C"] < 4


def test_labels_are_drawn_with_all_their_rows(many_labels):
    X, Y = many_labels
    counts = np.bincount(Y.indices, minlength=300)
    label_weights = np.arange(300.0)
    part = rows_of_some_labels(Data(X, Y, np.arange(3000.0), label_weights), 600, [1])
    drawn = part.boosts.astype(int)
    assert 550 < part.X.shape[0] < 700 and part.weights.size == part.X.shape[0]
    assert (np.diff(part.Y.tocsc().indptr) == counts[drawn]).all() and counts[drawn].max() <= 60
    common = sp.csr_array((np.ones(6000), (np.repeat(np.arange(3000), 2), np.ravel([[0, 1]] * 3000))), shape=Y.shape)
    assert rows_of_some_labels(Data(X, (Y + common).tocsr(), None, None), 600, [1]) is None
    assert rows_of_some_labels(Data(X[:399], Y[:399], None, None), 600, [1]) is None
    assert (PLT(arity=4, max_leaf_labels=20).choose(X, (Y + common) > 0).trials[0]["labels"]) == 300


def test_a_number_fixes_a_parameter(data):
    X, Y = data.X_train, data.Y_train
    for name, value in (("arity", 4), ("max_leaf_labels", 7), ("loss", "logistic"), ("C", 0.03)):
        assert PLT(**{name: value}).choose(X, Y).settings[name] == value
    assert PLT(**PUBLISHED).fit(X, Y).chosen_.empty
    both = PLT(C=2.0, normalize="l2").fit(X, Y).chosen_
    assert both["loss"].tolist() == ["squared_hinge", "logistic"] and (both["C"] == 2.0).all()
    only = PLT(loss="logistic").fit(X, Y).chosen_
    assert (only["loss"] == "logistic").all() and only["C"].nunique() == 3
    assert PLT(tree="huffman").choose(X, Y).settings["arity"] == 2


UNTRIED = {"arity": 2, "loss": "squared_hinge", "C": 1.0, "normalize": "l2"}  # and one level


def test_few_rows_get_one_level_and_the_published_C():
    data = make_synthetic(n_train=RULE.least_rows - 1, n_test=10, n_features=50, n_labels=200)
    model = PLT().fit(data.X_train, data.Y_train)
    assert model.settings_ == UNTRIED | {"max_leaf_labels": 200} and model.chosen_.empty
    logistic = PLT(loss="logistic", max_leaf_labels=30).choose(data.X_train, data.Y_train)
    assert logistic.settings == UNTRIED | {"max_leaf_labels": 30, "loss": "logistic", "C": 10.0}


FAST = {"arity": 2, "loss": "squared_hinge", "C": 0.5, "normalize": "idf"}


def test_fast_tries_nothing(data):
    model = PLT(quality="fast").fit(data.X_train, data.Y_train)
    usual, half = (f1_score(data.Y_test, model.predict(data.X_test, threshold=t), average="micro") for t in (None, 0.5))
    assert usual > 3 * half and usual > 0.2
    assert model.settings_ == FAST | {"max_leaf_labels": 60} and model.chosen_.empty and len(model.trees_) == 1
    given = PLT(quality="fast", loss="logistic", normalize="l2").choose(data.X_train.toarray(), data.Y_train)
    assert given.settings == FAST | {"max_leaf_labels": 60, "loss": "logistic", "C": 5.0, "normalize": "l2"}
    assert PLT(quality="fast").choose(data.X_train.toarray() + 1, data.Y_train).settings["normalize"] != "idf"


def test_best_has_three_trees_where_there_are_levels(data, tmp_path):
    X, Y = data.X_train, data.Y_train
    best = PLT(quality="best", max_leaf_labels=8).fit(X, Y)
    turns = best.settings_["normalize"].split("+")
    assert len(best.trees_) == 3 and set(turns) == {"l2", "idf"} and turns[0] in set(best.chosen_["normalize"][-2:])
    assert same_model(best, PLT(n_estimators=3, **best.settings_).fit(X, Y), data.X_test)
    assert same_model(best, load_model(best.save(tmp_path / "model")), data.X_test)
    trees = PLT(quality="best", max_leaf_labels=8)
    assert same_model(best, ensemble_of_trees([train_tree(trees, X, Y, number) for number in range(3)]), data.X_test)
    assert len(PLT(quality="best", max_leaf_labels=8, n_estimators=4).fit(X, Y).trees_) == 4
    alone = PLT(n_estimators=1, **best.settings_ | {"normalize": turns[0]}).fit(X, Y)
    assert alone.trees_[0] == best.trees_[0]


def test_best_has_one_tree_where_there_is_one_level(data):
    best, balanced = (PLT(quality=quality).fit(data.X_train, data.Y_train) for quality in ("best", "balanced"))
    assert best.settings_ == balanced.settings_ and same_model(best, balanced, data.X_test)
    for others in (
        {"arity": 2, "max_leaf_labels": 60},
        {"tree": "huffman"},
        {"tree": LabelTree.from_nested([*range(60)])},
    ):
        model = PLT(quality="best", **others).fit(data.X_train, data.Y_train)
        assert len(model.trees_) == 1 and "+" not in model.settings_["normalize"]
    with pytest.warns(UserWarning, match="2 trees are trained in place of n_estimators=3"):
        both = PLT(normalize="l2+idf", n_estimators=3, random_state=1).fit(data.X_train, data.Y_train)
    assert len(both.trees_) == 2


def test_a_sample_without_labels_is_not_tried():
    Y = sp.lil_array((1000, 5), dtype=bool)
    Y[7, 2] = True
    model = PLT().fit(np.random.default_rng(0).random((1000, 4)), Y.tocsr())
    assert model.settings_ == UNTRIED | {"max_leaf_labels": 5} and model.chosen_.empty


@pytest.mark.parametrize(
    "fixed, sizes, expected",
    [  # one level is tried alone where it is affordable
        ({}, (4880, 159, 2.4), [(2, 159)]),
        ({}, (12_920, 983, 19.0), [(2, 983)]),
        ({}, (987, 3993, 5.3), [(2, 3993)]),
        ({}, (97_200, 1000, 1.0), [(16, 63), tuple(BINARY.values()), (2, 400)]),
        ({"max_leaf_labels": 200}, (1000, 150, 2.0), [(2, 200)]),
        # a sample with less than one row for a label does not choose the shape: 0.16 rows in a sample of 20,000
        ({}, (490_000, 670_000, 5.5), [(64, 164)]),
        ({"arity": 2}, (490_000, 670_000, 5.5), [(2, 800)]),
    ],
)
def test_shapes_that_are_tried(fixed, sizes, expected):
    shapes = possible_shapes(EVERY_AUTO | fixed, Sizes(*sizes))
    assert [(shape["arity"], shape["max_leaf_labels"]) for shape in shapes] == expected


def test_affordable_shapes_are_tried_where_one_level_is_dear():
    data = Sizes(490_449, 100_000, 5.4)
    costs = [relative_cost(data, *shape.values()) for shape in possible_shapes(EVERY_AUTO, data)]
    assert len(costs) == 3 and costs == sorted(costs) and costs[-1] <= RULE.most_cost


@pytest.mark.parametrize("n_labels", [1, 2, 3, 33, 1000, 100_000])
def test_given_shapes_are_kept(n_labels):
    for arity, leaf in ((2, 5), (1000, 2), (16, 10**6)):
        fixed = EVERY_AUTO | {"arity": arity, "max_leaf_labels": leaf}
        assert possible_shapes(fixed, Sizes(1000, n_labels, 1.0)) == [{"arity": arity, "max_leaf_labels": leaf}]
        for name, value in (("arity", arity), ("max_leaf_labels", leaf)):
            shapes = possible_shapes(EVERY_AUTO | {name: value}, Sizes(1000, n_labels, 1.0))
            assert shapes[0][name] == value and all(s["max_leaf_labels"] >= 1 and s["arity"] >= 2 for s in shapes)


def test_with_noise_the_choice_is_made_on_rows_without_noise(data):
    """A copy of a row among the rows to measure on would let a model win that knows the row by heart."""
    X, Y = data.X_train, data.Y_train
    own = ExtendedPLT(sigma=0.2).fit_for_adversarial_examples(X, Y)
    wrapped = AdversarialTraining(PLT(), sigma=0.2).fit(X, Y)
    assert own.settings_ == wrapped.model_.settings_ == PLT().choose(X, Y).settings
    assert len(wrapped.trials_) == len(own.chosen_) > 0
    assert same_model(own, wrapped, data.X_test)


@pytest.mark.parametrize("kind", ["fgsm", "pgd"])
def test_with_attacks_the_choice_is_made_once(data, kind):
    phases = []
    X, Y = data.X_train[:500], data.Y_train[:500]
    model = AdversarialTraining(PLT(), kind=kind, sigma=0.1, augment_ratio=0.1)
    model.fit(X, Y, progress=lambda phase, *_: phases.append(phase))
    changes = [phase for at, phase in enumerate(phases) if at == 0 or phases[at - 1] != phase]
    assert changes.count(choosing.CHOOSING) == 1


def test_trials_that_say_nothing_leave_C_where_it_is_published():
    X = np.random.default_rng(0).random((800, 20))
    assert PLT().choose(X, [[0]] * 800).settings["C"] == 1.0
    assert PLT().choose(X, [list(range(40))] * 800).settings["C"] == 1.0


def test_a_scaling_is_not_chosen_by_chance():
    scores = {"l2": {0.25: 0.9, 1.0: 1.1, 4.0: 1.05}, "standardize": {0.25: 0.9, 1.0: 1.0, 4.0: 1.2}}
    rule = RULE._replace(C_power=0.0)
    for error, expected in ((0.15, "l2"), (0.05, "standardize")):
        rows = MadeUpTrials(lambda one: 1.0)
        labels = MadeUpTrials(lambda one: scores[one["normalize"]][one["C"]], error)
        _, chosen = decide(EVERY_AUTO, [BINARY], ["l2", "standardize"], rows, labels, rule)
        assert chosen["normalize"] == expected and len(rows.own) == 1


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_labels_that_are_told_apart_for_sure_are_predicted(loss):
    true = np.random.default_rng(0).integers(0, 10, 12_000)
    X = sp.csr_array((np.ones(true.size), (np.arange(true.size), true)))
    model = PLT(loss=loss).fit(X, X > 0)
    assert model.threshold_ < 1 and (model.predict(X) != (X > 0)).nnz == 0


class MadeUpTrials:
    """Trials whose scores are given: a function of the settings."""

    share = 0.1

    def __init__(self, score, error=0.0):
        self.score, self.own, self.error = score, [], error

    def run(self, settings):
        score = self.score(settings)
        trial = {name: settings[name] for name in NAMES} | {"score": score}
        self.own.append(trial)
        return trial

    def is_better(self, first, other):
        return first["score"] - other["score"] > RULE.errors * self.error


def test_a_shape_that_costs_more_must_be_better_by_a_share():
    shapes = [{"arity": arity, "max_leaf_labels": 100} for arity in (2, 16, 64)]
    fixed = EVERY_AUTO | {"C": 1.0, "loss": "squared_hinge"}
    for gain, expected in ((0.5, 16), (2.0, 64)):  # the third is better than the second by this many tenths
        scores = {2: 1.0, 16: 1.2, 64: 1.2 * (1 + gain * 0.1)}
        trials = MadeUpTrials(lambda one, scores=scores: scores[one["arity"]])
        assert decide(fixed, shapes, ["l2"], trials, rule=RULE._replace(shape_gain=0.1))[1]["arity"] == expected


def test_C_is_the_top_of_a_parabola_over_the_logarithm_of_C():
    rule = RULE._replace(C_power=0.0, C_trust=1.0, C_factor=4.0)
    for best in (0.1, 0.5, 1.0, 3.0):
        trials = MadeUpTrials(lambda one, best=best: 2.0 - (np.log(one["C"] / best) / 10) ** 2)
        assert decide(EVERY_AUTO, [BINARY], ["l2"], trials, rule=rule)[1]["C"] == pytest.approx(best, rel=0.01)
        assert len(trials.own) == 3
    half = rule._replace(C_trust=0.0)  # of the way from the published 1, less the share of the rows
    trials = MadeUpTrials(lambda one: 2.0 - (np.log(one["C"] / 0.25) / 10) ** 2)
    assert decide(EVERY_AUTO, [BINARY], ["l2"], trials, rule=half)[1]["C"] == pytest.approx(0.25**0.1, rel=0.01)


@pytest.mark.parametrize("error, expected", [(0.04, 1.0), (0.02, 4.0)])
def test_a_larger_C_must_be_better_by_more_than_chance(error, expected):
    rule = RULE._replace(C_power=0.0, C_trust=1.0, C_factor=4.0)
    scores = {0.25: 0.95, 1.0: 1.0, 4.0: 1.06}
    trials = MadeUpTrials(lambda one: scores[one["C"]], error)
    assert decide(EVERY_AUTO, [BINARY], ["l2"], trials, rule=rule)[1]["C"] == pytest.approx(expected, rel=0.3)


def test_a_rare_hit_does_not_choose_the_shape():
    """Labels that nothing predicts: the numbers of hits differ by chance."""
    random = np.random.default_rng(0)
    X, Y = random.random((3000, 30)), [[int(label)] for label in random.integers(0, 2000, 3000)]
    cheapest = possible_shapes(EVERY_AUTO, Sizes(3000, 2000, 1.0))[0]
    assert cheapest.items() <= PLT().choose(X, Y).settings.items()


def test_trials_can_be_stopped_and_the_model_keeps_its_state(data, fitted):
    model = PLT(arity=4).fit(data.X_train[:100], data.Y_train[:100])
    before, stop = model.settings_, Recorder(stop_at=4)
    with pytest.raises(Cancelled):
        model.fit(data.X_train, data.Y_train, progress=stop)
    assert {phase for phase, *_ in stop.reports} == {choosing.CHOOSING} and model.settings_ is before


# P@1, P@3 and P@5 in percent of the best of napkinXC, omikuji and PECOS with their defaults, each, on this data, and
# of napkinXC; means over three seeds and more.
@pytest.mark.real_data
@pytest.mark.parametrize("name, model, expected", [
    ("bibtex", PLT(), (63.4, 39.0, 28.6)),
    pytest.param("delicious", PLT(), (66.9, 60.0, 55.4), marks=pytest.mark.slow),
    ("corel5k", PLT(), (34.9, 27.2, 22.4)),
    ("bibtex", PLT.preset("napkinxc"), (63.3, 39.0, 28.6)),
])  # fmt: skip
def test_defaults_are_as_precise_as_the_best_library(real_data, name, model, expected):
    data = read_dataset(real_data / name / "train.txt.gz", real_data / name / "test.txt.gz")
    model.fit(data.X_train, data.Y_train)
    precision = 100 * metrics.precision_at_k(data.Y_test, model.predict_topk(data.X_test, 5), 5)[[0, 2, 4]]
    assert (precision >= np.array(expected) - 0.3).all(), precision


def test_one_level_needs_no_clustering(data, monkeypatch):
    def fit(max_leaf_labels):
        model = PLT(arity=2, max_leaf_labels=max_leaf_labels, C=1.0, loss="squared_hinge")
        return model.fit(data.X_train, data.Y_train)

    monkeypatch.setattr("xmlcore.models.plt.estimator.label_representations", None)  # fails if it is called
    assert fit(data.n_labels).trees_[0].n_nodes == data.n_labels + 1
    with pytest.raises(TypeError):
        fit(data.n_labels - 1)
