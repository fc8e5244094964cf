"""The runs of this workspace on the data set: which one is shown."""

import streamlit as st

from pages.shared import fields
from pages.shared.results import results, run_names
from pages.shared.workspaces import workspace


def choose(runs, shown) -> None:
    """Show a choice of the run shown; the model to train next becomes its model."""
    if len(runs) < 2:
        return
    by_key = {r["key"]: r for r in runs}

    def reopen(key):
        workspace.update(lambda data: data["shown"].__setitem__(shown["fingerprint"], key))
        if not results.is_given(by_key[key]):
            workspace.remember("train.model", by_key[key]["model"])
            st.session_state["train.model"] = by_key[key]["model"]

    titles = run_names.names(runs)
    help = "All results of this workspace on this data set. The Compare page lists them with their measures. "
    help += run_names.footnote(titles.values())
    fields.pick("Result shown", titles, "train.shown", shown["key"], reopen, help=help)
