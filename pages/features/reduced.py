"""A model on the selected features, beside the same model on all features."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import fields, format, settings, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import measured, results, run_names
from xmlcore import experiment


def show(view) -> None:
    selection = view.selection
    model, params, m, per_label = _choose_training(view)
    used = experiment.union_of_features(selection.selected, m).size
    union = f"the union, **{used:,} of {format.count(selection.n_features, 'feature')}**"
    learned = f"each label on its own **{format.count(m, 'feature')}**" if per_label else union
    st.markdown(f"{model} learns from {learned}, and, to compare, from all features.")
    task = experiment.task(
        "reduced",
        {"selection": view.key},
        {"model": model, "params": params, "per_label": per_label, "n_per_label": m, "k": results.K},
    )
    button = f"Train {model} on them and compare"
    tasks.shown(task, lambda result: _compare(view, result), automatic_below=0, button=button, key="features.train")


def _choose_training(view):
    selection = view.selection
    options, titles = _models(view)
    left, middle, right = st.columns([2, 1, 1], vertical_alignment="bottom")
    about = "Results of the Train page, and all models with their default settings."
    chosen = fields.choice("Model", titles, f"features.model {view.fingerprint[:8]}", place=left, help=about)
    model, params = options[chosen]
    default = selection.n_selected
    if not selection.shared:
        default = experiment.fitting_depth(selection.selected, selection.n_features // 2)
    label, most, key = f"Features per label, 1 to {selection.n_selected:,}", selection.n_selected, view.key[:8]
    about = "How many of each label’s features, the best first, go into the union; at first so many that the union "
    about += "has at most half of all features."
    m = fields.whole(label, 1, most, f"features.best {key}", default, place=middle, help=about)
    per_label = False
    if model == "OneVsRest" and params["noise_sigma"] == 0 and not selection.shared:
        only = "Each label’s classifier learns from that label’s features only, in place of the union."
        per_label = fields.switch("Each label its own", "features.per_label", True, place=right, help=only)
    return model, params, int(m), per_label


def _models(view):
    runs = [r for r in results.with_model(view.fingerprint) if r["k"] == results.K]
    options = {r["key"]: (r["model"], r["params"]) for r in runs}
    known = {model for model, params in options.values() if not settings.changed(model, params)}
    options |= {model: (model, experiment.full_params(model)) for model in experiment.MODELS if model not in known}
    untrained = [{"key": key, "model": key, "params": options[key][1]} for key in options if key in experiment.MODELS]
    names, trained = run_names.names([*runs, *untrained]), {r["key"] for r in runs}
    titles = {key: name if key in trained else f"{name}, not trained yet" for key, name in names.items()}
    return options, titles


def _compare(view, result):
    values = result.measures.set_index(["features", "measure", "k"])["value"]
    lines = [
        {"measure": f"{measure[:-1]}{k}"}
        | {features: 100 * float(values.get((features, measure, k), np.nan)) for features in ("all", "selected")}
        for measure in measured.SHOWN_MEASURES
        if ("all", measure, 1) in values.index
        for k in results.ks(view.data.n_labels)
    ]
    table = pd.DataFrame(lines, columns=["measure", "all", "selected"])
    first, sizes = table.set_index("measure").reindex(["P@1"]).iloc[0], result.numbers["model_bytes"]
    times = format.significant(sizes["selected"] / max(1, sizes["all"]), 2)
    p_at_1 = f"P@1 = **{first['selected']:.2f}\u00a0%**, on all {first['all']:.2f}\u00a0%"
    model = f"**{times} times** as large"
    st.markdown(f"On the selected features {format.bold(result.model)} has {p_at_1}; its model is {model}.")
    _cards(result)
    digits = {"format": "%.2f", "width": 100}
    tables.show(
        table.assign(difference=table["selected"] - table["all"]),
        "features.reduced",
        {
            "measure": tables.text("Measure, %", 110),
            "all": tables.number("All features", **digits),
            "selected": tables.number("Selected", **digits),
            "difference": tables.number("Difference", 100, "%+.2f"),
        },
        most=400,
    )
    took = f"The selection itself took {format.duration(result.select_s)} before"
    st.caption(f"{took}; each label contributes its {format.count(result.n_per_label, 'best feature')}.")
    file = f"{view.files}-{result.model}-{result.n_per_label}-{result.per_label:d}"
    charts.csv_button("Both results, CSV", result.measures, file)


def _cards(result):
    texts = {
        "Features": lambda n: f"{int(n['n_features']):,}",
        "Training": lambda n: format.duration(n["fit_s"]),
        "Prediction": lambda n: f"{format.duration(n['predict_ms_per_row'] / 1000)}/row",
        "Model": lambda n: format.size(n["model_bytes"]),
        "Weights": lambda n: f"{int(n['n_weights']):,}",
    }
    of = result.numbers.loc
    tables.cards(*((name, text(of["selected"]), None, f"all: {text(of['all'])}") for name, text in texts.items()))
