"""Links, lengths and figures of the documentation; tests/docs/test_examples.py runs its examples."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
METHODS = sorted((ROOT / "docs" / "methods").glob("*.md"))


def named(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", METHODS, ids=named)
def test_a_page_about_a_method_is_short_and_has_a_figure(page):
    text = page.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert re.search(r"!\[[^\]]+\]\([^)]+\.svg\)", text)
