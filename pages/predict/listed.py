"""The rows of a file with the labels predicted for them, the least certain first."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.predict import unlike
from pages.shared import fields, format, tables
from pages.shared.figures import charts
from pages.shared.results import predictions
from pages.shared.workspaces import made
from xmlcore.datasets.readers.sources import stem
from xmlcore.experiment.kinds.predictions import certainty, frame_of, json_lines

LISTED = 200  # rows in the table at most
NAMED = 20  # predicted labels that it names of a row
BEGINNING = 50  # letters of a text that it shows, so that lines stay low
WAYS = {  # how certain a model is of a row: what the page calls it, and what it is
    "top score": ("top {}", "{} of the first label"),
    "margin": ("margin", "first {} minus second"),
}


def show(predictor, predicted, name: str, look, row: int | None) -> int | None:
    """Show the rows of a file, and return the one looked at, by default the first; a tick gives another to ``look``."""
    n_rows, k = predicted.ranking.labels.shape
    noun = "row" if predicted.beginnings is None else "text"
    rows = format.count(n_rows, noun)
    about = f"**{rows}** of {format.plain(name)}: up to {format.count(k, 'label')} ranked for each"
    st.markdown(about + _decided(predictor, predicted, noun))
    if predicted.unlike is not None:
        unlike.line(predicted.unlike, n_rows, predictor.packed.is_text, predictor.model)
    score = predictions.noun(predictor.model)
    decided, of_rows = predicted.decided, (predicted.beginnings, predicted.decided, predicted.ids)
    for note in filter(None, dict.fromkeys([*predicted.notes, decided and decided.unlike])):
        st.caption(format.plain(made.with_names(note, {"rows": name})))
    table = st.container()
    files = f"{predictor.files}-{format.file_name(stem(name))}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = fields.radio(
            "Least certain first, by",
            {way: name.format(score) for way, (name, _) in WAYS.items()},
            "predict.certainty",
            "top score",
            help=f"A row of small top {score}, that of the first label, has no label that the model is sure of. A row "
            f"of small margin, the first {score} minus the second, has two labels of nearly the same {score}: where "
            "rows have one label, the model hesitates between them; where rows have several, both may be right.",
        )
        charts.csv_button(
            "All predictions, CSV",
            lambda: frame_of(predicted.ranking, predictor.packed.label_name, *of_rows),
            f"{files}-predictions",
            f"A line for each label of each of the {rows}, in the order of the file; *predicted* says which are",
        )
        charts.file_button(
            "All predictions, JSON lines",
            lambda: "".join(json_lines(predicted.ranking, predictor.packed.label_name, *of_rows)).encode(),
            f"{files}-predictions.jsonl",
            f"A line of JSON for each of the {rows}, in the order of the file; *predicted* says which labels are",
        )
        if predicted.missing.size or predicted.unknown:
            charts.csv_button(
                "Missing and unknown columns, CSV",
                lambda: _columns(predictor, predicted),
                f"{files}-columns",
                "Features of the model that the file lacks, and columns of the file that the model does not have",
            )
    with table:
        return _table(predictor, predicted, by, look, row) if n_rows else None


def _table(predictor, predicted, by, look, row) -> int:
    sure = certainty(predicted.ranking, by)
    rows = np.argsort(sure, kind="stable")[:LISTED]
    row = int(rows[0]) if row is None else row
    percent, score = predictions.are_probabilities(predictor.model), predictions.noun(predictor.model)
    called, what = (text.format(score) for text in WAYS[by])
    lines = pd.DataFrame(
        {
            "row": rows if predicted.ids is None else [predicted.ids[i] or f"row {i:,}" for i in rows.tolist()],
            "sure": predictions.scores(predictor.model, sure[rows]),
            "first": [predictor.packed.label_name(j) if j >= 0 else "" for j in predicted.ranking.labels[rows, 0]],
            "labels": [_labels(predictor, predicted.ranking, i, percent) for i in rows.tolist()],
        }
    )
    given = predicted.decided is not None and predicted.decided.probability is not None
    if predicted.decided is not None:
        lines["predicted"] = _predicted(predictor, predicted, rows)
    if predicted.beginnings is not None:
        lines["text"] = [tables.shortened(predicted.beginnings[i], BEGINNING) for i in rows.tolist()]
    columns = ["row", "sure", "first", "text", "labels" if predicted.decided is None else "predicted"]
    tables.show(
        lines,
        "predict.listed",
        {
            "row": tables.number("Row", 70, "%d", "From 0, in the order of the file.")
            if predicted.ids is None
            else tables.text("Id", 110, "Of the file, or else the row from 0."),
            "sure": tables.number(
                called[0].upper() + called[1:] + (", %" if percent else ""),
                100,
                (tables.percent_format if percent else tables.score_format)(lines["sure"]),
                f"{what[0].upper()}{what[1:]}.",
            ),
            "first": tables.text("First label"),
            "text": tables.text("Beginning of the text", 390),
            "predicted": tables.text(
                "Predicted",
                300 if predicted.beginnings is not None else 600,
                "Also labels not ranked first" + ("; in brackets the deciding P." if given else "."),
            ),
            "labels": tables.text(f"Ranked first, each with its {score}", 340),
        },
        first=columns,
        most=250,
        **tables.on_tick("predict.listed", rows, look),
        **tables.ticked(np.flatnonzero(rows == row).tolist()),
    )
    if rows.size < sure.size:
        st.caption(f"These are the {rows.size:,} least certain of {sure.size:,}. The files below have all.")
    return row


def _decided(predictor, predicted, noun: str) -> str:
    """Return how many labels are predicted, and by which decision; nothing if that is not known."""
    decided, n_rows = predicted.decided, len(predicted.ranking.labels)
    if decided is None or not n_rows:
        return "."
    counts = decided.ranked.sum(axis=1) + np.bincount(decided.further["row"], minlength=n_rows)
    none = int(np.count_nonzero(counts == 0))
    text = ", further ones where predicted" if len(decided.further) else ""
    text += f", **{counts.mean():.1f}** predicted on average: "
    text += f"{format.plain(format.unbroken(decided.by))}."
    return text + (f" {format.count(none, noun)} {'gets' if none == 1 else 'get'} none." if none else "")


def _predicted(predictor, predicted, rows) -> list[str]:
    """Return the names of the predicted labels of some rows."""
    ranked, further = predicted.decided.ranked, predicted.decided.further
    further, known = further[further["row"].isin(rows)], predicted.decided.probability
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


def _labels(predictor, ranking, row, percent) -> str:
    pairs = zip(ranking.labels[row].tolist(), ranking.scores[row].tolist())
    return ", ".join(
        f"{predictor.packed.label_name(label)} ({format.score(score, percent)})" for label, score in pairs if label >= 0
    )


def _columns(predictor, predicted) -> pd.DataFrame:
    missing = [predictor.packed.feature_name(int(j)) for j in predicted.missing]
    return pd.DataFrame(
        {
            "column": [*missing, *predicted.unknown],
            "is": ["missing"] * len(missing) + ["unknown"] * len(predicted.unknown),
        }
    )
