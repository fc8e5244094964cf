"""The labels of the data set, the sets and pairs of labels that rows have, and the rows of what is ticked."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.data import sizes
from pages.shared import cached, fields, format, selectors, tables
from pages.shared.figures import charts
from xmlcore import datasets, figures
from xmlcore.metrics.buckets import MEANING

SHOWN_LABELS, SHOWN = 500, 200  # most labels in a table; most label sets, and rows
ORDERS = {
    "most frequent first": ("rank", True),
    "rarest first": ("rank", False),
    "largest SCUMBLE first": ("scumble", False),
    "smallest SCUMBLE first": ("scumble", True),
    "by name": ("name", True),
}
COLUMNS = {
    "name": tables.text("Label", 150),
    "n_train": tables.number("Training rows", 95, "localized"),
    "n_test": tables.number("Test rows", 75, "localized"),
    "partners": tables.text(
        "Strongest partners", 400, "Labels with the largest correlation (phi, in brackets) on at least two common rows."
    ),
    "bucket": tables.text("Bucket", 60, MEANING),
    "irlbl": tables.number(
        "IRLbl", 60, "%.1f", "Rows of the most frequent label / rows of this label, in training and test rows together."
    ),
    "scumble": tables.number(
        "SCUMBLE", 80, "%.3f", "Mean over its rows. Near 1: it occurs on the same rows as much more frequent labels."
    ),
    "inverse_propensity": tables.number(
        "Inverse propensity", 120, "%.2f", "The weight of a right prediction in PSP@k and PSnDCG@k: rare labels more."
    ),
    "rank": tables.number("Rank", 50, "localized", "1 is the label with most training rows."),
    "label": tables.number("Id", 55, "%d"),
}
SET_COLUMNS = {
    "rows": tables.number("Rows", 60, "localized", "Rows that have these labels and no others."),
    "labels": tables.text("Labels of a row", 440),
    "size": tables.number("Labels", 60, "localized"),
    "n_train": tables.number("Training rows", 95, "localized"),
    "n_test": tables.number("Test rows", 75, "localized"),
}


def show(data, labels, examination, name) -> None:
    query_box, rows_box, order_box = st.columns([3, 1, 2])
    key = selectors.query_key("labels.query", data)
    query = fields.text("Find labels by name or id", key, place=query_box, placeholder="part of a name")
    most = fields.whole("Training rows, at most", 0, None, "labels.most", None, place=rows_box, placeholder="any")
    order = fields.choice("Order", tuple(ORDERS), "labels.order", place=order_box)
    column, ascending = ORDERS[order]
    among = labels if most is None else labels[labels["n_train"] <= most]
    found = tables.find_labels(among.sort_values(column, ascending=ascending, kind="stable"), query)
    if found.empty:
        st.info(f"None of {format.count(len(labels), 'label')} matches.")
        return
    shown = found.head(SHOWN_LABELS)
    named = shown.assign(partners=partners(data, shown["label"], examination))
    line = _ticked(named, f"labels.table.{data.fingerprint[:8]}.{query.strip()}.{most}.{order}", COLUMNS)
    tables.counted(len(shown), len(found), "label", f"{order}. Tick one to see its rows.")
    named = lambda: map(", ".join, partners(data, labels["label"], examination))  # noqa: E731
    charts.csv_button("All labels, CSV", lambda: labels.assign(partners=[*named()]), f"{name}-labels")
    if line is not None:
        label = int(shown["label"].iloc[line])
        show_rows(data, rows_of(data, label), data.label_name(label), f"{name}-rows-of-label-{label}")


def _ticked(frame, key: str, columns: dict) -> int | None:
    event = tables.show(frame, key, columns, on_select="rerun", selection_mode="single-row")
    return next((line for line in event.selection.rows if line < len(frame)), None)


def partners(data, labels, examination) -> list[tuple[str, ...]]:
    """Return, for each label, the names of the labels that go with it most, with their correlations."""
    if examination is None:
        return [()] * len(labels)
    mine = examination.partners[examination.partners["label"].isin(labels)]
    texts = {}
    for pair in mine.itertuples():
        texts.setdefault(pair.label, []).append(f"{data.label_name(pair.partner)} ({pair.phi:.2f})")
    return [(*texts.get(label, ()),) for label in labels]


def rows_of(data, label: int) -> pd.DataFrame:
    """Return the rows that have a label: ``part``, ``row``; training rows first."""
    return _parts(data, datasets.all_labels(data)[:, [label]].nonzero()[0])


def show_sets(data, fingerprint, name) -> None:
    """Show which sets of labels most rows have, and the rows of the one that is ticked; ``name`` begins files."""
    st.subheader("Label sets")
    frame = label_sets(fingerprint)
    if frame.empty:
        st.caption("No row has a label.")
        return

    def named(lines):
        return lines.assign(labels=[set_name(data, row) for row in lines["row"]])

    shown = frame.head(SHOWN)
    line = _ticked(named(shown), f"label_sets.{fingerprint}", SET_COLUMNS)
    once = f"{(frame['rows'] == 1).sum():,} occur once"
    tables.counted(len(shown), len(frame), "label set", f"most frequent first; {once}. Tick one to see its rows.")
    charts.csv_button("All label sets, CSV", lambda: named(frame).drop(columns="row"), f"{name}-label-sets")
    if line is not None:
        row = int(shown["row"].iloc[line])
        show_rows(data, rows_with(data, row), set_name(data, row), f"{name}-rows-of-label-set-{line + 1}")


@cached.shared()
def label_sets(fingerprint):
    return datasets.label_sets(cached.dataset(fingerprint))


def rows_with(data, row: int) -> pd.DataFrame:
    """Return the rows with the labels of a row, and no others: ``part``, ``row``; training rows first."""
    return _parts(data, datasets.rows_of_label_set(data, row))


def set_name(data, row: int) -> str:
    """Return the names of the labels of a row; test rows follow the training rows."""
    Y, row = (data.Y_train, row) if row < data.n_train else (data.Y_test, row - data.n_train)
    return ", ".join(tables.label_names(data, tables.ids(Y, row)))


def _parts(data, every) -> pd.DataFrame:
    """Return ``part``, ``row`` of rows that are counted from the first training row to the last test row."""
    every = np.sort(every)
    test = every >= data.n_train
    return pd.DataFrame({"part": np.where(test, "test", "training"), "row": every - data.n_train * test})


def show_rows(data, every: pd.DataFrame, of: str, name: str) -> None:
    """Show rows by ``part`` and ``row``; ``of`` describes them, and ``name`` is that of their file."""
    st.markdown(f"**Rows of {format.plain(of)}**")
    if every.empty:
        st.caption("No row has this label.")
        return
    shown = every.head(SHOWN)
    tables.show(with_contents(data, shown), f"rows-of-{name}", tables.OF_ROWS)
    test = int((every["part"] == "test").sum())
    st.caption(f"{format.showing(len(shown), len(every), 'row')}, {test:,} of them for the test.")

    def in_full():
        contents = tables.with_columns(data, with_contents(data, every))
        return contents.assign(labels=contents["labels"].map(", ".join))

    charts.csv_button("Rows, CSV", in_full, name)


def with_contents(data, rows) -> pd.DataFrame:
    parts = rows.groupby("part", sort=False)["row"]
    return pd.concat([tables.rows(data, part, group).assign(part=part) for part, group in parts], ignore_index=True)


CHOICES = {"frequent": "the most frequent labels", "pairs": "the labels of the strongest pairs"}
LEAST, MOST, FIRST = 5, 40, 20  # numbers of labels that can be drawn, and the first one
PAIR_COLUMNS = {
    "first_name": tables.text("Label", 145),
    "second_name": tables.text("And label", 145),
    "phi": tables.number("Phi", 50, help="Correlation of the two labels, from −1 to 1."),
    "n_both": tables.number("Both", 52, "localized", "Rows with both labels."),
    "expected": tables.number("By chance", 68, "%.2f", "Rows with both if labels were independent."),
}


def show_pairs(data, examination, fingerprint, name) -> None:
    """Show which labels occur together, which do not, and sets of labels; ``name`` begins the names of files."""
    st.header("Which labels belong together?")
    if examination.summary["n_pairs"] == 0:
        st.caption("No row has two labels, so no labels occur together.")
    else:
        _pairs(data, examination, fingerprint, name)
    show_sets(data, fingerprint, name)


def _pairs(data, examination, fingerprint, name) -> None:
    which_box, number_box = st.columns([3, 2], vertical_alignment="bottom")
    which = fields.radio("Draw", CHOICES, "together.which", "frequent", place=which_box)
    number = fields.slider("Number of labels", LEAST, MOST, "together.number", FIRST, place=number_box)
    left, right = st.columns(2, gap="medium")
    with left:
        frame = _named(data, pairs_among(fingerprint, _drawn(which, number, examination, fingerprint)))
        charts.show_figure(
            figures.cooccurrence_heat(frame),
            frame,
            f"{name}-cooccurrence",
            f"Share of the rows with the label on the left that also have the label below. Drawn are "
            f"{frame['first'].nunique():,} of {data.n_labels:,} labels: {CHOICES[which]}.",
            key="together.heat",
        )
    with right:
        of = examination.summary["n_pairs"]
        _pair_table(data, "Labels that occur together", examination.pairs, of, f"{name}-pairs")
        n_all = data.n_labels * (data.n_labels - 1) // 2
        _pair_table(data, "Labels that avoid each other", examination.exclusions, n_all, f"{name}-exclusions")


def _drawn(which, number, examination, fingerprint) -> list[int]:
    """Return the labels whose pairs are drawn; ``which`` is a key of CHOICES."""
    if which == "pairs":
        return list(dict.fromkeys(examination.pairs[["first", "second"]].to_numpy().ravel().tolist()))[:number]
    of_labels = cached.description(fingerprint).labels
    counts = (of_labels["n_train"] + of_labels["n_test"]).to_numpy()
    return [j for j in (-counts).argsort(kind="stable")[:number].tolist() if counts[j]]


@cached.shared()
def pairs_among(fingerprint, chosen):
    return datasets.together(sizes.all_labels(fingerprint), list(chosen))


def _named(data, pairs):
    return pairs.assign(**{f"{side}_name": tables.label_names(data, pairs[side]) for side in ("first", "second")})


def _pair_table(data, title, frame, of, file):
    st.markdown(f"**{title}**")
    if frame.empty:
        st.caption("No such pairs.")
        return
    named = _named(data, frame)
    tables.show(named, f"together.{title}", PAIR_COLUMNS, signs={"phi": "{:.2f}"})
    st.caption(f"{format.showing(len(named), of, 'pair')}, strongest first. The CSV also has the lift.")
    charts.csv_button("Pairs, CSV", named, file)
