"""Draw the figures of the pages about methods: ``python docs/make_figures.py [NAME ...]``.

Each figure is a DataFrame drawn by ``xmlcore.figures``, on the data set ``api-docs`` or from
``benchmarks/results/frontier.json``, and is saved as ``images/NAME.svg``. The SVG comes from plotly.js in a headless
Chromium, as the button above every figure of the dashboard makes it.
"""

import json
import os
import shutil
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from xmlcore import FALS, PLT, DoubleSampling, LdSM, decisions, explain, figures, metrics, robustness
from xmlcore.datasets import load
from xmlcore.models.ldsm import frames as tree_frames
from xmlcore.selection import frames as selection_frames

CLUSTER = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "cluster.json"
FRONTIER = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "frontier.json"
MIXTURE = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "mixture.json"
IMAGES = Path(__file__).resolve().parent / "images"
WIDTH = 900  # of each figure, in pixels
LABEL = "pandas.to_datetime"  # a function
NOISE = (0.0, 0.01, 0.02, 0.05, 0.1)  # standard deviations
ADVERSARIAL_SIGMA = 0.05  # standard deviation of the noise in training, the paper's
CANDIDATES = (1, 2, 3, 5, 10, 20, 50, 100)


@cache
def data():
    """Return the data set of all figures."""
    return load("api-docs")


@cache
def label_tree():
    """Return a label tree with default settings."""
    return PLT(random_state=0).fit(data().X_train, data().Y_train)


def path_to_a_label():
    """Draw the probability of a label as a product along its path in the label tree."""
    label = data().label_names.index(LABEL)
    row = data().Y_test[:, [label]].nonzero()[0][0]  # the first one that has the label
    frame = explain.path(label_tree(), data().X_test[[row]], label, dataset=data())
    return figures.path_products(frame, title=f"Path to “{LABEL}” for {data().row_names_test[row]}")


@cache
def decision_trees():
    """Return small decision trees."""
    return LdSM.preset("program", n_estimators=3, n_attempts=5, random_state=0).fit(data().X_train, data().Y_train)


def top_of_a_decision_tree():
    """Draw the first levels of a decision tree, coloured by the objective of each split."""
    model = decision_trees()
    tree = model.trees_[0]
    nodes = tree_frames.below(tree, 0, 4)
    weights = (model.integrity_weight, model.multiway_weight)
    frame = tree_frames.drawing_frame(tree, nodes, data().label_name, weights)
    return figures.tree(frame, "objective", title="J of the first splits", total=tree.parent.size)


def objective_in_training():
    """Draw the objective of a root node, and its parts, over the passes of its training."""
    model = decision_trees()
    weights = (model.integrity_weight, model.multiway_weight)
    return figures.objective_in_training(tree_frames.training_trace(model.trees_[0], 0, weights), title="J at the root")


def candidates_of_double_sampling():
    """Draw what more candidates bring: how often the own class is among them, and what is then found."""
    model = DoubleSampling.preset("paper", random_state=0).fit(data().X_train, data().Y_train)
    X, Y = data().X_test, data().Y_test
    lines = []
    for q in CANDIDATES:
        candidates = model.candidates(X, q)
        true = [set(Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tolist()) for i in range(X.shape[0])]
        found = sum(len(own & set(row.tolist())) for own, row in zip(true, candidates))
        first, seconds = timed(lambda q=q: model.predict_topk(X, 1, n_candidates=q).labels[:, 0])
        lines.append((q, found / Y.nnz, metrics.accuracy(Y, first), metrics.macro_f1(Y, first), seconds))
    columns = ["n_candidates", "recall", "accuracy", "macro_f1", "predict_ms_per_row"]
    frame = pd.DataFrame(lines, columns=columns)
    frame["predict_ms_per_row"] *= 1000 / X.shape[0]
    return figures.candidate_curves(frame, model.n_candidates)


def features_of_a_label():
    """Draw the features that a label keeps, by DeepLIFT, with their scores."""
    model = FALS(n_features=0.02, attribution="deeplift", random_state=0).fit(data().X_train, data().Y_train)
    label = data().label_names.index(LABEL)
    parts = (model.selected_, model.selected_scores_, None)
    frame = selection_frames.label_frame(*parts, label, data().X_train, data().Y_train)
    frame["name"] = [data().feature_names[feature] for feature in frame["feature"]]
    return figures.feature_bars(frame, title=f"Features of “{LABEL}”", unit="Score, mean squared DeepLIFT attribution")


def noise_with_and_without_training():
    """Draw P@1 under Gaussian noise, of a label tree and of the same tree trained on noisy rows too."""
    rows = slice(0, 200)
    X, Y = data().X_test[rows], data().Y_test[rows]
    tough = robustness.AdversarialTraining(
        PLT(random_state=0), sigma=ADVERSARIAL_SIGMA, noise_support="nonzero", random_state=0
    ).fit(data().X_train, data().Y_train)
    frames = []
    for run, model, kind in (("PLT", label_tree(), "PLT"), ("PLT, trained with noise", tough.model_, "ExtendedPLT")):
        frame = robustness.evaluate(model, X, Y, NOISE, n_repeats=3, support="nonzero", Y_train=data().Y_train)
        frames.append(frame.assign(run=run, model=kind))
    frame = robustness.summarise(pd.concat(frames, ignore_index=True))
    return figures.robustness_curves(frame, "P@k", 1, title="P@1 under Gaussian noise on the features a row has")


