"""How the file of a workspace is read."""

import pytest

from pages.shared.workspaces import records as workspace_records
from pages.shared.workspaces import stored

RUN = {"key": "a" * 32, "fingerprint": "f", "model": "PLT", "params": {}, "k": 5, "created": "2026-01-01"}
SELECTION = {"key": "b" * 32, "fingerprint": "f", "method": "FALS", "params": {}, "created": "2026-01-01"}


@pytest.mark.parametrize("kind, whole", [("runs", RUN), ("selections", SELECTION)])
@pytest.mark.parametrize("damage", [{"key": "no hex"}, {"key": 5}, {"params": [1]}, {"created": 5}, {"fingerprint": 1}])
def test_results_with_what_pages_cannot_use_are_left_out_and_others_are_kept(monkeypatch, kind, whole, damage):
    data = {"version": workspace_records.VERSION, kind: [{**whole, **damage}, whole]}
    monkeypatch.setattr(stored, "read", lambda token: data)
    assert workspace_records.read("token")[kind] == [whole]
