"""Data: what is in the data set, and which one is in use."""

import numpy as np
import streamlit as st

from pages.data import uploads
from pages.shared import charts, format, server, tables, tasks, workspace
from xmlcore import datasets, figures

SHOWN_ROWS = 200
SHOWN_LABELS = 500
ROWS_HEIGHT, LABELS_HEIGHT = 392, 320
RARE = 5  # training rows
# Before this it is no long tail but a handful: labels, and training rows of the most frequent one.
TAIL_LABELS, TAIL_HEAD = 50, 50
# Key of st.session_state: {"train", "test", "labels", "features": the file; "name": what was typed}. A page switch
# takes widgets and what was chosen in them away; this stays until the files are read or cleared, or the session ends.
CHOSEN_BEFORE = "upload.chosen"
FILES = ("train", "test", "labels", "features")
SOURCES = {"catalog": "comes with xmlcore", "upload": "uploaded here"}


def main() -> None:
    st.title("Data")
    # Always the same three boxes: an upload form that is being filled stays open when the data set above it is ready.
    answer, controls, details = st.container(), st.container(), st.container()
    fingerprint = workspace.get("dataset")
    with controls:
        _controls(fingerprint)
    if fingerprint is None:
        with answer:
            _nothing_yet()
        return
    data, described = server.dataset(fingerprint), server.description(fingerprint)
    known = workspace.get("known").get(fingerprint, {"name": "uploaded data", "source": "upload", "notes": []})
    with answer:
        _answer(data, described, known)
        _preparing()
    with details:
        _figures(data, described, format.file_name(known["name"]))
        st.fragment(_rows)(data, fingerprint)
        st.fragment(_labels)(described.labels, format.file_name(known["name"]))


# --- the answer ---


def _nothing_yet():
    wanted = workspace.get("wanted")
    if tasks.active("prepare"):
        st.markdown(
            f"**{format.plain(wanted or 'The data set')}** is being made ready. This happens once; from then on it "
            "opens at once. You can upload your own data meanwhile."
        )
        for entry in datasets.catalog():
            if entry.name == wanted:
                st.caption(format.plain(f"{entry.description} {entry.source}"))
    elif tasks.failed("prepare"):
        st.markdown("No data set is in use: making one ready failed. Try again, or upload your own data.")
    else:
        st.markdown("No data set is in use. Choose one, or upload your own data.")
    _preparing()


def _preparing():
    tasks.watch(tasks.active("prepare"))
    tasks.show_failures(tasks.failed("prepare"))


def _answer(data, described, known):
    counts = described.labels["n_train"].to_numpy()
    st.markdown(
        f"**{format.plain(known['name'])}**: {format.count(data.n_train + data.n_test, 'row')}, "
        f"{format.count(data.n_features, 'feature')}, {format.count(data.n_labels, 'label')}{_tail(data, counts)}."
    )
    if not data.Y_train.nnz:
        st.warning("No training row has a label: nothing can be trained on it.", icon=":material/warning:")
    rows = data.n_train + data.n_test
    per_row = (data.Y_train.nnz + data.Y_test.nnz) / rows
    nonzeros = (data.X_train.nnz + data.X_test.nnz) / rows
    cells = rows * data.n_features
    without = int(np.count_nonzero(counts == 0))
    cards = [
        ("Training rows", f"{data.n_train:,}", None),
        ("Test rows", f"{data.n_test:,}", None),
        ("Features", f"{data.n_features:,}", "Columns of the data; most are zero in any one row."),
        ("Labels", f"{data.n_labels:,}", f"{format.count(without, 'label')} of them without any training row."),
        ("Labels per row", f"{per_row:.2f}", "Mean over training and test rows; also called label cardinality."),
        (
            "Features per row",
            f"{nonzeros:,.1f}",
            f"Mean number of features that are not zero: {100 * rows * nonzeros / cells:.3g} % of all cells.",
        ),
    ]
    tables.cards(cards)
    # A saved upload may have been read by another session too: what is said about it is this workspace's own.
    notes = data.notes if known["source"] == "catalog" else known["notes"]
    if notes:
        st.caption(" ".join(format.plain(note) for note in dict.fromkeys(notes)))
    if data.Y_train.nnz:
        st.page_link("pages/train/page.py", label="Train a model on this data set", icon=":material/arrow_forward:")


