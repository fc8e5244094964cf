"""Kinds of noise and their levels in words; reading levels that the user typed."""

import math

from xmlcore.noise import BLOCK_BYTES
from xmlcore.robustness.evaluation import ATTACK_ROWS

KINDS = {
    "gaussian": "Gaussian noise",
    "words": "Changed words",
    "fgsm": "FGSM attack",
    "pgd": "PGD attack",
}
ABOUT = {
    "gaussian": "Adds N(0, σ²) to the feature values of test rows before they are predicted, as the paper (Date and "
    "Mehar, 2025) does. The model was trained without this noise.",
    "words": "A share of a row’s features is dropped, swapped for another or joined by new ones, drawn as often as the "
    "training rows have them.",
    "fgsm": "Fast gradient sign method (Goodfellow et al., ICLR 2015): one step of size ε along the gradient that "
    "raises the best wrong label over the best true label.",
    "pgd": "Projected gradient descent (Madry et al., ICLR 2018): many small steps of an attack within ε; stronger "
    "than FGSM, and slower.",
}
NORMS = {"2": "L2, length of the change", "inf": "L∞, largest change of a feature"}
GRADIENTS = {"own": "each model itself", "tree": "one label tree, the same for all"}
WAYS = {"drop": "dropped", "swap": "swapped", "insert": "inserted"}
# How the times of rows under noise are measured, which differs from how the Train page measures.
IN_BLOCKS = (
    f"To save memory, rows under noise are predicted in blocks of at most {BLOCK_BYTES >> 20} MiB, and under attack of "
    f"at most {ATTACK_ROWS} rows; the Train page predicts all rows in one call, which is quicker. Jobs that run "
    "meanwhile slow both."
)
MOST_LEVELS = 12  # most levels measured at once


def parse_levels(text: str, kind: str) -> tuple[list[float], str | None]:
    """Read levels such as ``0.01, 0.05``."""
    levels = []
    for part in text.replace(";", ",").split(","):
        part = part.strip()
        if not part:
            continue
        try:
            level = float(part)
        except ValueError:
            return [], f"“{part[:20]}” is not a number. Write levels as 0.01, 0.05, 0.1."
        if not math.isfinite(level) or level < 0:
            return [], f"A level cannot be {part[:20]}: it is 0 or more."
        if kind == "words" and level > 1:
            return [], f"A share of words cannot be {part[:20]}: it is between 0 and 1."
        levels.append(level)
    levels = sorted({level for level in levels if level > 0})
    if not levels:
        return [], "At least one level above 0 is needed, such as 0.1; 0 is always measured."
    if len(levels) > MOST_LEVELS:
        return [], f"{len(levels)} levels are more than the {MOST_LEVELS} this page measures at once."
    return levels, None


def written(levels) -> str:
    """Return levels as text with commas between them."""
    return ", ".join(f"{level:g}" for level in levels)


def level_title(kind: str, options: dict) -> str:
    """Return the title of an axis of levels."""
    if kind == "gaussian":
        return "Noise, standard deviation σ"
    if kind == "words":
        return "Share of words changed"
    return f"Size of the change, ε ({'L∞' if options.get('norm') == 'inf' else 'L2'})"


def level_text(kind: str, level: float) -> str:
    """Return a level with its symbol, to be read after "at": ``σ = 0.1``, ``10 % of words changed``."""
    if kind == "words":
        return f"{100 * level:g}\u00a0% of words changed"
    return f"{'σ' if kind == 'gaussian' else 'ε'} = {level:g}"


def noise_text(kind: str, options: dict, level: float | None = None) -> str:
    """Return noise in words, to be read within a sentence: ``Gaussian noise of σ = 0.1 on all features``."""
    of = "" if level is None else f" of {level_text(kind, level)}"
    where = "all features" if options.get("support", "all") == "all" else "present features"
    if kind == "gaussian":
        return f"Gaussian noise{of} on {where}"
    if kind == "words":
        ways = [text for name, text in WAYS.items() if options.get(name, True)]
        return f"changed words ({', '.join(ways)})" + ("" if level is None else f" at a rate of {level:g}")
    norm = "L∞" if options.get("norm") == "inf" else "L2"
    only = "" if where == "all features" else f", {where} only"
    return f"the {kind.upper()} attack{of} ({norm}{only})"


def computed_on(transferred: bool) -> str:
    """Return on which model an attack was computed, to be read within a sentence after the name of the attack."""
    return "computed on one label tree for all" if transferred else "computed on each model itself"


def makes_dense(kind: str, options: dict) -> bool:
    """Return whether rows under noise have a value of every feature."""
    return kind == "gaussian" and options.get("support", "all") == "all"


def makes_negative(kind: str) -> bool:
    """Return whether values that are not negative may become negative."""
    return kind != "words"
