"""What the Sampling page says of what was measured."""

import numpy as np

from pages.sampling import sampled
from pages.shared import format


def percent(value) -> str:
    return f"{100 * value:.1f} %" if np.isfinite(value) else "–"


def candidates_sentence(table, own) -> str:
    """What other numbers of candidates bring; ``own`` is the result's."""
    first, last = table.iloc[0], table.iloc[-1]
    if len(table) == 1:
        said = (
            f"With q = {first.n_candidates:,.0f} the own class is among the candidates of {percent(first.recall)} "
            "(candidate recall)"
        )
    else:
        said = (
            f"From q = {first.n_candidates:,.0f} to {last.n_candidates:,.0f} the own class is among the candidates of "
            f"{percent(first.recall)} to {percent(last.recall)} (candidate recall)"
        )
    mine = table.loc[table["n_candidates"] == own, "accuracy"]
    if not len(mine) or not table["accuracy"].notna().any():
        return f"{said}."
    best = table.loc[table["accuracy"].idxmax()]
    if best.accuracy > mine.iloc[0]:
        return (
            f"{said}. On these test rows q = {best.n_candidates:,.0f} had the better accuracy, "
            f"{percent(best.accuracy)} instead of {percent(mine.iloc[0])} with this result’s q = {own:,}; choose q "
            "by held-out rows, not by these."
        )
    also = ", the best of these" if len(table) > 1 else ""
    return f"{said}; accuracy with this result’s q = {own:,} is {percent(mine.iloc[0])}{also}."


def sweep_sentence(sweep) -> str:
    """Between which accuracies κ and examples per class make a difference, of trainings that did not fail."""
    parts = []
    for axis, said in (("n_adversarial", "κ"), ("examples_per_class", "examples per class")):
        rows = sweep[sweep["axis"] == axis].groupby(axis)[["accuracy", "macro_f1", "fit_s"]].mean()
        if rows.empty:
            continue
        if len(rows) == 1:
            value = rows.index[0]
            which = f"κ = {value:g}" if axis == "n_adversarial" else f"{value:g} examples per class"
            parts.append(
                f"With {which} accuracy is **{percent(rows['accuracy'].iloc[0])}**, for "
                f"{format.duration(rows['fit_s'].iloc[0])} of training."
            )
            continue
        low, high = rows["accuracy"].min(), rows["accuracy"].max()
        times = " to ".join(format.duration(rows["fit_s"].iloc[at]) for at in (0, -1))
        parts.append(
            f"With {said} from {rows.index[0]:g} to {rows.index[-1]:g} accuracy is between **{percent(low)}** and "
            f"**{percent(high)}**, for {times} of training."
        )
    return " ".join(parts)


def failures(found) -> list[str]:
    """A sentence on each value that could not be trained with."""
    said = []
    for axis, value, why, n in sampled.failures(found.sweep):
        which = f"κ = {value:,g}" if axis == "n_adversarial" else f"{value:g} examples per class"
        some = f" ({n} of {found.n_repeats} trainings)" if n < found.n_repeats else ""
        said.append(f"No result with {which}{some}: {format.plain(why.rstrip('.'))}.")
    return said
