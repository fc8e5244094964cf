"""Every measure of a kept run."""

import numpy as np
import pandas as pd
import pytest
from making import train

from xmlcore import PLT, experiment, metrics
from xmlcore.datasets import save_dataset
from xmlcore.metrics.buckets import label_buckets


def test_a_kept_run_is_measured_with_intervals(easy):
    key = experiment.keep(train(save_dataset(easy), "PLT", {}))
    task = experiment.task("measures", {"run": key}, {"n_resamples": 50})
    assert task.work().values > 0 and task.title.startswith("Measuring a result on easy")
    said = []
    experiment.keep(task, lambda phase, fraction, detail="": said.append(fraction))
    assert said == sorted(said) and said[-1] <= 1
    found, run = task.load(), experiment.load("train", key)
    assert found.n_resamples == 50
    frame = found.measures.set_index(["bucket", "measure", "k"])
    for line in run.measures.itertuples():
        assert frame.loc[("all", line.measure, line.k), "value"] == pytest.approx(line.value)
    defined = found.measures.dropna()
    assert (defined["low"] <= defined["value"] + 1e-12).all() and (defined["value"] <= defined["high"] + 1e-12).all()
    buckets = label_buckets(np.bincount(easy.Y_train.indices, minlength=easy.n_labels))
    by_bucket = metrics.labels_by_bucket(metrics.by_label(easy.Y_test, run.ranking, 3), buckets).set_index("bucket")
    for bucket in ("head", "torso", "tail"):
        assert frame.loc[(bucket, "macro F1@k", 3), "value"] == pytest.approx(by_bucket.loc[bucket, "macro_f1"])
        assert frame.loc[(bucket, "micro R@k", 3), "value"] == pytest.approx(by_bucket.loc[bucket, "recall"])
    assert set(found.measures.query("bucket == 'all'")["measure"]) == {
        name for name in metrics.MEASURES if "hierarchical" not in name
    }


def test_the_seed_decides(easy):
    ranking = PLT().fit(easy.X_train, easy.Y_train).predict_topk(easy.X_test, 5)
    one, again, other = (
        experiment.measure_ranking(ranking, easy, 2, n_resamples=20, random_state=seed) for seed in (0, 0, 1)
    )
    pd.testing.assert_frame_equal(one, again)
    assert not one.equals(other)
