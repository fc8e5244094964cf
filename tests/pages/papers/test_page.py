"""The Papers page: claims, their verdicts, and what repeats them on the data set in use."""

from types import SimpleNamespace

import pandas as pd
import pytest

from pages.papers import repeated
from tests.pages import making
from tests.pages.small import small_data
from xmlcore import datasets, experiment, metrics, papers

NOISE = next(at for at, claim in enumerate(papers.CLAIMS) if claim.where == ("Table 2", "Table 4"))


def shown(page):
    return page.frame("where", "says", "verdict", "here")


@pytest.mark.parametrize("name", papers.PAPERS)
def test_the_page_has_the_claims_of_a_paper(ready, name):
    page = ready.go("papers").set("papers.paper", name)
    own = [claim for claim in papers.CLAIMS if claim.paper == name]
    assert shown(page)["verdict"].tolist() == [claim.verdict for claim in own]
    assert sum(int(count) for count in page.metrics().values()) == len(own)
    assert own[0].reason in making.plainly(page)


@pytest.mark.parametrize("claim", [NOISE, len(papers.CLAIMS) - 1])
def test_a_link_opens_a_claim_without_a_data_set(session, claim):
    page = session(view=f"claim-{claim}").go("papers")
    assert papers.CLAIMS[claim].reason in making.plainly(page)


def test_models_are_trained_and_then_measured_on_the_data_in_use(ready, monkeypatch):
    monkeypatch.setitem(papers.extended_plt.NOISE.params, "n_repeats", 1)
    monkeypatch.setitem(papers.extended_plt.NOISE.params, "levels", (0.1,))
    making.use(ready, making.word_data())
    page = ready.go("papers")
    page.tick(page.at.dataframe[0], 1)  # short tasks begin unasked in this workspace
    page.until(lambda page: "at σ = 0.1" in shown(page).set_index("where").loc["Tables 2 and 4", "here"])
    says = shown(page).set_index("where").loc["Tables 2 and 4", "here"]
    assert says.partition(":")[0] in papers.VERDICTS and "trained on clean rows: P@1" in says
    assert page.at.get("plotly_chart")
    assert page.view == f"claim-{NOISE}" or page.view.endswith(f"claim-{NOISE}")


def test_words_are_of_what_a_claim_is_about():
    times, measured = {"fit_s": 2.0, "predict_s": 0.5}, [("P@k", 1, 0.75), ("F1 of means@k", 1, 0.355)]
    measures = pd.DataFrame(measured, columns=["measure", "k", "value"])
    run = SimpleNamespace(measures=measures, times=times, size={"depth": 9}, memory={})
    found = {"a": repeated._trained(run, {})[""]}
    words = repeated.said(found, ("F1 of means@1", "fit_s", "memory", "depth"))
    assert [text.replace("\u00a0", " ") for text in words] == ["a: F1 of means@1 35.5 %, trained in 2.0 s, depth 9"]
    assert repeated.said(found, ()) == []
    lines = [("predict_s", 1, 0.0, 1.0), ("predict_s", 5, 0.0, 2.0), ("predict_s", 5, 0.1, 9.0), ("P@k", 1, 0.0, 0.5)]
    lines += [("P@k", 1, 0.1, 0.4)]
    frame = pd.DataFrame(lines, columns=["measure", "k", "sigma", "value"]).assign(bucket="all")
    found = repeated._robust(SimpleNamespace(frame=frame), {})
    (text,) = repeated.said(found, ("predict_s",))
    assert text.replace("\u00a0", " ") == "predicted in 2.0 s, predicted in 9.0 s at σ = 0.1"
    assert found[""]["P@1 lost"] == pytest.approx(0.2)


