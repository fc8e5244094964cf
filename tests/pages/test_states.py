"""Every page in every state that nobody thinks of: none raises, and none says what makes no sense."""

import re

import numpy as np

from pages.shared import addresses
from tests.pages.making import select, train
from xmlcore.datasets import Dataset

PAGES = [name.lower() for name in addresses.ICONS]
NONSENSE = re.compile(r"\b(nan|NaN|inf|NaT|Traceback)\b|\bNone\b(?! [a-z])")


def open_all(page):
    """Open all pages, and list on which of them something is wrong."""
    wrong = []
    for name in PAGES:
        try:
            said = page.go(name).text()
        except AssertionError as error:
            wrong.append(f"{name}: {error}")
        else:
            wrong += [f"{name}: {line}" for line in said.splitlines() if NONSENSE.search(line)]
    assert not wrong, "\n\n".join(wrong)


def test_an_empty_workspace(session, small_catalog):
    def load(progress):
        raise OSError("the disk is full")

    small_catalog.load = load
    page = session().until(lambda s: s.at.error)
    open_all(page)
    (dismiss,) = (button for button in page.go("data").at.button if button.label == "Dismiss")
    dismiss.click()
    open_all(page.run())


def test_one_training_row(ready):
    X, Y = np.ones((4, 3), np.float32), np.eye(4, 2, dtype=bool)
    data = Dataset("one row", X[:1], Y[:1], X[1:], Y[1:])
    train(ready, "OneVsRest", data)
    select(ready, "ChiSquared", data, n_features=2)
    open_all(ready)
