"""The answer of the Sampling page: a sentence and cards."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.sampling.view import one_class
from pages.shared import format, tables

MACRO_F1 = "F1 of means"  # the measure that the paper calls macro-F1; the Train page has another of that name
MACRO_F1_HELP = (
    "F1 of two means over labels, of their precision and of their recall, when one label is predicted for a row; the "
    "macro F1 of the Train page is the mean of the labels’ F1."
)


def most_accurate(data) -> float:
    """Return the most that accuracy can be on these test rows: one label is predicted for each."""
    return np.count_nonzero(np.diff(data.Y_test.indptr)) / max(1, data.Y_test.nnz)


def _of_own_q(view, study, column) -> float:
    """Return what was measured with the candidates of the result, as the figure has it; else what the result says."""
    if study is not None:
        at = study.candidates.loc[study.candidates["n_candidates"] == view.q, column]
        if len(at):
            return float(at.iloc[0])
    return view.run.times.get(column, float("nan"))


class FirstLabels(NamedTuple):
    """How often the first label is right, and from how many pairs that was learnt."""

    p_at_1: float
    n_test: int
    n_copies: int  # rows drawn
    n_others: float  # other labels that each is compared with, mean


def of(view) -> FirstLabels:
    others = view.model.n_pairs_ / max(1, view.n_copies)
    return FirstLabels(view.p_at_1, view.data.n_test, view.n_copies, others)


def sentence(view, title) -> None:
    found, name, title = of(view), f"**{format.plain(view.name)}**", f"**{format.plain(title)}**"
    learned = f"{format.count(found.n_copies, 'sampled row')}, each against {found.n_others:.3g} other labels"
    right = f"**{format.percent(found.p_at_1)}** of the {format.count(found.n_test, 'test row')}"
    if not view.data.Y_test.nnz:
        st.markdown(f"{title} learned from {learned}.")
    else:
        st.markdown(f"On {name}, {title} ranks a true label first for {right}, learnt from {learned}.")


def cards(view, study) -> None:
    accuracy, macro = one_class(view.key)
    model, times = view.model, view.run.times
    recall = _of_own_q(view, study, "recall")
    risk = format.probability(model.empirical_risk_)
    values = [
        ("P@1", format.percent(view.p_at_1), "Share of test rows whose first label is right, as on the Train page."),
        (
            "micro R@1",
            format.percent(accuracy),
            "Share of all true labels that are predicted, one for each row; the paper calls it accuracy.",
            "" if (most := most_accurate(view.data)) == 1 else f"of at most {format.percent(most)}",
        ),
        (MACRO_F1, format.percent(macro), f"The paper’s macro-F1: {MACRO_F1_HELP}"),
        (
            f"Recall of {format.count(view.q, 'candidate')}",
            format.percent(recall),
            "Share of all true labels of test rows that are among the row’s candidates.",
            "" if np.isfinite(recall) else "not measured yet",
        ),
        (
            "Training",
            format.duration(times["fit_s"]),
            f"From {model.n_pairs_:,} pairs; κ = {view.kappa:,}{view.fewer}. In {risk} of them the true label does not "
            f"have the larger f: the empirical risk. The model takes {format.size(view.run.size['model_bytes'])}, a "
            f"prediction {format.duration(_of_own_q(view, study, 'predict_ms_per_row') / 1000)} a row.",
        ),
    ]
    tables.cards(values[-1:] if not view.data.Y_test.nnz else values)
