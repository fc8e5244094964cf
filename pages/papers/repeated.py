"""Results that repeat a claim on the data set in use: in a few words, and as a figure."""

import functools

import pandas as pd

from pages.shared import cached, format, tasks
from pages.shared.results import results
from xmlcore import figures, papers, robustness
from xmlcore.experiment import repeating, side_by_side
from xmlcore.experiment.engine.fitting import grown
from xmlcore.models.ldsm import frames

FIRST = "one-error"  # the measure of selections in words and figures
NAMED = 3  # results named at most in a cell
_TIMES = {"fit_s": "trained", "predict_s": "predicted"}
_PLAIN = (*_TIMES, "depth")  # named in their own words


def summary(claim: papers.Claim, ready) -> str:
    """Return in a few words what the kept results on the data set in use say of a claim; empty without any."""
    if ready.data is None or claim.repeat is None:
        return ""
    kept = tasks.kept(repeating.repetitions(claim.repeat.on(ready.data), ready.fingerprint))
    return "; ".join(_WORDS[claim.repeat.kind](kept, claim.shows)[:NAMED]) if kept else ""


def _named(title, text) -> str:
    return f"{title}: {text}" if title else text


def _trained(kept, shows) -> list[str]:
    lines = []
    for title, run in kept.items():
        at_k = {name.replace("@k", f"@{k}"): value for name, k, value in run.measures.itertuples(index=False)}
        known = {name: format.percent(value) for name, value in at_k.items() if name in shows}
        known |= {name: f"{text} in {format.duration(run.times[name])}" for name, text in _TIMES.items()}
        known["depth"] = f"depth {run.size['depth']:,}" if run.size.get("depth") else None
        known["memory"] = format.size(grown(run.memory)) if grown(run.memory) else None
        texts = [known[name] if name in _PLAIN else f"{name} {known[name]}" for name in shows if known.get(name)]
        lines += [_named(title, ", ".join(texts))] if texts else []
    return lines


def _robust(kept, shows) -> list[str]:
    lines = []
    for title, result in kept.items():
        timed = "predict_s" in shows
        asked = "measure == 'predict_s'" if timed else "measure == 'P@k' and k == 1"
        frame = result.frame.query(f"{asked} and bucket == 'all'")
        of = frame[frame["k"] == frame["k"].max()].groupby("sigma")["value"].mean()
        name, shown = ("predicted in", format.duration) if timed else ("P@1", format.percent)
        text = f"{name} {shown(of.iloc[0])}, {shown(of.iloc[-1])} at σ = {of.index[-1]:g}"
        lines += [_named(title, text)] if shows else []
    return lines


def _parts(kept, _) -> list[str]:
    lines = []
    for result in kept.values():
        of = result.measures.query("axis == 'n_trees' and measure == 'P@k' and k == 1").set_index("n_trees")["value"]
        lines += [f"P@1 {format.percent(of[n])} with {format.count(n, 'tree')}" for n in (of.index[0], of.index[-1])]
    return lines


def _compared(kept, shows) -> list[str]:
    frame = kept[""].frame
    of = frame[(frame["measure"] == FIRST) & frame["share"].isin((frame["share"].min(), 1.0))]
    means = of.groupby("method", sort=False)[["value", "select_s"]].mean()
    if "select_s" in shows:
        return [f"{format.duration(s)} with {name}" for name, s in means["select_s"].items() if s]
    return [f"{FIRST} {value:.3f} with {name}" for name, value in means["value"].items() if shows]


def _sampled(kept, _) -> list[str]:
    (study,) = kept.values()
    axis, of = ("q", study.candidates.set_index("n_candidates")) if study.sweep.empty else ("κ", study.sweep)
    if axis == "κ":
        of = of[of["axis"] == "n_adversarial"].groupby("n_adversarial").mean(numeric_only=True)
    return [
        f"micro R@1 {format.percent(of['accuracy'].loc[at])} at {axis} = {at}" for at in (of.index[0], of.index[-1])
    ]


def _described(kept, _) -> list[str]:
    sizes = kept[""].summary
    nouns = {"n_train": "training row", "n_test": "test row", "n_features": "feature", "n_labels": "label"}
    return [", ".join(format.count(sizes[name], noun) for name, noun in nouns.items())]


_WORDS = {
    "train": _trained,
    "robustness": _robust,
    "prefixes": _parts,
    "compare_selections": _compared,
    "sampling": _sampled,
    "description": _described,
    "select": lambda kept, shows: [f"selected in {format.duration(kept[''].times['fit_s'])}"] if shows else [],
}


def figure(claim: papers.Claim, ready, found: dict):
    """Return the figure of a claim and its data; None if it needs what only its own page has."""
    draw = _FIGURES.get((claim.repeat.kind, claim.figure))
    return None if draw is None else draw(ready, found)


def _noise(draw, ready, found):
    runs = [result.frame.assign(run=name, rows=result.n_rows) for name, result in found.items()]
    models = dict(zip(found, ("PLT", "ExtendedPLT")))
    frame = robustness.summarise(pd.concat(runs, ignore_index=True))
    frame = frame.assign(model=frame["run"].map(models))
    return draw(frame), frame


def _measures(ready, found):
    frame = side_by_side.measures_with_intervals(ready.data, found)
    return figures.measures_compared(frame[frame["k"].isin(results.ks(ready.data.n_labels))]), frame


def _of_selections(draw, ready, found):
    frame = found[""].frame
    return draw(frame, FIRST), frame


def _trees(draw, ready, found):
    (task,) = repeating.trainings(papers.ldsm.TRAINED.on(ready.data), ready.fingerprint).values()
    return draw(cached.model(task.key), ready.data.n_labels)


def _depths(model, n_labels):
    frame = frames.depth_frame(model.trees_)
    return figures.leaf_depths(frame, n_labels, model.trees_[0].children.shape[1]), frame


def _objective(draw, make, model, n_labels):
    frame = make(model.trees_, (model.integrity_weight, model.multiway_weight))
    return draw(frame), frame


def _one(draw, name, ready, found):
    (result,) = found.values()
    frame = getattr(result, name)
    return None if frame is None else (draw(frame), frame)  # a comparison of an earlier version has no agreement


_FIGURES = {
    ("robustness", "robustness_curves"): functools.partial(_noise, figures.robustness_curves),
    ("robustness", "prediction_times"): functools.partial(_noise, figures.prediction_times),
    ("train", "measures_compared"): _measures,
    ("train", "leaf_depths"): functools.partial(_trees, _depths),
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
    ("compare_selections", "patterns_compared"): functools.partial(_of_selections, figures.patterns_compared),
    ("compare_selections", "score_against_share"): functools.partial(_of_selections, figures.score_against_share),
    ("compare_selections", "selections_agree"): functools.partial(_one, figures.selections_agree, "agreement"),
}
