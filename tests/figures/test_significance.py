"""Figures of calibration and of mean ranks."""

import pandas as pd
import pytest

from xmlcore import figures
from xmlcore.figures._critical_difference import rank_groups


def test_the_reliability_curve_draws_shares_against_probabilities_and_leaves_out_empty_bins():
    frame = pd.DataFrame(
        {"low": [0, 0.5, 0.9], "high": [0.5, 0.9, 1], "n": [10, 0, 30], "predicted": [0.2, 0.7, 0.95],
         "observed": [0.1, 0.0, 0.8], "observed_low": [0.05, 0, 0.7], "observed_high": [0.3, 0, 0.9]}
    )  # fmt: skip
    figure = figures.reliability_curve(frame)
    diagonal, curve, bars = figure.data
    assert list(curve.x) == pytest.approx([20, 95]) and list(curve.y) == pytest.approx([10, 80])
    assert list(curve.error_y.array) == pytest.approx([20, 10])
    assert list(curve.error_y.arrayminus) == pytest.approx([5, 10])
    assert list(bars.y) == [10, 30] and list(bars.width) == pytest.approx([50, 10])
    assert (diagonal.x, diagonal.y) == ((0, 100), (0, 100)) and figure.layout.meta == {"shown": 2, "total": 2}
    assert figures.reliability_curve(frame.iloc[:, :5]).data[1].error_y.array is None


def test_bars_join_the_ranks_that_are_not_told_apart():
    assert rank_groups([1.0, 1.5, 2.4, 4.0], 1.0) == [(1.0, 1.5), (1.5, 2.4)]
    assert rank_groups([1.0, 1.5, 2.0], 1.0) == [(1.0, 2.0)]
    assert rank_groups([1.0, 3.0], 1.0) == []
    frame = pd.DataFrame({"method": ["LdSM", "PLT", "a <b>"], "rank": [2.4, 1.1, 2.5]})
    figure = figures.critical_difference(frame, 0.5)
    assert figure.layout.meta["groups"] == [(2.4, 2.5)]
    assert list(figure.layout.yaxis.ticktext) == ["PLT  1.10", "LdSM  2.40", "a &lt;b&gt;  2.50"]
    assert "critical difference 0.50" in figure.data[0].text[0]
