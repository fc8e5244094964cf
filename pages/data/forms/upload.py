"""The form for own files on the Data page."""

import streamlit as st

from pages.data.forms import form, formats, texts
from pages.data.forms.form import ChosenFiles
from pages.shared import actions, fields, format, sending
from pages.shared.workspaces import dataset_list
from xmlcore import experiment
from xmlcore.datasets.readers.formats import FileHead, read_head
from xmlcore.experiment.engine import task_files
from xmlcore.experiment.kinds.read import LABEL_TABLE

ABOUT = """Rows of numbers with their labels. One training file is enough: a part of its rows is held out for testing.
Documents, whose words become the numbers, are read at *Upload texts*."""
OF_NAMES = "Text, one name per line, in the order of the ids."
FIELDS = {
    "train": (
        "Training file",
        "In one of the formats above. Packed with gzip, bzip2, xz or zip is fine. A zip may also hold training rows, "
        "test rows and Mulan's XML, or the files of the Extreme Classification Repository with the row numbers of a "
        "split.",
    ),
    "test": (
        "Test file (optional)",
        "The same format, features and labels. Without it, a random part of the training file is held out.",
    ),
    "label_file": (
        "Label file (optional)",
        "If the features and the labels are in two files: the labels as npz or npy, CSV with columns of 0 and 1, or "
        "text with a line `label:1 label:1` for each row. For ARFF, the Mulan XML file.",
    ),
    "test_label_file": ("Label file of the test rows", "The labels of the rows of the test file."),
    "labels": ("Label names (optional)", OF_NAMES),
    "features": ("Feature names (optional)", OF_NAMES),
}
FILES = ChosenFiles("upload", FIELDS | form.OF_LABELS, "read")
LAST, FIRST, NAMED, LISTED, SAID = "last", "first", "named", "listed", "said"
TITLES = {
    SAID: "as the file says",
    LAST: "the last columns",
    FIRST: "the first columns",
    NAMED: "columns that I name",
    LISTED: "one column that lists them",
}
# Files in an archive, by their role: of rows, and of the numbers of rows.
OF_ROWS = {"train": "training rows", "test": "test rows", "labels": "labels", "test_labels": "labels of the test rows"}
OF_NUMBERS = {"train": "all rows", "train_rows": "training row numbers", "test_rows": "test row numbers"}
KINDS = {"xmlc": "XMLC text", "svmlight": "svmlight text", "npz": "a NumPy archive"}
KINDS |= {"arff": "an ARFF file", "csv": "a table"}
MOST_NAMES = 5000  # columns offered by name at most: the browser gets the whole list


def _fields(fingerprint) -> form.Request | None:
    st.caption(ABOUT)
    formats.show(fingerprint)
    # Not in a form: the test share disappears as soon as there is a test file.
    train = FILES.uploader("train")
    head = head_of(train)
    if train is not None and texts.holds_texts(train, head):
        st.info(f"{format.plain(train.name)} seems to hold texts. *Upload texts* makes features of their words.")
        actions.button("Read it at Upload texts", key="upload.to_texts", on_click=_to_texts)
    kind = getattr(head, "format", None)
    inside = getattr(head, "inside", {})  # names of files, if the training file is an archive of several
    labels = None
    with st.container():  # even if empty: the fields below keep their places, so the browser does not draw them anew
        if train is not None:
            describe_file(head, train, FILES.file("label_file") is not None)
        if kind in ("csv", "arff") and FILES.file("label_file") is None and "labels" not in inside:
            labels = choose(head, f"{FILES.key('columns')}.{train.file_id}")
    test = FILES.uploader("test")
    left, right = st.columns(2)
    label_file, test_label_file = FILES.uploader("label_file", left), None
    if test is not None and label_file is not None and kind != "arff":
        test_label_file = FILES.uploader("test_label_file", right)
    others = {"labels": labels if label_file is None else label_file, "test_labels": test_label_file}
    left, right = st.columns(2)
    others["label_names"], others["feature_names"] = FILES.uploader("labels", left), FILES.uploader("features", right)
    others[LABEL_TABLE] = FILES.uploader(LABEL_TABLE)
    name, options = _options(kind, test is not None or bool({"test", "test_rows"} & set(inside)))
    if train is None:
        return None
    task, files = reading(train, test, **others, **options)
    name = name or dataset_list.file_name(form.names_of(files)) or getattr(head, "relation", "")  # of an ARFF file
    return form.Request(task, files, name)


def _to_texts():
    texts.FILES.chosen()["train"] = FILES.file("train")
    FILES.empty()


def head_of(file):
    """Return what the beginning of a chosen file says, or the message of an error; None without a file."""
    if file is None:
        return None
    try:
        return sending.preview("rows", read_head, file)[0]
    except (ValueError, OSError) as error:
        return error


def describe_file(beginning, file, has_label_file: bool) -> None:
    name = format.plain(file.name)
    if not isinstance(beginning, FileHead):
        return  # the message comes when the files are read
    if beginning.inside:
        parts = OF_NUMBERS if "train_rows" in beginning.inside else OF_ROWS
        named = {words: beginning.inside[role] for role, words in parts.items() if role in beginning.inside}
        shown = [f"{words} from {format.plain(inside)}" for words, inside in named.items()]
        st.caption(f"{name} is an archive: {', '.join(shown)}.")
        name = format.plain(beginning.inside["train"])
        has_label_file |= "labels" in beginning.inside
    st.caption(f"{name} is {_about(beginning, has_label_file)}")


