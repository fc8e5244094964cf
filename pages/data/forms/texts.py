"""The form for files of texts with labels on the Data page."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.data.forms import form, vectorizer
from pages.data.forms.form import ChosenFiles
from pages.shared import format, sending, tables
from pages.shared.workspaces import dataset_list
from xmlcore import datasets, experiment
from xmlcore.datasets.readers.label_cells import LISTS, NONE, SEPARATORS, URIS
from xmlcore.datasets.texts.guess import FORMATS, WITHOUT_COLUMNS
from xmlcore.experiment.engine import task_files
from xmlcore.experiment.kinds.read import LABEL_TABLE

FIELDS = {
    "train": (
        "File of documents",
        "CSV or TSV with a column of texts and a column of labels, JSON lines, Parquet, fastText, Annif’s short texts "
        "(TSV with URIs), or a zip archive of .txt files, each with a .tsv or .key file of its subjects. Packed with "
        "gzip, bzip2, xz or zip is fine.",
    ),
    "test": (
        "Test file (optional)",
        "The same format and columns. Without it, a random part of the documents is held out.",
    ),
    "names": (
        "Vocabulary (optional)",
        "Names of labels that are URIs, as Annif has them: TSV with `<uri>`, a tab and a name in each line, or CSV "
        "with the columns `uri` and `label_en`.",
    ),
    "vectors": (
        "Vectors (optional)",
        "A matrix with a row for each document, in their order, such as embeddings: .npy, or .npz of scipy. Its "
        "columns are features beside the words, and count as much as these together.",
    ),
    "test_vectors": ("Vectors of the test file", "The same for the documents of the test file."),
}
FILES = ChosenFiles("texts", FIELDS | form.OF_LABELS, "read_texts")
ENCODINGS = {
    "utf-8": "UTF-8",
    "cp1252": "Windows-1252 (Western Europe)",
    "latin-1": "Latin-1 (ISO 8859-1)",
    "cp1250": "Windows-1250 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "utf-16": "UTF-16",
    "shift_jis": "Shift JIS (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
}
ABOUT = """Documents and their labels: a table (CSV, Excel, Parquet), JSON lines, fastText, or a zip of text files as
Annif has. One file is enough. Words become features. The texts are kept, and shown wherever a row is shown."""
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


def _seen(kind, function, file, **options):
    """Return the columns seen at the beginning of a file and notes on it, or the error of reading it and None."""
    try:
        return sending.preview(f"texts.{kind}", function, file, **options)
    except (ValueError, TypeError, OSError) as error:
        return error, None


def holds_texts(train, beginning) -> bool:
    """Return whether a file has a column of texts, by its beginning, as ``upload.head_of`` returns it."""
    if getattr(beginning, "format", "csv") != "csv":
        return False
    guess, notes = _seen("of the other form", datasets.guess_columns, train)
    if notes is None or guess.text is None:
        return False
    return guess.no_blanks or np.mean([len(str(row.get(guess.text, "")).split()) for row in guess.rows]) >= WORDS


def choose(train, names, encoding: str, key: str) -> tuple[dict, list] | None:
    """Show what a file seems to be; return parameters of the task that reads it, and its first texts; else None."""
    guess, notes = _seen(encoding, datasets.guess_columns, train, encoding=encoding)
    if notes is None:
        st.error(form.explain(guess))
        return None
    st.caption(_about(train, guess))
    options = {"format": guess.format, "encoding": encoding}
    if guess.format in WITHOUT_COLUMNS:
        options |= {"text": "text", "labels": "labels"}
    else:
        fields = _column_fields(guess, f"{key}.{encoding}")
        if fields is None:
            return None
        options |= fields
    read = {name: value for name, value in options.items() if name != "format" or guess.format != "folder"}
    found, notes = _seen("first", datasets.read_texts, train, **read, names=names, max_documents=FIRST)
    if notes is None:
        st.error(form.explain(found))
        return None
    _first_documents(*found, notes, key)
    return options, found[0]


def _about(train, guess) -> str:
    name = format.plain(train.name)
    kind = "an Excel table" if train.name.lower().endswith((".xlsx", ".xlsm")) else FORMATS[guess.format]
    if guess.format == "folder":
        return f"{name} is {kind}, with subjects beside the texts."
    if guess.format == "fasttext":
        return f"{name} is {kind}: words after `__label__` are labels."
    if len(guess.columns) == 1 and not guess.form.header:
        return f"{name} is read as {FORMATS['lines']}."
    names = "" if guess.form.header else ", without names in the first line"
    return f"{name} is {kind} of {format.count(len(guess.columns), 'column')}{names}."


def _column_fields(guess, key) -> dict | None:
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
    several, between = len(labels) > 1, {"auto": "as the cells suggest"} | BETWEEN
    if not several and any(isinstance(row.get(labels[0]), (list, tuple)) for row in guess.rows):
        between[NONE] = "nothing: the cells have lists"  # of Parquet or JSON, not written as text
    with right:
        separator = st.selectbox(
            "Between labels",
            list(between),
            index=list(between).index(guess.separator if labels == [guess.labels] else "auto"),
            format_func=between.get,
            key=f"{key}.between.{'-'.join(labels)}",
            disabled=guess.binary and several,
            help="Separates two labels of a cell. Lists, [“a”, “b”], have no separator.",
        )
    return {
        "text": text[0] if len(text) == 1 else text,
        "labels": labels if several else labels[0],
        "separator": separator,
        "header": guess.form.header,
    }


def _first_documents(texts, label_lists, notes, key):
    """Show the first documents as they will be read, and what is unusual about them."""
    shown = [text if len(text) <= LONGEST else f"{text[:LONGEST]}…" for text in texts[:SHOWN]]
    frame = pd.DataFrame({"text": shown, "labels": label_lists[:SHOWN]})
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
        st.caption(format.plain(format.sentence(each)))


def _fields() -> form.Request | None:
    st.caption(ABOUT)
    train = FILES.uploader("train")
    columns = None
    with st.container():  # even if empty: the fields below keep their places
        if train is not None:
            encoding = _encoding(train)
            columns = choose(train, FILES.file("names"), encoding, f"{FILES.key('columns')}.{train.file_id}")
    settings = vectorizer.show("texts")
    with st.container():
        if columns is not None and columns[1] and settings is not None:
            vectorizer.effect(settings, columns[1], train.file_id, whole=len(columns[1]) < FIRST)
    left, right = st.columns(2)
    test, names = FILES.uploader("test", left), FILES.uploader("names", right)
    others = {LABEL_TABLE: FILES.uploader(LABEL_TABLE), "vectors": FILES.uploader("vectors", left)}
    if test is not None and others["vectors"] is not None:
        others["test_vectors"] = FILES.uploader("test_vectors", right)
    first, second, third = st.columns([2, 1, 1])
    with first:
        name = form.name_field(FILES, "like the file")
    split = form.share_and_seed("texts", second, third, test is not None)
    if columns is None or settings is None:
        return None
    files = {"train": train, "test": test, "names": names} | others
    files = {role: file for role, file in files.items() if file is not None}
    params = columns[0] | split | {"vectorizer": settings}
    return form.Request(
        lambda: experiment.task("read_texts", {}, params | {"files": task_files.described(files)}),
        files,
        name or dataset_list.file_name(form.names_of(files)),
    )


def _encoding(train) -> str:
    """Return how the text of the files is encoded; the field is shown if that is not the usual one, or in question."""
    key = f"{FILES.key('encoding')}.{train.file_id}"
    fault = getattr(_seen("utf-8", datasets.guess_columns, train, encoding="utf-8")[0], "fault", None)
    is_other = fault is not None and (fault.argument == "encoding" or fault.found.startswith("it is UTF-"))
    if not is_other and st.session_state.get(key, "utf-8") == "utf-8":
        return "utf-8"
    return st.selectbox(
        "Encoding",
        list(ENCODINGS),
        format_func=ENCODINGS.get,
        key=key,
        help="How letters are written as bytes. Look at the first documents below: letters with accents tell.",
    )


FORM = form.Form("texts", "read_texts", "Read the documents", "The documents could not be read:", _fields, FILES)
