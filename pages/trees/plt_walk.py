"""Walk through a label tree: the way to a node, its children, and a label's path."""

import streamlit as st

from pages.shared import fields, format, selectors, server
from pages.shared.figures import charts
from pages.shared.view import look, now
from pages.trees import choices, plt_drawing, plt_node
from pages.trees.plt_drawing import MEANINGS, OF_NODES, OF_QUALITY
from pages.trees.plt_view import WalkedTree, share
from xmlcore import figures
from xmlcore.models.plt import frames

CHILDREN = 20  # children drawn at first
MOST_CHILDREN = 200  # children drawn at most
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
    _crumbs(view, leaf, "trees.label.path", f"Path to {format.plain(view.data.label_name(label))}:")
    plt_drawing.show(view, label, picture)
    st.header("Walk through the tree")
    _crumbs(view, view.node, "trees.crumb", "You are at:")
    plt_node.facts(view)
    if not view.is_leaf(view.node):
        _children(view)
    plt_node.details(view)


def _choose_tree_and_node(view):
    columns, last = st.columns(1 + view.several, vertical_alignment="bottom"), view.tree.n_nodes - 1
    if view.several:
        choices.tree_field(view, columns[0])
    about = "The node shown below; a click on a child in the figure or a node of a path does the same. 0 is the root."
    choices.node_field(columns[-1], last, view.node, view.walk, about)


def _crumbs(view, end: int, key: str, before: str) -> None:
    def name(v):
        return format.plain(view.short_name(v, 30))

    path = frames.path_to(view.tree, end)
    choices.crumbs(path, view.node, name, view.walk, key, lambda v: f"Node {v:,}", before)


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
            title=f"Children of {figures.short(view.short_name(view.node))}: {len(drawn):,} of {len(every):,}",
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
