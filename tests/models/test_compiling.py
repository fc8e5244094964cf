"""Processes wait for each other to compile the same kernels, and nothing stops them for ever."""

import subprocess
import sys
import threading
import time

import pytest

from xmlcore.models import compiling
from xmlcore.models.compiling import compile_lock


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "CACHE_FOLDER", tmp_path / "kernels")
    return tmp_path / "kernels"


def test_one_at_a_time_runs_a_piece_and_others_run_other_pieces(folder):
    with compile_lock("piece") as mine:
        assert mine
        with compile_lock("piece", wait=False) as second, compile_lock("other", wait=False) as other:
            assert not second and other
    with pytest.raises(ZeroDivisionError), compile_lock("piece", wait=False) as again:
        assert again
        raise ZeroDivisionError
    with compile_lock("piece", wait=False) as after_an_error:
        assert after_an_error


def test_who_waits_gets_its_turn_when_the_other_is_done(folder):
    order, begun = [], threading.Event()

    def wait():
        begun.set()
        with compile_lock("piece") as mine:
            order.append(mine)

    with compile_lock("piece"):
        thread = threading.Thread(target=wait)
        thread.start()
        begun.wait()
        time.sleep(0.1)
        order.append("first")
    thread.join(timeout=120)
    assert order == ["first", True]


def test_a_process_that_died_holds_up_nobody(folder):
    script = "import os, sys; from pathlib import Path; from xmlcore.models import compiling\n"
    script += "compiling.CACHE_FOLDER = Path(sys.argv[1])\nwith compiling.compile_lock('piece'): os._exit(1)"
    assert subprocess.run([sys.executable, "-c", script, str(folder)]).returncode == 1
    assert (folder / "piece.lock").is_file()
    with compile_lock("piece", wait=False) as mine:
        assert mine


def test_after_the_longest_wait_the_piece_is_run_all_the_same(folder, monkeypatch):
    monkeypatch.setattr(compiling, "LONGEST_WAIT", 0.1)
    with compile_lock("piece"), compile_lock("piece") as second:
        assert second


def test_without_a_folder_for_locks_everybody_compiles(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(compiling, "CACHE_FOLDER", tmp_path / "file" / "kernels")
    with compile_lock("piece") as first, compile_lock("piece", wait=False) as second:
        assert first and second
