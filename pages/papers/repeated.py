"""Results that repeat a claim on the data set in use: their values, in a few words with a verdict, and as a figure."""

import math
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import cached, format, tables, tasks
from pages.shared.results import comparisons, results
from xmlcore import figures, papers, robustness
from xmlcore.experiment import repeating, side_by_side
from xmlcore.experiment.engine.fitting import grown
from xmlcore.explain import candidates
from xmlcore.models.ldsm import frames
from xmlcore.selection.frames import positive_frame

FIRST = "one-error"  # the measure of selections in words and figures
NAMED = 3  # results named at most in a cell
_SIZES = {"n_train": "training row", "n_test": "test row", "n_features": "feature", "n_labels": "label"}
_SAID = {"fit_s": "trained in", "predict_s": "predicted in", "select_s": "selected in"}
_ALWAYS = {"prefixes": ["P@1"], "sampling": ["micro R@1"], "description": _SIZES.values()}  # shown by every claim


def summary(claim: papers.Claim, ready) -> str:
    """Return in a few words what the kept results on the data set in use say of a claim; empty without any."""
    if ready.data is None or claim.repeat is None:
        return ""
    repeat = claim.repeat.on(ready.data)
    kept = tasks.kept(repeating.repetitions(repeat, ready.fingerprint))
    found, flat = {}, _facts(repeat, ready)
    for title, result in kept.items():
        found |= {title or method: values for method, values in _VALUES[repeat.kind](result, flat).items()}
    lines = said(found, claim.shows or _ALWAYS.get(repeat.kind, ()))
    flat |= {
        f"{name} of {title}" if title else name: value for title, of in found.items() for name, value in of.items()
    }
    left = [f"and {len(lines) - NAMED} more"] if len(lines) > NAMED else []
    return f"{claim.verdict_on(flat)}: {'; '.join(lines[:NAMED] + left)}" if lines else ""


def said(found: dict, shows) -> list[str]:
    """Return a text per result of its values whose names, before " at ", are shown."""
    lines = {}
    for title, values in found.items():
        named = ((name.partition(" at "), value) for name, value in values.items())
        lines[title] = ", ".join(_written(*name, value) for name, value in named if name[0] in shows)
    return [f"{title}: {text}" if title else text for title, text in lines.items() if text]


def _written(name, at, where, value) -> str:
    if name in _SIZES.values():
        return format.count(int(value), name)
    if name in _SAID:
        return f"{_SAID[name]} {format.duration(value)}{at}{where}"
    text = f"{value:,.0f}" if name == "depth" else f"{value:.3f}" if name == FIRST else format.percent(value)
    return f"{name} {format.size(value) if name == 'memory' else text}{at}{where}"


def _facts(repeat, ready) -> dict[str, float]:
    """Return what claims ask of the data set and of the model's settings."""
    data, (model, *_) = ready.data, [*repeating.trainings(repeat, ready.fingerprint).values(), None]
    arity = (model.params["params"] if model else {}).get("arity", 2)
    density = data.X_train.nnz / max(1, data.n_train * data.n_features)
    sizes = {"arity": arity, "D": data.n_features, "C": data.n_labels}
    return {"density": density, "log_M L": math.log(max(2, data.n_labels), arity), **sizes}


def _trained(run, _):
    at_k = {name.replace("@k", f"@{k}"): value for name, k, value in run.measures.itertuples(index=False)}
    known = at_k | run.times | {"depth": run.size.get("depth"), "memory": grown(run.memory) or None}
    return {"": {name: value for name, value in known.items() if value is not None}}


def _robust(result, _):
    values, frame = {}, result.frame[result.frame["bucket"] == "all"]
    for measure, k, name in (("P@k", 1, "P@1"), ("predict_s", frame["k"].max(), "predict_s")):
        mean = frame[(frame["measure"] == measure) & (frame["k"] == k)].groupby("sigma")["value"].mean()
        if len(mean):
            values |= {name: mean.iloc[0], f"{name} at σ = {mean.index[-1]:g}": mean.iloc[-1]}
            values[f"{name} lost"] = 1 - mean.iloc[-1] / (mean.iloc[0] or math.nan)
    return {"": values}


