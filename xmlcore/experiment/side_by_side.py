"""Several runs on one data set side by side: measures with intervals, labels, rows, the best and its differences."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from xmlcore import metrics, wording
from xmlcore.experiment.catalog import GIVEN, MODELS
from xmlcore.experiment.kept_runs import parameters, trained_with_noise
from xmlcore.experiment.kinds.train import Run, value_text
from xmlcore.first_use import pd
from xmlcore.metrics.buckets import BUCKETS, label_buckets
from xmlcore.metrics.measures import measurable
from xmlcore.models.rows import counted, padded
from xmlcore.ranking import KS, Ranking
from xmlcore.robustness.perturbations import KINDS
from xmlcore.typing import DataFrame, Dataset

PERMUTATIONS = 2000  # more where so many tests are corrected for that none could be sure
LEAST_VARIED = 3  # lines of a model whose settings are compared
# Where all rows have k predictions, micro F1@k is P@k on another scale: it is listed, but neither drawn nor tested.
DRAWN = ("P@k", "nDCG@k", "PSP@k", "macro F1@k")
COMPARED = (*DRAWN, "micro F1@k")
TESTED = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@5", "macro F1@5")  # beside that by which runs are ordered
TOLD = ("PSP@5", "macro F1@5")  # likewise: of rare labels, and the one told where nothing is significant
MOST_TOLD = 3
NAMED = 3  # most equal results that are named
HIGHEST = "{names} {have} the highest {measure} of {among}: {value}{lead}."


class Highest(NamedTuple):
    """Which lines of one data set are highest in a measure, and by how much they lead the next."""

    names: list[str]  # several where their measures are equal
    value: float
    second: str = ""  # the next line; empty without one
    points: float = np.nan  # by which it is behind
    significant: bool = False

    def text(self, measure: str, among: str, bold: str, escape: Callable[[str], str]) -> str:
        """Return a sentence; ``among`` is how many results there are: ``4 results``."""
        left = len(self.names) - NAMED + 1
        shown, more = (self.names, []) if left < 2 else (self.names[: NAMED - 1], [f"{left:,} more"])
        test = "significant" if self.significant else "not significant"
        second = f", {self.points:.1f} points above {bold.format(escape(self.second))} ({test})"
        return HIGHEST.format(
            names=wording.enumeration([*(bold.format(escape(name)) for name in shown), *more]),
            have="has" if len(self.names) == 1 else "share", measure=measure, among=among,
            value=bold.format(wording.percent(self.value).replace(" ", "\u00a0")), lead=second if self.second else "",
        )  # fmt: skip


def best(lines: "DataFrame", measure: str, names: list[str], tests: "DataFrame | None" = None) -> Highest:
    """Return which of the lines, the highest first, is best; ``tests`` are of the second against it, if known."""
    values = lines[measure].tolist()
    n_best = values.count(values[0])
    found = Highest(names[:n_best], values[0])
    if n_best > 1 or len(values) == 1:
        return found
    test = None if tests is None or tests.empty else tests.iloc[0]
    significant = test is not None and bool(test["sure"]) and test["difference"] < 0
    return found._replace(second=names[1], points=100 * (values[0] - values[1]), significant=significant)


def measures_with_intervals(dataset: "Dataset", runs: "dict[str, Run]", measures=COMPARED) -> "DataFrame":
    """Measure several runs on the test rows, with 95 % bootstrap intervals over the rows; ``best`` is significant."""
    of_labels = {"inv_ps": dataset.inverse_propensity(), "hierarchy": dataset.hierarchy}
    names = measurable(measures, dataset.hierarchy)
    rankings = [wide(run, max(KS)) for run in runs.values()]
    frames = metrics.intervals_of_several(dataset.Y_test, rankings, KS, names, best=True, **of_labels)
    for number, (name, run) in enumerate(runs.items()):
        measured = frames[number].assign(run=name, model=model_style(run.model, run.params))
        measured.loc[measured["k"] > run.k, ["value", "low", "high"]] = np.nan  # it predicts fewer labels for a row
        frames[number] = measured
    return pd.concat(frames, ignore_index=True)[["run", "model", "measure", "k", "value", "low", "high", "best"]]


def wide(run: "Run", k: int) -> Ranking:
    """Return the ranking of a run with places for k labels or more: those above the run's own k have no label."""
    return padded(run.ranking, max(k, run.ranking.labels.shape[1]))


