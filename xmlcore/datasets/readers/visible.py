"""Names without characters that cannot be seen, but change how the text around them is shown."""

import re

_BLANK = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]")
# Control characters, and those that turn the direction of what follows; marks of languages written from right to left,
# and the joiners of letters and of emoji, stay.
_HIDDEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def visible(name: str) -> str:
    """Return a name with a blank for each line break or tab, and with � for each control character."""
    return _HIDDEN.sub("�", _BLANK.sub(" ", name))


def all_visible(names: list[str] | None) -> tuple[list[str] | None, int]:
    """Return names as :func:`visible` returns each, and how many of them have changed."""
    if names is None:
        return None, 0
    shown = [name if name.isprintable() else visible(name) for name in names]
    return shown, sum(a != b for a, b in zip(names, shown))
