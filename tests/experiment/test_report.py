"""LaTeX tables, comparisons of runs, and the report."""

import html
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import vstack

from benchmarks.library.many_runs import make
from tests.pages.small import small_data
from xmlcore import Ranking, experiment, metrics, store
from xmlcore.datasets import save_dataset
from xmlcore.experiment import side_by_side


@pytest.fixture
def kept(own_cache):
    data = small_data("a_b & <c>")
    save_dataset(data)
    return data, [record["key"] for record in make(9, data)]


def of_tests(*lines):
    frame = pd.DataFrame(lines, columns=["run", "measure", "difference", "sure"])
    return frame.assign(low=frame["difference"] - 0.008, high=frame["difference"] + 0.008, p_holm=0.5)


TESTS = of_tests(
    *(("B", measure, by, False) for measure, by in (("P@1", -0.01), ("P@5", 0.01), ("PSP@5", 0.02))),
    *(("C", measure, -0.02, measure == "P@1") for measure in ("P@1", "P@5", "PSP@5")),
    *(("D", measure, -0.05, True) for measure in ("P@1", "P@5", "PSP@5")),
)


def test_the_best_leads_by_how_much_and_whether_it_is_significant():
    lines, test = pd.DataFrame({"P@1": [0.6, 0.55, 0.1]}), pd.DataFrame({"sure": [True], "difference": [-0.05]})
    led = side_by_side.best(lines, "P@1", ["<A>", "B", "C"], test)
    assert led == side_by_side.Highest(["<A>"], 0.6, "B", pytest.approx(5.0), True)
    assert led.text("P@1", "3 results", "_{}_", html.escape) == (
        "_&lt;A&gt;_ has the highest P@1 of 3 results: _60.0\u00a0%_, 5.0 points above _B_ (significant)."
    )
    unread = side_by_side.best(lines, "P@1", [*"ABC"])
    assert not unread.significant and unread.points == led.points, "where results cannot be read"
    ahead = side_by_side.best(lines, "P@1", [*"ABC"], test.assign(difference=0.05))
    assert not ahead.significant, "the mean of the seeds leads, the run in their middle does not"
    same = side_by_side.best(pd.DataFrame({"P@1": [0.6] * 5}), "P@1", [*"ABCDE"], test)
    assert same.names == [*"ABCDE"] and not same.second
    assert same.text("P@1", "5", "{}", str).startswith("A, B and 3 more share the highest")
    assert side_by_side.best(lines.head(1), "P@1", ["A"]).second == ""


def test_measures_in_which_most_is_significant_are_drawn():
    of_few = TESTS.assign(measure=TESTS["measure"].replace({"P@5": "P@3", "PSP@5": "PSP@3"}), sure=False)
    assert side_by_side.drawn_measures(of_few) == ["P@1", "PSP@3", "macro F1@3"], "where nothing is"
    ahead = of_tests(("B", "nDCG@5", 0.02, True), *((run, "P@3", -0.02, True) for run in "BCD"))
    assert side_by_side.drawn_measures(pd.concat([TESTS.assign(sure=False), ahead]))[2] == "nDCG@5", "best is behind"


def test_latex_marks_what_is_significantly_best_and_escapes_names():
    lines = [("a_1 & 50%", 0.6), ("b", 0.7), ("c", 0.69999), ("d", 0.1), ("e", np.nan)]
    frame = pd.DataFrame([(run, "P@k", 1, v, v - 0.01, v + 0.01, run == "b") for run, v in lines],
                         columns=["run", "measure", "k", "value", "low", "high", "best"])  # fmt: skip
    text = experiment.latex_table(frame, caption="50 % of {it}")
    rows = [row.strip() for row in text.splitlines()]
    assert r"a\_1 \& 50\% & 60.00 \\" in rows
    assert r"b & \textbf{70.00} \\" in rows and r"c & \underline{70.00} \\" in rows, "as written they are equal"
    assert r"d & 10.00 \\" in rows and "e & -- \\\\" in rows
    assert r"& {\scriptsize 69.00--71.00} \\" in rows
    assert r"\caption{50 \% of \{it\}}" in rows and r"\toprule" in rows