def buckets_side_by_side(dataset: "Dataset", runs: "dict[str, Run]", k: int = 5) -> "DataFrame":
    """Measure head, torso and tail labels of several runs."""
    buckets = label_buckets(counted(dataset.Y_train))
    frames = []
    for name, run in runs.items():
        measured = metrics.labels_by_bucket(metrics.by_label(dataset.Y_test, wide(run, k), k), buckets)
        measured.insert(0, "model", model_style(run.model, run.params))
        measured.insert(0, "run", name)
        frames.append(measured)
    return pd.concat(frames, ignore_index=True)


def labels_compared(dataset: "Dataset", a: "Run", b: "Run", k: int = 5) -> "DataFrame":
    """Compare two runs label by label, when the first k labels of every row count as predicted."""
    first, other = (metrics.by_label(dataset.Y_test, wide(run, k), k) for run in (a, b))
    both, n_train = first.merge(other, on=["label", "rows"], suffixes=("_a", "_b")), counted(dataset.Y_train)
    names = [dataset.label_name(j) for j in range(dataset.n_labels)]
    both = both.assign(
        name=names, n_train=n_train, bucket=label_buckets(n_train), difference=both["f1_b"] - both["f1_a"]
    )
    columns = ["label", "name", "n_train", "bucket", "rows", "right_a", "right_b", "f1_a", "f1_b", "difference"]
    frame = both.loc[both["rows"] > 0, columns]
    order = np.argsort(-frame["difference"].abs() * frame["rows"], kind="stable")
    return frame.iloc[order].reset_index(drop=True)


def wins_by_bucket(frame: "DataFrame") -> "DataFrame":
    """Count the labels for which each of two runs is better."""
    lines = []
    for bucket in (*BUCKETS, "all"):
        gains = frame["difference"] if bucket == "all" else frame.loc[frame["bucket"] == bucket, "difference"]
        lines.append((bucket, int((gains < 0).sum()), int((gains == 0).sum()), int((gains > 0).sum())))
    return pd.DataFrame(lines, columns=["bucket", "a", "equal", "b"])


def rows_compared(dataset: "Dataset", a: "Run", b: "Run", k: int = 5) -> "DataFrame":
    """Return the test rows for which two runs predict different numbers of right labels: b's less a's."""
    right = [metrics.hits(dataset.Y_test, run.ranking)[:, :k].sum(axis=1) for run in (a, b)]
    frame = pd.DataFrame(
        {
            "row": np.arange(dataset.n_test),
            "true": np.diff(dataset.Y_test.indptr),
            "right_a": right[0],
            "right_b": right[1],
            "difference": right[1].astype(np.int64) - right[0],
        }
    )
    frame = frame[frame["difference"] != 0]
    return frame.iloc[np.argsort(-frame["difference"].abs().to_numpy(), kind="stable")].reset_index(drop=True)


def at_most(measures: Sequence[str], n_labels: int) -> list[str]:
    """Return measures such as ``"P@5"``, those at more labels than there are at the most that there are, each once."""
    most = max((k for k in KS if k <= n_labels), default=1)
    parts = [measure.rpartition("@") for measure in measures]
    return list(dict.fromkeys(f"{name}@{min(int(k), most)}" for name, _, k in parts))


def differences(dataset: "Dataset", runs: "dict[str, Run]", measures: Sequence[str] = TESTED) -> "DataFrame":
    """Test whether runs differ from the first of them: a row per other run and measure.

    ``difference`` is the run's ``value`` less the ``first`` one's, ``low`` and ``high`` are its 95 % interval, and
    ``p_holm`` is ``p_value``, of a permutation test over test rows, corrected for the number of rows of the frame by
    :func:`xmlcore.metrics.holm`. A difference is ``sure`` if ``p_holm`` is below 0.05, and 0 outside the interval.
    """
    return _corrected([_from_the_first(dataset, runs, list(measures), len(measures))])


def differences_of_buckets(dataset: "Dataset", runs: "dict[str, Run]", measure: str = "micro R@5") -> "DataFrame":
    """Compare runs with the first of them in a measure of head, torso and tail labels, as :func:`differences` does."""
    buckets, tested = label_buckets(counted(dataset.Y_train)), np.unique(dataset.Y_test.indices)
    there = [bucket for bucket in BUCKETS if (buckets[tested] == bucket).any()]
    frames = [_from_the_first(dataset, runs, [measure], len(there), buckets == bucket) for bucket in there]
    return _corrected([frame.assign(measure=bucket) for frame, bucket in zip(frames, there)])


