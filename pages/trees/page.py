"""The Trees page: what have the trees of an LdSM or a PLT learned, and how do they predict?

The result that is chosen decides what is shown. plt_page.py says what is shown of PLT. Of LdSM, from top to bottom:
answer.py has the first sentence and the cards; one_tree.py one tree, with its controls (choices.py), where a label's
rows went (label_rows.py), its drawing (drawing.py), one node (one_node.py) and how a test row is predicted
(test_row.py); depth.py the depth of leaves and the objective J by depth; parts.py the measures of fewer or smaller
trees; nodes.py a table of all nodes. looked_at.py remembers what the user looks at.
"""

import streamlit as st

from pages.shared import door, sections
from pages.shared.figures import examples
from pages.trees import answer, depth, nodes, one_tree, parts, plt_page, words


def draw(ready) -> None:
    data, run, model, key = ready.data, ready.run, ready.model, ready.key
    if run.model != words.MODEL:
        plt_page.answer(ready.name, ready.title, model)
        ready.choose()
        plt_page.show(data, run, model, key, ready.files)
        return
    answer.sentence(ready.name, ready.title, model)
    answer.cards(data, model)
    ready.choose()
    further = {
        "One tree": lambda: one_tree.show(data, run, model, key, ready.files),
        "Depth and objective J": lambda: depth.show(data, model, key, ready.files),
        "Fewer and smaller trees": lambda: parts.show(model, key, ready.files),
        "All nodes": lambda: nodes.show(data, model, key, ready.files),
    }
    sections.show("trees.ldsm", further)


ASKED = "How does a PLT group labels in its tree, and how does an LdSM divide rows, with which objective J?"
st.html(words.STYLE)
door.page("Trees", draw, door.Models(ASKED, examples.tree, models=words.SHOWN))
