"""The Trees page: what have the trees of an LdSM or a PLT learned, and how do they predict?

The result that is chosen decides what is shown. plt_page.py says what is shown of PLT. Of LdSM, from top to bottom:
answer.py has the first sentence and the cards; one_tree.py one tree, with its controls (choices.py), where a label's
rows went (label_rows.py), its drawing (drawing.py), one node (one_node.py) and how a test row is predicted
(test_row.py); depth.py the depth of leaves and the objective J by depth; parts.py the measures of fewer or smaller
trees; nodes.py a table of all nodes. looked_at.py remembers what the user looks at.
"""

import streamlit as st

from pages.shared import begin, format, sections
from pages.shared.figures import examples
from pages.shared.results import results, run_names
from pages.trees import answer, depth, nodes, one_tree, parts, plt_page, words

HELP = "All results with trees, of LdSM and PLT, of this workspace on this data set, newest first."


def main(used) -> None:
    st.html(words.STYLE)
    data, fingerprint, name = used
    every = results.kept("runs", fingerprint)
    runs, titles = [r for r in every if r["model"] in words.SHOWN], run_names.names(every)
    if not runs:
        text = "How does a PLT group labels in its tree, and how does an LdSM divide rows, with which objective J?"
        others = "LdSM and other settings on the Train page"
        begin.no_run(used, "trees", text, others=others, subject="Neither has", example=examples.tree)
        return
    key = results.chosen("trees.run", fingerprint, runs)
    shown = next(r for r in runs if r["key"] == key)
    both = results.run_and_model(shown)
    if both is None:
        results.choose("trees.run", fingerprint, runs, titles, key, HELP)
        _watch(fingerprint)
        return
    run, model = both
    if run.model == words.MODEL:
        answer.sentence(name, titles[key], model)
        answer.cards(data, model)
    else:
        plt_page.answer(name, titles[key], model)
    results.choose("trees.run", fingerprint, runs, titles, key, HELP)
    if len(runs) == 1:
        st.caption(results.trained(runs[0]))
    results.mark(shown)
    results.say_warnings(run)
    _watch(fingerprint)
    files = f"{format.file_name(name)}-{run.model}-{key[:6]}"
    if run.model != words.MODEL:
        plt_page.show(data, run, model, key, files)
        return
    further = {
        "One tree": lambda: one_tree.show(data, run, model, key, files),
        "Depth and objective J": lambda: depth.show(data, model, key, files),
        "Fewer and smaller trees": lambda: parts.show(model, key, files),
        "All nodes": lambda: nodes.show(data, model, key, files),
    }
    sections.show("trees.ldsm", further)


def _watch(fingerprint):
    for model in words.SHOWN:
        begin.watch_training(fingerprint, model=model)


begin.page("Trees", main, ready="Trees can be trained on it", without="there are no trees to look at")
