"""Everything at once on one dashboard: python -m benchmarks.soak --minutes 30

Visitors work as in benchmarks.load. Meanwhile, one after the other and drawn by lot: workers are killed, one or all;
the server is killed, or terminated, and started again; the disk is full for a while; results are deleted behind the
server's back; a byte of a kept value is flipped; and files that are none are uploaded. At the end each visitor looks
for its data and trains once more. The table has what an operator wants to know, and every finding.

The cache is on a file system of its own in memory, which takes the right to mount one; without it, and without a folder
given by --cache that is on a small file system, the disk is never full.
"""

import asyncio
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.library import command, contestant, crowd, dashboard_server, files, machine, processes, tables
from benchmarks.library.tables import percentile
from benchmarks.library.visitor import Tab, TabError
from benchmarks.load import KEPT, first_visit

RESULT = files.RESULTS / "soak.json"
FULL_SECONDS = 15.0  # for which the disk is full
GRACE = 5.0  # seconds after a trouble in which what visitors meet is no finding
RESTARTED = 60.0  # seconds in which a server must answer after it was started
# What happens, and how often.
TROUBLES = {
    "kill a worker": 4, "kill all workers": 2, "kill the server": 2, "terminate the server": 1, "full disk": 2,
    "delete a result": 3, "damage a value": 3, "upload what is no data": 3,
}  # fmt: skip
# Kinds that are not deleted or damaged: what users gave, and what was read from it.
SPARED = ("datasets", "readings", "prepared", "catalog")
REMOVE = "from xmlcore.experiment.engine import leftovers; leftovers.OLD = 0; leftovers.remove_leftovers()"
CHECK = """
import json, sys
from xmlcore import store
found = []
for kind, key in json.load(sys.stdin):
    try:
        store.load(kind, key)
        found.append([kind, key])
    except (store.StoreError, KeyError):
        pass
print(json.dumps(found))
"""


