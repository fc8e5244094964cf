"""Noise and its levels in words; reading levels that the user typed."""

from pages.shared import fields
from xmlcore.noise import BLOCK_BYTES
from xmlcore.robustness.evaluation import ATTACK_ROWS
from xmlcore.robustness.perturbations import KINDS, NORMS

GRADIENTS = {"own": "each model itself", "tree": "one label tree, the same for all"}
# How the times of rows under noise are measured, which differs from how the Train page measures.
IN_BLOCKS = (
    f"To save memory, rows under noise are predicted in blocks of at most {BLOCK_BYTES >> 20} MiB, and under attack of "
    f"at most {ATTACK_ROWS} rows; the Train page predicts all rows in one call, which is quicker. Jobs that run "
    "meanwhile slow both."
)
MOST_LEVELS = 12  # most levels measured at once


def parse_levels(text: str, kind: str) -> tuple[list[float], str | None]:
    """Read levels such as ``0.01, 0.05``, and say what is wrong with them."""

    levels, problem = fields.numbers_in(text, "levels", "0.01, 0.05, 0.1", KINDS[kind].fault, MOST_LEVELS, skip=0)
    if not levels:
        return [], problem or "At least one level above 0 is needed, such as 0.1; 0 is always measured."
    return levels, problem


def written(levels) -> str:
    return ", ".join(f"{level:g}" for level in levels)


def called(kind: str) -> str:
    return "attack" if KINDS[kind].is_attack else "noise"


def level_title(kind: str, options: dict) -> str:
    return KINDS[kind].axis.format(norm=NORMS[str(options.get("norm", 2))])


def level_text(kind: str, level: float) -> str:
    """Return a level with its symbol, to be read after "at": ``σ = 0.1``, ``10 % of words changed``."""
    return KINDS[kind].level.format(level, 100 * level)


def level_short(kind: str, level: float) -> str:
    return level_text(kind, level).partition(" of ")[0]


def noise_text(kind: str, options: dict, level: float | None = None) -> str:
    """Return noise in words, to be read within a sentence: ``Gaussian noise of σ = 0.1 on all features``."""
    row = KINDS[kind]
    if level is None:
        return row.text + row.in_words(options)
    text = row.text + row.of_level.format(level) if row.of_level else level_text(kind, level)
    return text + row.in_words(options)
