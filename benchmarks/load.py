"""Many sessions on one dashboard at once: python -m benchmarks.load --sessions 20 --minutes 5

Visitors speak the websocket protocol, as browsers do, each in a workspace of its own: they upload data with names of
their own, train, change pages, open sections, press buttons, stop jobs and reload. Meanwhile another process asks for
the health of the server twenty times a second, and further ones may keep the cores ``--busy``. The table has how long
answers took, what failed, whether a visitor has received a name from another one's data, how the memory of the server
went, and what was left over when all had gone.
"""

import asyncio
import contextlib
import multiprocessing
import os
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.library import command, contestant, crowd, dashboard_server, files, machine, processes, tables
from benchmarks.library.tables import percentile
from xmlcore.models.compiling import COMPILING

RESULT = files.RESULTS / "load.json"
ARRIVAL = 0.5  # seconds between two arrivals
KEPT = 5  # seconds for which Streamlit keeps the session of a tab that was closed; its default are 120
EVERY = 100  # changes of the page between two notes of the memory
GOALS = {"health_p99": 0.2, "switch_p95": 2.0, "memory": 0.10, "bytes": 4e9}  # seconds, seconds, share
TRAININGS = 5  # of each of the first visitors, before anything is measured
TICK = 0.1  # seconds of which a process that keeps a core busy works a share


def _spin(share):
    """Keep a core busy for a share of the time, as far as the system allows."""
    while True:
        begun, worked = time.monotonic(), time.process_time()
        while time.process_time() - worked < share * TICK:
            pass
        time.sleep(max(0.0, begun + TICK - time.monotonic()))


@contextlib.contextmanager
def busy(share):
    """Have a process for each core ask for a share of it."""
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=_spin, args=(share,), daemon=True) for _ in range(os.cpu_count() if share else 0)]
    for one in others:
        one.start()
    try:
        yield
    finally:
        for one in others:
            one.terminate()


async def watch_memory(server, seen, notes):
    """Note the memory of the server after each hundred changes of the page, and the peak of that of all processes."""
    while True:
        seen.peak_bytes = max(seen.peak_bytes, await asyncio.to_thread(server.bytes_of_all))
        done = len(seen.switches) // EVERY * EVERY
        if done and (not notes or notes[-1][0] < done):
            notes.append((done, contestant.memory_now(server.process.pid)[0]))
        await asyncio.sleep(1)


async def crowded(server, options, seen):
    """Have all visitors arrive, upload and train; then let them work for some minutes. Return notes of the memory."""
    visitors = [crowd.Visitor(i, "localhost", server.port, seen, options.seed) for i in range(options.sessions)]

    async def begin(visitor):
        await asyncio.sleep(ARRIVAL * visitor.number)
        await visitor.guarded(visitor.arrive())
        if visitor.tab is not None and visitor.tab.closed is None:
            await visitor.guarded(visitor.upload())
            await visitor.guarded(visitor.train(wait=True))
            visitor.note_exceptions()

    start = time.monotonic()
    await asyncio.gather(*map(begin, visitors))
    processes.say(f"{len(visitors)} visitors have arrived and trained, after {time.monotonic() - start:.0f} s")
    arrival = {"loads": list(seen.loads), "trained": seen.trained}
    seen.loads.clear()
    health, lag, notes = dashboard_server.Health(server.port), crowd.Lag(), []
    watchers = [asyncio.create_task(lag.run()), asyncio.create_task(watch_memory(server, seen, notes))]
    end = time.monotonic() + 60 * options.minutes
    await asyncio.gather(*(visitor.work(end, options.pause) for visitor in visitors))
    for watcher in watchers:
        watcher.cancel()
    answers = await asyncio.to_thread(health.stop)
    for visitor in visitors:
        await visitor.tab.close()
    return {"arrival": arrival, "health": answers, "lag": lag.times, "memory": notes}


async def last_visit(server):
    """Open a tab and close it: Streamlit drops sessions of tabs that were closed before when another one is closed."""
    await asyncio.sleep(2 * KEPT)
    visitor = crowd.Visitor(998, "localhost", server.port, crowd.Seen(), 0)
    await visitor.arrive()
    await visitor.tab.close()


