"""The answer of the Explain page: a sentence, the features that contribute, and the labels of the row."""

import numpy as np
import streamlit as st

from pages.shared import format, tables
from pages.shared.figures import charts
from pages.shared.results import predictions
from pages.shared.rows import explaining
from xmlcore import figures
from xmlcore.models.double_sampling import MEANINGS


def labels(view) -> None:
    frame = predictions.one_row(view.data, view.run.ranking, view.row, view.k)
    if frame.empty:
        st.caption("The model predicts no label for this row.")
    else:
        score = view.values(view.ranked)
        shown = frame.assign(score=score)[["rank", "name", "correct", "score", "label"]]
        explaining.show_labels(shown, view.kind, "explain.predicted", view.label)
        explaining.say_far_off(view.key, view.kind)
    missing = predictions.missed(view.data, view.run.ranking, view.row, view.k)
    predictions.say_missed(missing, len(view.true), view.k)


def _row_text(view) -> str:
    names = tables.part(view.data, "test")[2]
    return f"test row {view.row:,}" + (f", {format.plain(names[view.row])}," if names is not None else "")


def sentence(view) -> str:
    title = f"**{format.plain(view.title)}**"
    if view.label is None:
        return (
            f"{title} predicts nothing for {_row_text(view)}, and the row has no true labels, so there is nothing to "
            "explain. Choose another row."
        )
    place, label = view.place(), f"**{format.plain(view.name)}**"
    if place is None:
        text = f"{title} does not have {label} among its first {view.k} for {_row_text(view)}"
    else:
        text = f"{title} ranks {label} {format.ordinal(place)} for {_row_text(view)}"
    text += f" with {explaining.total(view.kind, view.attrs['total'])}"
    has = {True: "has this label", False: "does not have this label"}[view.label in view.true]
    text += f". The row {has}. "
    return text + _reasons(view) + "."


def _reasons(view) -> str:
    contributions, kind = view.contributions, view.kind
    unit, most = explaining.RAISED[kind], f"most{explaining.ON_THE_WAY.get(kind, '')}"
    pushing = contributions[contributions["contribution"] > 0].head(2)
    against = contributions[contributions["contribution"] < 0].head(1)
    if pushing.empty and against.empty:
        no_features = "This row has no features, so nothing contributes"
        return no_features if contributions.empty else "None of the row’s features contributes to the label’s score"
    text = ""
    if not pushing.empty:
        named = " and ".join(map(_named, pushing["name"]))
        text = f"What raises {unit} {most}: {named}"
        if kind != "score":  # whose features are not of the row
            them, value = "both" if len(pushing) > 1 else "it", view.without(pushing["feature"])
            other_way = kind in explaining.ON_THE_WAY and value > view.attrs["total"]
            text += f" ({'yet ' * other_way}without {them}, {explaining.score(kind, value)}"
            text += ": the row goes another way)" if other_way else ")"
    if not against.empty:
        text += "; what lowers it most: " if text else f"Nothing raises {unit}; what lowers it {most}: "
        text += _named(against["name"].iloc[0])
    return text


def _named(feature: str) -> str:
    return f"**{format.plain(feature)}**"


def _meanings(frame):
    with st.popover("What these features mean", icon=":material/help:", type="tertiary"):
        st.markdown("A *term* is a feature whose value counts how often it occurs, such as a word.")
        for name in frame["name"]:
            if name in MEANINGS:
                st.markdown(f"**{format.plain(name)}**: {format.plain(MEANINGS[name])}")


def text(view) -> str | None:
    """Return the text whose words are marked; None where rows are not made from texts, or no word contributes."""
    texts, vectorizer = view.data.texts_test, view.data.vectorizer
    text = None if texts is None or vectorizer is None else texts[view.row]
    return text if explaining.marks_words(text, view.kind) else None


def why(view) -> None:
    """Show the text of the row with its words marked, or else what each feature contributes."""
    if view.label is None:
        return
    marked = text(view)
    if marked is None:
        contributions(view)
    else:
        explaining.show_text(marked, view.data.vectorizer, view.contributions, view.name, view.kind)


def contributions(view) -> None:
    if not view.contributions["contribution"].any():  # the sentence says so
        return
    file = f"{view.file}-label{view.label}"
    explaining.show_contributions(view.contributions, view.attrs, view.name, file, "explain.contributions")
    if view.kind == "score":
        _meanings(view.contributions)


def largest_values(view) -> None:
    frame, magnitude = view.contributions, explaining.by_magnitude(view.x, view.data)
    if magnitude.empty:
        st.caption("This row has no features.")
        return
    if len(magnitude) > 1 and np.ptp(magnitude["value"].abs()) == 0:
        values = " or ".join(map(format.value, magnitude["value"].unique()))
        st.caption(
            f"All {len(magnitude):,} values of this row are {values}, so the explanation of Date and Mehar (2025), the "
            "features of largest value, tells nothing here."
        )
        return
    of_row = view.kind != "score"  # otherwise, contributions belong to features of the pair of row and label
    n_drawn = min(explaining.BARS, len(magnitude))
    top = frame.loc[frame["contribution"] != 0, "feature"].head(n_drawn).tolist() if of_row else []
    both = len(set(top) & set(magnitude["feature"].head(explaining.BARS)))
    shared = f". {both} of these {n_drawn} are also among the {n_drawn} that contribute most" if of_row else ""
    charts.show_figure(
        figures.magnitude_bars(magnitude, explaining.BARS, top, title=f"Values of test row {view.row:,}"),
        magnitude,
        f"{view.file}-magnitude",
        "The explanation of Date and Mehar (2025): the features of largest value. It does not depend on the model, "
        f"so it is the same for every label{shared}.",
        counted="features",
        key="explain.magnitude",
    )
