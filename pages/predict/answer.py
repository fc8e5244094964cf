"""The answer of the Predict page: a sentence, and a table of the labels with their scores."""

import functools

import numpy as np
import pandas as pd
import streamlit as st

from pages.predict import why
from pages.shared import format
from pages.shared.results import predictions
from pages.shared.rows import explaining
from xmlcore import explain
from xmlcore.models.rules import cuts_another_number, decided_scores, row_decided, rule_of

NAMED = 3  # labels in the sentence
MORE_NAMED = 20  # predicted labels that are named below the table


class Answer:
    """What a model predicts for a row: ``k`` labels for a ``Question``."""

    def __init__(self, predictor, question, k: int):
        self.predictor, self.question, self.k = predictor, question, k
        self.kind, self.x = predictor.kind, question.x
        self.problem, self.ranked = "", np.empty(0, np.int64)
        try:
            self.ranking = predictor.model.predict_topk(question.x, k)
            labels = self.ranking.labels[0]
            self.ranked = labels[labels >= 0].astype(np.int64)  # best first
        except ValueError as error:  # such as a negative value, which not every model takes
            self.problem = str(error)

    @functools.cached_property
    def decided(self) -> dict[int, float]:
        """The labels that the model predicts, by its decision, with the probabilities or scores that decide."""
        found = decided_scores(self.predictor.model, self.x)
        return dict(zip(found.indices.tolist(), found.data.tolist()))

    @functools.cached_property
    def scale(self) -> str:
        """The kind of the scores that are shown: where the model has no others that decide, its own."""
        model = self.predictor.model
        decides = rule_of(model) is not None or self.kind == "score" and cuts_another_number(model)
        return explaining.DECIDES if decides else self.kind

    @functools.cached_property
    def scores(self) -> np.ndarray:
        if self.scale == explaining.DECIDES:
            return self.deciding[0][self.ranked]
        return explain.label_values(self.predictor.model, self.x, self.ranked)

    @functools.cached_property
    def deciding(self) -> tuple[np.ndarray, np.ndarray]:
        """By label, the probability that decides, and the cut; nan where the score decides, and where nothing cuts."""
        return row_decided(self.predictor.model, self.x)

    def name(self, label: int) -> str:
        return self.predictor.packed.label_name(int(label))


def sentence(answer: Answer) -> str:
    """Return the first labels with their scores, and whether the first one is right, for Markdown."""
    title, question = f"**{format.plain(answer.predictor.title)}**", answer.question.what
    if answer.problem:
        return f"{title} cannot predict {question}: {format.plain(answer.problem)}"
    if not answer.ranked.size:
        return f"{title} predicts no label for {question}."
    parts = [
        f"**{format.plain(answer.name(label))}** ({explaining.score(answer.scale, score)})"
        for label, score in zip(answer.ranked[:NAMED], answer.scores)
    ]
    these = "this label" if len(parts) == 1 else "these labels"
    text = f"{title} ranks {these} first for {question}: {format.listed(parts)}."
    true = answer.question.true
    if true:
        right = len(true & set(answer.ranked.tolist()))
        text += f" {right} of {format.count(len(true), 'true label')} {'is' if right == 1 else 'are'} among the first "
        text += f"{answer.ranked.size:,}."
    predicted = f"{len(answer.decided):,}" if answer.decided else "none"
    text += f" It predicts {format.plain(answer.predictor.decision)}, here {predicted}."
    if answer.question.text is not None and not answer.x.nnz:
        text += " No word of the text is known to the model, so any such text gets this answer."
    return text


def show(answer: Answer, explained: int | None) -> None:
    """Show why a label, beside the labels."""
    left, right = st.columns(2, gap="medium")
    with left:
        why.show(answer, explained)
    with right:
        _labels(answer, explained)


def _labels(answer, explained) -> None:
    if not answer.ranked.size:
        st.caption("There is no label to show.")
        return
    true = answer.question.true
    frame = pd.DataFrame(
        {
            "rank": np.arange(1, answer.ranked.size + 1),
            "name": [answer.name(label) for label in answer.ranked],
            "decided": ["yes" if j in answer.decided else "no" for j in answer.ranked.tolist()],
            "cut": explaining.column(answer.scale, answer.deciding[1][answer.ranked]),
            "score": explaining.column(answer.scale, answer.scores),
            "label": answer.ranked,
        }
    )
    if true is not None:
        right = [predictions.RIGHT if int(j) in true else predictions.WRONG for j in answer.ranked]
        frame.insert(2, "correct", right)
    explaining.show_labels(frame, answer.scale, "predict.labels", explained)
    if answer.predictor.run is not None and answer.scale == answer.kind:
        explaining.say_far_off(answer.predictor.key, answer.kind)
    if answer.ranked.size < answer.k:
        why = "It ranks candidates only; *Candidates, q* on the Train page is their number." * (answer.kind == "score")
        asked = f"{answer.ranked.size:,} of the {answer.k:,} labels asked for"
        st.caption(f"These are {asked}: the model ranks no others here. {why}")
    _say_further(answer)
    missed = sorted((true or frozenset()) - set(answer.ranked.tolist()))
    predictions.say_missed([answer.name(label) for label in missed], len(true or ()), answer.k)


def _say_further(answer) -> None:
    """Name the labels that are predicted and are not in the table, the most probable first."""
    further = [label for label in sorted(answer.decided, key=answer.decided.get, reverse=True)
               if label not in answer.ranked]  # fmt: skip
    if further:
        names = [
            f"{format.plain(answer.name(label))} ({explaining.score(answer.scale, answer.decided[label])})"
            for label in further[:MORE_NAMED]
        ]
        left = len(further) - len(names)
        more = f" and {left:,} more" if left else ""
        st.markdown(f"**Also predicted, {len(further):,}:** {', '.join(names)}{more}")
