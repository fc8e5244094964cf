"""Saved PLTs: written, read, and refused when damaged."""

import numpy as np
import pytest

from xmlcore import load_model


def test_a_failed_save_keeps_the_old_model(small, tmp_path, monkeypatch):
    model, _, _, X_test = small
    folder = model.save(tmp_path / "model")

    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space"):
        model.save(folder)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    np.testing.assert_array_equal(load_model(folder).predict_topk(X_test).scores, model.predict_topk(X_test).scores)


def test_no_model_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="params.json is missing"):
        load_model(tmp_path)
