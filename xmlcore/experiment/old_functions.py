"""Functions that pages called before there were tasks. To be deleted when no page calls them."""

from xmlcore.experiment.compare_selections import Comparison as Judged
from xmlcore.experiment.compare_selections import compare_selections as judge
from xmlcore.experiment.compare_selections import comparison_titles as judged_titles
from xmlcore.experiment.estimates import selection_plan as selection_estimate
from xmlcore.experiment.prefixes import prefix_points
from xmlcore.experiment.selection_stability import SelectionStability as Stability
from xmlcore.experiment.selection_stability import selection_stability as stability
from xmlcore.experiment.task import keep, load, task
from xmlcore.progress import silent

__all__ = [
    "Judged",
    "Stability",
    "judge",
    "judged_titles",
    "selection_estimate",
    "stability",
    "run_key",
    "run_saved",
    "load_run",
    "selection_key",
    "selection_saved",
    "load_selection",
    "judged_key",
    "judged_saved",
    "judged_seconds",
    "load_judged",
    "stability_key",
    "stability_saved",
    "load_stability",
    "prefix_seconds",
    "prefixes_key",
    "prefixes_saved",
    "load_prefixes",
    "robustness_key",
    "robustness_saved",
    "load_robustness",
    "explanations_key",
    "explanations_saved",
    "load_explanations",
    "sampling_key",
    "sampling_saved",
    "load_sampling",
    "reduced_key",
    "reduced_saved",
    "load_reduced",
]


def run_key(fingerprint, model, params=None, k=5):
    return task("train", {"dataset": fingerprint}, {"model": model, "params": params, "k": k}).key


def run_saved(fingerprint, model, params=None, k=5, progress=silent):
    return keep(task("train", {"dataset": fingerprint}, {"model": model, "params": params, "k": k}), progress)


def load_run(key):
    return load("train", key)


def selection_key(fingerprint, method="FALS", params=None):
    return task("select", {"dataset": fingerprint}, {"method": method, "params": params}).key


def selection_saved(fingerprint, method="FALS", params=None, progress=silent):
    return keep(task("select", {"dataset": fingerprint}, {"method": method, "params": params}), progress)


def load_selection(key):
    return load("select", key)


def _judged(fingerprint, selections, shares, seeds, n_rows):
    params = {"selections": selections, "shares": shares, "seeds": seeds, "n_rows": n_rows}
    return task("compare_selections", {"dataset": fingerprint}, params)


def judged_key(fingerprint, selections, shares=(0.1,), seeds=(0, 1, 2), n_rows=None):
    return _judged(fingerprint, selections, shares, seeds, n_rows).key


def judged_saved(fingerprint, selections, shares=(0.1,), seeds=(0, 1, 2), n_rows=None, progress=silent):
    return keep(_judged(fingerprint, selections, shares, seeds, n_rows), progress)


def judged_seconds(dataset, selections, shares, seeds, n_rows=None):
    from xmlcore.experiment import estimates
    from xmlcore.experiment.compare_selections import features_of_shares

    return estimates.comparison(
        dataset, selections, features_of_shares(sorted(shares), dataset.n_features), seeds, n_rows
    ).seconds


def load_judged(key):
    return load("compare_selections", key)


def _stability(fingerprint, method, params, seeds):
    return task("selection_stability", {"dataset": fingerprint}, {"method": method, "params": params, "seeds": seeds})


def stability_key(fingerprint, method, params=None, seeds=(0, 1, 2, 3, 4)):
    return _stability(fingerprint, method, params, seeds).key


def stability_saved(fingerprint, method, params=None, seeds=(0, 1, 2, 3, 4), progress=silent):
    return keep(_stability(fingerprint, method, params, seeds), progress)


def load_stability(key):
    return load("selection_stability", key)


def prefix_seconds(run, model):
    from xmlcore.experiment import estimates

    return estimates.prefixes(run, *prefix_points(model)).seconds


def prefixes_key(run_key):
    return task("prefixes", {"run": run_key}).key


def prefixes_saved(run_key, progress=silent):
    return keep(task("prefixes", {"run": run_key}), progress)


def load_prefixes(key):
    return load("prefixes", key).measures


def _robustness(run_key, kind, levels, options, n_repeats, seed, n_rows):
    params = {"kind": kind, "levels": levels, "options": options, "n_repeats": n_repeats, "seed": seed}
    return task("robustness", {"run": run_key}, params | {"n_rows": n_rows})


def robustness_key(run_key, kind, levels, options=None, n_repeats=3, seed=0, n_rows=None):
    return _robustness(run_key, kind, levels, options, n_repeats, seed, n_rows).key


def robustness_saved(run_key, kind, levels, options=None, n_repeats=3, seed=0, n_rows=None, progress=silent):
    return keep(_robustness(run_key, kind, levels, options, n_repeats, seed, n_rows), progress)


def load_robustness(key):
    return load("robustness", key)


def explanations_key(run_key, n_rows=200, seed=0):
    return task("explanations", {"run": run_key}, {"n_rows": n_rows, "seed": seed}).key


def explanations_saved(run_key, n_rows=200, seed=0, progress=silent):
    return keep(task("explanations", {"run": run_key}, {"n_rows": n_rows, "seed": seed}), progress)


def load_explanations(key):
    return load("explanations", key)


def _sampling(run_key, n_adversarial, examples_per_class, n_candidates, n_repeats):
    params = {"n_adversarial": n_adversarial, "examples_per_class": examples_per_class, "n_candidates": n_candidates}
    return task("sampling", {"run": run_key}, params | {"n_repeats": n_repeats})


def sampling_key(run_key, n_adversarial=(), examples_per_class=(), n_candidates=(), n_repeats=1):
    return _sampling(run_key, n_adversarial, examples_per_class, n_candidates, n_repeats).key


def sampling_saved(run_key, n_adversarial=(), examples_per_class=(), n_candidates=(), n_repeats=1, progress=silent):
    return keep(_sampling(run_key, n_adversarial, examples_per_class, n_candidates, n_repeats), progress)


def load_sampling(key):
    return load("sampling", key)


def _reduced(selection_key, model, params, per_label, n_per_label, k):
    asked = {"model": model, "params": params, "per_label": per_label, "n_per_label": n_per_label, "k": k}
    return task("reduced", {"selection": selection_key}, asked)


def reduced_key(selection_key, model, params=None, per_label=False, n_per_label=None, k=5):
    return _reduced(selection_key, model, params, per_label, n_per_label, k).key


def reduced_saved(selection_key, model="PLT", params=None, per_label=False, n_per_label=None, k=5, progress=silent):
    return keep(_reduced(selection_key, model, params, per_label, n_per_label, k), progress)


def load_reduced(key):
    return load("reduced", key)
