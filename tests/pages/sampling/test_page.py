"""The Sampling page, opened and used through app.py."""

import numpy as np
import pandas as pd
import pytest

from pages.sampling import row as row_part
from pages.sampling import studies
from pages.shared import format
from pages.shared.operator import entrance
from tests.pages import making
from tests.pages.making import estimate, figure, numbers, said_plainly, titles
from xmlcore import DoubleSampling, datasets, experiment, metrics
from xmlcore.explain.candidates import CandidateRanking
from xmlcore.metrics.buckets import label_buckets
from xmlcore.metrics.calibration import wilson
from xmlcore.models.double_sampling import MEANINGS

pytestmark = pytest.mark.sections("Head, torso and tail")

MODEL = "DoubleSampling"
SWEEP = "Micro R@1 and time over κ and π"


def tailed_data(several=False):
    """400 training and 100 test rows of 30 classes, the first ones frequent; each class has two words of its own."""
    rng = np.random.default_rng(5)
    share = 1.0 / np.arange(1, 31)
    y = np.concatenate([np.arange(30), rng.choice(30, 470, p=share / share.sum())])
    X = rng.poisson(0.08, (500, 80)).astype(np.float32)
    for word in (0, 1):
        X[np.arange(500), 2 * y + word] += rng.random(500) < 0.7
    X[0] += X.sum(axis=0) == 0
    Y = np.zeros((500, 30), bool)
    Y[np.arange(500), y] = True
    if several:
        Y[np.arange(500), (y + 1) % 30] |= rng.random(500) < 0.3
    names = [f"label *{j}*" for j in range(30)]
    return datasets.Dataset("tailed", X[:400], Y[:400], X[400:], Y[400:], label_names=names)


def train(session, model=MODEL, several=False, **params):
    """Put a run on the data set of these tests into the workspace; double sampling begins with the paper's settings."""
    published = DoubleSampling.PRESETS["paper"].values if model == MODEL else {}
    return making.train(session, model, tailed_data(several), **published | params)


@pytest.fixture(autouse=True)
def few_values(monkeypatch):
    """Few trainings at first: what is measured is the same with more."""
    monkeypatch.setattr(studies, "CANDIDATES", (1, 5))
    monkeypatch.setattr(studies, "ADVERSARIAL", (2,))
    monkeypatch.setattr(studies, "EXAMPLES", (1.0,))


@pytest.fixture
def key(ready):
    return train(ready)


@pytest.fixture
def measured(page):
    return page.until(everything)


def everything(page):
    drawn = {SWEEP, "Gain from more candidates", "Micro R@1 by label frequency"} <= set(titles(page))
    return drawn and len(numbers(figure(page, SWEEP)["data"][0]["x"])) > 1


def line(page, title, name):
    """x and y of a trace with this name in the figure of this title."""
    found = next(t for t in figure(page, title)["data"] if t.get("name") == name)
    return numbers(found["x"]), numbers(found["y"])


def swept(page, sign):
    """The values of κ or π that were measured, in order, and their accuracy."""
    return line(page, SWEEP, f"micro R@1 over {sign}")


def percent(value):
    return f"{100 * value:.1f} %"


def study(key, **params):
    return experiment.task("sampling", {"run": key}, params).load()


@pytest.mark.sections("all")
def test_the_page_has_the_numbers_of_the_model(measured, key, page):
    data, model = tailed_data(), experiment.load_run_model(key)
    ranking = model.predict_topk(data.X_test, 1)
    accuracy, macro = metrics.accuracy(data.Y_test, ranking), metrics.macro_f1(data.Y_test, ranking)
    among = np.mean((model.candidates(data.X_test) == data.Y_test.indices[:, None]).any(axis=1))
    said = measured.text()
    assert f"{model.sampled_size_.sum()} copies of 400 examples" in said
    cards = measured.metrics()
    assert cards["micro R@1"] == cards["P@1"] == percent(accuracy)
    assert cards["Recall of 10 candidates"] == percent(among)
    assert cards["F1 of means"] == percent(macro)
    about = measured.at.metric[4].help
    assert f"From {model.n_pairs_:,} pairs" in about
    per_row = study(key, n_candidates=(1, 5, 10)).candidates.set_index("n_candidates")["predict_ms_per_row"][10]
    assert f"a prediction {format.duration(per_row / 1000)} a row" in about, "as the figure has it"
    meanings = measured.frame("name", "weight", "meaning").set_index("name")["meaning"]
    assert all(meanings[name] == MEANINGS[name] for name in model.feature_names_)
    scaled = model.weights_ * model.feature_scale_
    x = [line(page, "Weights of the features", f"larger {way} the score") for way in ("raises", "lowers")]
    assert sorted(x[0][0] + x[1][0]) == pytest.approx(sorted(scaled))


