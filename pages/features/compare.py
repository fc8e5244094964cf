"""Selections by other methods, compared by decision trees, at one size and against k/D; and with other seeds."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import fields, format, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import comparisons, run_names
from xmlcore import experiment, figures, metrics, papers
from xmlcore.experiment.catalog import MOST_SEEDS

PAIRS = 3_000_000  # of a row and a label, in the sample that is compared at first
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)  # shares of the features at which the curve is measured
LEAST_RANKED = 5  # kept features; with fewer, Spearman’s correlation tells little more than how many are shared
LISTED_LABELS = 200  # most lines of the table of agreement
WARNINGS = 3  # most warnings shown at once
SETS = {"methods": "Methods", "variants": "Variants of FALS", "networks": "Networks of FALS"}
# The first is shown at first.
MEASURES = {"average precision": metrics.SCORE_MEASURES["average precision"], **metrics.SCORE_MEASURES}


def compare(view) -> None:
    of = fields.radio("Compared", SETS, "features.compared", label_visibility="collapsed")
    chosen = _choose(view, of)
    if chosen is None:
        return
    selections, seeds, n_rows = chosen
    st.markdown("One tree per label learns from its kept features: the better it predicts, the more they are worth.")
    measure = fields.choice("Measure", list(MEASURES), "features.measure", "average precision")
    st.caption(f"{measure[:1].upper()}{measure[1:]}: {MEASURES[measure].explained}.")

    def task(*shares):
        params = {"selections": selections, "shares": shares, "seeds": seeds, "n_rows": n_rows}
        return experiment.task("compare_selections", {"dataset": view.fingerprint}, params)

    left, right = st.columns(2, gap="large")
    with left:
        kept = view.selection.params["n_features"]  # a share is the same on all data sets, whatever it is rounded to
        share = kept if isinstance(kept, float) else kept / view.selection.n_features
        comparison = tasks.ready(task(share), button="Compare these methods", key="features.compare")
        if comparison is not None:
            _boxes(view, comparison, measure)
    with right:
        curve = _beside(view, comparison, selections, measure, of, task)
    if comparison is not None:
        _table(view, comparison)
        if of != "networks" and (found := comparisons.significance(task(share), measure)) is not None:
            text = f"Wilcoxon’s signed-rank test of {measure} over data sets of this workspace."
            charts.show_figure(*found, f"{view.files}-significance", text)
    warnings([warning for result in (comparison, curve) if result is not None for warning in result.warnings])


def _beside(view, comparison, selections, measure, of, task):
    """Draw what stands beside the boxes, and return the comparison of several shares, if it was made."""
    if of == "methods":
        curve = tasks.ready(task(*SHARES), button="Compare from k/D = 0.1 to 0.7", key="features.curve")
        if curve is not None:
            text = "The same measure with more features per label; dotted: all features. Bands: least to greatest seed."
            _figure(view, curve, measure, figures.score_against_share(curve.frame, measure), "share", text)
            _all_measures(view, curve, "share")
        return curve
    if comparison is not None and of == "networks":
        frame, text = comparisons.networks(comparison, selections, view.data), "Means over seeds. "
        text += "Where nothing else is said, hidden layers narrow from features to labels in equal ratios."
        charts.show_figure(figures.networks_compared(frame, measure), frame, f"{view.files}-networks", text)
    elif comparison is not None:
        text = "How much of what FALS keeps with one seed others keep, too: a box over pairs of seeds, FALS first."
        figure, file = figures.selections_agree(comparison.agreement), f"{view.files}-agreement"
        charts.show_figure(figure, comparison.agreement, file, text)
    return None


def _choose(view, of):
    """Return the selections compared, the seeds, and the number of training rows, None for all; None without any."""
    if of == "methods":
        options = _options(view)
    else:
        repeat = papers.fals.NETWORKS if of == "networks" else papers.fals.VARIANTS
        selections = comparisons.of_fals(repeat, view.data)
        options = {title: (one, True) for title, one in zip(experiment.comparison_titles(selections), selections)}
    chosen = fields.several(
        "Methods compared",
        list(options),
        "features.methods" + (f" {of}" if of != "methods" else ""),
        [title for title, (_, at_first) in options.items() if at_first],
        least=1,
        help="FALS and its patterns, all features, the methods that published results compare with, and "
        "selections of this page with other settings.",
    )
    left, right, _ = st.columns([1, 1, 2], vertical_alignment="bottom")
    about = "Number of seeds with which each selection and its trees are made; published results use 10."
    n_seeds = fields.whole("Seeds", 1, MOST_SEEDS, "features.seeds", 3, place=left, help=about)
    if not chosen:
        st.caption("Choose at least one method.")
        return None
    about = "Training rows, drawn at random when fewer than all. At most as many test rows are measured."
    n = view.data.n_train
    key, first = f"features.rows {view.fingerprint[:8]}", min(n, max(1000, PAIRS // view.data.n_labels))
    n_rows = fields.whole(f"Rows, up to {n:,}", min(2, n), n, key, first, place=right, help=about)
    selections = [options[title][0] for title in options if title in chosen]
    return selections, list(range(int(n_seeds))), None if n_rows >= n else int(n_rows)


def _options(view) -> dict:
    params = experiment.selection_params
    options = {"all features": (None, True)}
    for pattern in ("FALS", "FILS", "FAMS", "FIMS") if view.data.Y_train.nnz else ():  # they need labels
        options[pattern] = (("FALS", params("FALS", {"pattern": pattern})), True)
    # The paper compares with the first four, of which the last two are slow.
    rivals = dict.fromkeys(("RandomForest", "Lasso"), True)
    rivals |= dict.fromkeys(("LIFT", "GradEnFS", "MutualInformation", "ChiSquared"), False)
    if view.data.X_train.nnz and view.data.X_train.data.min() < 0:
        del rivals["ChiSquared"]  # Chi-squared allows no negative values
    for method, at_first in rivals.items():
        options[experiment.selection_title(method)] = ((method, params(method)), at_first)
    for method in ("RandomForest", "Lasso", "GradEnFS"):
        selection = (method, params(method, {"per_label": False}))
        options[experiment.selection_title(*selection)] = (selection, False)
    varied = {"n_features": None, "random_state": None}  # the comparison varies these itself
    known = [selection[1] | varied for selection, _ in options.values() if selection is not None]
    for record in view.past:
        if record["params"] | varied not in known:
            known.append(record["params"] | varied)
            own = record["params"] == view.selection.params
            options[run_names.selection_title(record, skip=varied)] = ((record["method"], record["params"]), own)
    return options


def warnings(messages) -> None:
    messages = list(dict.fromkeys(messages))
    for message in messages[:WARNINGS]:
        st.warning(format.plain(message))
    if len(messages) > WARNINGS:
        st.caption(f"And {format.count(len(messages) - WARNINGS, 'more warning')}.")


def _boxes(view, comparison, measure):
    figure = figures.patterns_compared(comparison.frame, measure)
    if best := best_here(comparison.frame[comparison.frame["measure"] == measure], figure.layout.meta["best"]):
        methods, value = best
        st.markdown(f"Best here: {format.listed([*map(format.bold, methods)])} ({value}).")
    kept = format.count(comparison.frame["n_features"].min(), "feature")
    text = (
        f"A point per seed; each label keeps {kept}. Dotted: all features. Less than the spread of points means little."
    )
    _figure(view, comparison, measure, figure, "compared", text)


def _figure(view, comparison, measure, figure, kind, text):
    """Show a figure of a measure of a comparison, and say on how many seeds and rows it was made."""
    frame, seeds = comparison.frame[comparison.frame["measure"] == measure], comparison.frame["seed"].nunique()
    made_on = (
        f"On {format.count(seeds, 'seed')}; {comparison.n_rows:,} of {comparison.n_train:,} training and "
        f"{comparison.n_test_rows:,} of {comparison.n_test:,} test rows."
    )
    frame = frame.assign(n_rows=comparison.n_rows, n_test_rows=comparison.n_test_rows)
    file = f"{view.files}-{kind}-{format.file_name(measure)}-{comparison.n_rows}rows-{seeds}seeds"
    charts.show_figure(figure, frame, file, f"{text} {made_on}")


def best_here(lines, best) -> tuple[list[str], str] | None:
    """Return the methods whose mean is that of the best one at three decimals, and this mean."""
    if best is None:
        return None
    means = lines.groupby("method", sort=False)["value"].mean().map("{:.3f}".format)
    return [method for method, value in means.items() if value == means[best]], means[best]


def _table(view, comparison):
    values = comparison.frame.pivot_table(index="method", columns="measure", values="value", sort=False)
    times = comparison.frame.groupby("method", sort=False)[["select_s", "seconds"]].mean()
    config = {"method": tables.text("Method", 170)}
    for name, measure in MEASURES.items():
        label = f"{name[:1].upper()}{name[1:]} {'↓' if measure.smaller_is_better else '↑'}"
        config[name] = tables.number(label, 120, "%.4f", measure.explained)
    config |= {"select_s": tables.number("Selection, s", 90, "%.2f"), "seconds": tables.number("Trees, s", 80, "%.2f")}
    shown = values.reindex(columns=list(MEASURES)).join(times).reset_index()
    first = ("method", *list(MEASURES)[:4], "select_s", "seconds")
    tables.show(shown, "features.compared", config, first=first)
    seeds = format.count(comparison.frame["seed"].nunique(), "seed")
    st.caption(f"Means over {seeds}; ↑ larger is better, ↓ smaller is. Times are of one seed, on this machine.")
    _all_measures(view, comparison, "compared")


def _all_measures(view, comparison, kind):
    charts.csv_button(
        "All measures, CSV",
        lambda: comparison.frame.assign(n_rows=comparison.n_rows, n_test_rows=comparison.n_test_rows),
        f"{view.files}-{kind}-{comparison.n_rows}rows-{comparison.frame['seed'].nunique()}seeds",
    )


def seeds(view) -> None:
    selection = view.selection
    if "random_state" not in selection.params:
        st.caption(f"{selection.title} involves no chance: it always keeps the same features.")
        return
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    n_seeds = fields.whole(f"Seeds, 2 to {MOST_SEEDS}", 2, MOST_SEEDS, "features.stability.seeds", 5, place=left)
    params = {"method": selection.method, "params": selection.params, "seeds": list(range(int(n_seeds)))}
    task = experiment.task("selection_stability", {"dataset": view.fingerprint}, params)
    with right:
        result = tasks.ready(task, button=f"Select with {int(n_seeds)} seeds", key="features.stability")
    if result is not None:
        _show_seeds(view, result)


def _show_seeds(view, result):
    table, shared = _labels(view, result), view.selection.shared
    warnings(result.warnings)
    by_chance = 100 * result.n_selected / result.n_features
    kept = (
        f"another seed keeps **{100 * result.share:.0f}\u00a0%** as well; by chance it would be {by_chance:.0f}\u00a0%"
    )
    st.markdown(f"Of {format.count(result.n_selected, 'feature')} that a label keeps, {kept}.")
    left, right = st.columns(2, gap="large")
    with left:
        charts.show_figure(
            figures.stability_boxes(table, result.chance),
            table,
            f"{view.files}-stability-{len(result.seeds)}seeds",
            f"Agreement of two seeds, mean over {format.count(len(result.pairs), 'pair')}: Jaccard similarity of "
            f"kept features and, where labels keep {LEAST_RANKED} or more, Spearman’s correlation of scores.",
        )
    with right:
        about = f"Features that both seeds keep, divided by those that either keeps; by chance {result.chance:.2f}."
        cards = [("Jaccard", f"{table['jaccard'].mean():.2f}", about)]
        if "spearman" in table:
            about = (
                "Of scores, over the features that either seed keeps; mean over labels. 1 is the same features in the "
                "same order. Seeds that share little give values below 0."
            )
            cards.append(("Spearman", format.number(table["spearman"].mean()), about))
        tables.cards(*cards)
        if not shared:
            _least_stable(view, table)


def _labels(view, result) -> pd.DataFrame:
    """Return agreement by label: ``label, name, jaccard`` and, of enough features, ``spearman``."""
    shared = view.selection.shared
    labels = np.arange(1) if shared else np.arange(view.selection.n_labels)
    table = pd.DataFrame(
        {
            "label": labels,
            "name": ["all labels"] if shared else tables.label_names(view.data, labels),
            "jaccard": result.labels[0, : labels.size],
            "spearman": result.labels[1, : labels.size],
        }
    )
    return table if result.n_selected >= LEAST_RANKED else table.drop(columns="spearman")


def _least_stable(view, table):
    counts = np.bincount(view.data.Y_train.indices, minlength=view.selection.n_labels)
    least = table.assign(rows=counts).sort_values("jaccard", kind="stable").head(LISTED_LABELS)
    tables.show(
        least,
        "features.stability.labels",
        {
            "name": tables.text("Label"),
            "rows": tables.number("Rows", 70, "localized", "Training rows."),
            "jaccard": tables.number("Jaccard", 80, "%.2f"),
            "spearman": tables.number("Spearman", 80, "%.2f"),
        },
        most=230,
    )
    tables.counted(len(least), len(table), "label", "least stable first; the CSV has all.")
