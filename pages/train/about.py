"""About a result: its size, times and settings, how they were chosen, its name, and the code that repeats it."""

import pandas as pd
import streamlit as st

from pages.shared import addresses, format, settings, tables
from pages.shared.figures import charts
from pages.shared.results import run_changes
from xmlcore import experiment, figures

TREE_MODELS = ("PLT", "LdSM")


def show(ready) -> None:
    run, record, size = ready.run, ready.record, ready.run.size
    cards = [
        (
            "Prediction",
            f"{format.duration(run.times['predict_ms_per_row'] / 1000)}/row",
            f"Mean over the test rows, all predicted in one call, {format.count(run.k, 'label')} each. By the clock, "
            "once: longer beside other work.",
        ),
        ("Model in memory", format.size(size["model_bytes"]), f"{size['n_weights']:,} weights that are not zero."),
    ]
    if run.model in TREE_MODELS:
        text = f"Over all trees; the deepest is {size['depth']} levels deep."
        cards.append(("Tree nodes", f"{size['n_nodes']:,}", text))
    tables.cards(cards)
    cached = record["key"] in st.session_state.get("train.from_cache", ())
    settings_text = settings.changed(run.model, run.params) or "default settings"
    trained = "From the cache, trained" if cached else "Trained"
    st.caption(f"{trained} {format.when(run.created)} with {format.plain(settings_text)}.")
    if run.chosen:
        _chosen(run, ready.files)
    links(ready)
    run_changes.show_code(record, ready.files, "train")


def links(ready) -> None:
    run, record = ready.run, ready.record
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        run_changes.name_button([record], "train")
        run_changes.delete_button([record], "train")
        if run.model in TREE_MODELS:
            addresses.link("Trees", "Look at the trees", "account_tree")
        if run.model == "DoubleSampling":
            addresses.link("Sampling", "Look at what was sampled", "filter_alt")
        addresses.link("Compare", "Details of this result", "info", run=record["key"][:12])


def _chosen(run, name):
    """Say which settings the model chose itself, and draw the trials by which it did."""
    values = format.plain(settings.chosen_words(run.model, run.chosen, run.size))
    st.caption(f"Settings left on automatic, which the model chose: {values}.")
    if not run.trials:
        return
    trials = pd.DataFrame(run.trials)
    options = {p.name: p.named for p in experiment.MODELS[run.model].parameters if p.name in trials and p.options}
    named = trials.assign(**{name: trials[name].map(words) for name, words in options.items()})
    charts.show_figure(
        figures.trials(named, run.chosen_trial),
        trials,
        f"{name}-trials",
        f"{format.count(len(trials), 'trial')} in {format.duration(trials['seconds'].sum())}: each point is a model "
        "trained on a sample of the training rows and measured on other training rows; test rows are not used. The "
        "highest mean of the three measures wins, each relative to the first trial of its sample; a dearer tree or a "
        "larger C wins only if it is better by more than chance. C is then adapted to all rows.",
        key="wide.train.trials",
    )
