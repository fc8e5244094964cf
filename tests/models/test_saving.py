"""Saved models are read as they were and in little memory; damaged files and other versions are refused."""

import json
import mmap
import os
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from contract.estimators import problem

from xmlcore import PLT, DoubleSampling, LdSM, OneVsRest, TextClassifier, __version__, load_model
from xmlcore.models import ModelFormatError, read_packed, saving
from xmlcore.models.packed import PackedModel


def described(text):
    return lambda folder: (folder / "params.json").write_text(text)


DAMAGES = {
    "lists in lists": described("[" * 200_000),
    "a list": described("[1, 2]"),
    "not text": lambda folder: (folder / "params.json").write_bytes(b"\xff\xfe\x00"),
    "parameters without names": described('{"format": 3, "class": "PLT", "params": [[1, 2], ["C", 1]], "values": {}}'),
    "no list of arrays": described('{"format": 3, "class": "PLT", "params": {}, "values": {}, "arrays": null}'),
    "values missing": described('{"format": 3, "class": "PLT", "params": {}, "values": {}}'),
}


@pytest.fixture(scope="module")
def fitted():
    X, Y = problem()
    return PLT(max_leaf_labels=2, n_jobs=1).fit(X, Y)


@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_damaged_file_is_a_format_error(fitted, tmp_path, damage):
    folder = fitted.save(tmp_path / "model")
    before = [(folder / name).read_bytes() for name in ("params.json", "arrays.npz")]
    DAMAGES[damage](folder)
    assert [(folder / name).read_bytes() for name in ("params.json", "arrays.npz")] != before
    with pytest.raises(ModelFormatError, match="model.*(damaged|unknown parameters)"):
        load_model(folder)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not list open files")
def test_a_damaged_file_is_not_left_open(fitted, tmp_path):
    arrays = fitted.save(tmp_path / "model") / "arrays.npz"
    arrays.write_bytes(arrays.read_bytes()[:-100])
    try:
        load_model(arrays.parent)
    except ModelFormatError:  # while the error is handled, its traceback would keep a file alive
        opened = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.exists()]
        assert str(arrays) not in opened
    else:
        pytest.fail("the damaged file was read")


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    X, Y = problem()
    model = PLT().fit(X, Y).set_params(beam=0)
    with pytest.raises(ValueError, match="beam must be from 1"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    with pytest.raises(TypeError, match="n_jobs must be a whole number, not 'x'"):
        model.set_params(beam=None, n_jobs="x").save(tmp_path / "model")
    assert load_model(model.set_params(n_jobs=None).save(tmp_path / "model")).get_params() == model.get_params()


def test_a_failed_save_keeps_the_old_model(fitted, tmp_path, monkeypatch):
    folder = fitted.save(tmp_path / "model")

    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(saving, "write_arrays", full)
    with pytest.raises(OSError, match="No space"):
        fitted.save(folder)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    X, _ = problem()
    np.testing.assert_array_equal(load_model(folder).predict_topk(X).scores, fitted.predict_topk(X).scores)


def test_no_model_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="params.json is missing"):
        load_model(tmp_path)


@pytest.mark.parametrize("mmap", ["r", "yes", 1, None])
@pytest.mark.parametrize("read", [load_model, read_packed])
def test_mmap_is_true_or_false(read, mmap, fitted, tmp_path):
    with pytest.raises(TypeError, match=f"mmap is a {type(mmap).__name__}: True or False is needed"):
        read(fitted.save(tmp_path / "m"), mmap=mmap)


def test_a_mapped_model_is_checked_and_older_files_are_read(fitted, tmp_path):
    file = fitted.save(tmp_path / "m") / "arrays.npz"
    mapped, whole = load_model(tmp_path / "m", mmap=True).fitted_[0], file.read_bytes()
    is_mapped = [isinstance(base_of(array), mmap.mmap) for array in (mapped.columns, mapped.dense, mapped.entry_value)]
    assert all(is_mapped) and not mapped.columns.flags.writeable and mapped.entry_value.flags.aligned
    at = whole.index(mapped.bias.tobytes())
    file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(ModelFormatError, match="arrays.npz is damaged.*Bad CRC-32"):
        load_model(tmp_path / "m", mmap=True)
    file.write_bytes(whole)
    with np.load(file) as arrays:
        np.savez(file, **arrays)
    again = load_model(tmp_path / "m", mmap=True)
    assert not isinstance(base_of(again.fitted_[0].columns), mmap.mmap)
    np.testing.assert_array_equal(again.predict_topk(problem()[0]).scores, fitted.predict_topk(problem()[0]).scores)


def base_of(array):
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


ALWAYS = 3_000_000  # bytes, beside 1.1 times the model
LINEAR = {"C": 1.0, "normalize": "l2", "weight_threshold": 0.0, "max_iter": 1, "n_jobs": 1}
TREE = PLT(**LINEAR, n_estimators=1, max_leaf_labels=20, arity=8)
# Each with the number of rows, features, labels and values of a row of which it is made, for 10 to 25 MB.
MODELS = [
    (OneVsRest(**LINEAR), (300, 5_000, 400, 600)),
    (TextClassifier(model=TREE), (600, 10_000, 250, 600)),
    (LdSM(n_estimators=3, n_epochs=1, n_jobs=1, max_nodes=41), (500, 20_000, 300, 2_000)),
    (DoubleSampling(n_jobs=1, n_candidates=2), (400, 80_000, 300, 2_500)),
]


@pytest.mark.parametrize("model, sizes", MODELS, ids=[type(model).__name__ for model, _ in MODELS])
def test_loading_takes_at_most_a_tenth_more_than_the_model(model, sizes, tmp_path):
    n, n_features, n_labels, n_values = sizes
    rng = np.random.default_rng(0)
    X = sp.random_array((n, n_features), density=n_values / n_features, rng=rng, format="csr", dtype=np.float32)
    if isinstance(model, TextClassifier):
        X = [" ".join(f"w{column}" for column in X[[i]].indices) for i in range(n)]
    with warnings.catch_warnings(action="ignore"):  # of training that is cut short
        model.fit(X, [[int(label)] for label in rng.integers(0, n_labels, n)])
    size = model.size()["model_bytes"]
    assert 8e6 < size < 4e7
    for path in (model.save(tmp_path / "folder"), PackedModel(model).save(tmp_path / "packed.zip")):
        load_model(path)  # what is imported and compiled is not the model's
        tracemalloc.start()
        loaded = load_model(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert loaded.n_labels_ == model.n_labels_ and peak <= 1.1 * size + ALWAYS, path.name


@pytest.mark.parametrize("version, todo", [(4, "update xmlcore"), (2, "Make it again"), ("x", "Make it again")])
def test_a_model_of_another_version_is_refused(version, todo, tmp_path):
    folder = PLT(n_jobs=1).fit(np.eye(4), [[0], [1], [2], [0, 2]]).save(tmp_path / "m")
    written = json.loads((folder / "params.json").read_text(encoding="utf-8"))
    assert written["xmlcore"] == __version__
    (folder / "params.json").write_text(json.dumps(written | {"format": version, "xmlcore": "7.1"}))
    message = rf"version {version!r} .* xmlcore 7\.1, .* {__version__} reads 3.*{todo}"
    with pytest.raises(ModelFormatError, match=message):
        load_model(folder)
