"""The cache folder is private to its user, and one in which others could have written is refused."""

import io
import os
import stat
import tempfile
import warnings

import pytest

from xmlcore import store, system
from xmlcore.experiment.engine import task_files
from xmlcore.system import UnsafeCacheError, cache_root

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
KEY = "0123456789abcdef"


def modes(root):
    """Modes of a folder and of all that is in it."""
    return {path: stat.S_IMODE(path.stat().st_mode) for path in (root, *root.rglob("*"))}


@pytest.fixture
def open_to_all():
    """The files of a process that takes nothing from others, unless it is told to."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_all_that_is_written_is_private_whatever_the_umask(open_to_all):
    store.save("runs", KEY, {"x": 1})
    with store.writing("runs", "aa" * 8) as path:
        (path / "model").mkdir()
        (path / "model" / "params.json").write_text("{}")
    store.pin("runs", "aa" * 8)
    store.set_bound(5)
    task_files.put("k", {"train": io.BytesIO(b"1")})
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
def test_a_folder_open_to_others_is_refused_with_a_remedy(place):
    store.save("runs", KEY, 1)
    cache_root().chmod(0o755)
    (cache_root() / place).chmod(0o777)
    for use in (lambda: store.load("runs", KEY), lambda: store.save("runs", "ab" * 8, 2)):
        with pytest.raises(UnsafeCacheError, match=r"Other users can write to .* chmod -R go-rwx .* XMLCORE_CACHE"):
            use()
    assert "is not safe" in store.trouble()


def test_a_folder_without_results_is_made_private():
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


@pytest.fixture
def kernel_folder(tmp_path, monkeypatch):
    """Return the folder for compiled kernels in an environment, as in a new process, and what is said about it."""

    def ask(**environ):
        monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
        for name, value in environ.items():
            monkeypatch.setenv(name, str(value))
        system._say_once.cache_clear()
        with warnings.catch_warnings(record=True, action="always") as said:
            return system.kernel_cache_root(), "\n".join(str(one.message) for one in said)

    return ask


@pytest.mark.parametrize("inside", [".", "abc", "abc/code.nbc"])
def test_compiled_code_is_not_read_where_others_can_write(kernel_folder, tmp_path, inside):
    folder = tmp_path / "kernels"
    (folder / "abc").mkdir(parents=True)
    (folder / "abc" / "code.nbc").write_bytes(b"code")
    for path in (folder, folder / "abc", folder / "abc" / "code.nbc"):
        path.chmod(0o755)
    assert kernel_folder(XMLCORE_KERNEL_CACHE=folder) == (folder, "")
    (folder / inside).chmod(0o777)
    where, said = kernel_folder(XMLCORE_KERNEL_CACHE=folder)
    assert where == tmp_path / f"xmlcore-{os.geteuid()}" / "kernels"
    assert f"other users can write to {(folder / inside).resolve()}" in said and f"chmod -R go-w {folder}" in said


def test_a_refused_cache_folder_holds_no_compiled_code(kernel_folder, tmp_path):
    store.save("runs", KEY, 1)
    cache_root().chmod(0o777)
    where, said = kernel_folder(XMLCORE_CACHE=cache_root(), XMLCORE_KERNEL_CACHE="")
    assert where == tmp_path / f"xmlcore-{os.geteuid()}" / "kernels" and "chmod -R go-rwx" in said


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_compiled_code_of_another_user_is_not_read(kernel_folder, tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o755)
    os.chown(folder, 12345, 12345)
    where, said = kernel_folder(XMLCORE_KERNEL_CACHE=folder)
    assert where != folder and f"other users can write to {folder}" in said


def test_a_new_folder_for_code_is_written_by_its_user_only(open_to_all, kernel_folder, tmp_path):
    kernel_folder(XMLCORE_KERNEL_CACHE=tmp_path / "new")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o755
