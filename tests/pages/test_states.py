"""Every page in every state that nobody thinks of: none raises, and none says what makes no sense."""

import re

import pytest

from pages.shared import addresses
from tests.pages.conftest import Session
from tests.pages.making import damage, select, train, use, word_data
from xmlcore import experiment, store
from xmlcore.datasets import Dataset

REFUSALS = ("ValueError", "OSError")  # of jobs, with a reason
PAGES = [name.lower() for name in addresses.ICONS]
NONSENSE = re.compile(
    r"\b(nan|NaN|inf|NaT|Traceback)\b|\bNone\b(?! [a-z])|(?<![\d.,])(?<!of )1 (rows|labels|features|trees|results)\b"
)


def open_all(page, server):
    """Open all pages twice, the second time when what they have started is done; list what is wrong, and where."""
    wrong = []
    for _ in range(2):
        for name in PAGES:
            try:
                said = page.go(name).text()
            except AssertionError as error:
                wrong.append(f"{name}: {str(error).split('assert not ElementList')[0]}")
            else:
                wrong += [f"{name}: {line}" for line in said.splitlines() if NONSENSE.search(line)]
        for job in server.jobs():
            job.wait(60)
    failed = [job.error for job in server.jobs() if job.state == "failed" and not job.error.startswith(REFUSALS)]
    assert not wrong + failed, "\n\n".join(wrong + failed)


def test_an_empty_workspace(session, server, small_catalog):
    def load(progress):
        raise OSError("the disk is full")

    small_catalog.load = load
    page = session().until(lambda s: s.at.error)
    assert "There is no data set in use" in page.go("features").text()
    (dismiss,) = (button for button in page.go("data").at.button if button.label == "Dismiss")
    dismiss.click()
    open_all(page.run(), server)


def part(n_train, n_test, n_labels=None, silent=False):
    """A part of the small data set of words, without names; ``silent``: no test row has a label."""
    data = word_data()
    X, Y, T, Z = data.X_train[:n_train], data.Y_train[:n_train], data.X_test[:n_test], data.Y_test[:n_test]
    Z = 0 * Z if silent else Z
    return Dataset("few", X, Y[:, :n_labels], T, Z[:, :n_labels])


def named(labels, features, name="words"):
    """The small data set of words, with other names."""
    data = word_data()
    names = {"label_names": labels, "feature_names": features}
    return Dataset(name, data.X_train, data.Y_train, data.X_test, data.Y_test, **names)


LONG = "a very long name " * 600
STRANGE = ["", "", "same", "same", "*a* [b](http://c) `$x$` <b> :red[d] #", LONG, LONG, "| --- |"]
DATA = {
    "one training row": lambda: part(1, 30),
    "one test row": lambda: part(120, 1),
    "one label": lambda: part(120, 30, 1),
    "test rows without labels": lambda: part(120, 30, silent=True),
    "strange names": lambda: named(STRANGE, 3 * STRANGE, "**a** [b](http://c) `"),
    "a long name": lambda: named([f"label {j}" for j in range(8)], None, LONG),
}


@pytest.mark.parametrize("state", DATA)
def test_a_strange_data_set_with_results(ready, server, state):
    data = DATA[state]()
    train(ready, "PLT", data, max_leaf_labels=2)
    select(ready, "ChiSquared", data, n_features=2)
    open_all(ready, server)


def test_a_data_set_and_no_result(ready, server):
    use(ready, word_data())
    open_all(ready, server)


@pytest.mark.parametrize("model", experiment.MODELS)
def test_results_of_every_model(ready, server, model):
    train(ready, model)
    open_all(ready, server)


@pytest.mark.parametrize("what", ["runs", "selections", "model", "data set"])
def test_what_is_gone_or_damaged(ready, server, what):
    data = word_data()
    run, selection = train(ready, "PLT", data), select(ready, "ChiSquared", data, n_features=2)
    if what == "data set":
        store.delete("datasets", data.fingerprint)
    elif what == "model":
        arrays = store.folder("runs", run) / "model" / "arrays.npz"
        arrays.write_bytes(arrays.read_bytes()[:100])
    else:
        damage(what, run if what == "runs" else selection)
    open_all(ready, server)


def test_a_link_for_looking_only(ready, server):
    train(ready)
    select(ready, "ChiSquared", n_features=2)
    ready.at.session_state["sidebar.links"] = True  # as a click on "Copy a link" does
    ready.run().press("make-look")
    looking = re.search(r"workspace=([0-9a-f]+)", ready.at.sidebar.code[0].value)[1]
    assert looking != ready.token
    open_all(Session(looking), server)
