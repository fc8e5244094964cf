"""Which of several results is best, by how much, and which of its differences from others are sure, in words."""

from xmlcore import wording
from xmlcore.experiment.side_by_side import points
from xmlcore.typing import DataFrame

RARE = "PSP@5"  # the measure of how well rare labels are predicted
NAMED = 3  # most results that are named one after the other


def best_in_words(
    lines: "DataFrame",
    measure: str,
    names: list[str],
    among: str,
    bold: str = "{}",
    tests: "DataFrame | None" = None,
) -> str:
    """Say which of the lines is highest in a measure, by how much it leads, and what is sure of it against others.

    Parameters
    ----------
    lines : DataFrame, a row per result or mean over seeds, the highest first
        Columns ``measure``, "PSP@5" and ``n``, the number of seeds.
    measure : str
    names : list of str
        Of the lines, with markup.
    among : str
        Of how many the first is the highest: ``4 results``.
    bold : str, optional
        Markup around the highest value.
    tests : DataFrame, optional
        Of the first line against others, the second among them, as :func:`differences` returns them, in the measures to
        tell of; ``run`` is the name. Without them, nothing is sure.
    """
    first = lines[measure].iloc[0]
    leaders = lines[lines[measure] == first]
    value = f"{bold.format(_percent(first))}{_seeds(leaders['n'])}"
    if len(lines) == 1:
        return f"{names[0]} is the only result: {measure} {value}."
    have = "has" if len(leaders) == 1 else "share"
    text, behind = f"{_few(names[: len(leaders)])} {have} the highest {measure} of {among}: {value}.", ()
    if len(leaders) == 1:
        said, behind = _lead(names[1], _percent(lines[measure].iloc[1]), tests)
        text += f" {said}"
    if measure != RARE and lines[RARE].notna().any():
        place = int(lines[RARE].argmax())
        name = "It also" if place < len(leaders) == 1 else f"{'But ' * (place >= len(leaders))}{names[place]}"
        if behind != (names[place],):  # which was just said
            value = _percent(lines[RARE].iloc[place])
            text += f" {name} has the highest {RARE}, where rare labels count more: {value}."
    return text


def _lead(following, value, tests) -> tuple[str, tuple]:
    """Return how sure the first line leads the one that follows and others, and who is surely ahead in rare labels."""
    if tests is None:
        return f"Next is {following}, {value}.", ()
    test = tests[tests["run"] == following].iloc[0]
    if not test["difference"] < 0:  # the mean of the seeds leads, the run in their middle does not
        return f"Its lead over {following} may be chance.", ()
    by = points(-test["difference"], -test["high"], -test["low"])
    said, behind = _surely(tests.dropna(subset=["p_holm"]))
    return " ".join(filter(None, [f"It leads {following} by {by}.", said])), behind


def _surely(tests) -> tuple[str, tuple]:
    """Return than which runs the first is surely better or worse, and in what; and who is ahead in rare labels."""
    measures, runs = (list(dict.fromkeys(tests[name])) for name in ("measure", "run"))
    said, of_runs = [], {}
    for how, sign in (("better", -1), ("worse", 1)):
        own, of_runs = tests[tests["sure"] & (sign * tests["difference"] > 0)], {}
        for measure in measures:
            of_runs.setdefault((*own.loc[own["measure"] == measure, "run"],), []).append(measure)
        of_runs.pop((), None)
        than = [f"in {_counted(what, measures)}" for what in of_runs.values()]
        if len(runs) > 1 or not said:  # else the only other run was just named
            than = [f"than {_few(who)} {what}" for who, what in zip(of_runs, than)]
        said += [f"surely {how} {wording.enumeration(than)}"] if than else []
    behind = next((who for who, what in of_runs.items() if RARE in what), ())
    if not said:
        return f"In {_counted(measures, measures)} nothing is sure." if measures else "", behind
    unsure = [run for run in runs if not tests.loc[tests["run"] == run, "sure"].any()]
    rest = f"against {_few(unsure)} nothing is sure" if unsure else "nothing else is sure"
    return f"It is {', '.join(said)}{'' if tests['sure'].all() else f'; {rest}'}.", behind


def _counted(some, measures) -> str:
    return f"all {len(some)} measures" if len(some) == len(measures) > 2 else wording.enumeration(some)


def _few(names) -> str:
    """Return some names, with the number of those that are left out."""
    left = len(names) - NAMED + 1
    return wording.enumeration([*names] if left < 2 else [*names[: NAMED - 1], f"{left:,} more"])


def _seeds(counts) -> str:
    """Return of how many seeds the value of lines of equal measure is the mean; nothing if each has one."""
    least, most = counts.min(), counts.max()
    if most == 1:
        return ""
    return f",{'' if len(counts) == 1 else ' each'} the mean of {'' if least == most else 'at most '}{most} seeds"


def _percent(share) -> str:
    return wording.percent(share).replace(" ", "\u00a0")