class Soak:
    """A dashboard, its visitors, and what happens to them.

    Parameters
    ----------
    server : dashboard_server.Server
    options
        Of the command line.
    disk : pathlib.Path or None
        Where a file that fills the disk is written; None if the disk is not to be filled.
    """

    def __init__(self, server, options, disk):
        self.server, self.options, self.disk = server, options, disk
        self.random, self.seen = random.Random(options.seed), crowd.Seen()
        self.counts, self.restarts, self.orphans = Counter(), [], 0
        self.health = []  # when it was asked, and the seconds; None without an answer
        self.down, self.full = [], []  # begins and ends of times without a server, and with a full disk
        self.damaged = {}  # (kind, key) -> file and its bytes after the damage
        self.failures, self.problems = [], []  # exceptions on pages; what did not happen: (begin, end, text)
        self.visitors = [
            crowd.Visitor(i, "localhost", server.port, self.seen, options.seed) for i in range(options.sessions)
        ]

    # --- what happens ---

    async def troubles(self, end):
        """Have troubles happen until a time."""
        kinds = {kind: n for kind, n in TROUBLES.items() if kind != "full disk" or self.disk is not None}
        deck = self.random.sample(list(kinds), len(kinds))  # each happens once, then by lot
        while time.monotonic() < end:
            await asyncio.sleep(self.random.uniform(0.5, 1.5) * self.options.every)
            if time.monotonic() >= end - FULL_SECONDS:
                return
            what = deck.pop() if deck else self.random.choices(list(kinds), list(kinds.values()))[0]
            if await getattr(self, what.replace(" ", "_"))() is not False:
                self.counts[what] += 1
                processes.say(what)

    def _workers(self):
        """Return the ids of the worker processes."""
        found = []
        for pid in self.server.processes():
            with contextlib.suppress(OSError):
                if b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(pid)
        return found

    async def kill_a_worker(self):
        workers = self._workers()
        if not workers:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.random.choice(workers), signal.SIGKILL)
        return True

    async def kill_all_workers(self):
        workers = self._workers()
        for pid in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return bool(workers)

    async def kill_the_server(self, how=signal.SIGKILL):
        begin = time.monotonic()
        self.down.append((begin, begin + 2 * RESTARTED))  # until it is known
        self.orphans += len(await asyncio.to_thread(self.server.stop, how))
        start = time.monotonic()
        await asyncio.to_thread(self.server.start)
        self.restarts.append(time.monotonic() - start)
        self.down[-1] = begin, time.monotonic() + GRACE

    async def terminate_the_server(self):
        await self.kill_the_server(signal.SIGTERM)

    async def full_disk(self):
        filler, begin = self.disk / "filler", time.monotonic()
        self.full.append((begin, begin + FULL_SECONDS + GRACE))
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 20))
        await asyncio.sleep(FULL_SECONDS)
        filler.unlink()

    def _kept(self):
        """Return a folder of a result that can be made again, drawn by lot; None if there is none."""
        root = self.server.cache / "artifacts"
        found = sorted(path.parent for path in root.glob("*/*/meta.json") if path.parts[-3] not in SPARED)
        return self.random.choice(found) if found else None

    async def delete_a_result(self):
        folder = self._kept()
        if folder is None:
            return False
        shutil.rmtree(folder, ignore_errors=True)
        return True

    async def damage_a_value(self):
        folder = self._kept()
        values = [] if folder is None else [path for path in folder.iterdir() if path.name != "meta.json"]
        if not values:
            return False
        file = self.random.choice(values)
        try:
            data = bytearray(file.read_bytes())
            data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
            file.write_bytes(data)
        except (OSError, ValueError):
            return False
        self.damaged[folder.parent.name, folder.name] = file, bytes(data)
        return True

    async def upload_what_is_no_data(self):
        tab = Tab("localhost", self.server.port)
        content = self.random.choice(
            [b"", self.random.randbytes(5000), b"10 10 20000000\n" * 3, b"\x1f\x8b" + self.random.randbytes(500)]
        )
        with contextlib.suppress(TabError, OSError, EOFError, TimeoutError):
            await tab.open()
            await tab.upload("Training file", "strange.txt", content)
            await tab.press("Read the files")
            await asyncio.sleep(3)
        self.failures += [f"an upload of no data: {text}" for text in tab.exceptions]
        await tab.close()

    # --- the visitors ---

    async def visit(self, visitor, end):
        """Have a visitor arrive, upload, train and work until a time."""
        await asyncio.sleep(0.5 * visitor.number)
        for action in (visitor.arrive, visitor.upload, lambda: visitor.train(wait=False)):
            await self._guarded(visitor, action)
        while time.monotonic() < end:
            await asyncio.sleep(self.random.expovariate(1 / self.options.pause))
            await self._guarded(visitor, visitor.act)

    async def _guarded(self, visitor, action):
        """Do something, and note when what failed."""
        begin, workspace = time.monotonic(), visitor.tab.workspace if visitor.tab is not None else None
        try:
            await action()
        except (TabError, OSError, EOFError, TimeoutError) as error:
            text = f"visitor {visitor.number} on {visitor.where!r}: {error}"
            closed = None if visitor.tab is None else visitor.tab.closed_at  # a visitor who paused notices it later
            self.problems.append((begin if closed is None else min(begin, closed), time.monotonic(), text[:300]))
            await self._come_back(visitor, workspace)
        visitor.note_exceptions()
        self.failures += self.seen.problems
        self.seen.problems.clear()

    async def _come_back(self, visitor, workspace):
        """Open a tab of the visitor's workspace as soon as the server answers."""
        end = time.monotonic() + RESTARTED + 30
        while time.monotonic() < end:
            with contextlib.suppress(TabError, OSError, EOFError, TimeoutError):
                await visitor.tab.close()
                await visitor.arrive(workspace)
                return
            await asyncio.sleep(1)

    async def ask_health(self):
        """Ask for the health all the time, and note when it was asked."""
        while True:
            begin, answer = time.monotonic(), None
            with contextlib.suppress(OSError):
                answer = await asyncio.to_thread(dashboard_server.healthy, self.server.port, 10.0)
            self.health.append((begin, answer))
            await asyncio.sleep(0.2)

    async def run(self):
        """Let all happen for some minutes; return the visitors' findings at the end."""
        end = time.monotonic() + 60 * self.options.minutes
        asking = asyncio.create_task(self.ask_health())
        await asyncio.gather(self.troubles(end), *(self.visit(visitor, end) for visitor in self.visitors))
        asking.cancel()
        await asyncio.sleep(GRACE)
        lost = []
        for visitor in self.visitors:
            lost += await self.at_the_end(visitor)
        return lost

    async def at_the_end(self, visitor):
        """Return what a visitor misses: its data sets, and a training that works."""
        try:
            workspace = visitor.tab.workspace
            await visitor.tab.close()
            await visitor.arrive(workspace)
            if visitor.rounds and not visitor.tab.says(f"berry{visitor.number:03d}x"):
                return [f"visitor {visitor.number} does not find its data"]
            await visitor.train(wait=True)
            await visitor.tab.close()
        except (TabError, OSError, EOFError, TimeoutError) as error:
            return [f"visitor {visitor.number} cannot train at the end: {error}"]
        return []

    def excused(self, begin, end):
        """Return whether there was no server, or no room on the disk, for some of the time from begin to end."""
        return any(first - 1 <= end and begin <= last for first, last in self.down + self.full)

    def left_alone(self, when):
        """Return whether there should have been a server at a time."""
        return not any(first - 1 <= when <= last for first, last in self.down)

    def silent(self):
        """Return the damaged values that are still as they were damaged, and that the store loads nevertheless."""
        same = [
            list(name) for name, (file, data) in self.damaged.items() if file.is_file() and file.read_bytes() == data
        ]
        done = self._run(CHECK, json.dumps(same))
        return json.loads(done.stdout) if done.returncode == 0 else [["not checked", done.stderr[-300:]]]

    def remaining(self):
        """Return unfinished files, and those of them that remain when a server removes them, which it does in a day."""
        begun = self.server.unfinished()
        self._run(REMOVE)
        return begun, self.server.unfinished()

    def _run(self, code, given=""):
        """Run code of Python with the cache and the temporary files of the server."""
        temporary = self.server.folder / "tmp"
        variables = {**os.environ, "XMLCORE_CACHE": str(self.server.cache), "TMPDIR": str(temporary)}
        return subprocess.run(
            [sys.executable, "-c", code], input=given, text=True, capture_output=True, env=variables, cwd=machine.ROOT
        )