def test_latex_of_many_measures_has_a_row_for_each():
    names = [("P@k", k) for k in range(1, 6)] + [("abandonment@k", 1), ("Hamming loss@k", 1)]
    frame = pd.DataFrame([(run, name, k, v) for name, k in names for run, v in (("a", 0.6), ("b", 0.7))],
                         columns=["run", "measure", "k", "value"])  # fmt: skip
    rows = [row.strip() for row in experiment.latex_table(frame).splitlines()]
    assert r"\begin{tabular}{lrr}" in rows and r"\% & a & b \\" in rows
    assert r"P@5 & 60.00 & \underline{70.00} \\" in rows, "of which nothing says that it is significant"
    for loss in ("abandonment", "Hamming loss"):
        assert rf"{loss}@1 & \underline{{60.00}} & 70.00 \\" in rows
    few = experiment.latex_table(frame[frame["k"] <= 3])
    assert r"Model & P@1 & P@2 & P@3 & abandonment@1" in few


def test_latex_rows_may_begin_with_a_bracket_or_a_star():
    frame = pd.DataFrame([(run, "P@k", 1, 0.5) for run in ("[new] x", "*best*", 'a "b"')],
                         columns=["run", "measure", "k", "value"])  # fmt: skip
    rows = [row.split(" &")[0] for row in experiment.latex_table(frame).splitlines() if "50.00" in row]
    assert rows == ["{[}new{]} x", "{*}best{*}", "a ''b''"]


def test_measures_above_the_k_of_a_run_are_left_out(kept):
    data, keys = kept
    a, b = (experiment.load("train", key) for key in (keys[0], keys[3]))
    short = replace(a, k=3, ranking=Ranking(a.ranking.labels[:, :3], a.ranking.scores[:, :3]))
    frame = side_by_side.measures_with_intervals(data, {"a": short, "b": b}, measures=["P@k"])
    assert frame["value"].isna().tolist() == [False, False, True, False, False, False]
    assert frame["low"].isna().tolist() == frame["value"].isna().tolist()
    lines = side_by_side.differences(data, {"b": b, "short": short}, ["P@3", "P@5"])
    assert "for 1 test;" in side_by_side.how_tested(lines)
    assert lines["run"].tolist() == ["short"] * 2 and lines["difference"].isna().tolist() == [False, True]
    found = side_by_side.differences(data, {"b": b, "a": a, "again": b}, ["P@1", "P@3", "PSP@5"])
    assert found["p_holm"].tolist() == metrics.holm(found["p_value"]).tolist() != found["p_value"].tolist()
    assert np.allclose(found["value"] - found["first"], found["difference"]) and found["p_holm"].tolist()[3:] == [1] * 3
    assert found["sure"].tolist() == ((found["p_holm"] < 0.05) & ((found["low"] > 0) | (found["high"] < 0))).tolist()
    assert len(side_by_side.labels_compared(data, short, b, 5)) and len(side_by_side.rows_compared(data, short, b, 5))
    assert set(side_by_side.buckets_side_by_side(data, {"a": short, "b": b}, 5)["run"]) == {"a", "b"}


def test_clear_differences_are_significant_among_many(kept):
    data, keys = kept
    thrice = {of: vstack([getattr(data, of)] * 3, format="csr") for of in ("X_test", "Y_test")}
    data, first = replace(data, columns=None, **thrice), experiment.load("train", keys[0])
    right = np.argsort(~data.Y_test.toarray(), axis=1, kind="stable")[:, :5].astype(np.int32)
    wrong = Ranking(right[:, ::-1].copy(), np.zeros(right.shape, np.float32))
    runs = {"right": replace(first, ranking=Ranking(right, wrong.scores))}
    runs |= {f"wrong {number}": replace(first, ranking=wrong) for number in range(9)}
    found = side_by_side.differences(data, runs, [f"{name}@{k}" for name in ("P", "R", "nDCG") for k in (1, 2, 3, 4)])
    assert len(found) == 108 > 2000 * metrics.SURE and (found["sure"] == (found["difference"] < 0)).all()
    assert found["sure"].mean() > 0.5


