"""What the Robustness page asks for and what it costs: kinds of noise, levels, rows, names of runs, estimates."""

import math

from xmlcore import robustness

KINDS = {
    "gaussian": "Gaussian noise",
    "words": "Changed words",
    "fgsm": "FGSM attack",
    "pgd": "PGD attack",
}
ABOUT = {
    "gaussian": "Adds N(0, σ²) to feature values, as the paper (Date and Mehar, 2025) does.",
    "words": "A share of a row’s features is dropped, swapped for another or joined by new ones, drawn as often as the "
    "training rows have them.",
    "fgsm": "Fast gradient sign method (Goodfellow et al., ICLR 2015): one step of size ε along the gradient that "
    "raises the best wrong label over the best true one.",
    "pgd": "Projected gradient descent (Madry et al., ICLR 2018): many small steps of an attack within ε; stronger "
    "than FGSM, and slower.",
}
ATTACKS = ("fgsm", "pgd")
SUPPORTS = {"all": "all features (the paper)", "nonzero": "present features only"}
NORMS = {"2": "L2, length of the change", "inf": "L∞, largest change of a feature"}
WAYS = {"drop": "dropped", "swap": "swapped", "insert": "inserted"}
MOST_LEVELS = 12
ROWS = (5000, 2000, 1000, 500, 200, 100)  # samples offered when all rows would take too long
SECONDS_PER_VALUE = 5e-8  # that a PLT reads of a dense row
GRADIENT_STEPS = {"fgsm": 1, "pgd": 21}


def parse_levels(text: str, kind: str) -> tuple[list[float], str | None]:
    """Read ``0.01, 0.05``: the levels, without repetition and in order, and what is wrong with them."""
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


def level_title(kind: str, options: dict) -> str:
    """Title of an axis of levels."""
    if kind == "gaussian":
        return "Noise, standard deviation σ"
    if kind == "words":
        return "Share of words changed"
    return f"Size of the change, ε ({'L∞' if options.get('norm') == 'inf' else 'L2'})"


def level_said(kind: str, level: float) -> str:
    sign = {"gaussian": "σ", "words": "rate"}.get(kind, "ε")
    return f"{sign} = {level:g}"


def noise_said(kind: str, options: dict, level: float | None = None) -> str:
    """``Gaussian noise of σ = 0.1 on all features``: to be read within a sentence."""
    of = "" if level is None else f" of {level_said(kind, level)}"
    where = "all features" if options.get("support", "all") == "all" else "present features"
    if kind == "gaussian":
        return f"Gaussian noise{of} on {where}"
    if kind == "words":
        ways = [said for name, said in WAYS.items() if options.get(name, True)]
        return f"changed words ({', '.join(ways)})" + ("" if level is None else f" at a rate of {level:g}")
    norm = "L∞" if options.get("norm") == "inf" else "L2"
    only = "" if where == "all features" else f", {where} only"
    return f"the {kind.upper()} attack{of} ({norm}{only})"


def makes_dense(kind: str, options: dict) -> bool:
    """Whether rows under noise have a value for every feature."""
    return kind == "gaussian" and options.get("support", "all") == "all"


def seconds(
    model: str,
    times: dict,
    scale: robustness.ValueScale,
    n_features: int,
    kind: str,
    levels,
    options: dict,
    n_repeats: int,
    n_rows: int,
) -> float:
    """Estimate how long measuring a run takes, from its own ``times`` and from what noise does to rows."""
    per_row = times["predict_ms_per_row"] / 1000
    wider = n_features / max(scale.features, 1.0) if makes_dense(kind, options) else 1.5 if kind == "words" else 1.0
    noisy = per_row * (wider if model != "LdSM" else 1 + 0.2 * wider)  # trees over rows look at few nodes of any row
    if model == "PLT":
        noisy = min(noisy, per_row + SECONDS_PER_VALUE * n_features)  # dense rows go down its tree together
    noisy += 3e-8 * wider * scale.features + 2e-5  # making the noise
    if kind in ATTACKS:
        noisy += GRADIENT_STEPS[kind] * (3 * per_row + 3e-4 + 3.5e-7 * n_features)
    return 1.0 + n_rows * (per_row + len(levels) * n_repeats * noisy)


def default_rows(estimate, n_rows: int, within: float, sizes=ROWS) -> int:
    """All rows when that is quick, else the largest sample that is; ``estimate`` takes a number of rows."""
    if estimate(n_rows) <= within:
        return n_rows
    return next((n for n in sizes if n < n_rows and estimate(n) <= within), min(n_rows, sizes[-1]))


def noisy_rows(data, X, noisy, rows, n: int, row_name, new: int = 2):
    """Return feature values of rows without and with noise: ``row, row_name, feature, name, clean, noisy``.

    As :func:`xmlcore.robustness.changed_values` has them, with names.
    """
    frame = robustness.changed_values(X, noisy, n, new)
    chosen = [int(rows[i]) for i in frame["row"]]
    frame["row"] = chosen
    frame.insert(1, "row_name", [row_name(row) for row in chosen])
    frame.insert(3, "name", [data.feature_name(int(j)) for j in frame["feature"]])
    return frame
