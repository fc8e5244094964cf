"""Sections of a page in tabs."""

from pages.shared import sections
from tests.pages.making import train

KEY = "explain.section"


def test_only_the_open_section_is_drawn_and_one_that_is_gone_gives_way_to_the_first(ready):
    train(ready)
    page = ready.go("explain")
    page.at.session_state[KEY] = "of another version"
    assert "Why this and not that?" in page.run().text() and "Features of a label" not in page.text()
    page.at.session_state[KEY] = "Features of a label"
    assert "Features of a label" in page.run().text() and "Why this and not that?" not in page.text()


def opened(page, title):
    """Open a section, as a click on its tab does."""
    page.at.session_state[KEY] = title
    return page.run()


def test_the_address_names_the_open_section_and_opens_it(ready, session):
    train(ready)
    page = ready.go("explain")
    assert sections.FIELD not in page.at.query_params
    assert opened(page, "Features of a label").at.query_params[sections.FIELD] == "Features of a label"
    again = opened(session(ready.token).go("explain"), "Why this and not that?")
    again.walk(section="Features of a label")
    assert "Why this and not that?" not in again.text() and "Features of a label" in again.text()


def test_addresses_links_back_and_forward_name_and_open_the_section(ready):
    train(ready)
    page = ready.go("explain")
    opened(page, "Features of a label")
    assert "Why this and not that?" in page.walk().text()
    assert "Features of a label" in page.walk(section="Features of a label").text()
    assert "Why this and not that?" in page.walk(section="of another version").text()
    assert all("section=" not in link for link in links(page)), "it is the first"
    opened(page, "Features of a label")
    assert all(link.endswith("&section=Features%20of%20a%20label") for link in links(page))
    assert all("section=" not in link for link in links(page.go("jobs")))


def test_a_page_that_is_opened_again_has_the_section_open_that_was_open_there(ready):
    train(ready)
    page = opened(ready.go("explain"), "Features of a label")
    assert "Features of a label" in ready.go("jobs").go("explain").text()
    assert page.at.query_params[sections.FIELD] == "Features of a label"
    assert "Why this and not that?" in page.walk().text()


def test_the_section_that_was_open_opens_again_after_a_filter_that_left_nothing_to_compare(ready):
    train(ready)
    train(ready, C=3.0)
    page = ready.go("compare")
    assert "Head, torso and tail labels" in page.walk(section="Head, torso and tail").text()
    assert "Head, torso and tail labels" not in page.set("compare.text", "nothing like this").text()
    assert "Head, torso and tail labels" in page.set("compare.text", "").text()


def links(page):
    """The addresses that "Copy a link" shows."""
    page.at.session_state["sidebar.links"] = True
    return [code.value for code in page.run().at.sidebar.get("code")]
