import re

import numpy as np
import pandas as pd
import pytest

from xmlcore import figures


def contributions(n=14):
    """Contributions 14, -13, 12, ... of features named after their ids."""
    size = np.arange(n, 0, -1.0)
    sign = np.where(np.arange(n) % 2, -1, 1)
    frame = pd.DataFrame({"feature": np.arange(n), "value": np.linspace(1, 2, n), "contribution": size * sign})
    return frame.assign(name=[f"word <{j}>" for j in range(n)])


def bars(figure):
    """{place from the top: (length, colour, name in the legend)}."""
    found = {}
    count = sum(len(trace.x) for trace in figure.data if trace.type == "bar")
    for trace in figure.data:
        if trace.type == "bar":
            for x, y in zip(trace.x, trace.y):
                found[count - 1 - int(y)] = (float(x), trace.marker.color, trace.name)
    return found


def test_bars_and_what_they_start_from_add_up_to_the_score():
    frame = contributions()
    figure = figures.contribution_bars(frame, 10, unit="f", start=("bias", -3.5))
    drawn = bars(figure)
    assert len(drawn) == 12 and figure.layout.meta == {"shown": 10, "total": 14, "others": 4, "ends": [-13, 14]}
    assert (drawn[10][0], drawn[11][0]) == (4 + 2, -3 - 1)
    assert figure.layout.yaxis.ticktext[-2:] == ("2 positive others", "2 negative others")
    said = [float(number) for number in re.findall(r"[+-][\d.]+", figure.layout.title.subtitle.text.replace("−", "-"))]
    assert said == pytest.approx([-3.5, frame["contribution"].sum() - 3.5])
    assert drawn[0][2] == "raises the score" and drawn[1][2] == "lowers the score"
    other = bars(figures.contribution_bars(frame, 10, wording=("for a", "for b")))
    assert other[0][2] == "for a" and other[1][2] == "for b"
    assert drawn[0][1] != drawn[1][1]
    figure = figures.contribution_bars(contributions(11), 10)
    assert len(bars(figure)) == 11 and figure.layout.meta["others"] == 0
    assert "word &lt;10&gt;" in figure.layout.yaxis.ticktext[-1]
    figure = figures.contribution_bars(contributions(3))
    assert figure.layout.yaxis.ticktext[0] == "word &lt;0&gt; <i>1</i>"
    assert len(figures.contribution_bars(contributions(0)).data) == 0
    figure = figures.contribution_bars(contributions(), ends=(-20, 40))
    low, high = figure.layout.xaxis.range
    assert low < -20 and high > 40
    assert {trace.width for trace in figure.data} == {0.75}


@pytest.mark.parametrize(("parts", "n", "own"), [
    ([9.0, 8, 7, 6, 5, 4, -0.2, -0.1, -0.05], 5, [0, 1, 2, 6, 7]),
    ([9.0, 8, 7, 6, 5, 4, -0.2, 0, 0], 5, [0, 1, 2, 3, 6]),
    ([-9.0, -8, -7, 1, 0.5, 0.2, 0.1], 4, [0, 1, 3, 4]),
    ([9.0, 8, 7, 6, -5], 3, [0, 1, 4]),
    ([9.0, 8, 7, -6], 1, [0]),
])  # fmt: skip
def test_the_largest_of_both_signs_have_bars_of_their_own(parts, n, own):
    frame = pd.DataFrame({"name": [f"w{i}" for i in range(len(parts))], "value": 1.0, "contribution": parts})
    figure = figures.contribution_bars(frame, n)
    texts = [text.split()[0] for text in figure.layout.yaxis.ticktext]
    together = sum(part != 0 for at, part in enumerate(parts) if at not in own)  # of those that are 0 there is no bar
    assert texts[: len(own)] == [f"w{i}" for i in own] and sum(map(int, texts[len(own) :])) == together
    assert figure.layout.meta["shown"] == len(own) and figure.layout.meta["others"] == together
    assert sum(x for trace in figure.data for x in trace.x if x is not None) == pytest.approx(sum(parts))


def test_sizes_are_bars_and_means_or_second_contributions_marks():
    frame = pd.DataFrame({"name": ["a", "b", "c"], "mean_abs": [3.0, 2, 1], "mean": [3.0, -2, 0], "n_rows": [5, 4, 3]})
    figure = figures.importance_bars(frame, 2)
    assert {place: value for place, (value, _, _) in bars(figure).items()} == {0: 3, 1: 2}
    marks = next(trace for trace in figure.data if trace.type == "scatter")
    assert list(marks.x) == [3, -2] and list(marks.y) == [1, 0]
    assert figure.layout.meta == {"shown": 2, "total": 3}
    frame = pd.DataFrame({"name": ["a", "b"], "first": [1.0, 0.0], "second": [0.5, -1.0]})
    figure = figures.contributions_compared(frame)
    one, two = (trace for trace in figure.data if trace.mode == "markers")
    assert (one.name, list(one.x), two.name, list(two.x)) == ("without noise", [1, 0], "with noise", [0.5, -1])
    assert list(one.y) == list(two.y) == [1, 0]
    frame = contributions(5)[["feature", "name", "value"]]
    figure = figures.magnitude_bars(frame, 4, marked=[0, 2, 9])
    assert figure.layout.meta == {"shown": 4, "total": 5, "marked": 2}
    colors = {trace.name: trace.marker.color for trace in figure.data}
    assert list(colors) == ["among the largest contributions", "not among them"] and len(set(colors.values())) == 2


