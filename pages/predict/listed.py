"""The rows of a file with the labels predicted for them, the least certain first, and how they are unlike."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import cached, fields, format, tables
from pages.shared.figures import charts
from pages.shared.results import predictions
from pages.shared.workspaces import dataset_list
from xmlcore import datasets
from xmlcore.datasets.readers.sources import stem
from xmlcore.experiment.kinds.predictions import certainty, frame_of, json_lines

LISTED = 200  # rows in the table at most
NAMED = 20  # predicted labels that it names of a row
BEGINNING = 50  # letters of a text that it shows, so that lines stay low
UNLIKE = {
    "unknown": "unknown {terms}",
    "empty": "rows without known {terms}",
    "score": "mean {score} of the first label",
    "labels": "total variation distance of first labels",
}
UNLIKE_HELP = (
    "Measures of test rows may not hold here. New and test rows together were divided at random 999 times, into as "
    "many of each; these numbers lie beyond all of the divisions."
)


def show(predictor, predicted, name: str, look, row: int | None) -> int | None:
    """Show the rows of a file, and return the selected one, by default the first; a tick gives another to ``look``."""
    n_rows, decided = len(predicted.ranking.labels), predicted.decided
    noun = "row" if predicted.beginnings is None else "text"
    st.markdown(f"**{format.count(n_rows, noun)}** of {format.plain(name)}")
    if n_rows:
        counts = decided.ranked.sum(axis=1) + np.bincount(decided.further["row"], minlength=n_rows)
        about = f"Predicted are {format.unbroken(decided.by)}."
        tables.cards(
            (f"Labels per {noun}", f"{counts.mean():.1f}", about),
            (f"{noun.capitalize()}s without a label", f"{np.count_nonzero(counts == 0):,}", about),
        )
    if predicted.unlike is not None:
        unlike(predicted.unlike, predictor.packed.is_text, predictor.model)
    for note in filter(None, dict.fromkeys([*predicted.notes, decided.unlike])):
        st.caption(format.plain(dataset_list.with_names(note, {"rows": name})))
    table = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        score = predictions.noun(predictor.model)
        ways = {"top score": f"top {score}", "margin": "margin"}
        about = f"Top {score} is that of the first label; the margin is the first {score} minus the second."
        by = fields.radio("Least certain first, by", ways, "predict.certainty", help=about)
        _downloads(predictor, predicted, f"{predictor.files}-{format.file_name(stem(name))}")
    with table:
        return _table(predictor, predicted, by, look, row) if n_rows else None


def _downloads(predictor, predicted, files) -> None:
    of_rows = predicted.ranking, predictor.packed.label_name, predicted.beginnings, predicted.decided, predicted.ids
    about = "In the order of the file; *predicted* says which labels are"
    charts.csv_button("All predictions, CSV", lambda: frame_of(*of_rows), f"{files}-predictions", about)
    lines = lambda: "".join(json_lines(*of_rows)).encode()  # noqa: E731
    charts.file_button("Predictions, JSON lines", lines, f"{files}-predictions.jsonl", about)
    missing = [predictor.packed.feature_name(int(j)) for j in predicted.missing]
    columns = [(name, "missing") for name in missing] + [(name, "unknown") for name in predicted.unknown]
    if columns:
        frame = pd.DataFrame(columns, columns=["column", "is"])
        charts.csv_button("Missing and unknown columns, CSV", frame, f"{files}-columns")


def _table(predictor, predicted, by, look, row) -> int:
    sure = certainty(predicted.ranking, by)
    rows = np.argsort(sure, kind="stable")[:LISTED]
    row = int(rows[0]) if row is None else row
    percent, score = predictions.are_probabilities(predictor.model), predictions.noun(predictor.model)
    called = {"top score": f"Top {score}", "margin": "Margin"}[by]
    sure_shown = predictions.scores(predictor.model, sure[rows])
    form = (tables.percent_format if percent else tables.score_format)(sure_shown)
    lines = {
        "row": rows,
        "sure": sure_shown,
        "first": [predictor.packed.label_name(j) if j >= 0 else "" for j in predicted.ranking.labels[rows, 0]],
        "labels": [_ranked(predictor, predicted.ranking, i, percent) for i in rows.tolist()],
        "predicted": _predicted(predictor, predicted, rows),
    }
    columns = {
        "row": tables.number("Row", 70, "%d", "From 0, in the order of the file."),
        "sure": tables.number(called + (", %" if percent else ""), 100, form),
        "first": tables.text("First label"),
        "text": tables.text("Beginning of the text", 390),
        "predicted": tables.text("Predicted", 300 if predicted.beginnings is not None else 600,
                                 "Also labels not ranked first; in brackets P, where that decides."),
        "labels": tables.text(f"Ranked first, each with its {score}", 340),
    }  # fmt: skip
    if predicted.ids is not None:
        lines["row"] = [predicted.ids[i] or f"row {i:,}" for i in rows.tolist()]
        columns["row"] = tables.text("Id", 110, "Of the file, or else the row from 0.")
    if predicted.beginnings is not None:
        lines["text"] = [tables.shortened(predicted.beginnings[i], BEGINNING) for i in rows.tolist()]
    tables.show(
        pd.DataFrame(lines),
        "predict.listed",
        columns,
        first=("row", "sure", "first", "text", "predicted"),
        **tables.on_tick("predict.listed", rows, look),
        **tables.ticked(np.flatnonzero(rows == row).tolist()),
    )
    if rows.size < sure.size:
        st.caption(f"{format.showing(rows.size, sure.size, 'row')}, the least certain.")
    return row


def _predicted(predictor, predicted, rows) -> list[str]:
    ranked, further, known = predicted.decided.ranked, predicted.decided.further, predicted.decided.probability
    further = further[further["row"].isin(rows)]
    further = further.assign(probability=np.nan) if known is None else further
    more = {i: [*zip(of["label"], of["probability"])] for i, of in further.groupby("row")}
    texts = []
    for i in rows.tolist():
        own = np.full(ranked.shape[1], np.nan) if known is None else known[i]
        labels = [*zip(predicted.ranking.labels[i][ranked[i]].tolist(), own[ranked[i]]), *more.get(i, [])]
        names = [
            predictor.packed.label_name(label) + (f" ({format.score(p, True)})" if p == p else "")
            for label, p in labels[:NAMED]
        ]
        texts.append(", ".join(names) + (f" and {len(labels) - NAMED} more" if len(labels) > NAMED else ""))
    return texts


def _ranked(predictor, ranking, row, percent) -> str:
    pairs = zip(ranking.labels[row].tolist(), ranking.scores[row].tolist())
    return ", ".join(
        f"{predictor.packed.label_name(label)} ({format.score(score, percent)})" for label, score in pairs if label >= 0
    )


def unlike(differences: pd.DataFrame, of_texts: bool, model) -> None:
    """Say how rows differ from the test rows, if they do; ``differences`` is a result of ``unlike_test_rows``."""
    percent, words = predictions.are_probabilities(model), {"terms": "words" if of_texts else "features"}
    words["score"] = predictions.noun(model)
    parts = []
    for name, line in differences[differences["differs"]].iterrows():
        new, test = (format.score(line[of], percent) if name == "score" else format.percent(line[of])
                     for of in ("new", "test"))  # fmt: skip
        parts.append(f"{UNLIKE[name].format_map(words)} **{new}** (test rows: {test})")
    if parts:
        st.markdown(f":material/warning: Unlike the test rows: {format.listed(parts)}.", help=UNLIKE_HELP)


def typed_unlike(prediction) -> None:
    """Say how a typed text or typed features differ from the test rows, if these are here."""
    predictor, question = prediction.predictor, prediction.question
    if predictor.data is None or question.row is not None or prediction.problem or not predictor.data.n_test:
        return
    texts = None if question.text is None or predictor.data.texts_test is None else [question.text]
    rows = datasets.facts_of_rows(predictor.data, question.x, prediction.ranking, texts)
    test = _facts_of_test_rows(predictor.key, texts is not None)
    found = datasets.unlike_test_rows(rows, test)
    unlike(found.loc[["unknown", "score"]], question.text is not None, predictor.model)


@cached.shared()
def _facts_of_test_rows(key: str, of_texts: bool):
    run = cached.run(key)
    data = cached.dataset(run.fingerprint)
    return datasets.facts_of_rows(data, data.X_test, run.ranking, data.texts_test if of_texts else None)
