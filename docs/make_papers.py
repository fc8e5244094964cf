"""Make docs/papers.md from the table of claims: ``python docs/make_papers.py``."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "papers.md"
HEAD = """# The four papers

Every table, figure, lemma, theorem and algorithm of the four papers: what it says, what was published, and what was
found here. The [Papers page](pages/papers.md) of the dashboard has the same list, and repeats it on your data.
`python docs/make_papers.py` makes this file from `xmlcore.papers.CLAIMS`.

"""


def text() -> str:
    """Return what the file has."""
    from xmlcore import papers

    parts = [HEAD, *(f"- **{name.capitalize()}**: {about}.\n" for name, about in papers.VERDICTS.items())]
    for name, paper in papers.PAPERS.items():
        parts.append(f"\n## {paper.title}\n\n{paper.citation}.\n\n")
        parts.append("| in the paper | claim | published | verdict | reason | evidence | repeated by | drawn by |\n")
        parts.append("|---|---|---|---|---|---|---|---|\n")
        for claim in (claim for claim in papers.CLAIMS if claim.paper == name):
            values = f" ([all](../xmlcore/papers/values/{claim.table}.csv))" if claim.table else ""
            repeat = "–" if claim.repeat is None else claim.repeat.kind + _models(claim.repeat)
            figure = f"{claim.figure}, " * bool(claim.figure) + f"[{claim.page}](pages/{claim.page.lower()}.md)"
            cells = (claim.title, claim.says, claim.published + values, claim.verdict, claim.reason)
            cells = (
                *(cell.strip().replace("|", "\\|") or "–" for cell in cells),
                _link(claim.evidence),
                repeat,
                figure,
            )
            parts.append(f"| {' | '.join(cells)} |\n")
    return "".join(parts)


def _models(repeat) -> str:
    named = dict.fromkeys(
        f"`{model}.preset({preset!r})`" if preset else f"`{model}()`" for _, model, preset, _ in repeat.models
    )
    own = ", or the paper's preset for the data set" if repeat.presets else ""
    return f" of {', '.join(named)}{own}" if named else ""


def _link(place) -> str:
    name = re.sub(r"(.*/)|(\.md.*)", "", place).replace("_", " ")
    return f"[{name}]({place.removeprefix('docs/') if place.startswith('docs/') else f'../{place}'})"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    FILE.write_text(text(), encoding="utf-8")
    print(FILE)
