"""Two results on one data set: is the difference real, for which labels is one better, in which rows do they differ?"""

import streamlit as st

from pages.compare import of_runs
from pages.shared import addresses, cached, fields, format, fragments, selectors, tables
from pages.shared.figures import charts
from pages.shared.results import predictions
from pages.shared.rows import row_text
from xmlcore import metrics, review
from xmlcore.experiment import side_by_side

LISTED = 1000  # most labels and rows in a table
P = (
    "p-value of a permutation test, with Holm's correction for all tests of the results side by side: if all results "
    "were equally good, the probability that any difference is so large."
)
INTERVAL = f"95\u00a0% interval of the difference, by drawing the test rows again {metrics.RESAMPLES:,} times."
SIGN = "Second − first"  # heads all differences; the sentence and the files have the same sign


def show(keys, names, choice, file_name) -> None:
    titles = {key: names[key] for key in keys}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        of = f"{hash(tuple(keys)) & 0xFFFFFF:x}"  # of other results, the best two are compared first
        a = fields.choice("First", titles, f"compare.pair.a {of}", width=440)
        others = {key: title for key, title in titles.items() if key != a}
        b = fields.choice("Second", others, f"compare.pair.b {of}", width=440)
    frame = of_runs.named(of_runs.tests([a, *(key for key in keys if key != a)], of_runs.tested(choice)), names)
    tested = frame[frame["run"] == names[b]]
    st.markdown(_difference(tested.iloc[0], *(format.bold(names[key]) for key in (a, b))))
    st.caption(f"{side_by_side.how_tested(frame)} *Lines and columns* adds measures.")
    _measures(tested, a, b, names)
    told = frame.drop(columns="model").rename(
        columns={"run": "second", "value": "value_second", "first": "value_first"}
    )
    told.insert(0, "first", names[a])
    charts.csv_button("Tests, CSV", told, f"{file_name}-tests-{a[:6]}")
    fragments.alone(_details)(a, b, names, file_name)


def _difference(test, a: str, b: str) -> str:
    """Return by how much the second result is better or worse than the first in the first measure."""
    if not test["p_holm"] >= 0:
        return f"{test['measure']} of {a} and {b} cannot be compared: it is not defined here."
    points, where = 100 * abs(test["difference"]), "above" if test["difference"] > 0 else "below"
    significant = f"{'' if test['sure'] else 'not '}significant, {format.p_value(test['p_holm'])}"
    return f"In {test['measure']}, {b} is {points:.1f} points {where} {a} ({significant})."


def _measures(frame, a, b, names) -> None:
    one, other = of_runs.heads([names[a], names[b]]).values()
    percents = ["first", "value", "difference", "low", "high"]
    tables.show(
        frame[["measure", *percents, "p_holm"]].assign(**100 * frame[percents]),
        "compare.pair.measures",
        {
            "measure": tables.text("%", 130, pinned=True),
            "first": tables.number(one, None, "%.2f", names[a]),
            "value": tables.number(other, None, "%.2f", names[b]),
            "difference": tables.number(SIGN, 110),
            "low": tables.number("From", 75, help=INTERVAL),
            "high": tables.number("To", 75, help=INTERVAL),
            "p_holm": tables.number("p", 75, "%.3f", P),
        },
        signs={name: "{:+.2f}" for name in ("difference", "low", "high")},
    )


def _details(a, b, names, file_name) -> None:
    ks = of_runs.ks(a)
    _groups(a, b, names, file_name)
    k = fields.radio("Labels predicted for a row, in the tables below", ks, "compare.pair.k", ks[-1])
    heads = of_runs.heads([names[a], names[b]]).values()
    _labels_compared(a, b, k, names, heads, file_name)
    _rows(a, b, k, names, heads, file_name)


def _groups(a, b, names, file_name) -> None:
    st.subheader("Groups of rows for which one is better")
    frame, (one, other) = _better_where(a, b), of_runs.heads([names[a], names[b]]).values()
    if frame.empty:
        st.caption("There are too few test rows for groups.")
        return
    columns = {
        "group": tables.text("Group", 200, pinned=True), "rows": tables.number("Rows", 65, "localized"),
        "P@1_other": tables.number(one, None, "%.1f", f"P@1 of {names[a]}, %."),
        "P@1": tables.number(other, None, "%.1f", f"P@1 of {names[b]}, %."),
        "difference": tables.number(SIGN, 110, help="In points."),
        "low": tables.number("From", 75, help="95\u00a0% interval."),
        "high": tables.number("To", 75, help="95\u00a0% interval."),
    }  # fmt: skip
    signs, bold = dict.fromkeys(("difference", "low", "high"), "{:+.1f}"), frame[["significant"]]
    key = f"compare.groups.{a[:6]}.{b[:6]}"
    ticks = {"on_select": "rerun", "selection_mode": "single-row"}
    event = tables.show(frame, key, columns, signs=signs, best=bold.set_axis(["difference"], axis=1), most=320, **ticks)
    n = bold["significant"].sum()
    st.caption(f"Bold: significant, with 5\u00a0% false discoveries; {n:,} of {format.count(len(frame), 'group')}.")
    for line in [line for line in event.selection.rows if line < len(frame)]:
        group, data = frame.iloc[line], cached.dataset(cached.run(a).fingerprint)
        addresses.to_map(data.fingerprint, group["group"], data.n_train + group["members"], f"{key}.map")
    charts.csv_button("All groups, CSV", frame.drop(columns="members"), f"{file_name}-groups-{a[:6]}-{b[:6]}")


