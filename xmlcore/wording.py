"""Amounts as messages, figures and pages write them; and values as JSON can hold them."""

import difflib
import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from xmlcore import __version__
from xmlcore.first_use import pd

LONGEST_NAME, LONGEST_LIST = 60, 180  # characters of a name, and of several, that a message has at most
COMMAND = "python -m xmlcore"  # it runs in a checkout, too, where no script called xmlcore is installed
_UNITS = ((1, "s"), (1e3, "ms"), (1e6, "µs"))
_NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"  # a text that is a number to a spreadsheet


def size(n_bytes: float) -> str:
    """Return an amount of memory: ``512 bytes``, ``1.5 MB``."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 999.5 or (unit != "bytes" and n_bytes < 1000):
            whole = unit == "bytes" or n_bytes >= 100
            return f"{n_bytes:.{0 if whole else 1}f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.1f} GB"


def seconds(value: float) -> str:
    """Return an estimated or elapsed time: ``50 ms``, ``1.2 s``, ``12 s``, ``2 min 05 s``, ``3 h 12 min``."""
    if value < 0.0995:
        return f"{value * 1000:.0f} ms"
    if value < 9.95:
        return f"{value:.1f} s"
    if value < 60:
        return f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(round(value / 60), 60)
    return f"{hours:,} h {minutes:02d} min"


def duration(value: float) -> str:
    """Return a measured time with two significant digits: ``7.1 µs``, ``0.14 s``, ``12 s``, ``3 h 12 min``."""
    if not value > 0:
        return "0 s"
    if value >= 59.5:
        return seconds(value)
    factor, unit = next((scale for scale in _UNITS if value * scale[0] >= 0.0995), _UNITS[-1])
    return f"{_two_digits(value * factor)} {unit}"


def _two_digits(value):
    """Return a number as text with two significant digits; whole parts of three digits or more are kept."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def significant(value: float, digits: int = 3) -> str:
    """Return a number with at most so many significant digits, and no exponent: ``1,470``, ``12``, ``0.00012``."""
    return f"{Decimal(f'{value:.{digits}g}'):,f}" if math.isfinite(value) else "–"


def p_value(p: float) -> str:
    """Return a p-value for a sentence: ``p = 0.012``, ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def percent(share: float) -> str:
    """Return a share in percent with one decimal, ``12.3 %``; ``–`` for NaN. Only 1 itself is ``100.0 %``."""
    return "–" if not math.isfinite(share) else "above 99.9 %" if 0.9995 <= share < 1 else f"{fixed(100 * share)} %"


def fixed(value: float, digits: int = 1) -> str:
    """Return a number with so many decimals; a half goes away from 0, as a reader expects and browsers do."""
    return f"{value + math.copysign(1e-9, value):.{digits}f}"


def points(difference: float, low: float, high: float) -> str:
    """Return a difference of a measure with its interval: ``1.1 points (−0.2 to 2.4)``."""
    digits = 1 if abs(difference) >= 0.00095 else 2
    number, *ends = (fixed(100 * value, digits) for value in (difference, low, high))
    return f"{number} points ({' to '.join(ends)})".replace("-", "−")


def probability(share: float) -> str:
    """Return a small share or probability in percent, with three significant digits: ``0.0123 %``; ``–`` for NaN."""
    if not math.isfinite(share):
        return "–"
    if 0 < share < 1e-5:
        return "below 0.001 %"
    return "above 99.9 %" if 0.9995 <= share < 1 else f"{100 * share:.3g} %"


def score(value: float) -> str:
    """Return a score between 0 and 1 with three significant digits, ``0.0123``; only 1 itself is ``1``."""
    if not math.isfinite(value):
        return "–"
    if 0 < value < 1e-5:
        return "below 0.00001"
    return "above 0.999" if 0.9995 <= value < 1 else significant(value)


def rounded(share: float) -> str:
    """Return a share in percent without decimals, ``34 %``, or with one where it is small or nearly all."""
    if 0 < share < 0.0005:
        return f"{significant(100 * share, 1)} %"
    if 0.995 <= share < 1:
        return f"{min(100 * share, 99.9):.1f} %"
    return f"{100 * share:.1f} %" if 0 < share < 0.0995 else f"{100 * share:.0f} %"


def hundredths(share: float | None, undefined: str = "–") -> str:
    """Return a measure in percent with two decimals and without the sign, for columns: ``12.34``."""
    return (
        f"{min(100 * share, 99.99 if share < 1 else 100):.2f}"
        if share is not None and math.isfinite(share)
        else undefined
    )


def listed(names: Iterable, count: int | None = None) -> str:
    """Return the first of ``count`` names that a user gave: as many as a message has room for, long ones cut."""
    texts = [text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}…" for text in map(str, names)]
    count, shown = len(texts) if count is None else count, 1
    while shown < len(texts) and len(", ".join(texts[: shown + 1])) <= LONGEST_LIST:
        shown += 1
    return ", ".join(texts[:shown]) + (f" and {count - shown:,} more" if shown < count else "")


def enumeration(parts: list[str]) -> str:
    """Return an enumeration: ``a``, ``a and b``, ``a, b and c``."""
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def plain(value: Any, leaf=lambda value: value) -> Any:
    """Return a value with Python's numbers, lists and dicts in place of NumPy's and of tuples, each end by ``leaf``."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        return {str(name): plain(item, leaf) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, leaf) for item in value]
    return leaf(value)


def csv_safe(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Put an apostrophe before texts that a spreadsheet would run as a formula; numbers are not changed."""
    # Names come from files that other people made. A text that starts with ``=``, ``+``, ``-``, ``@``, a tab or a
    # carriage return is a formula to a spreadsheet, unless it is a plain number. Applying this twice is harmless.
    changed = {}
    for column in frame.columns:
        values = frame[column]
        if not (pd.api.types.is_object_dtype(values) or pd.api.types.is_string_dtype(values)):
            continue
        words = values.astype("str")
        formulas = words.str.match(r"[=+\-@\t\r]") & ~words.str.fullmatch(_NUMBER)
        if formulas.any():
            changed[column] = values.astype(object).where(~formulas, "'" + words)
    return frame.assign(**changed) if changed else frame


def meant(unknown: Iterable, known: Iterable[str]) -> str:
    """Return a question that names the known names which unknown ones resemble, or nothing."""
    folded = {name.casefold(): name for name in known}
    close = [difflib.get_close_matches(str(name)[:60].casefold(), folded, 1, 0.75) for name in unknown]
    found = [folded[name] for names in close for name in names]
    return f". Did you mean {listed(found)}?" if found else ""


def refusal(file: str, version: Any, reads: int, written_by: Any = None) -> str:
    """Return what an error says of a file whose format has another version than the one that is read."""
    by = f"xmlcore {written_by}" if isinstance(written_by, str) else "an xmlcore that did not write its version"
    text = f"{file} has version {version!r:.20} of its format, written by {by}, and xmlcore {__version__} reads {reads}"
    later = isinstance(version, int) and version > reads
    todo = "It is newer: update xmlcore" if later else "Make it again, or read it with the xmlcore that wrote it"
    return f"{text}. {todo} (docs/versions.md)"
