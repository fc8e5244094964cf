"""How good selections are: decision trees on the features they keep, and how much of them stays with another seed."""

import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from xmlcore import metrics
from xmlcore.experiment.select import (
    asked_for,
    selection_estimate,
    selection_params,
    selection_title,
    selector,
    tree_seconds,
    warm_up_selector,
)
from xmlcore.experiment.task import Estimate, Task, as_plain, keep, load, register, task
from xmlcore.experiment.train import check_names, sampled_rows
from xmlcore.progress import Progress, silent
from xmlcore.validation import INT32_MAX, check_count

if TYPE_CHECKING:
    import pandas as pd

    from xmlcore.datasets import Dataset

JUDGED = "judged"
STABILITY = "stability"
ALL = "all features"
MEASURES = ("Hamming loss", "one-error", "ranking loss", "average precision", "micro-AUC")
SMALLER_IS_BETTER = MEASURES[:3]
VARIED = ("n_features", "random_state")  # whatever a selection has, the shares and the seeds are tried
COLUMNS = ["method", "pattern", "share", "n_features", "seed", "measure", "value", "select_s", "seconds"]


@dataclass(frozen=True)
class Judged:
    """What decision trees make of selections.

    Attributes
    ----------
    frame : DataFrame
        A row per method, share, seed and measure: ``method`` (as :func:`selection_title` has it, or "all features"),
        ``pattern`` (FALS's, else empty), ``share`` of the features that each label keeps, ``n_features`` they are,
        ``seed`` (of the selection and of the trees), ``measure``, ``value``, ``select_s`` (seconds of the selection,
        which is made once for all shares), ``seconds`` (of the trees).
    n_rows, n_train, n_test_rows, n_test : int
        Rows trained on and measured, of how many.
    fingerprint, seconds
    warnings : list of str
        Of the selections, each once, with the selection and the seeds that it is about.
    """

    frame: "pd.DataFrame"
    n_rows: int
    n_train: int
    n_test_rows: int
    n_test: int
    fingerprint: str
    seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)


def judge(
    dataset: "Dataset",
    selections,
    shares=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
    seeds=(0, 1, 2),
    n_rows: int | None = None,
    progress: Progress = silent,
) -> Judged:
    """Train decision trees on the features that selections keep, and measure what they predict for the test rows.

    Parameters
    ----------
    dataset : Dataset
    selections : sequence
        Pairs of a method and its parameters, as :func:`select` takes them; None stands for all features. Of a selection
        the share is varied, so its own number of features does not count.
    shares : sequence of float in (0, 1]
        Of the features, for each label. A selection is made once, for the largest of them: its best first are what a
        smaller one would keep. Of shares that come to the same number of features, the nearest to it is measured.
    seeds : sequence of int
        Of selections that have one, and of the trees: from 0 to 2**31 - 1, which all of them take.
    n_rows : int, optional
        Train on a random sample of so many training rows, and measure at most as many test rows; by default all.
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`; an exception from it stops the work.

    Returns
    -------
    Judged

    Raises
    ------
    ValueError, TypeError
        Shares, seeds or selections that cannot be; these are looked at before anything is done.

    Notes
    -----
    Labels of equal score, which trees give many, count as if in random order: one-error, ranking loss and average
    precision are taken with ``ties="mean"``, and micro-AUC is so by definition. The default of ranking loss and average
    precision, the worst order, would favour selections whose trees leave fewer ties.
    """
    import pandas as pd

    from xmlcore.selection import BRDT

    start = time.perf_counter()
    asked = _asked(selections, shares, seeds, n_rows)
    rows, tested = (sampled_rows(n, n_rows, 0) for n in (dataset.n_train, dataset.n_test))
    X, Y, X_test, Y_test = dataset.X_train[rows], dataset.Y_train[rows], dataset.X_test[tested], dataset.Y_test[tested]
    d, lines, warned = dataset.n_features, [], _Warned()
    counts = _counts(asked["shares"], d)
    work = _Work(dataset, asked, rows.size, progress)
    progress("Compiling kernels", 0.0)
    few = np.eye(4, dtype=np.float32)
    _measured(few > 0, BRDT().fit(few, few > 0).predict_proba(few))
    for one, title in zip(asked["selections"], judged_titles(asked["selections"])):
        pattern = one[1]["pattern"] if one is not None and one[0] == "FALS" else ""
        if one is not None:
            progress("Compiling kernels", work.fraction)
            warm_up_selector(*one)
        for seed in asked["seeds"]:
            about = f"{title}, seed {seed}"
            select_s, fitted = 0.0, None
            if one is not None:
                with warned.of(title, seed):
                    fitted, select_s = _fit(one, {"n_features": max(counts), "random_state": seed}, X, Y, work, about)
            for count, share in counts.items() if fitted is not None else [(d, 1.0)]:
                began = time.perf_counter()
                selected = None if fitted is None else fitted.selected_[:, :count]
                trees = BRDT(selected, random_state=seed).fit(
                    X,
                    Y,
                    progress=work.step("Growing trees", about + ("" if fitted is None else f", {_features(count)}")),
                )
                values = _measured(Y_test, trees.predict_proba(X_test))
                seconds = time.perf_counter() - began
                work.done()
                lines += [(title, pattern, share, count, seed, m, v, select_s, seconds) for m, v in values.items()]
    return Judged(
        frame=pd.DataFrame(lines, columns=COLUMNS),
        n_rows=rows.size,
        n_train=dataset.n_train,
        n_test_rows=tested.size,
        n_test=dataset.n_test,
        fingerprint=dataset.fingerprint,
        seconds=time.perf_counter() - start,
        warnings=warned.lines(),
    )


