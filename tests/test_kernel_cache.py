"""Compiled code on disk: never stale, and where it belongs."""

import errno
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from xmlcore import interrupts, system
from xmlcore._kernels import _caching, _dispatchers, _jit

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


def test_a_changed_byte_or_name_of_a_source_is_another_version(sources):
    seen, paths = [_jit.kernels_version()], sorted(sources.glob("*.py"))
    for path in paths:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        seen.append(_jit.kernels_version())
    (sources / "new.py").write_bytes(b"")
    seen.append(_jit.kernels_version())
    (sources / "new.py").rename(sources / "newer.py")
    seen.append(_jit.kernels_version())
    assert len({*seen}) == len(paths) + 3


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


def test_compiled_kernels_are_never_stale(tmp_path):
    project, cache = tmp_path / "project", tmp_path / "kernels"
    kernels = project / "xmlcore" / "_kernels"
    kernels.mkdir(parents=True)
    (project / "xmlcore" / "__init__.py").touch()
    for module in (system, interrupts):
        shutil.copy(module.__file__, project / "xmlcore")
    for name in ("__init__.py", "_caching.py", "_dispatchers.py", "_jit.py"):
        shutil.copy(KERNELS / name, kernels)
    (kernels / "called.py").write_text(CALLED)
    (kernels / "calling.py").write_text(CALLING)

    first, result, hits = run(project, cache)
    assert (result, hits) == (20, 0)
    assert [path.name for path in cache.iterdir()] == [first]
    files = {path.name for path in (cache / first).rglob("*") if path.is_file()}
    assert any("calling" in name and name.endswith(".nbc") for name in files)
    assert not [path for path in project.rglob("*") if path.suffix in (".nbi", ".nbc")]

    moved = tmp_path / "elsewhere" / "moved"
    shutil.copytree(project, moved)
    os.utime(moved / "xmlcore" / "_kernels" / "calling.py", (0, 0))  # files of a wheel have other times
    assert run(moved, cache) == (first, 20, 1)  # from disk: Numba alone would look by the sources' path

    # Numba alone would miss this change: the file of `calling` is the same.
    (kernels / "called.py").write_text(CALLED.replace("x + 1", "x + 2"))
    second, result, hits = run(project, cache)
    assert second != first
    assert (result, hits) == (30, 0)
    assert {path.name for path in cache.iterdir()} == {first, second}


NUMBERS = np.arange(4.0)


