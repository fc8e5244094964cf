"""Stability of selections: how similar the features are that a method keeps with different seeds."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from xmlcore.experiment.engine import estimates
from xmlcore.experiment.engine.task import Estimate, Task, as_plain, register
from xmlcore.experiment.engine.task_parameters import METHOD, SEEDS, SETTINGS, with_settings
from xmlcore.experiment.kinds.select import WarningsBySeed, key_params, selection_title, selector, warm_up_selector
from xmlcore.parameters import filled
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.selection import agreement
from xmlcore.typing import DataFrame, Dataset
from xmlcore.validation import check_dataset


@dataclass(frozen=True)
class SelectionStability:
    """How similar the selections of one method with different seeds are."""

    method: str
    params: dict  # parameters of the selection; the seed among them is not used
    seeds: list[int]
    # A row per pair of seeds, with the columns `seed_a`, `seed_b`, `jaccard`, `spearman` (means over labels)
    pairs: "DataFrame"
    # jaccard similarity and Spearman correlation of each label, means over pairs of seeds. The Spearman correlation is
    # taken over the features that at least one of the two seeds keeps. It is below 0 if the seeds have few features in
    # common, and says little if they keep few features.
    labels: Any
    # the part of the features kept with one seed that are also kept with another: mean over labels and pairs of seeds
    share: float
    chance: float  # expected Jaccard similarity of two sets of this size that are drawn at random
    # n_selected, n_features: number of features that each label keeps, and number of all features
    n_selected: int
    n_features: int
    seconds: float = 0.0  # time of all selections and their comparison
    # warnings of the selections. Each is listed once, with the seeds that gave it.
    warnings: list[str] = field(default_factory=list)


def selection_stability(
    dataset: "Dataset",
    method: str = "FALS",
    params: dict[str, Any] | None = None,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    progress: ProgressLike = silent,
) -> SelectionStability:
    """Make a selection with several seeds, and compare what each label keeps."""
    check_dataset(dataset)
    progress = to_progress(progress)
    start = time.perf_counter()
    given = {"method": method, "params": params, "seeds": seeds}
    given = with_settings(filled(MeasureSelectionStability.PARAMETERS, given, "selection_stability"))
    _check_seeds(**given)
    params, seeds = given["params"], given["seeds"]
    warm_up_selector(method, params)
    fitted, warned = [], WarningsBySeed()
    for at, seed in enumerate(seeds):

        def report(phase, fraction, detail="", *, at=at, seed=seed):
            progress(phase, (at + fraction) / len(seeds), f"seed {seed}, {at + 1:,} of {len(seeds):,}")

        unfitted = selector(method, params | {"random_state": seed})
        with warned.of(selection_title(method, params), seed):
            fitted.append(unfitted.fit(dataset.X_train, dataset.Y_train, progress=report))
    lines = agreement({"": fitted}, per_label=True, progress=progress)
    lines = lines.assign(seed_a=np.take(seeds, lines["seed_a"]), seed_b=np.take(seeds, lines["seed_b"]))
    measures = ["jaccard", "spearman"]
    k, d = fitted[0].selected_.shape[1], dataset.n_features
    return SelectionStability(
        method=method,
        params=params,
        seeds=seeds,
        pairs=lines.groupby(["seed_a", "seed_b"], as_index=False)[measures].mean(),
        labels=lines.groupby("label")[measures].mean().to_numpy(np.float64).T,
        share=float((2 * lines["jaccard"] / (1 + lines["jaccard"])).mean()),  # for sets of equal size
        chance=expected_jaccard(k, d),
        n_selected=k,
        n_features=d,
        seconds=time.perf_counter() - start,
        warnings=warned.lines(),
    )


def expected_jaccard(k: int, n_features: int) -> float:
    """Return the expected Jaccard similarity of two sets of k of ``n_features`` features, drawn at random."""
    from scipy.stats import hypergeom

    common = np.arange(max(0, 2 * k - n_features), k + 1)
    return float(hypergeom.pmf(common, n_features, k, k) @ (common / (2 * k - common)))


def _check_seeds(method, params, seeds) -> None:
    if "random_state" not in params:
        raise ValueError(f"{method} has no seed: it always keeps the same features")
    if len(seeds) < 2:
        raise ValueError("one seed has nothing to be compared with: give at least two seeds")


@register
class MeasureSelectionStability(Task):
    """Make a selection with several seeds, and compare what each label keeps."""

    kind, folder, result = "selection_stability", "stability", SelectionStability

    PARAMETERS = (METHOD, SETTINGS, replace(SEEDS, default=(0, 1, 2, 3, 4), help="The ones to compare, at least two."))

    def complete(self, params):
        _check_seeds(**params)
        del params["params"]["random_state"]
        return params

    def params_in_key(self):
        return key_params(self.params["method"], self.params["params"]) | {"seeds": self.params["seeds"]}

    def title_on(self, dataset):
        return f"Selecting features of {dataset} with {len(self.params['seeds'])} seeds"

    def estimate(self) -> Estimate:
        method, params, times = self.params["method"], self.params["params"], len(self.params["seeds"])
        return estimates.selection(self.dataset(), method, params, times)

    def run(self, progress=silent, files=None):
        return as_plain(selection_stability(self.dataset(progress), progress=progress, **self.params))
