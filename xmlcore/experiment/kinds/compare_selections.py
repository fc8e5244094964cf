"""Comparison of selections: by decision trees on the selected features, and with themselves with other seeds."""

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from xmlcore import metrics
from xmlcore.experiment.catalog import METHOD, N_ROWS, SEEDS, SETTINGS, with_settings
from xmlcore.experiment.engine.task import Task, register
from xmlcore.experiment.engine.times import Work
from xmlcore.experiment.kinds.select import (
    WarningsBySeed,
    key_params,
    selecting,
    selection_params,
    selection_title,
    selector,
    warm_up_selector,
)
from xmlcore.experiment.kinds.train import sampled_rows
from xmlcore.first_use import pd
from xmlcore.models.compiling import COMPILING
from xmlcore.parameters import REQUIRED, Parameter, filled
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.selection import BRDT, LIFT, agreement
from xmlcore.typing import DataFrame, Dataset
from xmlcore.validation import INT32_MAX, check_dataset, check_list

ALL = "all features"
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
VARIED = ("n_features", "random_state")  # a comparison varies these parameters of selections, and ignores their values
COLUMNS = ["method", "pattern", "share", "n_features", "seed", "measure", "value", "select_s", "seconds"]


@dataclass(frozen=True)
class Comparison:
    """How well decision trees predict with the features that selections keep."""

    # A row per method, share, seed and measure. Columns: `method` (its name by :func:`comparison_titles`, or "all
    # features"), `pattern` (of FALS, else empty), `share` (of the features that each label keeps), `n_features` (the
    # number of features that each label keeps), `seed` (of the selection and of the trees), `measure`, `value`,
    # `select_s` (seconds of the selection, which is made once for all shares), `seconds` (of the trees).
    frame: "DataFrame"
    # n_rows, n_train: number of rows that trees were trained on, and number of all training rows
    n_rows: int
    n_train: int
    # n_test_rows, n_test: number of test rows that measures were computed on, and number of all test rows
    n_test_rows: int
    n_test: int
    fingerprint: str
    # Of one share, else empty: the similarity of each selection to the first, see :func:`xmlcore.selection.agreement`.
    agreement: "DataFrame"
    seconds: float = 0.0
    # warnings of the selections. Each is listed once, with the selection and the seeds that gave it.
    warnings: list[str] = field(default_factory=list)


def compare_selections(
    dataset: "Dataset",
    selections: Sequence[Any],
    shares: Sequence[float] = SHARES,
    seeds: Sequence[int] = (0, 1, 2),
    n_rows: int | None = None,
    progress: ProgressLike = silent,
) -> Comparison:
    """Train decision trees on the features that selections keep, and measure what they predict for the test rows.

    {arguments}

    Returns
    -------
    Comparison
        Its ``frame`` has a line for each method, share, seed and measure.
    """
    check_dataset(dataset)
    progress = to_progress(progress)
    begun = time.perf_counter()
    wanted = {"selections": selections, "shares": shares, "seeds": seeds, "n_rows": n_rows}
    _, shares, seeds, n_rows = filled(CompareSelections.PARAMETERS, wanted, "compare_selections").values()
    selections, counts = _full_selections(selections), features_of_shares(shares, dataset.n_features)
    rows, tested = (sampled_rows(n, n_rows, 0) for n in (dataset.n_train, dataset.n_test))
    X, Y, X_test, Y_test = dataset.X_train[rows], dataset.Y_train[rows], dataset.X_test[tested], dataset.Y_test[tested]
    n_steps = len(seeds) * sum(1 if selection is None else 1 + len(counts) for selection in selections)
    warned, n_begun, lines, kept = WarningsBySeed(), itertools.count(), [], {}

    def step(detail, phase=None):
        """Begin the next step, and return the function to which it reports its progress."""
        at = next(n_begun)
        return part_of(progress, at / n_steps, (at + 1) / n_steps, phase=phase, detail=detail)

    def grow(fitted, count, seed, detail):
        """Train a tree per label on its best ``count`` features, and return measures and seconds."""
        start = time.perf_counter()
        if fitted is not None:
            detail += f", {count:,} feature{'' if count == 1 else 's'}"
        trees = _trees_on(fitted, count, seed, X, Y, step(detail, "Growing trees"))
        scores = trees.predict_proba(X_test)
        values = {name: float(measure.compute(Y_test, scores)) for name, measure in metrics.SCORE_MEASURES.items()}
        return values, time.perf_counter() - start

    progress(COMPILING, 0.0)
    few = np.eye(4, dtype=np.float32)
    scores = BRDT().fit(few, few > 0).predict_proba(few)
    for measure in metrics.SCORE_MEASURES.values():
        measure.compute(few > 0, scores)
    for selection, title in zip(selections, comparison_titles(selections)):
        pattern = selection[1]["pattern"] if selection is not None and selection[0] == "FALS" else ""
        if selection is not None:
            warm_up_selector(*selection)
        for seed in seeds:
            fitted, select_s, start = None, 0.0, time.perf_counter()
            if selection is not None:
                varied = {"n_features": max(counts), "random_state": seed}
                params = selection[1] | {name: value for name, value in varied.items() if name in selection[1]}
                with warned.of(title, seed):
                    fitted = selector(selection[0], params).fit(X, Y, progress=step(f"{title}, seed {seed}"))
                select_s = time.perf_counter() - start
                _keep_one_share(kept, title, fitted, counts)
            for count, share in counts.items() if fitted is not None else [(dataset.n_features, 1.0)]:
                values, seconds = grow(fitted, count, seed, f"{title}, seed {seed}")
                lines += [(title, pattern, share, count, seed, m, v, select_s, seconds) for m, v in values.items()]
    return Comparison(
        frame=pd.DataFrame(lines, columns=COLUMNS),
        n_rows=rows.size,
        n_train=dataset.n_train,
        n_test_rows=tested.size,
        n_test=dataset.n_test,
        fingerprint=dataset.fingerprint,
        seconds=time.perf_counter() - begun,
        warnings=warned.lines(),
        agreement=agreement(kept, of=next(iter(kept), None)),
    )


