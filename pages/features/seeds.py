"""Would another seed keep the same features? How far a selection stays the same when it is made with other seeds."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.features import compare
from pages.shared import fields, format, tables, tasks
from pages.shared.figures import charts
from xmlcore import experiment, figures
from xmlcore.experiment.engine.task_parameters import MOST_SEEDS

LEAST_RANKED = 5  # kept features; with fewer, Spearman’s correlation tells little more than how many are shared
LISTED_LABELS = 200  # most lines of the table


def seeds(view) -> None:
    selection = view.selection
    if "random_state" not in selection.params:
        st.caption(f"{selection.title} involves no chance: it always keeps the same features.")
        return
    st.markdown(
        "With another seed, the network begins with other random weights and sees the rows in another order."
        if selection.method == "FALS"
        else "With another seed, the trees of the forest see other samples of rows."
    )
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    n_seeds = fields.whole(f"Seeds, 2 to {MOST_SEEDS}", 2, MOST_SEEDS, "features.stability.seeds", 5, place=left)
    params = {"method": selection.method, "params": selection.params, "seeds": list(range(int(n_seeds)))}
    task = experiment.task("selection_stability", {"dataset": view.fingerprint}, params)
    with right:
        result = tasks.ready(task, button=f"Select with {int(n_seeds)} seeds", key="features.stability")
    if result is not None:
        _show(view, result)


def _show(view, result):
    table = _labels(view, result)
    compare.warnings(view, result.warnings)
    st.markdown(_shared_text(result, view.selection.shared))
    left, right = st.columns(2, gap="large")
    with left:
        charts.show_figure(
            figures.stability_boxes(table, result.chance),
            table,
            f"{view.files}-stability-{len(result.seeds)}seeds",
            _caption(table, view.selection.shared),
            key="features.stability.boxes",
        )
    with right:
        _cards(table, result)
        if not view.selection.shared:
            _least_stable(view, table)


def _labels(view, result) -> pd.DataFrame:
    """Return agreement by label: ``label, name, jaccard`` and, of enough features, ``spearman``."""
    shared = view.selection.shared
    labels = np.arange(1) if shared else np.arange(view.selection.n_labels)
    table = pd.DataFrame(
        {
            "label": labels,
            "name": ["all labels"] if shared else tables.label_names(view.data, labels),
            "jaccard": result.labels[0, : labels.size],
            "spearman": result.labels[1, : labels.size],
        }
    )
    return table if result.n_selected >= LEAST_RANKED else table.drop(columns="spearman")


def _caption(table, shared) -> str:
    between = f"between two seeds: {'one point' if shared else 'a point per label'}, means over pairs."
    jaccard = f"Jaccard similarity of the kept features {between}"
    if "spearman" not in table:
        return (
            f"{jaccard} Spearman’s rank correlation of their scores is left out: it is taken over the features that "
            f"either seed keeps, and of fewer than {LEAST_RANKED} kept it says little but how many are shared."
        )
    if not np.isfinite(table["spearman"].mean()):
        return f"{jaccard} Spearman’s correlation of their scores could not be taken: they were not kept."
    return (
        "Jaccard similarity of the kept features, and Spearman’s rank correlation of the scores, taken over the "
        f"features that either seed keeps. Those that only one seed keeps count against it; {between}"
    )


def _cards(table, result):
    about = f"Features that both seeds keep, divided by those that either keeps; by chance {result.chance:.2f}."
    cards = [("Jaccard", f"{table['jaccard'].mean():.2f}", about)]
    if "spearman" in table:
        about = (
            "Of scores, over the features that either seed keeps; mean over labels. 1 is the same features in the same "
            "order. Features that only one seed keeps count against it, so seeds that share little give values below 0."
        )
        cards.append(("Spearman", format.number(table["spearman"].mean()), about))
    tables.cards(cards)


def _least_stable(view, table):
    counts = np.bincount(view.data.Y_train.indices, minlength=view.selection.n_labels)
    least = table.assign(rows=counts).sort_values("jaccard", kind="stable").head(LISTED_LABELS)
    tables.show(
        least,
        "features.stability.labels",
        {
            "name": tables.text("Label"),
            "rows": tables.number("Rows", 70, "localized", "Training rows."),
            "jaccard": tables.number("Jaccard", 80, "%.2f"),
            "spearman": tables.number("Spearman", 80, "%.2f"),
        },
        most=230,
    )
    st.caption(f"Least stable first, {len(least):,} of {format.count(len(table), 'label')}; the CSV has all.")


def _shared_text(result, shared) -> str:
    keep = "all labels keep" if shared else "a label keeps"
    share = f"**{100 * result.share:.0f}\u00a0%**"
    text = (
        f"The feature that {keep} is the same with another seed in {share} of cases"
        if result.n_selected == 1
        else f"Of the {result.n_selected:,} features that {keep}, another seed keeps {share} as well"
    )
    return (
        f"{text}, on average over {format.count(len(result.pairs), 'pair')} of seeds; by chance it would be "
        f"{100 * result.n_selected / result.n_features:.0f}\u00a0%."
    )
