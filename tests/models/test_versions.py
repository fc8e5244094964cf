"""A saved model says which xmlcore wrote it, and one of another format is refused."""

import json

import numpy as np
import pytest

from xmlcore import PLT, __version__, load_model
from xmlcore.models import ModelFormatError


@pytest.mark.parametrize("version, todo", [(4, "update xmlcore"), (2, "Make it again"), ("x", "Make it again")])
def test_a_model_of_another_version_is_refused_with_both_versions_and_what_to_do(version, todo, tmp_path):
    folder = PLT(n_jobs=1).fit(np.eye(4), [[0], [1], [2], [0, 2]]).save(tmp_path / "m")
    written = json.loads((folder / "params.json").read_text(encoding="utf-8"))
    assert written["xmlcore"] == __version__
    (folder / "params.json").write_text(json.dumps(written | {"format": version, "xmlcore": "7.1"}))
    message = rf"version {version!r} .* xmlcore 7\.1, .* {__version__} reads 3.*{todo}"
    with pytest.raises(ModelFormatError, match=message):
        load_model(folder)
