"""The form for files of texts with labels on the Data page."""

import streamlit as st

from pages.data.forms import form, text_columns, uploads, vectorizer
from pages.data.forms.chosen_files import ChosenFiles
from pages.shared.workspaces import made
from xmlcore import experiment
from xmlcore.experiment.engine import given

FILES = ChosenFiles("texts", ("train", "test", "names"), "read_texts")
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
ABOUT = """Documents and their labels: a table (CSV, TSV, Parquet), JSON lines, fastText, or a zip of text files as
Annif has. One file is enough. Words become features. The texts are kept, and shown wherever a row is shown."""


def _fields() -> form.Request | None:
    st.caption(ABOUT)
    train = FILES.uploader(
        "train",
        "File of documents",
        "CSV or TSV with a column of texts and a column of labels, JSON lines, Parquet, fastText, Annif’s short texts "
        "(TSV with URIs), or a zip archive of .txt files, each with a .tsv or .key file of its subjects. Packed with "
        "gzip, bzip2, xz or zip is fine.",
    )
    columns = None
    with st.container():  # even if empty: the fields below keep their places
        if train is not None:
            encoding = _encoding(train)
            columns = text_columns.choose(
                train, FILES.file("names"), encoding, f"{FILES.key('columns')}.{train.file_id}"
            )
    settings = vectorizer.show("texts")
    with st.container():
        if columns is not None and columns.texts and settings is not None:
            whole = len(columns.texts) < text_columns.FIRST
            vectorizer.effect(settings, columns.texts, train.file_id, whole=whole)
    left, right = st.columns(2)
    with left:
        test = FILES.uploader(
            "test",
            "Test file (optional)",
            "The same format and columns. Without it, a random part of the documents is held out.",
        )
    with right:
        names = FILES.uploader(
            "names",
            "Vocabulary (optional)",
            "Names of labels that are URIs, as Annif has them: TSV with `<uri>`, a tab and a name in each line, or CSV "
            "with the columns `uri` and `label_en`.",
        )
    first, second, third = st.columns([2, 1, 1])
    with first:
        name = form.name_field(FILES, "like the file")
    split = form.share_and_seed("texts", second, third, test is not None)
    if columns is None or settings is None:
        return None
    files = {role: file for role, file in (("train", train), ("test", test), ("names", names)) if file is not None}
    params = columns.options | split | {"vectorizer": settings}
    return form.Request(
        lambda: experiment.task("read_texts", {}, params | {"files": given.described(files)}),
        files,
        name or made.file_name(uploads.names_of(files)),
    )


def _encoding(train) -> str:
    """Return how the text of the files is encoded; the field is shown if that is not the usual one, or in question."""
    key = f"{FILES.key('encoding')}.{train.file_id}"
    if not text_columns.may_be_encoded_otherwise(train) and st.session_state.get(key, "utf-8") == "utf-8":
        return "utf-8"
    return st.selectbox(
        "Encoding",
        list(ENCODINGS),
        format_func=ENCODINGS.get,
        key=key,
        help="How letters are written as bytes. Look at the first documents below: letters with accents tell.",
    )


FORM = form.Form("texts", "read_texts", "Read the documents", "The documents could not be read:", _fields, FILES)
