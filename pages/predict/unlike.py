"""A line that says in what new rows are unlike the test rows of the model."""

import streamlit as st

from pages.shared import format, server
from pages.shared.results import predictions
from xmlcore import datasets

HELP = (
    "What was measured on test rows may not hold here. New rows and test rows are put together and divided at random "
    "999 times, into as many of each; the numbers named lie beyond all of these divisions: beyond {}. Of more than "
    "2,000 rows, 2,000 are compared."
)


def of_question(answer) -> None:
    """Say in what a text or features that are typed are unlike the test rows, if these are here."""
    predictor, question = answer.predictor, answer.question
    if predictor.data is None or question.row is not None or answer.problem or not predictor.data.n_test:
        return
    texts = None if question.text is None or predictor.data.texts_test is None else [question.text]
    rows = datasets.facts_of_rows(predictor.data, question.x, answer.ranking, texts)
    test = _of_test_rows(predictor.key, texts is not None)
    line(datasets.unlike_test_rows(rows, test), 1, question.text is not None, predictor.model)


@server.shared()
def _of_test_rows(key: str, of_texts: bool):
    run = server.run(key)
    data = server.dataset(run.fingerprint)
    return datasets.facts_of_rows(data, data.X_test, run.ranking, data.texts_test if of_texts else None)


def line(found, n_rows: int, of_texts: bool, model) -> None:
    """Say in what rows are unlike the test rows; nothing if they are alike. ``found`` is of ``unlike_test_rows``."""
    percent, noun = predictions.are_probabilities(model), predictions.noun(model)
    term = "words" if of_texts else "features"
    said = {
        "unknown": (f"{{}} of the {term} are unknown", format.percent),
        "empty": (f"{{}} have no {term[:-1]} that is known", format.percent),
        "score": (f"the mean {noun} of the first label is {{}}", lambda value: format.score(value, percent)),
        "labels": ("{} of the first labels would have to be others", format.percent),
    }
    if n_rows == 1:  # of which the sentence on top says whether it is empty
        of_one = f"{'P' if percent else 'the score'} of the first label is {{}}"
        said = {"unknown": said["unknown"], "score": (of_one, said["score"][1])}
    parts, bounds = [], []
    for name, (text, write) in said.items():
        new, test, bound, differs = found.loc[name, ["new", "test", "bound", "differs"]]
        if differs:
            parts.append(
                text.format(f"**{write(new)}**") + ("" if name == "labels" else f" (test rows: {write(test)})")
            )
            bounds.append(write(bound))
    if parts:
        st.markdown(
            f":material/warning: Unlike the test rows: {format.listed(parts)}.", help=HELP.format(format.listed(bounds))
        )