def _from_the_first(dataset, runs, measures, n_titles, labels=None) -> "DataFrame":
    """Return the tests of runs against the first, with enough permutations for each to be significant."""
    first, n_tests = next(iter(runs)), n_titles * (len(runs) - 1)
    most = max(int(measure.rpartition("@")[2]) for measure in measures)
    found = metrics.compare_rankings(
        dataset.Y_test,
        {name: wide(run, most) for name, run in runs.items()},
        measures,
        reference=first,
        inv_ps=dataset.inverse_propensity(),
        hierarchy=dataset.hierarchy,
        labels=labels,
        n_permutations=max(PERMUTATIONS, round(2 * n_tests / metrics.SURE)),
    )
    frame = pd.DataFrame(
        {
            "run": found["b"],
            "model": [model_style(runs[name].model, runs[name].params) for name in found["b"]],
            "measure": [name.replace("@k", f"@{k}") for name, k in zip(found["measure"], found["k"])],
            "value": found["value_b"],
            "first": found["value_a"],
            "difference": found["value_b"] - found["value_a"],
            "low": 0 - found["high"],  # the first is what is tested
            "high": 0 - found["low"],
            "p_value": found["p_value"],
        }
    )
    is_short = [k > min(runs[name].k, runs[first].k) for name, k in zip(found["b"], found["k"])]
    frame.loc[is_short, ["difference", "low", "high", "p_value"]] = np.nan
    return frame


def drawn_measures(tests: "DataFrame") -> list[str]:
    """Return the measures to draw: the first, that of rare labels, and that with most significant differences."""
    known = list(dict.fromkeys(tests["measure"]))
    rare, usual = at_most(TOLD, max(int(measure.rpartition("@")[2]) for measure in known))
    of_first, behind = tests["measure"] == known[0], tests["difference"] < 0
    led = tests["run"].isin(tests.loc[of_first & tests["sure"] & behind, "run"])
    elsewhere = tests[tests["sure"] & ~of_first & ~(led & behind)]
    sure, ahead = elsewhere["measure"].value_counts(), {*elsewhere.loc[elsewhere["difference"] > 0, "measure"]}
    others = sorted([usual, *filter(sure.get, known)], key=lambda m: (m not in ahead, -sure.get(m, 0)))
    return list(dict.fromkeys([known[0], rare, *others]))[:MOST_TOLD]


def _corrected(frames) -> "DataFrame":
    frame = pd.concat(frames, ignore_index=True)
    frame["p_holm"] = metrics.holm(frame["p_value"])
    return frame.assign(sure=(frame["p_holm"] < metrics.SURE) & (frame["low"] * frame["high"] > 0))


def how_tested(tests: "DataFrame") -> str:
    """Say for how many tests the p-values of :func:`differences` are corrected, and what is significant."""
    n = int(tests["p_value"].notna().sum())
    return (
        f"p by permutation tests over test rows, corrected by Holm's method for {n} test{'s' * (n > 1)}; significant: "
        f"p below {metrics.SURE:g}, and 0 outside the interval."
    )


def model_style(model: str, params: dict[str, Any]) -> str:
    """Return the name by which figures colour a run: a PLT trained with noise is the paper's ExtendedPLT."""
    return "ExtendedPLT" if model == "PLT" and trained_with_noise({"params": params}) else model


def model_title(model: str, params: dict[str, Any]) -> str:
    """Return the name of a model, and its members or whether it was trained with noise; or that of another program."""
    if model == GIVEN:
        return params.get("program", GIVEN)
    if params.get("members"):
        return f"{model} of {value_text(params['members'])}"
    if not trained_with_noise({"params": params}):
        return model
    kind, level = params["noise_kind"], params["noise_sigma"]
    return f"{model} trained with {f'noise σ = {level:g}' if kind == 'gaussian' else KINDS[kind].at(level)}"


def settings_of_models(lines: "DataFrame", measure: str) -> dict[str, tuple["DataFrame", dict[str, str]]]:
    """Return the settings that differ between lines of a model, for each model of which three or more do."""
    found = {}
    for model, own in lines.groupby("model", sort=False):
        columns = parameters(own, seed=False)
        if len(own) < LEAST_VARIED or columns.empty:
            continue
        known = {p.name: p for p in MODELS[model].parameters} if model in MODELS else {}
        frame = columns.apply(lambda values, known=known: _numbers_or_texts(values, known.get(values.name)))
        labels = {name: known[name].label.split(",")[0] if name in known else name for name in columns}
        found[model] = frame.assign(**{measure: 100 * own[measure]}), labels
    return found


def _numbers_or_texts(values, parameter):
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return pd.to_numeric(values)
    return values.map(lambda value: value_text(value, parameter))
