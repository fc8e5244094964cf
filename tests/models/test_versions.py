"""Models that earlier versions of xmlcore wrote, as they wrote them: read, converted, or refused with a reason."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from xmlcore import PLT, __version__, load_model
from xmlcore.cli import main
from xmlcore.models import ModelFormatError, PackedModel, read_packed

KEPT = Path(__file__).with_name("kept")
# What the version that wrote plt-format-3 predicted for the rows below.
LABELS = [[0, 1], [1, 0], [2, 3], [3, 2], [3, 0], [1, 0], [2, 1], [2, 3]]
SCORES = [0.91893405, 0.93918139, 0.93982059, 0.92055041, 0.81784558, 0.78764164, 0.78114849, 0.79887158]


@pytest.fixture
def rows():
    X = np.eye(8, 5, dtype=np.float32)
    X[5:] = X[:3] + X[1:4]
    return X


def convert(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["convert-model", *map(str, arguments)])
    return ended.value.code


def written(folder):
    return json.loads((folder / "params.json").read_text(encoding="utf-8"))


def test_a_model_of_an_earlier_version_predicts_what_it_did_and_is_converted_by_one_command(rows, tmp_path, capsys):
    old, new = KEPT / "plt-format-3", tmp_path / "new"
    assert "xmlcore" not in written(old)  # it was written before files said so
    assert convert(old, new) == 0
    assert capsys.readouterr().out == f"{new}: written by xmlcore {__version__}\n"
    assert written(new)["xmlcore"] == __version__ and {"params", "values"} <= written(new).keys()
    for model in (load_model(old), load_model(new)):
        labels, scores = model.predict_topk(rows, 2)
        assert labels.tolist() == LABELS
        np.testing.assert_allclose(scores[:, 0], SCORES, rtol=1e-6)
    assert convert(old, new) == 2 and "--force" in capsys.readouterr().err
    assert convert(old, new, "--force") == 0


def test_a_packed_model_says_which_version_wrote_it_and_is_converted(rows, tmp_path):
    old, new = tmp_path / "old.zip", tmp_path / "new.zip"
    PackedModel(load_model(KEPT / "plt-format-3"), ["a", "b", "c", "d"], card={"name": "kept"}).save(old)
    assert convert(old, new) == 0
    assert read_packed(new).label_names == read_packed(old).label_names
    assert read_packed(new).card["name"] == "kept"
    assert load_model(new).predict_topk(rows, 2).labels.tolist() == LABELS


def test_a_folder_does_not_become_a_zip_nor_a_zip_a_folder(tmp_path, capsys):
    folder, packed = KEPT / "plt-format-3", tmp_path / "old.zip"
    PackedModel(load_model(folder)).save(packed)
    for old, new in ((folder, tmp_path / "new.zip"), (packed, tmp_path / "new")):
        assert convert(old, new) == 2 and f"not {new}" in capsys.readouterr().err
        assert not new.exists()


def test_a_model_from_before_the_first_version_is_refused_with_both_versions_and_what_to_do():
    expected = (
        rf"has version 1 of its format, written by an xmlcore that did not .*, and xmlcore {__version__} reads 3\. "
        r"It is older than 0\.1, and nothing converts it: make it again \(docs/versions\.md\)"
    )
    with pytest.raises(ModelFormatError, match=expected):
        load_model(KEPT / "plt-format-1")


def test_a_model_of_a_later_version_is_refused_with_both_versions_and_what_to_do(tmp_path):
    folder = tmp_path / "later"
    shutil.copytree(KEPT / "plt-format-3", folder)
    (folder / "params.json").write_text(json.dumps(written(folder) | {"format": 4, "xmlcore": "7.1"}))
    expected = rf"version 4 of its format, written by xmlcore 7\.1, and xmlcore {__version__} reads 3\. It is newer"
    with pytest.raises(ModelFormatError, match=expected):
        load_model(folder)


def test_what_a_version_writes_it_reads(rows, tmp_path):
    model = PLT(n_jobs=1).fit(rows, [[0], [1], [2], [3], [0, 3], [0, 1], [1, 2], [2, 3]])
    assert written(model.save(tmp_path / "m"))["xmlcore"] == __version__
    assert (
        load_model(tmp_path / "m").predict_topk(rows, 2).labels.tolist() == model.predict_topk(rows, 2).labels.tolist()
    )
