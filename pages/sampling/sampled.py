"""What the Sampling page asks for and what it costs: values of κ, q and examples per class, estimates, tables."""

import math

import pandas as pd

from pages.shared import settings
from xmlcore import system

MODEL = "DoubleSampling"
CANDIDATES = (1, 2, 5, 10, 20, 50, 100)
ADVERSARIAL = (1, 2, 5, 10, 20, 50)
EXAMPLES = (0.5, 1.0, 2.0, 5.0, 10.0)
FEWER = 2  # the largest values left out where all would take too long: they take most of the time
MOST_VALUES = 12
REPEATS = 3
AXES = ("n_adversarial", "examples_per_class")


def parse_values(text: str, what: str, *, whole: bool, least: float, most: float) -> tuple[list, str | None]:
    """Read ``1, 2, 5``: the values, without repetition and in order, and what is wrong with them."""
    values = set()
    for part in text.replace(";", ",").split(","):
        part = part.strip()
        if not part:
            continue
        try:
            value = float(part)
        except ValueError:
            return [], f"“{part[:20]}” is not a number. Write values as 1, 2, 5."
        if not math.isfinite(value) or (whole and value != int(value)):
            return [], f"{what} cannot be {part[:20]}: it is a {'whole ' if whole else ''}number."
        if not least <= value <= most:
            return [], f"{what} cannot be {part[:20]}: it is from {least:,g} to {most:,g} here."
        values.add(int(value) if whole else value)
    if not values:
        return [], "At least one value is needed, such as 5."
    if len(values) > MOST_VALUES:
        return [], f"{len(values)} values are more than the {MOST_VALUES} this page measures at once."
    return sorted(values), None


def first_candidates(times: dict, own: int, most: int, within: float) -> tuple:
    """Numbers of candidates to begin with: as many as take no longer than ``within`` seconds, and the run's own."""
    values = [value for value in CANDIDATES if value <= most]
    while values and candidates_seconds(times, own, with_own(values, own)) > within:
        values.pop()
    return with_own(values, own)


def with_own(values, own) -> tuple:
    """The values and the model's own among them, in order."""
    return tuple(sorted({*values, own}))


def written(values) -> str:
    return ", ".join(f"{value:.10g}" for value in values)


def candidates_seconds(times: dict, own: int, values) -> float:
    """Estimate how long predicting with other numbers of candidates takes, from the run's own ``times``."""
    return 1.0 + times["predict_s"] * (1.0 + sum(0.6 + 0.3 * value / own for value in values))


def sweep_seconds(times: dict, own: tuple, adversarial, examples, n_repeats: int) -> float:
    """Estimate how long training with other values takes; ``own`` are κ and examples per class of the run."""
    shares = [value / own[0] for value in adversarial] + [value / own[1] for value in examples]
    training = times["fit_s"] * sum(0.15 + 0.85 * share for share in shares)
    return 1.0 + n_repeats * (training + times["predict_s"] * len(shares))


def first_sweep(times: dict, own: tuple, most_adversarial: int, within: float) -> tuple[tuple, tuple, int]:
    """Values of κ, examples per class, and repeats to begin with: as many as take no longer than ``within`` seconds."""
    adversarial = tuple(value for value in ADVERSARIAL if value <= most_adversarial)
    for left_out, n_repeats in ((0, REPEATS), (0, 1), (1, 1), (FEWER, 1)):
        kept = adversarial[: len(adversarial) - left_out], EXAMPLES[: len(EXAMPLES) - left_out]
        asked = tuple(with_own(values, value) for values, value in zip(kept, own))
        if sweep_seconds(times, own, *asked, n_repeats) <= within:
            return *asked, n_repeats
    return with_own(adversarial, own[0]), with_own(EXAMPLES, own[1]), 1  # it waits for a button in any case


def pair_bytes(n_pairs: int, n_features: int, own: tuple, adversarial, examples) -> float:
    """Memory of the pairs of the largest training of a sweep: their features, float64, and signs.

    ``n_pairs`` are those that the run made, before it left any out. ``own`` are its κ, capped at the
    adversaries that an example can have, and its examples per class.
    """
    share = max([value / own[0] for value in adversarial] + [value / own[1] for value in examples], default=1.0)
    return n_pairs * share * (8.0 * n_features + 1.0)


def too_large(needed: float) -> int | None:
    """Free memory, in bytes, when ``needed`` is more than half of it; else None, or where the system does not tell."""
    free = system.free_bytes()
    return free if free is not None and needed > free / 2 else None


def failures(sweep: pd.DataFrame) -> list[tuple[str, float, str, int]]:
    """What could not be trained: axis, value, why, and how many trainings of it, in the order of the sweep."""
    failed, found = sweep[sweep["failed"] != ""], {}
    for axis, kappa, examples, why in zip(*(failed[name] for name in ("axis", *AXES, "failed"))):
        why = settings.in_form(MODEL, why)
        value = float(kappa if axis == AXES[0] else examples)
        found[axis, value, why] = found.get((axis, value, why), 0) + 1
    return [(*what, n) for what, n in found.items()]
