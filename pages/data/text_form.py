"""The form for files of texts with labels on the Data page."""

import streamlit as st

from pages.data import text_columns, uploads, vectorizer_form
from pages.data.chosen_files import ChosenFiles
from pages.shared import actions, format, jobs, tasks
from pages.shared.streamlit_fixes import reconnected
from pages.shared.workspaces import dataset_list, made, workspace
from xmlcore import experiment
from xmlcore.experiment.engine import given

FILES = ChosenFiles("texts", ("train", "test", "names"), "read_texts")
PRESSED = "texts.pressed"  # key of st.session_state: whether the button was pressed and the files are not read yet
ERROR = "texts.error"  # key of st.session_state: ids of files, and why they could not be read
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
ABOUT = """Documents and their labels: a table (CSV, TSV, Parquet), JSON lines, or a zip of text files as Annif has.
One file is enough. Words become features. The texts are kept, and shown wherever a row is shown."""


def show() -> None:
    """Show the form, and read the files when its button was pressed."""
    st.caption(ABOUT)
    train = FILES.uploader(
        "train",
        "File of documents",
        "CSV or TSV with a column of texts and a column of labels, JSON lines, Parquet, Annif’s short texts (TSV with "
        "URIs), or a zip archive of .txt files, each with a .tsv or .key file of its subjects. Packed with gzip, "
        "bzip2, xz or zip is fine.",
    )
    columns = None
    with st.container():  # even if empty: the fields below keep their places
        if train is not None:
            encoding = _encoding(train)
            columns = text_columns.choose(
                train, FILES.file("names"), encoding, f"{FILES.key('columns')}.{train.file_id}"
            )
    vectorizer = vectorizer_form.show("texts")
    with st.container():
        if columns is not None and columns.texts and vectorizer is not None:
            whole = len(columns.texts) < text_columns.FIRST
            vectorizer_form.effect(vectorizer, columns.texts, train.file_id, whole=whole)
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
    name, options = _options(test is not None)
    waits = FILES.waits()
    actions.button(
        "Being read" if waits else "Read the documents",
        type="primary",
        disabled=columns is None or vectorizer is None or waits,
        key="texts.read",
        on_click=_ask_to_read,
    )
    if st.session_state.get(PRESSED) and columns is not None and vectorizer is not None:
        _read({"train": train, "test": test, "names": names}, name, vectorizer, columns.options | options)
    if train is None:
        st.caption("Choose a file of documents first.")
    reconnected.say(train is not None)
    files, error = st.session_state.get(ERROR, (None, None))
    if files == FILES.ids():  # a message about other files is not shown any more
        st.error(error)


def is_open() -> bool:
    """Return whether a file is chosen, or a worker reads one, or that has failed."""
    return any(FILES.ids()) or bool(jobs.active("read_texts") or jobs.failed("read_texts"))


def progress() -> None:
    """Show the progress of reading, and why it failed."""
    jobs.watch(jobs.active("read_texts"))
    uploads.failures("read_texts", "The documents could not be read:")


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


def _options(has_test):
    """Show the fields for a name and for the split; return both, the split as parameters of the task."""
    left, middle, right = st.columns([2, 1, 1])
    with left:
        name = st.text_input(
            "Name (optional)",
            key=FILES.key("name"),
            value=workspace.first_value(FILES.key("name"), FILES.chosen().get("name", ""), ""),
            on_change=FILES.note,
            args=("name",),
            max_chars=dataset_list.LONGEST_NAME,
            placeholder="like the file",
            help="What this data set is called on all pages and in the names of downloads.",
        )
    with middle:
        share = st.number_input(
            "Test share, %",
            min_value=1,
            max_value=90,
            step=1,
            disabled=has_test,
            **workspace.keep("texts.share", 20, lambda v: isinstance(v, int) and 1 <= v <= 90),
            help="Which part of the documents is held out for testing. Not used when there is a test file.",
        )
    with right:
        seed = st.number_input(
            "Seed",
            min_value=0,
            max_value=2**31 - 1,
            step=1,
            disabled=has_test,
            **workspace.keep("texts.seed", 0, lambda v: isinstance(v, int) and 0 <= v < 2**31),
            help="The same seed holds out the same documents.",
        )
    return name, {"test_size": share / 100, "random_state": seed}


def _ask_to_read():
    """Note that the button was pressed, so that this run of the script reads the files."""
    if workspace.refuse():
        return
    st.session_state[PRESSED] = True  # until the files are read, as another event may interrupt the run


def _read(chosen, name, vectorizer, params):
    """Have the files read; when that fails at once, remember the message. Then rerun the page."""
    st.session_state.pop(ERROR, None)
    for record, _ in jobs.failed("read_texts"):
        jobs.dismiss(record["id"])
    files = {what: file for what, file in chosen.items() if file is not None}
    called = format.plain(name.strip() or files["train"].name)
    try:
        with st.spinner(f"Taking over {called} ({format.size(files['train'].size)})"):
            params = params | {"files": given.described(files), "vectorizer": vectorizer}
            task = experiment.task("read_texts", {}, params)
            about = {"name": name.strip(), "files": uploads.names_of(files)}
            about["name"] = about["name"] or made.file_name(about["files"])
            if task.estimate().seconds < uploads.AT_ONCE or task.exists():
                uploads.run(task, files)
            elif not jobs.active(key=task.key):
                given.give(task.key, files)
    except (ValueError, TypeError, MemoryError, OSError) as error:
        st.session_state[PRESSED] = False
        st.session_state[ERROR] = (FILES.ids(), uploads.explain(error))
        st.rerun()
    except Exception:  # of a cause that nobody has thought of: the next run is not to read the files again
        st.session_state[PRESSED] = False
        raise
    st.session_state[PRESSED] = False
    tasks.make_dataset(task, **about)
    FILES.are_read_by(task)
    FILES.empty_when_read()
    st.rerun()
