"""What is wrong with the data set: rows that occur twice, contradict each other or are empty, and unused columns."""

import pandas as pd
import streamlit as st

from pages.shared import format, sections, tables
from pages.shared.figures import charts

SHOWN = 200  # most rows in the table
TITLE = "Problems"  # of the section
NAMED = 2  # kinds of problems that are named beside the cards
# Key of the number, what it is a part of, noun, what it is called when there are none, what one and many do, advice.
LOOKED_FOR = (
    (
        "n_test_seen_in_train", "test rows", "test row", "test rows that occur in training",
        "has the same features as a training row|have the same features as a training row",
        "A model that only remembers training rows does well on these, so measures are too high. “Change or "
        "compare data sets”, “Split again”, can leave them out.",
    ),
    (
        "n_rows_other_labels", "rows", "row", "rows with the same features but other labels",
        "has the same features as a row with other labels|have the same features as rows with other labels",
        "No model can be right about all of these rows.",
    ),
    (
        "n_repeated_train", "training rows", "training row", "repeated training rows",
        "repeats an earlier one|repeat earlier ones", "Repeated rows weigh more than others in training.",
    ),
    (
        "n_repeated_test", "test rows", "test row", "repeated test rows",
        "repeats an earlier one|repeat earlier ones", "Repeated rows weigh more than others in measures.",
    ),
    (
        "n_rows_without_features_train", "training rows", "training row", "training rows without features",
        "has no features|have no features", "Such rows teach a model only how frequent labels are.",
    ),
    (
        "n_rows_without_features_test", "test rows", "test row", "test rows without features",
        "has no features|have no features", "A model predicts the same for all such rows.",
    ),
    (
        "n_rows_without_labels_train", "training rows", "training row", "training rows without labels",
        "has no labels|have no labels",
        "Check whether their labels are unknown: PLT and OneVsRest learn that these rows have none, LdSM and "
        "DoubleSampling leave them out.",
    ),
    (
        "n_rows_without_labels_test", "test rows", "test row", "test rows without labels",
        "has no labels|have no labels", "Every prediction for such a row counts as wrong.",
    ),
    (
        "n_labels_never_used", "labels", "label", "unused labels", "is on no row|are on no row",
        "Unused labels only make the data set look larger.",
    ),
    (
        "n_labels_only_in_test", "labels", "label", "labels in test rows only",
        "is on test rows only|are on test rows only",
        "No model can predict what it has never seen. A stratified split puts such labels into training where it can.",
    ),
    (
        "n_features_never_used", "features", "feature", "unused features", "is in no row|are in no row",
        "Harmless, if the files are complete.",
    ),
)  # fmt: skip


def show(data, described, examination, name) -> None:
    """List what is wrong with the data set, and the rows that are equal; ``name`` begins the names of files."""
    st.header("What is wrong with it?")
    if examination is None:
        return
    problems, fine = findings(data, described.summary | examination.summary)
    if problems:
        st.markdown("\n".join(f"- {line}" for line in problems))
    if fine:
        st.caption(f"{'' if problems else 'Nothing is wrong here. '}Looked for and not found: {'; '.join(fine)}.")
    if not examination.duplicates.empty:
        _rows(data, examination.duplicates, name)


def in_short(described, examination) -> None:
    """Say how many rows, labels and features are wrong in which way, with a button that opens the section."""
    if examination is None:
        return
    summary = described.summary | examination.summary
    numbers = {absent: summary[key] for key, _, _, absent, _, _ in LOOKED_FOR if summary[key]}
    first = LOOKED_FOR[0][3]  # makes measures wrong, however few these are
    named = sorted(numbers, key=lambda absent: (absent != first, -numbers[absent]))
    named = [f"{absent} ({numbers[absent]:,})" for absent in named[:NAMED]]
    if len(numbers) > NAMED:
        named.append(f"{len(numbers) - NAMED} more")
    if not named:
        st.markdown("No problems were seen in it.")
        return
    icon = ":orange[:material/warning:] " if summary["n_test_seen_in_train"] else ""
    st.markdown(f"{icon}**Problems:** {format.listed(named)}.")
    st.button("See all problems", type="tertiary", icon=":material/arrow_downward:", key="data.problems",
              on_click=sections.turn_to, args=("data", TITLE))  # fmt: skip


def findings(data, summary) -> tuple[list[str], list[str]]:
    """Return sentences about what is wrong, and the names of what was looked for and not found."""
    counts = {"training rows": data.n_train, "test rows": data.n_test, "rows": data.n_train + data.n_test}
    counts |= {"labels": data.n_labels, "features": data.n_features}
    problems, fine = [], []
    for key, of, noun, absent, finding, advice in LOOKED_FOR:
        number = summary[key]
        if not number:
            fine.append(absent)
            continue
        finding = finding.split("|")[number != 1]
        if key == "n_test_seen_in_train":
            finding += f", and {summary['n_test_same_labels']:,} of {'it' if number == 1 else 'them'} also its labels"
        problems.append(f"**{format.count(number, noun)}** ({format.rough(number / counts[of])}) {finding}. {advice}")
    return problems, fine


def _rows(data, duplicates, name):
    st.markdown("**Rows with equal features**")
    shown = duplicates.head(SHOWN)
    lines = [tables.rows(data, part, [row]) for part, row in zip(shown["part"], shown["row"])]
    frame = pd.concat(lines, ignore_index=True).assign(part=shown["part"].to_numpy())
    tables.show(
        frame.assign(group=shown["group"].to_numpy() + 1),
        "problems.rows",
        {
            "group": tables.number("Group", 65, "%d", "Rows of a group are equal."),
            "part": tables.text("Part", 75),
            "row": tables.number("Row", 70, "%d"),
            "name": tables.text("Name", 450),
            "labels": tables.text("Labels", 290),
        },
        most=250,
    )
    groups = int(duplicates["group"].max()) + 1
    st.caption(
        f"Showing {len(shown):,} of {len(duplicates):,} rows in {format.count(groups, 'group')} of equal rows, largest "
        "group first."
    )
    charts.csv_button(
        "Equal rows, CSV", lambda: duplicates, f"{name}-equal-rows", "Every row that is equal to another, by group"
    )
