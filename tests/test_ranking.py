"""A ranking with names: the -1 that pads a row is never taken for the last label."""

import re

import numpy as np
import pandas as pd
import pytest

from xmlcore import Ranking
from xmlcore.metrics import as_ranking

NAMES = ["law", "art", "sea"]
RANKING = Ranking(
    np.array([[2, 0], [1, -1], [-1, -1]], np.int32), np.array([[0.75, 0.5], [0.5, 0], [0, 0]], np.float32)
)


@pytest.mark.parametrize("names", [NAMES, tuple(NAMES), np.array(NAMES), pd.Series(NAMES, index=[7, 8, 9])])
def test_names_have_the_shape_of_the_labels(names):
    assert RANKING.names(names).tolist() == [["sea", "law"], ["art", None], [None, None]]


def test_too_few_names_are_an_error():
    for use in (RANKING.names, RANKING.to_frame):
        with pytest.raises(ValueError, match="label_names has 2 names, but the ranking has the label 2"):
            use(NAMES[:2])
        with pytest.raises(TypeError, match="must be a list, not 'law'"):
            use("law")


def test_a_ranking_beyond_memory_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 1 << 30)
    for k in (2**28, 2**62):
        with pytest.raises(MemoryError, match=f"A ranking would need about .* GB of memory for 3 rows of {k:,} labels"):
            as_ranking(RANKING, k)


@pytest.mark.parametrize("names", [set(NAMES), dict(enumerate(NAMES)), dict.fromkeys(NAMES).keys()])
def test_names_without_an_order_of_ids_are_refused(names):
    for use in (RANKING.names, RANKING.to_frame):
        with pytest.raises(TypeError, match="must be a list"):
            use(names)


def test_a_frame_has_a_line_for_each_label():
    frame = RANKING.to_frame(NAMES, row_names=["a", "b", "c"])
    assert frame.to_dict("list") == {
        "row": [0, 0, 1], "name": ["a", "a", "b"], "rank": [1, 2, 1], "label": [2, 0, 1],
        "label_name": ["sea", "law", "art"], "score": [0.75, 0.5, 0.5],
    }  # fmt: skip
    assert list(RANKING.to_frame().columns) == ["row", "rank", "label", "score"]
    with pytest.raises(ValueError, match="row_names has 2 names, but the ranking has 3 rows"):
        RANKING.to_frame(row_names=["a", "b"])


def test_a_notebook_shows_the_first_rows_and_of_how_many():
    shown = RANKING._repr_html_()
    assert re.findall("<td>(.*?)</td>", shown) == ["2 (0.75)", "0 (0.5)", "1 (0.5)", "", "", ""]
    assert "3 of 3 rows, 2 of 2 places" in shown
    many = Ranking(np.tile(np.arange(12), (2000, 1)), np.ones((2000, 12)))._repr_html_()
    assert "10 of 2,000 rows, 10 of 12 places" in many and len(many) < 10_000


def test_an_empty_ranking_has_an_empty_frame():
    empty = Ranking(np.empty((0, 3), np.int32), np.empty((0, 3), np.float32))
    assert empty.names([]).shape == (0, 3) and len(empty.to_frame(NAMES)) == 0
