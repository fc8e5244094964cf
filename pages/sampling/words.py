"""Sentences about what was measured of double sampling."""

from pages.sampling.view import MODEL
from pages.shared import format, settings

AXES = ("n_adversarial", "examples_per_class")


def candidates_sentence(table, own_q) -> str:
    """Return a sentence on recall and accuracy with other numbers of candidates; ``own_q`` is the result's."""
    first, last = table.iloc[0], table.iloc[-1]
    if len(table) == 1:
        text = (
            f"With q = {first.n_candidates:,.0f} the true label is among the candidates of "
            f"{format.percent(first.recall)} (candidate recall)"
        )
    else:
        text = (
            f"From q = {first.n_candidates:,.0f} to {last.n_candidates:,.0f} the true label is among the candidates of "
            f"{format.percent(first.recall)} to {format.percent(last.recall)} (candidate recall)"
        )
    mine = table.loc[table["n_candidates"] == own_q, "accuracy"]
    if not len(mine) or not table["accuracy"].notna().any():
        return f"{text}."
    best = table.loc[table["accuracy"].idxmax()]
    if best.accuracy > mine.iloc[0]:
        return (
            f"{text}. On these test rows q = {best.n_candidates:,.0f} had the best accuracy, "
            f"{format.percent(best.accuracy)} instead of {format.percent(mine.iloc[0])} with this result’s "
            f"q = {own_q:,}; choose q on held-out rows, not on these."
        )
    also = ", the best of these" if len(table) > 1 else ""
    return f"{text}; accuracy with this result’s q = {own_q:,} is {format.percent(mine.iloc[0])}{also}."


def sweep_sentence(sweep) -> str:
    """Return the range of accuracy with other κ and with other examples per label; ``sweep`` without failures."""
    parts = []
    for axis, name in zip(AXES, ("κ", "examples per label")):
        rows = sweep[sweep["axis"] == axis].groupby(axis)[["accuracy", "macro_f1", "fit_s"]].mean()
        if rows.empty:
            continue
        if len(rows) == 1:
            value = rows.index[0]
            which = f"κ = {value:g}" if axis == "n_adversarial" else f"{value:g} examples per label"
            parts.append(
                f"With {which} accuracy is **{format.percent(rows['accuracy'].iloc[0])}**, for "
                f"{format.duration(rows['fit_s'].iloc[0])} of training."
            )
            continue
        low, high = (f"**{format.percent(value)}**" for value in (rows["accuracy"].min(), rows["accuracy"].max()))
        accuracy = low if low == high else f"between {low} and {high}"
        times = " to ".join(dict.fromkeys(format.duration(rows["fit_s"].iloc[at]) for at in (0, -1)))
        parts.append(
            f"With {name} from {rows.index[0]:g} to {rows.index[-1]:g} accuracy is {accuracy}, for {times} of training."
        )
    return " ".join(parts)


def failures(study) -> list[str]:
    text = []
    for (axis, value, why), n in _failed(study.sweep).items():
        which = f"κ = {value:,g}" if axis == AXES[0] else f"{value:g} examples per label"
        some = f" ({n} of {study.n_repeats} trainings)" if n < study.n_repeats else ""
        text.append(f"No result with {which}{some}: {format.plain(why.rstrip('.'))}.")
    return text


def _failed(sweep) -> dict:
    failed, counts = sweep[sweep["failed"] != ""], {}
    for axis, kappa, examples, why in zip(*(failed[name] for name in ("axis", *AXES, "failed"))):
        cause = axis, float(kappa if axis == AXES[0] else examples), settings.in_form(MODEL, why)
        counts[cause] = counts.get(cause, 0) + 1
    return counts
