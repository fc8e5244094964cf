"""What is kept, what depends on what, and what is removed to make room."""

import errno
import logging
import os
import time

import numpy as np
import pytest

from xmlcore import store, wording
from xmlcore.system import cache_root

DAY = 86400.0
NOW = 1_900_000_000.0


def key(number):
    return f"{number:032x}"


def made(kind, number, days=1.0, size=10_000, **facts):
    """Keep an artifact of about ``size`` bytes that was used last so many days ago."""
    path = store.save(kind, key(number), np.zeros(size, np.uint8), **facts)
    os.utime(path / store.META, (NOW - days * DAY,) * 2)
    record = path / store.META
    text = record.read_text().replace(store.info(kind, key(number))["created"], "2026-01-01T00:00:00+00:00")
    record.write_text(text)
    os.utime(record, (NOW - days * DAY,) * 2)
    return key(number)


def kept(kind="runs"):
    return {int(one["key"], 16) for one in store.entries(kind)}


def test_dependents_are_all_computed_from_an_artifact():
    data = made("datasets", 1)
    other = made("datasets", 2, inputs={"dataset": data}, again=True)  # split from it: a data set of its own
    run = made("runs", 3, inputs={"dataset": data})
    made("explanations", 4, inputs={"run": run})
    made("readings", 5, inputs={})
    made("runs", 6, inputs={"dataset": other})
    inventory = store.inventory()
    names = [(one.kind, int(one.key, 16)) for one in inventory.dependents("datasets", data)]
    assert names == [("runs", 3), ("explanations", 4)]
    assert [one.kind for one in inventory.dependents("runs", run)] == ["explanations"]
    assert inventory.dependents("explanations", key(4)) == []


def test_results_used_longest_ago_are_removed_first(caplog):
    for number, days in ((1, 3), (2, 40), (3, 50), (4, 1)):
        made("runs", number, days)
    with caplog.at_level(logging.WARNING, "xmlcore.store"):
        removal = store.make_room(most=25_000, now=NOW)
    assert kept() == {1, 4}
    assert str(removal) == f"removed 2 results, {wording.size(removal.bytes)}, unused for 40 days"
    assert removal.bytes > 20_000
    assert "removed 2 results" in caplog.text and store.removals() == [removal]
    assert store.make_room(most=25_000, now=NOW) is None


def test_uploads_and_pinned_results_are_never_removed():
    upload = made("datasets", 1, 90)
    catalog = made("datasets", 2, 90, again=True, inputs={})
    made("datasets", 3, 90, again=True, inputs={})
    pinned, needed = made("runs", 4, 80, inputs={"dataset": catalog}), made("runs", 5, 80, inputs={"dataset": upload})
    made("runs", 6, 80, inputs={"dataset": upload})
    made("runs", 7, 80, inputs={"dataset": key(99)})  # its data set is gone: it cannot be made again
    store.pin("runs", pinned, by="a")
    store.pin("runs", pinned, by="b")
    store.unpin("runs", pinned, by="a")
    store.make_room([needed], most=0, now=NOW)
    assert kept() == {4, 5, 7} and kept("datasets") == {1, 2}


def test_what_was_used_in_the_last_ten_minutes_stays():
    made("runs", 1, days=0)
    assert store.make_room(most=0, now=NOW + 60) is None and kept() == {1}
    assert store.make_room(most=0, now=NOW + 3600).count == 1


def test_a_disk_filled_by_others_costs_no_recent_result(monkeypatch):
    monkeypatch.setattr("xmlcore.store.limit.free_on_disk", lambda: 0)
    for number, days in ((1, 1), (2, 29), (3, 31)):
        made("runs", number, days)
    assert store.make_room(now=NOW).count == 1 and kept() == {1, 2}
    assert store.make_room(now=NOW) is None
    store.set_bound(0)  # now it is what the user wants
    assert store.make_room(now=NOW).count == 2 and kept() == set()


def test_an_input_is_used_when_what_comes_of_it_is():
    data = made("datasets", 1, 90, again=True, inputs={})
    made("runs", 2, 5, inputs={"dataset": data})
    made("runs", 3, 20)
    store.make_room(most=25_000, now=NOW)
    assert kept() == {2} and kept("datasets") == {1}


