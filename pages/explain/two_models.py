"""Two results side by side: what each feature adds to the same label of the same row in both models."""

import streamlit as st

from pages.explain import choices
from pages.explain.view import TOP, contributions
from pages.shared import format, jobs, tables
from pages.shared.figures import charts
from pages.shared.results import results
from pages.shared.rows import explaining
from xmlcore import explain, figures


def show(view, fingerprint: str, by_key: dict, titles: dict) -> None:
    key = choices.choose_second_run(fingerprint, by_key, titles, view.key)
    record, title = by_key[key], titles[key]
    both = results.run_and_model(record)
    if both is None:
        jobs.watch(jobs.active("train", key=record["key"]))
        return
    other_run = both[0]
    raw = contributions(record["key"], view.row, view.label)
    other = explaining.named(raw, view.data, raw.attrs["kind"])
    alike = (view.kind == "score") == (raw.attrs["kind"] == "score")
    cards = []
    if alike:
        found = explain.agreement(view.contributions, other, TOP)
        n_features = len({*view.contributions["feature"], *other["feature"]})
        cards = explaining.agreement_cards(found["spearman"], found["overlap"], TOP, n_features, "of both models")
    places = [_place_text(view, run) for run in (view.run, other_run)]
    tables.cards([*cards, ("Rank of the label", " and ".join(places), f"By {view.title}, and by {title}.")])
    if not cards:
        st.caption(
            "One model is explained by the row’s features, the other by features of the pair of row and label, so "
            "their agreement cannot be measured."
        )
    ends = None
    if raw.attrs["kind"] == view.kind:  # both add up to the same kind of score, so both get the same axis
        drawn = [figures.contribution_bars(f, explaining.BARS).layout.meta["ends"] for f in (view.contributions, other)]
        ends = (min(d[0] for d in drawn), max(d[1] for d in drawn))
    left, right = st.columns(2, gap="large")
    with left:
        _bars(view, view.title, view.contributions, view.attrs, ends, 1)
    with right:
        _bars(view, title, other, raw.attrs, ends, 2)


def _place_text(view, run) -> str:
    place = view.place(run)
    return f"beyond {run.ranking.labels.shape[1]}" if place is None else str(place)


def _bars(view, whose, contributions, attrs, ends, place):
    """Draw the contributions by one of the two models; ``place`` is 1 or 2 and ``ends`` are the ends of the axis."""
    if not contributions["contribution"].any():
        st.caption(f"Nothing contributes by {format.plain(whose)}.")
        return
    charts.show_figure(
        figures.contribution_bars(
            contributions,
            explaining.BARS,
            unit=explaining.UNITS[attrs["kind"]],
            title=figures.short(whose, 34),
            ends=ends,
            start=explaining.start(attrs),
        ),
        contributions,
        f"{view.file}-label{view.label}-model{place}",
        f"Contributions to **{format.plain(view.name)}**. {explaining.adds_up(attrs)}",
        counted="features",
        key=f"explain.two.{place}",
    )
