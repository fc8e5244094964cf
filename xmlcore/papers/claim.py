"""The classes of the table of claims: :class:`Paper`, :class:`Claim`, :class:`Repeat` and :class:`AtMost`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from xmlcore.first_use import pd
from xmlcore.typing import DataFrame, Dataset

HOLDS, FAILS, OTHER, LOST = "holds", "does not hold", "not comparable", "cannot be repeated"
VERDICTS = {
    HOLDS: "found here, too, where the data are to be had",
    FAILS: "refuted, or found on some data sets only",
    OTHER: "another machine or other settings, or a statement that no measurement decides",
    LOST: "its data or its rivals are not to be had",
}
FOLDER = Path(__file__).parent
VALUES = FOLDER / "values"


@dataclass(frozen=True)
class Repeat:
    """A task of :data:`xmlcore.experiment.KINDS` that repeats a claim on the data set in use.

    ``models`` are trained first, and the task measures each of them; a task of a data set alone needs none.
    """

    kind: str = "train"
    models: tuple[tuple[str, str, dict[str, Any]], ...] = ()  # title, model, its preset or "" and further settings
    params: dict[str, Any] = field(default_factory=dict)
    presets: dict[str, str] = field(default_factory=dict)  # in the place of "paper", by published data set

    def on(self, dataset: Dataset) -> "Repeat":
        """Return it for a data set: with its preset, and its numbers of features and labels for "D" and "C"."""
        name, sizes = getattr(dataset.published, "name", ""), {"D": dataset.n_features, "C": dataset.n_labels}
        presets, params = {"paper": self.presets.get(name, "paper")}, dict(self.params)
        if "selections" in params:
            params["selections"] = [
                one and [one[0], {key: sizes.get(value, value) for key, value in one[1].items()}]
                for one in params["selections"]
            ]
        models = tuple((title, model, presets.get(preset, preset), own) for title, model, preset, own in self.models)
        return replace(self, models=models, params=params)


class AtMost(NamedTuple):
    """Says that one value is at most a multiple of another, and a little more; each is a number or has a name."""

    smaller: str | float
    larger: str | float
    times: float = 1.0
    plus: float = 0.0

    def holds(self, values: dict[str, float]) -> bool:
        return values.get(self.smaller, self.smaller) <= self.times * values.get(self.larger, self.larger) + self.plus


@dataclass(frozen=True)
class Claim:
    """A table, a figure or a statement of a paper, and what became of it here."""

    paper: str  # a key of :data:`xmlcore.papers.PAPERS`
    where: tuple[str, ...]  # such as ("Table 2", "Table 4")
    says: str  # in one line
    published: str  # the main values, with their data set and unit
    verdict: str  # a key of :data:`VERDICTS`
    reason: str  # with what was measured here
    evidence: str  # place in the project, such as "docs/methods/ldsm.md#measured"
    repeat: Repeat | None = None
    figure: str = ""  # a function of :mod:`xmlcore.figures`, or the table "bound_terms"
    page: str = ""  # the page of the dashboard on which it stands
    table: str = ""  # a file of ``values/`` with all published values
    shows: tuple[str, ...] = ()  # measures, times, "depth" and "memory" of results that the claim is about
    decided: tuple[AtMost, ...] = ()  # holds if all of these do, for values of results such as "P@1 of LdSM"
    only: tuple[AtMost, ...] = ()  # the data that it is about, such as those of a small "density"

    @property
    def title(self) -> str:
        """Where it stands in the paper, in words."""
        noun, numbers = self.where[0].rpartition(" ")[0], [place.rpartition(" ")[2] for place in self.where]
        if len(numbers) == 1 or any(place.rpartition(" ")[0] != noun for place in self.where):
            return ", ".join(self.where)
        return f"{noun}s {', '.join(numbers[:-1])} and {numbers[-1]}"

    def verdict_on(self, values: dict[str, float]) -> str:
        """Return whether it holds for values by name, such as "P@1 of LdSM"; :data:`OTHER` if they do not decide it."""
        names = {of for one in (*self.decided, *self.only) for of in one[:2] if isinstance(of, str)}
        if not self.decided or names - {*values} or not all(one.holds(values) for one in self.only):
            return OTHER
        return HOLDS if all(one.holds(values) for one in self.decided) else FAILS

    def values(self) -> "DataFrame | None":
        """Return all published values, as printed, or None if the paper prints none."""
        return pd.read_csv(VALUES / f"{self.table}.csv") if self.table else None


@dataclass(frozen=True)
class Paper:
    """A paper whose tables and figures are listed."""

    title: str  # as pages call it
    tables: int  # number of them, the supplement included
    figures: int
    citation: str


def read_paper(name: str, repeats: Mapping[str, Any]) -> tuple[Paper, tuple[Claim, ...]]:
    """Return a paper and its claims from ``<name>.toml``; ``repeats`` has what repeats them, by the names there."""
    found = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    claims = []
    for values in found["claim"]:
        values |= {field: tuple(values.get(field, ())) for field in ("where", "shows")}
        values |= {field: tuple(AtMost(**one) for one in values.get(field, ())) for field in ("decided", "only")}
        values |= {"repeat": repeats[of] if (of := values.get("repeat")) else None}
        claims.append(Claim(name, **{"published": ""} | values))
    return Paper(**found["paper"]), tuple(claims)
