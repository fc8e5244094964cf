"""Keys of results depend on what decides the result, and on nothing else."""

from pathlib import Path

import numpy as np
import pytest

from xmlcore.artifact_keys import artifact_key


def test_key_ignores_the_order_of_parameters_and_number_types():
    one = {"C": 10, "b": {"x": (1, 2), "y": None}, "tree": "kmeans", "f": 0.1}
    two = {"f": np.float64(0.1), "tree": "kmeans", "b": {"y": None, "x": [1, np.int32(2)]}, "C": 10.0}
    assert artifact_key("train", {"dataset": "ab"}, one) == artifact_key("train", {"dataset": "ab"}, two)


@pytest.mark.parametrize("kind, fingerprint, params, version", [
    ("models", "ab", {"C": 1, "tree": "kmeans"}, 1),
    ("train", "ac", {"C": 1, "tree": "kmeans"}, 1),
    ("train", "ab", {"C": 2, "tree": "kmeans"}, 1),
    ("train", "ab", {"C": True, "tree": "kmeans"}, 1),
    ("train", "ab", {"C": "1", "tree": "kmeans"}, 1),
    ("train", "ab", {"C": 1 + 2**-52, "tree": "kmeans"}, 1),
    ("train", "ab", {"C": float("nan"), "tree": "kmeans"}, 1),
    ("train", "ab", {"C": 1}, 1),
    ("train", "ab", {"C": 1, "tree": "kmeans", "extra": None}, 1),
    ("train", "ab", {"C": 1, "tree": "kmeans"}, 2),
])  # fmt: skip
def test_key_changes_with_everything_that_decides_the_result(kind, fingerprint, params, version):
    changed = artifact_key(kind, {"dataset": fingerprint}, params, version)
    assert changed != artifact_key("train", {"dataset": "ab"}, {"C": 1, "tree": "kmeans"})


@pytest.mark.parametrize("bad", [np.zeros(3), {1, 2}, len, object(), {1: 2}, b"x", Path("x")])
def test_unserialisable_parameter_is_a_clear_error(bad):
    with pytest.raises(TypeError, match=r"params\['deep'\]\[1\]"):
        artifact_key("train", {}, {"deep": [0, bad]})


def test_inputs_and_parameters_are_dicts_and_not_confused():
    assert artifact_key("train", {"a": 1}, {}) != artifact_key("train", {}, {"a": 1})
    for inputs, params in (([], {}), ({}, None)):
        with pytest.raises(TypeError, match="must be a dict"):
            artifact_key("train", inputs, params)


def test_keys_stay_what_they_are_so_that_kept_results_are_found():
    assert (
        artifact_key("train", {"dataset": "ab"}, {"C": 10, "tree": "kmeans"}, 2) == "9687a5adb6b14687bb78d0f2833a33bb"
    )
