"""Every page in every state that nobody thinks of: none raises, and none says what makes no sense."""

import contextlib
import re

import numpy as np
import pytest

from pages.shared import addresses
from tests.pages.making import (
    estimate,
    failures,
    fields_of,
    figure,
    numbers,
    said_plainly,
    select,
    show,
    train,
    use,
    word_data,
)
from xmlcore import experiment
from xmlcore.datasets import Dataset

FORMS = "all"
pytestmark = [pytest.mark.sections("all"), pytest.mark.usefixtures("first_figures")]  # what is closed is drawn, too
# No page starts by itself what must fail, but a full disk and a network without gradients are found on the way.
REFUSALS = ("OSError", "ValueError: the scores of all")
PAGES = [name.lower() for name in addresses.ICONS]
NONSENSE = re.compile(
    r"\b(nan|NaN|inf|NaT|Traceback)\b|\bNone\b(?! [a-z])|(?<![\d.,])(?<!of )1 (rows|labels|features|trees|results)\b"
)


def open_all(page, server, names=PAGES):
    """Open pages, and those that start jobs once more when these are done; list what is wrong, and where."""
    wrong = []
    while names:
        started = []
        for name in names:
            before = len(server.jobs())
            try:
                said = page.go(name).text()
            except AssertionError as error:
                wrong.append(f"{name}: {str(error).split('assert not ElementList')[0]}")
            else:
                wrong += [f"{name}: {line}" for line in said.splitlines() if NONSENSE.search(line)]
            started += [name] * (len(server.jobs()) > before)
        for job in server.jobs():
            job.wait(60)
        names = started
    wrong += failures(server, REFUSALS)
    assert not wrong, "\n\n".join(wrong)


def part(n_train, n_test, n_labels=None):
    """A part of the small data set of words, without names."""
    data = word_data()
    X, Y, T, Z = data.X_train[:n_train], data.Y_train[:n_train], data.X_test[:n_test], data.Y_test[:n_test]
    return Dataset("few", X, Y[:, :n_labels], T, Z[:, :n_labels])


def valued(change, name="values", silent=False, **names):
    """The small data set of words, with other values of its features and other names, or test rows without labels."""
    data = word_data()
    X, T = change(data.X_train.toarray()), change(data.X_test.toarray())
    return Dataset(name, X, data.Y_train, T, 0 * data.Y_test if silent else data.Y_test, **names)


def unlabelled():
    data = word_data()
    return Dataset("unlabelled", data.X_train, 0 * data.Y_train, data.X_test, data.Y_test)


LONG = "a very long name " * 100
STRANGE = ["", "", "same", "same", "*a* [b](http://c) `$x$` <b> :red[d] #", LONG, LONG, "| --- |"]
NAMES = {"name": f"**a** [b](http://c) `{LONG}", "label_names": STRANGE, "feature_names": 3 * STRANGE}
DATA = {
    "one training row": lambda: part(1, 30),
    "one test row": lambda: part(120, 1),
    "one label": lambda: part(120, 30, 1),
    "two rows in all": lambda: part(1, 1),
    "four rows in all": lambda: part(3, 1),
    "one feature": lambda: valued(lambda X: X[:, :1]),
    "no values, and test rows without labels": lambda: valued(lambda X: 0 * X, silent=True),
    "negative values and strange names": lambda: valued(np.negative, **NAMES),
    "tiny values": lambda: valued(lambda X: 1e-30 * X),
    "huge values": lambda: valued(lambda X: 1e30 * X),
    "training rows without labels": unlabelled,
}
LIKE_OTHERS = ("one training row", "one test row", "four rows in all", "one feature", "tiny values", "huge values")


def compare_with_one_seed(page):
    """Have the Features page compare selections with one seed: with its three, that takes most of a walk's time."""
    with fields_of(page) as fields:
        fields["widgets"]["features.seeds"] = 1


LONG_WALK = [pytest.mark.slow, pytest.mark.long]


@pytest.mark.timeout(600)  # every model is trained and explained
@pytest.mark.parametrize("models", ["one model", pytest.param("all models", marks=LONG_WALK)])
@pytest.mark.parametrize(
    "state",
    [pytest.param(state, marks=LONG_WALK if state in LIKE_OTHERS else [pytest.mark.slow]) for state in DATA],
)
def test_a_strange_data_set_with_results(ready, server, state, models):
    data, turn = DATA[state](), list(DATA).index(state)
    use(ready, data)
    compare_with_one_seed(ready)
    runs = []
    with contextlib.suppress(ValueError):
        select(ready, "ChiSquared", data, n_features=min(2, data.n_features))
    every = list(experiment.MODELS)
    for model in every if models == "all models" else [every[turn % len(every)]]:
        with contextlib.suppress(ValueError):  # a model may refuse such data
            runs.append(train(ready, model, data))
    open_all(ready, server)
    for key in runs[:-1]:  # the last one was shown by now
        show(ready, key, data)
        open_all(ready, server, ["train", "predict", "explain", "trees"])
    if models == "all models":
        with contextlib.suppress(ValueError):
            select(ready, "FALS", data)
            open_all(ready, server, ["features", "explain"])


@pytest.mark.parametrize(
    ("name", "key"), [("train", "try.measure"), ("compare", "compare.measure"), ("robustness", "robustness.k")]
)
def test_no_measure_is_offered_of_more_labels_than_there_are(ready, name, key):
    train(ready, data=part(120, 30, 3))
    page = ready.go(name).until(lambda s: any(box.key == key for box in s.at.selectbox))
    assert {option[-1] for option in page.at.selectbox(key=key).options} == {"1", "3"}
    assert name != "train" or "P@3" in page.metrics() and "P@5" not in page.metrics()


def drawn(session, title):
    """Whether a figure has more than the one point that a trained model tells of itself."""
    made = figure(session, title)
    return made is not None and max(len(numbers(trace["x"])) for trace in made["data"]) > 1


MEASURED = {  # what a page measures by itself if it is short: its task, a model, its button and its figure
    "explain": ("explanations", "PLT", "explain.measure", "Do the features "),
    "robustness": ("robustness", "PLT", "robustness.start", "P@1 under"),
}


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.sections("Whole model", "Fewer and smaller trees")
def test_long_measuring_waits_for_a_button_that_says_how_long(ready, monkeypatch, name):
    kind, model, key, title = MEASURED[name]
    estimate(monkeypatch, kind, 125.0)
    train(ready, model)
    page = ready.go(name)
    assert "about 2 min" in said_plainly(page.at.button(key=key).label) and not drawn(page, title)
    page.press(key).until(lambda s: drawn(s, title))


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.sections("Whole model", "Fewer and smaller trees")
def test_failed_measuring_says_why_and_waits(ready, server, monkeypatch, name):
    kind, model, key, _ = MEASURED[name]
    monkeypatch.setattr(experiment.KINDS[kind], "run", no_room)
    train(ready, model)
    page = ready.go(name).until(lambda s: s.at.error)
    assert "the disk is full" in page.at.error[0].value
    for job in server.jobs():
        job.wait(60)
    while buttons := [button for button in page.run().at.button if button.label == "Dismiss"]:
        buttons[0].click()
    before = len(server.jobs())
    assert not page.run().at.error and len(server.jobs()) == before and page.at.button(key=key)


def no_room(*args, **settings):
    raise OSError("the disk is full")
