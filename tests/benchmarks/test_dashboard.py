"""What benchmarks press on pages is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(
    r'(?:press|section|fill|choose|radio|find)\((?:\s*|"button", )"([^"]+)"|BUTTONS = \("([^"]+)", "([^"]+)"'
)


@pytest.mark.parametrize("path", ["dashboard.py", "library/crowd.py"])
def test_benchmarks_press_what_pages_have(path):
    pages = "".join(one.read_text("utf-8") for one in (ROOT / "pages").rglob("*.py"))
    found = NAMED.findall((ROOT / "benchmarks" / path).read_text("utf-8"))
    names = {name for names in found for name in names if name}
    assert names and [name for name in names if name not in pages] == []
