"""Predictions of another program are a result without a model, measured as those of our models are."""

import numpy as np
import pytest
from making import kept, reading

from xmlcore import experiment, store
from xmlcore.datasets import DatasetFormatError, save_dataset
from xmlcore.experiment import side_by_side
from xmlcore.experiment.engine import task_files


def test_predictions_of_a_model_have_the_measures_of_the_model(own_cache, easy):
    trained = kept("train", {"dataset": save_dataset(easy)}, model="OneVsRest")
    run = trained.load()
    labels = run.ranking.labels.tolist()
    csv = "\n".join(",".join(map(str, row)) for row in labels).encode()
    for predictions in (csv, run.ranking, labels):
        key = experiment.add_predictions(easy, predictions, "other")
        other = experiment.load("train", key)
        assert other.measures.equals(run.measures) and not other.has_model and run.has_model
        assert (other.ranking.labels == run.ranking.labels).all() and other.warnings == []
    table = experiment.runs().set_index("key")
    assert table.loc[key, "P@5"] == table.loc[trained.key, "P@5"] and np.isnan(table.loc[key, "fit_s"])
    assert table.loc[key, "model"] == experiment.GIVEN and table["setting"].is_unique
    assert experiment.seeds_grouped(experiment.runs())["n"].tolist() == [1] * len(table)
    assert experiment.model_title(other.model, other.params) == "other"
    assert kept("measures", {"run": key}, n_resamples=20).load().measures["value"].notna().any()
    assert side_by_side.differences(easy, {"a": run, "b": other})["difference"].eq(0).all()


def test_few_labels_are_misses_and_a_warning_says_so(own_cache, easy):
    best = easy.Y_test.indices[easy.Y_test.indptr[:-1]]
    given = experiment.load("train", experiment.add_predictions(easy, best[:, None], "best"))
    values = given.measures.set_index(["measure", "k"])["value"]
    assert values["P@k", 1] == 1.0 and values["P@k", 5] == pytest.approx(0.2)
    (warning,) = given.warnings
    assert warning.startswith("60 of 60 test rows have fewer than 5 predicted labels")


def test_tasks_that_need_a_model_say_that_it_is_missing(own_cache, easy, tmp_path):
    key = experiment.add_predictions(easy, np.zeros((60, 1), int), "other")
    for needs_it in (experiment.load_run_model, experiment.code_of, experiment.bundle, experiment.pack_run):
        with pytest.raises(store.StoreError, match="another program"):
            needs_it(key)
    trained = kept("train", {"dataset": save_dataset(easy)}, model="OneVsRest").key
    others = [key, experiment.add_predictions(easy, np.ones((60, 1), int), "another"), trained]
    for keys in (others[:1], others):
        experiment.report(keys, tmp_path / "report.html")
        assert "other" in (tmp_path / "report.html").read_text()


def test_bad_predictions_and_names_are_refused(own_cache, easy):
    with pytest.raises(DatasetFormatError, match="59 lines with labels, but there are 60 test rows"):
        experiment.add_predictions(easy, b"0\n" * 59, "other")
    with pytest.raises(ValueError, match="the scores have the shape .*, 3., but there are 12 labels"):
        experiment.add_predictions(easy, np.zeros((60, 3)), "other")
    with pytest.raises(DatasetFormatError, match="the label id 12 is not between 0 and 11"):
        experiment.add_predictions(easy, [[12]] * 60, "other")
    for k in (0, 1001, 10**12):
        with pytest.raises(ValueError, match=f"k must be from 1 to 1000, not {k}"):
            experiment.add_predictions(easy, b"0\n" * 60, "other", k)
    for name in (" ", "x" * 61):
        with pytest.raises(ValueError, match="give 1 to 60"):
            experiment.add_predictions(easy, b"0\n" * 60, name)
    with pytest.raises(ValueError, match="choose them again"):
        task = reading("given_predictions", {"dataset": save_dataset(easy)}, {"predictions": b"0\n"}, name="other")
        task_files.drop(task.key)
        experiment.keep(task)
