"""Output of commands: tables, JSON, and progress on stderr."""

import json
import math
import sys
import time

import click

from xmlcore.wording import hundredths, plain

_SECONDS = 0.1  # between two redrawings of the line of progress
_WIDTH = 24  # characters of the bar


def note(text) -> None:
    """Write a sentence for the user to stderr; a line of progress that stands there is removed first."""
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""
    click.echo(f"{clear}Note: {' '.join(str(text).split())}", err=True)


def as_json(value) -> None:
    click.echo(json.dumps(plain(value, _json_value), ensure_ascii=False, indent=2, allow_nan=False))


def _json_value(value):
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def table(head, rows) -> None:
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in [head, *cells]) for at in range(len(head))]
    right = [bool(cells) and not any(row[at].strip("0123456789.,-+e% ") for row in cells) for at in range(len(head))]
    for row in [head, *cells]:
        line = (cell.rjust(width) if flush else cell.ljust(width) for cell, width, flush in zip(row, widths, right))
        click.echo("  ".join(line).rstrip())


def measures(values: dict, intervals: dict | None = None) -> None:
    most = max(len(found) for found in values.values())
    ks = [k for k in sorted({1, 3, 5, most}) if k <= most]
    rows = []
    for name, found in values.items():
        rows.append([name.replace("@k", ""), *(hundredths(found[k - 1], "") for k in ks)])
        if intervals:
            ends = (intervals.get((name, k)) for k in ks)
            rows.append(["", *(f"{hundredths(end[0])}-{hundredths(end[1])}" if end else "" for end in ends)])
    table(["in %", *(f"@{k}" for k in ks)], rows)


class ProgressLine:
    """Progress on stderr: one line that is redrawn in a terminal, and a line for each phase elsewhere."""

    def __init__(self, quiet: bool = False):
        self.quiet, self.live = quiet, sys.stderr.isatty()
        self.phase, self.drawn = None, 0.0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.live and self.phase is not None:
            self._write("\r\x1b[K")

    def __call__(self, phase: str, fraction: float, detail: str = "") -> None:
        now, new = time.monotonic(), phase != self.phase
        if self.quiet or (not new and (not self.live or now - self.drawn < _SECONDS)):
            return
        self.phase, self.drawn = phase, now
        if self.live:
            done = round(_WIDTH * min(max(fraction, 0.0), 1.0))
            bar = "#" * done + "." * (_WIDTH - done)
            self._write(f"\r\x1b[K[{bar}] {phase} {100 * fraction:3.0f} % {detail}"[:110])
        else:
            self._write(f"{phase} ...\n")

    def _write(self, text):
        click.echo(text, err=True, nl=False)
        sys.stderr.flush()