def shifted(numbers, by):
    """A function to be compiled in each of the tests below."""
    total = 0.0
    for number in numbers:
        total += number + by
    return total


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Return a function that makes a new kernel, as in another process, and a list of the files in its cache."""
    folder = tmp_path / "kernels"
    monkeypatch.setattr(_jit.config, "DISABLE_JIT", 0)

    def make(folders=(folder,), written=folder):
        monkeypatch.setattr(_jit, "FOLDERS", folders)
        monkeypatch.setattr(_jit, "_WRITTEN", written)
        monkeypatch.setattr(_jit, "CACHE_IS_USED", True)
        return _jit.kernel(shifted)

    make.folder, make.files = folder, lambda: sorted(folder.iterdir())
    return make


def hits(made):
    return sum(made.stats.cache_hits.values()), sum(made.stats.cache_misses.values())


def test_each_combination_of_types_is_a_file(kernel):
    first = kernel()
    assert first(NUMBERS, 1.0) == first(NUMBERS, 1) == first(NUMBERS.astype(np.float32), 1) == 10
    assert len(kernel.files()) == 3
    again = kernel()
    assert again(NUMBERS, 1.0) == again(NUMBERS, 1) == 10
    assert hits(again) == (2, 0)


def test_a_process_says_once_that_it_compiles(kernel, monkeypatch, caplog):
    monkeypatch.setattr(_caching, "_is_told", False)
    first = kernel()
    assert not caplog.records
    first(NUMBERS, 1.0)
    first(NUMBERS, 1)
    assert [(record.name, record.levelname) for record in caplog.records] == [("xmlcore", "WARNING")]
    assert "xmlcore warm-up" in caplog.text
    monkeypatch.setattr(_caching, "_is_told", False)
    assert kernel()(NUMBERS, 1.0) == 10
    _caching.tell_once(None)  # as what compiles all ahead does
    kernel()(NUMBERS.astype(np.int8), 1)
    assert len(caplog.records) == 1


def test_code_for_another_processor_or_version_is_not_loaded(kernel, monkeypatch):
    kernel()(NUMBERS, 1.0)
    for place, name, value in (
        (_caching.llvmlite, "__version__", "0.0"),
        (_caching.sys.implementation, "cache_tag", "cpython-399"),
        (type(kernel().targetctx.codegen()), "magic_tuple", lambda self: ("other", "processor", "")),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(place, name, value)
            other = kernel()
            assert other(NUMBERS, 1.0) == 10 and hits(other) == (0, 1)


def test_a_damaged_file_is_compiled_anew_and_replaced(kernel):
    kernel()(NUMBERS, 1.0)
    (path,) = kernel.files()
    whole, random = path.read_bytes(), np.random.default_rng(0)
    cut = [0, 1, 16, 17, 32, 33, 34, *random.integers(40, len(whole), 20), len(whole) - 1]
    damaged = [whole[:length] for length in cut] + [whole + b"more", bytes(len(whole)), random.bytes(len(whole))]
    for at in random.integers(0, len(whole), 60):
        damaged.append(whole[:at] + bytes([whole[at] ^ 1 << int(random.integers(8))]) + whole[at + 1 :])
    made = kernel_after(kernel)
    (signature,), context = made.signatures, made.targetctx
    for content in damaged:
        path.write_bytes(content)
        assert made._cache.load_overload(signature, context) is None, len(content)
    again = kernel()
    assert again(NUMBERS, 1.0) == 10 and hits(again) == (0, 1)
    assert hits(kernel_after(kernel)) == (1, 0)


def kernel_after(kernel):
    made = kernel()
    made(NUMBERS, 1.0)
    return made


def test_a_full_disk_is_said_once_and_leaves_no_file(kernel, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_dispatchers, "_said", set())
    monkeypatch.setattr(os, "replace", full)
    made = kernel()
    with pytest.warns(RuntimeWarning, match="shifted was not kept: .*No space left"):
        assert made(NUMBERS, 1.0) == 10
    with warnings.catch_warnings(action="error"):
        assert made(NUMBERS, 1) == 10
    assert kernel.files() == []


def test_a_deleted_folder_is_made_again(kernel):
    made = kernel_after(kernel)
    shutil.rmtree(kernel.folder)
    assert made(NUMBERS, 1) == 10
    assert len(kernel.files()) == 1


def test_code_is_loaded_from_a_read_only_folder(kernel, tmp_path, monkeypatch):
    kernel_after(kernel)
    both = kernel((kernel.folder, tmp_path / "own"), tmp_path / "own")
    assert both(NUMBERS, 1.0) == both(NUMBERS, 1) == 10 and hits(both) == (1, 1)
    assert len(kernel.files()) == len(list((tmp_path / "own").iterdir())) == 1
    nowhere = kernel((kernel.folder,), None)
    assert nowhere(NUMBERS, 1.0) == 10 and hits(nowhere) == (1, 0)
    monkeypatch.setattr(_dispatchers, "_said", set())
    with pytest.warns(RuntimeWarning, match="shifted was not kept: nothing can be written to"):
        assert nowhere(NUMBERS, 1) == 10


@pytest.fixture
def image(tmp_path, monkeypatch):
    """A folder with compiled code to which this user cannot write, and another one for temporary files."""
    folder, temporary = tmp_path / "image" / "abc", tmp_path / "temporary"
    folder.mkdir(parents=True)
    (folder / "kernel.nbc").write_bytes(b"code")
    temporary.mkdir()
    monkeypatch.setattr(system.tempfile, "gettempdir", lambda: str(temporary))
    make_writable = _jit._make_writable

    def refuse(other):
        """Act as the operating system does towards a user who does not own the folder."""
        if other == folder:
            raise PermissionError("read-only")
        make_writable(other)

    monkeypatch.setattr(_jit, "_make_writable", refuse)
    return folder


def test_code_of_another_user_is_used_and_more_kept_elsewhere(image, tmp_path, recwarn):
    folders, written = _jit.usable_folders(image)
    assert folders == (image, written) and written.is_relative_to(tmp_path / "temporary") and not recwarn
    user = next((tmp_path / "temporary").iterdir())
    assert user.stat().st_mode & 0o077 == 0  # only this user can read and write it
    assert _jit.usable_folders(image) == (folders, written)


def test_a_temporary_folder_open_to_others_is_not_used(image):
    system.own_temporary_folder().chmod(0o777)
    assert _jit.usable_folders(image) == ((image,), None)
    (image / "kernel.nbc").unlink()
    with pytest.warns(RuntimeWarning, match="each process compiles them anew"):
        assert _jit.usable_folders(image) == ((), None)


@pytest.mark.parametrize("variable", ["XMLCORE_CACHE", "XMLCORE_KERNEL_CACHE"])
def test_an_empty_read_only_folder_names_the_variable(image, monkeypatch, variable):
    (image / "kernel.nbc").unlink()
    monkeypatch.delenv("XMLCORE_KERNEL_CACHE", raising=False)
    monkeypatch.setenv(variable, "/somewhere")
    with pytest.warns(RuntimeWarning, match=f"read-only.*they are kept in .*writable folder in {variable}$"):
        folders, written = _jit.usable_folders(image)
    assert folders == (written,)