def judged_titles(selections) -> list[str]:
    """What :func:`judge` calls selections: what sets apart those of one method is added.

    Parameters
    ----------
    selections : sequence
        See :func:`judge`.
    """
    full = [None if one is None else (one[0], selection_params(*one)) for one in selections]
    titles = [ALL if one is None else selection_title(*one) for one in full]
    said = []
    for title, one in zip(titles, full):
        alike = [other for name, other in zip(titles, full) if name == title]
        if one is None or len(alike) == 1:
            said.append(title)
            continue
        differ = [p for p in one[1] if len({repr(other[1][p]) for other in alike}) > 1 and p not in VARIED]
        what = ", ".join(f"{p} {one[1][p]}" for p in differ)
        said.append(title.removesuffix(")") + f", {what})" if title.endswith(")") else f"{title} ({what})")
    return said


def _measured(Y, scores) -> dict:
    found = (
        metrics.hamming_loss(Y, scores > 0.5),
        metrics.one_error(Y, scores, ties="mean"),
        metrics.ranking_loss(Y, scores, ties="mean"),
        metrics.average_precision(Y, scores, ties="mean"),
        metrics.micro_auc(Y, scores),
    )
    return dict(zip(MEASURES, map(float, found)))


def _fit(one, changed, X, Y, work, about):
    """A selection with other parameters, as far as it has them; and its seconds."""
    method, params = one[0], selection_params(*one)
    params |= {name: value for name, value in changed.items() if name in params}
    start = time.perf_counter()
    fitted = selector(method, params).fit(X, Y, progress=work.step(None, about))
    work.done()
    return fitted, time.perf_counter() - start


def _counts(shares, n_features) -> dict:
    """Numbers of features, each once, and the share that comes nearest to each."""
    found = {}
    for share in shares:
        count = max(1, round(share * n_features))
        if count not in found or abs(share - count / n_features) < abs(found[count] - count / n_features):
            found[count] = share
    return found


def _features(count) -> str:
    return f"{count:,} feature{'' if count == 1 else 's'}"


class _Warned:
    """Warnings of selections, which would reach only the log of a worker process."""

    def __init__(self):
        self.seeds = {}  # title, message -> seeds

    @contextmanager
    def of(self, title, seed):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for one in dict.fromkeys(str(warning.message) for warning in caught):
            self.seeds.setdefault((title, one), []).append(seed)

    def lines(self) -> list[str]:
        return [
            f"{title}, seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}: {message}"
            for (title, message), seeds in self.seeds.items()
        ]


class _Work:
    """How far the whole is: selections and trees by what they are about to take."""

    def __init__(self, dataset, asked, n_rows, progress):
        self.progress, self.at = progress, 0
        part = n_rows / max(1, dataset.n_train)
        counts = _counts(asked["shares"], dataset.n_features)
        self.costs = []
        for one in asked["selections"]:
            for _ in asked["seeds"]:
                if one is None:
                    self.costs.append(tree_seconds(dataset, dataset.n_features, n_rows))
                    continue
                self.costs.append(part * selection_estimate(dataset, *one)["seconds"])
                self.costs += [tree_seconds(dataset, count, n_rows) for count in counts]
        self.total = sum(self.costs) or 1.0

    @property
    def fraction(self) -> float:
        return min(1.0, sum(self.costs[: self.at]) / self.total)

    def step(self, phase, about):
        """What to report to, for the work that comes next."""
        before, part = self.fraction, self.costs[self.at] / self.total
        after = min(1.0, sum(self.costs[: self.at + 1]) / self.total)

        def report(own_phase, fraction, detail=""):
            self.progress(phase or own_phase, min(after, before + part * fraction), about)

        return report

    def done(self):
        self.at += 1


