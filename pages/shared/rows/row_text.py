"""The text of a row, as it is, or with the words marked that speak for and against a label: HTML, made from spans."""

import html

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import format, tables
from xmlcore.datasets.readers.names import visible

MOST = 20_000  # characters that are shown
BOX = (
    "white-space: pre-wrap; overflow-wrap: anywhere; max-height: 14rem; overflow-y: auto; padding: 0.5rem 0.75rem; "
    "border: 1px solid rgba(128, 140, 150, 0.5); border-radius: 0.25rem; line-height: 1.5;"
)
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
        ".hl-text mark, .hl-legend mark { color: inherit; padding: 0.1em 0; }",
        ".hl-for { border-bottom: 2px solid rgb(0, 114, 178); }",
        ".hl-against { border-bottom: 2px dashed rgb(213, 94, 0); }",
        *(f".hl-for.hl-{i} {{ background: rgba({_FOR}, {depth}); }}" for i, depth in enumerate(_DEPTHS, 1)),
        *(f".hl-against.hl-{i} {{ background: rgba({_AGAINST}, {depth}); }}" for i, depth in enumerate(_DEPTHS, 1)),
        ".hl-legend { margin: 0.5rem 0 0; font-size: 0.875rem; }",
    ]
)


def show(data, part: str, row: int) -> None:
    """Show the text of a row, in a box that scrolls if it is long; nothing where rows have no texts."""
    texts = tables.texts(data, part)
    text = None if texts is None else texts[row]
    if text is None:
        return
    if not text.strip():
        st.caption("The text of this row is empty.")
        return
    lines = "\n".join(visible(line) for line in text[:MOST].replace("\r\n", "\n").split("\n"))
    # A region that scrolls can be reached by the keyboard, and has a name for screen readers.
    st.html(f'<div role="region" aria-label="Text of the row" tabindex="0" style="{BOX}">{html.escape(lines)}</div>')
    if len(text) > MOST:
        st.caption(f"Showing {MOST:,} of {format.count(len(text), 'character')}.")


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
    """Return a text with marked words, and a legend, as HTML; all texts are escaped."""
    cut = pieces(text, spans, contributions)
    most = max((abs(value) for _, value in cut), default=0.0)
    marked = "".join(_marked(piece, value, most, unit) for piece, value in cut)
    about = html.escape(f"{title}, with words for and against {visible(label)}", quote=True)
    name = html.escape(visible(label), quote=False)
    return (
        f"<style>{STYLE}</style>"
        f'<div class="hl-text" role="region" aria-label="{about}" tabindex="0">{marked}</div>'
        '<p class="hl-legend"><mark class="hl-for hl-3">Blue, solid line</mark>: raises the score of '
        f'<strong>{name}</strong>. <mark class="hl-against hl-3">Orange, dashed line</mark>: lowers it.</p>'
    )


def _marked(piece, value, most, unit):
    shown = html.escape("\n".join(visible(line) for line in piece.split("\n")), quote=False)
    if not value or not piece.strip():
        return shown
    level = min(LEVELS, 1 + int(LEVELS * abs(value) / most))
    way = "for" if value > 0 else "against"
    return f'<mark class="hl-{way} hl-{level}" title="{format.signed(value)} to {html.escape(unit)}">{shown}</mark>'
