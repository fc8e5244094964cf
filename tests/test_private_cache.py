"""The cache folder is private to its user, and one in which others could have written is refused."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from xmlcore import store
from xmlcore.system import UnsafeCacheError, cache_root

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
from xmlcore.experiment.engine import given
store.save("runs", "0123456789abcdef", {"x": 1})
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


KERNELS = """
import sys, warnings
with warnings.catch_warnings(record=True, action="always") as said:
    from xmlcore.system import kernel_cache_root
    print(kernel_cache_root())
for one in said:
    print(one.message)
"""


def kernel_folder(tmp_path, **environ):
    """Return the folder for compiled kernels in a new process, and what is said about it."""
    environ = os.environ | {"TMPDIR": str(tmp_path)} | environ
    done = subprocess.run(
        [sys.executable, "-c", KERNELS], cwd=PROJECT, env=environ, capture_output=True, text=True, check=True
    )
    where, *said = done.stdout.splitlines()
    return Path(where), "\n".join(said)


@pytest.mark.parametrize("inside", [".", "abc", "abc/code.nbc"])
def test_compiled_code_is_not_read_where_others_can_write(tmp_path, inside):
    folder = tmp_path / "kernels"
    (folder / "abc").mkdir(parents=True)
    (folder / "abc" / "code.nbc").write_bytes(b"code")
    for path in (folder, folder / "abc", folder / "abc" / "code.nbc"):
        path.chmod(0o755)
    assert kernel_folder(tmp_path, XMLCORE_KERNEL_CACHE=str(folder)) == (folder, "")
    (folder / inside).chmod(0o777)
    where, said = kernel_folder(tmp_path, XMLCORE_KERNEL_CACHE=str(folder))
    assert where == tmp_path / f"xmlcore-{os.geteuid()}" / "kernels"
    assert f"other users can write to {(folder / inside).resolve()}" in said and f"chmod -R go-w {folder}" in said


def test_a_refused_cache_folder_holds_no_compiled_code(tmp_path):
    store.save("runs", KEY, 1)
    cache_root().chmod(0o777)
    where, said = kernel_folder(tmp_path, XMLCORE_CACHE=str(cache_root()), XMLCORE_KERNEL_CACHE="")
    assert where == tmp_path / f"xmlcore-{os.geteuid()}" / "kernels" and "chmod -R go-rwx" in said


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_compiled_code_of_another_user_is_not_read(tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o755)
    os.chown(folder, 12345, 12345)
    where, said = kernel_folder(tmp_path, XMLCORE_KERNEL_CACHE=str(folder))
    assert where != folder and f"other users can write to {folder}" in said


def test_a_new_folder_for_code_is_written_by_its_user_only(tmp_path):
    source = KERNELS.replace("import sys", "import os; os.umask(0)\nimport sys")
    environ = os.environ | {"XMLCORE_KERNEL_CACHE": str(tmp_path / "new")}
    subprocess.run([sys.executable, "-c", source], cwd=PROJECT, env=environ, check=True)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o755