def _asked(selections, shares, seeds, n_rows) -> dict:
    shares = sorted({float(share) for share in shares})
    if not shares or not 0 < shares[0] <= shares[-1] <= 1:
        raise ValueError(f"shares must be above 0 and at most 1, at least one of them, not {shares}")
    selections = [None if one is None else (one[0], selection_params(*one)) for one in selections]
    if not selections:
        raise ValueError("no selection to judge: give pairs of a method and its parameters, or None for all features")
    seeds = sorted({check_count(seed, "seed", least=0, most=INT32_MAX) for seed in seeds})
    if not seeds:
        raise ValueError("no seed: give at least one, from 0 to 2**31 - 1")
    return {"selections": selections, "shares": shares, "seeds": seeds, "n_rows": n_rows}


def judged_seconds(dataset: "Dataset", selections, shares, seeds, n_rows: int | None = None) -> float:
    """About how long :func:`judge` takes."""
    rows = dataset.n_train if n_rows is None else min(n_rows, dataset.n_train)
    return _Work(dataset, _asked(selections, shares, seeds, n_rows), rows, silent).total


@register
class CompareSelections(Task):
    """Compare selections by decision trees on the features that they keep.

    Inputs: ``dataset``. Parameters: ``selections`` (each a pair of a method and its parameters, or None for all
    features), ``shares``, ``seeds``, ``n_rows``: see :func:`judge`.
    """

    kind, folder, result = "compare_selections", JUDGED, Judged

    def complete(self, params):
        params = {"shares": (0.1,), "seeds": (0, 1, 2), "n_rows": None} | params
        check_names(params, ("selections", "shares", "seeds", "n_rows"))
        asked = _asked(**params)
        # What is varied does not tell selections apart.
        asked["selections"] = [
            None if one is None else [one[0], {name: v for name, v in one[1].items() if name not in VARIED}]
            for one in asked["selections"]
        ]
        return asked

    def params_in_key(self):
        def counted(one):
            kept = {name: v for name, v in asked_for(*one)["params"].items() if name not in VARIED}
            return {"method": one[0], "params": kept}

        selections = [None if one is None else counted(one) for one in self.params["selections"]]
        return self.params | {"selections": selections}

    def title_on(self, dataset):
        return f"Comparing selections on {dataset}"

    def estimate(self) -> Estimate:
        from xmlcore.datasets import load_saved

        return Estimate(judged_seconds(load_saved(self.fingerprint), **self.params))

    def run(self, progress=silent, files=None):
        from xmlcore.datasets import load_saved

        progress("Reading data", 0.0)
        return as_plain(judge(load_saved(self.fingerprint), progress=progress, **self.params))


def _judged_task(fingerprint, selections, shares, seeds, n_rows):
    params = {"selections": selections, "shares": shares, "seeds": seeds, "n_rows": n_rows}
    return task("compare_selections", {"dataset": fingerprint}, params)


def judged_key(fingerprint: str, selections, shares=(0.1,), seeds=(0, 1, 2), n_rows: int | None = None) -> str:
    """Key under which :func:`judged_saved` keeps its result."""
    return _judged_task(fingerprint, selections, shares, seeds, n_rows).key


def judged_saved(
    fingerprint: str, selections, shares=(0.1,), seeds=(0, 1, 2), n_rows: int | None = None, progress: Progress = silent
) -> str:
    """Have :func:`judge` on a data set of the store kept; at once when it is there already."""
    return keep(_judged_task(fingerprint, selections, shares, seeds, n_rows), progress)


def load_judged(key: str) -> Judged:
    """Read a comparison that is kept; StoreError when there is none."""
    return load("compare_selections", key)


@dataclass(frozen=True)
class Stability:
    """How much of a selection stays when only the seed changes.

    Attributes
    ----------
    method, params
        Of the selection; its seed does not count.
    seeds : list of int
    pairs : DataFrame
        A row per pair of seeds: ``seed_a``, ``seed_b``, ``jaccard``, ``spearman`` (means over labels).
    labels : ndarray of float64, shape (2, L)
        Jaccard and Spearman of each label, means over pairs of seeds. Spearman is taken over the features that either
        seed keeps, so it is below 0 where they share little, and means little where they keep few.
    share : float
        Of what a label keeps with one seed, the share that another one keeps too: mean over labels and pairs of seeds.
    chance : float
        The Jaccard similarity of two sets of this size, drawn at random, as expected.
    n_selected, n_features : int
    seconds : float
    warnings : list of str
        Of the selections, each once, with the seeds that it is about.
    """

    method: str
    params: dict
    seeds: list[int]
    pairs: "pd.DataFrame"
    labels: Any
    share: float
    chance: float
    n_selected: int
    n_features: int
    seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)


