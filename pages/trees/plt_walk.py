"""Walk through a label tree: the way to a node, its children, and a label's path."""

import streamlit as st

from pages.shared import fields, format, selectors, server
from pages.shared.figures import charts
from pages.shared.view import look, now
from pages.trees import choices, looked_at, plt_drawing, plt_node
from pages.trees.plt_drawing import OF_NODES, OF_QUALITY
from pages.trees.plt_view import WalkedTree, share
from xmlcore import figures
from xmlcore.models.plt import frames

CHILDREN = 20  # children drawn at first
MOST_CHILDREN = 200  # children drawn at most
MEANINGS = {
    "rows": "training rows with a label at or below the child",
    "n_labels": "labels at or below the child",
    "auc": "how often the child’s classifier gives a larger margin to a row with a label below the child than to a row "
    "without, among test rows with a label below this node; 50\u00a0% is guessing",
    "recall": "of the test rows that have a label below the child, the share to which its classifier gives a "
    "probability of at least 50\u00a0%",
    "precision": "of the test rows with a label below this node to which the child’s classifier gives a probability of "
    "at least 50\u00a0%, the share that has a label below the child",
    "base_rate": "of the test rows with a label below this node, the share that has a label below the child",
}
ORDERS = {"most": "Largest first", "least": "Smallest first", "node": "By number"}


def show(key, data, run, model, files, quality) -> None:
    view = WalkedTree(key, data, run, model, files, quality)
    picture = st.container()
    left, right = st.columns([2 if view.several else 1, 3], vertical_alignment="bottom")
    with left:
        _choose_tree_and_node(view)
    with right:
        names = server.label_names(view.run.fingerprint)
        label = selectors.choose_label(view.data, names, "of", "trees.label", "trees.query")
    leaf = int(view.tree.leaf_of_label[label])
    crumbs(view, leaf, "trees.label.path", f"Path to {format.plain(view.data.label_name(label))}:")
    plt_drawing.show(view, label, picture)
    st.header("Walk through the tree")
    crumbs(view, view.node, "trees.crumb", "You are at:")
    plt_node.facts(view)
    if not view.is_leaf(view.node):
        _children(view)
    plt_node.details(view)


def _choose_tree_and_node(view):
    columns, last = st.columns(1 + view.several, vertical_alignment="bottom"), view.tree.n_nodes - 1
    if view.several:
        choices.tree_field(view, columns[0])
    fields.number(
        f"Node, 0 to {last:,}",
        0,
        last,
        "trees.node",
        view.node,
        view.walk,
        place=columns[-1],
        help="The node that is shown below. 0 is the root. A click on a child in the figure, or on a node of a "
        "path, does the same.",
    )


def crumbs(view, end: int, key: str, before: str) -> None:
    """Show the nodes from the root to ``end`` as buttons, after a text; the node looked at is written in bold."""
    path = frames.path_to(view.tree, end)
    shown = path if len(path) <= looked_at.CRUMBS else [path[0], *path[-looked_at.CRUMBS + 1 :]]
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"{key.replace('.', '-')}s"):
        st.caption(before, width="content")
        for place, v in enumerate(shown):
            if place:
                left_out = len(path) - len(shown)
                st.markdown(f"› {left_out} more ›" if place == 1 and left_out else "›", width="content")
            if v == view.node:
                st.markdown(f"**{format.plain(view.short_name(v, 30))}**", width="content")
            else:
                st.button(
                    format.plain(view.short_name(v, 30)),
                    key=f"{key}.{v}",
                    on_click=view.walk,
                    args=(v,),
                    type="tertiary",
                    help=f"Node {v:,}",
                )


def _children(view):
    children = frames.children_of(view.tree, view.node)
    columns = OF_NODES | OF_QUALITY
    with st.popover("What is drawn", icon=":material/tune:", type="tertiary"):
        value = plt_drawing.choose_value(view, "What is drawn", "trees.children.value")
        order = fields.choice("Order", ORDERS, "trees.children.order", "most")
        most = min(max(now().children or CHILDREN, 1), MOST_CHILDREN)
        fields.number(
            f"Children drawn, 1 to {MOST_CHILDREN}",
            1,
            MOST_CHILDREN,
            "trees.children",
            most,
            lambda number: look(children=number),
            step=20,
        )
    every = view.with_quality().iloc[children]
    by = "node" if order == "node" else value
    ordered = every.sort_values(by, ascending=order != "most", kind="stable", na_position="last")
    drawn = ordered.head(most)
    drawn = drawn.assign(
        name=[view.short_name(v) for v in drawn["node"]],
        kind=["leaf" if label >= 0 else "inner" for label in drawn["label"]],
        about=[_about_child(view, line) for line in drawn.itertuples()],
    )
    chart = f"trees.children.{view.key[:8]}.{view.t}.{view.node}.{value}.{order}.{most}"
    of = format.showing(len(drawn), len(every), "child", "children")
    in_order = {"most": ", largest first", "least": ", smallest first", "node": ", by number"}[order]
    charts.show_figure(
        figures.node_bars(
            drawn,
            value,
            axis=columns[value],
            percent=value in OF_QUALITY,
            title=f"Children of {format.in_title(view.short_name(view.node))}: {len(drawn):,} of {len(every):,}",
            total=len(every),
        ),
        lambda: view.with_names(ordered),
        f"{view.files}-node{view.node}-children",
        f"{of}{in_order}. {columns[value]}: {MEANINGS[value]}.{_unknown(drawn, value)}{_plus(drawn)} Click a "
        "bar to walk to that child.",
        key=chart,
        place="trees.children",
        on_click=view.walk,
    )


def _unknown(drawn, value):
    count = int(drawn[value].isna().sum())
    return f" Unknown: no test row that it could be measured on ({count:,} of {len(drawn):,} drawn)." if count else ""


def _plus(drawn):
    inner = drawn[drawn["kind"] == "inner"]
    if inner.empty:
        return ""
    more = int(inner["n_labels"].iloc[0]) - 1
    return f" “+{more:,}” means that {format.count(more, 'more label')} {'is' if more == 1 else 'are'} below the child."


def _about_child(view, line):
    text = f"node {line.node}, {format.count(int(line.rows), 'training row')}"
    if line.label < 0:
        text += f"<br>{format.count(int(line.n_labels), 'label')}, "
        text += format.count(int(line.n_children), "child", "children")
    if view.quality is not None:
        text += f"<br>AUC {share(line.auc)}, base rate {share(line.base_rate)}"
    return text
