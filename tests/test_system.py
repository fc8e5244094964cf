"""Folders for generated files, cores and free memory."""

import os
import sys
from pathlib import Path

import pytest

from xmlcore import system
from xmlcore.system import cache_root, effective_jobs, free_bytes, kernel_cache_root

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The package as if it were installed: not in a checkout of the project, and no variable set."""
    monkeypatch.delenv(system.CACHE_VARIABLE)
    monkeypatch.setattr(system, "__file__", str(tmp_path / "site-packages" / "xmlcore" / "system.py"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_checkout_keeps_its_generated_files_in_its_folder_cache(monkeypatch):
    monkeypatch.delenv(system.CACHE_VARIABLE)
    assert cache_root() == ROOT / "cache"


def test_the_variable_names_the_cache_folder_which_need_not_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(system.CACHE_VARIABLE, "some/../folder")
    assert cache_root() == (tmp_path / "folder").resolve() and not cache_root().exists()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv(system.CACHE_VARIABLE, "~/mine")
    assert cache_root() == (tmp_path / "mine").resolve()


@pytest.mark.parametrize(
    "platform, variable, default",
    [
        ("linux", "XDG_CACHE_HOME", ".cache"),
        ("darwin", None, "Library/Caches"),
        ("win32", "LOCALAPPDATA", "AppData/Local"),
    ],
)
def test_an_installed_package_uses_the_users_cache_folder(installed, platform, variable, default, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    if variable is not None:
        monkeypatch.setenv(variable, str(installed / "own"))
        assert cache_root() == installed / "own" / "xmlcore"
        monkeypatch.delenv(variable)
    assert cache_root() == installed / default / "xmlcore"


def test_compiled_kernels_are_in_the_cache_folder_unless_their_variable_names_another(tmp_path, monkeypatch):
    monkeypatch.setenv(system.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(system.KERNEL_CACHE_VARIABLE, str(tmp_path / "shared"))
    assert kernel_cache_root() == (tmp_path / "shared").resolve()
    monkeypatch.delenv(system.KERNEL_CACHE_VARIABLE)
    assert kernel_cache_root() == (tmp_path / "cache" / "numba").resolve()


def test_the_number_of_jobs():
    assert effective_jobs(3) == 3
    assert effective_jobs(None) == effective_jobs(-1) >= 1
    for bad, error in ((0, ValueError), (-2, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="n_jobs"):
            effective_jobs(bad)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not restrict processes to cores")
def test_all_cores_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5, 6})
    assert effective_jobs(None) == effective_jobs(-1) == 3


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="this system does not report free memory")
def test_free_memory_is_in_bytes():
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 1 << 20 < free_bytes() <= total


@pytest.mark.parametrize("content", [None, "MemTotal: 1 kB\n", "MemAvailable: many\n"])
def test_free_memory_is_none_where_the_system_does_not_report_it(content, tmp_path, monkeypatch):
    path = tmp_path / "meminfo"
    if content is not None:
        path.write_text(content)
    monkeypatch.setattr(system, "open", lambda name, **options: open(path, **options), raising=False)
    assert free_bytes() is None
