"""What the Compare page shows first, made before it is opened."""

import dataclasses

from pages.compare import listed, more, of_runs, side


def read(runs: list, known: dict, used: str | None, widgets: dict) -> None:
    """Read the results of a workspace, and compare the first of them, as the page does while none is ticked.

    Called in the background: see :func:`pages.shared.server.read_ahead`. All that is made is kept by functions that the
    page calls, too.

    Parameters
    ----------
    runs, known, widgets
        What the workspace keeps under these names.
    used : str or None
        Fingerprint of its data set in use.
    """
    names = [field.name for field in dataclasses.fields(listed.Choice)]
    choice = listed.Choice(**{name: widgets[f"compare.{name}"] for name in names if f"compare.{name}" in widgets})
    lines = listed.table(listed.every_of(runs, known), choice)
    measured = lines[lines[choice.measure].notna()]
    here = used if (measured["fingerprint"] == used).any() else next(iter(measured["fingerprint"]), None)
    first = measured[measured["fingerprint"] == here].head(side.FIRST)
    keys, _ = of_runs.readable([of_runs.middle(line, choice.measure) for _, line in first.iterrows()], side.FIRST)
    if len(keys) > 1:
        of_runs.difference(*keys[:2], choice.measure)
        of_runs.measures(keys, {}, more.names(choice.more))
