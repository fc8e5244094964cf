"""The Compare page, through app.py."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from benchmarks.library.many_runs import make
from pages.compare import side, table
from pages.compare.listed import every
from pages.shared import cached
from pages.shared.process import reading
from tests.pages.making import damage, fields_of, figure, plainly, ticked, train, use, workspace_row
from tests.pages.small import small_data
from xmlcore import experiment, store
from xmlcore.experiment import side_by_side

pytestmark = pytest.mark.sections()


def listed(session, records, *data):
    """Let a workspace list runs, and know their data sets."""
    for dataset in data:
        use(session, dataset)
    with fields_of(session) as fields:
        fields["runs"] += records
    return session.go("compare")


@pytest.fixture
def words():
    return small_data("words")


@pytest.mark.usefixtures("first_figures")
def test_the_sentence_says_which_result_is_best(ready, words):
    page = listed(ready, make(1, words), words)
    assert "highest P@1 of 1 result: " in plainly(page) and "Is the difference real?" not in plainly(page)
    said = plainly(listed(ready, make(9, words, first=147), words))
    assert all(fact in said for fact in ("highest P@1 of 6 settings", "results in 6 lines", "4 side by side"))
    assert " points above " in said
    assert figure(ready, "P@1 against processor") is not None and figure(ready, "Better or worse than") is not None
    assert ready.at.radio(key="compare.cost").label == "x axis"
    table = next(table for table in ready.at.dataframe if "fit_cpu_s" in table.value.columns)
    assert table.value["mark"].nunique() == len(table.value) == 6, "each line is one point of the figures"
    assert "pinned" not in table.proto.columns, "names in a pinned column are grey"


@pytest.mark.usefixtures("first_figures")
def test_results_have_processor_time(ready, words):
    trained = [train(ready, model, words) for model in ("PLT", "OneVsRest")]
    assert figure(ready.go("compare"), "P@1 against processor time")
    shown = ready.frame("run", "fit_cpu_s")
    assert len(ready.set("compare.more", ["Both training times"]).frame("fit_cpu_s", "fit_s")) == 2
    ready.set("compare.more", [])
    other = small_data("second", 1)
    page = listed(ready, make(6, other, first=300), other, words)
    assert figure(page, "P@1 against processor time") and "fit_cpu_s" in page.frame("run", "dataset")
    assert figure(ready.go("train"), "P@1 against processor time")
    worked = [experiment.load("train", key).times["fit_cpu_s"] for key in trained]
    assert sorted(shown["fit_cpu_s"]) == sorted(worked) and "fit_s" not in shown


@pytest.mark.usefixtures("first_figures")
@pytest.mark.sections("Side by side")
def test_a_result_has_one_colour_and_mark_everywhere(ready, words):
    made = make(9, words, seeds=1)
    for number, record in enumerate(made):
        record["name"] = f"result {number}"
    listed(ready, made, words)
    marks = styles_of(figure(ready.go("train"), "P@1 against processor time"))
    assert len({(*style.values(),) for style in marks.values()}) == 9
    for some in ((0, 4, 8), (8, 4)):  # of one model
        ticked(ready.go("compare"), [made[at]["key"] for at in some])
        assert styles_of(figure(ready, "P@1 against processor time")) == marks
        points = figure(ready, "Better or worse than")["data"][0]
        there = zip(points["customdata"], points["marker"]["color"], points["marker"]["symbol"])
        assert {name: {"color": color, "symbol": symbol} for name, color, symbol in there}.items() <= marks.items()
        assert styles_of(figure(ready, "Measures side by side")).items() <= marks.items()
    ticked(ready.go("compare"), [one["key"] for one in made])
    table = next(table for table in ready.at.dataframe if side.MEASURE in table.value)
    assert len(table.proto.column_order) == len(table.value.columns) == 10, "all that are ticked are shown"


def styles_of(figure):
    points = (trace for trace in figure["data"] if trace["mode"] == "markers")
    return {trace["name"]: {of: trace["marker"][of] for of in ("color", "symbol")} for trace in points}


@pytest.mark.usefixtures("first_figures")
def test_the_first_sentence_is_on_the_results_that_are_ticked_as_figure_and_report_are(ready, words):
    made = make(4, words, seeds=1)
    for number, record in enumerate(made):
        record["name"] = f"result {number}"
    page = listed(ready, made, words)
    best, _, other, last = page.frame("run", "P@1")["run"]
    keys = [record["key"] for record in made if record["name"] in (other, last)]
    assert f"{best} has the highest P@1 of 4" in plainly(page)
    said = plainly(ticked(page, keys))
    assert f"On words, {other} has the highest P@1 of 2 " in said
    assert f"points above {last}" in said
    assert figure(page, f"Better or worse than {other}")
    assert f"{best} has the highest P@1 of 4" in plainly(ticked(page, keys[:1])), "one is not compared"


def test_the_newest_result_is_read_ahead(ready, words, monkeypatch):
    made, asked = make(3, words), []
    monkeypatch.setattr(reading, "read_ahead", asked.append)
    listed(ready, made, words).run()
    assert set(asked) == {made[2]["key"]}, "the workspace has shown none"


def tabs(page):
    """The tabs of the page, and where on it each is: the numbers of the blocks that it is in."""
    result = {}

    def walk(block, at):
        for number, child in block.children.items():
            if child.type == "tab":
                result[child.label] = (*at, number)
            if hasattr(child, "children"):
                walk(child, (*at, number))

    walk(page.at.main, ())
    return result


def test_ticks_move_no_tab(ready, words):
    made = make(12, words)
    page = listed(ready, made, words)
    before = tabs(page)
    assert list(before)[:3] == ["Side by side", "Is the difference real?", "Head, torso and tail"]
    keys = [record["key"] for record in made]
    for some in (keys[:6], [], keys[:3]):
        page = ticked(page, some)
        assert tabs(page) == before
    assert "4 side by side" in page.text(), "three seeds are one line, which alone is compared with nothing"
    assert tabs(page.set("compare.lines", "model")) == before


def records(page):
    return {one["key"]: one for one in workspace_row(page).read()["runs"]}


@pytest.mark.sections("Side by side")
def test_seeds_share_a_line_unless_asked_otherwise(ready, words):
    page = listed(ready, make(6, words), words)
    frame = page.frame("run", "created")
    assert "macro F1@5" not in frame
    assert frame["n"].tolist() == [3, 3] and frame["spread"].notna().all()
    frame = page.set("compare.lines", "result").frame("run", "created")
    assert len(frame) == 6 and "spread" not in frame and set(frame["param.random_state"]) == {0, 1, 2}
    assert frame["P@1"].is_monotonic_decreasing
    more = ["macro F1@5", "coverage@3"]
    frame = page.set("compare.more", ["All settings", *more]).frame("P@1", *more)
    assert "param.n_estimators" in frame and (frame["coverage@3"] > 0).all()
    assert page.set("compare.more", ["macro F1"]).frame("P@1", "macro F1")["macro F1"].isna().all()  # of older runs
    assert not {"coverage@3"} & {*page.frame(side.MEASURE)[side.MEASURE]}
    page.set("compare.more", ["All settings", *more])
    wide = page.frame(side.MEASURE).set_index(side.MEASURE)
    assert set(more) <= set(wide.index) and len(wide.columns) == 4


def test_measures_are_by_the_decision_kept_on_predict(ready):
    kept, other = train(ready, "PLT"), train(ready, "OneVsRest")
    page = ready.go("compare").set("compare.more", [*experiment.DECIDED])
    trained = experiment.runs([kept, other]).set_index("key")
    assert page.frame("run", "labels")["decision"].str.startswith("after training: labels with ").all()
    task = experiment.task("decide", {"run": kept})
    with fields_of(page) as fields:
        fields["widgets"][f"predict.decision {kept}"] = "macro F1@3"
    page.at.session_state["workspace.view"]["widgets"][f"predict.decision {kept}"] = "macro F1@3"
    assert "macro F1@3" not in {*page.run().frame("run", "labels")["decision"]}  # not learnt yet
    experiment.keep(task)
    by_model = page.run().frame("run", "labels").set_index("model")
    told = task.load().line("macro F1@3")
    assert by_model["decision"].to_dict() == {
        "PLT": "macro F1@3",
        "OneVsRest": f"after training: {trained.loc[other, 'rule']}",
    }
    assert by_model.loc["PLT", "labels"] == 3 != trained.loc[kept, "labels"]
    for name in ("micro F1", "samples F1", "macro F1"):
        assert by_model.loc["PLT", name] == pytest.approx(100 * told[name])
        assert by_model.loc["OneVsRest", name] == pytest.approx(100 * trained.loc[other, name])


def test_tags_notes_and_names_are_kept_and_found(ready, session, words):
    page = listed(ready, make(6, words), words)
    keys = list(records(page))
    page = ticked(page, keys[:3])
    fields = [field.key for field in (*page.at.text_input, *page.at.text_area) if field.key]
    for start, value in (("tags.", " final, ablation ,, final"), ("note.", "the *best* one"), ("name.", "mine")):
        page.set(next(key for key in fields if key.startswith(f"compare.{start}")), value)
    named = next(record for record in records(page).values() if record.get("name"))
    assert [records(page)[key]["tags"] for key in keys[:3]] == [["final", "ablation"]] * 3
    again = session(page.token).go("compare")
    frame = again.frame("run", "created").set_index("run")
    assert frame.loc["mine", ["tags", "note"]].tolist() == ["final, ablation", "the *best* one"]
    assert named["name"] == "mine"
    for field, value in (("tag", "ablation"), ("tag", "all"), ("text", "BEST")):
        shown = again.set(f"compare.{field}", value).frame("run", "created")["run"].tolist()
        assert (shown == ["mine"]) == (value != "all")


def called(page):
    """What the page calls the results side by side, by key."""
    buttons = [one for one in page.at.button if (one.key or "").startswith("compare.open.")]
    return {one.key.rpartition(".")[2]: one.label.replace("\\", "") for one in buttons}


def test_a_result_has_one_name_whatever_else_is_listed(ready, words):
    made = make(24, words)  # of a model two settings with three seeds, or six settings
    made[20]["name"] = "mine"
    page = listed(ready, made, words)
    keys = [made[at]["key"] for at in (0, 6, 7, 20)]
    page = ticked(page, [made[at]["key"] for at in (0, 1, 2, 6, 7, 20)])
    before = called(page)
    assert {"OneVsRest (C 7)", "OneVsRest (C 8)", "mine"} < {*before.values()}
    assert called(page.set("compare.text", "C=7.0")) == before and len(page.frame("run", "created")) == 1
    assert called(ticked(page, [])) == {keys[1]: "OneVsRest (C 7)"}
    page.at.text_input(key="compare.text").set_value("")
    alone = called(ticked(page.set("compare.lines", "result"), keys))
    assert alone == {**{key: before[key] for key in keys[1:]}, keys[0]: "PLT"}, "as on the other pages"


@pytest.mark.sections("Side by side")
def test_a_filter_that_fits_nothing_can_be_cleared(ready, session, words):
    page = listed(ready, make(6, words), words)
    before = list(tabs(page))
    page.at.text_input(key="compare.text").set_value("nothing like this")
    page.set("compare.model", "PLT")
    assert "Lines and columns (1 filter)" in [block.proto.popover.label for block in page.at.get("popover")]
    assert "Showing 0 of 6 results." in page.text() and "Nothing is compared" in page.text()
    assert list(tabs(page)) == before
    assert "Report, HTML" not in page.downloads(), "there is nothing to report on"
    assert "Showing 6 of 6 results" in page.press("compare.clear").text() and list(tabs(page)) == before
    assert page.at.text_input(key="compare.text").value == "" and page.at.selectbox(key="compare.model").value == "all"
    assert not page.at.warning, "Streamlit warns of a field with two values"
    assert "Showing 6 of 6 results" in session(page.token).go("compare").text(), "also after a reload"


def test_unreadable_results_are_named_with_the_reason(ready, words):
    made = make(12, words, seeds=1)
    page = listed(ready, made, words)
    best, name = next(iter(called(page).items()))
    damage("runs", best)
    said = plainly(page.run())
    assert f"{name} is left out" in said and f"runs/{best} is damaged" in said and "3 side by side" in said
    said = plainly(page.run())
    assert f"({best[:4]})." in said and "Showing 11 of 11 results" in said
    assert "is left out" not in said and "4 side by side on words" in said
    for record in made:
        store.delete("runs", record["key"])
    said = plainly(page.run())
    assert "and 7 more." in said and "No model has been trained" not in said


@pytest.mark.usefixtures("first_figures")
def test_only_the_best_or_ticked_results_are_read(ready, words, monkeypatch):
    page = listed(ready, make(16, words, seeds=1), words)
    said = "The 4 best in P@1"
    assert said in page.text() and len(called(page)) == 4
    page = ticked(page, list(called(page))[:2])
    assert said not in page.text() and len(called(page)) == 2
    read, real = set(), cached.run
    monkeypatch.setattr(cached, "run", lambda key: read.add(key) or real(key))
    page = ticked(page, list(records(page)))
    assert "12 side by side on words" in page.text() and "Showing 12 of 16 lines" in page.text()
    assert len(read) <= 14


def test_archived_and_deleted_results_come_back(ready, words):
    page = listed(ready, make(6, words), words)
    keys = list(records(page))
    ticked(page, keys[:3]).press("compare.archive")
    assert len(page.frame("run", "created")) == 1 and "Showing 3 of 6 results" in page.text()
    assert sorted(page.set("compare.archived", True).frame("run", "created")["archived"]) == ["", "archived"]
    assert len(page.go("train").at.selectbox(key="train.run").options) == 3
    page.go("compare").press("compare.archive")
    assert not any(one.get("archived") for one in records(page).values())
    before = records(page)
    ticked(page, list(before)[:3]).press("compare.delete")
    assert len(records(page)) == 3 and "Deleted PLT (Seed 0), PLT" in page.text()
    assert records(page.press("undo")) == before


@pytest.mark.sections("Side by side", "Is the difference real?", "Head, torso and tail")
def test_two_ticked_lines_stand_side_by_side(ready, words):
    page = listed(ready, make(12, words), words)
    keys = list(records(page))
    page = ticked(page, [keys[0], keys[1], keys[2], keys[6]])
    assert "2 side by side on words" in page.text()
    measures = page.frame(side.MEASURE)
    assert measures[side.MEASURE].tolist()[:3] == ["P@1", "P@3", "P@5"] and len(measures.columns) == 3
    wins = page.frame("bucket", "a", "equal", "b").set_index("bucket")
    labels = page.frame("name", "difference", "f1_a")
    assert wins.loc["all"].sum() == len(labels)
    assert np.allclose(labels["difference"], labels["f1_b"] - labels["f1_a"]), "second less first, as in all of the tab"
    heads = [json.loads(t.proto.columns or "{}").get("difference", {}).get("label") for t in page.at.dataframe]
    assert [head for head in heads if head] == ["Second − first"] * 2
    by = re.search(r"In P@1, .* is ([\d.]+) points ", page.text())[1]
    assert float(by) == pytest.approx(abs(page.frame("p_holm", "first")["difference"].iloc[0]), abs=0.06)
    assert figure(page, "Recall, better or worse than ") is not None
    assert figure(page.set("compare.buckets", "macro_f1"), "Macro F1, better or worse") is not None
    page.set("compare.more", ["coverage@5", "abandonment@5", "P@1"])
    tested = page.frame("p_holm", "first").set_index("measure")
    assert [*tested.index] == [*side_by_side.TESTED, "abandonment@5", "coverage@5"]
    assert np.allclose(tested["difference"], tested["value"] - tested["first"]) and (tested["p_holm"] <= 1).all()
    assert "Holm's method for 8 tests;" in page.text()
    assert {"Measures, LaTeX", "Data, CSV", "All results, CSV", "Report, HTML"} <= page.downloads()
    before = [element.proto.id for element in page.at.dataframe if "created" in element.value]
    page.press("compare.untick")
    assert "ticked:" not in page.text()
    assert [element.proto.id for element in page.at.dataframe if "created" in element.value] != before


@pytest.mark.sections("About this result")
def test_a_result_is_opened_on_the_train_page(ready, words):
    made = make(12, words, seeds=1)
    page = listed(ready, made, words)
    key, name = list(called(page).items())[-1]
    assert page.press(f"compare.open.{key}").at.title[0].value == "Train" and f"result-{key[:12]}" in page.view
    assert page.at.selectbox(key="train.run").value == key and name in page.text()
    facts = page.frame("what", "value").set_index("what")["value"]
    assert facts["Fingerprint of the data set"] == words.fingerprint and facts["Key"] == key
    settings = page.frame("title", "value", "by", "name")
    by = settings["by"].tolist()
    assert {"you", "default"} <= {*by} and by == sorted(by, key="default".__eq__) and "C" in {*settings["name"]}


@pytest.mark.sections("Over several data sets")
def test_three_data_sets_are_compared_by_the_best_of_each_model(ready, words):
    others = [small_data("second", 1), small_data("third", 2)]
    runs = [one for number, data in enumerate((words, *others)) for one in make(12, data, first=100 * number)]
    page = listed(ready, runs, words, *others)
    columns = page.frame("run", "dataset").columns.tolist()
    assert columns.index("dataset") < columns.index("run"), "a phone shows it"
    shown = page.frame("run", "dataset")["dataset"]
    assert shown[0] == "third" and (shown != shown.shift()).sum() == 3, "lines of a data set stand together"
    assert "over 3 data sets" in page.text()
    assert "3 data sets" not in page.set("compare.dataset", words.fingerprint).text()


def test_the_file_of_results_has_whole_seeds(own_cache, words, monkeypatch):
    fields = {"runs": make(24, words), "known": {}, "widgets": {}}
    monkeypatch.setattr("pages.compare.listed.workspace.get", fields.get)
    text = table.everything(every().frame).to_csv(index=False)
    seeds = pd.read_csv(io.StringIO(text), dtype=str)["seed"]
    assert set(seeds.dropna()) == {"0", "1", "2"} and seeds.isna().any()


@pytest.mark.usefixtures("first_figures")
@pytest.mark.sections("Is the difference real?")
def test_all_parts_read_one_table_of_tests(ready, words, monkeypatch):
    calls, real = [], side_by_side.differences
    monkeypatch.setattr(side_by_side, "differences", lambda *of: calls.append(of) or real(*of))
    made = make(3, words, seeds=1)
    page = listed(ready, made, words)
    assert len(calls) == 1, "figure, sentence and tab"
    data, runs, measures = calls[0]
    frame = real(data, runs, measures)
    shown = page.frame("p_holm", "first")
    own = frame[frame["run"] == frame["run"].iloc[0]]
    assert shown["p_holm"].tolist() == own["p_holm"].tolist() and len(frame) == 2 * len(own)
    assert f"Holm's method for {len(frame)} tests;" in page.text()
    report = experiment.report([record["key"] for record in made], measure="P@1")
    assert all(f"p = {p:.2g}<" in report for p in own["p_holm"])