def settled(server, before, seconds):
    """Wait until the server has no more than before, or some seconds; return what it has."""
    asyncio.run(last_visit(server))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        now = server.usage()
        if all(now[name] <= before[name] for name in ("threads", "files", "processes")):
            break
        time.sleep(0.5)
    return now


def measure(options):
    """Start a dashboard, let the visitors work, and return what was measured."""
    seen = crowd.Seen()
    with dashboard_server.folder() as folder:
        server = dashboard_server.Server(Path(folder), ["--server.disconnectedSessionTTL", str(KEPT)]).start()
        try:
            asyncio.run(first_visit(server))
            before, clock, open_before = server.usage(), machine.Clock(), server.open_files()
            with busy(options.busy):
                found = asyncio.run(crowded(server, options, seen))
            after, open_after = settled(server, before, options.patience), server.open_files()
            log = server.bad_lines()
        finally:
            left = server.stop()
        others = clock.share_of_others()  # now that the time of the server's processes is known
        ended = server.bad_lines()[len(log) :]
        unfinished = server.unfinished()
        if options.log is not None:
            options.log.write_text(server.said())
    health = [one for one in found["health"] if one is not None]
    record = {
        "sessions": options.sessions, "minutes": options.minutes, "pause": options.pause, "seed": options.seed,
        "busy": options.busy, "others_cpu": others,
        "health": {"asked": len(found["health"]), "unanswered": len(found["health"]) - len(health)}
        | {f"p{round(100 * share)}": percentile(health, share) for share in (0.5, 0.99, 1)},
        "driver_lag_p99": percentile(found["lag"], 0.99),
        "arrival_loads": found["arrival"]["loads"],
        "memory": found["memory"],
        "before": before, "after": after, "opened": {
            name: n - open_before.get(name, 0) for name, n in open_after.items() if n > open_before.get(name, 0)
        },
        "log": log, "log_at_end": ended, "left_processes": len(left), "unfinished_files": unfinished,
    }  # fmt: skip
    return record | asdict(seen)


async def first_visit(server):
    """Open the dashboard, wait until its kernels are compiled and its first data set is ready, and use all workers."""
    visitors = [
        crowd.Visitor(999 - number, "localhost", server.port, crowd.Seen(), 0) for number in range(os.cpu_count() + 1)
    ]
    first = visitors[0]
    await first.arrive()
    await first.tab.until(lambda: first.tab.says("Labels per row"), "the first data set", 300)
    end = time.monotonic() + 300
    while first.tab.says(COMPILING) and time.monotonic() < end:
        await asyncio.sleep(0.5)

    async def use(visitor):
        if visitor is not first:
            await visitor.arrive()
        await visitor.upload()
        for _ in range(TRAININGS):  # at once, so that the worker for short jobs is needed, too
            await visitor.train(wait=True)

    await asyncio.gather(*map(use, visitors))
    for page in crowd.PAGES:
        await first.go(page)
    for visitor in visitors:
        await visitor.tab.close()
    await asyncio.sleep(2 * KEPT)


def memory_growth(run):
    """Return the share by which memory has grown from 100 changes of the page to the last note; None without both."""
    notes = run["memory"]
    return notes[-1][1] / notes[0][1] - 1 if len(notes) > 1 else None


def findings(run):
    """Return what is not as it should be, in sentences."""
    found, health = [], run["health"]
    if health["unanswered"]:
        found.append(f"The health address did not answer {health['unanswered']} times.")
    if health["p99"] is not None and health["p99"] >= GOALS["health_p99"]:
        found.append(f"One in a hundred answers about health took {health['p99']:.2f} s or longer.")
    switch = percentile(run["switches"], 0.95)
    if switch is not None and switch >= GOALS["switch_p95"]:
        found.append(f"One in twenty changes of the page took {switch:.2f} s or longer.")
    growth = memory_growth(run)
    if growth is not None and growth > GOALS["memory"]:
        found.append(f"The memory of the server grew by {100 * growth:.0f} %.")
    found += [f"Visitor {who} received names of {others}." for who, others in run["strangers"][:5]]
    found += [f"A page: {text}" for text in run["problems"][:10]]
    found += [f"The log: {text}" for text in (run["log"] + run["log_at_end"])[:10]]
    if (run["peak_bytes"] or 0) > GOALS["bytes"]:
        found.append(f"The server and its processes took {run['peak_bytes'] / 1e9:.1f} GB.")
    for name in ("threads", "files", "processes"):
        if run["after"][name] > run["before"][name]:
            found.append(f"{name.capitalize()} left: {run['before'][name]} before, {run['after'][name]} after.")
    if run["left_processes"]:
        found.append(f"{run['left_processes']} processes outlived the server.")
    found += [f"A file was not finished: {name}" for name in run["unfinished_files"][:5]]
    return found


