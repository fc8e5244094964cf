"""The form for own files on the Data page."""

import streamlit as st

from pages.data.forms import form, formats, label_choice, text_columns, texts, uploads
from pages.data.forms.chosen_files import ChosenFiles
from pages.shared import actions, fields, format
from pages.shared.workspaces import made

ABOUT = """Rows of numbers with their labels. One training file is enough: a part of its rows is held out for testing.
Documents, whose words become the numbers, are read at *Upload texts*."""
FILES = ChosenFiles("upload", ("train", "test", "label_file", "test_label_file", "labels", "features"), "read")


def _fields(fingerprint) -> form.Request | None:
    """Show the fields; ``fingerprint``: of the data set in use."""
    st.caption(ABOUT)
    formats.show(fingerprint)
    # Not in a form: the test share disappears as soon as there is a test file.
    train = FILES.uploader(
        "train",
        "Training file",
        "In one of the formats above. Packed with gzip, bzip2, xz or zip is fine. A "
        "zip may also hold training rows, test rows and Mulan's XML, or the files of the Extreme Classification "
        "Repository with the row numbers of a split.",
    )
    look = label_choice.look_at(train)
    if train is not None and text_columns.holds_texts(train, look):
        st.info(f"{format.plain(train.name)} seems to hold texts. *Upload texts* makes features of their words.")
        actions.button("Read it at Upload texts", key="upload.to_texts", on_click=_to_texts)
    kind = getattr(look, "format", None)
    inside = getattr(look, "inside", {})  # names of files, if the training file is an archive of several
    labels = None
    with st.container():  # even if empty: the fields below keep their places, so the browser does not draw them anew
        if train is not None:
            label_choice.describe_file(look, train, FILES.file("label_file") is not None)
        if kind in ("csv", "arff") and FILES.file("label_file") is None and "labels" not in inside:
            labels = label_choice.choose(look, f"{FILES.key('columns')}.{train.file_id}")
    test = FILES.uploader(
        "test",
        "Test file (optional)",
        "The same format, features and labels. Without it, a random part of the training file is held out.",
    )
    left, right = st.columns(2)
    with left:
        label_file = FILES.uploader(
            "label_file",
            "Label file (optional)",
            "If the features and the labels are in two files: the labels as npz or npy, CSV with columns of 0 and 1, "
            "or text with a line `label:1 label:1` for each row. For ARFF, the Mulan XML file.",
        )
    test_label_file = None
    with right:
        if test is not None and label_file is not None and kind != "arff":
            test_label_file = FILES.uploader(
                "test_label_file", "Label file of the test rows", "The labels of the rows of the test file."
            )
    left, right = st.columns(2)
    with left:
        label_names = FILES.uploader(
            "labels", "Label names (optional)", "Text, one name per line, in the order of the ids."
        )
    with right:
        feature_names = FILES.uploader(
            "features", "Feature names (optional)", "Text, one name per line, in the order of the ids."
        )
    name, options = _options(kind, test is not None or bool({"test", "test_rows"} & set(inside)))
    if train is None:
        return None
    given = {
        "labels": labels if label_file is None else label_file,
        "test_labels": test_label_file,
        "label_names": label_names,
        "feature_names": feature_names,
    }
    task, files = uploads.reading(train, test, **given, **options)
    name = name or made.file_name(uploads.names_of(files)) or label_choice.relation(train)
    return form.Request(task, files, name)


def _to_texts():
    texts.FILES.chosen()["train"] = FILES.file("train")
    FILES.empty()


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
            "Take the numbers from the data",
            key=FILES.key("counts"),
            help="For a file whose header promises another number of rows, features or labels than it has.",
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
