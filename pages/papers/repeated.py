"""Results that repeat a claim on the data set in use: their values, in a few words with a verdict, and as a figure."""

import functools
import math

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import cached, format, tasks
from pages.shared.results import comparisons, results
from xmlcore import experiment, figures, papers, robustness
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
    facts = _facts(repeat, ready)
    found = _VALUES[repeat.kind](kept, facts) if kept else {}
    if not (lines := said(found, claim.shows or _ALWAYS.get(repeat.kind, ()))):
        return ""
    flat = {f"{name} of {title}" if title else name: value for title, of in found.items() for name, value in of.items()}
    return f"{claim.verdict_on(facts | flat)}: {'; '.join(lines[:NAMED])}"


def said(found: dict, shows) -> list[str]:
    """Return a text per result of its values whose names, before " at ", are shown."""
    lines = []
    for title, values in found.items():
        shown = [name for name in values if name.partition(" at ")[0] in shows]
        texts = ", ".join(_written(*name.partition(" at "), values[name]) for name in shown)
        lines += [f"{title}: {texts}" if title else texts] if texts else []
    return lines


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


def _trained(kept, _):
    found = {}
    for title, run in kept.items():
        at_k = {name.replace("@k", f"@{k}"): value for name, k, value in run.measures.itertuples(index=False)}
        known = at_k | run.times | {"depth": run.size.get("depth"), "memory": grown(run.memory)}
        found[title] = {name: value for name, value in known.items() if value is not None}
    return found


def _robust(kept, _):
    found = {}
    for title, result in kept.items():
        of = found[title] = {}
        every = result.frame[result.frame["bucket"] == "all"].groupby(["measure", "k", "sigma"])["value"].mean()
        for name, at in (("P@1", ("P@k", 1)), ("predict_s", ("predict_s", result.frame["k"].max()))):
            mean = every.loc[at] if at in every.index else ()
            if len(mean):
                of |= {name: mean.iloc[0], f"{name} at σ = {mean.index[-1]:g}": mean.iloc[-1]}
                of |= {f"{name} lost": 1 - mean.iloc[-1] / (mean.iloc[0] or math.nan)}
    return found


def _parts(kept, facts):
    found = {}
    for title, result in kept.items():
        rows = result.measures.query("measure == 'P@k' and k == 1")
        trees, nodes = (rows[rows["axis"] == axis].set_index(axis) for axis in ("n_trees", "max_nodes"))
        value, of = trees["value"], nodes["value"]
        found[title] = {f"P@1 at {format.count(n, 'tree')}": value[n] for n in (value.index[0], value.index[-1])}
        if value.index[-1] > 10:
            found[title]["gain after ten trees"] = value.iloc[-1] / value[value.index <= 10].iloc[-1] - 1
        if len(of) > 1:
            doublings = math.log(of.index[-1] / of.index[0], facts["arity"])
            found[title]["levels of M times the nodes"] = np.ptp(nodes["depth"]) / doublings
            found[title]["gain of nodes"] = of.iloc[-1] / of.iloc[0] - 1
    return found


def _compared(kept, facts):
    frame, found = kept[""].frame, {}
    of = frame[(frame["measure"] == FIRST) & frame["share"].isin((frame["share"].min(), 1.0))]
    alike = kept[""].agreement
    jaccard = {} if alike is None else alike.groupby("b")["jaccard"].mean()
    for method, rows in of.groupby("method", sort=False):
        name = method
        for size in ("D", "C"):
            name = name.replace(f"n_hidden {facts[size]}", f"n_hidden {size}")
        found[name] = {FIRST: rows["value"].mean(), "select_s": rows["select_s"].mean()}
        found[name] |= {"Jaccard": jaccard[method]} if method in jaccard else {}
    return found


def _sampled(kept, _):
    (study,) = kept.values()
    axis, of = ("q", study.candidates.set_index("n_candidates")) if study.sweep.empty else ("κ", study.sweep)
    if axis == "κ":
        of = of[of["axis"] == "n_adversarial"].groupby("n_adversarial").mean(numeric_only=True)
    ends = {at: of["accuracy"].loc[at] for at in (of.index[0], of.index[-1])}
    named = dict(zip((f"least {axis}", f"most {axis}"), ends.values()))
    return {"": {f"micro R@1 at {axis} = {at}": value for at, value in ends.items()} | named}


