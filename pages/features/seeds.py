"""Would another seed keep the same features? How far a selection stays the same when it is made with other seeds."""

from typing import NamedTuple

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
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    n_seeds = fields.whole(f"Seeds, 2 to {MOST_SEEDS}", 2, MOST_SEEDS, "features.stability.seeds", 5, place=left)
    params = {"method": selection.method, "params": selection.params, "seeds": list(range(int(n_seeds)))}
    task = experiment.task("selection_stability", {"dataset": view.fingerprint}, params)
    with right:
        result = tasks.ready(task, button=f"Select with {int(n_seeds)} seeds", key="features.stability")
    if result is not None:
        _show(view, result)


def _show(view, result):
    table, shared = _labels(view, result), view.selection.shared
    compare.warnings(result.warnings)
    st.markdown(sentence(stability(result)))
    left, right = st.columns(2, gap="large")
    with left:
        charts.show_figure(
            figures.stability_boxes(table, result.chance),
            table,
            f"{view.files}-stability-{len(result.seeds)}seeds",
            "Agreement between two seeds, "
            f"{'one point' if shared else 'a point per label'}, means over {format.count(len(result.pairs), 'pair')}: "
            "Jaccard similarity of the kept features, and Spearman’s rank correlation of the scores over those that "
            f"either seed keeps, where labels keep {LEAST_RANKED} or more.",
            key="features.stability.boxes",
        )
    with right:
        _cards(table, result)
        if not shared:
            _least_stable(view, table)


class Stability(NamedTuple):
    """How much of a selection another seed keeps."""

    n_selected: int  # features that a label keeps
    share: float  # of them, mean over pairs of seeds
    by_chance: float


def stability(result) -> Stability:
    return Stability(result.n_selected, result.share, result.n_selected / result.n_features)


def sentence(found: Stability) -> str:
    return (
        f"Of {format.count(found.n_selected, 'feature')} that a label keeps, another seed keeps "
        f"**{100 * found.share:.0f}\u00a0%** as well; by chance it would be {100 * found.by_chance:.0f}\u00a0%."
    )


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


def _cards(table, result):
    about = f"Features that both seeds keep, divided by those that either keeps; by chance {result.chance:.2f}."
    cards = [("Jaccard", f"{table['jaccard'].mean():.2f}", about)]
    if "spearman" in table:
        about = (
            "Of scores, over the features that either seed keeps; mean over labels. 1 is the same features in the same "
            "order. Seeds that share little give values below 0."
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
