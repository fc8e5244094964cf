"""The answer of the Predict page: a sentence, and a table of the labels with their scores."""

import functools

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import format
from pages.shared.results import predictions
from pages.shared.rows import explaining
from xmlcore import explain

NAMED = 3  # labels in the sentence


class Answer:
    """What a model predicts for a row: ``k`` labels for a ``Question``."""

    def __init__(self, one, question, k: int):
        self.one, self.question, self.k = one, question, k
        self.kind, self.x = one.kind, question.x
        self.problem, self.ranked = "", np.empty(0, np.int64)
        try:
            labels = one.model.predict_topk(question.x, k).labels[0]
            self.ranked = labels[labels >= 0].astype(np.int64)  # best first
        except ValueError as error:  # such as a negative value, which not every model takes
            self.problem = str(error)

    @property
    def of_pairs(self) -> bool:
        return self.kind == "score"

    @functools.cached_property
    def scores(self) -> np.ndarray:
        return explain.label_values(self.one.model, self.x, self.ranked)

    def name(self, label: int) -> str:
        return self.one.packed.label_name(int(label))


def sentence(found: Answer) -> str:
    """Return the first labels with their scores, and whether the first one is right, for Markdown."""
    title, what = f"**{format.plain(found.one.title)}**", found.question.what
    if found.problem:
        return f"{title} cannot predict {what}: {format.plain(found.problem)}"
    if not found.ranked.size:
        return f"{title} predicts no label for {what}."
    parts = [
        f"**{format.plain(found.name(label))}** ({explaining.score(found.kind, score)})"
        for label, score in zip(found.ranked[:NAMED], found.scores)
    ]
    these = "this label" if len(parts) == 1 else "these labels"
    text = f"{title} ranks {these} first for {what}: {format.listed(parts)}."
    true = found.question.true
    if true:
        right = len(true & set(found.ranked.tolist()))
        text += f" {right} of {format.count(len(true), 'true label')} {'is' if right == 1 else 'are'} among the "
        text += f"{format.count(found.ranked.size, 'predicted label')}."
    if found.question.text is not None and not found.x.nnz:
        text += " No word of the text is known to the model, so any such text gets this answer."
    return text


def labels(found: Answer) -> None:
    if not found.ranked.size:
        st.caption("There is no label to show.")
        return
    true = found.question.true
    frame = pd.DataFrame(
        {
            "rank": np.arange(1, found.ranked.size + 1),
            "name": [found.name(label) for label in found.ranked],
            "score": explaining.column(found.kind, found.scores),
            "label": found.ranked,
        }
    )
    if true is not None:
        right = [predictions.RIGHT if int(j) in true else predictions.WRONG for j in found.ranked]
        frame.insert(2, "correct", right)
    explaining.show_labels(frame, found.kind, "predict.labels")
    if found.ranked.size < found.k:
        st.caption(
            f"These are {found.ranked.size:,} of the {found.k:,} labels asked for: the model ranks no others here."
            + (
                " It ranks candidates only; *Candidates, q* on the Train page is their number."
                if found.of_pairs
                else ""
            )
        )
    missed = sorted((true or frozenset()) - set(found.ranked.tolist()))
    if missed:
        names = ", ".join(format.plain(found.name(label)) for label in missed)
        st.markdown(f"**True labels that are not among the first {found.k:,}:** {names}")
