"""Problems of the data set: rows that are equal, empty or contradict each other; and how training and test differ."""

import pandas as pd
import streamlit as st

from pages.shared import format, sections, tables
from pages.shared.figures import charts

SHOWN = 200  # most lines of a table
TITLE = "Problems"  # of the section
NAMED = 2  # kinds of problems that are named beside the cards


LEAK = "n_test_seen_in_train"  # makes measures wrong, however few these are
LOOKED_FOR = (  # name of the number in the summaries, that of which it is a part, title, advice
    (LEAK, "test rows", "test rows that occur in training",
            "Measures are too high. “Change or compare data sets”, “Split again”, can leave them out."),
    ("n_rows_other_labels", "rows", "rows with the same features but other labels",
            "No model can be right about all of these rows."),
    ("n_repeated_train", "training rows", "repeated training rows", "They weigh more in training."),
    ("n_repeated_test", "test rows", "repeated test rows", "They weigh more in measures."),
    ("n_rows_without_features_train", "training rows", "training rows without features",
            "They teach a model only how frequent labels are."),
    ("n_rows_without_features_test", "test rows", "test rows without features",
            "A model predicts the same for all of them."),
    ("n_rows_without_labels_train", "training rows", "training rows without labels",
            "PLT and OneVsRest learn that these rows have none; LdSM and DoubleSampling leave them out."),
    ("n_rows_without_labels_test", "test rows", "test rows without labels", "Any prediction is wrong."),
    ("n_labels_never_used", "labels", "unused labels", "They only make the data set look larger."),
    ("n_labels_only_in_test", "labels", "labels in test rows only",
            "No model can predict them. A stratified split puts such labels into training where it can."),
    ("n_features_never_used", "features", "unused features", "Harmless, if the files are complete."),
)  # fmt: skip


def findings(data, described, examination) -> pd.DataFrame:
    """Return a line for each kind of problem: ``key, title, number, share, advice``; the worst kind first."""
    counts = {"training rows": data.n_train, "test rows": data.n_test, "rows": data.n_train + data.n_test}
    counts |= {"labels": data.n_labels, "features": data.n_features}
    summary = described.summary | examination.summary
    lines = [
        (key, title, summary[key], 100 * summary[key] / counts[of], advice) for key, of, title, advice in LOOKED_FOR
    ]
    frame = pd.DataFrame(lines, columns=["key", "title", "number", "share", "advice"])
    return frame.assign(leak=frame["key"] == LEAK).sort_values(["leak", "number"], ascending=False, kind="stable")


def show(data, described, examination, name) -> None:
    """List the problems of the data set, and the rows that are equal; ``name`` begins the names of files."""
    st.header("Problems of the data set")
    found = findings(data, described, examination)
    wrong, fine = found[found["number"] > 0], found[found["number"] == 0]
    if len(wrong):
        columns = {
            "number": tables.number("Number", 70, "localized"),
            "share": tables.number("Share, %", 80, tables.percent_format(wrong["share"])),
            "title": tables.text("Problem", 290),
            "advice": tables.text("Meaning", 560),
        }
        tables.show(wrong, "problems.found", columns)
    if len(fine):
        st.caption(f"Looked for and not found: {', '.join(fine['title'])}.")
    if not examination.duplicates.empty:
        _rows(data, examination.duplicates, name)


def in_short(data, described, examination) -> None:
    found = findings(data, described, examination)
    wrong = found[found["number"] > 0]
    if wrong.empty:
        st.markdown("No problems were seen in it.")
        return
    named = [f"{title} ({number:,})" for title, number in wrong[["title", "number"]].head(NAMED).to_numpy()]
    named += [f"{len(wrong) - NAMED} more"] if len(wrong) > NAMED else []
    icon = ":orange[:material/warning:] " if LEAK in set(wrong["key"]) else ""
    st.markdown(f"{icon}**Problems:** {format.listed(named)}.")
    st.button("See all problems", type="tertiary", icon=":material/arrow_downward:", key="data.problems",
              on_click=sections.go_to, args=("data", TITLE))  # fmt: skip


def _rows(data, duplicates, name):
    st.markdown("**Rows with equal features**")
    shown = duplicates.head(SHOWN)
    lines = [tables.rows(data, part, [row]) for part, row in zip(shown["part"], shown["row"])]
    frame = pd.concat(lines, ignore_index=True).assign(part=shown["part"].to_numpy())
    columns = tables.OF_ROWS | {"group": tables.number("Group", 65, "%d", "Rows of a group are equal.")}
    frame = frame.assign(group=shown["group"].to_numpy() + 1)
    tables.show(frame, "problems.rows", columns, first=("group", "part", "row", "name", "labels"))
    st.caption(f"{format.showing(len(shown), len(duplicates), 'row')}, largest group first.")
    charts.csv_button("Equal rows, CSV", duplicates, f"{name}-equal-rows")


def show_differences(data, described, examination, name) -> None:
    """Say how alike training and test rows are, and show what differs; ``name`` begins the names of files."""
    st.header("How alike are training and test rows?")
    summary = described.summary | examination.summary
    compared = "with enough rows that differ significantly between training and test rows."
    tables.cards(
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
    by_chance = "The false discovery rate is 5\u00a0% (Benjamini-Hochberg 1995)."
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
    )
    st.caption(f"{format.showing(len(shown), len(tested), f'compared {noun}')}, largest difference first.")
    charts.csv_button(f"All {noun}s, CSV", lambda: named(frame), f"{name}-{noun}-differences")
