"""The study of noise, attacks and explanations: parts from beginning to end, and what the tables say."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import robustness
from benchmarks.library import studies
from tests.benchmarks import making

STUDY = robustness.STUDY


@pytest.mark.parametrize("negative", [False, True])
def test_features_are_brought_to_0_to_1_by_the_training_rows(tmp_path, negative):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (40, 6)) * (rng.random((40, 6)) < 0.6) - (3.0 if negative else 0.0)
    Y = rng.random((40, 3)) < 0.5
    (tmp_path / "data").mkdir()
    for part, matrix in (("X_train", X[:30]), ("X_test", X[30:]), ("Y_train", Y[:30]), ("Y_test", Y[30:])):
        matrix = sp.csr_array(matrix.astype(np.float32) if part[0] == "X" else matrix)
        for name in ("data", "indices", "indptr"):
            np.save(tmp_path / "data" / f"{part}.{name}.npy", getattr(matrix, name))
    about = {"n_train": 30, "n_test": 10, "n_features": 6, "n_labels": 3}
    job = {"data": str(tmp_path / "data"), "about": about, "rows": None, "scaled": True}
    (scaled, _), (test, _) = robustness.read_scaled(job)
    low, high = X[:30].min(axis=0), X[:30].max(axis=0)
    np.testing.assert_allclose(scaled.toarray(), (X[:30] - low) / (high - low), atol=1e-6)
    np.testing.assert_allclose(test.toarray(), (X[30:] - low) / (high - low), atol=1e-6)
    assert scaled.toarray().min() == 0 and scaled.toarray().max() == 1


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name, D in (("scene", 12), ("eurlex4k-dev", 40), ("bibtex", 40)):
        making.write_data(folder, name, n_features=D)
    return making.options(folder)


@pytest.mark.slow
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("name, keep", [
    ("study", "scene"),
    ("attacks", "scene"),
    pytest.param("certificates", "eurlex4k-dev", marks=pytest.mark.long),
    ("explain", "bibtex"),
])  # fmt: skip
def test_parts_are_measured_from_beginning_to_end(options, monkeypatch, name, keep):
    part = STUDY.parts[name]
    few = part._replace(plan=lambda given: [one for one in part.plan(given) if one.named["data"] == keep][:3])
    study = STUDY._replace(parts=STUDY.parts | {name: few})
    found = json.loads(json.dumps(studies.run_part(study, name, options)))
    assert found["complete"] and found["runs"] and not any("failed" in run for run in found["runs"])
    text = studies.part_markdown(study, name, found)
    assert making.is_whole(text) and "A trial" in text and str(options.folder) not in text


@pytest.mark.usefixtures("in_this_process")
def test_speed_and_training_are_measured_on_made_up_data(options, monkeypatch):
    small = {"n_train": 100, "n_test": 30, "n_features": 50, "n_labels": 12, "features_per_row": 6.0}
    monkeypatch.setattr(robustness, "data_to_make", lambda name, options: robustness.EURLEX | small)
    for name in ("speed", "training"):
        found = json.loads(json.dumps(studies.run_part(STUDY, name, options)))
        text = studies.part_markdown(STUDY, name, found)
        assert making.is_whole(text) and not any("failed" in run for run in found["runs"])