def _has_long_tail(counts):
    rare = np.mean(counts <= RARE)
    return counts.size >= TAIL_LABELS and counts.max() >= TAIL_HEAD and rare >= 0.3


def _tail(data, counts):
    """How rare labels are, as the end of a sentence; nothing where a handful of rows or labels says nothing."""
    if not counts.any() or data.n_train < TAIL_HEAD:
        return ""
    share = float(np.mean(counts <= RARE))
    if share == 0:
        return f", each with more than {RARE} training rows" if counts.size > 1 else ""
    rare = f"{100 * share:.{0 if share >= 0.1 else 1}f} % of the labels have at most {RARE} training rows"
    return f" with a long tail: {rare}" if _has_long_tail(counts) else f"; {rare}"


# --- the controls ---


def _controls(fingerprint):
    known = workspace.get("known")
    entries = {entry.name: entry for entry in datasets.catalog()}
    own = {fp: entry for fp, entry in known.items() if entry["source"] == "upload"}
    options = [*(f"catalog {name}" for name in entries), *(f"upload {fp}" for fp in own)]

    def title(option):
        source, _, name = option.partition(" ")
        return f"{name if source == 'catalog' else own[name]['name']} ({SOURCES[source]})"

    current = None
    if fingerprint is not None and fingerprint in known:
        entry = known[fingerprint]
        current = f"catalog {entry['name']}" if entry["source"] == "catalog" else f"upload {fingerprint}"
    if workspace.get("wanted") in entries and tasks.active("prepare"):
        current = f"catalog {workspace.get('wanted')}"
    st.session_state[workspace.DATA_CHOICE] = current if current in options else None
    st.selectbox(
        "Data set",
        options,
        index=0 if current in options else None,
        format_func=title,
        key=workspace.DATA_CHOICE,
        on_change=_choose,
        placeholder="Choose a data set",
        help="Data sets you upload are seen in this workspace only: by whoever has this page's full address.",
    )
    with st.expander("Upload your own data", expanded=any(_file_ids())):
        _upload_form()
        files, error = st.session_state.get(workspace.UPLOAD_ERROR, (None, None))
        if files == _file_ids():  # what was wrong with other files is over
            st.error(error)


def _choose():
    option = st.session_state[workspace.DATA_CHOICE]
    if option is None:
        return
    source, _, name = option.partition(" ")
    known = workspace.get("known")
    if source == "catalog":
        ready = next((fp for fp, entry in known.items() if entry["source"] == source and entry["name"] == name), None)
        if ready is None:
            workspace.update(wanted=name)  # the next run of the script starts on it
        else:
            workspace.update(dataset=ready, wanted=None)
    elif name in known:
        workspace.update(dataset=name, wanted=None)


def _upload_key(what: str) -> str:
    return f"upload.{what}.{st.session_state.setdefault(workspace.UPLOAD_ROUND, 0)}"


def _chosen() -> dict:
    return st.session_state.setdefault(CHOSEN_BEFORE, {})


def _file(what: str):
    """The file chosen in a widget, or before the page was left."""
    return st.session_state.get(_upload_key(what)) or _chosen().get(what)


def _file_ids() -> list:
    return [getattr(_file(what), "file_id", None) for what in FILES]


def _note_chosen(what):
    # Called when the user changed the widget, so None means that the file was removed.
    value = st.session_state.get(_upload_key(what))
    if value is None:
        _chosen().pop(what, None)
    else:
        _chosen()[what] = value


def _uploader(what, label, help):
    key = _upload_key(what)
    file = st.file_uploader(label, key=key, on_change=_note_chosen, args=(what,), help=help)
    if file is not None:
        _chosen()[what] = file
        return file
    file = _chosen().get(what)
    if file is not None:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption(f"Chosen before: {format.plain(file.name)} ({format.size(file.size)})", width="content")
            st.button(
                "Clear",
                key=f"{key}.clear",
                on_click=lambda: _chosen().pop(what, None),
                type="tertiary",
                icon=":material/close:",
                help=f"{label}: take no longer {format.plain(file.name)}",
            )
    return file