@pytest.mark.parametrize(
    ("column", "measure"), [("recall", "micro R@5"), ("precision", "micro P@5"), ("macro_f1", "macro F1@5")]
)
def test_buckets_differ_between_runs_by_what_their_bars_show(kept, column, measure):
    data, keys = kept
    runs = {key: experiment.load("train", key) for key in (keys[0], keys[3])}
    bars = side_by_side.buckets_side_by_side(data, runs, 5).pivot(index="bucket", columns="run", values=column)
    found = side_by_side.differences_of_buckets(data, runs, measure).set_index("measure")
    assert set(found.index) == set(bars.dropna().index)
    for bucket, line in found.iterrows():
        shown = bars.loc[bucket, keys[3]] - bars.loc[bucket, keys[0]]
        assert line["difference"] == pytest.approx(shown) and line["low"] <= shown <= line["high"]


def test_half_widths_are_of_intervals_before_the_cut():
    lines = pd.DataFrame({"P@1": [0.9, 0.5, 0.05, 0.9], "P@1 low": [0.7, 0.4, 0.0, np.nan],
                          "P@1 high": [1.0, 0.6, 0.2, np.nan]})  # fmt: skip
    found = experiment.half_width(lines, "P@1")
    assert found[:3].round(9).tolist() == [0.2, 0.1, 0.15] and np.isnan(found[3])


def test_labels_of_two_runs_are_compared_and_wins_add_up(kept):
    data, keys = kept
    a, b = (experiment.load("train", key) for key in (keys[0], keys[3]))
    frame = side_by_side.labels_compared(data, a, b, 3)
    one, other = (metrics.by_label(data.Y_test, run.ranking, 3).set_index("label") for run in (a, b))
    np.testing.assert_array_equal(frame["difference"], (other["f1"] - one["f1"])[frame["label"]])
    assert (frame["difference"].abs() * frame["rows"]).is_monotonic_decreasing, (
        "one row with another answer says little"
    )
    assert len(frame) == (one["rows"] > 0).sum()
    wins = side_by_side.wins_by_bucket(frame).set_index("bucket")
    assert (wins.loc[["head", "torso", "tail"]].sum() == wins.loc["all"]).all()
    better = [(frame[one] > frame[other]).sum() for one, other in (("f1_a", "f1_b"), ("f1_b", "f1_a"))]
    assert wins.loc["all", ["a", "b"]].tolist() == better and wins.loc["all"].sum() == len(frame)


def test_rows_in_which_two_runs_differ_are_counted(kept):
    data, keys = kept
    a, b = (experiment.load("train", key) for key in (keys[0], keys[3]))
    frame = side_by_side.rows_compared(data, a, b, 3)
    Y = data.Y_test.toarray()
    for line in frame.itertuples():
        assert line.right_a == Y[line.row][a.ranking.labels[line.row, :3]].sum()
        assert line.right_b == Y[line.row][b.ranking.labels[line.row, :3]].sum()
        assert line.difference == line.right_b - line.right_a != 0
    assert frame["difference"].abs().is_monotonic_decreasing


def test_a_report_is_one_file_with_all_runs(kept, tmp_path):
    data, keys = kept
    other = small_data("other", seed=5)
    save_dataset(other)
    keys += [record["key"] for record in make(9, other)]
    content = experiment.report(keys, tmp_path / "report.html", names={keys[0]: "<script>alert(1)</script>"})
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == content
    assert "<script>alert" not in content and "&lt;script&gt;alert" in content
    assert "a_b &amp; &lt;c&gt;" in content, "names of data sets are escaped"
    shown = content.split('id="figures"')[0]
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", shown) and "default-src 'none'" in shown
    figures = json.loads(re.search(r'id="figures">(.*?)</script>', content)[1])
    assert set(figures) == set(re.findall(r'<figure id="(figure-\d+)"', shown)) and len(figures) == 9
    assert content.count('id="library"') == 1
    assert "Over 2 data sets" in content and "by Holm" in content
    assert re.search(r"the highest P@1 of \d+ settings: ", content)
    assert all(key in content for key in keys)


def test_a_report_begins_with_the_data_set_of_its_first_run(kept):
    data, (key, *_) = kept
    other = small_data("other", seed=5)
    save_dataset(other)
    of = {key: html.escape(data.name), make(1, other)[0]["key"]: "other"}
    for keys in ([*of], [*of][::-1]):
        content = experiment.report(keys)
        assert re.findall("<h2>(.*?)</h2>", content)[:2] == [of[key] for key in keys]
        assert re.findall("<details(.*?)><summary><h2>", content) == [" open", ""], (
            "the first data set fills the screen"
        )


