"""Labels one by one, pairs of a missed and a wrong label, groups of rows and single ones: how each is predicted."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import addresses, cached, fields, format, selectors, tables
from pages.shared.figures import charts
from pages.shared.results import predictions, results
from pages.shared.rows import row_text
from pages.shared.view import look, now
from xmlcore import figures, metrics, review

LISTED = 1000  # most labels in a table
LISTED_PAIRS = 200  # most pairs of a missed and a wrong label in a table
LISTED_ROWS = 200  # most rows of a label in a table, with the names of all their labels
SWAPS = (
    "Wrong labels in the place of missed ones. Where a row misses m labels and has w wrong ones, each of m × w pairs "
    "counts as 1 / max(m, w): no label of a row counts more than once."
)
FEWEST = 40  # test rows of which groups are made
POINTS = "Points of P@1 more or less than in all other test rows"
MORE_OR_LESS = ("difference", "low", "high")
GROUPS = {
    "name": tables.text("Group", 200, pinned=True),
    "rows": tables.number("Rows", 65, "localized"),
    "P@1": tables.bar("P@1, %", 130),
    "difference": tables.number("Difference", 90, help=f"{POINTS}."),
    **{end: tables.number(end.capitalize(), 65, help=f"{POINTS}: 95\u00a0% interval.") for end in MORE_OR_LESS[1:]},
}
HOW = {"found": "found", "missed": "missed", "wrong": "wrongly predicted"}


def show(ready) -> None:
    data, run, key = ready.data, ready.run, ready.key
    ks = results.ks(data.n_labels)
    k = fields.radio("Labels predicted", ks, "train.labels.k", ks[-1])
    every = every_label(key, k)
    st.markdown(
        sentence(every, k),
        help="F1 combines precision (how many predictions are right) and recall (how many true labels are predicted). "
        "Micro: over all pairs of a row and a label. Macro: the mean of the F1 of the labels with a test row, so a "
        "rare label counts as much as a frequent one. The F1 of means of the Sampling page is another measure.",
    )
    label = _table(data, every, key, k)
    charts.csv_button("All labels, CSV", every, f"{ready.files}-labels-at-{k}-all")
    if label is not None:
        _rows_of_label(data, run, key, k, label)


def sentence(every, k) -> str:
    tested, (micro, macro) = every[every["rows"] > 0], map(format.percent, metrics.f1_of_labels(every))
    return (
        f"**{(tested['right'] == 0).sum():,} of {format.count(len(tested), 'label')} with a test row** are never "
        f"predicted correctly among {k}. Micro F1 is **{micro}**, macro F1 **{macro}**."
    )


@cached.shared()
def every_label(key, k):
    run = cached.run(key)
    labels = cached.description(run.fingerprint).labels[["label", "name", "n_train", "bucket"]]
    frame = metrics.by_label(cached.dataset(run.fingerprint).Y_test, run.ranking, k)
    frame = frame.assign(missed=frame["rows"] - frame["right"], wrong=frame["predicted"] - frame["right"])
    return labels.merge(frame, on="label").sort_values("n_train", ascending=False, kind="stable", ignore_index=True)


def _query(data, key, place=st) -> str:
    about = {"placeholder": "part of a name; empty: all", "place": place}
    return fields.text("Find labels by name or id", selectors.query_key(key, data), **about).strip()


def _table(data, every, key, k):
    query = _query(data, "train.labels.query")
    matching = tables.find_labels(every, query)
    listed, table_key = matching.head(LISTED), f"train.labels.{key[:8]}.{k}.{query}"
    ticked = np.flatnonzero(listed["label"].to_numpy() == now().ticked).tolist()

    if matching.empty:
        st.info(f"No label has “{format.plain(query)}” in its name. Try a shorter part of a name.")
        return None
    tables.show(
        listed.assign(**{column: 100 * listed[column] for column in ("precision", "recall", "f1")}),
        table_key,
        {
            "name": tables.text("Label", 185, pinned=True),
            "f1": tables.bar("F1, %", 130),
            "rows": tables.number("Test rows", 70, "localized", "Test rows with the label: its support."),
            "n_train": tables.number("Training rows", 92, "localized", "Training rows with the label."),
            "precision": tables.number("Precision, %", 88, "%.1f", "Found / (found + wrong)."),
            "recall": tables.number("Recall, %", 78, "%.1f", "Found / test rows."),
            "right": tables.number("Found", 62, "localized", "Test rows for which it is right."),
            "missed": tables.number("Missed", 66, "localized", "Test rows with the label, not predicted."),
            "wrong": tables.number("Wrong", 64, "localized", "Test rows for which it is wrongly predicted."),
            "bucket": tables.text("Bucket", 58),
        },
        most=420,
        **tables.on_tick(table_key, listed["label"], lambda label: look(ticked=label), untick=True),
        **tables.ticked(ticked),
    )
    tables.counted(len(listed), len(matching), "label", "most frequent in training first. Tick one to see its rows.")
    return int(listed["label"].iloc[ticked[0]]) if ticked else None


def rows_of_label(data, ranking, label: int, k: int) -> pd.DataFrame:
    """Return the test rows with a label or a prediction of it: ``row``, ``how`` (a key of HOW), ``rank``, ``score``."""
    places = ranking.labels[:, :k] == label
    predicted, rank = places.any(axis=1), places.argmax(axis=1)
    true = np.zeros(data.n_test, dtype=bool)
    entries = np.flatnonzero(data.Y_test.indices == label)
    true[np.searchsorted(data.Y_test.indptr, entries, side="right") - 1] = True
    row = np.flatnonzero(true | predicted)
    is_true, is_predicted = true[row], predicted[row]
    how = np.where(is_true & is_predicted, "found", np.where(is_true, "missed", "wrong"))
    score = predictions.known_scores(ranking)[row, rank[row]].astype(np.float64)
    frame = pd.DataFrame({"row": row, "how": how, "rank": 1.0 + rank[row], "score": score})
    frame.loc[~is_predicted, ["rank", "score"]] = np.nan
    order = pd.Categorical(frame["how"], ["missed", "wrong", "found"], ordered=True)
    frame = frame.assign(order=order).sort_values(["order", "score"], ascending=[True, False], kind="stable")
    return frame.drop(columns="order").reset_index(drop=True)


def _rows_of_label(data, run, key, k, label):
    frame = rows_of_label(data, run.ranking, label, k)
    st.subheader(f"Rows of {format.plain(data.label_name(label))}")
    if frame.empty:
        st.caption("No test row has this label, and it is predicted for none.")
        return
    table_key = f"train.labels.rows.{key[:8]}.{k}.{label}"
    n_listed = list_rows(data, run, frame.assign(how=frame["how"].map(HOW)), table_key, label)
    counts = frame["how"].value_counts()
    counted = ", ".join(f"{counts.get(how, 0):,} {text}" for how, text in HOW.items())
    st.caption(f"{format.showing(n_listed, len(frame), 'row')}: {counted}. Tick one to look at it, also on Explain.")
    if run.has_model and st.session_state[table_key]["selection"]["rows"]:
        addresses.link("Explain", "Explain this row and label")


def list_rows(data, run, frame, key, label=None, other=None) -> int:
    """Show the first rows of a table, and return how many; a row that is ticked is selected, with its labels."""
    listed = frame.head(LISTED_ROWS)
    score = predictions.scores(run, listed["score"])
    tables.show(
        listed.assign(score=score).merge(tables.rows(data, "test", listed["row"]), on="row"),
        key,
        tables.OF_ROWS
        | {
            "how": tables.text("The label is", 120),
            "first": tables.text("First label predicted", 160),
            "rank": tables.number("Rank", 55, "%d"),
            "score": tables.number(**predictions.score_column(run, score), width=70),
            "labels": tables.text("True labels", 320),
        },
        first=("text", "name", "row", "how", "first", "rank", "score", "labels"),
        most=300,
        **tables.on_tick(key, listed["row"], lambda row: look(row=row, label=label, other=other)),
    )
    return len(listed)


def confusions(ready) -> None:
    data, run, key = ready.data, ready.run, ready.key
    left, right = st.columns(2, gap="large")
    ks = {0: f"as many as are true, at most {run.ranking.labels.shape[1]}"}
    ks |= {k: f"{k}" for k in results.ks(data.n_labels)}
    k = fields.radio("Labels predicted", ks, "train.confusions.k", place=left)
    query = _query(data, "train.confusions.query", right)
    found = confused(key, k, query)
    if found.pairs.empty:
        st.info("No test row has both a missed and a wrong label" + (" of these names." if query else "."))
        return
    pairs = found.pairs

    def choose(line):
        pair = pairs.iloc[line]
        look(row=pair["row"], label=pair["wrong"], other=pair["missed"])

    left, right = st.columns([5, 6], gap="medium")
    with left:
        charts.show_figure(
            figures.confusions(pairs, total=found.n_pairs),
            pairs,
            f"{ready.files}-confusions-{k or 'true'}",
            "A square: the label on its left is missed, and the label below it is wrongly predicted. Number and colour "
            "are its swaps: test rows, those with many mistakes counted in part. Click a square to see them.",
            counted="pairs",
            key=f"train.confusions.{key[:8]}.{k}.{query}",
            on_click=choose,
        )
    with right:
        _pairs(pairs, found, f"train.confusions.table.{key[:8]}.{k}.{query}", choose)
    missed, wrong = now().other, now().label
    if missed is not None and wrong is not None:
        _rows_of_pair(data, run, k, missed, wrong, f"train.confusions.rows.{key[:8]}.{k}.{missed}.{wrong}")


@cached.shared("Counting confusions")
def confused(key, k, query):
    run, labels_asked = cached.run(key), None
    data = cached.dataset(run.fingerprint)
    if query:
        labels_asked = tables.find_labels(cached.label_names(run.fingerprint), query)["label"]
    found = metrics.confusions(data.Y_test, run.ranking, k or None, n=LISTED_PAIRS, labels=labels_asked)
    names = {f"{side}_name": tables.label_names(data, found.pairs[side]) for side in ("missed", "wrong")}
    return found._replace(pairs=found.pairs.assign(**names, share=100 * found.pairs["rows"] / found.pairs["n_missed"]))


def _pairs(pairs, confusions, key, choose) -> None:
    chosen = ((pairs["missed"] == now().other) & (pairs["wrong"] == now().label)).to_numpy().nonzero()[0].tolist()
    tables.show(
        pairs,
        key,
        {
            "missed_name": tables.text("Missed"),
            "wrong_name": tables.text("Predicted instead"),
            "swaps": tables.number("Swaps", 60, "%.1f", SWAPS),
            "rows": tables.number("Rows", 55, "localized", "Test rows with both mistakes."),
            "share": tables.number("Share, %", 72, "%.0f", "Of the test rows that miss the label."),
        },
        height=420,
        **tables.on_tick(key, range(len(pairs)), choose),
        **tables.ticked(chosen),
    )
    of = f"most swaps first, with {100 * pairs['swaps'].sum() / confusions.n_swaps:.0f}\u00a0% of the swaps"
    tables.counted(len(pairs), confusions.n_pairs, "pair", f"{of}. Tick one to see its rows.")


def _rows_of_pair(data, run, k, missed, wrong, key) -> None:
    rows = metrics.confused_rows(data.Y_test, run.ranking, missed, wrong, k or None)
    if rows.size == 0:
        return
    names = [format.plain(data.label_name(j)) for j in (missed, wrong)]
    st.subheader(f"Rows that miss {names[0]} and have {names[1]}")
    of_label = rows_of_label(data, run.ranking, wrong, k or run.ranking.labels.shape[1]).set_index("row")
    frame = of_label.loc[rows, ["rank", "score"]].reset_index()
    shown = list_rows(data, run, frame, key, wrong, missed)
    after = f"those with few other mistakes first. Rank and score are those of {names[1]}."
    tables.counted(shown, len(rows), "row", after)
    if run.has_model:
        addresses.link("Explain", f"Why {names[1]} and not {names[0]}", section="Another label")


def groups(ready) -> None:
    found, key = weak(ready.key), f"train.groups.{ready.key[:8]}"
    chosen = [now().group] if now().group in found.index else []
    bold, signs = found[["significant"]].set_axis(["difference"], axis=1), dict.fromkeys(MORE_OR_LESS, "{:+.1f}")
    ticks = tables.on_tick(key, found.index, lambda line: look(group=line), untick=True) | tables.ticked(chosen)
    tables.show(found, key, GROUPS, signs=signs, best=bold, most=420, **ticks)
    n_weak = (found["significant"] & (found["difference"] < 0)).sum()
    weaker = f"{n_weak:,} of {format.count(len(found), 'group')} are significantly weaker than the other rows"
    st.caption(f"{weaker} (bold: significant, 5\u00a0% false discoveries). Tick one to see its rows.")
    for line in chosen:
        _rows_of_group(ready, found.loc[line], f"{key}.{line}")


@cached.shared("Comparing groups of rows")
def weak(key):
    run = cached.run(key)
    found = review.slices(cached.dataset(run.fingerprint), run.ranking)
    return found.rename(columns={"group": "name"}).assign(**100 * found[["P@1", *MORE_OR_LESS]])


def _rows_of_group(ready, group, key) -> None:
    """List the rows of a group, those with a wrong first label first."""
    data, run, row = ready.data, ready.run, group["members"]
    right, score = metrics.hits(data.Y_test, run.ranking)[row, 0], predictions.known_scores(run.ranking)[row, 0]
    frame = pd.DataFrame({"row": row, "right": right, "score": score.astype(np.float64)})
    frame = frame.sort_values(["right", "score"], ascending=[True, False], kind="stable").head(LISTED_ROWS)
    first = [data.label_name(j) if j >= 0 else "" for j in run.ranking.labels[frame["row"], 0].tolist()]
    st.subheader(f"Rows of “{format.plain(group['name'])}”")
    n_listed = list_rows(data, run, frame.assign(first=first), key)
    wrong = f"{(~right).sum():,} with a wrong first label, these first"
    st.caption(f"{format.showing(n_listed, len(row), 'row')}: {wrong}. Tick one to explain it.")
    addresses.to_map(ready.fingerprint, group["name"], data.n_train + row, f"{key}.map")
    if run.has_model and st.session_state[key]["selection"]["rows"]:
        addresses.link("Explain", "Explain this row")


def row(ready) -> None:
    data, run = ready.data, ready.run
    chosen = selectors.choose_test_row(data, run, "train.row")
    left, right = st.columns([3, 2], gap="large")
    with left:
        row_text.show(data, "test", chosen)
        predictions.show(data, run, chosen, results.K, key="train.predicted")
        if predictions.meaning(run):
            st.caption(predictions.meaning(run))
        if run.has_model:
            addresses.link("Explain", "Explain this row")
    with right:
        none = ": every such row gets the same prediction"
        tables.show_features(tables.features(data, data.X_test, chosen), "train.features", 260, none)
    every = lambda: predictions.all_rows(data, run.ranking, results.K)  # noqa: E731
    charts.csv_button("All predictions, CSV", every, f"{ready.files}-predictions", "With true labels that are missed")