def _parts(result, facts):
    rows = result.measures.query("measure == 'P@k' and k == 1")
    trees, nodes = (rows[rows["axis"] == axis].set_index(axis) for axis in ("n_trees", "max_nodes"))
    value, of = trees["value"], nodes["value"]
    values = {f"P@1 at {format.count(n, 'tree')}": value[n] for n in (value.index[0], value.index[-1])}
    if value.index[-1] > 10:
        values["gain after ten trees"] = value.iloc[-1] / value[value.index <= 10].iloc[-1] - 1
    if len(of) > 1:
        times = math.log(of.index[-1] / of.index[0], facts["arity"])
        values["levels of M times the nodes"] = np.ptp(nodes["depth"]) / times
        values["gain of nodes"] = of.iloc[-1] / of.iloc[0] - 1
    return {"": values}


def _compared(comparison, facts):
    frame, alike = comparison.frame, comparison.agreement
    of = frame[(frame["measure"] == FIRST) & frame["share"].isin((frame["share"].min(), 1.0))]
    of = of.replace({"select_s": {0.0: np.nan}})  # all features take no time
    means = of.groupby("method", sort=False)[["value", "select_s"]].mean().rename(columns={"value": FIRST})
    means["Jaccard"] = alike.groupby("b")["jaccard"].mean()
    for size in ("D", "C"):
        means.index = [name.replace(f"(n_hidden {facts[size]})", f"(n_hidden {size})") for name in means.index]
    return {method: values.dropna().to_dict() for method, values in means.iterrows()}


def _sampled(study, _):
    axis, of = ("q", study.candidates.set_index("n_candidates")) if study.sweep.empty else ("κ", study.sweep)
    if axis == "κ":
        of = of[of["axis"] == "n_adversarial"].groupby("n_adversarial").mean(numeric_only=True)
    least, most = of["accuracy"].iloc[[0, -1]]
    values = {f"micro R@1 at {axis} = {of.index[0]}": least, f"micro R@1 at {axis} = {of.index[-1]}": most}
    return {"": values | {f"least {axis}": least, f"most {axis}": most}}


_VALUES = {
    "train": _trained,
    "robustness": _robust,
    "prefixes": _parts,
    "compare_selections": _compared,
    "sampling": _sampled,
    "description": lambda result, _: {"": {noun: result.summary[name] for name, noun in _SIZES.items()}},
    "select": lambda selection, _: {"": {"select_s": selection.times["fit_s"]}},
}


def figure(claim: papers.Claim, ready, found: dict):
    """Return the figure of a claim and its data; None if it needs what only its own page has."""
    draw = _FIGURES.get((claim.repeat.kind, claim.figure))
    return None if draw is None else draw(claim, ready, found)


def _noise(draw, _, ready, found):
    runs = [result.frame.assign(run=name, rows=result.n_rows) for name, result in found.items()]
    models = dict(zip(found, ("PLT", "ExtendedPLT")))
    frame = robustness.summarise(pd.concat(runs, ignore_index=True))
    frame = frame.assign(model=frame["run"].map(models))
    return draw(frame), frame


def _measures(_, ready, found):
    frame = side_by_side.measures_with_intervals(ready.data, found)
    return figures.measures_compared(frame[frame["k"].isin(results.ks(ready.data.n_labels))]), frame


def _networks(claim, ready, found):
    frame = comparisons.networks(found[""], comparisons.of_fals(claim.repeat, ready.data), ready.data)
    return figures.networks_compared(frame, FIRST), frame


def _significance(claim, ready, _):
    (task,) = repeating.repetitions(claim.repeat.on(ready.data), ready.fingerprint).values()
    return comparisons.significance(task, FIRST)


