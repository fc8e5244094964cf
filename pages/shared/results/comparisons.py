"""What several comparisons of selections say together: a test over data sets, and lines over networks of FALS."""

import pandas as pd
import streamlit as st

from pages.shared import cached, format, tasks
from xmlcore import experiment, figures
from xmlcore.selection import significance_graph, wilcoxon

LEAST_DATA_SETS = 6  # for Wilcoxon's test: with fewer, no p is below 0.05


def significance(task, measure: str):
    """Return a figure of what a test over data sets of this workspace does not tell apart, and p; or say what lacks."""
    made = {one.inputs["dataset"]: one.key for one in tasks.made_alike(task, "n_rows", "seeds", elsewhere=True)}
    if len(made) < LEAST_DATA_SETS:
        of = f"{format.count(len(made), 'data set')} so far."
        st.caption(f"Significance over data sets needs these methods compared on {LEAST_DATA_SETS} of them: {of}")
        return None
    st.caption(f"Of {measure} on {len(made)} data sets. Methods without a line differ: p < 0.05.")
    frames = [cached.loaded_by_key(task.kind, key).frame.assign(dataset=data) for data, key in made.items()]
    every = pd.concat(frames).query("measure == @measure")
    p = wilcoxon(every.pivot_table(index="dataset", columns="method", values="value", sort=False))
    return figures.significance_diagram(*significance_graph(p)), p.reset_index()


def of_fals(repeat, data) -> list:
    """Return the selections that a claim of the paper compares, with all their parameters, without all features."""
    given = filter(None, repeat.on(data).params["selections"])
    return [(method, experiment.selection_params(method, own)) for method, own in given]


def networks(comparison, selections, data) -> pd.DataFrame:
    """Return a comparison of networks of FALS with their ``layers``, and the ``kind`` that is a line of a figure."""
    lines = {}
    for title, (_, params) in zip(experiment.comparison_titles(selections), selections):
        hidden = {None: "", data.n_features: ", H = D", data.n_labels: ", H = L"}[params["n_hidden"]]
        lines[title] = {"layers": params["n_layers"], "kind": params["activation"] + hidden}
    return comparison.frame.join(pd.DataFrame.from_dict(lines, orient="index"), on="method")
