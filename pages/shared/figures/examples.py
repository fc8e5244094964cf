"""Examples for pages without a result: small, pale figures of fixed numbers."""

import functools

import pandas as pd
import streamlit as st

from xmlcore import figures
from xmlcore.metrics.buckets import BUCKETS


def curves():
    """Draw measures of two models that fall with the levels of noise."""
    lines = [
        {"run": f"model {name}", "model": model, "sigma": at, "mean": mean, "low": mean - 0.03, "high": mean + 0.03}
        for name, model, first, lost in (("A", "PLT", 0.8, 0.35), ("B", "ExtendedPLT", 0.77, 0.175))
        for at in (0.0, 0.05, 0.1)
        for mean in [first - lost * (10 * at) ** 1.5]
    ]
    frame = pd.DataFrame(lines).assign(k=1, bucket="all", measure="P@k", n=3)
    return figures.robustness_curves(frame, level="Noise level")


def bars():
    names = ["music", "guitar", "concert", "band", "the"]
    frame = pd.DataFrame({"feature": range(5), "name": names, "contribution": [1.6, 1.1, 0.7, 0.4, -0.3], "value": 1.0})
    figure = figures.contribution_bars(frame, unit="log score", title="Contributions of features to a label")
    return figure.update_traces(opacity=0.5, selector=1)  # without colours both signs would look alike


def buckets():
    frame = pd.DataFrame({"bucket": BUCKETS, "recall": [0.7, 0.5, 0.25], "precision": [0.6, 0.45, 0.3]})
    frame = frame.assign(macro_f1=[0.62, 0.45, 0.2], n_labels=[10, 50, 200], never_right=[0, 5, 90], rows=500)
    return figures.labels_by_bucket(frame, 5)


def frontier():
    frame = pd.DataFrame({"model": ["PLT", "DoubleSampling", "LdSM"], "fit_s": [1, 8, 30], "P@1": [62, 58, 45]})
    frame = frame.assign(run=frame["model"])
    return figures.frontier(frame, {"fit_s": "Training, seconds"}, ["P@1"], "P@1 against training time")


def scores(title="Features that matter for a label"):
    frame = pd.DataFrame({"name": ["guitar", "concert", "band", "album", "stage"], "score": [0.9, 0.7, 0.55, 0.3, 0.2]})
    return figures.feature_bars(frame, title=title)


def labels():
    return scores("Labels of a row by score")


def candidates():
    frame = pd.DataFrame({"n_candidates": [10, 20, 50, 200], "predict_ms_per_row": [0.02, 0.03, 0.06, 0.2]})
    frame = frame.assign(recall=[0.7, 0.8, 0.9, 0.97], accuracy=[0.55, 0.6, 0.64, 0.65])
    return figures.candidate_curves(frame.assign(macro_f1=[0.4, 0.45, 0.48, 0.5]))


def cuts():
    frame = pd.DataFrame({"micro R": [0.1, 0.3, 0.5, 0.7, 0.85], "micro P": [0.97, 0.92, 0.8, 0.6, 0.3]})
    frame = frame.assign(cut=[0.9, 0.7, 0.5, 0.3, 0.1], labels=[0.3, 1, 2, 4, 9])
    return figures.precision_recall(frame, {"this decision": frame.iloc[2]})


def tree():
    nodes = [(-1, 0, 0, 6, "Root"), (0, 1, 0, 4, "music +3"), (0, 1, 4, 2, "football +1")]
    labels = ("music", "guitar", "concert", "album", "football", "tennis")
    nodes += [(1 if at < 4 else 2, 2, at, 1, label) for at, label in enumerate(labels)]
    frame = pd.DataFrame(nodes, columns=["parent", "depth", "start", "n_labels", "name"])
    return figures.label_tree(frame.rename_axis("node").reset_index(), "n_labels", axis="Labels")


def show(draw, *args) -> None:
    """Show the figure that one of these functions draws of its arguments."""
    figure = _marked(draw, *args)
    with st.container(key=f"example-{draw.__name__}"):  # its style is in frame.py
        st.plotly_chart(figure, theme="streamlit", key=figure.layout.title.text, config={"staticPlot": True})


@functools.lru_cache(maxsize=100)
def _marked(draw, *args):
    figure = draw(*args)
    return figure.update_layout(title_text=f"Example: {figure.layout.title.text}", height=360)
