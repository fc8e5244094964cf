"""Every changed byte of an artifact is found before it is read; uploads that are damaged stay as they are."""

import json

import numpy as np
import pytest

from xmlcore import store

KEY = "0123456789abcdef"
VALUE = {"x": np.arange(200, dtype=np.float32), "name": "words", "rows": [1, 2, 3]}


def flip(file, at):
    """Change a bit of a byte."""
    data = bytearray(file.read_bytes())
    data[at % len(data)] ^= 1 << at % 8
    file.write_bytes(data)


def test_each_of_100_flipped_bits_of_an_object_is_found():
    rng = np.random.default_rng(0)
    for at in rng.integers(0, 2**20, 100):
        flip(store.save("runs", KEY, VALUE) / store.VALUE, int(at))
        with pytest.raises(store.DamagedArtifactError, match="other bytes"):
            store.load("runs", KEY)
        assert not store.exists("runs", KEY)


def test_a_flipped_bit_beside_the_object_is_found():
    with store.writing("runs", KEY) as path:
        store.write_value(path, VALUE)
        (path / "model").mkdir()
        (path / "model" / "params.json").write_text('{"C": 1.0}')
    store.verify("runs", KEY)
    flip(store.folder("runs", KEY) / "model" / "params.json", 6)
    with pytest.raises(store.ChangedBytesError, match="model/params.json"):
        store.verify("runs", KEY)
    assert store.load("runs", KEY)["name"] == "words"


@pytest.mark.parametrize("record", [True, False], ids=["record whole", "record damaged"])
def test_a_damaged_upload_is_never_removed_or_changed(record):
    path = store.save("datasets", KEY, VALUE, again=False)
    file = path / (store.VALUE if record else store.META)
    flip(file, 100) if record else file.write_text("{")
    before = file.read_bytes()
    for _ in range(2):
        with pytest.raises(store.DamagedUploadError, match="left as it is"):
            store.load("datasets", KEY)
        assert file.read_bytes() == before and store.damaged("datasets", KEY)


@pytest.mark.parametrize(
    "wrong", [{"bytes": -1}, {"bytes": {"a": 1}}, {"bytes": float("inf")}, {"n_labels": -1}, {"n_train": True}]
)
def test_a_record_with_an_impossible_size_is_passed_over(wrong):
    sizes = dict.fromkeys(("n_train", "n_test", "n_features", "n_labels"), 1)
    record = store.save("datasets", KEY, VALUE, **sizes) / store.META
    assert store.inventory().artifacts
    record.write_text(json.dumps(json.loads(record.read_text()) | wrong))
    assert store.entries("datasets") == [] and not store.inventory().artifacts


def test_an_upload_that_was_restored_is_not_damaged_any_more():
    file = store.save("datasets", KEY, VALUE, again=False) / store.VALUE
    before = file.read_bytes()
    flip(file, 100)
    with pytest.raises(store.DamagedUploadError):
        store.load("datasets", KEY)
    file.write_bytes(before)
    assert store.load("datasets", KEY)["name"] == "words" and not store.damaged("datasets", KEY)


def test_saving_the_same_content_again_repairs_a_damaged_upload():
    from tests.pages.small import small_data
    from xmlcore.datasets import load_saved, save_dataset

    data = small_data()
    fingerprint = save_dataset(data)
    flip(store.folder("datasets", fingerprint) / store.VALUE, 300)
    with pytest.raises(store.DamagedUploadError):
        load_saved(fingerprint)
    assert save_dataset(data) == fingerprint and not store.damaged("datasets", fingerprint)
    assert load_saved(fingerprint).fingerprint == fingerprint
