"""Data: what is in the data set, and which one is in use."""

import numpy as np
import streamlit as st

from pages.shared import export, frame, jobs_panel, server, show, state, tables, text, uploads
from xmlcore import datasets, figures

SHOWN_ROWS = 200
SHOWN_LABELS = 500
SOURCES = {"catalog": "comes with xmlcore", "upload": "uploaded here"}


def main() -> None:
    st.title("Data")
    # Always the same three boxes: an upload form that is being filled stays open when the data set above it is ready.
    answer, controls, details = st.container(), st.container(), st.container()
    fingerprint = state.get("dataset")
    with controls:
        _controls(fingerprint)
    if fingerprint is None:
        with answer:
            _nothing_yet()
        return
    data, described = server.dataset(fingerprint), server.description(fingerprint)
    known = state.get("known").get(fingerprint, {"name": data.name, "source": "upload", "notes": []})
    with answer:
        _answer(data, described, known)
        _preparing()
    with details:
        _figures(data, described, text.file_name(known["name"]))
        st.fragment(_rows)(data, fingerprint)
        st.fragment(_labels)(described.labels, text.file_name(known["name"]))


# --- the answer ---


def _nothing_yet():
    wanted = state.get("wanted")
    if jobs_panel.active("prepare"):
        st.markdown(
            f"**{text.plain(wanted or 'The data set')}** is being made ready. This happens once; from then on it opens "
            "at once. You can upload your own data meanwhile."
        )
        for entry in datasets.catalog():
            if entry.name == wanted:
                st.caption(text.plain(f"{entry.description} {entry.source}"))
    elif jobs_panel.failed("prepare"):
        st.markdown("No data set is in use: making one ready failed. Try again, or upload your own data.")
    else:
        st.markdown("No data set is in use. Choose one, or upload your own data.")
    _preparing()


def _preparing():
    jobs_panel.watch(jobs_panel.active("prepare"))
    jobs_panel.show_failures(jobs_panel.failed("prepare"))


def _answer(data, described, known):
    counts = described.labels["n_train"].to_numpy()
    share = float(np.mean(counts <= 5))
    rare = f"{100 * share:.{0 if share >= 0.1 else 1}f} % of the labels have at most 5 training rows"
    if share >= 0.3:
        tail = f" with a long tail: {rare}."
    else:
        tail = f"; {rare}." if share > 0 else ", each with more than 5 training rows."
    st.markdown(
        f"**{text.plain(known['name'])}**: {text.count(data.n_train + data.n_test, 'row')}, "
        f"{text.count(data.n_features, 'feature')}, {text.count(data.n_labels, 'label')}{tail}"
    )
    rows = data.n_train + data.n_test
    per_row = (data.Y_train.nnz + data.Y_test.nnz) / rows
    nonzeros = (data.X_train.nnz + data.X_test.nnz) / rows
    cells = rows * data.n_features
    without = int(np.count_nonzero(counts == 0))
    cards = [
        ("Training rows", f"{data.n_train:,}", None),
        ("Test rows", f"{data.n_test:,}", None),
        ("Features", f"{data.n_features:,}", "Columns of the data; most are zero in any one row."),
        ("Labels", f"{data.n_labels:,}", f"{text.count(without, 'label')} of them without any training row."),
        ("Labels per row", f"{per_row:.2f}", "Mean over training and test rows; also called label cardinality."),
        (
            "Features per row",
            f"{nonzeros:,.1f}",
            f"Mean number of features that are not zero: {100 * rows * nonzeros / cells:.3g} % of all cells.",
        ),
    ]
    show.cards(cards)
    notes = [*getattr(data, "notes", ()), *known.get("notes", ())]
    if notes:
        st.caption(" ".join(text.plain(note) for note in dict.fromkeys(notes)))
    st.page_link("pages/train.py", label="Train a model on this data set", icon=":material/arrow_forward:")


# --- the controls ---


def _controls(fingerprint):
    known = state.get("known")
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
    if state.get("wanted") in entries and jobs_panel.active("prepare"):
        current = f"catalog {state.get('wanted')}"
    st.session_state[state.DATA_CHOICE] = current if current in options else None
    st.selectbox(
        "Data set",
        options,
        index=0 if current in options else None,
        format_func=title,
        key=state.DATA_CHOICE,
        on_change=_choose,
        placeholder="Choose a data set",
        help="Data sets you upload are seen in this workspace only: by whoever has this page's full address.",
    )
    with st.expander("Upload your own data", expanded=any(_chosen_files())):
        _upload_form()
        files, error = st.session_state.get(state.UPLOAD_ERROR, (None, None))
        if files == _chosen_files():  # what was wrong with other files is over
            st.error(error)


