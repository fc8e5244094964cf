"""The answer of the Train page: a sentence, the main measures as cards, figures of the run shown, and what it is."""

import pandas as pd
import streamlit as st

from pages.shared import addresses, cached, first_results, format, jobs, settings, tables
from pages.shared.figures import charts
from pages.shared.results import measured, results, run_changes, run_names
from pages.train import labels
from xmlcore import experiment, figures, metrics, store
from xmlcore.experiment.engine.fitting import grown
from xmlcore.metrics.buckets import MEANING
from xmlcore.metrics.calibration import wilson

HEIGHT = 340  # of the figures, in pixels
COST, WORK = "training s", "training processor s"


def sentence(ready) -> None:
    """Say how well the run shown predicts; without one, that none has been trained."""
    data, name = ready.data, format.bold(ready.name)
    if not ready.records:
        st.markdown(
            f"No model has been trained on {name} in this workspace yet: "
            f"{format.count(data.n_train, 'row')} to learn from, {data.n_test:,} to test on."
        )
    elif ready.run is not None and ready.labelled:
        st.markdown(
            f"On {name}, {format.bold(ready.title)} ranks a true label first for "
            f"**{format.percent(value(ready.run.measures, 'P@k', 1))}** of the "
            f"{format.count(data.n_test, 'test row')} (P@1).",
            help=run_names.footnote([ready.title]) or None,
        )


def show(ready) -> None:
    results.mark(ready.record)
    tables.cards(*measured.cards(ready.key))
    results.say_warnings(ready.run)


def draw_figures(ready) -> None:
    if ready.run is None:
        if jobs.active("train"):
            st.caption("The result appears here when the training is done. You can look at other pages meanwhile.")
        else:
            first_results.comes(ready.fingerprint, "train")
    elif ready.labelled:
        left, right = st.columns(2, gap="medium")
        with left:
            _buckets(ready.key, ready.files)
        with right:
            if sum(not results.is_given(r) for r in ready.records) > 1:
                frontier(ready.records, ready.data.n_test, ready.files)
            else:
                measures(ready.run, ready.files, "train.measures")


def _buckets(key, name) -> None:
    k = int(measured.headline(key)["k"].max())
    every = labels.every_label(key, k)
    frame = metrics.labels_by_bucket(every, every["bucket"].to_numpy())
    charts.show_figure(
        figures.labels_by_bucket(frame, k).update_layout(height=HEIGHT),
        frame,
        f"{name}-labels-at-{k}",
        f"Recall and precision are of all labels of a bar together, macro F1 is the mean of their F1. {MEANING}",
    )


def measures(run, name, key: str) -> None:
    charts.show_figure(
        figures.measures_at_k(run.measures).update_layout(height=HEIGHT),
        run.measures,
        f"{name}-measures",
        "Each line is the mean of a measure over the test rows when k labels are predicted for each; higher is better. "
        "A click in the legend shows R@k, and PSnDCG@k, in which rare labels count more.",
        key=key,
    )


def frontier(runs, n_test, name) -> None:
    frame = table(runs)
    low, high = wilson(frame["P@1"] / 100, n_test)
    frame = frame.assign(**{"P@1 low": 100 * low, "P@1 high": 100 * high})
    cost, title = {WORK: "Training, processor seconds"}, "P@1 against processor time"
    charts.show_figure(
        figures.frontier(frame, cost, ["P@1"], title).update_layout(height=HEIGHT),
        frame,
        f"{name}-frontier",
        "Each point is a result on this data set; thin lines are 95\u00a0% intervals. The Compare page has more.",
    )


def table(runs) -> pd.DataFrame:
    """Return a line per run that can be read and was trained: its name, model, P@1 in percent, times of training."""
    titles, lines = run_names.names(runs), []
    for record in runs:
        listed = results.read(cached.measures, record)
        if listed is not None:
            (measures, times), key = listed, record["key"]
            line = {"key": key, "run": titles[key], COST: times.get("fit_s"), WORK: times.get("fit_cpu_s")}
            lines.append(line | {"P@1": 100 * value(measures, "P@k", 1)})
    frame = pd.DataFrame(lines).join(run_names.styles(runs, titles), on="run")
    return frame.dropna(subset=[COST], ignore_index=True)


def value(measures, measure, k) -> float:
    lines = measures.loc[(measures["measure"] == measure) & (measures["k"] == k), "value"]
    return float(lines.iloc[0]) if len(lines) else float("nan")


TREE_MODELS = ("PLT", "LdSM")


