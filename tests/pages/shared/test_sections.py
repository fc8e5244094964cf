"""Sections of a page in tabs."""

from pages.shared import sections
from tests.pages.making import train

KEY, FIRST, LATER = "explain.section", "To the right: for ", "Features of a label"
LATER_SAYS = "diamonds the mean with its sign"


def test_only_the_open_section_is_drawn(ready):
    train(ready)
    page = opened(ready.go("explain"), "of another version")
    assert FIRST in page.text() and LATER_SAYS not in page.text()
    assert LATER_SAYS in opened(page, LATER).text() and FIRST not in page.text()


def opened(page, title):
    """Open a section, as a click on its tab does."""
    page.at.session_state[KEY] = title
    return page.run()


def test_addresses_and_history_open_the_section(ready, session):
    train(ready)
    page = ready.go("explain")
    assert sections.FIELD not in page.at.query_params
    assert opened(page, LATER).at.query_params[sections.FIELD] == LATER
    assert FIRST in page.walk().text()
    assert all("section=" not in link for link in links(page))
    assert all("section=" in link for link in shown_links(opened(page, LATER))), "at once"
    assert FIRST in page.walk().text()
    assert LATER_SAYS in page.walk(section=LATER).text() and FIRST not in page.text()
    assert FIRST in page.walk(section="of another version").text()
    assert all("section=" not in link for link in links(page)), "it is the first"
    opened(page, LATER)
    assert all(link.endswith("&section=Features%20of%20a%20label") for link in links(page))
    assert all("section=" not in link for link in links(page.go("jobs")))
    assert LATER_SAYS in page.go("explain").text(), "a page that is opened again has open what was open there"
    assert page.at.query_params[sections.FIELD] == LATER
    again = opened(session(ready.token).go("explain"), FIRST)
    assert LATER_SAYS in again.walk(section=LATER).text() and FIRST not in again.text()


def test_the_open_section_comes_back_after_an_empty_filter(ready):
    train(ready)
    train(ready, C=3.0)
    page, header = ready.go("compare"), "Head labels are the most"
    assert header in page.walk(section="Head, torso and tail").text()
    assert header not in page.set("compare.text", "nothing like this").text()
    assert header in page.set("compare.text", "").text()


def links(page):
    """The addresses that "Copy a link" shows."""
    page.at.session_state["sidebar.links"] = True
    return shown_links(page.run())


def shown_links(page):
    return [code.value for code in page.at.sidebar.get("code")]
