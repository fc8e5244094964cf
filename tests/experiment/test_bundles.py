"""Bundles of runs: made, run again, and refused when they are foreign or damaged (see also tests/test_archives.py)."""

import numpy as np
import pytest
from making import kept

from tests.archiving import changed, manifest, members, npz, npz_of_objects, replaced
from xmlcore import datasets, experiment


@pytest.fixture(scope="module")
def bundle(easy, tmp_path_factory):
    """The bundle of a run in another cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XMLCORE_CACHE", str(tmp_path_factory.mktemp("cache")))
        return experiment.bundle(kept("train", {"dataset": datasets.save_dataset(easy)}, k=3).key)


def test_a_bundle_has_everything_and_is_the_same_each_time(key, easy, tmp_path):
    content = experiment.bundle(key, tmp_path / "run.zip")
    assert (tmp_path / "run.zip").read_bytes() == content == experiment.bundle(key)
    files = members(content)
    assert files.keys() == {"manifest.json", "predictions.npz", "code.py", "measures.csv", "measures.html"}
    assert files["code.py"].decode() == experiment.code_of(key) and b"plotly" in files["measures.html"]
    kept = manifest(content)["about"]
    assert (kept["seed"], kept["k"], kept["dataset"]["fingerprint"]) == (2, 3, easy.fingerprint)
    assert {"xmlcore", "Python", "numpy", "scipy", "numba", "processor"} <= kept["versions"].keys()


def test_a_bundle_run_again_agrees_bit_for_bit(key, tmp_path):
    experiment.bundle(key, tmp_path / "run.zip")
    report = experiment.rerun(tmp_path / "run.zip")
    assert report.agrees and report.bits and report.fingerprint and report.versions["same"].all()
    assert "is the same" in str(report) and "bit for bit" in str(report) and "Versions: the same" in str(report)


def test_other_data_and_versions_are_reported(bundle, easy):
    content = changed(bundle, lambda files, about: about["versions"].update(numpy="0.9"))
    other = datasets.resplit(easy, np.arange(0, 180), np.arange(200, 260))
    report = experiment.rerun(content, data=other)
    assert not report.agrees and not report.fingerprint and not report.bits and 0 < report.labels < 1
    assert "data set: other" in str(report) and "numpy 0.9 then" in str(report)


def test_a_data_set_that_is_not_here_is_asked_for(bundle, easy):
    with pytest.raises(ValueError, match=rf"pass it as data=.*{easy.fingerprint}"):
        experiment.rerun(bundle)
    assert experiment.rerun(bundle, data=easy).agrees


@pytest.mark.parametrize("name", ["model", "params", "k", "dataset", "versions", "measures"])
def test_a_bundle_without_what_a_rerun_needs_is_refused(bundle, name):
    with pytest.raises(experiment.BundleError, match=f"no valid {name}"):
        experiment.rerun(changed(bundle, lambda files, about: about.pop(name)))


def test_measures_of_no_form_are_refused(bundle):
    for line in ({"measure": "P@k", "k": 1, "value": "x"}, {"measure": "P@k", "value": 0.5}, 7):
        hostile = changed(bundle, lambda files, about, line=line: about["measures"].append(line))
        with pytest.raises(experiment.BundleError, match="no valid measures"):
            experiment.rerun(hostile)


@pytest.mark.parametrize("part, reason", [
    (b"nothing", "damaged"),
    (npz_of_objects(), "no plain array"),
    (npz(labels=np.zeros((2, 2), np.int32), scores=np.zeros((2, 3))), "do not fit"),
    (npz(labels=np.zeros((2, 2)), scores=np.zeros((2, 2))), "do not fit"),
    (npz(scores=np.zeros((2, 2))), "do not fit"),
])  # fmt: skip
def test_predictions_that_are_none_are_refused(bundle, part, reason):
    with pytest.raises(experiment.BundleError, match=reason):
        experiment.rerun(replaced(bundle, "predictions.npz", part))


def test_foreign_files_are_refused(key, bundle, tmp_path):
    for content in (b"PK nothing", bundle[:1000], experiment.pack_run(key).to_bytes()):
        with pytest.raises(experiment.BundleError, match="no zip file|holds a 'model'"):
            experiment.rerun(content)
    with pytest.raises(experiment.BundleError, match="cannot be read"):
        experiment.rerun(tmp_path / "absent.zip")


def test_settings_in_a_bundle_are_checked(bundle):
    hostile = changed(bundle, lambda files, about: about["params"].update(max_leaf_labels="os.system"))
    with pytest.raises((ValueError, TypeError), match="max_leaf_labels"):
        experiment.rerun(hostile)
