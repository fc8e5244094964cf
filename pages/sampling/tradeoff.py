"""What more of κ or π brings and costs, in words."""

import numpy as np

from pages.shared import format
from xmlcore.metrics.statistics import mean_intervals

SIGNS = {"n_adversarial": "κ", "examples_per_class": "π"}
LEAST = 1e-3  # processor seconds: what the clocks of all systems tell
ALIKE = 1.5  # processor times of like trainings, of which each is measured once, are within this factor


def in_words(frame) -> str:
    """Return a sentence for κ and one for π: accuracy and time at the least and at the most of it."""
    trained = frame[frame["failed"] == ""]
    return " ".join(filter(None, (_in_words(trained[trained["axis"] == axis], axis) for axis in SIGNS)))


def _in_words(rows, axis) -> str:
    groups = rows.groupby(axis)
    if groups.ngroups < 2:
        return ""
    mean, _, high = mean_intervals(groups["accuracy"], groups["margin"]).T.to_numpy()
    reach = high - mean
    first, last, best = 0, mean.size - 1, int(mean.argmax())

    def is_clear(one, other):
        return abs(mean[one] - mean[other]) > np.hypot(reach[one], reach[other])

    values = [f"{value:,.10g}" for value in groups.groups]
    least, most = (f"{format.percent(mean[end])} at {SIGNS[axis]} = {values[end]}" for end in (first, last))
    text = f"Micro R@1 is **{least}**, **{most}**"
    text += "" if is_clear(first, last) else ", which may be chance"
    if best not in (first, last) and is_clear(best, first) and is_clear(best, last):
        text += f", with most at {values[best]}, {format.percent(mean[best])}"
    return f"{text}{_time(groups)}."


def _time(groups) -> str:
    """Return how the processor time changes; nothing for a study of an earlier version, which did not measure it."""
    frame = groups.obj
    if "cpu_s" not in frame or frame["cpu_s"].isna().any():
        return ""
    is_once = groups.size().min() == 1
    least = ALIKE if is_once else 1.0
    seconds = groups["cpu_s"].agg(["min", "mean", "max"]).clip(lower=LEAST)
    first, last = seconds.iloc[0], seconds.iloc[-1]
    if max(last["min"] / first["max"], first["min"] / last["max"]) > least:
        times = last["mean"] / first["mean"]
        return f"; {times:,.0f} times the processor time" if times >= 10 else f"; {times:.2g} times the processor time"
    return "; no clear change of the time" + (", by one training each" if is_once else "")
