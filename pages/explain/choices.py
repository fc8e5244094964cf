"""What is explained: the result, the row and the label, and what they are compared with."""

import functools

import streamlit as st

from pages.explain.view import first_labels
from pages.shared import fields, format, selectors, tables
from pages.shared.results import results
from pages.shared.rows import explaining
from pages.shared.view import look, now
from pages.shared.workspaces import workspace
from xmlcore.experiment.twins import twins

MOST_OTHERS = 20  # labels of highest rank with which the explained label can be compared
LISTED = 100  # most rows found by a search that are offered


def choose_run(fingerprint, runs, titles, key) -> None:
    help = "All results of this workspace on this data set, newest first."
    titles = fields.cut(titles, fields.FIFTH)
    results.choose("explain.run", fingerprint, runs, titles, key, help, "Result explained", least=1)


def choose_second_run(fingerprint, by_key, titles, key) -> str:
    """Show the choice of another result, and return its key: at first the twin trained with (or without) noise."""
    others = [k for k in by_key if k != key]
    of_run = [pair for pair in twins(list(by_key.values())) if key in (pair[0]["key"], pair[1]["key"])]
    first = others[0]
    if of_run:
        first = next(r["key"] for r in of_run[0] if r["key"] != key)
    widget = "explain.second"
    remembered = workspace.get("widgets").get(f"{widget} {fingerprint}")
    chosen = remembered if remembered in others else first
    take = functools.partial(workspace.remember, f"{widget} {fingerprint}")
    return fields.pick("Compared with the result", {k: titles[k] for k in others}, widget, chosen, take)


def find_row(data):
    query = fields.text(
        "Find test rows by a name",
        selectors.query_key("explain.query", data),
        placeholder="of a label, feature or row" + (", or a text" if data.texts_test is not None else ""),
    )
    if not query.strip():
        return
    found = tables.find_rows(data, "test", query)
    if found.size == 0:
        st.caption(f"No test row has “{format.plain(query)}” in a name. Try a shorter part of it.")
        return
    listed = found[:LISTED]
    lines = tables.rows(data, "test", listed).to_dict("records")
    titles = {
        r["row"]: f"{r['row']}: {r.get('name') or r.get('text') or ', '.join(r['labels']) or 'no labels'}"
        for r in lines
    }
    widget = f"explain.found {query.strip()}"
    st.selectbox(
        f"{format.count(found.size, 'row')} found"
        + (f", {listed.size:,} of them here" if listed.size < found.size else ""),
        list(titles),
        format_func=titles.get,
        index=None,
        placeholder="Choose one",
        key=widget,
        on_change=lambda: None if st.session_state[widget] is None else look(row=st.session_state[widget]),
    )


def choose_label(view) -> int | None:
    """Return which of the predicted and the true labels of the row is explained; None when the row has neither."""
    options = explaining.label_options(view.data, view.ranked, view.true)
    if not options:
        return None
    label = now().label if now().label in options else next(iter(options))
    name = format.plain(view.data.label_name(label))
    help = f"Now **{name}**: one of the {view.k} predicted labels, or a true one that is missed among them."
    fields.pick("Label explained", options, "explain.label", label, lambda label: look(label=label), help=help)
    return label


def choose_other(view) -> int | None:
    """Return the label that the explained one is compared with; None when there is no other."""
    ranked = first_labels(view.key, view.row, MOST_OTHERS)
    options = [j for j in [*ranked, *sorted(view.true - set(ranked))] if j != view.label]
    if not options:
        return None
    right = view.label in view.true
    first = next((j for j in options if (j in view.true) != right), options[0])
    other = now().other if now().other in options else first

    def text(j):
        place = f"ranked {format.ordinal(ranked.index(j) + 1)}" if j in ranked else f"not among the first {MOST_OTHERS}"
        return f"{view.data.label_name(j)} – {place}, {'right' if j in view.true else 'wrong'}"

    fields.pick(
        "Compared with the label",
        {j: text(j) for j in options},
        "explain.other",
        other,
        lambda label: look(label=view.label, other=label),
        help=f"{len(options):,} of the {view.data.n_labels - 1:,} other labels: the first {MOST_OTHERS} by the model’s "
        "ranking, and the true ones.",
    )
    return other
