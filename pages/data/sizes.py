"""How large the data set is: numbers per row and per label, and all of its statistics as a file."""

import pandas as pd
import streamlit as st

from pages.shared import server, tables
from pages.shared.figures import charts
from xmlcore import figures


def show(described, examination, fingerprint, name) -> None:
    """Show the spread of the numbers per row and per label; ``name`` begins the names of files."""
    st.header("How large is it?")
    numbers = described.spread[["quantity", "part", "mean", "median", "min", "q05", "q25", "q75", "q95", "max"]]

    def number(column, title, help=None):
        """Return the settings of a column of whole numbers, or with a decimal for all if one of them has some."""
        is_whole = bool((numbers[column] % 1 == 0).all())
        return st.column_config.NumberColumn(title, format="localized" if is_whole else "%.1f", width=70, help=help)

    tables.show(
        numbers,
        "sizes.table",
        {
            "quantity": tables.text("Number of", 125),
            "part": tables.text("Rows", 70),
            "mean": tables.number("Mean", 70, "%.2f"),
            "median": number("median", "Median"),
            "min": number("min", "Least"),
            "max": number("max", "Most"),
            "q05": number("q05", "5\u00a0%", "5\u00a0% of the rows, or labels, have at most this number."),
            "q25": number("q25", "25\u00a0%"),
            "q75": number("q75", "75\u00a0%"),
            "q95": number("q95", "95\u00a0%", "95\u00a0% of the rows, or labels, have at most this number."),
        },
        most=300,
    )
    summary = described.summary
    once = summary["n_label_sets_once"] / max(summary["n_label_sets"], 1)
    st.caption(
        f"The rows have {summary['n_label_sets']:,} different sets of labels; {100 * once:.0f}\u00a0% of these occur "
        f"once, the most frequent one {summary['label_set_max']:,} times. Complexity (TCS) is {summary['tcs']:.2f}: "
        "the logarithm of features × labels × label sets."
    )
    charts.csv_button(
        "All statistics, CSV",
        lambda: statistics(described, examination),
        f"{name}-statistics",
        "Every number that describes the data set, with the names that describe() and examine() of xmlcore give",
    )
    left, right = st.columns(2, gap="medium")
    for box, noun in ((left, "label"), (right, "feature")):
        with box:
            frame, figure = drawn(fingerprint, noun)
            charts.show_figure(
                figure,
                frame,
                f"{name}-{noun}s-per-row",
                f"Each pair of bars is the share of the training rows and of the test rows with the number of {noun}s "
                f"that stands below it{_in_groups(figure.layout.meta)}. Similar heights mean that training and test "
                f"rows have similar {noun} counts.",
            )


@server.shared()
def drawn(fingerprint, noun):
    """Return the numbers of rows by their number of labels, or of features, and the figure of these."""
    data = server.dataset(fingerprint)
    frame = tables.per_row(data, f"{noun}s")
    return frame, (figures.labels_per_row if noun == "label" else figures.features_per_row)(frame)


def _in_groups(meta):
    """Return the part of a caption that says which numbers of labels share a bar; empty when none do."""
    if meta["width"] == 1 and meta["last"] is None:
        return ""
    text = f", in groups of {meta['width']:,}" if meta["width"] > 1 else ""
    if meta["last"] is not None:
        text += f"; the last pair is for {meta['last']:,} or more"
    return f"{text}. The CSV has each number"


def statistics(described, examination) -> pd.DataFrame:
    """Return all numbers that describe a data set: ``statistic``, ``value``; ``examination`` may be None."""
    numbers = dict(described.summary)
    if examination is not None:
        numbers |= examination.summary
        numbers |= {f"power_law_{field}": value for field, value in examination.power_law._asdict().items()}
    return pd.DataFrame({"statistic": list(numbers), "value": list(numbers.values())})
