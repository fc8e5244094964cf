"""What the commands of benchmarks have in common: their help, the files of their results, and how these are written."""

import argparse
from pathlib import Path

from benchmarks.library import files, machine


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


def keep(results, options):
    """Write what is measured by now, and which sources were."""
    results["xmlcore_code_end"] = machine.code_now()
    files.write(options.out, files.as_json(results))


def show(text, options):
    """Write the tables beside the results, and print them."""
    files.write(options.out.with_suffix(".md"), text)
    print(text)
