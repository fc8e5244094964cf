"""Labels that occur together, as a heat map and on a circle."""

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import figures
from xmlcore.datasets import together


def pairs(n=6, rows=200, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.random((rows, n)) < 0.2
    Y[:, 3] |= Y[:, 0]
    frame = together(sp.csr_array(Y), range(n))
    names = [f"label <{j}>" for j in range(n)]
    return frame.assign(
        first_name=[names[j] for j in frame["first"]], second_name=[names[j] for j in frame["second"]]
    ), Y


def test_a_cell_is_the_share_of_the_lines_rows_that_have_the_columns_label():
    frame, Y = pairs()
    figure = figures.cooccurrence_heat(frame)
    order = frame.drop_duplicates("first")["first"].tolist()
    values = np.array(figure.data[0].z)
    i, j = order.index(0), order.index(3)
    assert values[i, j] == 1 and values[j, i] == pytest.approx(Y[:, 0].sum() / Y[:, 3].sum())
    assert np.isnan(values.diagonal()).all()
    assert "&lt;0&gt;" in figure.data[0].customdata[i, j]
    assert abs(i - j) == 1, "labels that go together stand beside each other"


def test_a_line_joins_labels_with_a_positive_correlation_and_the_strongest_is_the_widest():
    frame, _ = pairs()
    figure = figures.label_network(frame)
    positive = frame[(frame["phi"] > 0) & (frame["first"] < frame["second"])]
    assert len(positive) == figure.layout.meta["total"] == figure.layout.meta["shown"]
    *traces, points = figure.data
    widths = [trace.line.width for trace in traces]
    assert widths == sorted(set(widths)) and len(traces) <= 8, "a trace for each width, the widest on top"
    strongest = positive.loc[positive["phi"].idxmax()]
    names = {f"<b>label &lt;{j}&gt;</b>" for j in (strongest["first"], strongest["second"])}
    assert all(name in traces[-1].customdata[0] for name in names)
    ends = {(round(x, 6), round(y, 6)) for x, y in zip(points.x, points.y)}
    count = 0
    for trace in traces:
        x, y = (np.split(values, np.flatnonzero(np.isnan(values)) + 1)[:-1] for values in (trace.x, trace.y))
        assert all({(round(u[k], 6), round(v[k], 6)) for k in (0, -2)} <= ends for u, v in zip(x, y))
        assert len(trace.customdata) == len(trace.x), "each point says which pair it belongs to"
        count += len(x)
    assert count == len(positive) and len(points.x) == 6 == len(figure.layout.annotations)
    few = figures.label_network(frame, most=2)
    assert (few.layout.meta["shown"], few.layout.meta["total"]) == (2, len(positive))
    assert sum(np.isnan(np.asarray(trace.x, float)).sum() for trace in few.data[:-1]) == 2


def test_names_beside_the_circle_do_not_touch():
    frame, _ = pairs(24, 400)
    notes = figures.label_network(frame).layout.annotations
    pixels = 560 / 2.4
    for side in ("left", "right"):
        heights = sorted(note.y * pixels for note in notes if note.xanchor == side)
        assert np.diff(heights).min() > 12


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_labels_can_be_drawn(n):
    frame, _ = pairs(4)
    frame = frame[frame["first"].isin(range(n)) & frame["second"].isin(range(n))]
    assert len(figures.label_network(frame).layout.annotations) == n
    assert np.array(figures.cooccurrence_heat(frame).data[0].z).shape == (n, n)


def test_the_fit_is_drawn_over_the_frequencies_of_labels():
    import pandas as pd

    frame = pd.DataFrame({"n_train": [100, 30, 10, 4, 2, 1]})
    fit = pd.DataFrame({"count": [100.0, 4.0], "rank": [1.0, 4.0]})
    line = figures.label_frequency(frame, fit).data[-1]
    assert (list(line.x), list(line.y), line.name) == ([1.0, 4.0], [100.0, 4.0], "fit")
    assert len(figures.label_frequency(frame, fit[:0]).data) == 1
