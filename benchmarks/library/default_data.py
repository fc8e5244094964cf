"""How long a new user waits for the data set of the first page: `python -m benchmarks.library.default_data`.

Prints JSON, all in seconds. It is a process of its own with an empty cache, because a user's first one imports
everything too.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from xmlcore.system import CACHE_VARIABLE

ROOT = Path(__file__).resolve().parents[2]
NAME = "api-docs"
PHASES = {"Reading documentation": "reading_s", "Counting words": "counting_s"}


def measure() -> dict[str, float]:
    """Make the default data set in a new process with an empty cache, and describe it as the Data page does.

    Returns
    -------
    dict
        Seconds by the clock: ``importing_s`` (what every worker imports), ``reading_s`` (the documentation, with the
        start of a process), ``counting_s`` (words), ``saving_s``, ``loading_s``, ``describing_s``, and ``total_s``,
        their sum; ``cpu_s``, processor time of all of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", __spec__.name],
            cwd=ROOT,
            env=os.environ | {CACHE_VARIABLE: folder},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return json.loads(done.stdout)


def in_this_process() -> dict[str, float]:
    """Return what :func:`measure` returns; the cache folder of this process must be empty."""
    seconds = {}
    part, since = "importing_s", time.perf_counter()

    def begin(name):
        """End the part that is being timed, and begin another one."""
        nonlocal part, since
        now = time.perf_counter()
        seconds[part] = seconds.get(part, 0.0) + now - since
        part, since = name, now

    from xmlcore import datasets, experiment

    task = experiment.task("prepare", {}, {"name": NAME})
    begin("reading_s")

    def progress(phase, fraction, detail=""):
        """Begin the part of a phase; the last report of the data set comes before it is saved."""
        name = PHASES.get(phase)
        if name is not None and name != part:
            begin(name)
        if name == "counting_s" and fraction == 1.0:
            begin("saving_s")

    key = experiment.keep(task, progress)
    begin("loading_s")
    data = datasets.load_saved(experiment.load("prepare", key).dataset)
    begin("describing_s")
    datasets.describe(data)
    begin("")
    times = os.times()
    used = times.user + times.system + times.children_user + times.children_system
    return seconds | {"total_s": sum(seconds.values()), "cpu_s": used}


if __name__ == "__main__":
    print(json.dumps(in_this_process()))
