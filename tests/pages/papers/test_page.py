"""The Papers page: claims, their verdicts, and what repeats them on the data set in use."""

import pytest

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
    page.until(lambda page: shown(page)["here"].str.contains("at σ = 0.1").any())
    says = shown(page).set_index("where").loc["Tables 2 and 4", "here"]
    assert "trained on clean rows: P@1" in says and page.at.get("plotly_chart")
    assert page.view == f"claim-{NOISE}" or page.view.endswith(f"claim-{NOISE}")