@contextlib.contextmanager
def small_disk(folder, megabytes):
    """Mount a small file system at a folder, if that is possible; yield the folder, or None."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)


def tracebacks(log):
    """Return how often each kind of error was written to a log: the last line of each traceback, without numbers."""
    found, inside = Counter(), False
    for line in log.splitlines():
        if line.startswith("Traceback"):
            inside = True
        elif inside and line and not line.startswith((" ", "During", "The above")):
            found[re.sub(r"[0-9a-f]{8,}|\d+", "N", machine.without_paths(line))[:200]] += 1
            inside = False
    return dict(found)


def measure(options):
    """Let all happen to a dashboard, and return what was measured."""
    with dashboard_server.folder() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        disk = options.cache or stack.enter_context(small_disk(folder / "disk", options.megabytes))
        cache = None if disk is None else disk / "cache"
        server = dashboard_server.Server(folder, ["--server.disconnectedSessionTTL", str(KEPT)], cache=cache).start()
        try:
            asyncio.run(first_visit(server))
            before = server.usage()
            soak = Soak(server, options, disk)
            lost = asyncio.run(soak.run())
            time.sleep(2 * KEPT)
            after, peak = server.usage(), contestant.memory_now(server.process.pid)[1]
        finally:
            left = server.stop()
            if options.log is not None:
                options.log.write_text(server.said())
        silent = soak.silent()
        log, (begun, unfinished) = tracebacks(server.said()), soak.remaining()
    up = [answer for when, answer in soak.health if soak.left_alone(when)]
    unexpected = [text for begin, end, text in soak.problems if not soak.excused(begin, end)]
    answered, seen = [one for one in up if one is not None], soak.seen
    return {
        "sessions": options.sessions, "minutes": options.minutes, "every": options.every, "seed": options.seed,
        "troubles": dict(soak.counts), "restarts": soak.restarts, "orphans": soak.orphans + len(left),
        "switches": seen.switches, "uploaded": seen.uploaded, "trained": seen.trained,
        "health": answered, "unanswered": len(up) - len(answered),
        "disturbed": len(soak.problems) - len(unexpected), "problems": soak.failures + unexpected,
        "strangers": seen.strangers, "lost": lost, "silent": silent, "damaged": len(soak.damaged),
        "log": log, "begun_files": begun, "unfinished_files": unfinished,
        "before": before, "after": after, "peak_bytes": peak,
    }  # fmt: skip


def findings(run):
    """Return what is not as it should be, in sentences."""
    found = [f"A page: {text}" for text in run["problems"][:20]]
    found += [f"{text.capitalize()}." for text in run["lost"]]
    found += [f"Visitor {who} received names of {others}." for who, others in run["strangers"][:5]]
    found += [f"{kind}/{key} was damaged and is loaded as if it were not." for kind, key in run["silent"]]
    found += [f"The log, {count} times: {text}" for text, count in run["log"].items()]
    found += [f"A file that was not finished stays: {name}" for name in run["unfinished_files"][:5]]
    if run["orphans"]:
        found.append(f"{run['orphans']} processes outlived their server.")
    if run["unanswered"]:
        found.append(
            f"The health address did not answer {run['unanswered']} times while nothing was done to the server."
        )
    if max(run["restarts"], default=0.0) >= RESTARTED:
        found.append(f"A start took {max(run['restarts']):.0f} s.")
    return found


def rows(run):
    """Return the lines of the table."""

    def times(values):
        if not values:
            return "–"
        return f"{len(values):,}, p50 {percentile(values, 0.5):.2f}, p95 {percentile(values, 0.95):.2f} s"

    happened = ", ".join(f"{what} {count}" for what, count in sorted(run["troubles"].items())) or "nothing"
    restarts = f"{len(run['restarts'])}" + (f", at most {max(run['restarts']):.1f} s each" if run["restarts"] else "")
    p99 = percentile(run["health"], 0.99)
    sizes = (run["before"]["bytes"], run["after"]["bytes"], run["peak_bytes"])
    return [
        ["what was done to it", happened],
        ["starts after that", restarts],
        ["uploads, trainings", f"{run['uploaded']}, {run['trained']}"],
        ["changes of the page", times(run["switches"])],
        ["answers about health while left alone", f"{len(run['health']):,}"
         + ("" if p99 is None else f", p99 {p99:.3f} s") + f"; {run['unanswered']} missing"],
        ["what visitors asked for without a server or room on the disk", f"{run['disturbed']} times"],
        ["failures on pages, and what did not happen otherwise", str(len(run["problems"]))],
        ["visitors who miss data, or cannot train, at the end", str(len(run["lost"]))],
        ["names of another visitor's data", str(len(run["strangers"]))],
        ["values damaged; loaded as if they were not", f"{run['damaged']}; {len(run['silent'])}"],
        ["kinds of errors in the log", str(len(run["log"]))],
        ["memory of the server, before, after, most", ", ".join(
            f"{size / 2**20:.0f}" for size in sizes) + " MiB"],
        ["threads, files, processes before", ", ".join(str(run["before"][name]) for name in USED)],
        ["threads, files, processes after", ", ".join(str(run["after"][name]) for name in USED)],
        ["processes that outlived their server", str(run["orphans"])],
        ["files that killed processes have not finished; those that a server would not remove within a day",
         f"{len(run['begun_files'])}; {len(run['unfinished_files'])}"],
    ]  # fmt: skip


USED = ("threads", "files", "processes")


def markdown(results):
    """Return the results as Markdown."""
    parts = ["# Everything at once"]
    for run in results["runs"]:
        found = findings(run)
        parts += [
            f"{run['sessions']} visitors for {run['minutes']:g} minutes on one dashboard, to which something was done "
            f"every {run['every']:g} s on average.",
            tables.table(["what", "found"], rows(run), left=2),
            "Findings:" if found else "Findings: none.",
            "\n".join(f"- {text}" for text in found),
        ]
    return tables.document(*parts, tables.measured_text(results))


def main():
    parser = command.parser("soak", __doc__)
    command.add_visitors(parser, 8, 30.0, RESULT)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two troubles")
    parser.add_argument("--megabytes", type=int, default=400, help="size of the file system in memory for the cache")
    parser.add_argument("--cache", type=Path, help="an empty folder on a small file system, which is filled up")
    command.study("soak", parser.parse_args(), measure, markdown, findings)


if __name__ == "__main__":
    main()