def test_there_is_no_figure_of_one_point_before_others_are_trained(ready, monkeypatch):
    train(ready)
    estimate(monkeypatch, "sampling", 100.0)
    page = ready.go("sampling")
    assert not {SWEEP, "Gain from more candidates"} & {*titles(page)} and page.metrics()["micro R@1"].endswith("%")
    assert (page.at.metric[3].value, page.at.metric[3].delta) == ("–", "not measured yet")
    labels = {button.key: button.label for button in page.at.button}
    assert {"sampling.measure.sweep", "sampling.measure.candidates"} <= labels.keys()
    assert "κ, then π" in labels["sampling.measure.sweep"], "they are not combined"


def test_earlier_trainings_stay_while_more_are_asked_for(ready, monkeypatch):
    key = train(ready)
    earlier = "so earlier ones are shown"
    page = ready.go("sampling").until(lambda s: everything(s) and earlier not in s.text())
    earlier_values = swept(page, "π")
    assert earlier_values[0] == [1, 2]
    estimate(monkeypatch, "sampling", 100.0)
    page.set(f"sampling.examples {key[:8]}", "0.5, 1, 3")
    assert swept(page, "π") == earlier_values
    assert earlier in page.text()


@pytest.mark.sections("all")
def test_rows_of_several_classes_have_accuracy_beside_p_at_1(ready):
    key = train(ready, several=True)
    page, data, run = ready.go("sampling"), tailed_data(several=True), experiment.load("train", key)
    p = run.measures.query("measure == 'P@k' and k == 1")["value"].iloc[0]
    accuracy = metrics.accuracy(data.Y_test, run.ranking.labels[:, 0])
    n = data.Y_test.nnz
    assert n > 110 and accuracy == pytest.approx(100 * p / n) and accuracy < p
    assert page.metrics()["P@1"] == percent(p) and page.metrics()["micro R@1"] == percent(accuracy)
    assert said_plainly(page.at.metric[1].delta) == f"of at most {percent(100 / n)}"
    assert "R@1" not in page.at.metric[3].help, "the recall is not what bounds it"
    attainable = line(page.until(everything), "Gain from more candidates", "attainable micro R@1")[1]
    recall = line(page, "Gain from more candidates", "candidate recall")[1]
    assert attainable == pytest.approx(np.minimum(recall, 1e4 / n)) and attainable[-1] < recall[-1]
    model = experiment.load_run_model(key)
    assert f"copies of {data.Y_train.nnz} examples" in page.text()
    assert model.n_pairs_ < 10 * model.sampled_size_.sum()  # none of a row's classes among each other
    nearest = model.candidates(data.X_test)
    counts = np.diff(data.Y_test.indptr)
    lost = [i for i in range(100) if counts[i] == 2 and not np.isin(data.Y_test[[i]].indices, nearest[i]).all()]
    said = row_part.sentence(data, CandidateRanking(model, data, lost[0]), lost[0])
    assert said.startswith("Of 10 candidates for") and " of 2 true labels**" in said
    page.set("sampling.row", lost[0])
    assert any(chart.proto.id.endswith("sampling.contributions") for chart in page.at.get("plotly_chart"))
    assert "st-key-sampling-contributions]" in entrance.WIDE, "a phone scrolls it"


def test_measured_values_hold_the_runs_own_result(measured, key):
    run = experiment.load("train", key)
    accuracy = 100 * metrics.accuracy(tailed_data().Y_test, run.ranking.labels[:, 0])
    q, values = line(measured, "Gain from more candidates", "micro R@1")
    assert q == [1, 5, 10] and values[2] == pytest.approx(accuracy)
    recall = line(measured, "Gain from more candidates", "candidate recall")[1]
    assert recall == sorted(recall) and all(a >= b for a, b in zip(recall, values))
    kappa, values = swept(measured, "κ")
    assert kappa == [2, 10]
    kappas = figure(measured, SWEEP)["data"][0]
    of_rows = [50 * np.subtract(*wilson(value / 100, 100)[::-1]) for value in values]
    assert all(reach > 0.99 * least for reach, least in zip(numbers(kappas["error_y"]["array"]), of_rows))
    own = study(key, n_adversarial=(2, 10), examples_per_class=(1, 2), n_repeats=1).sweep
    seeds = own[(own["axis"] == "n_adversarial") & (own["n_adversarial"] == 10)]
    assert len(seeds) == 1 and values[1] == pytest.approx(100 * seeds["accuracy"].mean())
    assert 100 * seeds["accuracy"].iloc[0] == pytest.approx(accuracy)
    seconds = line(measured, SWEEP, "seconds over κ")[1]
    assert seconds[1] == pytest.approx(seeds["cpu_s"].mean()), "as measured with the others"
    assert swept(measured, "π")[0] == [1, 2]


def by_bucket(ranking):
    data = tailed_data()
    buckets = label_buckets(np.bincount(data.Y_train.indices, minlength=data.n_labels))
    return metrics.first_class_by_bucket(data.Y_test, ranking.labels[:, 0], buckets)


