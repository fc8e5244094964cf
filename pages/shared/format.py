"""Format numbers and names: all pages write them in the same way.

A no-break space stands between a number and its unit, so that a line never ends between the two. Files that are
downloaded have numbers, with the unit in the column's name.
"""

import contextlib
import functools
import math
import re
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st

from xmlcore import wording
from xmlcore.datasets.readers.names import visible
from xmlcore.wording import enumeration as listed  # noqa: F401


def count(number: int, noun: str = "", many: str | None = None) -> str:
    """Return a number with its noun in the right form: ``1,234 rows``, ``1 row``."""
    word = noun if number == 1 else (many if many is not None else noun + "s" if noun else "")
    return f"{number:,} {word}".rstrip()


def showing(shown: int, total: int, noun: str, many: str | None = None) -> str:
    """Return how many are shown: ``Showing 5 of 12 rows``, or ``12 rows`` if that is all."""
    return f"Showing {shown:,} of {count(total, noun, many)}" if shown < total else count(total, noun, many)


def unbroken(text: str) -> str:
    return re.sub(r"(?<=\d) ", "\u00a0", text)


def _unbroken(write):
    """Return a function of :mod:`xmlcore.wording` with no-break spaces in its texts."""
    return functools.wraps(write)(lambda value: unbroken(write(value)))


percent, probability, seconds, duration, size = map(
    _unbroken, (wording.percent, wording.probability, wording.seconds, wording.duration, wording.size)
)


def score(value: float, percent: bool) -> str:
    """Return a score between 0 and 1, in percent if it is a probability: ``12.3 %``, ``0.123``."""
    return probability(value) if percent else wording.score(value)


def signed(value: float) -> str:
    """Return a number with its sign and at least two decimals, more for small numbers: ``+1.23``, ``−0.0045``."""
    if not math.isfinite(value):
        return "−∞" if value < 0 else "∞" if value > 0 else "–"
    size = abs(value)
    digits = 2 if size >= 0.095 or size == 0 else min(1 - math.floor(math.log10(size)), 6)
    return f"{value:+.{digits}f}".replace("-", "−")


significant, p_value = wording.significant, wording.p_value


def number(value: float) -> str:
    """Return a number with two decimals, ``1.23`` or ``−0.45``; ``–`` for NaN."""
    return f"{value:.2f}".replace("-", "−") if math.isfinite(value) else "–"


def value(number: float) -> str:
    """Return a feature value with at least four significant digits: ``0.5``, ``−12.35``, ``123,457``."""
    written = f"{number:,.0f}" if 999.95 <= abs(number) < 1e15 else f"{number + 0.0:.4g}"  # not "-0"
    if 1e-9 < abs(number) < 1e-4:
        written = wording.significant(number, 4)
    return written.replace("-", "−")


def ordinal(place: int) -> str:
    """Return an ordinal number: ``1st``, ``2nd``, ``11th``."""
    ending = "th" if place // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place:,}{ending}"


def roughly(value: float) -> str:
    """Return an estimated time without digits that nobody knows: ``12 s``, ``1 min 20 s``, ``26 min``."""
    if value < 60:
        return seconds(value)
    whole = 10 * round(value / 10) if value < 600 else 60 * round(value / 60)
    return seconds(whole) if whole % 60 or whole >= 3600 else f"{whole // 60}\u00a0min"


def zone() -> tzinfo:
    """Return the time zone of the reader, as the browser reports it, or that of this machine."""
    with contextlib.suppress(KeyError, ValueError, OSError):  # a zone that this machine does not know
        if st.context.timezone:
            return ZoneInfo(st.context.timezone)
    return datetime.now().astimezone().tzinfo


def moment(iso: str) -> datetime | None:
    """Return an ISO time in the time zone of the reader; None if it cannot be read."""
    try:
        return datetime.fromisoformat(iso).astimezone(zone())
    except (TypeError, ValueError):
        return None


def when(iso: str) -> str:
    """Return an ISO time in the time zone of the reader, ``3 May, 14:02``; with the year if it is another one."""
    found = moment(iso)
    if found is None:
        return str(iso)
    year = "" if found.year == datetime.now(found.tzinfo).year else f" {found.year}"
    return found.strftime(f"{found.day} %b{year}, %H:%M")


def since(seconds: float) -> str:
    """Return the local time of seconds since 1970 as :func:`when` does."""
    return when(datetime.fromtimestamp(seconds).astimezone().isoformat())


_FOUND_LATER = re.compile(
    r":(?=[\w+-]+[:/]|//)|\bwww(?=\.)|@(?=[-\w]+\.)|(?<!\S)[-<>~](?=(?:->|[->=])(?!\S))", re.IGNORECASE
)


def plain(text: str) -> str:
    r"""Return ``text`` escaped for Markdown: names come from files and may hold ``*``, ``_``, ``$`` or ``[``."""
    # Icons, addresses and arrows are found in texts without their backslashes: what cannot be seen parts them.
    parted = _FOUND_LATER.sub("\\g<0>\u2060", visible(str(text)))
    return "".join("\\" + c if c in "\\`*_{}[]()<>#+-.!|~$:&" else c for c in parted)


def sentence(text: str) -> str:
    """Return a note or a warning of xmlcore with a full stop."""
    return text if text.rstrip().endswith((".", "!", "?")) else f"{text.rstrip()}."


def bold(name: str) -> str:
    """Return a name as sentences of pages show it: bold, and no letter of it read as Markdown."""
    return f"**{plain(name)}**"


def file_name(text: str) -> str:
    """Return ``text`` without the characters that names of files should not have."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in text).strip("-.")
    return kept[:60] or "data"
