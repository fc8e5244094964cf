"""Tables of a report in HTML: of any lines, and of the labels and rows for which one of two runs is better."""

import html

from xmlcore import wording
from xmlcore.experiment import side_by_side
from xmlcore.experiment.kinds.train import Run
from xmlcore.typing import DataFrame, Dataset

LISTED = 20  # labels, and rows, in a table of two runs
K = 5  # labels predicted for a row
TEXT = 300  # most characters of the text of a row


def table(heads: list[str], rows: list[list[str]], texts: int = 1) -> str:
    head = "".join(f"<th{_class(place < texts)}>{html.escape(text)}</th>" for place, text in enumerate(heads))
    lines = ("".join(f"<td{_class(place < texts)}>{cell}</td>" for place, cell in enumerate(row)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def of_tests(tests: "DataFrame") -> str:
    """Return the differences of runs from the first of them, a row for each run and a column for each measure."""
    rows = []
    for run, own in tests.groupby("run", sort=False):
        cells = [html.escape(run)]
        for test in own.itertuples():
            by, low, high = (_signed(100 * value, 2) for value in (test.difference, test.low, test.high))
            by = f"<b>{by}</b>" if test.sure else by
            is_known = test.p_holm == test.p_holm
            p = wording.p_value(test.p_holm)
            cells.append(f"{by}<br><small>{low} to {high}<br>{p}</small>" if is_known else "–")
        rows.append(cells)
    return table(["Points", *dict.fromkeys(tests["measure"])], rows)


def _class(is_text: bool) -> str:
    return ' class="text"' if is_text else ""


def of_two(dataset: "Dataset", runs: "dict[str, Run]") -> str:
    """Return the labels and the test rows for which one of two runs is better, those that say most first."""
    (a, first), (b, other) = runs.items()
    k = min(K, first.k, other.k)
    names = f"<b>First</b>: {html.escape(a)}. <b>Second</b>: {html.escape(b)}. {k} labels are predicted for each row."
    labels = side_by_side.labels_compared(dataset, first, other, k)
    rows = side_by_side.rows_compared(dataset, first, other, k)
    return f"<h3>Where the best two differ</h3><p>{names}</p>{_labels(labels)}{_rows(dataset, first, other, rows, k)}"


def _labels(frame: "DataFrame") -> str:
    wins = side_by_side.wins_by_bucket(frame)
    counts = [[line.bucket, f"{line.a:,}", f"{line.equal:,}", f"{line.b:,}"] for line in wins.itertuples()]
    differing = frame[frame["difference"] != 0]
    lines = [
        [
            html.escape(line.name),
            _signed(100 * line.difference, 1),
            f"{100 * line.f1_a:.1f}",
            f"{100 * line.f1_b:.1f}",
            f"{line.rows:,}",
            f"{line.n_train:,}",
            line.bucket,
        ]
        for line in differing.head(LISTED).itertuples()
    ]
    heads = ["Label", "Second − first, points", "First, F1 %", "Second, F1 %", "Test rows", "Training rows", "Bucket"]
    return (
        f"<p>Labels by which run has the better F1:</p>{table(['Labels', 'First', 'Equal', 'Second'], counts)}"
        f"<p>{_how_many(lines, differing, 'labels', ' times test rows')}</p>{table(heads, lines) if lines else ''}"
    )


def _rows(dataset: "Dataset", first: "Run", other: "Run", frame: "DataFrame", k: int) -> str:
    names, texts = dataset.row_names_test, dataset.texts_test
    heads = ["Row", *["Name"] * (names is not None), *["Text"] * (texts is not None)]
    heads += ["True labels", "First predicts", "Second predicts"]
    lines = []
    for row in frame["row"].head(LISTED):
        true = dataset.Y_test.indices[dataset.Y_test.indptr[row] : dataset.Y_test.indptr[row + 1]].tolist()
        cells = [f"{row:,}"]
        cells += [html.escape(names[row])] if names is not None else []
        cells += [html.escape(_cut(texts[row]))] if texts is not None else []
        cells.append(html.escape(", ".join(dataset.label_name(label) for label in true)))
        cells += [_predicted(dataset, run.ranking.labels[row, :k].tolist(), set(true)) for run in (first, other)]
        lines.append(cells)
    better = int((frame["difference"] < 0).sum())
    sentence = f"The first finds more right labels in {better:,} test rows, the second in {len(frame) - better:,}, of "
    return (
        f"<p>{sentence}{dataset.n_test:,}. {_how_many(lines, frame, 'rows')} ✓ marks right labels.</p>"
        f"{table(heads, lines, len(heads)) if lines else ''}"
    )


def _predicted(dataset: "Dataset", labels: list[int], true: set[int]) -> str:
    names = [f"✓ {dataset.label_name(j)}" if j in true else dataset.label_name(j) for j in labels if j >= 0]
    return html.escape(", ".join(names))


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= TEXT else f"{text[:TEXT].rsplit(' ', 1)[0]} …"


def _signed(value: float, decimals: int) -> str:
    return f"{value:+.{decimals}f}".replace("-", "−")


def _how_many(listed: list, frame: "DataFrame", noun: str, times: str = "") -> str:
    return f"{len(listed):,} of {len(frame):,} {noun} that differ, largest differences{times} first." if listed else ""
