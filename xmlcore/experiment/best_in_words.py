"""Which of several results is best, by how much, and which of its differences from others are sure, in words."""

from xmlcore import wording
from xmlcore.experiment.side_by_side import sure_elsewhere, told
from xmlcore.typing import DataFrame

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
        Columns ``measure`` and ``n``, the number of seeds.
    measure : str
    names : list of str
        Of the lines, with markup.
    among : str
        Of how many the first is the highest: ``4 results``.
    bold : str, optional
        Markup around the highest value.
    tests : DataFrame, optional
        Of the first line against others, the second among them, as :func:`differences` returns them, first in
        ``measure`` or in what :func:`at_most` makes of it; :func:`told` says of which others to tell; ``run`` is the
        name. Without them, nothing is sure.
    """
    first = lines[measure].iloc[0]
    leaders = lines[lines[measure] == first]
    value = f"{bold.format(_percent(first))}{_seeds(leaders['n'])}"
    if len(lines) == 1:
        return f"{names[0]} is the only result: {measure} {value}."
    have = "has" if len(leaders) == 1 else "share"
    text = f"{_few(names[: len(leaders)])} {have} the highest {measure} of {among}: {value}."
    return text if len(leaders) > 1 else f"{text} {_lead(names[1], _percent(lines[measure].iloc[1]), tests)}"


def _lead(following, value, tests) -> str:
    """Return how sure the first line leads each other one."""
    if tests is None:
        return f"Next is {following}, {value}."
    measure = tests["measure"].iloc[0]  # of few labels P@3 in place of P@5
    own = tests[tests["measure"] == measure].set_index("run")
    test, surely = own.loc[following], own["sure"] & (own["difference"] < 0)
    led, rest = list(own.index[surely]), list(own.index[~surely])
    if test["difference"] < 0:  # else the mean of the seeds leads, the run in their middle does not
        of = led if surely[following] else rest
        of[of.index(following)] += f" by {wording.points(-test['difference'], -test['high'], -test['low'])}"
    leads = (("it surely leads {}", led), ("its lead over {} may be chance", rest))
    said = "; ".join(words.format(_few(who)) for words, who in leads if who)
    elsewhere = _elsewhere(tests)
    return f"{said[0].upper()}{said[1:]}.{elsewhere}"


def _elsewhere(tests) -> str:
    """Return what is sure in other measures: where results not led are behind, and who is ahead."""
    if not tests["sure"].any():
        measures = list(dict.fromkeys(tests.dropna(subset=["p_holm"])["measure"]))
        return f" In {_counted(measures)} nothing is sure." if measures else ""
    others = sure_elsewhere(tests)
    others = others[others["measure"].isin(told(tests))]
    better = _by_runs(others[others["difference"] < 0])
    ahead = _by_runs(others[others["difference"] > 0])
    said = "".join(f" It is surely better than {_few(who)} in {what}." for who, what in better.items())
    return said + "".join(
        f" But {_few(who)} {'is' if len(who) == 1 else 'are'} surely better in {what}." for who, what in ahead.items()
    )


def _by_runs(tests) -> dict:
    """Return the measures of some tests, in words, for each group of runs that has the same."""
    measures = {}
    for run, what in tests.groupby("run", sort=False, observed=True)["measure"]:
        measures.setdefault(wording.enumeration(list(what)), []).append(run)
    return {tuple(runs): what for what, runs in measures.items()}


def _counted(measures) -> str:
    return f"all {len(measures)} measures" if len(measures) > 2 else wording.enumeration(measures)


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