def _upload_form():
    # Not in a form: the test share disappears as soon as there is a test file.
    train = _uploader(
        "train",
        "Training file",
        "Text, one row per line: a header `rows features labels`, then `label,label feature:value feature:value`. "
        "Packed with gzip, bzip2, xz or zip is fine.",
    )
    test = _uploader(
        "test",
        "Test file (optional)",
        "The same format, features and labels. Without it, a random part of the training file is held out.",
    )
    one, two = st.columns(2)
    with one:
        label_names = _uploader("labels", "Label names (optional)", "Text, one name per line, in the order of the ids.")
    with two:
        feature_names = _uploader(
            "features", "Feature names (optional)", "Text, one name per line, in the order of the ids."
        )
    zeroth, first, second, third = st.columns([2, 1, 1, 1])
    with zeroth:
        name = st.text_input(
            "Name (optional)",
            key=_upload_key("name"),
            value=workspace.first_value(_upload_key("name"), _chosen().get("name", ""), ""),
            on_change=_note_chosen,
            args=("name",),
            max_chars=80,
            placeholder="as the training file",
            help="What this data set is called on all pages and in the names of downloads. Without one it is called as "
            "the training file, or by its number of labels when that is only “train” or “data”.",
        )
    with first:
        first_index = st.selectbox(
            "Ids start at",
            (0, 1),
            **workspace.keep("upload.first", 0, options=(0, 1)),
            help="Feature and label ids in the file: 0 in the XMLC text format, 1 in most LIBSVM files.",
        )
    with second:
        share = st.number_input(
            "Test share, %",
            min_value=1,
            max_value=90,
            step=1,
            disabled=test is not None,
            **workspace.keep("upload.share", 20, lambda v: isinstance(v, int) and 1 <= v <= 90),
            help="How much of the file is held out for testing. Not used when there is a test file.",
        )
    with third:
        seed = st.number_input(
            "Seed",
            min_value=0,
            max_value=2**31 - 1,
            step=1,
            disabled=test is not None,
            **workspace.keep("upload.seed", 0, lambda v: isinstance(v, int) and 0 <= v < 2**31),
            help="The same seed holds out the same rows.",
        )
    st.button("Read the files", type="primary", disabled=train is None, key="upload.read", on_click=_ask_to_read)
    if st.session_state.get(workspace.UPLOAD_ASKED) and train is not None:
        _read(
            train,
            test,
            name,
            label_names=label_names,
            feature_names=feature_names,
            first_index=first_index,
            test_size=share / 100,
            random_state=seed,
        )
    if train is None:
        st.caption("Choose a training file first.")


def _ask_to_read():
    # Remembered until it is done: a press is forgotten when another event cuts the run short.
    st.session_state[workspace.UPLOAD_ASKED] = True


def _read(train, test, name, **options):
    for file in (train, test, options["label_names"], options["feature_names"]):
        if file is not None:
            file.seek(0)  # an earlier attempt may have read it
    try:
        with st.spinner(f"Reading {format.plain(name.strip() or train.name)}"):
            fingerprint, notes, name = uploads.read(train, test, name, **options)
    except (ValueError, TypeError, MemoryError) as error:
        st.session_state[workspace.UPLOAD_ASKED] = False
        st.session_state[workspace.UPLOAD_ERROR] = (_file_ids(), uploads.explain(error))
        st.rerun()
    st.session_state[workspace.UPLOAD_ASKED] = False
    st.session_state.pop(workspace.UPLOAD_ERROR, None)
    st.session_state.pop(CHOSEN_BEFORE, None)
    st.session_state[workspace.UPLOAD_ROUND] += 1  # empty upload widgets: the server lets go of the bytes
    known = workspace.get("known")
    if fingerprint in known:  # it keeps its name: results and downloads carry it
        earlier = known[fingerprint]["name"]
        workspace.update(dataset=fingerprint, wanted=None)
        workspace.notify(f"{name} has the same content as {earlier}, which is in use now under that name.")
    else:
        name = uploads.free_name(name, [entry["name"] for entry in known.values()])
        workspace.add_dataset(fingerprint, name, "upload", use=True, notes=notes)
        workspace.notify(f"{name} is read and in use.")
    st.rerun()


