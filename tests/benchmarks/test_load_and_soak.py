"""The studies of many sessions at once: what they call a finding, and what they would overlook."""

import pytest

from benchmarks import load, soak
from benchmarks.library import crowd
from benchmarks.library.dashboard_server import Server
from xmlcore.datasets import read_matrix

USED = {"bytes": 500 << 20, "threads": 14, "files": 26, "processes": 4}
LOADED = {
    "sessions": 20, "minutes": 5, "pause": 3, "seed": 0,
    "health": {"asked": 100, "unanswered": 0, "p50": 0.003, "p99": 0.1, "p100": 0.4}, "driver_lag_p99": 0.02,
    "switches": [0.2] * 99 + [3.0], "presses": [], "loads": [0.5], "trained": 3, "uploaded": 2, "problems": [],
    "strangers": [], "messages": 1000, "received": 5_000_000, "memory": [[100, 500 << 20], [1000, 540 << 20]],
    "before": USED, "after": USED, "log": [], "log_at_end": [], "left_processes": 0, "unfinished_files": [],
    "peak_bytes": 2 << 30,
}  # fmt: skip
SOAKED = {
    "sessions": 8, "minutes": 30, "every": 20, "seed": 0, "troubles": {"full disk": 2, "kill a worker": 3},
    "restarts": [4.0], "orphans": 0, "switches": [0.3], "uploaded": 8, "trained": 9, "health": [0.01] * 50,
    "unanswered": 0, "disturbed": 4, "problems": [], "strangers": [], "lost": [], "silent": [], "damaged": 3,
    "log": {}, "begun_files": [".tmp-1"], "unfinished_files": [], "before": USED, "after": USED,
    "peak_bytes": 600 << 20,
}  # fmt: skip


@pytest.mark.parametrize(("study", "change", "said"), [
    (load, {"health": {**LOADED["health"], "p99": 0.5}}, "took 0.50 s or longer"),
    (load, {"health": {**LOADED["health"], "unanswered": 1}}, "did not answer 1 times"),
    (load, {"switches": [0.2] * 90 + [2.5] * 10}, "changes of the page took 2.50 s"),
    (load, {"memory": [[100, 100], [1000, 111]]}, "grew by 11 %"),
    (load, {"log": ["Traceback"]}, "The log: Traceback"),
    (load, {"after": {**USED, "files": 27}}, "Files left: 26 before, 27 after"),
    (load, {"peak_bytes": 5 << 30}, "took 5.4 GB"),
    (load, {"left_processes": 1}, "1 processes outlived"),
    (soak, {"lost": ["visitor 2 does not find its data"]}, "Visitor 2 does not find"),
    (soak, {"silent": [["runs", "abc"]]}, "runs/abc was damaged and is loaded"),
    (soak, {"log": {"KeyError: N": 3}}, "The log, 3 times: KeyError"),
    (soak, {"orphans": 2}, "2 processes outlived"),
    (soak, {"unanswered": 5}, "did not answer 5 times"),
    (soak, {"restarts": [61.0]}, "A start took 61 s"),
    *[(study, {"strangers": [(3, [4])]}, "Visitor 3 received names of [4]") for study in (load, soak)],
    *[(study, {"problems": ["visitor 1: KeyError"]}, "KeyError") for study in (load, soak)],
    *[(study, {"unfinished_files": [".tmp-1"]}, ".tmp-1") for study in (load, soak)],
])  # fmt: skip
def test_what_is_not_as_it_should_be_is_a_finding(study, change, said):
    whole = LOADED if study is load else SOAKED
    assert study.findings(whole) == []
    assert [said in one for one in study.findings({**whole, **change})] == [True]


def test_visitors_notice_names_of_others(tmp_path):
    visitor = crowd.Visitor(7, "localhost", 1, crowd.Seen(), 0)
    visitor.watch(b"\x00berry007x label 3\xff")
    assert visitor.seen.strangers == [] and visitor.seen.messages == 1
    visitor.watch(b"\x00{'x': 'berry008x label 3', 'y': 'berry007x'}\xff")
    assert visitor.seen.strangers == [(7, [8])]
    (tmp_path / "a.txt").write_bytes(crowd.matrix(50, 12, 0))
    X, Y, *_ = read_matrix(tmp_path / "a.txt")
    assert X.shape == (50, 24) and Y.shape == (50, 12)
    assert crowd.names(7, "label", 2) == b"berry007x label 0\nberry007x label 1\n"


def test_errors_are_excused_only_without_server_or_room():
    once = "Traceback (most recent call last):\n  File x, line 3\n    f()\nKeyError: {}\n2026 INFO fine\n"
    assert soak.tracebacks("begin\n" + once.format(1) + once.format(22)) == {"KeyError: N": 2}
    one = soak.Soak.__new__(soak.Soak)
    one.down, one.full = [(100.0, 110.0)], [(200.0, 220.0)]
    assert one.excused(95.0, 105.0) and one.excused(210.0, 230.0) and not one.excused(120.0, 190.0)
    assert not one.left_alone(105.0) and one.left_alone(205.0)  # a full disk is no reason not to answer


def test_files_of_a_kill_are_fine_if_a_server_removes_them(tmp_path):
    begun = tmp_path / "cache" / "artifacts" / "runs" / ".tmp-1234"
    begun.mkdir(parents=True)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / "strange").touch()
    one = soak.Soak.__new__(soak.Soak)
    one.server = Server(tmp_path)
    assert one.remaining() == ([".tmp-1234", "strange"], ["strange"]) and not begun.exists()