def _choose():
    option = st.session_state[state.DATA_CHOICE]
    if option is None:
        return
    source, _, name = option.partition(" ")
    known = state.get("known")
    if source == "catalog":
        ready = next((fp for fp, entry in known.items() if entry["source"] == source and entry["name"] == name), None)
        if ready is None:
            state.update(wanted=name)  # the next run of the script starts on it
        else:
            state.update(dataset=ready, wanted=None)
    elif name in known:
        state.update(dataset=name, wanted=None)


def _upload_keys() -> list[str]:
    round_ = st.session_state.setdefault(state.UPLOAD_ROUND, 0)
    return [f"upload.{what}.{round_}" for what in ("train", "test", "labels", "features", "name")]


def _chosen_files() -> list:
    """Ids of the files in the four upload widgets."""
    return [getattr(st.session_state.get(key), "file_id", None) for key in _upload_keys()[:4]]


def _upload_form():
    keys = _upload_keys()
    # Not in a form: the test share disappears as soon as there is a test file.
    train = st.file_uploader(
        "Training file",
        key=keys[0],
        help="Text, one row per line: a header `rows features labels`, then `label,label feature:value feature:value`. "
        "Packed with gzip, bzip2, xz or zip is fine.",
    )
    test = st.file_uploader(
        "Test file (optional)",
        key=keys[1],
        help="The same format, features and labels. Without it, a random part of the training file is held out.",
    )
    one, two = st.columns(2)
    with one:
        label_names = st.file_uploader(
            "Label names (optional)",
            key=keys[2],
            help="Text, one name per line, in the order of the ids.",
        )
    with two:
        feature_names = st.file_uploader(
            "Feature names (optional)",
            key=keys[3],
            help="Text, one name per line, in the order of the ids.",
        )
    zeroth, first, second, third = st.columns([2, 1, 1, 1])
    with zeroth:
        name = st.text_input(
            "Name (optional)",
            key=keys[4],
            max_chars=80,
            placeholder="as the training file",
            help="What this data set is called on all pages and in the names of downloads.",
        )
    with first:
        first_index = st.selectbox(
            "Ids start at",
            (0, 1),
            **state.keep("upload.first", 0, options=(0, 1)),
            help="Feature and label ids in the file: 0 in the XMLC text format, 1 in most LIBSVM files.",
        )
    with second:
        share = st.number_input(
            "Test share, %",
            min_value=1,
            max_value=90,
            step=1,
            disabled=test is not None,
            **state.keep("upload.share", 20, lambda v: isinstance(v, int) and 1 <= v <= 90),
            help="How much of the file is held out for testing. Not used when there is a test file.",
        )
    with third:
        seed = st.number_input(
            "Seed",
            min_value=0,
            max_value=2**31 - 1,
            step=1,
            disabled=test is not None,
            **state.keep("upload.seed", 0, lambda v: isinstance(v, int) and 0 <= v < 2**31),
            help="The same seed holds out the same rows.",
        )
    st.button("Read the files", type="primary", disabled=train is None, key="upload.read", on_click=_ask_to_read)
    if st.session_state.get(state.UPLOAD_ASKED) and train is not None:
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
    st.session_state[state.UPLOAD_ASKED] = True


def _read(train, test, name, **options):
    name = name.strip() or uploads.stem(train.name)
    try:
        with st.spinner(f"Reading {text.plain(name)}"):
            fingerprint, notes = uploads.read(train, test, name, **options)
    except (ValueError, TypeError, MemoryError) as error:
        st.session_state[state.UPLOAD_ASKED] = False
        st.session_state[state.UPLOAD_ERROR] = (_chosen_files(), uploads.explain(error))
        st.rerun()
    st.session_state[state.UPLOAD_ASKED] = False
    st.session_state.pop(state.UPLOAD_ERROR, None)
    st.session_state[state.UPLOAD_ROUND] += 1  # empty upload widgets: the server lets go of the bytes
    name = uploads.free_name(name, [e["name"] for fp, e in state.get("known").items() if fp != fingerprint])
    state.add_dataset(fingerprint, name, "upload", use=True, notes=notes)
    state.notify(f"{name} is read and in use.")
    st.rerun()


# --- the figures ---