def _trees_on(fitted, count, seed, X, Y, progress):
    """Return decision trees on the best features of a selection, or on all; LIFT has trees on features of its own."""
    if isinstance(fitted, LIFT):
        return fitted
    return BRDT(None if fitted is None else fitted.selected_[:, :count], random_state=seed).fit(X, Y, progress=progress)


def _keep_one_share(kept, title, fitted, counts) -> None:
    """Keep what was selected, without network or trees, where only one number of features is compared."""
    if len(counts) == 1 and not isinstance(fitted, LIFT):
        found = SimpleNamespace(selected_=fitted.selected_, scores_=getattr(fitted, "scores_", None))
        kept.setdefault(title, []).append(found)


def comparison_titles(selections: Sequence[Any]) -> list[str]:
    """Return the names of selections in a comparison: the method, and what tells it from others of the same name."""
    full = [None if selection is None else (selection[0], selection_params(*selection)) for selection in selections]
    titles = [ALL if selection is None else selection_title(*selection) for selection in full]
    return [_told_apart(*of, [other for name, other in zip(titles, full) if name == of[0]]) for of in zip(titles, full)]


def _told_apart(title, selection, alike) -> str:
    """Return a title with the parameters that are not the default, of those in which selections of the title differ."""
    if selection is None or len(alike) == 1:
        return title
    default = selection_params(selection[0])
    differ = [p for p in selection[1] if len({repr(other[1][p]) for other in alike}) > 1 and p not in VARIED]
    words = ", ".join(f"{p} {selection[1][p]}" for p in differ if selection[1][p] != default[p])
    if not words:
        return title
    return title.removesuffix(")") + f", {words})" if title.endswith(")") else f"{title} ({words})"


def features_of_shares(shares, n_features: int) -> dict[int, float]:
    """Return a dict from the different numbers of features, to which shares are rounded, to the nearest share."""
    nearest = {}
    for share in shares:
        count = max(1, round(share * n_features))
        if count not in nearest or abs(share - count / n_features) < abs(nearest[count] - count / n_features):
            nearest[count] = share
    return nearest


def _full_selections(selections) -> list:
    selections = check_list(selections, "selections", "pairs of a method and its parameters")
    if not selections:
        raise ValueError("no selection to compare: give pairs of a method and its parameters, or None for all features")
    return [None if selection is None else (selection[0], selection_params(*selection)) for selection in selections]


@register
class CompareSelections(Task):
    """Compare selections by decision trees that are trained on the features that the selections keep."""

    kind, folder, result, version = "compare_selections", "judged", Comparison, 2
    computes = staticmethod(compare_selections)
    doing = "Comparing selections on {dataset}"

    PARAMETERS = (
        Parameter(
            "selections", "Selections",
            'Pairs of a method, a key of :data:`SELECTORS` or "LIFT", and its parameters; None for all features.',
            "any", REQUIRED,
        ),
        Parameter(
            "shares", "Shares", "Of the features, that each label keeps.", "floats", SHARES,
            minimum=0.0, maximum=1.0, above_minimum=True,
        ),
        replace(SEEDS, help="Of the trees, and of the selections that have a seed.", maximum=INT32_MAX),
        replace(N_ROWS, help="Size of a random sample of the rows, of the test rows, too. Empty: all."),
    )  # fmt: skip

    def complete(self, params):
        kept = []
        for selection in _full_selections(params["selections"]):
            if selection is not None:
                method, full = selection
                selection = [method, {name: value for name, value in full.items() if name not in VARIED}]
            kept.append(selection)
        return params | {"selections": kept}

    def work(self):
        """Return the work of the selections and of the trees: each label reads all values once for each of them."""
        n_rows, selections = self.params["n_rows"], _full_selections(self.params["selections"])
        works = [selecting(self.sizes, *(selection or ("ChiSquared", {}))) for selection in selections]
        n_steps = len(self.params["seeds"]) * (1 + len(self.params["shares"]))
        share = min(1.0, (n_rows or math.inf) / self.sizes["n_train"])
        values = n_steps * share * sum(work.values for work in works)
        return Work(self.kind, values, max(work.bytes for work in works), {"selections": self.params["selections"]})


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
        detail = f"seed {seed}, {at + 1:,} of {len(seeds):,}"
        report = part_of(progress, at / len(seeds), (at + 1) / len(seeds), detail=detail)
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
    computes = staticmethod(selection_stability)

    PARAMETERS = (METHOD, SETTINGS, replace(SEEDS, default=(0, 1, 2, 3, 4), help="The ones to compare, at least two."))

    def complete(self, params):
        _check_seeds(**params)
        del params["params"]["random_state"]
        return params

    def params_in_key(self):
        return key_params(self.params["method"], self.params["params"]) | {"seeds": self.params["seeds"]}

    def title_on(self, dataset):
        return f"Selecting features of {dataset} with {len(self.params['seeds'])} seeds"

    def work(self):
        work = selecting(self.sizes, self.params["method"], self.params["params"])
        return work._replace(values=len(self.params["seeds"]) * work.values)