def said(content):
    """What a report says before its figures, without markup."""
    return html.unescape(re.sub(r"<[^>]+>", "", content.split('id="figures"')[0].split("</head>")[1]))


def test_a_report_has_significant_differences_in_bold(kept):
    data, keys = kept
    key = experiment.add_predictions(data, [[0]] * data.n_test, "other")
    content = experiment.report([keys[0], key])
    tests = side_by_side.differences(data, {name: experiment.load("train", name) for name in (keys[0], key)})
    part = content.split("is significant:")[1].split("</table>")[0]
    assert "nan" not in said(content) and part.count("<b>") == tests["sure"].sum() > 0
    assert all(f"p = {p:.2g}<" in part for p in tests["p_holm"]) and "for 6 tests;" in said(content)


def test_a_report_says_which_runs_it_leaves_out(kept):
    data, keys = kept
    lines = experiment.seeds_grouped(experiment.runs(keys)).sort_values("P@1", ascending=False, kind="stable")
    best, second, gone = (lines["keys"].iloc[at] for at in (0, 1, 2))
    for key in best:
        (store.folder("runs", key) / store.VALUE).write_bytes(b"damaged")
    for key in gone:
        store.delete("runs", key)
    record = store.folder("runs", second[0]) / store.META
    record.write_text(json.dumps({**json.loads(record.read_text()), "summary": None}))
    text = said(experiment.report(keys, names={best[0]: "the <best>", gone[0]: "gone"}))
    assert re.search(r"Left out, because it cannot be read: the <best>: the stored runs/\w+ is damaged", text)
    assert f"gone [{gone[0]}]: it is not kept" in text
    assert re.search(rf"\[{second[0]}\]: the record of the run {second[0]} has no summary", text)
    assert re.search(r"has the highest P@1 of \d+ settings that can be read: [\d.]+\s%", text)
    assert "Measures with 95 % intervals over test rows, " in text and "No more can be said" not in text


def test_a_report_of_unreadable_runs_has_the_reasons(kept):
    data, keys = kept
    (store.folder("runs", keys[0]) / store.VALUE).write_bytes(b"damaged")
    text = said(experiment.report(keys[:1]))
    assert "is damaged" in text and "So no more can be said." in text and "Training, s" in text
    assert "is not kept" in said(experiment.report(keys[:2]))


def test_a_report_on_nothing_is_refused(own_cache):
    with pytest.raises(ValueError, match="none of these runs is kept"):
        experiment.report(["0" * 32])


def test_models_are_compared_on_data_that_all_have():
    frame = pd.DataFrame({"fingerprint": list("aabbcc"), "dataset": list("AABBCC"), "params": [{}] * 6})
    frame["model"] = ["PLT", "LdSM"] * 2 + ["PLT", "OneVsRest"]
    frame["P@1"] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    wide = experiment.best_of_models(frame, "P@1")
    assert wide.index.tolist() == ["A", "B"] and wide.columns.tolist() == ["LdSM", "PLT"]
    assert wide.loc["A", "LdSM"] == 0.6


def test_a_report_draws_settings_if_three_differ(own_cache):
    data = small_data()
    save_dataset(data)
    keys = [record["key"] for record in make(12, data, seeds=1)]  # three of each model

    def drawn(keys):
        figures = json.loads(re.search(r'id="figures">(.*?)</script>', experiment.report(keys))[1])
        return [one for one in figures.values() if one["data"][0]["type"] == "parcoords"]

    lines = experiment.seeds_grouped(experiment.runs(keys))
    several = [model for model, own in lines.groupby("model", sort=False) if len(own) >= 3]
    found = drawn(keys)
    assert several and len(found) == len(several)
    for figure in found:
        own = lines[lines["model"] == next(m for m in several if f" of {m} " in figure["layout"]["title"]["text"])]
        *settings, measure = figure["data"][0]["dimensions"]
        assert len(settings) == len(experiment.parameters(own, seed=False).columns)
        assert sorted(measure["values"]) == pytest.approx(sorted(100 * own["P@1"]))
    assert not drawn(lines.groupby("model")["keys"].agg(lambda own: own.iloc[0] + own.iloc[1]).sum())
