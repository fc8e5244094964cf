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


def test_one_button_trains_and_then_measures_what_is_missing(ready, monkeypatch):
    monkeypatch.setitem(papers.extended_plt.NOISE.params, "n_repeats", 1)
    making.use(ready, making.word_data())
    page = ready.go("papers")
    with making.fields_of(page) as fields:
        fields["widgets"].pop("preferences.automatic", None)
    page.walk(at=f"claim-{NOISE}")
    page.make("papers.train")
    page.make("papers.repeat")
    says = shown(page).set_index("where").loc["Tables 2 and 4", "here"]
    assert says.count("P@1") == 2 and "at σ = 0.1" in says
    assert "trained on noisy copies, too" in making.plainly(page) and len(page.at.get("plotly_chart")) == 1