def precision_recall_curve():
    """Draw the precision–recall curve on test rows, with two decisions learnt from held-out rows."""
    order = np.random.default_rng(0).permutation(data().n_train)
    rows, others = np.split(order, [3 * order.size // 4])
    model = PLT(random_state=0).fit(data().X_train[rows], data().Y_train[rows])
    held_out, test = (data().X_train[others], data().Y_train[others]), (data().X_test, data().Y_test)
    points = {}
    for name, wanted in {
        "best for micro-F1": {},
        "90 % precision": {"measure": "micro R", "least": {"micro P": 0.9}},
    }.items():
        sets = decisions.learn(model, *held_out, **wanted).predict(test[0])
        hits = sets.multiply(test[1]).nnz
        about = {"micro P": hits / sets.nnz, "micro R": hits / test[1].nnz, "labels": sets.nnz / data().n_test}
        points[f"{name} on held-out rows"] = pd.Series(about)
    cuts = decisions.cuts(model, *test)
    places = np.searchsorted(cuts["micro R"], np.linspace(0, cuts["micro R"].max(), 300))
    return figures.precision_recall(cuts.iloc[np.unique(places)], points)


def frontier_on(name):
    """Return a function that draws what precision costs on a data set, from ``benchmarks/results/frontier.json``."""

    def draw():
        results = json.loads(FRONTIER.read_text(encoding="utf-8"))
        runs = [run for run in results["data"][name]["runs"] if "failed" not in run]
        costs = {"fit_s": "Training, seconds", "ms_per_row": "Prediction, ms per row"}
        title = f"Precision against cost on {name}"
        return figures.frontier(pd.DataFrame(runs), costs, ["P@1", "PSP@5"], title)

    return draw


def members_and_mixture():
    """Draw a mixture beside its members on bibtex, from ``benchmarks/results/mixture.json``."""
    runs = json.loads(MIXTURE.read_text(encoding="utf-8"))["data"]["bibtex"]["runs"]
    frame = pd.DataFrame([run | run["measures"] | {"run": run["model"]} for run in runs if run["seed"] == 0])
    title = "A mixture and its members on bibtex"
    return figures.frontier(frame, {"train_s": "Training, processor seconds"}, ["P@1", "PSP@5"], title)


def scaling_of_a_cluster():
    """Draw how many times as fast trainings are with more workers: measured, and by the cost model."""
    import plotly.graph_objects as go

    results = json.loads(CLUSTER.read_text(encoding="utf-8"))
    runs, count = results["runs"], results["count"]
    workers = [1, 2, 4, 8, 16, 32, 64]
    figure = go.Figure(layout={"title": {"text": "Trainings on a cluster: times as fast as with one worker"}})
    for n, dash in ((count, "solid"), (10 * count, "dash")):
        modelled = [n / -(-n // w) for w in workers]  # jobs over rounds of jobs
        figure.add_scatter(
            x=workers,
            y=modelled,
            mode="lines",
            name=f"cost model, {n} trainings",
            line={"dash": dash, "color": "#767676"},
        )
    figure.add_scatter(
        x=[run["workers"] for run in runs],
        y=[runs[0]["seconds"] / run["seconds"] for run in runs],
        mode="markers",
        name=f"measured, {count} trainings",
        marker={"size": 11, "color": PLT.ABOUT.color},
    )
    ticks = {"type": "log", "tickvals": workers, "ticktext": [str(w) for w in workers]}
    return figure.update_layout(
        xaxis={"title": "Workers of one core (log)"} | ticks, yaxis={"title": "Times as fast (log)"} | ticks
    )


def timed(function):
    """Return the best result of three calls and its seconds."""
    import time

    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


FIGURES = {
    "plt-path": path_to_a_label,
    "ldsm-tree": top_of_a_decision_tree,
    "ldsm-objective": objective_in_training,
    "double-sampling-candidates": candidates_of_double_sampling,
    "fals-features": features_of_a_label,
    "robustness-noise": noise_with_and_without_training,
    "decisions-cuts": precision_recall_curve,
    "mixture-members": members_and_mixture,
    "cluster-scaling": scaling_of_a_cluster,
    **{f"frontier-{name}": frontier_on(name) for name in ("bibtex", "eurlex4k-dev", "delicious", "wordnet-class")},
}


def as_svg(browser, figure) -> str:
    """Return a plotly figure as SVG, drawn by a browser."""
    figure.update_layout(template=figures.template(), paper_bgcolor="white", plot_bgcolor="white")
    height = figure.layout.height or 450
    page = browser.new_page()
    page.set_content(figure.to_html(include_plotlyjs=True))
    address = page.evaluate(
        "([width, height]) => Plotly.toImage(document.querySelector('.plotly-graph-div'),"
        " {format: 'svg', width: width, height: height})",
        [WIDTH, height],
    )
    page.close()
    from urllib.parse import unquote

    return unquote(address.split(",", 1)[1])


def main(names):
    """Draw the figures of these names; all without any."""
    from playwright.sync_api import sync_playwright

    unknown = set(names) - set(FIGURES)
    if unknown:
        raise SystemExit(f"no figure {', '.join(sorted(unknown))}: there are {', '.join(FIGURES)}")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("no Chromium was found: name one in the environment variable CHROMIUM")
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in names or FIGURES:
            (IMAGES / f"{name}.svg").write_text(as_svg(browser, FIGURES[name]()), encoding="utf-8")
            print(f"images/{name}.svg")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
