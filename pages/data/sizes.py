"""How large the data set is: numbers per row and per label, and all of its statistics as a file."""

import pandas as pd
import streamlit as st

from pages.shared import server, tables
from pages.shared.figures import charts
from xmlcore import figures

# Columns of numbers by their names in the description: title, and help.
SPREAD = {
    "median": ("Median", None),
    "min": ("Least", None),
    "max": ("Most", None),
    "q05": ("5\u00a0%", "5\u00a0% of the rows, or labels, have at most this number."),
    "q25": ("25\u00a0%", None),
    "q75": ("75\u00a0%", None),
    "q95": ("95\u00a0%", "95\u00a0% of the rows, or labels, have at most this number."),
}


def show(described, examination, fingerprint, name) -> None:
    """Show the spread of the numbers per row and per label; ``name`` begins the names of files."""
    st.header("How large is it?")
    numbers, summary = described.spread, described.summary
    columns = {"quantity": tables.text("Number of", 125), "part": tables.text("Rows", 70)}
    columns["mean"] = tables.number("Mean", 70, "%.2f")
    for column, (title, help) in SPREAD.items():
        form = "localized" if (numbers[column] % 1 == 0).all() else "%.1f"
        columns[column] = tables.number(title, 70, form, help)
    tables.show(numbers, "sizes.table", columns, most=300)
    once = summary["n_label_sets_once"] / max(summary["n_label_sets"], 1)
    tables.cards(
        [
            ("Label sets", f"{summary['n_label_sets']:,}", "Different sets of labels that rows have."),
            ("Label sets on one row", f"{100 * once:.0f}\u00a0%", "Share of the label sets that occur once."),
            ("Most frequent label set", f"{summary['label_set_max']:,}", "Rows that have it."),
            ("Complexity (TCS)", f"{summary['tcs']:.2f}", "The logarithm of features × labels × label sets."),
        ]
    )
    charts.csv_button(
        "All statistics, CSV",
        lambda: statistics(described, examination),
        f"{name}-statistics",
        "Every number that describes the data set, with the names that describe() and examine() of xmlcore give",
    )
    for box, noun in zip(st.columns(2, gap="medium"), ("label", "feature")):
        with box:
            frame, figure = drawn(fingerprint, noun)
            text = f"Share of the training rows and of the test rows that have so many {noun}s."
            if figure.layout.meta["width"] > 1 or figure.layout.meta["last"] is not None:
                text += " Numbers share a bar; the CSV has each."
            charts.show_figure(figure, frame, f"{name}-{noun}s-per-row", text)


@server.shared()
def drawn(fingerprint, noun):
    """Return the numbers of rows by their number of labels, or of features, and the figure of these."""
    data = server.dataset(fingerprint)
    frame = tables.per_row(data, f"{noun}s")
    return frame, (figures.labels_per_row if noun == "label" else figures.features_per_row)(frame)


def statistics(described, examination) -> pd.DataFrame:
    """Return all numbers that describe a data set: ``statistic``, ``value``; ``examination`` may be None."""
    numbers = described.summary | ({} if examination is None else examination.summary)
    return pd.DataFrame({"statistic": list(numbers), "value": list(numbers.values())})
