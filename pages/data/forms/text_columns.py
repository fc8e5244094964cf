"""Which columns of a file of documents are texts and labels: the guess, fields to change it, the first documents."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from pages.data.forms import uploads
from pages.shared import format, looking, tables
from xmlcore import datasets
from xmlcore.datasets.readers.label_cells import LISTS, NONE, SEPARATORS, URIS
from xmlcore.datasets.texts.guess import FORMATS, WITHOUT_COLUMNS

FIRST = 1000  # documents that are read for a look
SHOWN = 5  # documents in the table
MOST_DISTINCT = 0.7  # share of different labels among all from which they are rather texts
WORDS = 3  # that a cell of a column of texts has on average, at least
LONGEST = 300  # characters of a text in the table
BETWEEN = SEPARATORS | {
    LISTS: "nothing: cells are lists, [“a”, “b”]",
    URIS: "nothing: cells are URIs",
    NONE: "nothing: a cell is one label",
}


@dataclass(frozen=True)
class ColumnFields:
    """The columns that are chosen, and the first documents."""

    options: dict  # parameters of the task that reads the documents
    texts: list


def _seen(kind, function, file, **options):
    """Return what a look at a file says and its notes, or a message why there is none, and None."""
    try:
        return looking.look(f"texts.{kind}", function, file, **options)
    except (ValueError, TypeError, OSError) as error:
        return uploads.explain(error), None


def may_be_encoded_otherwise(train) -> bool:
    """Return whether a file cannot be read as UTF-8."""
    found, notes = _seen("utf-8", datasets.guess_columns, train, encoding="utf-8")
    return notes is None and "UTF-" in found.replace("\\", "")  # of the message, which is Markdown


def holds_texts(train, beginning) -> bool:
    """Return whether a file has a column of texts, by its beginning, as ``label_choice.look_at`` returns it."""
    if getattr(beginning, "format", "csv") != "csv":
        return False
    guess, notes = _seen("of the other form", datasets.guess_columns, train)
    if notes is None or guess.text is None:
        return False
    return guess.no_blanks or np.mean([len(str(row.get(guess.text, "")).split()) for row in guess.rows]) >= WORDS


def choose(train, names, encoding: str, key: str) -> ColumnFields | None:
    """Show what the file seems to be, its columns and the first documents; None if they cannot be read so."""
    guess, notes = _seen(encoding, datasets.guess_columns, train, encoding=encoding)
    if notes is None:
        st.error(guess)
        return None
    st.caption(_about(train, guess))
    options = {"format": guess.format, "encoding": encoding}
    if guess.format in WITHOUT_COLUMNS:
        options |= {"text": "text", "labels": "labels"}
    else:
        fields = _fields(guess, f"{key}.{encoding}")
        if fields is None:
            return None
        options |= fields
    read = {name: value for name, value in options.items() if name != "format" or guess.format != "folder"}
    found, notes = _seen("first", datasets.read_texts, train, **read, names=names, max_documents=FIRST)
    if notes is None:
        st.error(found)
        return None
    _first_documents(*found, notes, key)
    return ColumnFields(options, found[0])


def _about(train, guess) -> str:
    notes = f"{format.plain(train.name)} is {FORMATS[guess.format]}"
    if guess.format == "folder":
        return f"{notes}, with subjects beside the texts."
    if guess.format == "fasttext":
        return f"{notes}: words after `__label__` are labels."
    if len(guess.columns) == 1 and not guess.form.header:
        return f"{format.plain(train.name)} is read as {FORMATS['lines']}."
    notes += f" of {format.count(len(guess.columns), 'column')}"
    return f"{notes}." if guess.form.header else f"{notes}, without names in the first line."


def _fields(guess, key) -> dict | None:
    """Show the fields for texts, labels and what stands between labels; return parameters, None if one is missing."""
    names = list(guess.columns)
    left, middle, right = st.columns([2, 2, 1])

    def title(column):
        return column if guess.form.header else f"Column {column}"

    with left:
        text = st.multiselect(
            "Texts are in",
            names,
            [guess.text] if guess.text is not None else [],
            format_func=title,
            key=f"{key}.text",
            placeholder="Choose a column",
            help="The texts of several columns, such as title and abstract, are joined.",
        )
    guessed = [] if guess.labels is None else [guess.labels] if isinstance(guess.labels, str) else list(guess.labels)
    with middle:
        labels = st.multiselect(
            "Labels are in",
            [name for name in names if name not in text],
            [name for name in guessed if name not in text],
            format_func=title,
            key=f"{key}.labels",
            placeholder="Choose a column",
            help="One column whose cells list the labels of a document. Or several columns: with a label in each cell, "
            "or with 1 and 0 (yes and no) for the label that is the column’s name.",
        )
    if not text or not labels:
        without = "It has no labels to learn from: write them beside the texts, in a second column."
        st.info("Choose the column of the texts and that of the labels." if len(names) > 1 else without)
        return None
    several = len(labels) > 1
    with right:
        allowed = ["auto", *BETWEEN]
        first = guess.separator if labels == [guess.labels] else "auto"
        between = BETWEEN
        if not several and any(isinstance(row.get(labels[0]), (list, tuple)) for row in guess.rows):
            between = BETWEEN | {NONE: "nothing: the cells have lists"}  # of Parquet or JSON, not written as text
        separator = st.selectbox(
            "Between labels",
            allowed,
            index=allowed.index(first),
            format_func=lambda mark: "as the cells suggest" if mark == "auto" else between[mark],
            key=f"{key}.between.{'-'.join(labels)}",
            disabled=guess.binary and several,
            help="What stands between two labels of a cell. Lists, [“a”, “b”], need none.",
        )
    return {
        "text": text[0] if len(text) == 1 else text,
        "labels": labels if several else labels[0],
        "separator": separator,
        "header": guess.form.header,
    }


def _first_documents(texts, label_lists, notes, key):
    """Show the first documents as they will be read, and what is unusual about them."""
    frame = pd.DataFrame(
        {
            "text": [text if len(text) <= LONGEST else f"{text[:LONGEST]}…" for text in texts[:SHOWN]],
            "labels": label_lists[:SHOWN],
        }
    )
    columns = {
        "text": st.column_config.TextColumn("Text", width=520),
        "labels": st.column_config.ListColumn("Labels", width=420),
    }
    tables.show(frame, f"{key}.first", columns)
    distinct = len({label for row in label_lists for label in row})
    mean = sum(map(len, label_lists)) / len(label_lists)
    which = f"{len(texts):,}" if len(texts) < FIRST else f"the first {len(texts):,}"
    labels = f"{format.count(distinct, 'label')}, {mean:.1f} per document"
    st.caption(f"Showing {min(SHOWN, len(texts))} of {which} documents, which have {labels}.")
    if distinct == 0:
        st.warning("No document has a label: there is nothing to learn from.")
    elif len(texts) > 20 and (distinct > MOST_DISTINCT * mean * len(texts) or mean < 0.05):
        st.warning("Nearly every document has labels of its own, or none: is this the column of the labels?")
    for each in notes:
        st.caption(format.plain(uploads.sentence(each)))
