"""Why this label and not another one: what each feature adds to the difference of the two scores."""

import html
import math

import streamlit as st

from pages.explain import choices
from pages.explain.view import contrast as contrast_of
from pages.shared import format
from pages.shared.figures import charts
from pages.shared.rows import explaining
from xmlcore import explain, figures

LEGEND = 34  # letters of a label in the legend
DIFFERENCE = {  # what contributions add up to, by the kind of score
    "log_proba": "the log ratio of P",
    "log_score": "the log ratio of scores",
    "margin": "the difference of the margins",
    "margin_score": "the difference of the margins",
    "share": "the difference of P, points",  # percentage points; short, for a phone
    "score": "the difference of f",
}


def contrast(view) -> None:
    with st.columns([3, 2])[0]:
        other = choices.choose_other(view)
    if other is None:
        st.caption("The data set has no other label that is predicted or true for this row.")
        return
    raw = contrast_of(view.key, view.row, view.label, other)
    found = explaining.named(raw, view.data, view.kind)
    names = [view.data.label_name(j) for j in (view.label, other)]
    st.markdown(_sentence(view, found, names, other))
    if not found["contribution"].any():
        return
    cut = figures.cut_apart(names, LEGEND)
    labels = [html.escape(cut[name], quote=False) for name in names]
    if labels[0] == labels[1]:  # two labels of one name
        labels = ["this label", "the other"]
    figure = figures.contribution_bars(
        found,
        explaining.BARS,
        unit=DIFFERENCE[view.kind],
        title="What speaks for which label",
        wording=(f"for {labels[0]}", f"for {labels[1]}"),
        start=explaining.start(raw.attrs),
    )
    charts.show_figure(
        figure,
        found,
        f"{view.file}-label{view.label}-not-{other}",
        f"To the right: for **{format.plain(names[0])}**. To the left: for **{format.plain(names[1])}**. "
        + _reading(raw.attrs, figure.layout.meta["others"]),
        counted="features",
        key="explain.contrast",
    )


def _sentence(view, found, names, other) -> str:
    first, second = (f"**{format.plain(name)}**" for name in names)
    scores = [explaining.score(view.kind, v) for v in explain.label_values(view.model, view.x, [view.label, other])]
    text = f"{first} has {scores[0]}, {second} has {scores[1]}."
    parts = []
    for name, mine in ((first, found["contribution"] > 0), (second, found["contribution"] < 0)):
        features = [f"**{format.plain(feature)}**" for feature in found[mine]["name"].head(2)]
        parts.append(f"for {name}: {format.listed(features) if features else 'nothing'}")
    return f"{text} What speaks most {'; '.join(parts)}."


def _reading(attrs, n_others) -> str:
    if not math.isfinite(attrs["total"]):
        return "One of the labels is impossible for the model, whatever the row has, so the bars do not add up."
    others = " Hatched: the sums of all others." if n_others else ""
    more = explaining.divided(attrs["kind"])
    if attrs["kind"] == "score":
        more = " Values are differences, too."
    if attrs["kind"] in ("log_proba", "log_score"):
        name = "P" if attrs["kind"] == "log_proba" else "The score"
        more = f" {name} of the first is {math.exp(min(attrs['total'], 700)):.3g} times that of the second."
    return f"The bars add up to {DIFFERENCE[attrs['kind']]}, from that of a row without features.{more}{others}"
