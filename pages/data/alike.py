"""How alike training and test rows are: features and labels that differ, or are on test rows only."""

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
    compared = "that have rows enough to be compared differ between training and test rows beyond chance."
    tables.cards(
        [
            *(
                (f"{noun.capitalize()}s that differ", f"{summary[f'n_{noun}s_drifted']:,}", f"{noun.capitalize()}s "
                 + compared, f"of {summary[f'n_{noun}s_tested']:,} compared")
                for noun in ("feature", "label")
            ),
            (
                "Features in test rows only",
                f"{summary['n_features_only_in_test']:,}",
                "No model can learn about these.",
                f"of {data.n_features:,}",
            ),
        ]
    )  # fmt: skip
    left, right = st.columns(2, gap="medium")
    with left:
        _table("feature", examination.features, data.feature_name, name)
    with right:
        _table("label", examination.labels, data.label_name, name)


def _table(noun, frame, name_of, name):
    def named(lines):
        return lines.assign(name=[name_of(int(j)) for j in lines["column"]])

    tested = frame[frame["tested"]]
    shown = named(tested.head(SHOWN)).assign(differs=lambda found: found["differs"].map({True: "yes", False: "no"}))
    st.markdown(f"**{noun.capitalize()}s that differ most**")
    if shown.empty:
        st.caption(f"No {noun} occurs often enough to be compared.")
        return
    by_chance = "5\u00a0% of all marked may be chance (Benjamini-Hochberg 1995)."
    tables.show(
        shown,
        f"alike.{noun}",
        {
            "name": tables.text(noun.capitalize(), 150),
            "difference": tables.number(
                "Difference", 76, help="Of means, test less training, in standard deviations: 0.2 is small, 0.8 large."
            ),
            "differs": tables.text("Beyond chance", 95, by_chance),
            "rows_train": tables.number("Training rows", 90, "localized", "Training rows that have it."),
            "rows_test": tables.number("Test rows", 70, "localized", "Test rows that have it."),
        },
        signs={"difference": "{:+.3f}"},
        most=250,
    )
    st.caption(f"{format.showing(len(shown), len(tested), f'compared {noun}')}, largest difference first.")
    about = f"Every {noun} that occurs, with its means and the test"
    file = f"{name}-{noun}-differences"
    charts.csv_button(f"All {noun}s, CSV", lambda: named(frame), file, about, key=f"alike.{noun}.csv")