def _figures(data, described, name):
    left, right = st.columns(2, gap="medium")
    with left:
        figure = figures.label_frequency(described.labels)
        meta = figure.layout.meta
        said = (
            "Each point is a label, most frequent first. A straight fall on these axes is a long tail: "
            "few labels with many rows (head), many with few (tail)."
        )
        if meta["without_rows"]:
            said += f" {text.count(meta['without_rows'], 'label')} without a training row cannot be drawn on log axes."
        if meta["shown"] < meta["total"]:
            said += f" {meta['shown']:,} of {meta['total']:,} labels are drawn as points; the curve is the same."
        export.show_figure(figure, described.labels, f"{name}-label-frequency", said)
    with right:
        frame = tables.labels_per_row(data)
        export.show_figure(
            figures.labels_per_row(frame),
            frame,
            f"{name}-labels-per-row",
            "Each pair of bars is the share of the training and of the test rows with so many labels. Like heights "
            "mean that the test rows resemble the training rows in this.",
        )


# --- rows ---


def _rows(data, fingerprint):
    st.subheader("Rows")
    part_box, query_box, button_box = st.columns([2, 3, 1], vertical_alignment="bottom")
    with part_box:
        part = st.radio(
            "Part",
            list(tables.PARTS),
            horizontal=True,
            format_func=lambda p: f"{p.capitalize()} rows",
            **state.keep("rows.part", "training", options=list(tables.PARTS)),
        )
    X, Y, names = tables.part(data, part)
    scope = f"{fingerprint} {part}"
    with query_box:
        query = st.text_input(
            "Find rows by label, feature or row name", **state.keep("rows.query", ""), placeholder="part of a name"
        )
    found = tables.find_rows(data, part, query)
    with button_box:
        st.button("Random row", on_click=_random_row, args=(scope, found), disabled=found.size == 0, width="stretch")
    if found.size == 0:
        st.info(
            f"No {part} row has a label, feature or name with “{text.plain(query)}” in it. "
            "Try a shorter part of a name."
        )
        return
    row = state.chosen_row(scope, int(found[0]))
    if row >= X.shape[0] or row not in found:
        row = int(found[0])
    start = max(0, int(np.searchsorted(found, row)) - SHOWN_ROWS // 2) if found.size > SHOWN_ROWS else 0
    listed = found[start : start + SHOWN_ROWS]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        frame = tables.rows(data, part, listed)
        st.dataframe(
            frame,
            hide_index=True,
            height=392,
            key=f"rows.table.{scope}",
            on_select=lambda: _select_row(scope, listed),
            selection_mode="single-row",
            column_config={
                "row": st.column_config.NumberColumn("Row", format="%d", width=60),
                "name": st.column_config.TextColumn("Name", width=170),
                "labels": st.column_config.TextColumn("Labels", width=380 if names is None else 220),
                "features": st.column_config.NumberColumn("Features", format="%d", width=70),
            },
        )
        of = (
            f"of {text.count(found.size, f'matching {part} row')}"
            if query.strip()
            else f"of {found.size:,} {part} rows"
        )
        st.caption(f"Showing {listed.size:,} {of}. Tick a row to see its features.")
    with right:
        _one_row(data, X, Y, names, part, row)


def _one_row(data, X, Y, names, part, row):
    heading = f"{part.capitalize()} row {row:,}"
    if names is not None:
        heading += f": {text.plain(names[row])}"
    st.markdown(f"**{heading}**")
    labels = tables.label_names(data, tables.ids(Y, row))
    st.markdown("Labels: " + (", ".join(text.plain(name) for name in labels) if labels else "none"))
    frame = tables.features(data, X, row)
    if frame.empty:
        st.caption("This row has no features.")
        return
    show.features(frame, key="rows.features", height=300)


def _random_row(scope, found):
    state.choose_row(scope, int(found[np.random.default_rng().integers(found.size)]))


def _select_row(scope, listed):
    chosen = st.session_state[f"rows.table.{scope}"]["selection"]["rows"]
    if chosen:
        state.choose_row(scope, int(listed[chosen[0]]))


# --- labels ---


def _labels(labels, name):
    st.subheader("Labels")
    query = st.text_input("Find labels by name", **state.keep("labels.query", ""), placeholder="part of a name")
    found = tables.find_labels(labels, query).sort_values("rank", kind="stable")
    if found.empty:
        st.info(f"No label has “{text.plain(query)}” in its name. Try a shorter part of it.")
        return
    shown = found.head(SHOWN_LABELS)
    columns = ["name", "label", "n_train", "n_test", "rank", "bucket", "inverse_propensity"]
    st.dataframe(
        shown[[c for c in columns if c in shown.columns]],
        hide_index=True,
        height=320,
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
        f"{text.count(len(found), 'matching label')} ({len(labels):,} in all)"
        if query.strip()
        else f"{len(found):,} labels"
    )
    st.caption(f"Showing {len(shown):,} of {of}, most frequent first. The CSV holds all {len(labels):,}.")
    export.csv_button("All labels, CSV", lambda: labels, f"{name}-labels", "Every label with its counts and propensity")


frame.inside(main)
