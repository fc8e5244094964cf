"""What the Compare page shows first, made before it is opened."""

import dataclasses

from pages.compare import listed, more, of_runs, side


def make(runs: list, known: dict, used: str | None, widgets: dict) -> None:
    """Read the results of a workspace, and compare the first of them, as the page does while none is ticked."""
    every = listed.every_of(runs, known, widgets)
    choice = dataclasses.replace(_choice(every.frame, widgets), used=used or "")
    lines = listed.table(every, choice)
    measured = lines[lines[choice.measure].notna()]
    here = used if (measured["fingerprint"] == used).any() else next(iter(measured["fingerprint"]), None)
    first = measured[measured["fingerprint"] == here].head(side.FIRST)
    keys, _ = of_runs.readable([of_runs.middle(line, choice.measure) for _, line in first.iterrows()], side.FIRST)
    if len(keys) > 1:
        of_runs.tests(keys, {}, choice)
        of_runs.measures(keys, {}, more.names(choice.more))


def _choice(frame, widgets: dict) -> listed.Listing:
    offered = {"measure": listed.measures(frame), "lines": tuple(listed.LINES), "dataset": [*frame["fingerprint"]]}
    offered |= {"model": [*frame["model"]], "tag": [tag for text in frame["tags"] for tag in text.split(", ")]}
    offered |= {"archived": (False, True)}
    kept = {name: widgets[f"compare.{name}"] for name in offered if f"compare.{name}" in widgets}
    text, further = widgets.get("compare.text"), widgets.get("compare.more")
    further = further if isinstance(further, list) else []
    return listed.Listing(
        **{name: value for name, value in kept.items() if value in offered[name]},
        text=text.strip() if isinstance(text, str) else "",
        more=tuple(column for column in more.COLUMNS if column in further),
    )
