"""How a stored workspace is read."""

import pytest

from pages.shared.workspaces import records as workspace_records
from pages.shared.workspaces import stored

RUN = {"key": "a" * 32, "fingerprint": "f", "model": "PLT", "params": {}, "k": 5, "created": "2026-01-01", "asked": 1.0}
SELECTION = {"key": "b" * 32, "fingerprint": "f", "method": "FALS", "params": {}, "created": "2026-01-01"}
SWEEP = {"key": "c" * 32, "fingerprint": "f", "params": {}, "asked": 1.0}
JOB = {"id": "j", "kind": "train", "inputs": {}, "params": {}, "key": "d" * 32, "fingerprint": "f", "title": "PLT"}
OF_RESULTS = [{"key": "no hex"}, {"key": 5}, {"params": [1]}, {"fingerprint": 1}, {"asked": "x"}]


@pytest.mark.parametrize(
    "kind, whole, damages",
    [
        ("runs", RUN, [*OF_RESULTS, {"created": 5}]),
        ("selections", SELECTION, [*OF_RESULTS, {"created": 5}]),
        ("sweeps", SWEEP, OF_RESULTS),
        ("jobs", JOB, [{"id": []}, {"key": 5}, {"kind": []}, {"params": [1]}]),
    ],
)
def test_records_with_what_pages_cannot_use_are_left_out_and_others_are_kept(monkeypatch, kind, whole, damages):
    data = {"version": workspace_records.VERSION, kind: [*({**whole, **damage} for damage in damages), whole]}
    monkeypatch.setattr(stored, "read", lambda token: data | {"shown": {"f": [1], "g": "a"}})
    read = workspace_records.read("token")
    assert read[kind] == [whole] and read["shown"] == {"g": "a"}
