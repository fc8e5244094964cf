"""The section Confusions of the Train page: which wrong label stands where the true one is missed."""

import numpy as np
import pytest

from pages.shared import cached, view
from tests.pages.making import train
from xmlcore import experiment, metrics


@pytest.mark.sections("Confusions")
def test_a_pair_that_is_ticked_shows_its_rows(ready):
    run = experiment.load("train", train(ready))
    Y = cached.dataset(run.fingerprint).Y_test
    page = ready.go("train")
    found = metrics.confusions(Y, run.ranking)
    table = page.frame("missed_name", "wrong_name")
    assert np.allclose(table["swaps"], found.pairs["swaps"]) and len(table) == found.n_pairs
    radio = page.at.radio(key="train.confusions.k")
    assert f"at most {run.ranking.labels.shape[1]}" in radio.options[0]
    assert "Showing" in page.text() and "Rows that miss" not in page.text()
    (drawn,) = [t for t in page.at.dataframe if "missed_name" in t.value]
    page.tick(drawn, 1)
    pair = found.pairs[["row", "missed", "wrong"]].iloc[1]
    looked = view.parsed(page.view)
    assert (looked.row, looked.label, looked.other) == (pair["row"], pair["wrong"], pair["missed"])
    assert f"Rows that miss {table['missed_name'][1]} and have {table['wrong_name'][1]}" in page.text()
    rows = metrics.confused_rows(Y, run.ranking, pair["missed"], pair["wrong"])
    assert any(t.value["row"].tolist() == rows.tolist() for t in page.at.dataframe if "row" in t.value)
    page.set("train.confusions.k", 5)
    assert len(page.frame("missed_name")) == metrics.confusions(Y, run.ranking, 5).n_pairs > 0
    assert "No test row has both" in page.search("train.confusions.query", "nothing like this").text()
