"""Explanations of a kept run: which features its predictions depend on, over many test rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xmlcore import explain, robustness
from xmlcore.experiment.catalog import N_ROWS, SEED
from xmlcore.experiment.engine.task import Task, register
from xmlcore.experiment.engine.times import Work
from xmlcore.experiment.kinds.train import kept_run_and_model, sampled_rows
from xmlcore.first_use import pd
from xmlcore.progress import of_phases, silent
from xmlcore.typing import DataFrame


@dataclass(frozen=True)
class Explanations:
    """Which features the predictions of a kept run depend on, over many test rows."""

    run_key: str
    rows: Any  # ids of the test rows that were explained
    n_test: int  # number of all test rows
    deletion: "DataFrame"
    importance: "DataFrame"
    # columns `row`, `sigma`, `repeat`, `spearman`, `overlap`: how similar the contributions on the clean row are to
    # those on the row with Gaussian noise on its present features. The standard deviation of the noise is `sigma` times
    # the mean absolute value of the rows' features.
    stability: "DataFrame"


# Standard deviations of the noise, relative to the mean absolute value of present features.
NOISE_OF_VALUES = (0.1, 0.3, 1.0)
SHARES = {"Removing features": 0.15, "Explaining rows": 0.05, "Explaining noisy rows": 0.8}  # of the time, roughly
PREDICTED = 500  # times that a row, without some features or with noise, is predicted and explained
STABILITY_REPEATS = 5  # number of noisy copies of a row for each standard deviation


@register
class Explain(Task):
    """Explain a sample of a kept run's test rows. Inputs: ``run``."""

    kind, folder, result, needs = "explanations", "explanations", Explanations, ("run",)
    version = 2

    PARAMETERS = (
        replace(N_ROWS, default=200, optional=False, help="Drawn at random among the test rows with features."),
        SEED,
    )

    def title_on(self, dataset):
        n_rows = self.params["n_rows"]
        return f"Explaining {n_rows:,} row{'' if n_rows == 1 else 's'} of {dataset}"

    def work(self):
        of_row = self.sizes["test_values"] / max(self.sizes["n_test"], 1)
        return Work(self.kind, PREDICTED * self.params["n_rows"] * of_row, settings=self.inputs)

    def run(self, progress=silent, files=None):
        n_rows, seed = self.params["n_rows"], self.params["seed"]
        run, model = kept_run_and_model(self.inputs["run"], progress)
        progress = of_phases(progress, SHARES)
        dataset = self.dataset()
        filled = np.flatnonzero(np.diff(dataset.X_test.indptr))
        rows = filled[sampled_rows(filled.size, n_rows, seed)]
        X, labels = dataset.X_test[rows], run.ranking.labels[rows, 0]
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
        return Explanations(self.inputs["run"], rows, dataset.n_test, deletion, importance, stability)
