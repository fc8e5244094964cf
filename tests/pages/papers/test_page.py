"""The Papers page: claims, their verdicts, and what repeats them on the data set in use."""

from types import SimpleNamespace

import pandas as pd
import pytest

from pages.papers import repeated
from tests.pages import making
from xmlcore import papers

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


def test_a_link_opens_a_claim_without_a_data_set(session):
    page = session(view=f"claim-{NOISE}").go("papers")
    assert papers.CLAIMS[NOISE].reason in making.plainly(page)


def test_models_are_trained_and_then_measured_on_the_data_in_use(ready, monkeypatch):
    monkeypatch.setitem(papers.extended_plt.NOISE.params, "n_repeats", 1)
    monkeypatch.setitem(papers.extended_plt.NOISE.params, "levels", (0.1,))
    making.use(ready, making.word_data())
    page = ready.go("papers")
    page.tick(page.at.dataframe[0], 1)  # short tasks begin unasked in this workspace
    page.until(lambda page: "at σ = 0.1" in shown(page).set_index("where").loc["Tables 2 and 4", "here"])
    says = shown(page).set_index("where").loc["Tables 2 and 4", "here"]
    assert "trained on clean rows: P@1" in says and page.at.get("plotly_chart")
    assert page.view == f"claim-{NOISE}" or page.view.endswith(f"claim-{NOISE}")


def test_words_are_of_what_a_claim_is_about():
    times, measured = {"fit_s": 2.0, "predict_s": 0.5}, [("P@k", 1, 0.75), ("F1 of means@k", 1, 0.355)]
    measures = pd.DataFrame(measured, columns=["measure", "k", "value"])
    kept = {"a": SimpleNamespace(measures=measures, times=times, size={"depth": 9}, memory={})}
    words = repeated._trained(kept, ("F1 of means@1", "fit_s", "memory", "depth"))
    assert [text.replace("\u00a0", " ") for text in words] == ["a: F1 of means@1 35.5 %, trained in 2.0 s, depth 9"]
    assert repeated._trained(kept, ()) == []
    lines = [("predict_s", 1, 0.0, 1.0), ("predict_s", 5, 0.0, 2.0), ("predict_s", 5, 0.1, 9.0), ("P@k", 1, 0.0, 0.5)]
    frame = pd.DataFrame(lines, columns=["measure", "k", "sigma", "value"]).assign(bucket="all")
    (text,) = repeated._robust({"": SimpleNamespace(frame=frame)}, ("predict_s",))
    assert text.replace("\u00a0", " ") == "predicted in 2.0 s, 9.0 s at σ = 0.1"
