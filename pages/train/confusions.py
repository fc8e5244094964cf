"""Confusions: which wrong labels are predicted where true ones are missed."""

import streamlit as st

from pages.shared import addresses, fields, format, selectors, server, tables
from pages.shared.figures import charts
from pages.shared.results import results
from pages.shared.view import look, now
from pages.train import labels
from xmlcore import figures, metrics

LISTED = 200  # most pairs in the table


def show(data, run, key, name) -> None:
    left, right = st.columns(2, gap="large")
    ks = {0: f"as many as are true, at most {run.ranking.labels.shape[1]}"}
    ks |= {k: f"{k}" for k in results.ks(data.n_labels)}
    k = fields.radio("Labels predicted", ks, "train.confusions.k", place=left)
    query_key = selectors.query_key("train.confusions.query", data)
    hint = "part of a name; empty: all"
    query = fields.text("Find labels by name or id", query_key, placeholder=hint, place=right).strip()
    found = confused(key, k, query)
    if found.pairs.empty:
        st.info("No test row has both a missed and a wrong label" + (" of these names." if query else "."))
        return
    pairs = found.pairs
    st.markdown(_sentence(pairs.iloc[0]), help=(
        "A swap is a wrong label in the place of a missed one. A row that misses m labels and has w wrong ones "
        "has m × w pairs, and each counts as 1 / max(m, w) of a swap: no label of a row counts more than once."
    ))  # fmt: skip

    def choose(line):
        pair = pairs.iloc[line]
        look(row=pair["row"], label=pair["wrong"], other=pair["missed"])

    left, right = st.columns([5, 6], gap="medium")
    with left:
        charts.show_figure(
            figures.confusions(pairs, total=found.n_pairs),
            pairs,
            f"{name}-confusions-{k or 'true'}",
            "A square: the label on its left is missed, and the label below it is predicted, although it is wrong. "
            "Number and colour are its swaps: test rows, those with many mistakes counted in part. Click a square to "
            "see them.",
            counted="pairs",
            key=f"train.confusions.{key[:8]}.{k}.{query}",
            on_click=choose,
        )
    with right:
        _table(pairs, found, f"train.confusions.table.{key[:8]}.{k}.{query}", choose)
    missed, wrong = now().other, now().label
    if missed is not None and wrong is not None:
        _rows(data, run, k, missed, wrong, f"train.confusions.rows.{key[:8]}.{k}.{missed}.{wrong}")


@server.shared("Counting confusions")
def confused(key, k, query):
    run, labels_asked = server.run(key), None
    data = server.dataset(run.fingerprint)
    if query:
        labels_asked = tables.find_labels(server.label_names(run.fingerprint), query)["label"]
    found = metrics.confusions(data.Y_test, run.ranking, k or None, n=LISTED, labels=labels_asked)
    names = {f"{side}_name": tables.label_names(data, found.pairs[side]) for side in ("missed", "wrong")}
    return found._replace(pairs=found.pairs.assign(**names, share=100 * found.pairs["rows"] / found.pairs["n_missed"]))


def _sentence(pair) -> str:
    missed, wrong = (f"**{format.plain(pair[name])}**" for name in ("missed_name", "wrong_name"))
    rows = f"{pair['rows']:,} of {format.count(int(pair['n_missed']), 'test row')} that miss {missed}"
    return f"{wrong} is predicted instead of {missed} most: **{pair['swaps']:.1f} swaps**, in {rows}."


def _table(pairs, found, key, choose) -> None:
    chosen = ((pairs["missed"] == now().other) & (pairs["wrong"] == now().label)).to_numpy().nonzero()[0].tolist()
    tables.show(
        pairs,
        key,
        {
            "missed_name": tables.text("Missed"),
            "wrong_name": tables.text("Predicted instead"),
            "swaps": tables.number("Swaps", 60, "%.1f", "Pairs, those of a row with many mistakes counted in part."),
            "rows": tables.number("Rows", 55, "localized", "Test rows with both mistakes."),
            "share": tables.number("Share, %", 72, "%.0f", "Of the test rows that miss the label."),
        },
        widest=155,
        height=420,
        **tables.on_tick(key, range(len(pairs)), choose),
        **tables.ticked(chosen),
    )
    st.caption(
        f"Showing {len(pairs):,} of {format.count(found.n_pairs, 'pair')}, most swaps first, with "
        f"{100 * pairs['swaps'].sum() / found.n_swaps:.0f}\u00a0% of the swaps. Tick a pair to see its rows."
    )


def _rows(data, run, k, missed, wrong, key) -> None:
    rows = metrics.confused_rows(data.Y_test, run.ranking, missed, wrong, k or None)
    if rows.size == 0:
        return
    names = [format.plain(data.label_name(j)) for j in (missed, wrong)]
    st.subheader(f"Rows that miss {names[0]} and have {names[1]}")
    of_label = labels.rows_of_label(data, run.ranking, wrong, k or run.ranking.labels.shape[1]).set_index("row")
    frame = of_label.loc[rows, ["rank", "score"]].reset_index()
    shown = labels.list_rows(data, run, frame, key, wrong, missed)
    st.caption(
        f"Showing {shown:,} of {format.count(len(rows), 'row')}, those with few other mistakes first. Rank and score "
        f"are those of {names[1]}."
    )
    if run.has_model:
        addresses.link(
            "Explain", f"Why {names[1]} and not {names[0]}", addresses.ICONS["Explain"], section="Another label"
        )
