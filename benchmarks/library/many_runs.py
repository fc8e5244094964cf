"""Many kept runs at once: small artifacts written straight into the store, without training."""

import json
import pickle
import zlib

import numpy as np
import pandas as pd

from xmlcore import Ranking, experiment, metrics, store
from xmlcore.experiment.engine.task import as_plain
from xmlcore.experiment.kinds.train import Run, Train, full_params
from xmlcore.metrics.measures import measurable

MODELS = ("PLT", "LdSM", "OneVsRest", "DoubleSampling")
SEEDED = ("PLT", "LdSM", "DoubleSampling")


def make(count: int, data, seeds: int = 3, first: int = 0, summary: bool = True) -> list[dict]:
    """Keep ``count`` runs on a data set; return their records as a workspace lists them, oldest first.

    Models take turns; runs of a model with a seed come in groups of ``seeds``. Without ``summary`` the records of the
    store have no measures, as damaged ones.
    """
    rng = np.random.default_rng(first)
    folder = store.cache_root() / "artifacts" / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    rankings = [_ranking(rng, data) for _ in range(min(count, 211))]  # not a multiple of seeds or models
    listed = []
    for number in range(first, first + count):
        group, seed = divmod(number, seeds)
        model = MODELS[group % len(MODELS)]
        changed = {"noise_ratio": 1.0 + group, "random_state": seed} if model in SEEDED else {"C": 1.0 + number}
        params = full_params(model, changed)
        task = experiment.task("train", {"dataset": data.fingerprint}, {"model": model, "params": params, "k": 5})
        run = _run(rng, data, model, params, *rankings[number % len(rankings)])
        value = as_plain(run)
        path = folder / task.key
        path.mkdir()
        content = pickle.dumps(value)  # which joblib reads, and which takes a hundredth of joblib's time
        (path / store.VALUE).write_bytes(content)
        facts = {"task": "train", "version": task.version, "xmlcore": "0", "inputs": task.inputs}
        facts |= {"params": task.params, "fingerprint": data.fingerprint, "dataset": data.name, "model": model}
        facts |= {"kind": "runs", "key": task.key, "created": run.created, "bytes": len(content)}
        facts |= {"value_bytes": len(content), "value_crc": zlib.crc32(content)}
        facts |= {"summary": Train.summary(value)} if summary else {}
        (path / store.META).write_text(json.dumps(facts))
        record = {"key": task.key, "fingerprint": data.fingerprint, **task.params, "created": run.created}
        listed.append(record)
    return listed


def _ranking(rng, data):
    """A ranking whose first label is right for half of the rows or more, and its measures; the rest is random."""
    n, L = data.n_test, data.n_labels
    labels = ((rng.integers(L, size=(n, 1)) + rng.permutation(L)[:5]) % L).astype(np.int32)  # five different ones
    for row in np.flatnonzero(rng.random(n) < rng.uniform(0.5, 0.9)):
        true = data.Y_test.indices[data.Y_test.indptr[row] : data.Y_test.indptr[row + 1]]
        if true.size:
            at = np.flatnonzero(labels[row] == true[0])
            labels[row, at[0] if at.size else 0], labels[row, 0] = labels[row, 0], true[0]
    scores = np.sort(rng.random((n, 5)).astype(np.float32), axis=1)[:, ::-1]
    ranking = Ranking(labels, np.ascontiguousarray(scores))
    measured = metrics.measures(data.Y_test, ranking, 5, inv_ps=metrics.inverse_propensity(data.Y_train))
    measured |= metrics.measures(data.Y_test, ranking, 5, names=measurable(metrics.MORE_MEASURES, None))
    lines = [(name, k + 1, float(values[k])) for name, values in measured.items() for k in range(5)]
    return ranking, pd.DataFrame(lines, columns=["measure", "k", "value"])


def _run(rng, data, model, params, ranking, measures) -> Run:
    """A run with this ranking."""
    seconds = float(rng.uniform(0.1, 20))
    return Run(
        model=model,
        params=params,
        dataset_name=data.name,
        fingerprint=data.fingerprint,
        content_hash=data.content_hash,
        k=5,
        measures=measures,
        times=dict.fromkeys(("fit_s", "fit_cpu_s"), seconds)
        | {"compile_s": 0.0, "predict_s": 0.1, "predict_ms_per_row": 0.2},
        size={"n_nodes": 3, "depth": 2, "n_weights": 100, "model_bytes": int(rng.integers(1000, 10**7))},
        memory={"peak_bytes": int(rng.integers(2 * 10**8, 10**9)), "before_bytes": 2 * 10**8},
        ranking=ranking,
        created="2026-01-01T00:00:00+00:00",
    )
