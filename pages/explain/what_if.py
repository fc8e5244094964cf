"""What if the row were different: feature values are changed, dropped or added, and every model predicts again."""

import streamlit as st

from pages.explain.view import counterfactual
from pages.shared import fields, format
from pages.shared.results import before_after, results
from pages.shared.rows import explaining, row_editor, row_edits
from pages.shared.view import look, now

MOST_MODELS = 6  # results that predict at first
MOST_NAMED = 8  # features in a sentence
STATE = "explain.whatif"  # where a session keeps the row that is changed


def what_if(view, by_key: dict, titles: dict) -> None:
    _fewest(view)
    row = (view.run.fingerprint, view.row)
    editor = row_editor.Editor(STATE, view.data, view.x, row, row_edits.parsed(now().edit))
    left, right = st.columns([3, 2], gap="large")
    with left:
        after = editor.show()
    with right:
        editor.add(lambda: look(edit=""))
        keys = _models(view, by_key, titles)
    changes = row_editor.changes(view.data, view.x, after)
    _remember(view, editor, after)
    if len(changes) > row_edits.MOST:
        st.caption(
            f"These are {len(changes)} changes. The address of the page has room for {row_edits.MOST}, so a copied "
            "link shows the row without them."
        )
    if not changes:
        return
    st.markdown(f"Changed: {format.listed(changes)}.")
    _predictions(view, after, [by_key[key] for key in keys], titles)


def _fewest(view) -> None:
    """Say without which features the label explained is not ranked as it is, and let these be dropped."""
    place = None if view.label is None else view.place()
    if place is None or view.kind == "score":
        return
    k = 1 if place == 1 else view.k
    found, title = counterfactual(view.key, view.row, view.label, k), format.plain(view.title)
    among = "first" if k == 1 else f"among its first {k}"
    if found is None or len(found) > row_edits.MOST:
        st.markdown(f"No few features keep **{format.plain(view.name)}** there: {title} ranks it {among} without them.")
        return
    names = [f"**{format.plain(view.data.feature_name(j))}**" for j in found]
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1:,} more features"]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"Without {format.listed(names)}, {title} does not rank **{format.plain(view.name)}** {among}.",
            help="As few features as were found: none of them can stay. They are sought among those that contribute "
            "most; another set may be smaller.",
        )
        st.button(
            f"Drop {'it' if len(found) == 1 else 'them'}",
            key="explain.whatif.fewest",
            on_click=lambda: look(edit=row_edits.text([[j, None] for j in found])),
        )


def _remember(view, editor, after) -> None:
    edits = row_edits.text(row_edits.between(view.x, after))
    if edits != now().edit:
        look(edit=edits)
        editor.remembered(row_edits.parsed(edits))
        st.rerun()


def _models(view, by_key, titles) -> list[str]:
    """Return the keys of the results whose models predict: at first all, or the explained one and the newest."""
    others = [key for key in by_key if key != view.key]
    first = [view.key, *others][:MOST_MODELS]
    if len(by_key) == 1:
        return first
    return fields.several(
        f"Results that predict, of {format.count(len(by_key), 'result')}",
        {key: titles.get(key) for key in by_key},
        f"explain.whatif.models {next(iter(by_key))[:8]}",  # with a new result, all predict again
        first,
        least=1,
        help=f"At first the model explained and the newest others, at most {MOST_MODELS}.",
    )


def _predictions(view, after, records, titles) -> None:
    for i in range(0, len(records), 2):
        for record, column in zip(records[i : i + 2], st.columns(2, gap="large")):
            with column:
                _one_model(view, after, record, titles[record["key"]])


def _one_model(view, after, record, title) -> None:
    st.subheader(title)
    both = results.run_and_model(record)
    if both is None:
        return
    kind = before_after.show(view.data, both[1], view.x, after, view.k, f"explain.whatif {record['key']}")
    if kind not in (None, view.kind):
        st.caption(explaining.SCALE[kind].replace("on this page", f"of {record['model']}"))
