"""The answer of the Features page: a sentence, cards, and the features of a label."""

import math

import numpy as np
import streamlit as st

from pages.features import words
from pages.features.view import plan, selection_union
from pages.shared import format, settings, tables
from pages.shared.figures import charts
from pages.shared.rows import explaining
from xmlcore import figures

BARS = (10, 15, 20, 50)  # numbers of features that can be drawn
ALIKE = 1.25  # a feature's share of a label's rows by that of others, below which it tells little
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SCORE = {  # titles of the axis of scores
    "gradient": "Score, mean squared gradient",
    "Fisher": "Score, Fisher information",
    "attribution": "Score, mean squared attribution",
    "ChiSquared": "Score, χ²",
    "MutualInformation": "Score, mutual information in nats",
    "Lasso": "Score, size of the weight",
    "RandomForest": "Score, share of the impurity",
}
WHY = {  # which features are kept: ends a sentence that begins with "those"
    "gradient": "with which the output of a trained network changes most",
    "Fisher": "with which the output of a trained network changes most, relative to how uncertain it is",
    "attribution": "to which a trained network owes most of its output",
    "ChiSquared": "whose occurrence depends most on that of the label",
    "MutualInformation": "that tell most about the label",
    "Lasso": "with the largest weights in a sparse linear model",
    "RandomForest": "that separate rows best in the splits of a forest of decision trees",
}


def sentence(view, label) -> str:
    """Return by which ranking which features are the label's best, and how many of those drawn are rare in its rows."""
    table, name = view.features_of(label), f"**{format.plain(view.data.label_name(label))}**"
    by = f"by the score of {format.plain(view.selection.title)}"
    if view.weighted:
        table, by = table[table["weighted_score"] > 0], f"{by} × share of the label’s rows"
        if table.empty:
            return f"None of the features kept for {name} occurs in its rows."
    first, drawn = table.head(3), table.head(view.n_bars)
    matter = "matters" if len(first) == 1 else "matter"
    best = [f"**{format.plain(feature)}**" for feature in first["name"]]
    if view.selection.shared:
        return f"{format.listed(best)} {matter} most for all labels together, {by}."
    share, elsewhere = first["with_label"].to_numpy(), first["without_label"].to_numpy()
    as_often = (share >= elsewhere) & (share < ALIKE * elsewhere)
    best = [f"{one} (hardly rarer elsewhere)" if alike else one for one, alike in zip(best, as_often)]
    rare = int((drawn["with_label"] < drawn["without_label"]).sum())
    are = "is" if rare == 1 else "are"
    rarer = f" Of the {len(drawn)} drawn, {rare} (orange) {are} rarer in its rows than elsewhere."
    return f"{format.listed(best)} {matter} most for {name}, {by}.{rarer if rare else ''}"


def cards(view) -> None:
    selection = view.selection
    features = format.count(selection.n_features, "feature")
    same = "The same for all" if selection.shared else "For each of"
    of = f"{same} {format.count(selection.n_labels, 'label')}, of {features}: those {WHY[_kind(selection)]}."
    shown = [
        ("Kept per label", f"{selection.n_selected:,} of {selection.n_features:,}", of),
        (
            "Kept by any label",
            f"{selection_union(view.key):,}",
            f"Of {features}: what a model for all labels would be trained on.",
        ),
    ]
    if view.closest is not None and np.isfinite(view.closest[3]):
        n = view.closest[1]
        which = "all labels" if n == selection.n_labels else f"the {n:,} most frequent of {selection.n_labels:,} labels"
        about = (
            f"Share of the features of one label that another keeps, too: mean over all pairs of {which}. 100\u00a0% "
            "is the same features, 0\u00a0% none in common."
        )
        shown.append(("Shared by two labels", f"{100 * view.closest[3]:.0f}\u00a0%", about))
    shown.append(
        ("Time to select", format.duration(selection.times["fit_s"]), "On this machine, in one worker process.")
    )
    tables.cards(shown)
    _warnings(view)


def _warnings(view):
    selection = view.selection
    for warning in dict.fromkeys(selection.warnings):
        # Parameters are renamed before names are filled in, because a name may look like a parameter.
        text = settings.in_form(selection.method, warning)
        st.warning(format.plain(words.with_names(view.data, text)))
    if selection.method == "FALS":
        note = words.few_steps_note(plan(view.fingerprint, selection.method, selection.params))
        if note:
            st.warning(note)


def notes(view) -> None:
    """Say of how few rows the features of many labels are."""
    if few_rows := words.few_rows(view.data, view.selection):
        st.caption(few_rows)
    if rare := words.rare(view.data, view.selection):
        st.caption(rare, help=words.RARE_HELP)