def stability(
    dataset: "Dataset", method: str = "FALS", params: dict | None = None, seeds=(0, 1, 2, 3, 4), progress=silent
) -> Stability:
    """Make a selection with several seeds, and compare what each label keeps.

    Parameters
    ----------
    dataset : Dataset
    method, params
        See :func:`select`. A method without a seed always keeps the same features.
    seeds : sequence of int
        At least two.
    progress : callable, optional

    Returns
    -------
    Stability
    """
    from xmlcore.selection import agreement

    start = time.perf_counter()
    params, seeds = selection_params(method, params), sorted(set(seeds))
    if len(seeds) < 2:
        raise ValueError("one seed has nothing to be compared with: give at least two")
    if "random_state" not in params:
        raise ValueError(f"{method} has no seed: it always keeps the same features")
    warm_up_selector(method, params)
    fitted, warned = [], _Warned()
    for at, seed in enumerate(seeds):

        def report(phase, fraction, detail="", *, at=at, seed=seed):
            progress(phase, (at + fraction) / len(seeds), f"seed {seed}, {at + 1:,} of {len(seeds):,}")

        one = selector(method, params | {"random_state": seed})
        with warned.of(selection_title(method, params), seed):
            fitted.append(one.fit(dataset.X_train, dataset.Y_train, progress=report))
    lines = agreement({"": fitted}, per_label=True, progress=progress)
    lines = lines.assign(seed_a=np.take(seeds, lines["seed_a"]), seed_b=np.take(seeds, lines["seed_b"]))
    measures = ["jaccard", "spearman"]
    pairs = lines.groupby(["seed_a", "seed_b"], as_index=False)[measures].mean()
    labels = lines.groupby("label")[measures].mean()
    k, d = fitted[0].selected_.shape[1], dataset.n_features
    return Stability(
        method=method,
        params=params,
        seeds=seeds,
        pairs=pairs,
        labels=labels.to_numpy(np.float64).T,
        share=float((2 * lines["jaccard"] / (1 + lines["jaccard"])).mean()),  # sets of one size
        chance=_chance(k, d),
        n_selected=k,
        n_features=d,
        seconds=time.perf_counter() - start,
        warnings=warned.lines(),
    )


def _chance(k, n_features) -> float:
    """Mean Jaccard similarity of two random sets of k features: what they have in common is hypergeometric."""
    from scipy.stats import hypergeom

    common = np.arange(max(0, 2 * k - n_features), k + 1)
    return float(hypergeom.pmf(common, n_features, k, k) @ (common / (2 * k - common)))


@register
class SelectionStability(Task):
    """Make a selection with several seeds, and compare what each label keeps.

    Inputs: ``dataset``. Parameters: ``method``, ``params``, ``seeds``: see :func:`stability`.
    """

    kind, folder, result = "selection_stability", STABILITY, Stability

    def complete(self, params):
        params = {"method": "FALS", "params": None, "seeds": (0, 1, 2, 3, 4)} | params
        check_names(params, ("method", "params", "seeds"))
        full = selection_params(params["method"], params["params"])
        full.pop("random_state", None)
        return {"method": params["method"], "params": full, "seeds": sorted(set(params["seeds"]))}

    def params_in_key(self):
        counted = asked_for(self.params["method"], self.params["params"])
        counted["params"].pop("random_state", None)
        return counted | {"seeds": self.params["seeds"]}

    def title_on(self, dataset):
        return f"Selecting features of {dataset} with {len(self.params['seeds'])} seeds"

    def estimate(self) -> Estimate:
        from xmlcore.datasets import load_saved

        found = selection_estimate(load_saved(self.fingerprint), self.params["method"], self.params["params"])
        return Estimate(found["seconds"] * len(self.params["seeds"]), found["bytes"])

    def run(self, progress=silent, files=None):
        from xmlcore.datasets import load_saved

        progress("Reading data", 0.0)
        return as_plain(stability(load_saved(self.fingerprint), progress=progress, **self.params))


def _stability_task(fingerprint, method, params, seeds):
    return task("selection_stability", {"dataset": fingerprint}, {"method": method, "params": params, "seeds": seeds})


def stability_key(fingerprint: str, method: str, params: dict | None = None, seeds=(0, 1, 2, 3, 4)) -> str:
    """Key under which :func:`stability_saved` keeps its result."""
    return _stability_task(fingerprint, method, params, seeds).key


def stability_saved(
    fingerprint: str, method: str, params: dict | None = None, seeds=(0, 1, 2, 3, 4), progress: Progress = silent
) -> str:
    """Have :func:`stability` on a data set of the store kept; at once when it is there already. Returns the key."""
    return keep(_stability_task(fingerprint, method, params, seeds), progress)


def load_stability(key: str) -> Stability:
    """Read what is kept of a selection with several seeds; StoreError when there is none."""
    return load("selection_stability", key)
