import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from xmlcore import store
from xmlcore.system import cache_root

KEY = "0123456789abcdef"
PROJECT = Path(store.__file__).parents[2]


def kind_folder(kind="runs"):
    return cache_root() / "artifacts" / kind


# --- writing and reading


def test_saved_value_is_read_back_with_its_facts():
    value = {"x": np.arange(5, dtype=np.float32), "name": "é"}
    path = store.save("runs", KEY, value, title="né", score=np.float32(0.5), n=np.int64(3))
    assert path == store.folder("runs", KEY) == kind_folder() / KEY
    assert store.exists("runs", KEY)
    back = store.load("runs", KEY)
    assert back["name"] == "é"
    np.testing.assert_array_equal(back["x"], value["x"])
    facts = store.info("runs", KEY)
    assert facts["title"] == "né" and facts["score"] == 0.5 and facts["n"] == 3
    assert facts["kind"] == "runs" and facts["key"] == KEY
    assert facts["bytes"] == facts["value_bytes"] == (path / store.VALUE).stat().st_size
    assert facts["created"].endswith("+00:00")


def test_cache_folder_is_looked_up_at_each_call(tmp_path, monkeypatch):
    store.save("runs", KEY, 1)
    monkeypatch.setenv("XMLCORE_CACHE", str(tmp_path / "elsewhere"))
    assert not store.exists("runs", KEY)
    store.save("runs", KEY, 2)
    assert store.load("runs", KEY) == 2


def test_artifact_of_several_files():
    with store.writing("runs", KEY, model="PLT") as path:
        store.write_value(path, [1, 2])
        (path / "model").mkdir()
        (path / "model" / "params.json").write_text("{}")
        assert not store.exists("runs", KEY)
    assert (store.folder("runs", KEY) / "model" / "params.json").read_text() == "{}"
    assert store.load("runs", KEY) == [1, 2]
    assert os.listdir(kind_folder()) == [KEY]


def test_artifact_without_object_says_where_its_files_are():
    with store.writing("runs", KEY) as path:
        (path / "a.txt").write_text("a")
    with pytest.raises(store.StoreError, match="holds no object"):
        store.load("runs", KEY)
    assert store.exists("runs", KEY)


def test_exception_while_writing_leaves_nothing():
    with pytest.raises(RuntimeError, match="stop"), store.writing("runs", KEY) as path:
        (path / "half").write_text("x")
        raise RuntimeError("stop")
    assert os.listdir(kind_folder()) == []


def test_first_writer_wins():
    with store.writing("runs", KEY) as path:
        store.write_value(path, "ours")
        store.save("runs", KEY, "theirs")
    assert store.load("runs", KEY) == "theirs"
    store.save("runs", KEY, "later")
    assert store.load("runs", KEY) == "theirs"
    assert os.listdir(kind_folder()) == [KEY]


def test_wreck_in_the_way_is_replaced():
    wreck = store.folder("runs", KEY)
    wreck.mkdir(parents=True)
    (wreck / store.META).write_text("not json")
    store.delete("runs", KEY)
    wreck.mkdir()
    (wreck / "leftover").write_text("x")  # no record: a folder copied by hand, say
    store.save("runs", KEY, 1)
    assert store.load("runs", KEY) == 1
    assert os.listdir(kind_folder()) == [KEY]


def test_bad_facts_fail_before_the_work():
    with pytest.raises(ValueError, match="'bytes'"), store.writing("runs", KEY, bytes=1):
        pytest.fail("the block must not run")
    with pytest.raises(TypeError, match="cannot be kept"), store.writing("runs", KEY, thing=object()):
        pytest.fail("the block must not run")


def test_missing_artifact_is_a_clear_key_error():
    for read in (store.load, store.info):
        with pytest.raises(KeyError) as caught:
            read("runs", KEY)
        assert isinstance(caught.value, store.MissingArtifactError)
        assert f"runs/{KEY}" in str(caught.value) and "deleted" in str(caught.value)


