"""The cache folder is private to its user, and one in which others could have written is refused."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from xmlcore import store
from xmlcore.system import UnsafeCacheError, cache_root, secure_cache

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
KEY = "0123456789abcdef"
PROJECT = Path(store.__file__).parents[2]


def modes(root):
    """Modes of a folder and of all that is in it."""
    return {path: stat.S_IMODE(path.stat().st_mode) for path in (root, *root.rglob("*"))}


def test_all_that_is_written_is_private_whatever_the_umask(tmp_path):
    source = """
import io, os
os.umask(0)
from xmlcore import store
from xmlcore.experiment import given
store.save("runs", "0123456789abcdef", {"x": 1})
store.rewrite("runs", "0123456789abcdef", {"x": 2})
with store.writing("runs", "aa" * 8) as path:
    (path / "model").mkdir()
    (path / "model" / "params.json").write_text("{}")
store.pin("runs", "aa" * 8)
store.set_bound(5)
given.give("k", {"train": io.BytesIO(b"1")})
"""
    subprocess.run([sys.executable, "-c", source], cwd=PROJECT, check=True)
    found = modes(cache_root())
    assert len(found) > 12
    assert not [f"{path} {oct(mode)}" for path, mode in found.items() if mode & 0o077]


def test_a_folder_of_an_early_version_is_made_private():
    path = store.save("runs", KEY, 1)
    for one in (cache_root(), path, path / store.VALUE):
        one.chmod(one.stat().st_mode | 0o055)
    assert store.load("runs", KEY) == 1
    assert not any(mode & 0o077 for mode in modes(cache_root()).values())


@pytest.mark.parametrize("place", [".", "artifacts/runs", f"artifacts/runs/{KEY}/{store.VALUE}"])
def test_a_folder_in_which_others_can_write_is_refused_with_a_remedy(place):
    store.save("runs", KEY, 1)
    cache_root().chmod(0o755)
    (cache_root() / place).chmod(0o777)
    for use in (lambda: store.load("runs", KEY), lambda: store.save("runs", "ab" * 8, 2)):
        with pytest.raises(UnsafeCacheError, match=r"Other users can write to .* chmod -R go-rwx .* XMLCORE_CACHE"):
            use()
    assert "is not safe" in store.trouble()


def test_a_folder_without_results_is_made_private_whatever_its_mode():
    cache_root().mkdir()
    (cache_root() / ".gitkeep").touch()
    cache_root().chmod(0o777)  # as a checkout made it
    store.save("runs", KEY, 1)
    assert stat.S_IMODE(cache_root().stat().st_mode) == 0o700 and store.load("runs", KEY) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_of_another_user_is_refused_with_a_remedy():
    store.save("runs", KEY, 1)
    os.chown(cache_root(), 12345, 12345)
    with pytest.raises(UnsafeCacheError, match="belongs to another user .number 12345.* chown -R"):
        store.load("runs", KEY)
    os.chown(cache_root(), 0, 0)
    assert store.load("runs", KEY) == 1


def test_the_group_that_only_has_the_owner_may_write(monkeypatch):
    import grp
    from types import SimpleNamespace

    store.save("runs", KEY, 1)
    cache_root().chmod(0o775)
    owner = os.geteuid()
    import pwd

    who = pwd.getpwuid(owner)
    alone = SimpleNamespace(gr_name=who.pw_name, gr_mem=[])
    monkeypatch.setattr(grp, "getgrgid", lambda gid: alone)
    if cache_root().stat().st_gid == who.pw_gid:
        secure_cache()
        assert stat.S_IMODE(cache_root().stat().st_mode) == 0o700
    cache_root().chmod(0o775)
    monkeypatch.setattr(grp, "getgrgid", lambda gid: SimpleNamespace(gr_name="staff", gr_mem=["eve"]))
    with pytest.raises(UnsafeCacheError):
        secure_cache()