def _kind(selection) -> str:
    """Return what the scores of a selection are: a key of ``SCORE`` and of ``WHY``."""
    if selection.method != "FALS":
        return selection.method
    if selection.params["attribution"] != "gradient":
        return "attribution"
    return "Fisher" if selection.params["pattern"] in ("FILS", "FIMS") else "gradient"


def bars(view, label) -> None:
    selection, name = view.selection, view.data.label_name(label)
    table = drawn = view.features_of(label)
    scores, info = "", selection.info
    if info.get("scoring"):
        n = info.get("n_scored") or selection.n_rows
        rows = "all training rows" if info["scoring"] == "exact" else f"{n:,} rows drawn for each label"
        scores = f" Scores are {info['scoring']}: from {rows}, computed in the order “{info.get('order', '')}”."
    if "standard_error" in table.columns:
        scores += " Lines show two standard errors on either side, for this trained network."
    unit, by, none = SCORE[_kind(selection)], format.plain(selection.title), ""
    if view.weighted:
        drawn = weighted_scores(table)
        unit = "Score × share of the label’s rows"
        by += ", times the share of the label’s training rows that have the feature"
        left_out = len(table) - len(drawn)
        if left_out:
            occurs = (
                "occurs in no row of the label and has" if left_out == 1 else "occur in no row of the label and have"
            )
            none = f" {format.count(left_out, 'kept feature')} {occurs} no bar."
    known = not selection.shared and bool(drawn["with_label"].notna().all() and len(drawn))
    by_occurrence = known and bool((drawn["with_label"] != drawn["without_label"]).any())
    whose = "all labels together" if selection.shared else f"**{format.plain(name)}**"
    title = "Features of all labels" if selection.shared else f"Features of {explaining.in_title(name)}"
    charts.show_figure(
        figures.feature_bars(drawn, view.n_bars, unit=unit, title=title, by_occurrence=by_occurrence),
        table,
        f"{view.files}-label{label}"
        + (f"-{format.file_name(name)}" if view.data.label_names is not None else "")
        + view.order_file,
        f"The features of largest score for {whose}, by {by}, whether they raise or lower the label’s score."
        f"{scores}{none}",
        key="features.bars",
        counted="kept features" + (" that rows of the label have" if view.weighted else ""),
    )


def weighted_scores(table):
    drawn = table[table["weighted_score"] > 0]
    drawn = drawn.assign(score=drawn["weighted_score"])
    if "standard_error" in drawn.columns:
        drawn = drawn.assign(standard_error=drawn["standard_error"] * drawn["with_label"])
    return drawn


def _readable(largest) -> tuple[float, str]:
    if not 0 < largest < 0.001:
        return 1.0, ""
    power = 3 * math.ceil(-math.log10(largest) / 3)
    return 10.0**power, f", 10{str(-power).translate(SUPERSCRIPT)}"


def label_table(view, label) -> None:
    table = view.features_of(label)
    sampled = "standard_error" in table.columns
    shown = table.assign(with_label=100 * table["with_label"], without_label=100 * table["without_label"])
    factor, times = _readable(table["score"].max())
    scores = [column for column in ("score", "weighted_score", "standard_error") if column in shown.columns]
    shown[scores] = factor * shown[scores]
    forms = {column: tables.value_format(shown[column]) if factor == 1 else "%.2f" for column in scores}
    errors = ["standard_error"] if sampled else []
    columns = ["rank", "score", "name", *errors, "with_label", "without_label"]
    if view.weighted:
        columns = ["weighted_rank", "weighted_score", "name", "with_label", "without_label"]
    first = (*columns, *([] if view.selection.shared else ["n_labels"]))
    columns = [*first, *(["score", "rank"] if view.weighted else []), "feature"]  # the CSV has the standard errors, too
    titles = {
        "weighted_rank": tables.number("Rank", 65, "%d"),
        "weighted_score": tables.number(
            f"Score × share{times}",
            132,
            forms.get("weighted_score"),
            "Times the share of the label’s rows that have it.",
        ),
        "rank": tables.number("Rank by score" if view.weighted else "Rank", 105 if view.weighted else 65, "%d"),
        "name": tables.text("Feature"),
        "feature": tables.number("Id", 65, "%d"),
        "score": tables.number(f"Score{times}", 90, forms["score"]),
        "standard_error": tables.number(f"Standard error{times}", 160, forms.get("standard_error")),
        "with_label": tables.bar("In label’s rows, %", 125, "Share of the label’s training rows with the feature."),
        "without_label": tables.bar("In other rows, %", 120, "Share of the other training rows with the feature."),
        "n_labels": tables.number("Labels that keep it", 130, "localized", f"Of {view.selection.n_labels:,}."),
    }
    config = {column: titles[column] for column in columns}
    tables.show(shown[columns], "features.table", config, first=first, most=290, widest=300)
    st.caption(f"{format.count(len(shown), 'feature')} that **{format.plain(view.data.label_name(label))}** keeps.")
