"""Files of saved models: damaged ones are refused, and what could not be loaded is not saved."""

import mmap
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from contract.estimators import problem

from tests.archiving import members, zipped
from xmlcore import PLT, load_model
from xmlcore.models import ModelFormatError, read_packed, saving


def patch_directory(offset, value):
    """Change a byte of each entry of the archive's directory."""

    def harm(folder):
        data = bytearray((folder / "arrays.npz").read_bytes())
        at = data.find(b"PK\x01\x02")
        while at >= 0:
            data[at + offset] = value
            at = data.find(b"PK\x01\x02", at + 1)
        (folder / "arrays.npz").write_bytes(data)

    return harm


def with_member(content):
    """Replace an array by other bytes, with a valid checksum."""

    def harm(folder):
        parts = members((folder / "arrays.npz").read_bytes())
        del parts["tree0.bias.npy"]
        parts["tree0.bias.npy" if content.startswith(b"\x93NUMPY") else "tree0.bias"] = content
        (folder / "arrays.npz").write_bytes(zipped(parts, zipfile.ZIP_STORED))

    return harm


def array_file(shape, end="}"):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}{end}\n".encode()
    return with_member(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8))


def described(text):
    return lambda folder: (folder / "params.json").write_text(text)


DAMAGES = {
    "another compression": patch_directory(10, 99),
    "not compressed as it says": patch_directory(10, 8),
    "LZMA it is not": patch_directory(10, 14),
    "a version to come": patch_directory(6, 255),
    "encrypted": patch_directory(8, 1),
    "a header that does not end": array_file("(2,", end=""),
    "a shape beyond all memory": array_file("(4611686018427387904,)"),
    "a shape beyond all integers": array_file("(1180591620717411303424,)"),
    "a shape of many dimensions": array_file("(1,) * 99"),
    "a negative shape": array_file("(-1,)"),
    "no array": with_member(b"bytes"),
    "lists in lists": described("[" * 200_000),
    "objects in objects": described('{"a":' * 200_000),
    "a list": described("[1, 2]"),
    "not text": lambda folder: (folder / "params.json").write_bytes(b"\xff\xfe\x00"),
    "parameters without names": described('{"format": 3, "class": "PLT", "params": [[1, 2], ["C", 1]], "values": {}}'),
    "values missing": described('{"format": 3, "class": "PLT", "params": {}, "values": {}}'),
}


@pytest.fixture(scope="module")
def fitted():
    X, Y = problem()
    return PLT(max_leaf_labels=2, n_jobs=1).fit(X, Y)


@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_damaged_file_is_a_format_error_whatever_its_parser_raises(fitted, tmp_path, damage):
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