def rows(run):
    """Return the lines of the table: what, how it should be, how it was."""
    health, switches, growth = run["health"], run["switches"], memory_growth(run)
    said = [f"after {n:,}: {size / 2**20:.0f} MiB" for n, size in run["memory"]]
    said = [said[0], said[-1]] if len(said) > 1 else said

    def time_of(values):
        if not values:
            return "–"
        parts = (
            f"p50 {percentile(values, 0.5):.2f}, p95 {percentile(values, 0.95):.2f}",
            f"most {max(values):.2f} s",
        )
        return ", ".join((f"{len(values):,}", *parts))

    answers = "–" if health["p50"] is None else ", ".join(
        f"{name} {health[key]:.3f}" for name, key in (("p50", "p50"), ("p99", "p99"), ("most", "p100"))
    ) + " s"  # fmt: skip
    peak = f"{run['peak_bytes'] / 1e9:.2f} GB" if run["peak_bytes"] else "–"
    used = [f"{run[when][name]}" for name in ("threads", "files", "processes") for when in ("before", "after")]
    return [
        ["answers about health", f"p99 below {GOALS['health_p99']:g} s", f"{health['asked']:,}: {answers}"],
        ["changes of the page", f"p95 below {GOALS['switch_p95']:g} s", time_of(switches)],
        ["other interactions", "", time_of(run["presses"])],
        ["tabs opened", "", time_of(run["loads"])],
        ["uploads, trainings", "", f"{run['uploaded']}, {run['trained']}"],
        ["messages to the visitors", "", f"{run['messages']:,}, {run['received'] / 1e6:,.0f} MB"],
        ["names of another visitor's data", "none", str(len(run["strangers"]))],
        ["failures on pages", "none", str(len(run["problems"]))],
        ["errors and warnings in the log", "none", str(len(run["log"]) + len(run["log_at_end"]))],
        ["memory of the server", f"at most {100 * GOALS['memory']:.0f} % more", "; ".join(said)
         + ("" if growth is None else f": {100 * growth:+.1f} %")],
        ["memory of all its processes", f"at most {GOALS['bytes'] / 1e9:g} GB", peak],
        ["threads before and after", "no more", f"{used[0]}, {used[1]}"],
        ["open files before and after", "no more", f"{used[2]}, {used[3]}"],
        ["processes before and after", "no more", f"{used[4]}, {used[5]}"],
        ["processes after the server's end", "none", str(run["left_processes"])],
        ["unfinished files", "none", str(len(run["unfinished_files"]))],
    ]  # fmt: skip


def markdown(results):
    """Return the results as Markdown."""
    parts = ["# Many sessions at once"]
    for run in results["runs"]:
        found = findings(run)
        parts += [
            f"{run['sessions']} visitors for {run['minutes']:g} minutes on one dashboard, each with a pause of "
            f"{run['pause']:g} s on average between two things done; all processes on one machine, the visitors and "
            "the trainings, too."
            + f" Other processes asked for {100 * run['busy']:.0f} % of each core."
            * bool(run["busy"]),
            tables.table(["what", "goal", "found"], rows(run), left=3),
            "What is not as it should be: " + ("nothing." if not found else ""),
            "\n".join(f"- {text}" for text in found),
            f"The event loop of the visitors was late by {1000 * (run['driver_lag_p99'] or 0):.0f} ms in one of a "
            "hundred cases: times are that much too long.",
        ]
        parts[-1] = "\n".join([parts[-1], *tables.noise_lines({"runs": [run]})])
    return tables.document(*parts, tables.measured_text(results))


def main():
    parser = command.parser("load", __doc__)
    command.add_visitors(parser, 20, 5.0, RESULT)
    parser.add_argument("--busy", type=float, default=0.0, help="share of each core that other processes ask for")
    parser.add_argument("--patience", type=float, default=90.0, help="seconds in which what is left over must go")
    command.study("load", parser.parse_args(), measure, markdown, findings)


if __name__ == "__main__":
    main()