# --- the figures ---


def _figures(data, described, name):
    left, right = st.columns(2, gap="medium")
    with left:
        if data.Y_train.nnz:
            figure = figures.label_frequency(described.labels)
            said = _about_frequency(figure.layout.meta, described.labels["n_train"].to_numpy())
            charts.show_figure(figure, tables.csv_safe(described.labels), f"{name}-label-frequency", said)
        else:
            st.markdown("**How often each label occurs**")
            st.caption("No training row has a label, so there is nothing to draw.")
    with right:
        frame = tables.labels_per_row(data)
        charts.show_figure(
            figures.labels_per_row(frame),
            frame,
            f"{name}-labels-per-row",
            "Each pair of bars is the share of the training and of the test rows with so many labels. Like heights "
            "mean that the test rows resemble the training rows in this.",
        )


def _about_frequency(meta, counts):
    said = "Each point is a label, most frequent first."
    if meta["flat"]:
        if meta["least"] == meta["most"]:
            said += f" Each has {format.count(meta['most'], 'training row')}."
        else:
            said += f" The counts differ little: {meta['least']:,} to {meta['most']:,} training rows."
    elif _has_long_tail(counts):
        said += " A straight fall on these axes is a long tail: few labels with many rows, many with few."
    drawn = (
        f", {format.count(meta['without_rows'], 'label')} without a training row not drawn"
        if meta["without_rows"]
        else ""
    )
    if counts.size >= TAIL_LABELS:
        buckets = meta["buckets"]
        said += (
            f" Head: {format.count(buckets['head'], 'label')}, half of all training label occurrences; "
            f"torso: {buckets['torso']:,}, the next 30 %; tail: {buckets['tail']:,}, the rest{drawn}."
        )
    elif drawn:
        said += f" {drawn[2:].replace(' not drawn', ' cannot be drawn')}."
    if meta["shown"] < meta["total"]:
        said += f" {meta['shown']:,} of {meta['total']:,} labels are drawn as points; the curve is the same."
    return said


# --- rows ---


def _rows(data, fingerprint):
    st.header("Rows")
    part_box, query_box, button_box = st.columns([2, 3, 1], vertical_alignment="bottom")
    with part_box:
        part = st.radio(
            "Part",
            list(tables.PARTS),
            horizontal=True,
            format_func=lambda p: f"{p.capitalize()} rows",
            **workspace.keep("rows.part", "training", options=list(tables.PARTS)),
        )
    X, Y, names = tables.part(data, part)
    scope = f"{fingerprint} {part}"
    with query_box:
        query = st.text_input(
            "Find rows by label, feature or row name", **workspace.keep("rows.query", ""), placeholder="part of a name"
        )
    found = tables.find_rows(data, part, query)
    with button_box:
        shown = workspace.chosen_row(scope, int(found[0]) if found.size else 0)
        st.button(
            "Random row", on_click=_random_row, args=(scope, found, shown), disabled=found.size < 2, width="stretch"
        )
    if found.size == 0:
        st.info(
            f"No {part} row has a label, feature or name with “{format.plain(query)}” in it. "
            "Try a shorter part of a name."
        )
        return
    row, key, listed = _listed(scope, query, found)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        frame = tables.rows(data, part, listed)
        st.dataframe(
            frame,
            hide_index=True,
            height=tables.height(len(frame), ROWS_HEIGHT),
            key=key,
            on_select=lambda: _select_row(scope, key, listed),
            selection_mode="single-row",
            column_config={
                "row": st.column_config.NumberColumn("Row", format="%d", width=60),
                "name": st.column_config.TextColumn("Name", width=170),
                "labels": st.column_config.TextColumn("Labels", width=380 if names is None else 220),
                "features": st.column_config.NumberColumn("Features", format="%d", width=70),
            },
        )
        kind = f"matching {part} row" if query.strip() else f"{part} row"
        first = f" Row {listed[0]:,}, looked at last, comes first." if listed[0] != found[0] else ""
        st.caption(
            f"Showing {listed.size:,} of {format.count(found.size, kind)}.{first} Tick a row to see its features; "
            "without a tick, the first is shown."
        )
    with right:
        _one_row(data, X, Y, names, part, row)


