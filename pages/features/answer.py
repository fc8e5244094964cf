"""The answer of the Features page: a sentence, cards, and the features of a label."""

import numpy as np
import streamlit as st

from pages.features.view import few_steps, plan, selection_union
from pages.shared import format, settings, tables
from pages.shared.figures import charts
from pages.shared.rows import explaining
from xmlcore import figures

BARS = (10, 15, 20, 50)  # numbers of features that can be drawn
# Ways to rank the features that a label keeps, and whether scores are multiplied by the excess.
EXCESS = "× excess in the label’s rows"
ORDERS = {f"Score {EXCESS}": True, "Score alone, as in the paper": False}
ABOUT_ORDERS = (
    "A score says how much the label’s output would change with the feature, even if no row of the label has it. "
    "The excess is how much more often the label’s rows have the feature than other rows: it puts first what tells "
    "these rows from others. Which features are selected does not change."
)
QUERY = "features.query"  # name of the search for labels, which decides what the table of all labels lists
FEW_ROWS = 5  # a label of at most this many training rows has few
MANY = 0.1  # share of the labels with few rows from which a card counts them
KINDS = {  # title of the axis of scores, and which features are kept: ends a sentence that begins with "those"
    "gradient": ("mean squared gradient", "with which the output of a trained network changes most"),
    "Fisher": (
        "Fisher information",
        "with which the output of a trained network changes most, relative to how uncertain it is",
    ),
    "attribution": ("mean squared attribution", "to which a trained network owes most of its output"),
    "ChiSquared": ("χ²", "whose occurrence depends most on that of the label"),
    "MutualInformation": ("mutual information in nats", "that tell most about the label"),
    "Lasso": ("size of the weight", "with the largest weights in a sparse linear model"),
    "RandomForest": ("share of the impurity", "that separate rows best in the splits of a forest of decision trees"),
}


def sentence(view, label) -> str:
    table, score = view.features_of(label), f"the score of {view.selection.title}"
    if view.weighted:
        table, score = table[table["weighted_score"] > 0], f"{score} {EXCESS}"
    whose = "all labels together" if view.selection.shared else format.bold(view.data.label_name(label))
    first = [format.bold(feature) for feature in table["name"].head(3)]
    if not first:
        return f"None of the features kept for {whose} is more frequent in its rows than in others."
    matter = "matters" if len(first) == 1 else "matter"
    return f"{format.listed(first)} {matter} most for {whose}, by {format.plain(score)}."


def cards(view) -> None:
    selection = view.selection
    same = "The same for all" if selection.shared else "For each of"
    features = format.count(selection.n_features, "feature")
    of = f"{same} {format.count(selection.n_labels, 'label')}, of {features}: those {_kind(selection)[1]}."
    union = f"Of {features}: what a model for all labels would be trained on."
    shown = [
        ("Kept per label", f"{selection.n_selected:,} of {selection.n_features:,}", of),
        ("Kept by any label", f"{selection_union(view.key):,}", union),
    ]
    if view.closest is not None and np.isfinite(view.closest[3]):
        about = (
            "Share of the features of one label that another keeps, too: mean over all pairs of "
            f"{format.count(view.closest[1], 'label')}, the most frequent ones."
        )
        shown.append(("Shared by two labels", f"{100 * view.closest[3]:.0f}\u00a0%", about))
    rows = np.bincount(view.data.Y_train.indices, minlength=selection.n_labels)
    few = 0 if selection.shared else int((rows <= FEW_ROWS).sum())
    if few >= MANY * selection.n_labels:
        about = f"At most {FEW_ROWS} training rows: most of the features that such a label keeps say little of it."
        shown.append(("Labels of few rows", f"{few:,} of {selection.n_labels:,}", about))
    scoring = {"exact": " Scores are exact, from all training rows.", "sampled": " Scores are from sampled rows."}
    about = f"On this machine, in one worker process.{scoring.get(selection.info.get('scoring'), '')}"
    tables.cards(*shown, ("Time to select", format.duration(selection.times["fit_s"]), about))
    for warning in dict.fromkeys(selection.warnings):
        st.warning(format.plain(format.sentence(settings.in_form(selection.method, warning))))
    if selection.method == "FALS" and (note := few_steps(plan(view.fingerprint, "FALS", selection.params))):
        st.warning(note)


def _kind(selection) -> tuple[str, str]:
    if selection.method != "FALS":
        return KINDS[selection.method]
    if selection.params["attribution"] != "gradient":
        return KINDS["attribution"]
    return KINDS["Fisher" if selection.params["pattern"] in ("FILS", "FIMS") else "gradient"]


def bars(view, label) -> None:
    selection, name = view.selection, view.data.label_name(label)
    table = drawn = view.features_of(label)
    unit = f"Score, {_kind(selection)[0]}"
    if view.weighted:
        drawn, unit = table[table["weighted_score"] > 0], f"Score {EXCESS}"
        drawn = drawn.assign(score=drawn["weighted_score"])
        if "standard_error" in drawn:
            drawn = drawn.assign(standard_error=drawn["standard_error"] * drawn["with_label"])
    known = not selection.shared and bool(drawn["with_label"].notna().all() and len(drawn))
    by_occurrence = known and bool((drawn["with_label"] != drawn["without_label"]).any())
    whose = "all labels together" if selection.shared else format.bold(name)
    title = "Features of all labels" if selection.shared else f"Features of {explaining.in_title(name)}"
    lines = " Lines show two standard errors on either side, for this trained network."
    named = f"-{format.file_name(name)}" if view.data.label_names is not None else ""
    charts.show_figure(
        figures.feature_bars(drawn, view.n_bars, unit=unit, title=title, by_occurrence=by_occurrence),
        table,
        f"{view.files}-label{label}{named}{view.order_file}",
        f"The features of largest score for {whose}, by {format.plain(selection.title)}, whether they raise or lower "
        f"the label’s score.{lines if 'standard_error' in table else ''}",
        counted="kept features" + (" more frequent in the label’s rows" if view.weighted else ""),
    )


def label_table(view, label) -> None:
    table = view.features_of(label)
    shown = table.assign(with_label=100 * table["with_label"], without_label=100 * table["without_label"])
    titles = {
        "weighted_rank": tables.number("Rank", 65, "%d"),
        "weighted_score": tables.number("Score × excess", 115, "%.3g", "In label’s rows − in other rows."),
        "rank": tables.number("Rank by score" if view.weighted else "Rank", 105 if view.weighted else 65, "%d"),
        "score": tables.number("Score", 90, "%.3g"),
        "name": tables.text("Feature"),
        "standard_error": tables.number("Standard error", 120, "%.2g"),
        "with_label": tables.bar("In label’s rows, %", 125, "Share of the label’s training rows with the feature."),
        "without_label": tables.bar("In other rows, %", 120, "Share of the other training rows with the feature."),
        "n_labels": tables.number("Labels that keep it", 130, "localized", f"Of {view.selection.n_labels:,}."),
        "feature": tables.number("Id", 65, "%d"),
    }
    own, others = ("weighted_rank", "weighted_score"), ("rank", "score")
    first, more = (own, others) if view.weighted else ((*others, "standard_error"), ())
    first = (*first, "name", "with_label", "without_label", *([] if view.selection.shared else ["n_labels"]))
    config = {column: titles[column] for column in (*first, *more, "feature") if column in shown}
    tables.show(shown[[*config]], "features.table", config, first=first, most=290)
    st.caption(f"{format.count(len(shown), 'feature')} that {format.bold(view.data.label_name(label))} keeps.")
