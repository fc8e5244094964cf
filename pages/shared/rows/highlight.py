"""A text in which the words that speak for and against a label are marked: HTML, made from spans and contributions."""

import html

import numpy as np
import pandas as pd

from pages.shared import format
from xmlcore.datasets.readers.names import visible

LEVELS = 5  # depths of colour
SHOWN_WORDS = 3  # spellings of one feature in the table
# The blue and the vermilion of the figures, over the page's own background and below its own ink: the text keeps a
# contrast of 7 to 1 or more on a white and on a dark page. Lines below the words differ, too, for those who see no hue.
_FOR, _AGAINST = "0, 114, 178", "213, 94, 0"
_DEPTHS = (0.10, 0.18, 0.26, 0.35, 0.45)
STYLE = "\n".join(
    [
        ".hl-text { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 22rem; overflow-y: auto;",
        "  padding: 0.75rem 1rem; border: 1px solid rgba(128, 140, 150, 0.5); border-radius: 0.25rem;",
        "  line-height: 1.75; }",
        ".hl-text mark, .hl-legend mark { color: inherit; padding: 0.1em 0.15em; border-radius: 0.2em; }",
        ".hl-for { border-bottom: 2px solid rgb(0, 114, 178); }",
        ".hl-against { border-bottom: 2px dashed rgb(213, 94, 0); }",
        *(f".hl-for.hl-{i} {{ background: rgba({_FOR}, {depth}); }}" for i, depth in enumerate(_DEPTHS, 1)),
        *(f".hl-against.hl-{i} {{ background: rgba({_AGAINST}, {depth}); }}" for i, depth in enumerate(_DEPTHS, 1)),
        ".hl-legend, .hl-words { margin: 0.5rem 0 0; font-size: 0.875rem; }",
        ".hl-words summary { cursor: pointer; }",
        ".hl-words > div { max-height: 20rem; overflow: auto; }",
        ".hl-words table { border-collapse: collapse; margin-top: 0.5rem; min-width: min(100%, 30rem); }",
        ".hl-words caption { text-align: left; }",
        ".hl-words :is(th, td) { text-align: left; padding: 0.15rem 1rem 0.15rem 0; overflow-wrap: anywhere; }",
        ".hl-words :is(th, td):not(:first-child) { text-align: right; font-variant-numeric: tabular-nums; }",
    ]
)


def pieces(text: str, spans, contributions: dict) -> list[tuple[str, float]]:
    """Cut a text where spans begin or end, and return each piece with the contributions of all that covers it."""
    starts, ends, features = (np.asarray(part, np.int64) for part in spans)
    values = np.array([contributions.get(j, 0.0) for j in features.tolist()])
    cuts = np.unique(np.concatenate([[0, len(text)], starts, ends]))
    change = np.zeros(cuts.size)
    np.add.at(change, np.searchsorted(cuts, starts), values)
    np.add.at(change, np.searchsorted(cuts, ends), -values)
    # A sum that should be 0 may be a rounding error.
    sums = np.cumsum(change)[:-1]
    smallest = 1e-9 * np.abs(values).max(initial=0.0)
    sums[np.abs(sums) <= smallest] = 0.0
    return [(text[a:b], value) for a, b, value in zip(cuts[:-1].tolist(), cuts[1:].tolist(), sums.tolist())]


def words(text: str, spans, contributions: dict) -> pd.DataFrame:
    """Return the known words of a text, those that contribute most first."""
    found = {}
    for start, end, feature in zip(*(np.asarray(part).tolist() for part in spans)):
        spellings, times = found.get(feature, ({}, 0))
        spellings.setdefault(" ".join(text[start:end].split()).casefold(), text[start:end])
        found[feature] = spellings, times + 1
    lines = []
    for feature, (spellings, times) in found.items():
        shown = list(spellings.values())
        more = f" and {len(shown) - SHOWN_WORDS:,} more" if len(shown) > SHOWN_WORDS else ""
        word = " / ".join(" ".join(spelling.split()) for spelling in shown[:SHOWN_WORDS]) + more
        lines.append((feature, word, times, contributions.get(feature, 0.0)))
    frame = pd.DataFrame(lines, columns=["feature", "word", "times", "contribution"])
    order = np.lexsort((frame["feature"].to_numpy(np.int64), -frame["contribution"].abs().to_numpy(np.float64)))
    return frame.iloc[order].reset_index(drop=True)


def page(text: str, spans, contributions: dict, label: str, unit: str, title: str = "Text") -> str:
    """Return a text with marked words, a legend, and a table of the words, as HTML; all texts are escaped."""
    cut = pieces(text, spans, contributions)
    most = max((abs(value) for _, value in cut), default=0.0)
    marked = "".join(_marked(piece, value, most, unit) for piece, value in cut)
    about = html.escape(f"{title}, with words for and against {visible(label)}", quote=True)
    listed = words(text, spans, contributions)
    return (
        f"<style>{STYLE}</style>"
        f'<div class="hl-text" role="region" aria-label="{about}" tabindex="0">{marked}</div>'
        f"{_legend(label)}{_table(listed, label, unit, title)}"
    )


def _marked(piece, value, most, unit):
    shown = html.escape("\n".join(visible(line) for line in piece.split("\n")), quote=False)
    if not value or not piece.strip():
        return shown
    level = min(LEVELS, 1 + int(LEVELS * abs(value) / most))
    way = "for" if value > 0 else "against"
    return f'<mark class="hl-{way} hl-{level}" title="{format.signed(value)} to {html.escape(unit)}">{shown}</mark>'


def _legend(label):
    name = html.escape(visible(label), quote=False)
    text = (
        f'<mark class="hl-for hl-3">Blue, solid line</mark>: raises the score of <strong>{name}</strong>. '
        f'<mark class="hl-against hl-3">Orange, dashed line</mark>: lowers it.'
    )
    return f'<p class="hl-legend">{text}</p>'


def _table(listed, label, unit, title):
    lines = "".join(
        f"<tr><td>{html.escape(visible(line.word), quote=False)}</td><td>{line.times:,}</td>"
        f"<td>{format.signed(line.contribution) if line.contribution else 0}</td></tr>"
        for line in listed.itertuples()
    )
    name, unit = (html.escape(visible(part), quote=False) for part in (label, unit))
    return (
        f'<details class="hl-words"><summary>The {format.count(len(listed), "known word")} as a table</summary>'
        f'<div role="region" aria-label="{html.escape(title)}: known words" tabindex="0"><table>'
        f"<caption>Contributions to {unit} of {name}, the largest first</caption>"
        '<thead><tr><th scope="col">Word</th><th scope="col">Times</th><th scope="col">Contribution</th></tr></thead>'
        f"<tbody>{lines}</tbody></table></div></details>"
    )
