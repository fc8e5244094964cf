"""The drawing of a tree."""

from pages.shared import format, server
from pages.shared.figures import charts
from pages.trees import choices, looked_at, words
from xmlcore import figures
from xmlcore.models.ldsm import frames as tree_frames

SCALE = (0.05, 0.95)  # quantiles over the tree's nodes at the ends of the colour scale


def crumbs(view) -> None:
    path = tree_frames.path_to(view.tree, view.top)
    if len(path) > 1:
        about = "Draw the tree from this node"
        names = {v: f"node {v}" if v else "Root" for v in path}
        choices.crumbs(path, view.top, names.get, view.draw_from, "trees.crumb", lambda _: about)


def show(view, color, files) -> None:
    """Draw the nodes of ``view``, coloured by ``color``, a key of :data:`pages.trees.choices.COLORS_OF_LABEL`."""
    tree, total = view.tree, view.tree.parent.size
    numbers = server.nodes(view.key, view.t)
    drawn = tree_frames.drawing_frame(
        tree,
        view.nodes,
        view.data.label_name,
        words.weights(view.model),
        leaves=view.leaves,
        label=view.label,
        all_nodes=numbers,
    )
    share_drawn = f"{len(drawn):,} of {format.count(total, 'node')}"
    if view.mode == looked_at.PATH:
        title = f"Test row {view.row:,} in tree {view.t + 1}: {share_drawn}"
        place = f"row{view.row}"
    elif view.mode == looked_at.LABEL:
        title = f"{figures.short(view.label_name, 16)} in tree {view.t + 1}: {share_drawn}"  # short enough for a phone
        place = f"label{view.label}"
    else:
        title = f"Tree {view.t + 1} below {'the root' if view.top == 0 else f'node {view.top}'}: {share_drawn}"
        place = f"node{view.top}"
    if color == choices.WITH_LABEL:
        ends = [0.0, float((view.rows_with_label / tree.n_samples).max())]
    else:  # quantiles: a few extreme nodes must not make all others look alike
        ends = numbers[color].dropna().quantile(SCALE).to_list()
    figure = figures.tree(
        drawn, color, color_range=tuple(ends) if ends[0] < ends[1] else None, chosen=view.node, title=title, total=total
    )
    chart = f"trees.chart.{view.key[:8]}.{view.t}.{view.mode}.{place}.{view.levels}"
    charts.show_figure(
        figure,
        drawn,
        f"{files}-tree{view.t + 1}-{place}",
        _about_drawing(view, color),
        key=chart,
        place="trees.chart",
        on_click=lambda node: view.choose(int(node)),
    )


def _about_drawing(view, color):
    text = "From left to right by depth. Circles are splits, squares are leaves; a larger mark has more training rows. "
    text += {
        "purity": "Colour is purity: the share of the node's training rows that have its most frequent label. ",
        "objective": "Colour is the objective J of the split, small is good; leaves have no J and are grey. ",
        "balance": "Colour is the balance of the split, 0 is balanced; leaves have no split and are grey. "
        f"{words.BALANCE} ",
        "integrity": "Colour is class integrity without its weight, "
        f"{words.arity(view.model) - 1} is each label in one child; leaves, which have none, are grey. ",
        "multiway": "Colour is the multi-way penalty without its weight, 0 is every row in one child; leaves, which "
        "have none, are grey. ",
        choices.WITH_LABEL: "Colour is the share of the node's training rows that have the label, from light (few) to "
        "dark (most). ",
    }[color]
    if color != choices.WITH_LABEL:
        text += "From light (worst) to dark (best); the ends are the 5th and the 95th percentile of the tree's nodes. "
    if view.mode == looked_at.LABEL:
        return text + _about_label_drawing(view)
    text += "Beside a node is the label whose share has grown most from its parent; a number with + "
    text += "counts the nodes below it that are not drawn. "
    if view.mode == looked_at.PATH:
        ways = format.count(view.leaves.size, "leaf", "leaves")
        return text + f"The row reaches {ways} by the thick line; small marks are the nodes it passes by."
    return text.rstrip()


def _about_label_drawing(view):
    text = (
        "The thicker the line, the more of the label's rows go that way; small marks are nodes that none of these "
        "rows reaches. Beside a node is the share of the label's rows in it, and its most frequent other label. "
    )
    reached, drawn = int((view.rows_with_label > 0).sum()), int((view.rows_with_label[view.nodes] > 0).sum())
    if drawn < reached:
        text += f"Drawn are {drawn:,} of the {reached:,} nodes that rows of the label reach: those with most rows; "
        text += "a leaf chosen in the table above is drawn with its path. "
    elif drawn == view.nodes.size < tree_frames.with_siblings(view.tree, view.nodes).size:
        text += "Nodes that none of these rows reaches are left out. "
    return text + "A number with + counts the nodes below a node that are not drawn."
