"""The row, changed: by hand, after which every model predicts again; and by noise, which changes explanations, too."""

import numpy as np
import streamlit as st

from pages.explain.view import TOP, explained
from pages.shared import fields, format, tables
from pages.shared.figures import charts
from pages.shared.results import decided, results
from pages.shared.rows import explaining, row_editor
from pages.shared.view import look, now
from xmlcore import explain, figures, robustness
from xmlcore.experiment.catalog import NOISE_SUPPORTS as SUPPORTS

MOST_MODELS = 6  # results that predict at first
MOST_NAMED = 8  # features in a sentence
STATE = "explain.whatif"  # where a session keeps the row that is changed
REPEATS = 10  # noisy copies of the row
MORE_DRAWN = 5  # features drawn besides the TOP ones: those that contribute much only with noise


def by_hand(view, ready) -> None:
    """Let feature values be changed, dropped or added, and show what every model predicts then."""
    by_key, titles = {record["key"]: record for record in ready.records}, ready.titles
    _fewest(view)
    row = (view.run.fingerprint, view.row)
    editor = row_editor.Editor(STATE, view.data, view.x, row, row_editor.parsed(now().edit))
    left, right = st.columns([3, 2], gap="large")
    with left:
        after = editor.show()
    with right:
        editor.add(lambda: look(edit=""))
        keys = _models(view, by_key, titles)
    changes = row_editor.changes(view.data, view.x, after)
    _remember(view, editor, after)
    if not changes:
        return
    more = f" A link has room for {row_editor.MOST_EDITS} changes only." if len(changes) > row_editor.MOST_EDITS else ""
    st.markdown(f"Changed: {format.listed(changes)}.{more}")
    for i in range(0, len(keys), 2):
        for key, column in zip(keys[i : i + 2], st.columns(2, gap="large")):
            with column:
                st.subheader(titles[key])
                if results.run_and_model(by_key[key]):
                    row_editor.show_moved(view.data, decided.model(key), view.x, after, view.k, f"explain.whatif {key}")


def _fewest(view) -> None:
    """Say without which features the label explained is not ranked as it is, and let these be dropped."""
    place = None if view.label is None else view.place()
    if place is None or view.kind in explain.NOT_OF_FEATURES:
        return
    k = 1 if place == 1 else view.k
    found, title = explained("counterfactual", view.key, view.row, view.label, k), format.plain(view.title)
    label = f"{format.bold(view.name)} {'first' if k == 1 else f'among its first {k}'}"
    if found is None or len(found) > row_editor.MOST_EDITS:
        st.markdown(f"No few features decide alone: {title} ranks {label} without them, too.")
        return
    names = [format.bold(view.data.feature_name(j)) for j in found]
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1:,} more features"]
    about = "As few features as were found among those that contribute most; another set may be smaller."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Without {format.listed(names)}, {title} does not rank {label}.", help=about)
        drop = lambda: look(edit=row_editor.text([[int(j), None] for j in found]))  # noqa: E731
        st.button("Drop them", key="explain.whatif.fewest", on_click=drop)


def _remember(view, editor, after) -> None:
    edits = row_editor.text(row_editor.between(view.x, after))
    if edits != now().edit:
        look(edit=edits)
        editor.remembered(row_editor.parsed(edits))
        st.rerun()


def _models(view, by_key, titles) -> list[str]:
    """Return the keys of the results whose models predict: at first the one explained and the newest."""
    first = [view.key, *(key for key in by_key if key != view.key)][:MOST_MODELS]
    if len(by_key) == 1:
        return first
    return fields.several(
        f"Results that predict, of {format.count(len(by_key), 'result')}",
        {key: titles.get(key) for key in by_key},
        f"explain.whatif.models {next(iter(by_key))[:8]}",  # with a new result, all predict again
        first,
        least=1,
    )


def by_noise(view) -> None:
    """Show how contributions and predictions change when the row's feature values get noise."""
    gaussian, seed = _choose_noise(view)
    noisy = gaussian.apply(view.x, rows=np.array([REPEATS * view.row]), seed=seed)  # the first copy of _stability
    changed = explain.contributions(view.model, noisy, view.label)
    named = explaining.named(changed, view.data, view.kind)
    whole = explain.side_by_side(view.contributions, named)
    compared = explain.side_by_side(view.contributions, named, TOP)
    left, right = st.columns(2, gap="large")
    with left:
        if compared.empty:
            st.caption("Nothing contributes, with noise or without.")
        else:
            charts.show_figure(
                figures.contributions_compared(compared.head(TOP + MORE_DRAWN), unit=view.unit),
                whole,
                f"{view.file}-label{view.label}-noise",
                f"The {TOP} features that contribute most without noise, or with it. "
                + explaining.totals(view.attrs, changed.attrs),
            )
    with right:
        row_editor.show_moved(view.data, view.scored.model, view.x, noisy, view.k, "explain.noise.labels")
        _stability(view, gaussian, seed)


def _choose_noise(view):
    size = float(np.abs(view.x.data).mean()) if view.x.nnz else 1.0
    left, middle, right = st.columns([1, 2, 1], vertical_alignment="bottom")
    key, first = f"explain.sigma {view.run.fingerprint[:8]}", explaining.round_size(0.3 * size)
    size_said = format.significant(size)
    about = f"Standard deviation, in the units of the feature values: this row’s are {size_said} on average."
    sigma = fields.real("Noise, σ", 0.0, None, key, first, place=left, help=about)
    support = fields.choice("Features with noise", SUPPORTS, "explain.support", "nonzero", place=middle)
    other = lambda: look(draw=(now().draw or 0) + 1)  # noqa: E731
    about = "The same σ with other random numbers."
    right.button("Draw other noise", key="explain.noise.again", width="stretch", on_click=other, help=about)
    return robustness.GaussianNoise(sigma, support), now().draw or 0


def _stability(view, gaussian, seed):
    if gaussian.sigma == 0:
        st.caption("σ is 0, so there is no noise and nothing changes.")
        return
    stability = explain.stability(view.model, view.x, view.label, gaussian, REPEATS, TOP, seed=seed, row=view.row)
    means = stability[["spearman", "overlap"]].mean()
    of = f"without and with noise, mean of {len(stability)} noisy copies"
    tables.cards(*explaining.agreement_cards(means["spearman"], means["overlap"], TOP, of))
    st.caption(f"Over these copies, {explaining.range_of_totals(view.attrs, stability['total'])}.")
    charts.csv_button("Noisy copies, CSV", stability, f"{view.file}-label{view.label}-stability")
