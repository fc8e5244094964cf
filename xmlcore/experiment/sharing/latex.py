"""Tables of measures in LaTeX."""

import numpy as np

from xmlcore import metrics
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count, check_frame

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "–": "--", "σ": r"$\sigma$", "≥": r"$\geq$",
    "[": "{[}", "]": "{]}", "*": "{*}",  # at the beginning of a row they would belong to the end of the row before
}  # fmt: skip

MOST_ACROSS = 6  # measures that stand side by side on a page


def latex_table(frame: "DataFrame", caption: str = "", digits: int = 2) -> str:
    """Return measures of several runs as a LaTeX table with booktabs.

    Parameters
    ----------
    frame : DataFrame
        Columns ``run``, ``measure``, ``k``, ``value`` and, for intervals, ``low`` and ``high``, in [0, 1], and
        ``best``: whether the run is significantly best; see
        :func:`xmlcore.experiment.side_by_side.measures_with_intervals`.
    caption : str
        Text; characters that LaTeX gives a meaning are escaped, as in names.
    digits : int
        Decimals of the percentages.

    Returns
    -------
    str
        A ``table`` with a row per run and a column per measure, in percent; or the other way around, if there are more
        measures than runs and than fit on a page. As written with these digits, the best value of a measure is
        underlined, and bold where it is significantly best; equal values are marked alike. Intervals stand below the
        values.
    """
    digits = check_count(digits, "digits", 0)
    check_frame(frame, ("run", "measure", "k", "value"), "measures_with_intervals")
    runs = list(dict.fromkeys(frame["run"]))
    columns = list(dict.fromkeys(zip(frame["measure"], frame["k"])))
    marks, between = (r"\underline{{{}}}", r"\textbf{{{}}}"), r"{{\scriptsize {}--{}}}"
    cells = marked(frame, runs, columns, digits, marks, between, "--")
    lines = [r"% needs \usepackage{booktabs}", r"\begin{table}", r"\centering"]
    if caption:
        lines.append(rf"\caption{{{escaped(caption)}}}")
    names = {column: escaped(column[0].replace("@k", f"@{column[1]}")) for column in columns}
    names |= {run: escaped(run) for run in runs}
    first, across, down = "Model", columns, runs
    if len(columns) > max(MOST_ACROSS, len(runs)):
        first, across, down = r"\%", runs, columns
    heads = [first, *(names[line] for line in across)]
    lines += [rf"\begin{{tabular}}{{l{'r' * len(across)}}}", r"\toprule", _row(heads), r"\midrule"]
    for line in down:
        found = [cells[(line, other) if down is runs else (other, line)] for other in across]
        lines.append(_row([names[line], *(cell for cell, _ in found)]))
        if any(below for _, below in found):
            lines.append(_row(["", *(below for _, below in found)]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def marked(frame, runs, columns, digits, marks, between, unknown) -> dict:
    """Return values in percent and their intervals as texts; ``marks`` are of the first, and of a significant first."""
    found = {(line.run, (line.measure, line.k)): line for line in frame.itertuples()}
    cells = {}
    for column in columns:
        sign = -1 if metrics.is_smaller_better(column[0]) else 1
        values = [getattr(found.get((run, column)), "value", np.nan) for run in runs]
        for run, value, is_first in zip(runs, values, highest([sign * value for value in values], digits)):
            line = found.get((run, column))
            low, high, best = (getattr(line, name, np.nan) for name in ("low", "high", "best"))
            mark, texts = "{}", [f"{100 * number:.{digits}f}" for number in (value, low, high)]
            if is_first:
                mark = marks[best in (True,)]
            written = mark.format(texts[0]) if np.isfinite(value) else unknown
            cells[run, column] = written, between.format(*texts[1:]) if np.isfinite([low, high]).all() else ""
    return cells


def escaped(text: str) -> str:
    return "".join(SPECIAL.get(c, c if c.isprintable() else " ") for c in str(text))


def highest(values, digits: int) -> list[bool]:
    """Return which of the values, as they are written, is largest."""
    written = [round(100 * value, digits) if np.isfinite(value) else -np.inf for value in values]
    return [np.isfinite(one) and one == max(written) for one in written]


def _row(cells) -> str:
    return " & ".join(cells) + r" \\"
