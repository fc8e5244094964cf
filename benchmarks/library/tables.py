"""Markdown tables, and numbers as tables show them."""

import math
import statistics

import numpy as np

from benchmarks.library import machine

MIB = 2**20


def times(value):
    return f"{value:.2f}×"


def seconds(value):
    return f"{number(value)} s"


def milliseconds(value):
    return f"{number(value)} ms"


def number(value, digits=3):
    """Return a number with ``digits`` significant digits as text, never in powers of ten."""
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def spread(values, middle=statistics.median, form=number):
    """Return the middle of some values as text, with the smallest and largest in brackets if they look different."""
    if not values:
        return "–"
    text, low, high = form(middle(values)), form(min(values)), form(max(values))
    return text if low == high else f"{text} ({low}–{high})"


def percentile(values, share):
    """Return the smallest value that at most a share ``1 - share`` of the values exceeds; None without values."""
    values = sorted(values)
    return values[max(0, -int(-len(values) * share // 1) - 1)] if values else None


def points(value):
    """Return a percentage with two digits as text."""
    return f"{value:.2f}"


def table(head, rows, left=1):
    """Return a Markdown table; the first ``left`` columns are text, the others are numbers."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * left + "--:|" * (len(head) - left)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def document(*parts):
    """Return Markdown of parts, each a text or None, with an empty line between them."""
    return "\n\n".join(filter(None, parts)) + "\n"


def whole(value):
    return f"{value:.0f}"


def machine_text(results):
    """Return when and on what machine results were measured."""
    machine = results["machine"]
    memory = "" if machine["memory_gib"] is None else f", {machine['memory_gib']:.0f} GiB"
    about = f"{machine['cpu']}, {machine['cores']} cores{memory}, {machine['system']}; {results['threads']} threads"
    return f"Measured {results['date']}: {about}"


def changed_lines(results):
    """Return a sentence on sources that changed meanwhile, in a list; empty if they did not."""
    start, end = results["xmlcore_code"], results.get("xmlcore_code_end")
    said = f"**The sources of xmlcore changed while this was measured ({start}, {end} at the end).**"
    return [] if end in (None, start) else [said]


def measured_text(results):
    """Return sentences on when and on what machine results were measured, and whether the sources changed meanwhile."""
    said = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    measured = f"{machine_text(results)}; {said}; sources of xmlcore {results['xmlcore_code']}."
    return "\n\n".join([*changed_lines(results), measured])


def noise_lines(results):
    """Return a sentence on what other programs took of the machine, in a list; empty if the system does not tell."""
    others = [run["others_cpu"] for run in results["runs"] if run.get("others_cpu") is not None]
    if not others:
        return []
    return [
        f"Other programs took {100 * float(np.median(others)):.0f} % of the machine's processor time during the "
        f"median run, {100 * max(others):.0f} % during the worst."
    ]


def mebibytes(value):
    """Return bytes as MiB, a dash if unknown."""
    return "–" if value is None else f"{value / 2**20:.0f}"


def gibibytes(value):
    """Return bytes as GiB, a dash if unknown."""
    return "–" if value is None else f"{value / machine.GIB:.2f}"


def three(values):
    """Return three percentages as text."""
    return " / ".join(f"{value:.2f}" for value in values)