def about(ready) -> None:
    run, record, size = ready.run, ready.record, ready.run.size
    if run.has_model:
        per_row = format.duration(run.times["predict_ms_per_row"] / 1000)
        about = f"Mean over the test rows, all predicted in one call, {format.count(run.k, 'label')} each. "
        cards = [("Prediction", f"{per_row}/row", f"{about}By the clock, once: longer beside other work.")]
        weights = f"{size['n_weights']:,} weights that are not zero."
        cards.append(("Model in memory", format.size(size["model_bytes"]), weights))
        if run.model in TREE_MODELS:
            text = f"Over all trees; the deepest is {size['depth']} levels deep."
            cards.append(("Tree nodes", f"{size['n_nodes']:,}", text))
        tables.cards(*cards)
        st.caption(results.trained(record))
    left, right = st.columns(2, gap="large")
    with left:
        if run.has_model:
            _settings(run)
    with right:
        facts = pd.DataFrame(origin(ready).items(), columns=["what", "value"])
        columns = {"what": tables.text("Where it comes from", 190), "value": tables.text("", 260)}
        tables.show(facts, "train.facts", columns, height="content")
    if run.trials:
        _trials(run, ready.files)
    if getattr(ready.data, "vectorizer", None) is not None:
        _words(ready.data.vectorizer)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        run_changes.name_button([record], "train")
        run_changes.tags_button([record], "train")
        run_changes.delete_button([record], "train")
        if run.model in TREE_MODELS:
            addresses.link("Trees", "Look at the trees")
        if run.model == "DoubleSampling":
            addresses.link("Sampling", "Look at what was sampled")
    if run.has_model:
        run_changes.show_code(record, ready.files, "train")


def _settings(run) -> None:
    known = settings.known_parameters(run.model)
    own = {name: name not in known or value != known[name].default for name, value in run.params.items()}
    every = [(name, value, "you" if own[name] else "default") for name, value in run.params.items()]
    every += [(name, value, "the model") for name, value in run.chosen.items()]
    lines = [
        (known[name].label if name in known else name, settings.value_text(value, known.get(name)), by, name)
        for name, value, by in sorted(every, key=lambda one: one[2] == "default")
    ]
    titles = {"title": ("Setting", 185), "value": ("Value", 95), "by": ("Set by", 65), "name": ("Name in code", 130)}
    columns = {name: tables.text(*title) for name, title in titles.items()}
    tables.show(pd.DataFrame(lines, columns=[*titles]), "train.settings", columns)


def origin(ready) -> dict:
    run, record = ready.run, store.info("runs", ready.key)
    facts = {"Trained" if run.has_model else "Read": f"{format.when(run.created)} ({format.zone()})"}
    seconds = {"Prediction of all test rows": "predict_s", "Compiling code": "compile_s"}
    facts |= {name: format.duration(run.times[of]) for name, of in seconds.items() if (run.times.get(of) or 0) > 0}
    if run.memory:
        facts["Memory while training"] = format.size(grown(run.memory))
    facts |= {"Fingerprint of the data set": run.fingerprint, "Key": ready.key, "xmlcore": record.get("xmlcore", "–")}
    return facts | record.get("libraries", {}) | {"Result on disk": format.size(record["bytes"])}


def _words(vectorizer) -> None:
    """Say which features texts have, and list the trials by which they were chosen."""
    st.caption(f"Features of the texts: {format.plain(vectorizer.about)}.")
    if vectorizer.trials_:
        with st.expander(f"Chosen by {format.count(len(vectorizer.trials_), 'trial')} on training texts"):
            trials = pd.DataFrame(vectorizer.trials_).drop(columns="language")
            columns = {name: tables.number(name, format="percent") for name in trials if name.startswith("P@")}
            trials["ngrams"] = [f"{low} to {high}" for low, high in trials["ngrams"]]
            columns |= {"features": tables.text("Features"), "ngrams": tables.text("In a row")}
            columns |= {"min_df": tables.number("Min texts"), "features of a text": tables.number("Features of a text")}
            tables.show(trials, "trials of words", columns | {"texts": tables.number("Texts")})


def _trials(run, name):
    trials = pd.DataFrame(run.trials)
    adapted = " C of the best trial was then adapted to all rows." if "C" in run.chosen else ""
    options = {p.name: p.named for p in experiment.MODELS[run.model].parameters if p.name in trials and p.options}
    named = trials.assign(**{name: trials[name].map(words) for name, words in options.items()})
    charts.show_figure(
        figures.trials(named, run.chosen_trial),
        trials,
        f"{name}-trials",
        f"{format.count(len(trials), 'trial')} in {format.duration(trials['seconds'].sum())}, on samples of the "
        "training rows; test rows are not used. The highest mean of the three measures wins, a more expensive tree or "
        f"a larger C only if it is significantly better.{adapted}",
        key="wide.train.trials",
    )
