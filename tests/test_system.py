"""Folders for generated files, cores and free memory."""

import os
import subprocess
import sys
from pathlib import Path

import joblib
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


def test_a_checkout_keeps_its_files_in_its_folder_cache(monkeypatch):
    monkeypatch.delenv(system.CACHE_VARIABLE)
    assert cache_root() == ROOT / "cache"


def test_the_variable_names_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(system.CACHE_VARIABLE, "some/../folder")
    assert cache_root() == (tmp_path / "folder").resolve() and not cache_root().exists()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv(system.CACHE_VARIABLE, "~/mine")
    assert cache_root() == (tmp_path / "mine").resolve()


@pytest.mark.parametrize("platform, variable, default", [
    ("linux", "XDG_CACHE_HOME", ".cache"),
    ("darwin", None, "Library/Caches"),
    ("win32", "LOCALAPPDATA", "AppData/Local"),
])  # fmt: skip
def test_an_installed_package_uses_the_users_cache_folder(installed, platform, variable, default, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    if variable is not None:
        monkeypatch.setenv(variable, str(installed / "own"))
        assert cache_root() == installed / "own" / "xmlcore"
        monkeypatch.delenv(variable)
    assert cache_root() == installed / default / "xmlcore"


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files, and nothing said yet."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(system.tempfile, "gettempdir", lambda: str(folder))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    system._say_once.cache_clear()
    return folder


def only_below(writable):
    """Return os.access for a user who can write below a folder only."""
    return lambda path, mode: Path(path).is_relative_to(writable)


def test_without_a_home_folder_files_are_temporary(installed, temporary, monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    with pytest.warns(RuntimeWarning, match="no home folder, so generated files are kept in .*XMLCORE_CACHE") as said:
        folder = cache_root()
        assert cache_root() == folder == temporary / f"xmlcore-{os.geteuid()}" / "cache"
    assert len(said) == 1 and folder.parent.stat().st_mode & 0o077 == 0
    folder.parent.chmod(0o777)
    with pytest.raises(system.UnsafeCacheError, match="no folder of this user alone.*XMLCORE_CACHE"):
        cache_root()


def test_a_read_only_home_is_left_for_temporary_files(installed, temporary, monkeypatch):
    installed.mkdir()
    monkeypatch.setattr(os, "access", only_below(temporary))
    with pytest.warns(RuntimeWarning, match=f"nothing can be written to {installed}/.cache/xmlcore"):
        assert cache_root().is_relative_to(temporary)
    monkeypatch.setattr(os, "access", only_below(installed))
    assert cache_root() == installed / ".cache" / "xmlcore"


def test_a_read_only_checkout_is_read_for_kernels_only(temporary, tmp_path, monkeypatch):
    monkeypatch.delenv(system.CACHE_VARIABLE)
    monkeypatch.delenv(system.KERNEL_CACHE_VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    checkout = tmp_path / "checkout"
    (checkout / "cache" / "numba").mkdir(parents=True)
    for name in ("app.py", "pyproject.toml"):
        (checkout / name).touch()
    monkeypatch.setattr(system, "__file__", str(checkout / "xmlcore" / "system.py"))
    assert cache_root() == checkout / "cache"
    monkeypatch.setattr(os, "access", lambda path, mode: not Path(path).is_relative_to(checkout))
    assert cache_root() == tmp_path / "home" / ".cache" / "xmlcore"
    assert kernel_cache_root() == checkout / "cache" / "numba"
    (checkout / "cache" / "numba").rmdir()
    assert kernel_cache_root() == tmp_path / "home" / ".cache" / "xmlcore" / "numba"


def test_a_variable_names_the_folder_of_compiled_kernels(tmp_path, monkeypatch):
    monkeypatch.setenv(system.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(system.KERNEL_CACHE_VARIABLE, str(tmp_path / "shared"))
    assert kernel_cache_root() == (tmp_path / "shared").resolve()
    monkeypatch.delenv(system.KERNEL_CACHE_VARIABLE)
    assert kernel_cache_root() == (tmp_path / "cache" / "numba").resolve()


def test_the_number_of_jobs():
    assert effective_jobs(3) == 3
    assert effective_jobs(None) == effective_jobs(-1) >= 1
    for bad, error in ((0, ValueError), (1.5, TypeError), (True, TypeError), ("2", TypeError)):
        with pytest.raises(error, match="n_jobs"):
            effective_jobs(bad)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not restrict processes to cores")
def test_all_cores_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5, 6})
    assert effective_jobs(None) == effective_jobs(-1) == 3
    assert [effective_jobs(n_jobs) for n_jobs in (-2, -3, -4, -100)] == [2, 1, 1, 1]
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert effective_jobs(-1) == 1


def test_calls_of_joblib_have_one_thread_each_unless_told(monkeypatch):
    monkeypatch.setattr(system, "usable_cores", lambda: 8)
    ask = (None, -1, 3)

    def asked():
        return [effective_jobs(n_jobs) for n_jobs in ask]

    assert asked() == [8, 8, 3]
    with joblib.parallel_config("threading"):  # says nothing of a number
        assert asked() == [8, 8, 3]
    with joblib.parallel_config(n_jobs=2):
        assert asked() == [2, 8, 3]
    with joblib.parallel_config(n_jobs=-2):
        assert asked() == [7, 8, 3]
    assert joblib.Parallel(2, "threading")(joblib.delayed(asked)() for _ in range(2)) == [[1, 8, 3]] * 2


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
    monkeypatch.setattr(system, "memory_of_control_groups", lambda: None)
    assert free_bytes() is None


GB = 10**9
OF_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
OF_V2 = ("memory.max", "memory.current", "inactive_file")


def control_groups(root, own, groups):
    """Write the files of control groups: by folder, the names of the files, and bytes allowed, used and dropped."""
    (root / "own").write_text(own)
    for folder, (names, limit, used, dropped) in groups.items():
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name, content in ((names[0], limit), (names[1], used), ("memory.stat", f"cache 1\n{names[2]} {dropped}")):
            (root / folder / name).write_text(f"{content}\n")
    return system.memory_of_control_groups(str(root), str(root / "own"))


@pytest.mark.parametrize("own, groups, found", [
    ("0::/\n", {".": (OF_V2, 4 * GB, 3 * GB, GB)}, (4 * GB, 2 * GB)),
    ("0::/\n", {".": (OF_V2, "max", 3 * GB, GB)}, None),
    ("0::/\n", {".": (OF_V2, GB, 2 * GB, 0)}, (GB, 0)),
    (  # as of systemd: the service has less than the slice that it is in, of which others have used much
        "0::/system.slice/lab.service\n",
        {"system.slice": (OF_V2, 8 * GB, 7 * GB, 0), "system.slice/lab.service": (OF_V2, 4 * GB, GB, 0)},
        (4 * GB, GB),
    ),
    ("0::/../other\n", {".": (OF_V2, 4 * GB, GB, 0)}, (4 * GB, 3 * GB)),
    ("4:memory:/\n", {"memory": (OF_V1, 4 * GB, GB, 0)}, (4 * GB, 3 * GB)),
    ("4:cpu,memory:/docker/abc\n0::/\n", {"memory": (OF_V1, 4 * GB, GB, 0)}, (4 * GB, 3 * GB)),
    ("4:memory:/a\n", {"memory": (OF_V1, 2**63 - 4096, GB, 0), "memory/a": (OF_V1, GB, 1, 0)}, (GB, GB - 1)),
    ("4:memory:/\n", {"memory": (OF_V1, 2**63 - 4096, GB, 0)}, None),
    ("", {}, None),
])  # fmt: skip
def test_the_memory_of_a_container_is_read_in_both_versions(tmp_path, own, groups, found):
    assert control_groups(tmp_path, own, groups) == found


def test_free_memory_is_what_a_container_leaves(monkeypatch):
    monkeypatch.setattr(system, "memory_of_control_groups", lambda: (1 << 20, 1 << 10))
    assert free_bytes() == 1 << 10
    monkeypatch.setattr(system, "memory_of_control_groups", lambda: (1 << 60, 1 << 59))
    assert free_bytes() < 1 << 59


@pytest.mark.skipif(sys.platform != "linux", reason="no other system limits a process so")
def test_a_limited_process_gets_an_error_and_limits_end():
    code = """
import numpy as np, time
from xmlcore.system import limited
for what in (lambda: np.ones(10**8), lambda: time.sleep(60)):
    try:
        with limited(10**8, 0.2):
            what()
    except (MemoryError, TimeoutError) as error:
        print(type(error).__name__, end=" ")
with limited(None, None):
    print(np.ones(10**8).size)
time.sleep(0.3)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("MemoryError TimeoutError 100000000\n", "")
