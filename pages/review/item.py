"""The doubt in view: the row, why a model disagrees, rows like it, and the keys that decide."""

import streamlit as st

from pages.review import to_label
from pages.review.view import OF_RUN
from pages.shared import actions, addresses, cached, format, tables
from pages.shared.rows import alike, explaining, row_text
from xmlcore import explain

LISTED = 200  # doubts in the table
QUESTIONS = {
    "wrong": "Is **{name}** right? The row has it, but models that have not seen the row give it {p}.",
    "missing": "Is **{name}** missing? Models that have not seen the row give it {p}.",
}
CHANGES = {"wrong": ("Remove", "remove", "x"), "missing": ("Add", "add", "a")}


def review(view) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with right:
        view.choose(st)
        _queue(view)
        view.ready.choose(OF_RUN)
    with left:
        if view.shown is None:
            st.markdown("No doubt of this kind is left to decide. Choose others, or make the corrected data.")
            actions.button("Undo", on_click=view.undo, disabled=not view.rows, shortcut="u", key="review.undo")
        else:
            _item(view, view.shown)


def _queue(view) -> None:
    queue = view.queue.head(LISTED)
    frame = queue.assign(name=tables.label_names(view.data, queue["label"]), percent=100 * queue["doubt"])
    columns = {
        "name": tables.text("Label", 150), "kind": tables.text("Kind", 65), "percent": tables.bar("Doubt", 90),
        "row": tables.number("Row", 70, help="Training row, from 0."),
    }  # fmt: skip
    pairs = frame[["row", "label"]].to_numpy().tolist()
    tables.show(frame, "review.queue", columns, most=320, **tables.on_tick("review.queue", pairs, view.look))
    kept = len(view.found.doubts)
    of = f"; of {view.found.n_doubts:,} in all, the first {kept:,} are kept" if kept < view.found.n_doubts else ""
    st.caption(f"{format.showing(len(frame), len(view.queue), 'doubt')} to decide{of}.")


def _item(view, line) -> None:
    row, label, kind = int(line["row"]), int(line["label"]), line["kind"]
    name, probability = view.data.label_name(label), explaining.share(line["probability"])
    st.markdown(QUESTIONS[kind].format(name=format.plain(name), p=probability))
    change, decision, key = CHANGES[kind]
    with st.container(horizontal=True, gap="small"):
        for title, act, args, shortcut in (
            (change, view.decide, (decision, line), key),
            ("Keep as it is", view.decide, ("keep", line), "k"),
            ("Skip", view.skip, (line,), "s"),
        ):
            look = {"type": "primary"} if title == change else {}
            actions.button(title, on_click=act, args=args, shortcut=shortcut, key=f"review.{shortcut}", **look)
        actions.button("Undo", on_click=view.undo, disabled=not view.rows, shortcut="u", key="review.undo")
        with st.popover("Another label"):
            _others(view, row)
    names = view.data.row_names_train
    called = "" if names is None else f": {format.plain(names[row])}"
    decided = view.decided[view.decided["row"] == row].set_index("label")["decision"]
    others = {*tables.ids(view.data.Y_train, row), *decided.index[decided == "add"]}
    others = sorted(others - {label, *decided.index[decided == "remove"]})
    others = format.plain(", ".join(tables.label_names(view.data, others))) or "no others"
    st.markdown(f"**Training row {row:,}**{called}. Other labels: {others}.")
    addresses.to_map(view.ready.fingerprint, f"training row {row:,}", [row], "review.map")
    _why(view, row, label, name)
    alike.show(view.ready.fingerprint, view.data.X_train[[row]], "review.nearest", label, row)


def _others(view, row) -> None:
    """Let users add labels to the row, or remove them, of which no doubt is in view."""
    labels, unknown = to_label.typed(
        view.data, "Labels to add, or to remove where the row has them", f"review.others.{row}"
    )
    has = set(tables.ids(view.data.Y_train, row))
    lines = [{"row": row, "label": j, "decision": "remove" if j in has else "add"} for j in labels]
    titles = [f"{line['decision'].capitalize()} {format.plain(view.data.label_name(line['label']))}" for line in lines]
    how = {"on_click": view.put, "args": (lines,), "disabled": unknown or not lines}
    actions.button("; ".join(titles) or "Change", key="review.others", **how)


def _why(view, row, label, name) -> None:
    """Show the text with its words marked, or what contributes most."""
    frame, attrs = _contributions(view.ready.key, row, label)
    kind, texts = attrs["kind"], view.data.texts_train
    frame = explaining.named(frame, view.data, kind)
    if texts is not None and view.data.vectorizer is not None and explaining.marks_words(texts[row], kind):
        explaining.show_text(texts[row], view.data.vectorizer, frame, name, kind)
        return
    row_text.show(view.data, "training", row)
    if frame["contribution"].any():
        explaining.show_contributions(frame, attrs, name, f"{view.ready.files}-training{row}-label{label}")


@cached.shared()
def _contributions(key, row, label):
    x = cached.dataset(cached.run(key).fingerprint).X_train[[row]]
    frame = explain.contributions(cached.model(key), x, label)
    return frame, frame.attrs
