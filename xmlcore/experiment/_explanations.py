"""What features do in a kept run's model."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xmlcore import store
from xmlcore.experiment._runs import load_run, load_run_model, sampled_rows
from xmlcore.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

EXPLANATIONS = "explanations"


@dataclass
class Explanations:
    """What features do in a kept run's model, over many test rows.

    Attributes
    ----------
    run_key : str
    rows : ndarray of int64
        The test rows looked at.
    n_test : int
        Of how many.
    deletion : DataFrame
        See :func:`xmlcore.explain.deletion_curve`; ``row`` is a test row. Each row's label is its top-1. Without
        contributions where the model's are not those of features (DoubleSampling).
    importance : DataFrame
        See :func:`xmlcore.explain.importance`, all features.
    stability : DataFrame
        row, sigma, repeat, spearman, overlap: contributions on the clean row against those on the row with Gaussian
        noise on its present features, whose standard deviation is ``sigma`` times the mean size of the rows' values.
    """

    run_key: str
    rows: Any
    n_test: int
    deletion: "pd.DataFrame"
    importance: "pd.DataFrame"
    stability: "pd.DataFrame"


NOISE_OF_VALUES = (0.1, 0.3, 1.0)  # of the mean size of a value, when stability is measured
STABILITY_REPEATS = 5


def explanations_key(run_key: str, n_rows: int = 200, seed: int = 0) -> str:
    """Key under which :func:`explanations_saved` keeps its result."""
    return store.artifact_key(EXPLANATIONS, run_key, {"n_rows": n_rows, "seed": seed})


def explanations_saved(run_key: str, n_rows: int = 200, seed: int = 0, progress: Progress = silent) -> str:
    """Explain a sample of a kept run's test rows and keep the result; at once when it is there already.

    Parameters
    ----------
    run_key : str
        Of a run that :func:`run_saved` kept.
    n_rows : int
        Test rows with features, drawn at random; all when there are fewer.
    seed : int
    progress : callable, optional

    Returns
    -------
    str
        The key, for :func:`load_explanations`.
    """
    import numpy as np
    import pandas as pd

    from xmlcore import explain, robustness
    from xmlcore.datasets import load_saved

    key = explanations_key(run_key, n_rows, seed)
    if store.exists(EXPLANATIONS, key):
        return key
    progress("Reading the model", 0.0)
    found = load_run(run_key)
    model, dataset = load_run_model(run_key), load_saved(found.fingerprint)
    filled = np.flatnonzero(np.diff(dataset.X_test.indptr))
    rows = filled[sampled_rows(filled.size, n_rows, seed)]
    X, labels = dataset.X_test[rows], found.ranking.labels[rows, 0]
    known = labels >= 0
    rows, X, labels = rows[known], X[known], labels[known]
    of_features = explain.explains_features(model)
    methods = ("contributions", "magnitude", "random") if of_features else ("magnitude", "random")
    deletion = explain.deletion_curve(model, X, labels, methods, seed=seed, progress=progress)
    deletion["row"] = rows[deletion["row"].to_numpy()]
    importance = explain.importance(model, X, labels, n=None, progress=progress)
    size = float(np.abs(X.data).mean()) if X.nnz else 0.0
    parts = []
    for i, row in enumerate(rows):
        progress("Explaining noisy rows", i / rows.size, f"row {i + 1:,} of {rows.size:,}")
        for share in NOISE_OF_VALUES:
            noise = robustness.GaussianNoise(share * size, "nonzero")
            part = explain.stability(model, X[[i]], labels[i], noise, STABILITY_REPEATS, seed=seed, row=int(row))
            parts.append(part.assign(row=row, sigma=share))
    stability = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["row", "sigma", "repeat"])
    store.save(
        EXPLANATIONS,
        key,
        Explanations(run_key, rows, dataset.n_test, deletion, importance, stability),
        run=run_key,
    )
    return key


def load_explanations(key: str) -> Explanations:
    """Read what :func:`explanations_saved` kept; StoreError when there is none."""
    return store.load(EXPLANATIONS, key)
