"""Studies of several parts, each measured on its own: points in processes of their own, one file of results, tables."""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.library import files, machine, processes, tables
from benchmarks.library.data import there
from xmlcore.system import kernel_cache_root


class Point(NamedTuple):
    make: dict  # what data.make takes
    job: dict
    named: dict  # what the tables know it by, "data" among it


class Part(NamedTuple):
    title: str
    plan: Any  # options -> list of Point
    table: Any  # part -> Markdown


class Study(NamedTuple):
    name: str  # of the module within benchmarks, and of its results
    about: str
    parts: dict[str, Part]
    trial: str  # what --quick does, in words
    shorten: Any = None  # Point -> Point, with --quick
    described: Any = dict  # job -> what is written down of it beside "what", "model" and "rows"
    begun: Any = None  # (part, options): adds to a part before it is measured
    without_trial_line: tuple = ()  # parts whose tables say themselves that they are a trial
    pictures: Any = None  # (part's name, part) -> {file beside the results: SVG}


def run_part(study, name, options, keep=lambda part: None):
    """Measure all points of a part, and return the part with its runs; ``keep`` gets it after each run."""
    part = machine.header(name, options.threads) | {"quick": options.quick}
    points = study.parts[name].plan(options)
    part["absent"] = sorted({one.named["data"] for one in points if not there(one)})
    points = [one for one in points if there(one)]
    part |= {"planned": len(points), "complete": False}
    if study.begun is not None:
        study.begun(part, options)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix=f"xmlcore-{study.name}-") as temporary:
        folder, made, about = Path(temporary), None, {}
        for number, one in enumerate(points, start=1):
            one = study.shorten(one) if options.quick and study.shorten is not None else one
            if one.make != made:
                made, about = one.make, processes.make_data(folder, one.make, options)
                if "failed" in about:
                    raise SystemExit(f"{name}: making the data of point {number} failed: {about['failed']}")
            start = time.perf_counter()
            job = one.job | {"data": str(folder / "data"), "about": about}
            module = f"benchmarks.{study.name}"
            found = processes.quietest(job, folder, options, module=module, kernels=kernel_cache_root())
            run = one.named | {key: one.job[key] for key in ("what", "model", "rows")} | study.described(one.job)
            part["runs"].append(run | about | found)
            seconds = time.perf_counter() - start
            failed = f"FAILED, {found['failed']}, " if "failed" in found else ""
            processes.say(
                f"{name}, point {number} of {len(points)}, {one.named['data']}: {failed}{seconds:.0f} s in all"
            )
            keep(part)
    part |= {"complete": True, "xmlcore_code_end": machine.code_now(), "seconds": time.perf_counter() - began}
    keep(part)
    return part


def merged(study, results, name, part):
    """Return the results with a part in the place of what stood under its name, in the study's order."""
    known = results.get("parts", {}) | {name: part}
    return {"format": 1, "parts": {one: known[one] for one in study.parts if one in known}}


def as_json(results):
    """Return results as JSON with a line for each run."""
    parts = ",\n".join(f"{json.dumps(name)}: {files.as_json(part).rstrip()}" for name, part in results["parts"].items())
    return f'{{"format": {results["format"]}, "parts": {{\n{parts}\n}}}}\n'


def done(part, **named):
    """Return the runs of a part that came to an end and whose fields have the values in ``named``."""
    return [
        run
        for run in part["runs"]
        if "failed" not in run and all(run.get(key) == value for key, value in named.items())
    ]


def part_markdown(study, name, part):
    """Return all that is said about one part, as Markdown."""
    lines = [] if part["complete"] else [f"**Stopped after {len(part['runs'])} of {part['planned']} points.**"]
    if part["quick"] and name not in study.without_trial_line:
        lines.append(f"**A trial: {study.trial}.**")
    lines.append("\n".join([tables.measured_text(part), *tables.noise_lines(part)]))
    if part["absent"]:
        lines.append(f"Not there, so not measured: {', '.join(part['absent'])}.")
    lines += [f"**A point on {run['data']} failed**: {run['failed']}" for run in part["runs"] if "failed" in run]
    return "\n\n".join([*lines, study.parts[name].table(part)])


def markdown(study, results):
    """Return all tables of a study, each part under its title."""
    parts = results["parts"].items()
    text = "\n\n".join(f"## {study.parts[name].title}\n\n{part_markdown(study, name, part)}" for name, part in parts)
    return text.rstrip("\n") + ("\n" if parts else "")


def read_options(study, arguments=None, more=lambda parser: None, check=lambda parser, options: None):
    """Return the options of the command line; ``more`` adds some, ``check`` looks at what was given."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{study.name}",
        description=study.about,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("folder", type=Path, nargs="?", help="data sets: NAME/train.txt.gz and NAME/test.txt.gz")
    parser.add_argument("--job", type=Path, help=argparse.SUPPRESS)
    names = list(study.parts)
    parser.add_argument("--part", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help=f"{study.trial}: a trial, to a temporary file")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--attempts", type=int, default=2, help="runs of a point while other programs disturb it")
    more(parser)
    parser.add_argument("--out", type=Path, help=f"results, as JSON (default: benchmarks/results/{study.name}.json)")
    parser.add_argument("--table", type=Path, metavar="FILE", help="measure nothing: print the tables of a JSON file")
    options = parser.parse_args(arguments)
    if options.job is not None or options.table is not None:
        return options
    if options.folder is None or not options.folder.is_dir():
        parser.error("name the FOLDER with the data sets, or a --table to print")
    if min(options.threads, options.attempts) < 1:
        parser.error("--threads and --attempts must be at least 1")
    check(parser, options)
    if options.out is None:
        folder = Path(tempfile.gettempdir()) if options.quick else files.RESULTS
        options.out = folder / (f"{study.name}-trial.json" if options.quick else f"{study.name}.json")
    return options


def main(study, jobs, options):
    """Do what the command line asks for."""
    if options.job is not None:
        processes.run_job(options.job, jobs)
        return
    if options.table is not None:
        results = json.loads(options.table.read_text(encoding="utf-8"))
        print(markdown(study, results))
    else:
        results = files.read_json(options.out)
        for name in options.part:

            def keep(part, name=name):
                nonlocal results
                results = merged(study, results, name, part)
                files.write(options.out, as_json(results))
                files.write(options.out.with_suffix(".md"), markdown(study, results))
                for file, picture in (study.pictures(name, part) if study.pictures else {}).items():
                    files.write(options.out.with_name(file), picture)

            part = run_part(study, name, options, keep)
            print(f"## {study.parts[name].title}\n\n{part_markdown(study, name, part)}\n", flush=True)
        processes.say(f"written to {options.out.name} and {options.out.with_suffix('.md').name}")
