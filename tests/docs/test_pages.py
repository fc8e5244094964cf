"""Links, lengths and figures of the documentation, and the table of claims; test_blocks.py runs its code."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from xmlcore.datasets import read_matrix

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
METHODS = sorted((ROOT / "docs" / "methods").glob("*.md"))
sys.path.insert(0, str(ROOT / "docs"))
site_hooks, make_papers = map(import_module, ("site_hooks", "make_papers"))
sys.path.pop(0)


def named(page):
    return page.relative_to(ROOT).as_posix()


def test_every_link_leads_to_a_file():
    missing = []
    for page in PAGES:
        links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        missing += [(page, link) for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


def test_every_test_that_is_named_exists():
    tests = {test for page in PAGES for test in re.findall(r"`(tests/[\w/]+\.py)", page.read_text(encoding="utf-8"))}
    assert tests and not [test for test in tests if not (ROOT / test).exists()]


def test_each_guarantee_names_a_test():
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    sections = [
        part for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:] if not part.startswith("Not guaranteed")
    ]
    lines = [line for part in sections for line in part.splitlines() if re.match(r"\| (?!what|killed)", line)]
    assert len(lines) > 15 and not [line for line in lines if "`tests/" not in line.rpartition(" | ")[2]]
    assert all("`tests/" in part for part in sections)


@pytest.mark.parametrize("page", METHODS, ids=named)
def test_a_page_about_a_method_is_short_and_has_a_figure(page):
    text = page.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert re.search(r"!\[[^\]]+\]\([^)]+\.svg\)", text)


@pytest.mark.parametrize("page", TUTORIALS, ids=named)
def test_a_tutorial_is_short_and_its_notebook_has_the_same_code(page):
    assert 60 <= len(page.read_text(encoding="utf-8").splitlines()) <= 120
    cells = site_hooks.notebook_of(page).cells
    code = [cell.source.strip() for cell in cells if cell.cell_type == "code"]
    assert code == [block.strip() for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)]
    assert not [cell for cell in cells if cell.cell_type == "markdown" and ".md" in cell.source]


def test_the_arff_example_is_read_as_the_page_says():
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```text\n(@relation.*?)```", text, re.DOTALL)
    X, Y, feature_names, label_names = read_matrix(example.encode())
    assert X.toarray().tolist() == [[95, 1, 1, 0, 0], [120, 1, 0, 0, 1]]
    assert Y.toarray().tolist() == [[True, False], [False, True]]
    assert feature_names == ["length", "film's mood=wild", "country=fr", "country=it", "country=us"]
    assert label_names == ["comedy", "drama"]


def test_the_list_of_claims_is_made_anew():
    assert make_papers.FILE.read_text(encoding="utf-8") == make_papers.text(), "run python docs/make_papers.py"