@cached.shared("Comparing groups of rows")
def _better_where(a, b):
    first, second = cached.run(a), cached.run(b)
    frame = review.slices(cached.dataset(first.fingerprint), second.ranking, against=first.ranking)
    return frame.assign(**100 * frame[["P@1", "P@1_other", "difference", "low", "high"]])


def _labels_compared(a, b, k, names, heads, file_name) -> None:
    st.subheader("Labels for which one has the better F1")
    every = of_runs.compared("labels_compared", (a, b), k)
    wins = side_by_side.wins_by_bucket(every)
    first, second, one, other = names[a], names[b], *heads
    tables.show(
        wins,
        "compare.wins",
        {
            "bucket": tables.text("Labels", 70),
            "a": tables.number(one, None, "localized", f"Labels for which {first} is better."),
            "equal": tables.number("Equal", None, "localized"),
            "b": tables.number(other, None, "localized", f"Labels for which {second} is better."),
        },
    )
    query = st.text_input(
        "Find labels by name or id", key="compare.labels.query", placeholder="part of a name; empty: all"
    )
    matching = tables.find_labels(every, query)
    drawn = matching.head(LISTED)
    drawn = drawn.assign(**100 * drawn[["f1_a", "f1_b", "difference"]])
    tables.show(
        drawn,
        f"compare.labels.{a[:6]}.{b[:6]}.{k}",
        {
            "name": tables.text("Label", 180, pinned=True),
            "rows": tables.number("Test rows", 80, "localized", "Test rows with the label."),
            "difference": tables.number(SIGN, 110, help="Of F1, in points."),
            "f1_a": tables.number(f"{one}, F1 %", None, "%.1f", f"F1 of {first}."),
            "f1_b": tables.number(f"{other}, F1 %", None, "%.1f", f"F1 of {second}."),
            "right_a": tables.number(f"{one} finds", None, "localized", f"Test rows for which {first} is right."),
            "right_b": tables.number(f"{other} finds", None, "localized", f"Test rows for which {second} is right."),
            "n_train": tables.number("Training rows", 105, "localized"),
            "bucket": tables.text("Bucket", 65),
        },
        signs={"difference": "{:+.1f}"},
    )
    tables.counted(len(drawn), len(matching), "label", "largest differences times test rows first.")
    charts.csv_button("All labels, CSV", every, f"{file_name}-labels-{a[:6]}-{b[:6]}-at-{k}")


def _rows(a, b, k, names, heads, file_name) -> None:
    st.subheader("Rows for which one is better")
    frame = of_runs.compared("rows_compared", (a, b), k)
    first_run, other = cached.run(a), cached.run(b)
    data = cached.dataset(first_run.fingerprint)
    first, second, one, two = names[a], names[b], *heads
    better = int((frame["difference"] < 0).sum())
    st.markdown(
        f"{format.bold(first)} finds more right labels in **{better:,}** test rows, {format.bold(second)} in "
        f"**{len(frame) - better:,}**, of {data.n_test:,}."
    )
    if frame.empty:
        return
    listed = frame.head(LISTED)
    drawn = listed.merge(tables.rows(data, "test", listed["row"]), on="row")
    for name, run in (("first", first_run), ("second", other)):
        drawn[name] = [_predicted(data, run.ranking, row, k) for row in listed["row"]]
    columns = tables.OF_ROWS | {
        "labels": tables.text("True labels", 220),
        "first": tables.text(f"{one} predicts", 220, f"Labels that {first} predicts; ✓ marks right ones."),
        "second": tables.text(f"{two} predicts", 220, f"Labels that {second} predicts; ✓ marks right ones."),
        "right_a": tables.number(f"{one}, right", None, "%d", f"Right labels of {first}."),
        "right_b": tables.number(f"{two}, right", None, "%d", f"Right labels of {second}."),
    }
    event = tables.show(
        drawn,
        f"compare.rows.{a[:6]}.{b[:6]}.{k}",
        columns,
        first=("text" if "text" in drawn else "name", "row", "labels", "first", "second"),
        on_select="rerun",
        selection_mode="single-row",
    )
    tables.counted(len(listed), len(frame), "row", "largest differences first. Tick one to see both predictions of it.")
    ticked = [line for line in event.selection.rows if line < len(listed)]
    if ticked:
        _one_row(data, {first: first_run, second: other}, int(listed["row"].iloc[ticked[0]]), k)
    charts.csv_button("Rows compared, CSV", frame, f"{file_name}-rows-{a[:6]}-{b[:6]}-at-{k}")


def _one_row(data, runs, row, k) -> None:
    st.markdown(f"**{selectors.test_row_name(data, row)}**")
    row_text.show(data, "test", row)
    for number, (column, (title, run)) in enumerate(zip(st.columns(2, gap="medium"), runs.items())):
        with column:
            st.markdown(format.bold(title))
            predictions.show(data, run, row, k, key=f"compare.row.{number}")
    tables.show_features(tables.features(data, data.X_test, row), "compare.row.features")


def _predicted(data, ranking, row, k) -> tuple[str, ...]:
    true = set(tables.ids(data.Y_test, row).tolist())
    labels = [int(label) for label in ranking.labels[row, :k] if label >= 0]
    return tuple(f"✓\u00a0{data.label_name(j)}" if j in true else data.label_name(j) for j in labels)
