"""The explanation beside another one: of another label of the row, and of the same label by another result."""

import functools
import html
import math

import streamlit as st

from pages.explain.view import TOP, explained, first_labels
from pages.shared import fields, format, tables
from pages.shared.figures import charts
from pages.shared.results import results
from pages.shared.rows import explaining
from pages.shared.view import look, now
from pages.shared.workspaces import workspace
from xmlcore import explain, figures
from xmlcore.experiment.kept_runs import noisy_counterparts

MOST_OTHERS = 20  # labels of highest rank with which the explained label can be compared
LEGEND = 34  # letters of a label in the legend
SECOND = "explain.second"
DIFFERENCE = {  # the sum of contributions, by the kind of score
    "log_proba": "the log ratio of P",
    "log_score": "the log ratio of scores",
    "margin": "the difference of the margins",
    "margin_score": "the difference of the margins",
    "share": "the difference of P, points",  # percentage points; short, for a phone
    "part": "the difference of P, points",
    "votes": "the difference of the scores",
    "score": "the difference of f",
}


def another_label(view) -> None:
    with st.columns([3, 2])[0]:
        other = _choose_label(view)
    if other is None:
        st.caption("The data set has no other label that is predicted or true for this row.")
        return
    raw = explained("contrast", view.key, view.row, view.label, other)
    found = explaining.named(raw, view.data, view.kind)
    names = [view.data.label_name(j) for j in (view.label, other)]
    tables.cards(*((name, view.scored.text(j), None) for name, j in zip(names, (view.label, other))))
    if not found["contribution"].any():
        st.caption("No feature tells them apart.")
        return
    cut = figures.cut_apart(names, LEGEND)
    labels = [html.escape(cut[name], quote=False) for name in names]
    labels = ["this label", "the other"] if labels[0] == labels[1] else labels  # two labels of one name
    reading = "One of the labels is impossible for the model, whatever the row has, so the bars do not add up."
    if math.isfinite(raw.attrs["total"]):
        of_empty = f"{DIFFERENCE[view.kind]}, from that of a row without features"
        reading = f"The bars add up to {of_empty}.{explaining.divided(view.kind)}"
    figure = figures.contribution_bars(
        found,
        explaining.BARS,
        unit=DIFFERENCE[view.kind],
        title="Evidence for each label",
        wording=(f"for {labels[0]}", f"for {labels[1]}"),
        start=explaining.start(raw.attrs),
    )
    charts.show_figure(
        figure,
        found,
        f"{view.file}-label{view.label}-not-{other}",
        f"To the right: for {format.bold(names[0])}. To the left: for {format.bold(names[1])}. " + reading,
        counted="features",
    )


def _choose_label(view) -> int | None:
    """Return the label that the explained one is compared with, first one that is right if that is wrong; or None."""
    ranked = first_labels(view.key, view.row, MOST_OTHERS)
    options = [j for j in [*ranked, *sorted(view.true - set(ranked))] if j != view.label]
    if not options:
        return None
    right = view.label in view.true
    first = next((j for j in options if (j in view.true) != right), options[0])

    def text(j):
        place = f"ranked {format.ordinal(ranked.index(j) + 1)}" if j in ranked else f"not among the first {MOST_OTHERS}"
        return f"{view.data.label_name(j)} – {place}, {'right' if j in view.true else 'wrong'}"

    other = now().other if now().other in options else first
    take = lambda label: look(label=view.label, other=label)  # noqa: E731
    about = f"{len(options):,} of the {view.data.n_labels - 1:,} other labels: those ranked first, and the true ones."
    fields.pick("Compared with", {j: text(j) for j in options}, "explain.other", other, take, help=about)
    return other


def another_result(view, ready) -> None:
    """Show what each feature adds to the same label of the same row in the models of two results."""
    by_key, titles = {record["key"]: record for record in ready.records}, ready.titles
    key = _choose_result(ready.fingerprint, by_key, titles, view.key)
    record, title = by_key[key], titles[key]
    both = results.run_and_model(record)
    if both is None:
        return
    raw = explained("contributions", record["key"], view.row, view.label)
    other = explaining.named(raw, view.data, raw.attrs["kind"])
    places = [view.place(run) or f"beyond {run.ranking.labels.shape[1]}" for run in (view.run, both[0])]
    cards = [("Rank of the label", " and ".join(map(str, places)), f"By {view.title}, and by {title}.")]
    kinds = {view.kind, raw.attrs["kind"]}
    if len(kinds) == 1 or not kinds & {*explain.NOT_OF_FEATURES}:  # else features of one are no features of the other
        found = explain.agreement(view.contributions, other, TOP)
        cards += explaining.agreement_cards(found["spearman"], found["overlap"], TOP, "of both models")
    tables.cards(*cards)
    ends = None
    if raw.attrs["kind"] == view.kind:  # both add up to the same kind of score, so both get the same axis
        drawn = [figures.contribution_bars(f, explaining.BARS).layout.meta["ends"] for f in (view.contributions, other)]
        ends = (min(d[0] for d in drawn), max(d[1] for d in drawn))
    left, right = st.columns(2, gap="large")
    with left:
        _bars(view, view.title, view.contributions, view.attrs, ends, 1)
    with right:
        _bars(view, title, other, raw.attrs, ends, 2)


def _choose_result(fingerprint, by_key, titles, key) -> str:
    """Return the key of another result: at first of the same settings trained with (or without) noise."""
    others = [k for k in by_key if k != key]
    pairs = ({one["key"] for one in pair} for pair in noisy_counterparts(list(by_key.values())))
    of_run = [k for pair in pairs if key in pair for k in pair]
    name = f"{SECOND} {fingerprint}"
    chosen = next(k for k in (workspace.get("widgets").get(name), *of_run, others[0]) if k in others)
    take = functools.partial(workspace.remember, name)
    return fields.pick("Compared with", {k: titles[k] for k in others}, SECOND, chosen, take)


def _bars(view, whose, contributions, attrs, ends, place):
    """Draw the contributions by one of the two models; ``place`` is 1 or 2 and ``ends`` are the ends of the axis."""
    if not contributions["contribution"].any():
        st.caption(f"Nothing contributes by {format.plain(whose)}.")
        return
    figure = figures.contribution_bars(
        contributions,
        explaining.BARS,
        unit=explaining.SCALES[attrs["kind"]].unit,
        title=figures.short(whose, 34),
        ends=ends,
        start=explaining.start(attrs),
    )
    caption = f"Contributions to {format.bold(view.name)}. {explaining.adds_up(attrs)}"
    name, key = f"{view.file}-label{view.label}-model{place}", f"explain.two.{place}"
    charts.show_figure(figure, contributions, name, caption, counted="features", key=key)