def cut_value(path):
    data = (path / store.VALUE).read_bytes()
    (path / store.VALUE).write_bytes(data[: len(data) // 2])


def scramble_value(path):
    data = (path / store.VALUE).read_bytes()
    (path / store.VALUE).write_bytes(b"\xff" * len(data))


@pytest.mark.parametrize(
    "harm",
    [
        cut_value,
        scramble_value,
        lambda path: (path / store.VALUE).unlink(),
        lambda path: (path / store.META).unlink(),
        lambda path: (path / store.META).write_text("{"),
        lambda path: (path / store.META).write_text("[" * 100_000),
        lambda path: (path / store.META).write_text(json.dumps({"kind": "runs", "key": "other"})),
    ],
    ids=["cut", "scrambled", "no value", "no record", "bad record", "deep record", "wrong record"],
)
def test_a_damaged_artifact_can_be_made_again(harm):
    harm(store.save("runs", KEY, {"x": np.arange(100)}))
    with pytest.raises(store.DamagedArtifactError, match="make it again"):
        store.load("runs", KEY)
    assert store.folder("runs", KEY).exists()
    assert not store.exists("runs", KEY) and not store.inventory().artifacts and not store.entries("runs")
    store.save("runs", KEY, 5)
    assert store.load("runs", KEY) == 5


class Moved:
    """Stands for a class of another version of the program."""


def test_object_of_a_class_that_has_moved_is_not_removed(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "Moved", Moved)
    monkeypatch.setitem(sys.modules, "old_module", sys.modules[__name__])
    monkeypatch.setattr(Moved, "__module__", "old_module")
    store.save("datasets", KEY, Moved())
    assert type(store.load("datasets", KEY)) is Moved
    monkeypatch.delitem(sys.modules, "old_module")
    with pytest.raises(store.UnreadableArtifactError, match="another version"):
        store.load("datasets", KEY)
    assert store.exists("datasets", KEY)


def test_check_finds_what_is_cut_short_without_reading_it():
    store.save("runs", KEY, 1)
    store.check("runs", KEY)
    cut_value(store.folder("runs", KEY))
    for _ in range(2):
        with pytest.raises(store.DamagedArtifactError):
            store.check("runs", KEY)
    assert store.remove_all_stale(1000) == 0 and store.remove_all_stale(-1) == 1
    with pytest.raises(store.MissingArtifactError):
        store.check("runs", KEY)


def test_change_of_a_kind_is_seen():
    assert store.changed("runs") == 0
    store.save("runs", KEY, 1)
    before = store.changed("runs")
    os.utime(kind_folder(), ns=(1, 1))
    assert before > 0 and store.changed("runs") == 1


def test_lack_of_memory_does_not_remove_the_artifact(monkeypatch):
    import joblib

    def no_memory(path):
        raise MemoryError

    store.save("runs", KEY, 1)
    monkeypatch.setattr(joblib, "load", no_memory)
    with pytest.raises(MemoryError):
        store.load("runs", KEY)
    assert store.exists("runs", KEY)


@pytest.mark.parametrize("kind", ["", "Runs", "../x", "a/b", "a b", "1a", "a" * 41, None, "runs\n"])
def test_kind_that_is_no_plain_name_is_refused(kind):
    for call in (store.exists, store.load, store.delete, store.folder):
        with pytest.raises(ValueError, match="kind must be"):
            call(kind, KEY)
    with pytest.raises(ValueError, match="kind must be"):
        store.entries(kind)


@pytest.mark.parametrize("key", ["", "abc", "../../etc/passwd", "ABCDEF01", KEY + "\n", "g" * 16, None, "a" * 129])
def test_key_that_is_no_hex_is_refused(key):
    with pytest.raises(ValueError, match="key must be"):
        store.save("runs", key, 1)


# --- listing, deleting, cleaning


def test_entries_are_newest_first_and_pass_over_foreign_files():
    assert store.entries("runs") == []
    for i in range(3):
        store.save("runs", f"{i}" * 8, i, number=i)
    (kind_folder() / "notes.txt").write_text("mine")
    (kind_folder() / "somefolder").mkdir()
    (kind_folder() / ("d" * 8)).mkdir()
    (kind_folder() / ("e" * 8)).write_text("a file")
    assert [entry["number"] for entry in store.entries("runs")] == [2, 1, 0]


def test_deleted_artifact_is_gone_whole():
    store.save("runs", KEY, 1)
    assert store.delete("runs", KEY)
    assert not store.delete("runs", KEY)
    assert os.listdir(kind_folder()) == []


def test_the_next_writer_removes_leftovers_older_than_a_day():
    kind_folder().mkdir(parents=True)
    long_ago = time.time() - 2 * store.STALE_SECONDS
    for name in (".tmp-old", ".tmp-young", ".tmp-old-but-growing", ".old-left"):
        (kind_folder() / name).mkdir()
        (kind_folder() / name / "value").write_text("x")
    os.utime(kind_folder() / ".tmp-old" / "value", (long_ago, long_ago))
    for name in (".tmp-old", ".tmp-old-but-growing", ".old-left"):
        os.utime(kind_folder() / name, (long_ago, long_ago))
    os.utime(kind_folder() / ".old-left" / "value", (long_ago, long_ago))
    store.save("runs", KEY, 1)
    assert sorted(os.listdir(kind_folder())) == [".tmp-old-but-growing", ".tmp-young", KEY]


# --- several processes


def test_two_processes_writing_the_same_keys_at_once():
    source = (
        "import sys, numpy as np\n"
        "from xmlcore import store\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "for i in range(40):\n"
        "    with store.writing('runs', f'{i:08x}') as path:\n"
        "        store.write_value(path, np.full(2000, i))\n"
        "    assert (store.load('runs', f'{i:08x}') == i).all()\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", source], cwd=PROJECT, stdin=-1, stdout=-1, stderr=-1, text=True)
        for _ in range(2)
    ]
    for writer in writers:
        assert writer.stdout.readline().strip() == "ready"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, err = writer.communicate(timeout=60)
        assert writer.returncode == 0, err
    assert sorted(os.listdir(kind_folder())) == [f"{i:08x}" for i in range(40)]


def test_threads_never_see_half_of_an_artifact():
    def work(seed):
        for step in range(30):
            if (seed + step) % 5 == 0:
                store.delete("runs", KEY)
            store.save("runs", KEY, np.arange(500))
            try:
                assert store.load("runs", KEY)[-1] == 499
            except store.MissingArtifactError:
                pass

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert [name for name in os.listdir(kind_folder()) if name != KEY] == []


def test_what_is_being_replaced_is_found():
    def write(replace):
        with store.writing("runs", KEY, replace=replace) as path:
            store.write_value(path, 1)
            for number in range(3):
                (path / f"{number}.txt").write_text("x")

    write(False)
    with ThreadPoolExecutor(1) as thread:
        replaced = thread.submit(lambda: [write(True) for _ in range(30)])
        while not replaced.done():
            assert store.info("runs", KEY)["kind"] == "runs"
        replaced.result()
