"""The rule by which defaults are chosen on held-out rows, and the tables of the study."""

import math
import statistics

from benchmarks.library import tables

REFERENCE = "reference"
MOST_TIME = 2.0  # a default takes at most this many times as long as the paper's settings
TOLERANCE = 0.01  # share that a default may lose on a single data set
LESS_IS_BETTER = ("HL", "OE", "RL")  # Hamming loss, one-error, ranking loss
RULE = (
    "The gain of a candidate on a data set is the mean, over the measures, of its ratio to the reference, minus 1 "
    "(where less is better: the reference's ratio to it). Of the candidates that take at most "
    f"{MOST_TIME:g} times as long as the paper's settings (geometric mean over data sets) and lose at most "
    f"{100 * TOLERANCE:g} % on any data set, the one with the largest mean gain is the choice. Each data set is left "
    "out once: if what the others choose does not gain on those left out, on average, then the choice is noise, and "
    "the reference stays."
)


def gain(candidate, reference):
    """Return the mean ratio of the measures of a candidate to those of the reference, minus 1; -1 where it failed."""
    if "failed" in candidate:
        return -1.0
    ratios = []
    for name, value in reference["measures"].items():
        own = candidate["measures"][name]
        ratios.append(value / own if name in LESS_IS_BETTER else own / value)
    return statistics.fmean(ratios) - 1


def slower(candidate):
    """Return how many times the reference's time a candidate takes."""
    return math.inf if "failed" in candidate else candidate["time"]


def summary(held_out, names=None):
    """Return {candidate: (mean gain, least gain, geometric mean of times)} over data sets; by default over all."""
    chosen = [held_out[name]["rows"] for name in (held_out if names is None else names)]
    found = {}
    for one in chosen[0]:
        gains = [gain(rows[one], rows[REFERENCE]) for rows in chosen]
        time = math.exp(statistics.fmean(math.log(slower(rows[one])) for rows in chosen))
        found[one] = statistics.fmean(gains), min(gains), time
    return found


def recommended(held_out, paper=REFERENCE):
    """Return the candidate that becomes the default: the choice, if such choices gain where they had no say."""
    others = [gained for _, gained in left_out(held_out, paper).values()]
    return choose(held_out, paper=paper) if statistics.fmean(others) > 0 else REFERENCE


def choose(held_out, names=None, paper=REFERENCE):
    """Return the best of the candidates that the rule allows, by the data sets ``names``; by default by all.

    ``paper`` is the candidate that takes as long as the paper's settings.
    """
    found = summary(held_out, names)
    most = MOST_TIME * found[paper][2]
    allowed = [one for one, (_, least, time) in found.items() if least >= -TOLERANCE and time <= most]
    return max(allowed, key=lambda one: found[one][0])


def left_out(held_out, paper=REFERENCE):
    """Return {data set: (what the other data sets choose, its gain on this one)}."""
    found = {}
    for name, one in held_out.items():
        taken = choose(held_out, [other for other in held_out if other != name], paper)
        found[name] = taken, gain(one["rows"][taken], one["rows"][REFERENCE])
    return found


def percent(value):
    """Return a share as a signed percentage."""
    return f"{100 * value:+.1f}"


def table_held_out(held_out, paper=REFERENCE):
    """Return the table of all candidates, the best first, with the one that becomes the default in bold."""
    found, taken, rows = summary(held_out), recommended(held_out, paper), []
    for one, (mean, least, time) in sorted(found.items(), key=lambda item: -item[1][0]):
        gains = [percent(gain(each["rows"][one], each["rows"][REFERENCE])) for each in held_out.values()]
        row = [one, percent(mean), percent(least), tables.times(time), *gains]
        rows.append([f"**{text}**" for text in row] if one == taken else row)
    return tables.table(["settings", "mean gain, %", "least", "time", *held_out], rows)


def table_left_out(held_out, paper=REFERENCE):
    """Return the table of what is chosen, and what that gains, when one data set has no say."""
    taken, rows = choose(held_out, paper=paper), []
    for name, (chosen, gained) in left_out(held_out, paper).items():
        each = held_out[name]["rows"]
        rows.append([name, chosen, percent(gained), percent(gain(each[taken], each[REFERENCE]))])
    mean = statistics.fmean(gained for _, gained in left_out(held_out, paper).values())
    rows.append(["mean", "", percent(mean), percent(summary(held_out)[taken][0])])
    return tables.table(["data left out", "chosen by the others", "its gain, %", "gain of the choice by all"], rows, 2)


def table_test(test):
    """Return the table of published and recommended settings on test rows; times as ratios to the paper's settings."""
    rows = []
    for name, settings in test.items():
        for setting, found in settings.items():
            if "failed" in found:
                rows.append([name, setting, found["failed"]])
                continue
            digits = 4 if "HL" in found["measures"] else 2
            measures = [f"{value:.{digits}f}" for value in found["measures"].values()]
            rows.append([name, setting, *measures, tables.times(found["time"])])
    names = next(iter(next(iter(test.values())).values()))["measures"]
    return tables.table(["data", "settings", *names, "time"], rows, 2)


def markdown(results):
    """Return all tables of the study."""
    parts = [f"Rule: {RULE}"]
    for method, about in results.items():
        parts.append(f"## {method}")
        machine, versions = about["machine"], ", ".join(f"{k} {v}" for k, v in about["versions"].items())
        parts.append(
            f"Measured {about['date']}: {machine['cpu']}, {machine['cores']} cores, {machine['system']}; one thread, "
            f"processor time; {versions}; sources of xmlcore {about['xmlcore_code']}."
        )
        if "held out" in about:
            held_out = about["held out"]
            sizes = ", ".join(
                f"{name} {each['train']:,} / {each['rest']:,}" + (f" ({each['splits']} splits)" * (each["splits"] > 1))
                for name, each in held_out.items()
            )
            parts += [
                f"**Held-out training rows**: gains over the {about['reference']}'s settings, percent; times "
                f"relative to these settings in the same run. Rows to train on / held out: {sizes}.",
            ]
            if len(held_out) > 1:
                one, other = table_held_out(held_out, about["paper"]), table_left_out(held_out, about["paper"])
                parts += [one, "**Each data set left out once**:", other]
        if "test" in about:
            parts += [
                "**Test rows**, after training on all training rows: a report, by which nothing was chosen. Time: of "
                "training and prediction, as a ratio to the paper's settings.",
                table_test(about["test"]),
            ]
    return "\n\n".join(parts) + "\n"
