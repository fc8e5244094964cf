"""Measures of a result with intervals."""

import re

import numpy as np

from pages.shared import cached, format
from pages.shared.results import results
from xmlcore import metrics
from xmlcore.metrics.measures import measurable

SHOWN_MEASURES = ("P@k", "nDCG@k", "PSP@k")  # in lists of results and in figures
HEADLINE = (*SHOWN_MEASURES, "macro F1@k", "macro P@k", "coverage@k", "abandonment@k", "hierarchical F1@k")
CARDS = (("P@k", 1), ("P@k", 5), ("PSP@k", 5), ("macro F1@k", 5), ("hierarchical F1@k", 5))
INTERVAL = (
    "If the test rows were drawn anew from rows like these, the measure would lie in such an interval in 95 of 100 "
    f"cases. It comes from drawing the test rows with replacement {metrics.RESAMPLES:,} times (bootstrap). It does "
    "not include what another seed or other training rows would change."
)


@cached.shared()
def headline(key: str):
    """Return the first measures of a run at the usual k, with 95 % intervals: ``measure, k, value, low, high``."""
    run = cached.run(key)
    data = cached.dataset(run.fingerprint)
    of = {"inv_ps": data.inverse_propensity(), "hierarchy": data.hierarchy}
    of["measures"] = measurable(HEADLINE, data.hierarchy)
    return metrics.intervals(data.Y_test, run.ranking, results.ks(data.n_labels), **of)


def cards(key: str) -> list[tuple]:
    """Return the main measures and the training time of a run: what :func:`pages.shared.tables.cards` shows."""
    frame, run = headline(key).set_index(["measure", "k"]), cached.run(key)
    shown, most = [], headline(key)["k"].max()
    taken = frame.index if np.isfinite(frame.loc["PSP@k", 1].value) else ()  # else no test row has a label
    for measure, k in dict.fromkeys((measure, min(k, most)) for measure, k in CARDS if (measure, 1) in taken):
        line = frame.loc[measure, k]
        text = re.sub(r"\bk\b", str(k), metrics.MEASURES[measure].explained).replace(
            "the 1 predicted", "the first predicted"
        )
        if metrics.MEASURES[measure].needs == "inv_ps":
            text += "; propensities with A = {:g} and B = {:g}".format(*cached.dataset(run.fingerprint).propensity)
        text = f"{text[0].upper()}{text[1:]}." + f" In grey: the 95\u00a0% interval. {INTERVAL}" * (not shown)
        shown.append((measure.replace("@k", f"@{k}"), format.percent(line.value), text, _interval(line)))
    if not run.has_model:
        return shown
    trials = len(run.trials)
    about = f"On this machine, in one worker process{f', with {trials} trials of settings' if trials else ''}."
    if (compiled := run.times.get("compile_s") or 0.0) > 0.05:
        about += f" Compiling code, {format.duration(compiled)}, is not counted."
    about += " In grey: how long the processors worked for it, which other work hardly changes."
    worked = f"processor: {format.duration(run.times['fit_cpu_s'])}"
    return [*shown, ("Training", format.duration(run.times["fit_s"]), about, worked)]


def _interval(line) -> str | None:
    """Return the interval of a measure in percent; None where there is none."""
    if not np.isfinite(line.low):
        return None
    return "95\u00a0%: " + "–".join(f"{100 * end:.1f}".replace("100.0", "100") for end in (line.low, line.high))