def test_parts_say_what_trees_and_nodes_add():
    lines = [("n_trees", 1, 9, 0, 0.4), ("n_trees", 10, 9, 0, 0.5), ("n_trees", 50, 9, 0, 0.51)]
    lines += [("max_nodes", 50, 10, 2, 0.5), ("max_nodes", 50, 40, 8, 0.6)]
    frame = pd.DataFrame(lines, columns=["axis", "n_trees", "max_nodes", "depth", "value"]).assign(measure="P@k", k=1)
    found = repeated._parts(SimpleNamespace(measures=frame), {"arity": 2})[""]
    assert found["gain after ten trees"] == pytest.approx(0.02) and found["gain of nodes"] == pytest.approx(0.2)
    assert found["levels of M times the nodes"] == pytest.approx(3)


def test_comparisons_are_named_by_the_sizes_of_the_data():
    lines = [("all features", 1.0, 0.4), ("FALS", 0.1, 0.3), ("FALS (n_hidden 30)", 0.1, 0.2), ("FALS", 0.7, 0.9)]
    frame = pd.DataFrame(lines, columns=["method", "share", "value"]).assign(measure="one-error", select_s=1.0)
    alike = pd.DataFrame({"b": ["FALS"], "jaccard": [0.5]})
    found = repeated._compared(SimpleNamespace(frame=frame, agreement=alike), {"D": 30, "C": 3})
    assert found["FALS"] == {"one-error": 0.3, "select_s": 1.0, "Jaccard": 0.5}
    assert found["FALS (n_hidden D)"]["one-error"] == 0.2 and "Jaccard" not in found["all features"]


def test_gradients_and_the_bound_are_shown_for_the_data_in_use(ready, monkeypatch):
    making.use(ready, making.word_data())
    page = ready.go("papers").set("papers.paper", "fals")
    page.tick(page.at.dataframe[0], claims("fals").index(("Figure 5",)))
    page.until(lambda page: page.at.get("plotly_chart"))
    page.set("papers.paper", "double_sampling")
    page.tick(page.at.dataframe[0], claims("double_sampling").index(("Lemma 4",)))
    page.until(lambda page: any("as proved" in of.value.to_string() for of in page.at.dataframe))


@pytest.mark.sections("Other methods")
def test_methods_that_six_data_sets_tell_apart_are_not_joined(ready, monkeypatch):
    methods = "all features", "FALS", "Random forest", "LASSO", "LIFT"
    lines = [(name, measure, seed) for name in methods for measure in metrics.SCORE_MEASURES for seed in range(3)]
    frame = pd.DataFrame(lines, columns=["method", "measure", "seed"])
    frame = frame.assign(pattern="", share=0.1, n_features=2, select_s=1.0, seconds=1.0)
    about, keys = dict.fromkeys(("n_rows", "n_train", "n_test_rows", "n_test"), 9), []
    about |= {"fingerprint": "", "agreement": pd.DataFrame({"b": [], "jaccard": []})}
    for at in range(6):  # on each, FALS is the best, and others change their places
        value = [0.1 if name == "FALS" else 0.2 + (methods.index(name) + at) % 4 / 10 for name, *_ in lines]
        made = about | {"frame": frame.assign(value=value)}
        monkeypatch.setattr(experiment.KINDS["compare_selections"], "run", lambda task, *_, made=made, **__: made)
        data = {"dataset": datasets.save_dataset(small_data(seed=at) if at else making.word_data())}
        task = experiment.task("compare_selections", data, papers.fals.RIVALS.params)
        experiment.keep(task)
        keys.append([task.folder, task.key])
    making.select(ready, n_epochs=1)
    with making.fields_of(ready) as fields:
        fields["made"] += keys
    of_page = ready.go("papers").set("papers.paper", "fals")
    of_page.tick(of_page.at.dataframe[0], claims("fals").index(("Figure 7",)))
    for page in (of_page, ready.go("features")):
        if page.at.get("multiselect"):
            page.at.multiselect(key="features.methods").set_value(list(methods))
            page.set("features.measure", "one-error")
        drawn = making.figure(page, "Methods that a test does not tell apart")
        pairs = [pair for trace in drawn["data"] for pair in trace.get("customdata", ())]
        assert len(pairs) == 6 and not any("FALS" in pair for pair in pairs) and "on 6 data sets" in page.text()


def claims(name):
    return [claim.where for claim in papers.CLAIMS if claim.paper == name]