def _listed(scope, query, found):
    """The row to show, the table's key, and the rows it lists.

    The row shown is the ticked one, or else the first listed. Ticks belong to a table, so what it lists must not change
    while it lives: only a table that is new (another search, a random row, a page switch) is listed anew, and then
    begins with the row looked at last.
    """
    row, first = workspace.chosen_row(scope, -1), workspace.chosen_row(f"{scope} first", -1)

    def key(first):
        return f"rows.table.{scope}.{first}.{query}"

    if key(first) not in st.session_state and row != first and row in found:
        first = row
        workspace.choose_row(f"{scope} first", row)
    listed = tables.listed_rows(found, first, SHOWN_ROWS)
    if row not in listed:
        row = int(listed[0])
    return row, key(first), listed


def _one_row(data, X, Y, names, part, row):
    heading = f"{part.capitalize()} row {row:,}"
    if names is not None:
        heading += f": {format.plain(names[row])}"
    st.markdown(f"**{heading}**")
    labels = tables.label_names(data, tables.ids(Y, row))
    st.markdown("Labels: " + (", ".join(format.plain(name) for name in labels) if labels else "none"))
    frame = tables.features(data, X, row)
    if frame.empty:
        st.caption("This row has no features.")
        return
    tables.show_features(frame, key="rows.features", most=300)


def _random_row(scope, found, shown):
    others = found[found != shown] if found.size > 1 else found
    row = int(others[np.random.default_rng().integers(others.size)])
    workspace.choose_row(scope, row)
    workspace.choose_row(f"{scope} first", row)  # a new table, without the tick of the old one


def _select_row(scope, key, listed):
    ticked = st.session_state[key]["selection"]["rows"]
    workspace.choose_row(scope, int(listed[ticked[0] if ticked and ticked[0] < listed.size else 0]))


# --- labels ---


def _labels(labels, name):
    st.header("Labels")
    query = st.text_input("Find labels by name", **workspace.keep("labels.query", ""), placeholder="part of a name")
    found = tables.find_labels(labels, query).sort_values("rank", kind="stable")
    if found.empty:
        st.info(f"No label has “{format.plain(query)}” in its name. Try a shorter part of it.")
        return
    shown = found.head(SHOWN_LABELS)
    columns = ["name", "label", "n_train", "n_test", "rank", "bucket", "inverse_propensity"]
    st.dataframe(
        shown[[c for c in columns if c in shown.columns]],
        hide_index=True,
        height=tables.height(len(shown), LABELS_HEIGHT),
        key="labels.table",
        column_config={
            "name": st.column_config.TextColumn("Label", width="medium"),
            "label": st.column_config.NumberColumn("Id", format="%d", width="small"),
            "n_train": st.column_config.NumberColumn("Training rows", format="localized"),
            "n_test": st.column_config.NumberColumn("Test rows", format="localized"),
            "rank": st.column_config.NumberColumn(
                "Rank", format="localized", help="1 is the label with most training rows."
            ),
            "bucket": st.column_config.TextColumn("Head, torso or tail"),
            "inverse_propensity": st.column_config.NumberColumn(
                "Inverse propensity",
                format="%.2f",
                help="The weight of a right prediction in PSP@k and PSnDCG@k: rare labels count more.",
            ),
        },
    )
    of = (
        f"{format.count(len(found), 'matching label')} ({len(labels):,} in all)"
        if query.strip()
        else format.count(len(found), "label")
    )
    most_first = ", most frequent first" if len(shown) > 1 else ""
    whole = f" The CSV holds all {len(labels):,}." if len(shown) < len(labels) else ""
    st.caption(f"Showing {len(shown):,} of {of}{most_first}.{whole}")
    charts.csv_button(
        "All labels, CSV",
        lambda: tables.csv_safe(labels),
        f"{name}-labels",
        "Every label with its counts and propensity",
    )


main()
