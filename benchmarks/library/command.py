"""What the commands of benchmarks have in common: their help, the files of their results, and how these are written."""

import argparse
import json
import os
from pathlib import Path

from benchmarks.library import files, machine, processes


def parser(name, about, **more):
    """Return the parser of ``python -m benchmarks.NAME``; its help begins with the first paragraph of ``about``."""
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=about.split("\n\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        **more,
    )


def add_files(parser, result):
    """Add the options ``out`` and ``table`` to a parser."""
    parser.add_argument("--out", type=Path, default=result, help="file of results; the tables are written beside it")
    parser.add_argument("--table", action="store_true", help="write the tables again, without measuring")


def add_visitors(parser, sessions, minutes, result):
    """Add the options of a dashboard with visitors to a parser, and those of :func:`add_files`."""
    parser.add_argument("--sessions", type=int, default=sessions, help="visitors at once")
    parser.add_argument("--minutes", type=float, default=minutes, help="how long they work, after all have arrived")
    parser.add_argument("--pause", type=float, default=3.0, help="seconds between two things that a visitor does")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, help="where to write the log of the server")
    add_files(parser, result)


def keep(results, options):
    """Write what is measured by now, and which sources were."""
    results["xmlcore_code_end"] = machine.code_now()
    files.write(options.out, files.as_json(results))


def show(text, options):
    """Write the tables beside the results, and print them."""
    files.write(options.out.with_suffix(".md"), text)
    print(text)


def measured(name, options, runs, markdown, threads=None, **about):
    """Measure, unless tables alone are wanted: tell and keep each of the runs; write and print the tables."""
    results = files.read_json(options.out)
    if not options.table:
        results = machine.header(name, threads or os.cpu_count()) | about
        for run in runs:
            results["runs"].append(run)
            processes.say(json.dumps(run)[:500])
            keep(results, options)
    show(markdown(results), options)
    return results


def study(name, options, measure, markdown, findings):
    """Measure one run, unless tables alone are wanted; write and print the tables, and exit with 1 on findings."""
    results = measured(name, options, map(measure, [options]), markdown)
    raise SystemExit(1 if any(map(findings, results["runs"])) else 0)
