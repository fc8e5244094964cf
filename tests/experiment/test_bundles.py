"""Bundles of runs: made, run again, and refused when they are foreign or damaged."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from xmlcore import datasets, experiment
from xmlcore.datasets import save_dataset


@pytest.fixture
def key(easy):
    params = {"model": "PLT", "params": {"max_leaf_labels": 4, "random_state": 2}, "k": 3}
    return experiment.keep(experiment.task("train", {"dataset": save_dataset(easy)}, params))


def changed(content, **parts):
    """The bundle with files replaced, added, or left out (None); ``/`` in a name is written as ``__``."""
    made = io.BytesIO()
    parts = {name.replace("__", "/"): part for name, part in parts.items()}
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(made, "w") as after:
        for name in dict.fromkeys([*before.namelist(), *parts]):
            part = parts[name] if name in parts else before.read(name)
            if part is not None:
                after.writestr(name, part)
    return made.getvalue()


def record(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return json.loads(archive.read("run.json"))


def test_a_bundle_has_everything_and_is_the_same_each_time(key, easy, tmp_path):
    content = experiment.bundle(key, tmp_path / "run.zip")
    assert (tmp_path / "run.zip").read_bytes() == content == experiment.bundle(key)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert set(archive.namelist()) == {"run.json", "predictions.npz", "code.py", "measures.csv", "measures.html"}
        assert archive.read("code.py").decode() == experiment.code_of(key)
        assert b"plotly" in archive.read("measures.html")
    kept = record(content)
    assert (kept["seed"], kept["k"], kept["dataset"]["fingerprint"]) == (2, 3, easy.fingerprint)
    assert {"xmlcore", "Python", "numpy", "scipy", "numba", "processor"} <= kept["versions"].keys()


def test_a_bundle_run_again_agrees_bit_for_bit(key, tmp_path):
    experiment.bundle(key, tmp_path / "run.zip")
    report = experiment.rerun(tmp_path / "run.zip")
    assert report.agrees and report.bits and report.fingerprint and report.versions["same"].all()
    assert "is the same" in str(report) and "bit for bit" in str(report) and "all the same" in str(report)


def test_other_data_and_versions_are_reported(key, easy, tmp_path):
    content = experiment.bundle(key)
    kept = record(content)
    kept["versions"]["numpy"] = "0.9"
    content = changed(content, **{"run.json": json.dumps(kept)})
    other = datasets.resplit(easy, np.arange(0, 180), np.arange(200, 260))
    report = experiment.rerun(content, data=other)
    assert not report.agrees and not report.fingerprint and not report.bits and 0 < report.labels < 1
    assert "other content" in str(report) and "numpy 0.9 then" in str(report) and "% then" in str(report)


def test_a_data_set_that_is_not_here_is_asked_for(key, easy, monkeypatch, tmp_path):
    content = experiment.bundle(key)
    monkeypatch.setenv("XMLCORE_CACHE", str(tmp_path / "elsewhere"))
    with pytest.raises(ValueError, match=rf"pass it as data=.*{easy.fingerprint}"):
        experiment.rerun(content)
    assert experiment.rerun(content, data=easy).agrees


class Harmful:
    def __reduce__(self):
        return pytest.fail, ("something was unpickled",)


@pytest.mark.parametrize(
    "parts, said",
    [
        ({"..__evil.py": b"x"}, "'../evil.py'"),
        ({"__etc__passwd": b"x"}, "'/etc/passwd'"),
        ({"run.json": None}, "not the bundle"),
        ({"run.json": b"{"}, "damaged"),
        ({"run.json": b'{"format": "other"}'}, "does not say"),
        ({"run.json": b'{"format": "xmlcore run", "version": 2}'}, "update xmlcore"),
        ({"run.json": b'{"format": "xmlcore run", "version": 1}'}, "no valid model"),
        ({"predictions.npz": b"nothing"}, "damaged"),
        ({"predictions.npz": pickle.dumps(Harmful())}, "damaged"),
    ],
)
def test_foreign_and_damaged_bundles_are_refused(key, parts, said):
    with pytest.raises(experiment.BundleError, match=said):
        experiment.rerun(changed(experiment.bundle(key), **parts))


def test_an_array_of_objects_is_not_unpickled(key):
    hostile = io.BytesIO()
    np.savez(hostile, labels=np.array([[Harmful()]], object), scores=np.zeros((1, 1)))
    with pytest.raises(experiment.BundleError, match="damaged"):
        experiment.rerun(changed(experiment.bundle(key), **{"predictions.npz": hostile.getvalue()}))


def test_cut_and_changed_bytes_are_found(key):
    content = experiment.bundle(key)
    with pytest.raises(experiment.BundleError):
        experiment.rerun(content[: len(content) // 2])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        at = archive.getinfo("predictions.npz").header_offset + 200
    with pytest.raises(experiment.BundleError):
        experiment.rerun(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
    with pytest.raises(experiment.BundleError, match="no zip file"):
        experiment.rerun(b"PK nothing")


def test_a_bundle_that_unpacks_to_too_much_is_refused(key, monkeypatch):
    content = experiment.bundle(key)
    monkeypatch.setitem(experiment.sharing.bundles.MOST_BYTES, "predictions.npz", 100)
    with pytest.raises(experiment.BundleError, match="more than 100 bytes"):
        experiment.rerun(content)


def test_settings_in_a_bundle_are_checked(key):
    content = experiment.bundle(key)
    kept = record(content)
    kept["params"]["max_leaf_labels"] = "__import__('os')"
    with pytest.raises((ValueError, TypeError), match="max_leaf_labels"):
        experiment.rerun(changed(content, **{"run.json": json.dumps(kept)}))
