"""What the Robustness page asks for and what it costs: kinds of noise, levels, rows, names of runs, estimates."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pages.shared import settings
from xmlcore import experiment

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
PAPER_LEVELS = (0.01, 0.05, 0.1)
WORD_LEVELS = (0.1, 0.2, 0.4)
MOST_LEVELS = 12
ROWS = (5000, 2000, 1000, 500, 200, 100)  # samples offered when all rows would take too long
SECONDS_PER_VALUE = 5e-8  # that a PLT reads of a dense row
GRADIENT_STEPS = {"fgsm": 1, "pgd": 21}


@dataclass(frozen=True)
class Scale:
    """How large the values of a data set's test rows are."""

    value: float  # median size of the values that are there
    length: float  # median length (L2) of a row
    features: float  # mean number of features of a row

    @classmethod
    def of(cls, X) -> "Scale":
        counts = np.diff(X.indptr)
        if X.nnz == 0:
            return cls(1.0, 1.0, 0.0)
        lengths = np.sqrt(np.add.reduceat(X.data.astype(np.float64) ** 2, X.indptr[:-1][counts > 0]))
        return cls(float(np.median(np.abs(X.data))) or 1.0, float(np.median(lengths)) or 1.0, float(counts.mean()))


def default_levels(kind: str, norm: str, scale: Scale) -> tuple[float, ...]:
    """Levels that show something: the paper's where values are of the size of 1, else as large for these values."""
    if kind == "words":
        return WORD_LEVELS
    if kind in ATTACKS and norm == "2":
        middle = _nice(0.1 * scale.length)
        return middle / 2, middle, 2 * middle
    if 0.02 <= scale.value <= 5:
        return PAPER_LEVELS
    largest = _nice(0.2 * scale.value)
    return largest / 10, largest / 2, largest


def _nice(value: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    nearest = min((1, 2, 5, 10), key=lambda digit: abs(math.log(value / (digit * power))))
    return float(f"{nearest * power:.6g}")


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
    scale: Scale,
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


# --- names of runs, and pairs trained without and with noise ---


def trained_with_noise(record: dict) -> bool:
    return record["params"].get("noise_sigma", 0) > 0


def style_model(record: dict) -> str:
    """Under which name a run has its colour: a PLT trained with noise is the paper's ExtendedPLT."""
    return "ExtendedPLT" if record["model"] == "PLT" and trained_with_noise(record) else record["model"]


def names(records: list[dict]) -> dict[str, str]:
    """Names by key, as short as tells the runs apart: no two results have the same settings."""
    ways = [
        lambda r: r["model"] + (" trained with noise" if trained_with_noise(r) else ""),
        lambda r: r["model"] + (f" trained with noise σ = {_sigma(r)}" if trained_with_noise(r) else ""),
        lambda r: f"{ways[1](r)} ({_other_settings(r) or 'default settings'})",
    ]
    found = {}
    for r in records:
        others = [o for o in records if o["key"] != r["key"]]
        way = next((w for w in ways if all(w(o) != w(r) for o in others)), ways[-1])
        found[r["key"]] = way(r)
    return found


def _sigma(record):
    return f"{record['params']['noise_sigma']:g}"


def _other_settings(record):
    plain = {**record["params"], "noise_sigma": 0.0}
    return settings.changed(record["model"], plain)


def without_noise(record: dict) -> dict:
    """The parameters of the run trained on the same rows without noise."""
    defaults = experiment.full_params(record["model"])
    return {**record["params"], **{name: defaults[name] for name in ("noise_sigma", "noise_ratio", "noise_support")}}


def pairs(records: list[dict]) -> list[tuple[dict, dict]]:
    """Runs trained without noise, each with one of the same settings trained with noise."""
    return [
        (plain, noisy)
        for plain in records
        if not trained_with_noise(plain)
        for noisy in records
        if trained_with_noise(noisy) and noisy["model"] == plain["model"] and without_noise(noisy) == plain["params"]
    ]


# --- tables ---


def drop_table(summary: pd.DataFrame, level: float, measures, ks, run_rows: dict) -> pd.DataFrame:
    """A line per run and k: each measure without noise, at ``level``, and what is lost; the time per row at both.

    The paper's Tables 4 and 5. ``run_rows`` has the rows measured by run.
    """
    rows = summary[summary["bucket"] == "all"]
    lines = []
    for run in dict.fromkeys(rows["run"]):
        mine = rows[rows["run"] == run]
        times = mine[mine["measure"] == "predict_s"].set_index("sigma")["mean"]
        for k in ks:
            line = {"run": run, "k": k}
            for measure in measures:
                at = mine[(mine["measure"] == measure) & (mine["k"] == k)].set_index("sigma")
                if at.empty:
                    continue
                line |= {
                    f"{measure} clean": at["mean"].get(0.0, np.nan),
                    measure: at["mean"].get(level, np.nan),
                    f"{measure} low": at["low"].get(level, np.nan),
                    f"{measure} high": at["high"].get(level, np.nan),
                    f"{measure} drop": at["drop_mean"].get(level, np.nan),
                }
            line["ms per row clean"] = 1000 * times.get(0.0, np.nan) / run_rows[run]
            line["ms per row"] = 1000 * times.get(level, np.nan) / run_rows[run]
            lines.append(line)
    return pd.DataFrame(lines)


def noisy_rows(data, X, noisy, rows, n: int, row_name, new: int = 2) -> pd.DataFrame:
    """Features of some rows without and with noise: ``row, row_name, feature, name, clean, noisy``.

    Of each row ``n``: those of largest size without noise, and up to ``new`` of those that only noise has given one.
    """
    lines = []
    for i, row in enumerate(rows):
        clean, changed = _values(X, i), _values(noisy, i)
        had = sorted(clean, key=lambda j: (-abs(clean[j]), j))
        made = sorted(changed.keys() - clean.keys(), key=lambda j: (-abs(changed[j]), j))
        had = had[: max(n - min(new, len(made)), 0)]
        for j in [*had, *made[: n - len(had)]]:
            name = data.feature_name(j)
            lines.append((int(row), row_name(int(row)), j, name, clean.get(j, 0.0), changed.get(j, 0.0)))
    return pd.DataFrame(lines, columns=["row", "row_name", "feature", "name", "clean", "noisy"])


def _values(matrix, i):
    span = slice(matrix.indptr[i], matrix.indptr[i + 1])
    return dict(zip(matrix.indices[span].tolist(), matrix.data[span].astype(np.float64).tolist()))


def lengths(X, noisy) -> tuple[np.ndarray, np.ndarray]:
    """Lengths (L2) of rows, and of what noise has added to them."""
    change = noisy - X
    return np.sqrt(np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()), np.sqrt(
        np.asarray(change.multiply(change).sum(axis=1), np.float64).ravel()
    )
