"""Noise and attacks on a kept run's test rows."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xmlcore import store
from xmlcore.experiment._runs import load_run, load_run_model, run_saved, sampled_rows
from xmlcore.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

ROBUSTNESS = "robustness"


@dataclass
class Robustness:
    """How a kept run's model holds up under noise or an attack.

    Attributes
    ----------
    run_key : str
    kind : {"gaussian", "words", "fgsm", "pgd"}
    levels : list of float
        Standard deviations, rates or budgets, as :func:`xmlcore.robustness.perturbation` takes them.
    options : dict
        Further arguments of the perturbation.
    n_repeats, seed : int
    n_rows, n_test : int
        Test rows measured, of how many.
    frame : DataFrame
        See :func:`xmlcore.robustness.evaluate`.
    surrogate : str or None
        The model that an attack was computed on, where it was not the run's own.
    seconds : float
        For all of it.
    """

    run_key: str
    kind: str
    levels: list[float]
    options: dict
    n_repeats: int
    seed: int
    n_rows: int
    n_test: int
    frame: "pd.DataFrame"
    surrogate: str | None = None
    seconds: float = 0.0


def robustness_key(
    run_key: str, kind: str, levels, options: dict | None = None, n_repeats: int = 3, seed: int = 0, n_rows=None
) -> str:
    """Key under which :func:`robustness_saved` keeps its result."""
    asked = {
        "kind": kind,
        "levels": sorted({float(level) for level in levels}),
        "options": options or {},
        "n_repeats": n_repeats,
        "seed": seed,
        "n_rows": n_rows,
    }
    return store.artifact_key(ROBUSTNESS, run_key, asked)


def robustness_saved(
    run_key: str,
    kind: str,
    levels,
    options: dict | None = None,
    n_repeats: int = 3,
    seed: int = 0,
    n_rows: int | None = None,
    progress: Progress = silent,
) -> str:
    """Measure a kept run's model under noise or an attack and keep the result; at once when it is there already.

    Parameters
    ----------
    run_key : str
        Of a run that :func:`run_saved` kept. Test rows of its data set are perturbed.
    kind, levels, options
        See :func:`xmlcore.robustness.evaluate`. Word noise draws its words from the training rows.
    n_repeats, seed : int
    n_rows : int, optional
        Measure a random sample of so many test rows; by default all.
    progress : callable, optional

    Returns
    -------
    str
        The key, for :func:`load_robustness`.

    Notes
    -----
    Where the model has no gradient, attacks are computed on a PLT with default settings, trained on the same rows (and
    kept as a run), and transferred.
    """
    from xmlcore import robustness
    from xmlcore.datasets import load_saved

    options = dict(options or {})
    key = robustness_key(run_key, kind, levels, options, n_repeats, seed, n_rows)
    if store.exists(ROBUSTNESS, key):
        return key
    progress("Reading the model", 0.0)
    start = time.perf_counter()
    found = load_run(run_key)
    model, dataset = load_run_model(run_key), load_saved(found.fingerprint)
    surrogate, said = None, None
    if kind in ("fgsm", "pgd") and not hasattr(model, "log_proba_gradient"):
        surrogate = load_run_model(run_saved(found.fingerprint, "PLT", None, found.k, progress))
        said = "PLT with default settings, trained on the same rows"
    rows = sampled_rows(dataset.n_test, n_rows, seed)
    frame = robustness.evaluate(
        model,
        dataset.X_test[rows],
        dataset.Y_test[rows],
        sigmas=sorted({float(level) for level in levels}),
        n_repeats=n_repeats,
        random_state=seed,
        perturbation=kind,
        options=options | ({"reference": dataset.X_train} if kind == "words" else {}),
        Y_train=dataset.Y_train,
        surrogate=surrogate,
        progress=progress,
    )
    result = Robustness(
        run_key=run_key,
        kind=kind,
        levels=sorted({float(level) for level in levels}),
        options=options,
        n_repeats=n_repeats,
        seed=seed,
        n_rows=rows.size,
        n_test=dataset.n_test,
        frame=frame,
        surrogate=said,
        seconds=time.perf_counter() - start,
    )
    store.save(ROBUSTNESS, key, result, run=run_key)
    return key


def load_robustness(key: str) -> Robustness:
    """Read what :func:`robustness_saved` kept; StoreError when there is none."""
    return store.load(ROBUSTNESS, key)
