"""The answer of the Train page: measures, times and size of the run shown."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import addresses, format, settings, tables
from pages.shared.figures import charts
from pages.shared.results import measured, results
from xmlcore import figures, metrics
from xmlcore.wording import hundredths

TREE_MODELS = ("PLT", "LdSM")
HYPHEN = "\u00ad"  # where a long word may be broken on a phone
TO = "\u2060–\u2060"  # a dash with word joiners, which keep an interval on one line


def sentence(data, name, run) -> None:
    """Say how well the run predicts, or what can be trained when ``run`` is None."""
    if run is None:
        st.markdown(
            f"No model has been trained on **{format.plain(name)}** in this workspace yet: "
            f"{format.count(data.n_train, 'row')} to learn from, {data.n_test:,} to test on."
        )
        return
    st.markdown(
        f"On **{format.plain(name)}**, **{format.plain(run.model)}** ranks a true label first for "
        f"**{hundredths(value(run.measures, 'P@k', 1))}\u00a0%** of the {format.count(data.n_test, 'test row')} (P@1)."
    )


def show(run, record) -> None:
    """Show the measures, times and size of a run, and links to other pages about it; ``record`` is its record."""
    results.mark(record)
    _table(measured.headline(record["key"]))
    times, size = run.times, run.size
    cards = [
        ("Training", format.duration(times["fit_s"]), _compile_help(times)),
        (
            "Prediction",
            f"{format.duration(times['predict_ms_per_row'] / 1000)}/row",
            "Mean over all test rows, k labels each.",
        ),
        (
            "Model in memory",
            format.size(size["model_bytes"]),
            f"{size['n_weights']:,} weights that are not zero. Its size on disk is on the page Storage.",
        ),
    ]
    if run.model in TREE_MODELS:
        text = f"Over all trees; the deepest is {size['depth']} levels deep."
        cards.append(("Tree nodes", f"{size['n_nodes']:,}", text))
    tables.cards(cards)
    with st.container(horizontal=True):
        if run.model in TREE_MODELS:
            addresses.link("Trees", "Look at the trees", "account_tree")
        if run.model == "DoubleSampling":
            addresses.link("Sampling", "What was sampled", "filter_alt")
        addresses.link("Explain", "Explain its predictions", "search_insights")
        addresses.link("Robustness", "Test it under noise", "ssid_chart")
        addresses.link("Compare", "Details of this result", "info", run=record["key"][:12])
    for warning in dict.fromkeys(run.warnings):
        st.warning(format.plain(settings.sentence(run.model, warning)))
    cached = record["key"] in st.session_state.get("train.from_cache", ())
    settings_text = settings.changed(run.model, run.params) or "default settings"
    trained = "From the cache, trained at" if cached else "Trained at"
    st.caption(f"{trained} {format.when(run.created)} with {format.plain(settings_text)}.")


def _table(frame) -> None:
    lines = ["| % | " + " | ".join(f"k = {k}" for k in results.KS) + " |", "|:--|" + "--:|" * len(results.KS)]
    for measure, rows in frame.groupby("measure", sort=False):
        cells = (f"{hundredths(row.value)} {_grey(row)}" for row in rows.itertuples())
        lines.append(f"| **{measure.replace('abandon', 'abandon' + HYPHEN)}** | " + " | ".join(cells) + " |")
    st.markdown("\n".join(lines))
    st.caption("In grey: the 95\u00a0% interval.", help=measured.INTERVAL)
    st.caption("  \n".join(f"**{m}**: {metrics.MEASURES[m].explained}." for m in frame["measure"].unique()))


def _grey(row) -> str:
    """Return the interval of a measure in percent, as small grey Markdown; empty where there is none."""
    if not np.isfinite(row.low):
        return ""
    low, high = (f"{100 * end:.1f}".replace("100.0", "100") for end in (row.low, row.high))  # as phones are narrow
    return f":gray[:small[{low}{TO}{high}]]"


def chosen(run, name) -> None:
    if not run.chosen:
        return
    values = dict(run.chosen)
    one_level = run.size["depth"] == 1 and values.keys() >= {"arity", "max_leaf_labels"}
    if one_level:
        del values["arity"], values["max_leaf_labels"]
    values = format.plain(settings.words(run.model, values))
    if one_level:
        values = f"{values}; one level, so every label is a child of the root" if values else "one level"
    if not run.trials:
        st.caption(f"Settings left on automatic, which the model chose: {values}.")
        return
    trials = pd.DataFrame(run.trials)
    rows, seconds = int(trials["rows"].iloc[0]), float(trials["seconds"].sum())
    st.caption(
        f"Settings left on automatic, chosen by {format.count(len(trials), 'trial')} on {rows:,} of the training rows, "
        f"in {format.duration(seconds)}: {values}."
    )
    shape = "" if "arity" in trials else " of one level, so one classifier per label,"
    with st.expander("Trials"):
        charts.show_figure(
            figures.trials(trials),
            trials,
            f"{name}-trials",
            f"Each point is a label tree{shape} that was trained on a sample of the training rows, and measured on "
            "other training rows; test rows are not used. The C used for all rows lies between the best one here and "
            "the published one, because a sample shows only roughly which C is best.",
        )


def _compile_help(times):
    compiled = times.get("compile_s") or 0.0
    extra = f" Compiling code, {format.duration(compiled)}, is not counted." if compiled > 0.05 else ""
    return f"On this machine, in one worker process.{extra}"


def figure(run, name) -> None:
    charts.show_figure(
        figures.measures_at_k(run.measures),
        run.measures,
        f"{name}-measures",
        "Each line is the mean of a measure over the test rows when k labels are predicted for each; higher is better. "
        "P@k usually falls with k: of five labels predicted for a row with three, at most three are right. R@k, the "
        "share of a row’s true labels that are predicted, and PSnDCG@k, nDCG@k in which rare labels count more, are "
        "shown by a click in the legend.",
    )


def value(measures, measure, k) -> float:
    """Return a measure at k from a table of measures; NaN when the table does not have it."""
    found = measures.loc[(measures["measure"] == measure) & (measures["k"] == k), "value"]
    return float(found.iloc[0]) if len(found) else float("nan")