def test_the_product_along_a_path_ends_at_the_probability():
    frame = pd.DataFrame({"tree": 0, "depth": [1, 2, 3], "node": [1, 4, 9], "margin": 0.0, "factor": [0.9, 0.5, 0.8]})
    figure = figures.path_products(frame)
    (line,) = figure.data
    np.testing.assert_allclose(line.y, [100, 90, 45, 36])
    assert figure.layout.xaxis.dtick == 1
    assert list(line.x) == [0, 1, 2, 3] and list(line.text) == ["", "×0.90", "×0.50", "×0.80"]
    named = figures.path_products(frame.assign(name=["Root", "sub-label +3", "c"], margin=[1.0, -2.0, 0.5]))
    assert (
        named.data[0].customdata[2].startswith("sub-label +3 (node ") and "margin −2.000" in named.data[0].customdata[2]
    )
    scores = figures.path_products(frame.assign(factor=[1.0, 0.9996, 0.5]), percent=False)
    assert list(scores.data[0].y) == pytest.approx([1, 1, 0.9996, 0.4998]) and "%<" not in scores.data[0].hovertemplate
    assert list(scores.data[0].text) == ["", "×1.0", "×0.99", "×0.50"] and "Score" in scores.layout.yaxis.title.text
    assert "above 0.999 of its parent’s" in scores.data[0].customdata[2], "not 1, and no percent"
    small = figures.path_products(frame.assign(factor=[1.0, 0.00592, 0.5]), percent=False)
    assert small.data[0].text[2] == "×0.0059", "as in sentences and tables"


def test_paths_of_many_trees_are_thin_lines_below_their_mean():
    frame = pd.DataFrame({"tree": 0, "depth": [0, 1], "node": [0, 3], "margin": 0.0, "factor": [1.0, 0.5]})
    longer = frame.assign(tree=1, factor=[1.0, 0.8])
    longer = pd.concat([longer, longer.tail(1).assign(depth=2, factor=0.5)])
    rest = [frame.assign(tree=tree) for tree in range(2, 21)]
    figure = figures.path_products(pd.concat([frame, longer, *rest]), percent=False)
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == ["one tree", "mean of all 21"]
    np.testing.assert_allclose(figure.data[-1].y, [1, 1, (20 * 0.5 + 0.8) / 21, (20 * 0.5 + 0.4) / 21])
    assert figure.data[1].customdata[2].startswith("tree 2: node 3")


def test_the_mean_of_ways_holds_what_ended_and_weighs_leaves():
    short = pd.DataFrame({"tree": 0, "leaf": 1, "weight": 0.75, "depth": [0, 1], "node": [0, 1], "share": [0.2, 0.4]})
    long = pd.DataFrame(
        {"tree": 1, "leaf": 4, "weight": 0.25, "depth": [0, 1, 2], "node": [0, 2, 4], "share": [0.2, 0.0, 0.8]}
    )
    figure = figures.path_shares(pd.concat([short, long]))
    mean = figure.data[-1]
    np.testing.assert_allclose(mean.y, [20, 30, 50])
    assert mean.name == "mean of all 2"
    assert len(figures.path_shares(short).data) == 1


def test_deletion_and_stability_are_means_with_intervals():
    frame = pd.DataFrame(
        [
            (method, removed, row, (0.8 + 0.1 * row) * left**removed)
            for method, left in (("contributions", 0.5), ("magnitude", 0.9))
            for removed in (0, 1, 2)
            for row in (0, 1)
        ],
        columns=["method", "removed", "row", "score"],
    )
    figure = figures.deletion_curves(frame)
    drawn = {trace.name: trace for trace in figure.data if trace.mode == "lines+markers"}
    np.testing.assert_allclose(drawn["contributions"].y, [85, 42.5, 21.25])
    assert figure.layout.meta["left"] == pytest.approx({"contributions": 0.25, "magnitude": 0.81})
    upper = figure.data[0].y[0]  # t(0.975, 1 df) * sd / sqrt(2), around the mean of 80 and 90
    assert upper == pytest.approx(85 + 12.7062 * 5, rel=1e-4)
    frame = pd.DataFrame({"method": "random", "removed": [0, 1], "row": 0, "score": [0.5, 0.4]})
    figure = figures.deletion_curves(frame)
    assert all(np.isfinite(trace.y).all() for trace in figure.data)
    frame = pd.DataFrame(
        [(0, 0.1, r, 1.0, 1.0) for r in range(3)] + [(1, 0.1, 0, 0.0, 0.5)],
        columns=["row", "sigma", "repeat", "spearman", "overlap"],
    )
    drawn = {t.name: t for t in figures.stability_curves(frame).data if t.mode == "lines+markers"}
    assert [list(trace.y) for trace in drawn.values()] == [[0.5], [0.75]]
    assert (
        len(figures.stability_curves(frame.assign(overlap=np.nan)).data)
        == len(figures.stability_curves(frame).data) / 2
    )


def test_numbers_beside_bars_are_rounded_alike_and_not_to_zero():
    frame = pd.DataFrame({"name": list("abcd"), "value": 1.0, "contribution": [68.44, 7.0, -0.04, 0.0]})
    told = [text for trace in figures.contribution_bars(frame).data for text in trace.text]
    assert told == ["+68.4", "+7", "−0.04", "0"]


@pytest.mark.parametrize(("score", "told"), [(0.9995, "−0.0005"), (1 - 1e-12, "0"), (1.0, "0"), (0.5, "−0.693")])
def test_the_log_of_a_score_below_1_is_never_written_as_0(score, told):
    frame = pd.DataFrame({"name": ["a"], "value": 1.0, "contribution": [np.log(score) + 4.14]})
    figure = figures.contribution_bars(frame, unit="log score", start=("without features", -4.14))
    assert figure.layout.title.subtitle.text == f"log score: −4.14 without features, {told} with all bars"
