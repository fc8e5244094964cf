"""Links, lengths, figures and examples of the documentation."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
METHODS = sorted((ROOT / "docs" / "methods").glob("*.md"))
WITH_EXAMPLES = [
    page
    for page in [ROOT / "README.md", ROOT / "docs" / "measures.md", *METHODS]
    if "```python" in page.read_text(encoding="utf-8")
]


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=named)
def test_examples_run_as_they_are_written(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        exec(compile(block, named(page), "exec"), {"__name__": "example"})
