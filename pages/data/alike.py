"""How alike training and test rows are: features, labels, and test rows that were seen in training."""

import streamlit as st

from pages.shared import format, tables
from pages.shared.figures import charts

SHOWN = 200  # most features or labels in a table


def show(data, described, examination, name) -> None:
    """Say how alike training and test rows are, and show what differs; ``name`` begins the names of files."""
    st.header("How alike are training and test rows?")
    if examination is None:
        return
    summary = described.summary | examination.summary
    st.markdown("\n".join(f"- {line}" for line in _sentences(data, summary)))
    left, right = st.columns(2, gap="medium")
    for box, noun, frame, name_of in (
        (left, "feature", examination.features, data.feature_name),
        (right, "label", examination.labels, data.label_name),
    ):
        with box:
            _table(noun, frame, name_of, name)


def _sentences(data, summary):
    lines = []
    for noun, count in (("feature", data.n_features), ("label", data.n_labels)):
        tested, differ = summary[f"n_{noun}s_tested"], summary[f"n_{noun}s_drifted"]
        if tested == 0:
            lines.append(f"No {noun} occurs often enough to be compared.")
        else:
            verb = "differs" if differ <= 1 else "differ"
            lines.append(
                f"Of {format.count(count, noun)}, {tested:,} can be compared, having rows enough. **{differ or 'None'} "
                f"{verb}** between training and test rows beyond chance."
            )
    new = summary["n_features_only_in_test"]
    if new:
        verb, them = ("occurs", "it") if new == 1 else ("occur", "them")
        lines.append(f"**{format.count(new, 'feature')}** {verb} in test rows only: no model can learn about {them}.")
    return lines


def _table(noun, frame, name_of, name):
    shown = frame[frame["tested"]].head(SHOWN)
    shown = shown.assign(
        name=[name_of(int(j)) for j in shown["column"]], differs=shown["differs"].map({True: "yes", False: "no"})
    )
    st.markdown(f"**{noun.capitalize()}s that differ most**")
    if shown.empty:
        st.caption(f"No {noun} occurs often enough to be compared.")
        return
    tables.show(
        shown if frame["differs"].any() else shown.drop(columns="differs"),
        f"alike.{noun}",
        {
            "name": tables.text(noun.capitalize(), 150),
            "difference": tables.number("Difference", 76, help="Of means, test less training, in standard deviations."),
            "differs": tables.text(
                "Beyond chance", 95, "5\u00a0% of all marked may be chance (Benjamini-Hochberg 1995)."
            ),
            "rows_train": tables.number("Training rows", 90, "localized", "Training rows that have it."),
            "rows_test": tables.number("Test rows", 70, "localized", "Test rows that have it."),
        },
        signs={"difference": "{:+.3f}"},
        most=250,
    )
    tested = int(frame["tested"].sum())
    st.caption(
        f"Showing {len(shown):,} of {tested:,} {noun}s that could be compared, largest difference first: 0.2 is small, "
        "0.8 is large. The CSV also has the means."
    )
    charts.csv_button(
        f"All {noun}s, CSV",
        lambda: frame.assign(name=[name_of(int(j)) for j in frame["column"]]),
        f"{name}-{noun}-differences",
        f"Every {noun} that occurs, with its means and the test",
        key=f"alike.{noun}.csv",
    )
