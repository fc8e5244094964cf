"""The machine that measures: its description, its memory, other programs on it, the environment of processes."""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path

from benchmarks.library import contestant

ROOT = Path(__file__).resolve().parents[2]  # of the checkout
QUIET = 0.1  # share of the machine's processor time that other programs may take
# Neither this folder nor anything of the user's on the module path; xmlcore comes from this checkout, by PYTHONPATH.
ALONE = {True: ("-P", "-s"), False: ("-I",)}


def environment(threads, kernels=None):
    """Return the environment variables of a measuring process.

    All libraries get ``threads`` threads. With ``kernels``, the folder of compiled kernels, the process finds xmlcore
    in this checkout. OpenBLAS is left to choose its code by the processor, whatever the calling environment has told
    it.
    """
    variables = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "NUMBA_DISABLE_JIT") and not name.startswith("OPENBLAS_")
    }
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "NUMBA", "RAYON"):
        variables[f"{name}_NUM_THREADS"] = str(threads)
    if kernels is not None:
        variables |= {"PYTHONPATH": str(ROOT), "XMLCORE_KERNEL_CACHE": str(kernels)}
    return variables


def without_paths(text):
    """Return a text in which file paths are reduced to the file's name: results are not about one machine."""
    return re.sub(r"(?:/[\w.@+~-]+)+/([\w.@+~-]+)", r"\1", text)


def complaint(done):
    """Return why a process failed, in one line."""
    lines = [line.strip() for line in done.stderr.strip().splitlines() if line.strip()]
    how = f"ended by signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
    return without_paths(f"{how}: {lines[-1][:300]}" if lines else how)


def of_children():
    """Return the seconds of processor time of all processes that this one has started and that have ended."""
    found = os.times()
    return found.children_user + found.children_system


class Clock:
    """Measure processor time from now on: of the whole machine, and of the processes that were started here."""

    def __init__(self):
        self.start, self.busy, self.own = time.perf_counter(), self._busy(), self._own()

    @staticmethod
    def _busy():
        """Return the seconds that the machine's processors were busy; None where the system does not tell."""
        try:
            user, nice, system, _, _, irq, softirq, steal = map(
                int, Path("/proc/stat").read_text().split(maxsplit=9)[1:9]
            )
            return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError):
            return None

    @staticmethod
    def _own():
        """Return the seconds of processor time of this process and of those that it started."""
        return time.process_time() + of_children()

    def share_of_others(self):
        """Return the share of the machine's processor time that went to other programs."""
        busy = self._busy()
        if busy is None:
            return None
        others = (busy - self.busy) - (self._own() - self.own)
        return max(0.0, others / ((time.perf_counter() - self.start) * os.cpu_count()))


def machine():
    """Return a description of this machine: processor, cores, memory in GiB, system."""
    cpu = platform.processor()
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        cpu = found.group(1).strip() if found else cpu
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (ValueError, OSError, AttributeError):
        memory = None
    return {"cpu": cpu, "cores": cores, "memory_gib": memory, "system": f"{platform.system()} {platform.machine()}"}


@cache
def blas():
    """Return NumPy's BLAS in a measuring process, and the processor that its code was written for."""
    code = (
        "import json, numpy, threadpoolctl; "
        "print(json.dumps([x for x in threadpoolctl.threadpool_info() if x['user_api'] == 'blas']))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(1), capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return ", ".join(" ".join(filter(None, (x["internal_api"], x["version"], x.get("architecture")))) for x in found)


def code_now():
    """Return a hash of the sources as they are on disk now."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted((ROOT / "xmlcore").rglob("*.py")):
        digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


GIB = 2**30
GB = 1e9


def memory_peak():
    """Return the peak memory of this process since the last reset, in bytes; None where the system does not tell."""
    found = contestant.memory_now()
    return None if found is None else found[1]


def limit_memory(most):
    """Let the process fail rather than take more than ``most`` bytes of memory of its own; None: no limit."""
    if most is None:
        return
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    except (ImportError, OSError, ValueError):
        print("  this system sets no limit to memory: it is measured only", file=sys.stderr, flush=True)


def header(kind, threads):
    """Return what results say of how they were measured: date, machine, versions, sources."""
    return {
        "format": 1,
        "kind": kind,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": machine(),
        "versions": {name: metadata.version(name) for name in ("numba", "numpy", "scipy")}
        | {"python": platform.python_version(), "BLAS": blas()},
        "xmlcore_code": code_now(),
        "xmlcore_code_end": None,
        "threads": threads,
        "runs": [],
    }