def _about(beginning, has_label_file) -> str:
    sizes, columns, declared = beginning.sizes or (), beginning.columns, beginning.n_declared
    noun = "attribute" if beginning.format == "arff" else "column"
    has = [format.count(number, noun) for number, noun in zip(sizes, ("row", "feature", "label"))]
    has += [] if columns is None else [format.count(len(columns), noun)]
    text = KINDS.get(beginning.format, f"a file in the format {beginning.format}")
    text += f" with {format.listed(has)}" if has else ""
    if declared:
        return f"{text}. Its relation says that the {'first' if declared > 0 else 'last'} {abs(declared):,} are labels."
    has_labels = has_label_file or len(sizes) == 3 or beginning.format == "csv"
    return f"{text}." if has_labels else f"{text}. If another file has the labels, choose it at “Label file”."


def choose(beginning, key: str):
    """Show the fields that say which columns are labels, and return the argument ``labels`` of ``read_dataset``."""
    noun = "attributes" if beginning.format == "arff" else "columns"
    options = [SAID] * bool(beginning.n_declared) + [LAST, FIRST]
    if beginning.columns and len(beginning.columns) <= MOST_NAMES:
        options += [NAMED] + [LISTED] * (beginning.format == "csv")
    first = SAID if beginning.n_declared else LISTED if beginning.listing else None  # None: the user must say it
    if beginning.n_likely and not beginning.n_declared:
        first = FIRST if beginning.n_likely > 0 else LAST
    left, right = st.columns(2)
    with left:
        how = st.selectbox(
            "Labels are",
            options,
            index=options.index(first) if first in options else None,
            placeholder="Choose how to name the labels",
            format_func=lambda option: TITLES[option].replace("columns", noun),
            key=f"{key}.how",
            help="A label file, if you choose one below, comes before this.",
        )
    with right:
        return _which(beginning, how, noun, key)


def _which(beginning, how, noun, key):
    """Show the field that belongs to a way of naming labels; return the argument ``labels``."""
    if how in (LAST, FIRST):
        most = max(1, len(beginning.columns) - 1) if beginning.columns else None
        likely = abs(beginning.n_likely) if (beginning.n_likely < 0) == (how == LAST) else 0
        first, label = max(1, likely), f"How many {noun}"
        about = f"The {how} {likely:,} hold nothing but 0 and 1 in the first rows." if likely else None
        settings = {"step": 1, "key": f"{key}.count.{how}", "help": about}
        count = st.number_input(label, 1, most, min(first, most or first), **settings)
        return -count if how == LAST else count
    columns = list(dict.fromkeys(beginning.columns or ()))
    if how == NAMED:
        n = beginning.n_likely
        near = beginning.columns[n:] if n < 0 else beginning.columns[:n]
        return st.multiselect("Names", columns, near, key=f"{key}.names") or None
    if how == LISTED:
        index = columns.index(beginning.listing) if beginning.listing else len(columns) - 1
        about = "Each cell lists the labels of its row, such as a; b or [“a”, “b”]."
        return st.selectbox("Column", columns, index, key=f"{key}.column", help=about)
    return None


def reading(train, test, **options):
    """Return a function that makes the task that reads uploaded files, and the files by their argument of it."""
    options |= {"train": train, "test": test}
    files = {role: file for role, file in options.items() if hasattr(file, "read")}
    others = {name: value for name, value in options.items() if name not in files and value is not None}
    return lambda: experiment.task("read", {}, others | {"files": task_files.described(files)}), files


def _options(kind, has_test):
    zeroth, first, second, third = st.columns([2, 1, 1, 1])
    with zeroth:
        name = form.name_field(
            FILES,
            "from the files",
            "If empty, it is the name of the training file or of the test file, unless that is only *train* or the "
            "like, or what an ARFF file calls its data; else the number of labels.",
        )
    first_index = fields.choice(
        "Ids start at",
        (0, 1),
        "upload.first",
        place=first,
        disabled=kind in ("csv", "arff", "npz"),
        help="Feature and label ids in the file: 0 in the XMLC text format, 1 in most LIBSVM files.",
    )
    split = form.share_and_seed("upload", second, third, has_test)
    counts, leave_out = "header", False
    with st.container():  # as above: the button below keeps its place
        if kind == "xmlc" and st.checkbox(
            "Ignore the header’s counts",
            key=FILES.key("counts"),
            help="For a file whose header states wrong numbers of rows, features or labels.",
        ):
            counts = "data"
        if kind in ("csv", "arff"):
            leave_out = st.checkbox(
                "Leave out columns of text",
                key=FILES.key("leave_out"),
                help="Features are numbers. Columns with words, and ARFF attributes of type string or date, are then "
                "not read; a note says which. Otherwise the file is refused.",
            )
    options = {"first_index": first_index, "counts": counts, "leave_out": leave_out}
    return name, options | split


FORM = form.Form("upload", "read", "Read the files", "The files could not be read:", _fields, FILES)
