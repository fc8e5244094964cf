"""The Trees page: what have the trees of an LdSM or a PLT learned, and how do they predict?"""

from pages.shared import door, sections
from pages.trees import answer, growth, one_tree
from pages.trees.decision_tree import DecisionTreeView, all_nodes
from pages.trees.label_tree import LabelTreeView, worst_nodes

OF_DECISION_TREES = {
    "One tree": one_tree.show,
    "Depth and objective J": growth.depth,
    "Fewer and smaller trees": growth.parts_of_model,
    "All nodes": all_nodes,
}
OF_LABEL_TREES = {
    "The tree": one_tree.show,
    "How well nodes decide": worst_nodes,
}
KINDS = {  # model -> what is drawn of its trees
    "LdSM": (answer.of_decision_trees, answer.cards_of_decision_trees, DecisionTreeView, OF_DECISION_TREES),
    "PLT": (answer.of_label_trees, answer.cards_of_label_trees, LabelTreeView, OF_LABEL_TREES),
}


def draw(ready) -> None:
    facts, cards, kind, further = KINDS[ready.run.model]
    answer.sentence(ready.name, ready.title, *facts(ready.model))
    cards(ready.data, ready.model)
    ready.choose()
    named = {title: lambda show=show: show(kind(ready)) for title, show in further.items()}
    sections.show(f"trees.{ready.run.model.lower()}", named)


ASKED = "How does a PLT group labels in its tree, and how does an LdSM divide rows, with which objective J?"
door.page("Trees", draw, door.Models(ASKED, models=tuple(KINDS)))
