"""A dashboard of its own for measuring: its processes, memory, threads and open files, its log, its health."""

import contextlib
import http.client
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.library import machine

BAD_LINES = re.compile(r"Traceback|Error\b|Exception\b|WARNING|Warning|CRITICAL|Segmentation|core dumped")
GONE = 10.0  # seconds in which all processes of a server must have ended after it


class Server:
    """A dashboard in a process of its own, with its own cache.

    Parameters
    ----------
    folder : pathlib.Path
        For the cache and the log.
    options : sequence of str
        Further options of ``streamlit run``.
    variables : dict
        Further environment variables.
    cache : pathlib.Path, optional
        Folder of the cache; by default one in ``folder``.
    """

    def __init__(self, folder, options=(), variables=(), cache=None):
        self.folder, self.cache = Path(folder), Path(cache or Path(folder) / "cache")
        self.log = self.folder / "log.txt"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._options, self._variables = list(options), dict(variables)
        self._seen = set()  # ids of all processes that belonged to it
        self.process = None

    def add_options(self, *options):
        """Add options of ``streamlit run``."""
        self._options += options

    def start(self):
        """Start the server, and wait until it answers."""
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)]
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        variables = {**os.environ, "XMLCORE_CACHE": str(self.cache), "TMPDIR": str(temporary)}
        variables |= {"XMLCORE_FIRST_RESULTS": "off", **self._variables}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--server.headless", "true", *self._options],
                cwd=machine.ROOT, env=variables, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError):
                if healthy(self.port) is not None:
                    return self
            time.sleep(0.1)
        raise SystemExit(f"the dashboard did not start; its log:\n{self.said()}")

    def stop(self, how=signal.SIGTERM):
        """End the server; return the ids of its processes that are still there some seconds later."""
        self.processes()
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        end = time.monotonic() + GONE
        while (left := [pid for pid in self._seen if _runs(pid)]) and time.monotonic() < end:
            time.sleep(0.2)
        return left

    def processes(self):
        """Return the ids of the processes that the server has started, directly or not."""
        parents = {}
        for status in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError, ValueError):
                parents[int(status.parent.name)] = int(_fields(status.parent.name)[1])
        found, new = set(), {self.process.pid}
        while new:
            found |= new
            new = {pid for pid, parent in parents.items() if parent in new} - found
        self._seen |= {(pid, _started(pid)) for pid in found}
        return found - {self.process.pid}

    def ticks(self):
        """Return the processor time that each process has used which the server has started."""
        used = {}
        for pid in self.processes():
            with contextlib.suppress(OSError):
                used[pid] = _fields(pid)[11:13]
        return used

    def usage(self):
        """Return the bytes, threads and open files of the server, and the number of processes that it has started."""
        root = Path(f"/proc/{self.process.pid}")
        lines = dict(line.split(":", 1) for line in (root / "status").read_text().splitlines())
        return {
            "bytes": int(lines["VmRSS"].split()[0]) * 1024,
            "threads": int(lines["Threads"]),
            "files": len(list((root / "fd").iterdir())),
            "processes": len(self.processes()),
        }

    def bytes_of_all(self):
        """Return the memory of the server and the processes that it has started; what they share counts once."""
        found = 0
        for pid in {self.process.pid, *self.processes()}:
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{pid}/smaps_rollup").read_text()
                found += 1024 * int(re.search(r"^Pss:\s*(\d+)", text, re.MULTILINE)[1])
        return found

    def open_files(self):
        """Return the names of what the server has open, and how often: files by name, others by kind."""
        names = []
        for link in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                target = re.sub(r"\[\d+\]|\s*\(deleted\)", "", str(link.readlink()))
                names.append(target.rpartition("/")[2] or target)
        return dict(Counter(names))

    def said(self):
        """Return the log."""
        return self.log.read_text(errors="replace") if self.log.is_file() else ""

    def bad_lines(self):
        """Return the lines of the log that speak of an error or a warning."""
        return [machine.without_paths(line) for line in self.said().splitlines() if BAD_LINES.search(line)]

    def unfinished(self):
        """Return the names of files in the cache that were begun and not finished, and of temporary files."""
        begun = [path for path in self.cache.rglob("*") if path.name.startswith((".tmp-", ".part-"))]
        own = (".", "__pycache__", "xmlcore-")  # the last is the user's folder, which stays
        kept = [path for path in (self.folder / "tmp").iterdir() if not path.name.startswith(own)]
        return sorted(path.name for path in begun + kept)


def _fields(pid):
    """Return what the system says of a process, from its state on: the name before may contain spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _started(pid):
    """Return when a process was started, in ticks: ids are used again."""
    try:
        return _fields(pid)[19]
    except OSError:
        return None


def _runs(process):
    """Return whether a process still runs: (id, when it was started)."""
    pid, started = process
    try:
        state = _fields(pid)
    except OSError:
        return False
    return state[0] not in "ZX" and (started is None or state[19] == started)


def healthy(port, timeout=30.0):
    """Return the seconds until the health address answered; None if it did not say that all is well."""
    start = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", "/_stcore/health")
        return time.perf_counter() - start if connection.getresponse().status == 200 else None
    finally:
        connection.close()


def _ask(port, every, pipe):
    """Ask for the health again and again until told to end; send the seconds, None where there was no answer."""
    times = []
    while not pipe.poll(every):
        try:
            times.append(healthy(port))
        except OSError:
            times.append(None)
    pipe.send(times)


class Health:
    """Ask a server for its health again and again, in a process of its own; ``stop`` returns the seconds."""

    def __init__(self, port, every=0.05):
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_ask, args=(port, every, other), daemon=True)
        self._process.start()

    def stop(self):
        self._pipe.send(None)
        times = self._pipe.recv()
        self._process.join()
        return times


def folder():
    """Return a context of a temporary folder for a server."""
    return tempfile.TemporaryDirectory(prefix="xmlcore-load-", ignore_cleanup_errors=True)
