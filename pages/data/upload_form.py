"""The form for own files on the Data page."""

import streamlit as st

from pages.data import formats, label_choice, uploads
from pages.data.chosen_files import ChosenFiles
from pages.shared import actions, format, jobs, tasks
from pages.shared.streamlit_fixes import reconnected
from pages.shared.workspaces import dataset_list, made, workspace
from xmlcore.experiment.engine import given

ABOUT = """Rows of numbers with their labels. One training file is enough: a part of its rows is held out for testing.
Documents, whose words become the numbers, are read at *Upload texts*."""
FILES = ChosenFiles("upload", ("train", "test", "label_file", "test_label_file", "labels", "features"), "read")


def file_ids() -> list:
    """Return the id of the file chosen for each input; None for an input without a file."""
    return FILES.ids()


def show(fingerprint) -> None:
    """Show the form, and read the files when its button was pressed; ``fingerprint``: of the data set in use."""
    st.caption(ABOUT)
    formats.show(fingerprint)
    # Not in a form: the test share disappears as soon as there is a test file.
    train = FILES.uploader(
        "train",
        "Training file",
        "XMLC text, svmlight, ARFF, CSV or npz: see the formats above. Packed with gzip, bzip2, xz or zip is fine. A "
        "zip may also hold training rows, test rows and Mulan's XML, or the files of the Extreme Classification "
        "Repository with the row numbers of a split.",
    )
    found = label_choice.look_at(train)
    kind = getattr(found, "format", None)
    inside = getattr(found, "inside", {})  # names of files, if the training file is an archive of several
    labels = None
    with st.container():  # even if empty: the fields below keep their places, so the browser does not draw them anew
        if train is not None:
            label_choice.say(found, train, FILES.file("label_file") is not None)
        if kind in ("csv", "arff") and FILES.file("label_file") is None and "labels" not in inside:
            labels = label_choice.choose(found, f"{FILES.key('columns')}.{train.file_id}")
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
            "If the features and the labels are in two files: the labels as npz, as CSV with columns of 0 and 1, or as "
            "text with a line `label:1 label:1` for each row. For ARFF, the Mulan XML file.",
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
    waits = FILES.waits()
    actions.button(
        "Being read" if waits else "Read the files",
        type="primary",
        disabled=train is None or waits,
        key="upload.read",
        on_click=_ask_to_read,
    )
    if st.session_state.get("upload.pressed") and train is not None:
        _read(
            train,
            test,
            name,
            labels=labels if label_file is None else label_file,
            test_labels=test_label_file,
            label_names=label_names,
            feature_names=feature_names,
            **options,
        )
    if train is None:
        st.caption("Choose a training file first.")
    reconnected.say(train is not None)


def _options(kind, has_test):
    """Show the fields for a name and for options; return the name, and options of ``read_dataset``.

    ``kind``: format of the training file, None if unknown. ``has_test``: whether a file has the test rows.
    """
    zeroth, first, second, third = st.columns([2, 1, 1, 1])
    with zeroth:
        name = st.text_input(
            "Name (optional)",
            key=FILES.key("name"),
            value=workspace.first_value(FILES.key("name"), FILES.chosen().get("name", ""), ""),
            on_change=FILES.note,
            args=("name",),
            max_chars=dataset_list.LONGEST_NAME,
            placeholder="like the training file",
            help="What this data set is called on all pages and in the names of downloads. If empty, the name of "
            "the training file is used, or that of the test file, or what an ARFF file calls its data.",
        )
    with first:
        first_index = st.selectbox(
            "Ids start at",
            (0, 1),
            **workspace.keep("upload.first", 0, options=(0, 1)),
            disabled=kind in ("csv", "arff", "npz"),
            help="Feature and label ids in the file: 0 in the XMLC text format, 1 in most LIBSVM files.",
        )
    with second:
        share = st.number_input(
            "Test share, %",
            min_value=1,
            max_value=90,
            step=1,
            disabled=has_test,
            **workspace.keep("upload.share", 20, lambda v: isinstance(v, int) and 1 <= v <= 90),
            help="Which part of the rows is held out for testing. Not used when there is a test file.",
        )
    with third:
        seed = st.number_input(
            "Seed",
            min_value=0,
            max_value=2**31 - 1,
            step=1,
            disabled=has_test,
            **workspace.keep("upload.seed", 0, lambda v: isinstance(v, int) and 0 <= v < 2**31),
            help="The same seed holds out the same rows.",
        )
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
    return name, options | {"test_size": share / 100, "random_state": seed}


def _ask_to_read():
    """Note that the button was pressed, so that this run of the script reads the files."""
    if workspace.refuse():
        return
    # Remembered until the files are read: Streamlit forgets a press when another event interrupts the run.
    st.session_state["upload.pressed"] = True


def _read(train, test, name, **options):
    """Have the files read; when that fails at once, remember the message. Then rerun the page."""
    st.session_state.pop("upload.error", None)
    for record, _ in jobs.failed("read"):
        jobs.dismiss(record["id"])
    called = format.plain(name.strip() or train.name)
    try:
        # What the browser has sent is hashed and written to where a worker takes it: seconds for hundreds of megabytes.
        with st.spinner(f"Taking over {called} ({format.size(train.size)})"):
            task, files = uploads.reading(train, test, **options)
            about = {"name": name.strip(), "files": uploads.names_of(files)}
            about["name"] = about["name"] or made.file_name(about["files"]) or label_choice.relation(train)
            if task.estimate().seconds < uploads.AT_ONCE or task.exists():
                uploads.run(task, files)
            elif not jobs.active(key=task.key):
                given.give(task.key, files)
    except (ValueError, TypeError, MemoryError, OSError) as error:
        st.session_state["upload.pressed"] = False
        st.session_state["upload.error"] = (file_ids(), uploads.explain(error))
        st.rerun()
    except Exception:  # of a cause that nobody has thought of: the next run is not to read the files again
        st.session_state["upload.pressed"] = False
        raise
    st.session_state["upload.pressed"] = False
    tasks.make_dataset(task, **about)
    FILES.are_read_by(task)
    FILES.empty_when_read()
    st.rerun()


def is_open() -> bool:
    """Return whether the form is open at first: files are chosen or read, or were lost."""
    return any(file_ids()) or busy() or reconnected.follows_another()


def busy() -> bool:
    """Return whether a worker reads uploaded files, or that has failed."""
    return bool(jobs.active("read") or jobs.failed("read"))


def progress() -> None:
    """Show the progress of reading, below the button that started it, and why it failed."""
    jobs.watch(jobs.active("read"))
    uploads.failures("read", "The files could not be read:")
