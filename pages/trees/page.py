"""The Trees page: what have the trees of an LdSM learned, and how do they predict?

From top to bottom: answer.py has the first sentence and the cards; one_tree.py one tree, with its controls
(choices.py), where a label's rows went (label_rows.py), its drawing (drawing.py), one node (one_node.py) and how a test
row is predicted (test_row.py); depth.py the depth of leaves and the objective J by depth; parts.py the
measures of fewer or smaller trees; nodes.py a table of all nodes. looked_at.py remembers what the user looks at.
"""

import streamlit as st

from pages.shared import begin, format, results, settings, workspace
from pages.trees import answer, depth, looked_at, nodes, one_tree, parts, words


def main() -> None:
    """Draw the Trees page."""
    st.title("Trees")
    used = begin.dataset(ready="Trees can be trained on it in a moment.", without="so there are no trees to look at.")
    if used is None:
        return
    data, fingerprint, name = used
    runs = [r for r in results.kept("runs", fingerprint) if r["model"] == words.MODEL]
    if not runs:
        text = (
            "This page shows the trees of an LdSM, the value of their objective J in training, and how they predict a "
            f"row. {begin.not_trained(name, 'None has')}"
        )
        link = "Other settings on the Train page"
        begin.no_run(text, data, fingerprint, name, "trees", words.MODEL, results.K, link, model=words.MODEL)
        return
    key = results.chosen(workspace.TREE_RUN, fingerprint, runs)
    shown = next(r for r in runs if r["key"] == key)
    both = results.run_and_model(shown)
    if both is None:
        if len(runs) > 1:
            _choose_run(fingerprint, runs, key)
        begin.watch_training(fingerprint, model=words.MODEL)
        return
    run, model = both
    answer.sentence(data, name, model)
    answer.cards(data, model)
    if len(runs) > 1:
        _choose_run(fingerprint, runs, key)
    else:
        st.caption(_about(runs[0]))
    results.mark(shown)
    for warning in dict.fromkeys(run.warnings):
        st.warning(format.plain(settings.in_form(run.model, warning)))
    begin.watch_training(fingerprint, model=words.MODEL)
    files = f"{format.file_name(name)}-{words.MODEL}-{key[:6]}"
    # Fragments: a click in the drawing does not draw the figures below again.
    st.fragment(one_tree.show)(data, run, model, key, files, looked_at.page_state(key))
    st.fragment(depth.show)(data, model, key, files)
    parts.show(model, key, files)
    st.fragment(nodes.show)(data, model, key, files)


def _choose_run(fingerprint, runs, key):
    """Show a select box of the LdSM results."""
    text = "All LdSM results of this workspace on this data set, newest first."
    titles = {r["key"]: _about(r) for r in runs}
    results.choose(workspace.TREE_RUN, fingerprint, titles, key, "Result shown", text)


def _about(record):
    """Return the title of a result: its settings that are not the default, and when it was made."""
    text = settings.changed(words.MODEL, record["params"]) or "default settings"
    return f"{words.MODEL}, {text} ({format.when(record['created'])})"


main()