def test_buckets_have_other_models_beside_them(ready):
    other, key = train(ready, "PLT"), train(ready)
    page = ready.go("sampling").until(everything)
    run = experiment.load("train", key)
    measured = study(key, n_candidates=(1, 5, 10)).buckets
    own = by_bucket(run.ranking)
    pd.testing.assert_frame_equal(own, measured[list(own.columns)], check_dtype=False)
    buckets, values = line(page, "Micro R@1 by label frequency", "DoubleSampling")
    assert buckets == measured["bucket"].tolist() and values == pytest.approx(100 * measured["accuracy"])
    theirs = by_bucket(experiment.load("train", other).ranking)
    assert line(page, "F1 of means by label frequency", "PLT")[1] == pytest.approx(100 * theirs["macro_f1"])
    assert own["n_rows"].sum() == 100
    table = page.frame("bucket", "candidate_recall")
    assert table["candidate_recall"].tolist() == pytest.approx(100 * measured["candidate_recall"])


@pytest.mark.sections("A test row", "Single predictions")
def test_a_row_has_its_candidates_by_f_with_their_features(page, key):
    data, model = tailed_data(), experiment.load_run_model(key)
    nearest = model.candidates(data.X_test)
    row = int(np.flatnonzero((nearest == data.Y_test.indices[:, None]).any(axis=1))[3])
    table = page.set("sampling.row", row).frame("rank", "f", *model.feature_names_)
    ranked = model.predict_topk(data.X_test[[row]], 10)
    assert table["label"].tolist() == ranked.labels[0].tolist()
    assert table["share"].tolist() == pytest.approx(ranked.scores[0].tolist(), abs=1e-6)
    features = model.pair_features(data.X_test[[row]], ranked.labels)[0]
    np.testing.assert_allclose(table[model.feature_names_], features)
    np.testing.assert_allclose(table["f"], features @ model.weights_)
    assert nearest[row][table["nearness"].to_numpy(int) - 1].tolist() == table["label"].tolist()
    best, true = ranked.labels[0, 0], data.Y_test.indices[row]
    said = said_plainly(row_part.sentence(data, CandidateRanking(model, data, row), row))
    assert f"**label *{best}*** has the largest f: {'a' if best == true else 'not a'} true label." in said
    assert page.go("train").at.number_input(key="train.row").value == row


@pytest.mark.sections("A test row")
def test_a_true_class_that_is_no_candidate_is_in_the_table(ready):
    key = train(ready, n_candidates=2)
    data, model = tailed_data(), experiment.load_run_model(key)
    row = int(np.flatnonzero(~(model.candidates(data.X_test) == data.Y_test.indices[:, None]).any(axis=1))[0])
    page = ready.go("sampling")
    page.set("sampling.row", row)
    true = data.Y_test.indices[row]
    assert f"label *{true}* (no candidate)" in page.text()
    table = page.frame("rank", "f", "nearness")
    assert table["label"].tolist()[2:] == [true] and table["true"].iloc[2] == "✓ no candidate"
    f = model.pair_features(data.X_test[[row]], np.array([[true]]))[0, 0] @ model.weights_
    assert table["f"].iloc[2] == pytest.approx(f)


def test_adversaries_among_candidates_are_as_many_as_there_were(ready):
    key = train(ready, adversaries="candidates")
    model, page = experiment.load_run_model(key), ready.go("sampling").until(everything)
    assert model.n_pairs_ == 9 * model.sampled_size_.sum()
    field = f"sampling.kappa {key[:8]}"
    assert "κ = 9 (10 asked for" in page.at.text_input(key=field).help
    assert swept(page, "κ")[0] == [2, 9]
    assert page.at.text_input(key=field).label.endswith("up to 9")
    assert "cannot be 10" in page.set(field, "2, 10").at.error[0].value


def test_a_value_that_cannot_be_trained_with_is_named(measured, key, monkeypatch):
    fit = DoubleSampling.fit

    def picky(self, *args, **kwargs):
        if self.examples_per_class == 0.25 or (self.n_adversarial == 4 and self.random_state == 1):
            raise ValueError("make it larger")
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(DoubleSampling, "fit", picky)
    measured.at.text_input(key=f"sampling.kappa {key[:8]}").set_value("4")
    measured.at.number_input(key=f"sampling.repeats {key[:8]}").set_value(2)
    measured.set(f"sampling.examples {key[:8]}", "0.25, 1")
    measured.until(lambda page: everything(page) and len(page.at.warning) == 2)
    failed = [warning.value.replace("\\", "").removeprefix("Failed with ") for warning in measured.at.warning]
    assert failed == ["κ = 4: make it larger", "π = 0.25: make it larger"]
    assert swept(measured, "κ")[0] == [4, 10] and swept(measured, "π")[0] == [1, 2]
