"""Compiled code on disk: never stale, and where it belongs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from xmlcore import system
from xmlcore._kernels import _jit

KERNELS = Path(_jit.__file__).parent


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A copy of the kernel sources that kernels_version() looks at."""
    folder = tmp_path / "_kernels"
    folder.mkdir()
    for path in KERNELS.glob("*.py"):
        shutil.copy(path, folder)
    monkeypatch.setattr(_jit, "__file__", str(folder / "_jit.py"))
    return folder


def test_the_version_is_that_of_the_sources_wherever_they_are(sources):
    assert _jit.kernels_version() == _jit.KERNELS_VERSION


@pytest.mark.parametrize("name", sorted(path.name for path in KERNELS.glob("*.py")))
def test_a_changed_byte_in_any_kernel_source_is_another_version(sources, name):
    before = _jit.kernels_version()
    content = bytearray((sources / name).read_bytes())
    content[len(content) // 2] ^= 1
    (sources / name).write_bytes(content)
    assert _jit.kernels_version() != before


def test_a_new_or_renamed_source_is_another_version(sources):
    seen = {_jit.kernels_version()}
    (sources / "new.py").write_bytes(b"")
    seen.add(_jit.kernels_version())
    (sources / "new.py").rename(sources / "newer.py")
    seen.add(_jit.kernels_version())
    assert len(seen) == 3


def test_another_numba_is_another_version(monkeypatch):
    monkeypatch.setattr(_jit, "numba", SimpleNamespace(__version__="0.0.0"))
    assert _jit.kernels_version() != _jit.KERNELS_VERSION


CALLED = """
from xmlcore._kernels._jit import kernel

@kernel
def called(x):
    return x + 1
"""
CALLING = """
from xmlcore._kernels._jit import kernel
from xmlcore._kernels.called import called

@kernel
def calling(x):
    return 10 * called(x)
"""
SCRIPT = """
from numba.core import config
before = config.CACHE_DIR
from xmlcore._kernels import _jit
from xmlcore._kernels.calling import calling
assert config.CACHE_DIR == before  # the user's own kernels keep their place
print(_jit.KERNELS_VERSION, calling(1), sum(calling.stats.cache_hits.values()))
"""


def run(project, cache):
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    environment["XMLCORE_KERNEL_CACHE"] = str(cache)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=project, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    version, result, hits = done.stdout.split()
    return version, int(result), int(hits)


def test_compiled_kernels_lie_in_the_folder_of_their_version_and_are_never_stale(tmp_path):
    project, cache = tmp_path / "project", tmp_path / "kernels"
    kernels = project / "xmlcore" / "_kernels"
    kernels.mkdir(parents=True)
    (project / "xmlcore" / "__init__.py").touch()
    shutil.copy(system.__file__, project / "xmlcore")
    for name in ("__init__.py", "_dispatchers.py", "_jit.py"):
        shutil.copy(KERNELS / name, kernels)
    (kernels / "called.py").write_text(CALLED)
    (kernels / "calling.py").write_text(CALLING)

    first, result, hits = run(project, cache)
    assert (result, hits) == (20, 0)
    assert [path.name for path in cache.iterdir()] == [first]
    files = {path.name for path in (cache / first).rglob("*") if path.is_file()}
    assert any("calling" in name and name.endswith(".nbc") for name in files)
    assert not [path for path in project.rglob("*") if path.suffix in (".nbi", ".nbc")]

    assert run(project, cache) == (first, 20, 1)  # from disk

    # Numba alone would miss this change: the file of `calling` is the same.
    (kernels / "called.py").write_text(CALLED.replace("x + 1", "x + 2"))
    second, result, hits = run(project, cache)
    assert second != first
    assert (result, hits) == (30, 0)
    assert {path.name for path in cache.iterdir()} == {first, second}


@pytest.fixture
def filled(tmp_path, monkeypatch):
    """A folder with compiled code to which this user cannot write, and another one for temporary files."""
    folder, temporary = tmp_path / "image" / "abc", tmp_path / "temporary"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "kernel.nbi").write_bytes(b"index")
    temporary.mkdir()
    monkeypatch.setattr(_jit.tempfile, "gettempdir", lambda: str(temporary))
    make_writable = _jit._make_writable

    def refuse(other):
        """Act as the operating system does towards a user who does not own the folder."""
        if other == folder:
            raise PermissionError("read-only")
        make_writable(other)

    monkeypatch.setattr(_jit, "_make_writable", refuse)
    return folder


def test_compiled_code_of_another_user_is_copied_once_and_used(filled, tmp_path, recwarn):
    copy = _jit.usable_folder(filled)
    assert (copy / "inner" / "kernel.nbi").read_bytes() == b"index" and copy.is_relative_to(tmp_path / "temporary")
    assert copy.parent.stat().st_mode & 0o077 == 0  # only this user can read and write it
    (copy / "more").touch()
    assert _jit.usable_folder(filled) == copy and (copy / "more").is_file()
    assert [path.name for path in copy.parent.iterdir()] == ["abc"] and not recwarn


def test_a_copy_to_which_others_can_write_is_not_used(filled):
    _jit.usable_folder(filled).parent.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="others can write to it"):
        assert _jit.usable_folder(filled) is None


@pytest.mark.parametrize("variable", ["XMLCORE_CACHE", "XMLCORE_KERNEL_CACHE"])
def test_an_empty_folder_that_cannot_be_written_to_is_said_with_the_variable_in_force(filled, monkeypatch, variable):
    (filled / "inner" / "kernel.nbi").unlink()
    monkeypatch.delenv("XMLCORE_KERNEL_CACHE", raising=False)
    monkeypatch.setenv(variable, "/somewhere")
    with pytest.warns(RuntimeWarning, match=f"read-only.*writable folder in {variable}$"):
        assert _jit.usable_folder(filled) is None
