"""Sections of a page in tabs."""

import pytest

from tests.pages.making import train

KEY = "explain.section"


@pytest.fixture
def all_sections_open():
    """Only the section whose tab is open is drawn in these tests."""


def test_only_the_open_section_is_drawn(ready):
    train(ready)
    page = ready.go("explain")
    assert "Why this and not that?" in page.text() and "Features of a label" not in page.text()
    page.at.session_state[KEY] = "Features of a label"
    assert "Features of a label" in page.run().text() and "Why this and not that?" not in page.text()


def test_a_section_that_is_gone_gives_way_to_the_first(ready):
    train(ready)
    page = ready.go("explain")
    page.at.session_state[KEY] = "of another version"
    assert "Why this and not that?" in page.run().text()
