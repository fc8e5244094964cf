"""Tables of a run's predictions beside the true labels."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import format, tables
from xmlcore import experiment, metrics
from xmlcore.ranking import Ranking

RIGHT, WRONG = "✓ right", "wrong"  # a cross would look like a label called x


def all_rows(data, ranking, k: int) -> pd.DataFrame:
    """Return a line for each predicted label of each test row, and then for each true one that is missed."""
    frame = Ranking(ranking.labels[:, :k], known_scores(ranking)[:, :k]).to_frame()
    true = pd.DataFrame(dict(zip(("row", "label"), data.Y_test.nonzero())))
    frame = frame.merge(true.assign(true=True), "outer", ["row", "label"]).sort_values(["row", "rank"], kind="stable")
    frame = frame.assign(rank=frame["rank"].astype("Int64"), true=frame["true"].notna())
    frame.insert(3, "name", tables.label_names(data, frame["label"]))
    names = tables.part(data, "test")[2]
    if names is not None:
        frame.insert(1, "row_name", [names[i] for i in frame["row"]])
    return tables.with_columns(data, frame)


def known_scores(ranking) -> np.ndarray:
    """Return the scores of a ranking; NaN if all are 0, as where another program has given none."""
    return ranking.scores if ranking.scores.any() else np.full_like(ranking.scores, np.nan)


def one_row(data, ranking, row: int, k: int) -> pd.DataFrame:
    """Return a table of the labels predicted for a row, best first: ``rank, name, score, correct, label``."""
    labels = ranking.labels[row, :k]
    labels = labels[labels >= 0]
    truth = set(tables.ids(data.Y_test, row).tolist())
    return pd.DataFrame(
        {
            "rank": np.arange(1, labels.size + 1),
            "name": tables.label_names(data, labels),
            "score": known_scores(ranking)[row, : labels.size].astype(np.float64),
            "correct": [RIGHT if int(j) in truth else WRONG for j in labels],
            "label": labels,
        }
    )


def missed(data, ranking, row: int, k: int) -> list[str]:
    """Return the names of the true labels of a row that are not among its k predicted labels."""
    truth = tables.ids(data.Y_test, row)
    return tables.label_names(data, truth[~np.isin(truth, ranking.labels[row, :k])])


def worst_mistakes(ranking, Y, at_most: int = 100) -> np.ndarray:
    """Return rows that have labels and whose first predicted label is wrong, the highest score first."""
    first = metrics.hits(Y, ranking)[:, 0]
    wrong = np.flatnonzero(~first & (ranking.labels[:, 0] >= 0) & (np.diff(Y.indptr) > 0))
    order = np.argsort(-ranking.scores[wrong, 0], kind="stable")
    return wrong[order[:at_most]]


def show(data, run, row: int, k: int, key: str) -> None:
    """Show the labels predicted for a test row, which of them are right, and which true labels are missing."""
    frame = one_row(data, run.ranking, row, k)
    if frame.empty:
        st.caption("The model predicts no label for this row.")
    else:
        frame = frame.assign(score=scores(run, frame["score"]))
        config = {  # a phone shows all to the score
            "rank": tables.number("Rank", 46, "%d"),
            "name": tables.text("Predicted label", 200),
            "correct": tables.text("Right?", 72),
            "score": _score_bar(run, frame["score"]),
            "label": tables.number("Id", 60, "%d"),
        }
        tables.show(tables.without_repeated(frame, "label", "name", "label"), key, config)
    true = tables.ids(data.Y_test, row)
    missing = missed(data, run.ranking, row, k)
    if true.size == 0:
        st.markdown("This row has no true labels, so nothing can be right here.")
    elif missing:
        say_missed(missing, true.size, k)
    else:
        are = "the one true label is" if true.size == 1 else f"all {true.size} true labels are"
        st.markdown(f"Nothing missed: {are} among the predictions.")


def say_missed(names: list[str], n_true: int, k: int) -> None:
    if names:
        verb, named = "is" if len(names) == 1 else "are", ", ".join(map(format.plain, names))
        st.markdown(f"**{len(names)} of {format.count(n_true, 'true label')} {verb} not in the top {k}:** {named}")


def meaning(of) -> str | None:
    """Describe the scores of a run or of a fitted model; "" for probabilities, None if unknown."""
    is_run = isinstance(of, experiment.Run)
    name = of.model if is_run else type(of).__name__
    loss = (of.params | of.chosen).get("loss") if is_run else getattr(of, "loss_", None)
    about = getattr(experiment.MODELS[name].cls if name in experiment.MODELS else of, "ABOUT", None)
    return None if about is None else about.scores_with(loss)


def are_probabilities(of) -> bool:
    """Return whether the scores of a run or of a fitted model are probabilities, which pages write in percent."""
    return meaning(of) == ""


def noun(of) -> str:
    """Return the noun for a score of a run or of a fitted model: ``P`` if it is a probability, else ``score``."""
    return "P" if are_probabilities(of) else "score"


def scores(of, values):
    """Return scores as pages show them: probabilities in percent, others as they are."""
    return values * 100 if are_probabilities(of) else values


def score_column(of, values) -> dict:
    """Return the title, the number format and the help text of a column of :func:`scores` with these values."""
    if are_probabilities(of):
        help = "Probability of the label, as on the Explain page."
        return {"label": "P, %", "format": tables.percent_format(values), "help": help}
    return {"label": "Score", "format": tables.score_format(values), "help": meaning(of)}


def _score_bar(run, values):
    """Return the column of scores: bars up to 100 % or 1; for LdSM, whose scores are far below 1, up to the largest."""
    largest = float(values.max())
    full = largest if largest > 1 or run.model == "LdSM" and largest > 0 else 1.0
    full = 100.0 if are_probabilities(run) else full
    column = score_column(run, values)
    return st.column_config.ProgressColumn(**column, min_value=0.0, max_value=full, width=105)
