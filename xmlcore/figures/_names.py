"""Names in figures: shortened so that they stay apart, and without markup."""

import html
import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterable

from xmlcore.validation import check_count

LEAST = 5  # letters of a name before its number
_NUMBER = re.compile(r" (\([+−-]?[\d.,]+(\s?%)?\)|[+−-]?[\d.,]+(\s?%)?)$")  # at the end: " +45", " 12.8 %", " (0.31)"
_IN_NUMBER = re.compile(r"\d[.,]?\d|[.,]\d")


def short(name: object, letters: int = 20) -> str:
    """Return a name for a figure: its beginning and end where it is longer than ``letters``, and without markup."""
    return html.escape(*_cut_in_the_middle([str(name)], check_count(letters, "letters")), quote=False)


def apart(names: Iterable[object], letters: int = 20) -> dict[str, str]:
    """Return names for a figure, by name: cut as :func:`cut_apart` does, and without markup."""
    return {name: html.escape(text, quote=False) for name, text in cut_apart(names, letters).items()}


def cut_apart(names: Iterable[object], letters: int = 20) -> dict[str, str]:
    """Return names, cut in the middle where they are long, so that different names stay different."""
    names, letters = list(dict.fromkeys(map(str, names))), check_count(letters, "letters")
    found = {name: name for name in names if len(name) <= letters}
    ways = _cut_in_the_middle, lambda names, letters: [f"{name[: letters - 1]}…" for name in names]
    for cut in (*ways, _cut_before_the_difference):
        left = [name for name in names if name not in found]
        cuts = cut(left, letters)
        often = Counter([*found.values(), *cuts])
        found |= {name: text for name, text in zip(left, cuts) if often[text] == 1}
    left = [name for name in names if name not in found]
    found |= {name: f"{name[: letters - 6]}… ({number})" for number, name in enumerate(left, start=1)}
    return {name: found[name] for name in names}


def _cut_in_the_middle(names, letters) -> list[str]:
    return [name if len(name) <= letters else _cut_before_its_number(name, letters) for name in names]


def _cut_before_its_number(name, letters) -> str:
    """Return a name that is cut in the middle, and in no number; one at its end stays, or goes as a whole."""
    number = _NUMBER.search(name)
    end = max((letters - 1) // 2, len(number.group()) if number else 0)
    if number and end > letters - LEAST:
        return f"{name[: number.start()][: letters - 1]}…"
    begin, after = letters - 1 - end, len(name) - end
    while begin > 1 and _IN_NUMBER.match(name, begin - 1):
        begin -= 1
    while after < len(name) and _IN_NUMBER.match(name, after - 1):
        after += 1
    if begin == 1 or after == len(name):  # all of it is a number, such as an id
        begin, after = letters - 1 - end, len(name) - end
    return f"{name[:begin]}…{name[after:]}"


def _cut_before_the_difference(names, letters) -> list[str]:
    """Return a few letters of each name, and what begins with the word in which it differs from others."""
    beginnings: dict[str, list[str]] = {}
    for name in names:
        beginnings.setdefault(name[: letters - 1], []).append(name)
    common = {beginning: len(os.path.commonprefix(group)) for beginning, group in beginnings.items()}
    cuts = []
    for name in names:
        at = common[name[: letters - 1]]
        word = name.rfind(" ", 0, at) + 1
        at = word if at - word < letters // 3 else at
        rest = name[at:]
        room = letters - letters // 3 - 1
        cuts.append(f"{name[: letters // 3]}…{rest if len(rest) <= room else f'{rest[: room - 1]}…'}")
    return cuts


def whole(name: str, letters: int = 44) -> str:
    """Return all of a name for what a figure says where one points: without markup, in lines of so many letters."""
    name = str(name)
    lines = [name] if len(name) <= letters else textwrap.wrap(name, letters)
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, the minus as Plotly writes it."""
    return f"{value:+.{digits}f}".replace("-", "−")