def test_reading_is_recorded_as_use_once_in_each_hour(monkeypatch):
    run = made("runs", 1, days=0)
    file, now = store.folder("runs", run) / store.META, time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    hour = now // 3600 * 3600
    os.utime(file, (hour, hour))
    store.load("runs", run)
    assert file.stat().st_mtime == hour
    os.utime(file, (hour - 1, hour - 1))
    record = file.read_bytes()
    store.load("runs", run)
    assert file.stat().st_mtime > time.time() - 60 and file.read_bytes() == record


def test_the_bound_is_the_variable_or_set_or_by_the_disk(monkeypatch):
    monkeypatch.setattr("xmlcore.store.limit.free_on_disk", lambda: 30_000_000_000)
    assert store.bound(taken=2_000_000_000) == 16_000_000_000
    monkeypatch.setattr("xmlcore.store.limit.free_on_disk", lambda: 300_000_000_000)
    assert store.bound(taken=0) == 20_000_000_000
    store.set_bound(5_000_000)
    assert store.bound() == 5_000_000
    monkeypatch.setenv("XMLCORE_STORE_SIZE", "1.5 GB")
    assert store.bound() == 1_500_000_000
    monkeypatch.setenv("XMLCORE_STORE_SIZE", "9" * 400 + " GB")
    assert store.bound() > 1e18
    monkeypatch.setenv("XMLCORE_STORE_SIZE", "much")
    with pytest.raises(ValueError, match="XMLCORE_STORE_SIZE is 'much'"):
        store.bound()
    monkeypatch.delenv("XMLCORE_STORE_SIZE")
    store.set_bound(None)
    assert store.bound(taken=0) == 20_000_000_000


def test_what_was_set_aside_can_be_put_back_until_it_is_removed():
    run = made("runs", 1)
    name = store.set_aside("runs", run)
    assert not store.exists("runs", run) and kept() == set()
    assert store.is_aside("runs", name) and store.put_back("runs", name) and not store.is_aside("runs", name)
    assert store.load("runs", run).size == 10_000
    name = store.set_aside("runs", run)
    assert made("runs", 1) == run and not store.is_aside("runs", name)
    name = store.set_aside("runs", run)
    assert store.is_aside("runs", name) and store.remove_aside(older_than=600) == 0 and store.remove_aside() == 2
    assert not store.is_aside("runs", name) and not store.put_back("runs", name)
    assert store.set_aside("runs", run) is None
    with pytest.raises(ValueError, match="set_aside"):
        store.put_back("runs", "../../etc")


def test_a_replaced_artifact_stays_pinned():
    run = made("runs", 1)
    store.pin("runs", run, by="me")
    with store.writing("runs", run, replace=True) as path:
        store.write_value(path, 2)
    assert store.inventory().artifacts["runs", run].pins == ("me",)
    with pytest.raises(ValueError, match="letters"):
        store.pin("runs", run, by="../x")


@pytest.mark.parametrize("way", ["damaged", "set aside"])
def test_what_is_removed_by_age_loses_its_pins(way):
    run = made("runs", 1)
    store.pin("runs", run)
    if way == "damaged":
        (store.folder("runs", run) / store.DAMAGED).touch()
    else:
        store.set_aside("runs", run)
    assert store.remove_all_stale(time.time() - 2 * NOW) == 1
    made("runs", 1)
    assert store.inventory().artifacts["runs", run].pins == ()


# --- a disk that is full, cannot be written to, or is gone


def full(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_fills_up_leaves_nothing(monkeypatch):
    monkeypatch.setattr("joblib.dump", full)
    with pytest.raises(store.CannotKeepError, match="is full: .* are free"):
        store.save("runs", key(1), 1)
    assert os.listdir(cache_root() / "artifacts" / "runs") == []


def test_other_errors_of_the_system_stay_what_they_are():
    with pytest.raises(FileNotFoundError), store.writing("runs", key(1)):
        open("/no/such/file")


def test_a_full_disk_is_said_before_the_work(monkeypatch):
    monkeypatch.setattr("xmlcore.store.room.free_on_disk", lambda: 1_000_000)
    assert "is full: 1.0 MB are free" in store.trouble()
    with pytest.raises(store.CannotKeepError, match="Nothing was computed"):
        store.check_room()


def test_a_folder_that_is_gone_is_made_anew(tmp_path, monkeypatch):
    assert store.trouble() is None
    cache_root().rmdir()
    assert store.trouble() is None and cache_root().is_dir()
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("XMLCORE_CACHE", str(tmp_path / "file" / "cache"))
    assert "cannot be written to (Not a directory)" in store.trouble()
