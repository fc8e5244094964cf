"""docs/papers.md is the table of claims of today."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))


def test_the_list_of_claims_is_made_anew():
    import make_papers

    assert make_papers.FILE.read_text(encoding="utf-8") == make_papers.text(), "run python docs/make_papers.py"