_VALUES = {
    "train": _trained,
    "robustness": _robust,
    "prefixes": _parts,
    "compare_selections": _compared,
    "sampling": _sampled,
    "description": lambda kept, _: {"": {noun: kept[""].summary[name] for name, noun in _SIZES.items()}},
    "select": lambda kept, _: {"": {"select_s": kept[""].times["fit_s"]}},
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


def _of_selections(draw, _, ready, found):
    frame = found[""].frame
    return draw(frame, FIRST), frame


def _networks(claim, ready, found):
    selections = filter(None, claim.repeat.on(ready.data).params["selections"])
    full = [(method, experiment.selection_params(method, own)) for method, own in selections]
    frame = comparisons.networks(found[""], full, ready.data)
    return figures.networks_compared(frame, FIRST), frame


def _significance(claim, ready, _):
    (task,) = repeating.repetitions(claim.repeat.on(ready.data), ready.fingerprint).values()
    drawn, p, n = comparisons.significance(task, FIRST)
    if drawn is None:
        st.caption(f"The figure needs this comparison on {comparisons.LEAST_DATA_SETS} data sets: {n} so far.")
    return drawn and (drawn, p)


def _gradients(_, ready, found):
    positive = found[""].positive
    if positive is None:  # a selection of an earlier version
        return None
    frame = positive_frame(ready.data, positive)
    return figures.positive_gradients(frame), frame


def _bound(_, ready, found):
    rows = np.bincount(ready.data.Y_train.indices, minlength=ready.data.n_labels)
    kappas = np.unique(np.geomspace(1, max(1, np.count_nonzero(rows) - 1), 12).astype(int))
    frame = candidates.bound_terms(rows, kappas, (1, 2, 5))
    return figures.bound_terms(frame), frame


def _trees(draw, claim, ready, found):
    (task, *_) = repeating.trainings(claim.repeat.on(ready.data), ready.fingerprint).values()
    return draw(cached.model(task.key), claim, ready)


def _depths(model, _, ready):
    frame = frames.depth_frame(model.trees_)
    return figures.leaf_depths(frame, ready.data.n_labels, model.trees_[0].children.shape[1]), frame


def _depths_over(model, claim, ready):
    columns = {"dataset": "name", "labels": "n_labels", "depth, deepest tree": "depth", "arity": "arity"}
    printed = claim.values().rename(columns=columns).dropna(subset="depth").assign(group="published")
    own = {"name": ready.name, "n_labels": ready.data.n_labels, "depth": model.size()["depth"], "arity": model.arity}
    frame = pd.concat([printed, pd.DataFrame([own | {"group": "here"}])])[["group", *columns.values()]]
    return figures.depths_over_labels(frame), frame


def _objective(draw, make, model, *_):
    frame = make(model.trees_, (model.integrity_weight, model.multiway_weight))
    return draw(frame), frame


def _one(draw, name, _, ready, found):
    (result,) = found.values()
    frame = getattr(result, name)
    return None if frame is None else (draw(frame), frame)  # a comparison of an earlier version has no agreement


_FIGURES = {
    ("robustness", "robustness_curves"): functools.partial(_noise, figures.robustness_curves),
    ("robustness", "prediction_times"): functools.partial(_noise, figures.prediction_times),
    ("train", "measures_compared"): _measures,
    ("train", "bound_terms"): _bound,
    ("train", "leaf_depths"): functools.partial(_trees, _depths),
    ("train", "depths_over_labels"): functools.partial(_trees, _depths_over),
    **{
        ("train", draw.__name__): functools.partial(_trees, functools.partial(_objective, draw, make))
        for draw, make in (
            (figures.objective_by_depth, frames.objective_by_depth),
            (figures.objective_at_depths, frames.training_by_depth),
            (figures.lemma_bounds, frames.lemmas_frame),
        )
    },
    ("prefixes", "measures_of_prefixes"): functools.partial(_one, figures.measures_of_prefixes, "measures"),
    ("sampling", "sampling_sweep"): functools.partial(_one, figures.sampling_sweep, "sweep"),
    ("sampling", "candidate_curves"): functools.partial(_one, figures.candidate_curves, "candidates"),
    ("select", "positive_gradients"): _gradients,
    ("compare_selections", "networks_compared"): _networks,
    ("compare_selections", "significance_diagram"): _significance,
    ("compare_selections", "patterns_compared"): functools.partial(_of_selections, figures.patterns_compared),
    ("compare_selections", "score_against_share"): functools.partial(_of_selections, figures.score_against_share),
    ("compare_selections", "selections_agree"): functools.partial(_one, figures.selections_agree, "agreement"),
}
