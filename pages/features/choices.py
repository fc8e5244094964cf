"""Which selection the Features page shows, and for which label."""

import functools

from pages.shared import fields, selectors, server
from pages.shared.results import run_names
from pages.shared.workspaces import workspace

# Ways to rank the features that a label keeps, and whether scores are multiplied by occurrence.
ORDERS = {"Score × share of the label’s rows": True, "Score alone, as in the paper": False}
QUERY = "features.query"  # name of the search for labels, which decides what the table of all labels lists


def shown_record(fingerprint, past) -> dict | None:
    """Return the record of the selection shown: the one chosen last, or the newest; None when there is none."""
    chosen = workspace.get("widgets").get(f"{workspace.FEATURES_SELECTION} {fingerprint}")
    return next((record for record in past if record["key"] == chosen), past[0] if past else None)


def choose_selection(view) -> None:
    titles, widget = run_names.selections(view.past), workspace.FEATURES_SELECTION
    take = functools.partial(workspace.remember, f"{widget} {view.fingerprint}")
    help = f"All selections of this workspace on this data set, newest first. {run_names.footnote(titles.values())}"
    fields.pick("Selection shown", titles, widget, view.key, take, help=help)


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