def _gradients(_, ready, found):
    positive = found[""].positive
    if positive is None:
        st.caption("Not drawn: a data set with so many labels and features has too many gradients to count.")
        return None
    frame = positive_frame(ready.data, positive)
    return figures.positive_gradients(frame), frame


def _bound(_, ready, __) -> None:
    """Show the terms of the bound with the paper's κ and examples per class, which no figure has."""
    asked, sizes = papers.double_sampling.SWEEP.params, np.bincount(ready.data.Y_train.indices)
    frame = candidates.bound_terms(sizes, asked["n_adversarial"], asked["examples_per_class"])
    st.caption("Terms that the bound adds to the risk over the sample, beside the complexity, with δ = 5\u00a0%:")
    names = dict(zip(frame, ("κ", "π", "Stated", "α", "β", "By pairs", "By classes")))
    columns = {name: st.column_config.Column(title) for name, title in names.items()}
    tables.show(frame.round(3), "papers.bound", columns, first=tuple(frame), most=340)


def _model(claim, ready):
    (task, *_) = repeating.trainings(claim.repeat.on(ready.data), ready.fingerprint).values()
    return cached.model(task.key)


def _depths(claim, ready, _):
    model = _model(claim, ready)
    frame = frames.depth_frame(model.trees_)
    return figures.leaf_depths(frame, ready.data.n_labels, model.arity), frame


def _depths_over(claim, ready, _):
    model = _model(claim, ready)
    columns = {"dataset": "name", "labels": "n_labels", "depth, deepest tree": "depth", "arity": "arity"}
    printed = claim.values().rename(columns=columns).dropna(subset="depth").assign(group="published")
    own = {"name": ready.name, "n_labels": ready.data.n_labels, "depth": model.size()["depth"], "arity": model.arity}
    frame = pd.concat([printed, pd.DataFrame([own | {"group": "here"}])])[["group", *columns.values()]]
    return figures.depths_over_labels(frame), frame


def _objective(draw, make, claim, ready, _):
    model = _model(claim, ready)
    frame = make(model.trees_, (model.integrity_weight, model.multiway_weight))
    return draw(frame), frame


def _one(draw, name, _, ready, found, **also):
    (result,) = found.values()
    frame = getattr(result, name)
    return draw(frame, **also), frame


_FIGURES = {
    ("robustness", "robustness_curves"): partial(_noise, figures.robustness_curves),
    ("robustness", "prediction_times"): partial(_noise, figures.prediction_times),
    ("train", "measures_compared"): _measures,
    ("train", "bound_terms"): _bound,
    ("train", "leaf_depths"): _depths,
    ("train", "depths_over_labels"): _depths_over,
    ("train", "objective_by_depth"): partial(_objective, figures.objective_by_depth, frames.objective_by_depth),
    ("train", "objective_at_depths"): partial(_objective, figures.objective_at_depths, frames.training_by_depth),
    ("train", "lemma_bounds"): partial(_objective, figures.lemma_bounds, frames.lemmas_frame),
    ("prefixes", "measures_of_prefixes"): partial(_one, figures.measures_of_prefixes, "measures"),
    ("sampling", "sampling_sweep"): partial(_one, figures.sampling_sweep, "sweep"),
    ("sampling", "candidate_curves"): partial(_one, figures.candidate_curves, "candidates"),
    ("select", "positive_gradients"): _gradients,
    ("compare_selections", "networks_compared"): _networks,
    ("compare_selections", "significance_diagram"): _significance,
    ("compare_selections", "patterns_compared"): partial(_one, figures.patterns_compared, "frame", measure=FIRST),
    ("compare_selections", "score_against_share"): partial(_one, figures.score_against_share, "frame", measure=FIRST),
    ("compare_selections", "selections_agree"): partial(_one, figures.selections_agree, "agreement"),
}
