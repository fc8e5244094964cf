"""The answer of the Predict page: the labels of a row with their scores, and why the model gives one of them."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.predict import asked, listed
from pages.shared import addresses, fields, format
from pages.shared.rows import alike, explaining, row_text
from pages.shared.view import look, now
from xmlcore import decisions, explain

MORE_NAMED = 20  # predicted labels that are named below the table
LABEL = "predict.label"  # key of the select box
LEAST = 0.5  # probability of a group that is said where no label is
CHOSEN = "predict.label chosen"  # key of st.session_state: (the model, the label chosen for its texts)


class Prediction:
    """The prediction of a model for a row: ``k`` labels for a ``Question``, of those that are allowed."""

    def __init__(self, predictor, question, k: int, allowed: np.ndarray | None = None):
        self.predictor, self.question, self.k = predictor, question, k
        self.kind, self.x = predictor.kind, question.x
        self.scored = explaining.Scored(predictor.model, question.x, allowed)
        self.problem, self.ranked = "", np.empty(0, np.int64)
        try:
            self.ranking = predictor.model.predict_topk(question.x, k, labels=allowed)
            labels = self.ranking.labels[0]
            self.ranked = labels[labels >= 0].astype(np.int64)  # best first
            if question.text is not None and not question.x.nnz:
                self.ranked, self.scored.decided = self.ranked[:0], {}
        except ValueError as error:  # the error of a model that refuses the row, such as one with a negative value
            self.problem = str(error)

    def name(self, label: int) -> str:
        return self.predictor.packed.label_name(int(label))

    def contributions(self, label: int) -> pd.DataFrame:
        frame = explain.contributions(self.predictor.model, self.x, label, allowed=self.scored.allowed)
        return explaining.named(frame, self.predictor.packed, self.kind)

    def sentence(self) -> str:
        """Return which label comes first, with its score, and by which decision labels are predicted; for Markdown."""
        first = f"no label for {self.question.subject}"
        if self.ranked.size:
            first, score = format.bold(self.name(self.ranked[0])), self.scored.text(self.ranked[0])
            first += f" first for {self.question.subject} ({score})"
        decision = format.plain(self.predictor.decision(self.scored.allowed))
        predicts = f"It predicts {decision}, here {len(self.scored.decided):,}."
        return f"{format.bold(self.predictor.title)} ranks {first}. {predicts}"


def say(predictor, question, way: str, allowed: np.ndarray | None = None) -> Prediction | None:
    """Say which label comes first and which are predicted, and return the prediction; None while nothing is asked."""
    if question is None:
        if way in asked.MISSING:
            st.markdown(f"{format.bold(predictor.title)} predicts once there is {asked.MISSING[way]}.")
        return None
    prediction = Prediction(predictor, question, asked.count(predictor), allowed)
    if prediction.problem:
        st.warning(f"This cannot be predicted: {format.plain(prediction.problem)}")
        return prediction
    st.markdown(prediction.sentence())
    if (group := _group(prediction)) is not None:
        st.caption(
            f"No label is sure enough. **{format.plain(group.name)}**, which is above "
            f"{format.count(len(group.labels), 'label')}, has P\u00a0=\u00a0{100 * group.probability:.0f}\u00a0%."
        )
    if question.text is not None and not prediction.x.nnz:
        st.caption("The model knows no word of the text, so it gets no labels: they would be those of any such text.")
    if way != asked.FILE:  # whose rows are compared together
        listed.typed_unlike(prediction)
    return prediction


def _group(prediction: Prediction) -> decisions.Entry | None:
    """Return what is above labels, more likely than not, where a kept decision predicts none of them."""
    of = prediction.predictor
    rule = decisions.rule_of(of.model, prediction.scored.allowed)
    hierarchy = None if of.data is None else of.data.hierarchy
    if rule is None or hierarchy is None or len(prediction.scored.decided):
        return None
    (said,) = decisions.back_off(rule, prediction.x, taxonomy=hierarchy, names=hierarchy.names, least=LEAST)
    return next(iter(said), None)


def choose_label(prediction: Prediction | None) -> int | None:
    """Show the choice of the label that is explained, and return it; None when no label is predicted."""
    if prediction is None:
        return None
    predictor, row = prediction.predictor, prediction.question.row
    options = explaining.label_options(predictor.packed, prediction.ranked, prediction.question.true)
    if not options or not explain.can_explain(predictor.model):
        return None
    typed = dict([st.session_state.get(CHOSEN, (None, None))]).get(predictor.key)
    label = typed if row is None else now().label  # the Explain page explains the same label of the same row
    label = label if label in options else next(iter(options))

    def remember(picked):
        if row is None:
            st.session_state[CHOSEN] = predictor.key, picked
        else:
            look(label=picked)

    fields.pick("Label explained", options, LABEL, label, remember)
    return label


def show(prediction: Prediction | None, label: int | None) -> None:
    """Show why a label, beside the labels: the text with its words marked, or else what each feature contributes."""
    if prediction is None:
        return
    left, right = st.columns(2, gap="medium")
    with left:
        text, kind = prediction.question.text, prediction.kind
        if label is not None and explaining.marks_words(text, kind):
            vectorizer = prediction.predictor.packed.vectorizer
            explaining.show_text(text, vectorizer, prediction.contributions(label), prediction.name(label), kind)
        else:
            bars(prediction, label)
            if prediction.question.row is not None:
                row_text.show(prediction.predictor.data, "test", prediction.question.row)
    with right:
        _labels(prediction, label)


def marks_words(predictor, question) -> bool:
    """Return whether words are marked, also in a text that is still to come, so that bars are drawn elsewhere."""
    text = question.text if question is not None else "" if predictor.packed.is_text else None
    return explaining.marks_words(text, predictor.kind)


def bars(prediction: Prediction | None, label: int | None) -> None:
    frame = None if label is None else prediction.contributions(label)
    if frame is None or frame.empty:
        st.caption("There are no features, so nothing contributes." if label is not None else "No label to explain.")
        return
    file = f"{prediction.predictor.files}-{prediction.question.file}-label{label}"
    explaining.show_contributions(frame, frame.attrs, prediction.name(label), file)


def rows_like(prediction: Prediction | None, label: int | None) -> None:
    if prediction is None:
        st.caption("No row is predicted yet.")
    else:
        alike.show(prediction.predictor.data.fingerprint, prediction.x, "predict.alike", label)


def _labels(prediction, explained) -> None:
    names, true, ranked = prediction.predictor.packed, prediction.question.true, prediction.ranked
    explaining.show_ranked(prediction.scored, ranked, names, true, prediction.k, "predict.labels", explained)
    if not ranked.size:
        return
    if prediction.predictor.run is not None and prediction.scored.scale == prediction.kind:
        explaining.say_far_off(prediction.predictor.key, prediction.kind)
    if ranked.size < prediction.k:
        allowed = prediction.scored.allowed
        do = "are allowed" if allowed is not None and np.count_nonzero(allowed) == ranked.size else "have a score"
        st.caption(f"Asked for {prediction.k:,} labels, the model ranks {ranked.size:,}: no others {do}.")
    _say_further(prediction)
    if prediction.question.row is not None:
        addresses.link("Explain", "What if its features were others", section="What if")


def _say_further(prediction) -> None:
    """Name the labels that are predicted and are not in the table, the most probable first."""
    decided, scale = prediction.scored.decided, prediction.scored.scale
    further = [j for j in sorted(decided, key=decided.get, reverse=True) if j not in prediction.ranked]
    if further:
        names = [
            f"{format.plain(prediction.name(label))} ({explaining.score(scale, decided[label])})"
            for label in further[:MORE_NAMED]
        ]
        more = f" and {len(further) - MORE_NAMED:,} more" if len(further) > MORE_NAMED else ""
        st.markdown(f"**Also predicted, {len(further):,}:** {', '.join(names)}{more}")
