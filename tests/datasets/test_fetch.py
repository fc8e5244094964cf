"""Downloads are tried again and checked, and never leave a half-written file under its name."""

import hashlib
import os

import pytest
from datasets.serving import File, serving

from xmlcore.datasets.registry import fetch as module
from xmlcore.datasets.registry.fetch import DownloadError, DownloadLimits, fetch
from xmlcore.progress import Cancelled

CONTENT = os.urandom(50_000)
QUICK = DownloadLimits(attempts=3, pause=0.01, connect=2.0, silence=0.5, total=30.0)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Files of the tests are small; so are the pieces in which they are written."""
    monkeypatch.setattr(module, "_CHUNK", 5_000)


def left(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def test_a_file_arrives_whole_with_progress_and_a_record(tmp_path):
    reports = []
    with serving({"/a.zip": File(CONTENT)}) as address:
        record = fetch(f"{address}/a.zip", tmp_path / "a.zip", limits=QUICK, progress=lambda *r: reports.append(r))
    assert (tmp_path / "a.zip").read_bytes() == CONTENT and left(tmp_path) == ["a.zip"]
    assert record["bytes"] == len(CONTENT) and record["sha256"] == hashlib.sha256(CONTENT).hexdigest()
    assert record["checked"] is False and record["url"].endswith("/a.zip")
    shares = [share for phase, share, *_ in reports if phase == "Downloading"]
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(set(shares)) > 5
    assert any(str(detail).endswith("of 50.0 kB") for _, _, detail, *_ in reports)


def test_a_dropped_connection_is_resumed_where_it_broke(tmp_path):
    file = File(CONTENT, drops=[20_000, 10_000])
    with serving({"/a": file}) as address:
        fetch(f"{address}/a", tmp_path / "a", limits=QUICK)
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert file.asked[0] is None and file.asked[1] == "bytes=20000-" and file.asked[2] == "bytes=30000-"


@pytest.mark.parametrize("etag", ['"1"', ""])
def test_a_server_that_cannot_resume_sends_the_file_again(tmp_path, etag):
    file, truncated = (File(CONTENT, drops=drops, resumes=False, etag=etag) for drops in ([20_000], [1_000] * 99))
    with serving({"/a": file, "/truncated": truncated}) as address:
        fetch(f"{address}/a", tmp_path / "a", limits=QUICK)
        with pytest.raises(DownloadError, match="given up after 3 attempts"):
            fetch(f"{address}/truncated", tmp_path / "b", limits=QUICK)
    assert (tmp_path / "a").read_bytes() == CONTENT and len(file.asked) == 2 and not (tmp_path / "b").exists()


def test_a_busy_server_is_asked_again_and_an_honest_no_is_final(tmp_path):
    busy, gone = File(CONTENT, status=[503, 429], headers={"Retry-After": "0"}), File(CONTENT, status=[403] * 9)
    with serving({"/busy": busy, "/gone": gone}) as address:
        fetch(f"{address}/busy", tmp_path / "a", limits=QUICK)
        assert (tmp_path / "a").read_bytes() == CONTENT and len(busy.asked) == 3
        with pytest.raises(DownloadError, match="answered 403"):
            fetch(f"{address}/gone", tmp_path / "b", limits=QUICK)
        assert len(gone.asked) == 1
        with pytest.raises(DownloadError, match="answered 404"):
            fetch(f"{address}/nothing", tmp_path / "b", limits=QUICK)
    assert left(tmp_path) == ["a"]


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/octet-stream"])
def test_a_web_page_in_place_of_the_file_is_refused(tmp_path, kind):
    page = b"\n<!DOCTYPE html><html>Download anyway?</html>"
    with serving({"/a": File(page, kind=kind)}) as address:
        with pytest.raises(DownloadError, match="sent a web page instead of the file"):
            fetch(f"{address}/a", tmp_path / "a", limits=QUICK)
    assert not (tmp_path / "a").exists()


def test_another_file_than_the_published_one_is_refused(tmp_path):
    right = "md5:" + hashlib.md5(CONTENT).hexdigest()
    file = File(CONTENT[:-1])
    with serving({"/a": file}) as address:
        with pytest.raises(DownloadError, match="checksum differs"):
            fetch(f"{address}/a", tmp_path / "a", checksum=right, limits=QUICK)
        assert left(tmp_path) == []
        file.content = CONTENT
        assert fetch(f"{address}/a", tmp_path / "a", checksum=right, limits=QUICK)["checked"]
    assert left(tmp_path) == ["a"]


def test_a_silent_and_an_endless_server_are_given_up(tmp_path):
    with serving({"/silent": File(CONTENT, slow=5.0), "/drip": File(CONTENT, slow=0.1)}) as address:
        quick = DownloadLimits(attempts=2, pause=0.01, silence=0.1)
        with pytest.raises(DownloadError, match="sent nothing for 0.1 s"):
            fetch(f"{address}/silent", tmp_path / "a", limits=quick)
        with pytest.raises(DownloadError, match="took more than 0 minutes"):
            fetch(f"{address}/drip", tmp_path / "a", limits=DownloadLimits(silence=2.0, total=0.5))
    assert not (tmp_path / "a").exists()


def test_an_unreachable_server_is_named_and_stopping_is_quick(tmp_path):
    with serving({}) as address:
        pass
    with pytest.raises(DownloadError, match="127.0.0.1 cannot be reached: is this machine offline"):
        fetch(f"{address}/a", tmp_path / "a", limits=QUICK)

    def stop(phase, share, detail=""):
        if "trying again" in detail:
            raise Cancelled

    with pytest.raises(Cancelled):
        fetch(f"{address}/a", tmp_path / "a", limits=DownloadLimits(pause=60.0), progress=stop)
    with pytest.raises(DownloadError, match="cannot be downloaded"):
        fetch("no address at all", tmp_path / "a", limits=QUICK)


def test_files_beyond_the_limit_or_the_disk_are_refused(tmp_path, monkeypatch):
    with serving({"/a": File(CONTENT), "/unknown": File(CONTENT, length=False)}) as address:
        for name in ("a", "unknown"):
            with pytest.raises(DownloadError, match="more than 40.0 kB|larger than 40.0 kB"):
                fetch(f"{address}/{name}", tmp_path / "a", limits=QUICK, max_bytes=40_000)
        fetch(f"{address}/unknown", tmp_path / "b", limits=QUICK)
        assert (tmp_path / "b").read_bytes() == CONTENT
        monkeypatch.setattr(module.shutil, "disk_usage", lambda path: type("Use", (), {"free": 10}))
        with pytest.raises(DownloadError, match="the disk has 10 bytes left"):
            fetch(f"{address}/a", tmp_path / "a", limits=QUICK)


def test_two_downloads_of_one_file_do_not_write_into_each_other(tmp_path):
    def again(phase, share, detail=""):
        if share > 0.2:
            fetch(f"{address}/a", tmp_path / "a", limits=QUICK)

    with (
        serving({"/a": File(CONTENT)}) as address,
        pytest.raises(DownloadError, match="Another process is downloading"),
    ):
        fetch(f"{address}/a", tmp_path / "a", limits=QUICK, progress=again)
