"""Which selection the Features page shows, and for which label."""

import functools

from pages.features import select
from pages.shared import door, fields, selectors, server
from pages.shared.results import results, run_names
from pages.shared.workspaces import workspace

# Ways to rank the features that a label keeps, and whether scores are multiplied by occurrence.
ORDERS = {"Score × share of the label’s rows": True, "Score alone, as in the paper": False}
QUERY = "features.query"  # name of the search for labels, which decides what the table of all labels lists


class Selections(door.Runs):
    """A page about one of the selections on the data set in use."""

    def list(self, fingerprint) -> list:
        return [] if fingerprint is None else results.usable("selections", fingerprint)

    def titles(self, fingerprint, records) -> dict:
        return run_names.selections(records)

    def is_open_without(self) -> bool:
        return False

    def begin(self, ready, page) -> None:
        select.begin(ready.data, ready.fingerprint, ready.name)

    def pick(self, ready, page) -> bool:
        """Pick the selection that was chosen last, or the newest."""
        chosen = workspace.get("widgets").get(f"{workspace.FEATURES_SELECTION} {ready.fingerprint}")
        named = [record for record in ready.records if record["key"] == chosen]
        ready.record = (named or ready.records)[0]
        ready.run = results.selection(ready.record)
        return ready.run is not None

    def choose(self, ready, label, width) -> None:
        widget = workspace.FEATURES_SELECTION
        take = functools.partial(workspace.remember, f"{widget} {ready.fingerprint}")
        help = "All selections of this workspace on this data set, newest first. "
        help += run_names.footnote(ready.titles.values())
        if len(ready.records) > 1:
            fields.pick(label, ready.titles, widget, ready.key, take, help=help)
        if ready.run is not None:
            results.mark(ready.record)

    def watch(self, ready) -> None:
        select.controls_and_jobs(ready.data, ready.fingerprint, None if ready.run is None else ready.key)


def choose_order(view) -> bool:
    if not view.by_gradient:
        return False
    ways = list(ORDERS)
    way = fields.radio(
        "Ranked by",
        ways,
        "features.order",
        help="A score says how much the label’s output would change with the feature, even if no row of the label has "
        "it. Multiplied by the share of the label’s rows that have the feature, it puts first what these rows do have. "
        "Which features are selected does not change.",
    )
    return ORDERS[way]


def choose_label(view) -> int:
    names = server.label_names(view.fingerprint)
    return selectors.choose_label(view.data, names, "features", "features.label", QUERY)
