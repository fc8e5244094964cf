import numpy as np
import pandas as pd
import pytest

from xmlcore import figures


def trace(figure, name):
    """The line with marks, or the bars, of this name."""
    return next(t for t in figure.data if t.name == name and t.fill != "tonexty" and t.hoverinfo != "skip")


def bands(figure):
    return [t for t in figure.data if t.fill == "tonexty"]


def sizes(n=1000):
    """A long tail of classes, of which each gives two copies; the last but one none, the last has no rows."""
    before = np.maximum(n // np.arange(1, n + 1), 1)
    after = np.full(n, 2)
    before[-1] = after[-1] = after[-2] = 0
    return pd.DataFrame({"name": [f"<b>{i}</b>" for i in range(n)], "class_size": before, "sampled_size": after})


def sweep(seeds=3):
    lines = []
    for axis, values in (("n_adversarial", (1, 10, 100)), ("examples_per_class", (0.5, 2.0))):
        for value in values:
            for seed in range(seeds):
                line = {"axis": axis, "n_adversarial": 10, "examples_per_class": 2.0, "seed": seed, axis: value}
                line |= {"accuracy": 0.4 + 0.01 * seed, "macro_f1": 0.3, "fit_s": 0.2 * value}
                lines.append(line | {"pair_bytes": 1_000_000 * value, "model_bytes": 500_000})
    return pd.DataFrame(lines)


def candidates():
    lines = [(10, 0.75, 0.42, 0.32, 0.05), (1, 0.4, 0.4, 0.35, 0.02), (100, 0.9, 0.38, 0.28, 0.4)]
    return pd.DataFrame(lines, columns=["n_candidates", "recall", "accuracy", "macro_f1", "predict_ms_per_row"])


def contributions(n=3):
    """Class 1 is true and leads; the last is a true class that is no candidate."""
    rng = np.random.default_rng(0)
    lines = []
    for label in range(n):
        for feature in ("idf", "distance"):
            line = {"label": label, "name": f"<i>label {label}</i>", "right": label != 1, "candidate": label < n - 1}
            line |= {"f": 3.0 - label, "feature": feature, "value": 1.0, "contribution": rng.normal()}
            lines.append(line)
    return pd.DataFrame(lines)


def test_copies_are_averaged_over_ranges_and_none_is_lost():
    rng = np.random.default_rng(3)
    frame = sizes(5000).assign(sampled_size=rng.poisson(2, 5000)).iloc[:-1]
    figure = figures.sampled_classes(frame)
    after = trace(figure, "sampled copies, mean")
    ranks = [said.replace(",", "").removeprefix("ranks ").removeprefix("rank ") for said in after.customdata]
    ends = [tuple(int(part) for part in said.split(" to ")) for said in ranks]
    first, last = [pair[0] for pair in ends], [pair[-1] for pair in ends]
    assert first[0] == 1 and last[-1] == 4999 and first[1:] == [end + 1 for end in last[:-1]]
    total = sum((b - a + 1) * (0 if np.isnan(y) else y) for a, b, y in zip(first, last, after.y))
    assert total == pytest.approx(frame["sampled_size"].sum())
    assert len(bands(figure)) == 1 and min(bands(figure)[0].y) >= 0.5  # no copies at all: the end of the log axis
    frame = sizes(2000).assign(sampled_size=0)
    frame.loc[:9, "sampled_size"] = 40
    frame.loc[[150, 1900], "sampled_size"] = 1
    figure = figures.sampled_classes(frame)
    after = np.array(trace(figure, "sampled copies, mean").y, float)
    assert 0 < np.nanmin(after) < 0.02 and 10 ** figure.layout.yaxis.range[0] < np.nanmin(after)
    assert "0.01" in figure.layout.yaxis.ticktext
    figure = figures.sampled_classes(sizes())
    before, after = trace(figure, "training rows"), trace(figure, "sampled copies, mean")
    assert (before.x[0], before.y[0]) == (1, 1000) and before.y[-1] == 1 and before.x[-1] == 999
    assert set(np.round(after.y[:-1], 6)) == {2.0} and 1.9 < after.y[-1] < 2  # one class of the last stretch gave none
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    meta = figure.layout.meta
    assert (meta["total"], meta["without_rows"], meta["without_copies"]) == (999, 1, 1)
    assert meta["stretches"] == len(after.x) and before.customdata[0] == "&lt;b&gt;0&lt;/b&gt;"


def test_candidates_are_in_order_and_the_own_q_is_marked():
    figure = figures.candidate_curves(candidates(), 10)
    recall = trace(figure, "candidate recall")
    assert list(recall.x) == [1, 10, 100] and list(recall.y) == pytest.approx([40, 75, 90])
    times = trace(figure, "time per row")
    assert list(times.y) == pytest.approx([20, 50, 400]) and times.yaxis == "y2"
    assert figure.layout.yaxis2.title.text == "µs per row"
    assert {shape.x0 for shape in figure.layout.shapes} == {10.0} and len(figure.layout.shapes) == 2
    (mark,) = figure.layout.annotations
    assert mark.text == "as trained: 10" and mark.x == pytest.approx(1.0)
    assert list(figure.layout.xaxis2.ticktext) == ["1", "10", "100"]


def test_attainable_accuracy_is_drawn_where_below_the_recall():
    of_several = candidates().assign(attainable=[0.6, 0.4, 0.6])
    assert list(trace(figures.candidate_curves(of_several), "attainable micro R@1").y) == pytest.approx([40, 60, 60])
    of_one = candidates().assign(attainable=candidates()["recall"])
    assert "attainable micro R@1" not in [line.name for line in figures.candidate_curves(of_one).data]


def test_a_sweep_of_sampling_has_means_and_intervals_over_seeds():
    figure = figures.sampling_sweep(sweep(), (10, 2))
    kappa, seconds, pi, of_pi = figure.data
    assert list(kappa.x) == [1, 10, 100] and list(pi.x) == [0.5, 2] and list(kappa.y) == pytest.approx([41, 41, 41])
    assert list(seconds.y) == pytest.approx([0.2, 2, 20]) and list(of_pi.y) == pytest.approx([0.1, 0.4])
    reach = 4.302653 * 1.0 / np.sqrt(3)  # Student's t, two degrees of freedom
    np.testing.assert_allclose(kappa.error_y.array, reach, rtol=1e-6)
    assert [note.text for note in figure.layout.annotations] == ["as trained: 10", "as trained: 2"]
    assert {(shape.xref, shape.x0) for shape in figure.layout.shapes} == {("x", 10), ("x3", 10), ("x2", 2), ("x4", 2)}
    titles = [figure.layout[axis].title.text for axis in ("xaxis3", "xaxis4", "yaxis", "yaxis3")]
    assert titles == ["κ (log)", "π (log)", "micro R@1, %", "Seconds"]
    assert figure.layout.meta["seeds"] == 3 and figure.layout.meta["total"] == 5
    assert not figures.sampling_sweep(sweep(1)).data[0].error_y.visible
    of_rows = figures.sampling_sweep(sweep(1).assign(margin=0.02)).data[0].error_y
    assert of_rows.visible and list(of_rows.array) == pytest.approx([2, 2, 2]), "one seed has intervals over test rows"
    of_kappa = figures.sampling_sweep(sweep().query("axis == 'n_adversarial'"))
    assert len(of_kappa.data) == 2 and "xaxis3" not in of_kappa.layout


def test_intervals_over_seeds_reach_as_far_as_those_over_rows():
    of_seeds = 4.302653 / np.sqrt(3)
    for margin in (0.05, 0.002):
        kappa = figures.sampling_sweep(sweep().assign(margin=margin)).data[0]
        assert list(kappa.error_y.array) == pytest.approx([max(100 * margin, of_seeds)] * 3, rel=1e-6)
        assert list(kappa.customdata[:, 1] - kappa.y) == pytest.approx(list(kappa.error_y.array)), "as its tooltip says"


def test_processor_time_is_drawn_where_it_was_measured():
    figure = figures.sampling_sweep(sweep().assign(cpu_s=lambda rows: 0.1 * (1 + rows["seed"])), (10, 2))
    seconds = trace(figure, "seconds over κ")
    assert list(seconds.y) == pytest.approx([0.2] * 3)
    assert [*seconds.error_y.array, *seconds.error_y.arrayminus] == pytest.approx([0.1] * 6)
    assert figure.layout.yaxis3.title.text == "Processor seconds" and figure.layout.yaxis3.range is None
    once = figures.sampling_sweep(sweep(1).assign(cpu_s=0.0), (10, 2))
    assert not trace(once, "seconds over κ").error_y.visible
    before = figures.sampling_sweep(sweep().assign(cpu_s=np.nan), (10, 2))
    assert list(trace(before, "seconds over κ").y) == pytest.approx([0.2, 2, 20])
    assert before.layout.yaxis3.title.text == "Seconds"


def test_trainings_that_failed_are_not_drawn_and_the_others_are():
    frame = sweep().assign(failed="")
    frame.loc[frame["n_adversarial"] == 100, "failed"] = "too large"
    measures = ["accuracy", "macro_f1", "fit_s", "pair_bytes", "model_bytes"]
    frame.loc[frame["failed"] != "", measures] = np.nan
    figure = figures.sampling_sweep(frame, (10, 2))
    assert list(figure.data[0].x) == [1, 10] and figure.layout.meta["failed"] == 3
    none = figures.sampling_sweep(frame.assign(failed="too large"), (10, 2))
    assert none.layout.meta["total"] == 0 and none.layout.meta["failed"] == 15


def test_weights_keep_their_order_and_say_what_features_mean():
    frame = pd.DataFrame({"name": ["distance", "idf", "x"], "value": [-3.0, 2.0, 0.0], "weight": 1.0, "scale": 2.0})
    figure = figures.feature_weights(frame.assign(meaning="between the row and the centroid of the label " * 2))
    drawn = {bar.name: bar for bar in figure.data}
    assert list(drawn["larger lowers the score"].x) == [-3] and list(drawn["larger lowers the score"].y) == [2]
    assert list(figure.layout.yaxis.ticktext) == ["distance", "idf", "x"]
    hover = drawn["larger raises the score"].customdata[0]
    assert "centroid" in hover and max(len(line) for line in hover.split("<br>")) < 50
    assert len(figures.feature_weights(frame).data) == 3  # without meanings too


def test_contributions_of_candidates_add_up_to_the_last_column():
    frame = contributions()
    figure = figures.candidate_features(frame)
    (heat,) = figure.data
    np.testing.assert_allclose(heat.z[:, -1], heat.z[:, :-1].sum(axis=1))
    np.testing.assert_allclose(heat.z[:, :-1].ravel(), frame["contribution"])
    assert list(heat.y) == [
        "✓ &lt;i&gt;label 0&lt;/i&gt;",
        "&lt;i&gt;label 1&lt;/i&gt;",
        "✓ &lt;i&gt;label 2&lt;/i&gt; *",
    ]
    assert list(heat.x) == ["idf", "distance", "f − mean"]
    assert np.shape(heat.text) == heat.z.shape and not any("-" in text for line in heat.text for text in line)
    assert figure.layout.coloraxis.cmax == -figure.layout.coloraxis.cmin == np.abs(heat.z[:, :-1]).max()
    assert set(figures.candidate_features(contributions(1).assign(contribution=0.0)).data[0].text[0]) == {"0.0"}
    assert figures.candidate_features(contributions().iloc[:0]).layout.meta["shown"] == 0
