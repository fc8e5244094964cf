"""The result of double sampling that the page shows."""

import numpy as np

from pages.shared import server, tasks
from xmlcore import experiment, metrics, store

MODEL = "DoubleSampling"


class SampledRun:
    """A run of double sampling, its model, and the numbers that it was really trained with.

    ``kappa`` adversaries of an example and ``q`` candidates of a row are fewer than requested if there are not as many
    classes, ``most_kappa`` is the most that an example can have, and ``examples`` copies are drawn per class.
    """

    def __init__(self, ready):
        run, model = self.run, self.model = ready.run, ready.model
        self.data, self.name = ready.data, ready.name
        self.record, self.key, self.files = ready.record, ready.key, ready.files
        self.n_present = int(np.count_nonzero(model.class_size_))
        self.most_kappa = experiment.most_adversaries(run.params, self.n_present)
        requested = run.params["n_adversarial"]
        self.kappa = min(requested, self.most_kappa)
        self.q = min(run.params["n_candidates"], self.n_present)
        self.examples = float(run.params["examples_per_class"])
        self.near = run.params.get("adversaries") == "candidates"
        others = f"{self.q:,} candidates leave {self.kappa:,}" if self.near else f"only {self.kappa:,} others exist"
        self.fewer = f" ({requested:,} asked for, {others})" if requested > self.most_kappa else ""
        self.balanced = bool(run.params.get("balanced", True))
        self.by_tree = run.params.get("candidates_from") == "plt"

    @property
    def p_at_1(self) -> float:
        measures = self.run.measures
        return float(measures["value"][(measures["measure"] == "P@k") & (measures["k"] == 1)].iloc[0])

    @property
    def n_examples(self) -> int:
        return int(self.data.Y_train.nnz)

    @property
    def n_copies(self) -> int:
        return int(self.model.sampled_size_.sum())

    def task(self, kappas=(), examples=(), candidates=(), n_repeats=1):
        params = {"n_adversarial": kappas, "examples_per_class": examples, "n_candidates": candidates}
        return experiment.task("sampling", {"run": self.key}, params | {"n_repeats": n_repeats})


def if_kept(task, *free):
    """Return the result of a task, or the newest whatever the parameters in ``free`` were; None without one."""
    try:
        alike = sorted(tasks.made_alike(task, *free), key=lambda one: one.created) if free else ()
        key = alike[-1].key if alike else task.key if task.exists() else task.earlier()
        return key and server.loaded(task, key)
    except (store.StoreError, OSError):
        return None


@server.shared()
def one_class(key: str) -> tuple[float, float]:
    run = server.run(key)
    Y, first = server.dataset(run.fingerprint).Y_test, run.ranking.labels[:, 0]
    return metrics.accuracy(Y, first), metrics.macro_f1(Y, first)


@server.shared()
def by_bucket(key: str):
    run = server.run(key)
    data = server.dataset(run.fingerprint)
    buckets = server.description(run.fingerprint).labels["bucket"].to_numpy()
    return metrics.first_class_by_bucket(data.Y_test, run.ranking.labels[:, 0], buckets)
