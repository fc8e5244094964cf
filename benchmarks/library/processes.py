"""Measurements in processes of their own: one job file in, one result file out."""

import json
import shutil
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

from benchmarks.library import machine

MAKER = "benchmarks.library.data"  # the module that makes data sets


def run_process(job, folder, options, module, kernels=None):
    """Run one job in a new process and return what it measured.

    Parameters
    ----------
    job : dict
        What to measure; it is written to a file that the module reads.
    folder : pathlib.Path
        Folder of the files of the job.
    options
        Options of the command line; ``threads`` is read.
    module : str
        A module that takes ``--job``.
    kernels : pathlib.Path, optional
        Folder of compiled kernels; by default one in ``folder``.

    Returns
    -------
    dict
        What was measured, or "failed" with the reason. "others_cpu" is the share of the machine's processor time that
        other programs took.
    """
    target = folder / "job.json"
    target.write_text(json.dumps(job | {"result": str(folder / "result.json")}))
    (folder / "result.json").unlink(missing_ok=True)
    clock, last_line = machine.Clock(), ""
    command = [sys.executable, "-P", "-s", "-m", module, "--job", str(target)]
    with subprocess.Popen(
        command, env=machine.environment(options.threads, kernels or folder / "kernels"), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace",
    ) as process:  # fmt: skip
        for line in process.stderr:
            last_line = line.strip() or last_line
            if job.get("tell_every"):
                print(line, end="", file=sys.stderr, flush=True)
    found = {"others_cpu": clock.share_of_others()}
    if process.returncode:
        code = process.returncode
        how = f"ended by signal {-code}" if code < 0 else machine.without_paths(last_line[:300])
        limit = job.get("limit_bytes")
        return found | {"failed": how + ("" if limit is None else f", with at most {limit / machine.GB:g} GB")}
    return json.loads((folder / "result.json").read_text()) | found


def run_job(path, jobs):
    """Do the job in a file, in the process that was started for it, and write its result.

    Parameters
    ----------
    path : pathlib.Path
        A JSON file; "what" names one of ``jobs``, "result" the file to write.
    jobs : dict of callable
        Each takes the job and returns what can be written as JSON.
    """
    job = json.loads(path.read_text())
    Path(job["result"]).write_text(json.dumps(jobs[job["what"]](job)))


def say(text):
    """Print a line with the time of day to the terminal."""
    print(f"{datetime.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)


def timed(work):
    """Return what a function returns, and the processor time that it took."""
    start = time.process_time()
    return work(), time.process_time() - start


def job_of(what, folder, options, **more):
    """Return a job: what to do, the number of threads, the folder of the data, and ``more``."""
    return {"what": what, "threads": options.threads, "data": str(folder / "data")} | more


def make_data(folder, sizes, options, tell_every=None):
    """Make a data set in a new process, in place of the one before; return its sizes, or "failed" with the reason."""
    shutil.rmtree(folder / "data", ignore_errors=True)
    (folder / "data").mkdir()
    return run_process(job_of("make", folder, options, make=sizes, tell_every=tell_every), folder, options, MAKER)


def quietest(once, attempts, where=""):
    """Measure by ``once()``, again while other programs disturb it or kernels are compiled; return the best run.

    A run that failed is not repeated. ``where`` is named before a repetition.
    """

    def unclean(run):
        return bool(run.get("failed")), run.get("extra", {}).get("compile_s", 0) > 0, run["others_cpu"] or 0.0

    runs = []
    while len(runs) < attempts:
        runs.append(once())
        failed, compiled, others = unclean(runs[-1])
        if failed or not (compiled or others > machine.QUIET):
            break
        if where and len(runs) < attempts:
            why = "kernels were compiled" if compiled else f"other programs took {100 * others:.0f} % of the machine"
            say(f"{where}: {why}; once more")
    return min(runs, key=unclean) | {"attempts": len(runs)}
