"""The result that the Sampling page shows: a sentence, cards, labels by frequency, what was drawn, and weights of f."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import cached, format, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import results, run_names
from xmlcore import experiment, figures, metrics, store
from xmlcore.explain import candidates
from xmlcore.metrics.buckets import MEANING

MODEL = "DoubleSampling"
MACRO_F1 = "F1 of means"  # the measure that the paper calls macro-F1; the Train page has another of that name
MACRO_F1_HELP = (
    "F1 of two means over labels, of their precision and of their recall, when one label is predicted for a row; the "
    "macro F1 of the Train page is the mean of the labels’ F1."
)
OTHERS = 4  # most results of other models shown beside this one
SHARES = ["candidate_recall", "accuracy", "macro_f1"]


class SampledRun:
    """A run of double sampling, its model, and the numbers that it was really trained with.

    ``kappa`` adversaries of an example and ``q`` candidates of a row are fewer than requested if there are not as many
    classes, ``most_kappa`` is the most that an example can have, and ``examples`` copies are drawn per class.
    """

    def __init__(self, ready):
        run, model = self.run, self.model = ready.run, ready.model
        self.data, self.name = ready.data, ready.name
        self.record, self.key, self.files = ready.record, ready.key, ready.files
        self.n_present = int(np.count_nonzero(model.class_size_))
        self.most_kappa = experiment.most_adversaries(run.params, self.n_present)
        requested = run.params["n_adversarial"]
        self.kappa = min(requested, self.most_kappa)
        self.q = min(run.params["n_candidates"], self.n_present)
        self.examples = float(run.params["examples_per_class"])
        self.near = run.params.get("adversaries") == "candidates"
        others = f"{self.q:,} candidates leave {self.kappa:,}" if self.near else f"only {self.kappa:,} others exist"
        self.fewer = f" ({requested:,} asked for, {others})" if requested > self.most_kappa else ""
        self.balanced = bool(run.params.get("balanced", True))
        self.by_tree = run.params.get("candidates_from") == "plt"

    @property
    def p_at_1(self) -> float:
        measures = self.run.measures
        return float(measures["value"][(measures["measure"] == "P@k") & (measures["k"] == 1)].iloc[0])

    @property
    def n_copies(self) -> int:
        return int(self.model.sampled_size_.sum())

    def task(self, kappas=(), examples=(), candidates=(), n_repeats=1):
        params = {"n_adversarial": kappas, "examples_per_class": examples, "n_candidates": candidates}
        return experiment.task("sampling", {"run": self.key}, params | {"n_repeats": n_repeats})


def if_kept(task, *free):
    """Return the result of a task, or the newest whatever the parameters in ``free`` were; None without one."""
    try:
        alike = sorted(tasks.made_alike(task, *free), key=lambda one: one.created) if free else ()
        if alike:
            return cached.loaded_by_key(task.kind, alike[-1].key)
        return cached.loaded(task) if task.exists() else None
    except (store.StoreError, OSError):
        return None


@cached.shared()
def one_class(key: str) -> tuple[float, float]:
    run = cached.run(key)
    Y, first = cached.dataset(run.fingerprint).Y_test, run.ranking.labels[:, 0]
    return metrics.accuracy(Y, first), metrics.macro_f1(Y, first)


@cached.shared()
def by_bucket(key: str):
    run = cached.run(key)
    data = cached.dataset(run.fingerprint)
    buckets = cached.description(run.fingerprint).labels["bucket"].to_numpy()
    return metrics.first_class_by_bucket(data.Y_test, run.ranking.labels[:, 0], buckets)


def most_accurate(data) -> float:
    """Return the most that accuracy can be on these test rows: one label is predicted for each."""
    return np.count_nonzero(np.diff(data.Y_test.indptr)) / max(1, data.Y_test.nnz)


def _of_own_q(view, study, column) -> float:
    """Return what was measured with the candidates of the result, as the figure has it; else what the result says."""
    if study is not None:
        at = study.candidates.loc[study.candidates["n_candidates"] == view.q, column]
        if len(at):
            return float(at.iloc[0])
    return view.run.times.get(column, float("nan"))


def sentence(view, title) -> None:
    name, title = format.bold(view.name), format.bold(title)
    others = view.model.n_pairs_ / max(1, view.n_copies)
    learned = f"{format.count(view.n_copies, 'sampled row')}, each against {format.significant(others)} other labels"
    right = f"**{format.percent(view.p_at_1)}** of the {format.count(view.data.n_test, 'test row')}"
    if not view.data.Y_test.nnz:
        st.markdown(f"{title} learned from {learned}.")
    else:
        st.markdown(f"On {name}, {title} ranks a true label first for {right}, learnt from {learned}.")


def cards(view, study) -> None:
    accuracy, macro = one_class(view.key)
    model, times = view.model, view.run.times
    recall = _of_own_q(view, study, "recall")
    risk = format.probability(model.empirical_risk_)
    values = [
        ("P@1", format.percent(view.p_at_1), "Share of test rows whose first label is right, as on the Train page."),
        (
            "micro R@1",
            format.percent(accuracy),
            "Share of all true labels that are predicted, one for each row; the paper calls it accuracy.",
            "" if (most := most_accurate(view.data)) == 1 else f"of at most {format.percent(most)}",
        ),
        (MACRO_F1, format.percent(macro), f"The paper’s macro-F1: {MACRO_F1_HELP}"),
        (
            f"Recall of {format.count(view.q, 'candidate')}",
            format.percent(recall),
            "Share of all true labels of test rows that are among the row’s candidates.",
            "" if np.isfinite(recall) else "not measured yet",
        ),
        (
            "Training",
            format.duration(times["fit_s"]),
            f"From {model.n_pairs_:,} pairs; κ = {view.kappa:,}{view.fewer}. In {risk} of them the true label does not "
            f"have the larger f: the empirical risk. The model takes {format.size(view.run.size['model_bytes'])}, a "
            f"prediction {format.duration(_of_own_q(view, study, 'predict_ms_per_row') / 1000)} a row.",
        ),
    ]
    tables.cards(*(values[-1:] if not view.data.Y_test.nnz else values))


def buckets(view, study, past, names) -> None:
    """Draw accuracy and the F1 of means by label frequency; ``past`` has all runs, ``names`` their names by key."""
    if study is None:
        st.caption("These numbers are measured together with other numbers of candidates, above.")
        return
    newest = {}  # run of each other model
    for r in past:
        if r["model"] != MODEL:
            newest.setdefault(run_names.style_model(r), r)
    others = list(newest.values())[:OTHERS]
    parts = [study.buckets.assign(run=names[view.key])]
    for r in others:
        of_run = results.read(by_bucket, r)
        parts += [] if of_run is None else [of_run.assign(run=names[r["key"]])]  # else it is being made again
    frame = pd.concat(parts, ignore_index=True).query("n_rows > 0")
    if frame.empty:
        st.caption("No test row has a label.")
        return
    beside = " The other bars show the newest result of every other model." if others else ""
    columns = {"n_classes": "n_labels", "accuracy": "micro R@1", "macro_f1": MACRO_F1}
    bars = frame.join(run_names.styles([view.record, *others], names), on="run").rename(columns=columns)
    captions = {
        "accuracy": f"Share of the test examples of these labels whose label is predicted first.{beside}",
        "macro_f1": f"{MACRO_F1_HELP} A rare label counts as much as a frequent one.",
    }
    for place, (measure, caption) in zip(st.columns(2, gap="large"), captions.items()):
        name = columns[measure]
        with place:
            charts.show_figure(
                figures.buckets_compared(bars, name, f"{name[:1].upper()}{name[1:]} by label frequency"),
                frame,
                f"{view.files}-buckets-{measure.replace('_', '-')}",
                caption,
            )
    _table(view, study)


def _table(view, study):
    shown = study.buckets[["bucket", "n_classes", "n_rows", *SHARES]].copy()
    shown[SHARES] *= 100
    share = {"format": "%.2f", "width": 100}
    tables.show(
        shown,
        "sampling.buckets",
        {
            "bucket": tables.text("Frequency", 85, MEANING),
            "n_classes": tables.number("Labels", 80, "localized"),
            "n_rows": tables.number("Test examples", 110, "localized"),
            "candidate_recall": tables.number(
                f"Among {view.q:,}, %", help="Share of test examples whose label is among the candidates.", **share
            ),
            "accuracy": tables.number("micro R@1, %", **share),
            "macro_f1": tables.number(f"{MACRO_F1}, %", **share),
        },
    )
    st.caption("Labels with a test row, by training rows.")


def class_sizes(view) -> None:
    sizes = candidates.class_sizes(view.model, view.data)
    figure = figures.sampled_classes(sizes)
    meta, drawn = figure.layout.meta, "of each label" if view.balanced else "per label"
    charts.show_figure(
        figure,
        sizes,
        f"{view.files}-label-sizes",
        f"{view.n_copies:,} copies of {format.count(view.data.Y_train.nnz, 'example')}; {view.examples:g} {drawn} "
        f"on average. {meta['shown']:,} of {meta['total']:,} labels are points, the CSV has all.",
    )


def weights(view) -> None:
    """Draw weights scaled so that they can be compared, and list the meaning of each feature."""
    table = candidates.feature_weights(view.model)
    top = table.iloc[0]
    charts.show_figure(
        figures.feature_weights(table),
        table,
        f"{view.files}-weights",
        "f is the sum of weight × feature. Each bar is a weight times the size of the feature’s differences between "
        f"labels, so bars can be compared; the largest is {format.bold(top['name'])} ({format.signed(top['value'])}).",
    )
    columns = {
        "name": tables.text("Feature"),
        "weight": tables.number("Weight", 90, "%.3g", "Of features of very different sizes; the CSV has their scales."),
        "meaning": tables.text("Meaning", 900),
    }
    tables.show(table, "sampling.weights.table", columns, most=680)
    st.caption("The most influential first. Features are correlated, so a single weight does not show a cause.")
