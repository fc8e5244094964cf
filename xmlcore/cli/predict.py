"""``xmlcore predict``."""

import io
import sys
import tempfile
from pathlib import Path

import click
import numpy as np

from xmlcore import datasets, jobs
from xmlcore.cli.data import check_vectors, labels_option, must_exist, reading_of
from xmlcore.cli.output import ProgressLine, note
from xmlcore.datasets.readers.new_rows import read_vectors
from xmlcore.datasets.texts.reading import texts_with_ids
from xmlcore.mapped import write_rows
from xmlcore.models.plt.memory import FOLDER
from xmlcore.parallel import row_blocks
from xmlcore.ranking import Ranking, of_known
from xmlcore.system import atomic_write, cache_root
from xmlcore.wording import csv_safe

WRITTEN = 100_000  # rows whose lines are in memory at a time


@click.command("predict")
@click.argument("model", type=click.Path())
@click.argument("rows", type=click.Path(), required=False)
@click.option("--text", "texts", multiple=True, help="A text to label, instead of a file; can be given several times.")
@click.option("--text-column", "columns", multiple=True,
              help="Column of a file of documents that has the texts; by default it is guessed.")  # fmt: skip
@click.option("--vectors", type=click.Path(), help="File with a row for each text, for a MODEL trained with --vectors.")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of documents.")
@click.option(
    "-k", "k", type=click.IntRange(1), help="Labels for each row, ranked by score; with --decided at most as many."
)
@click.option("--scores", is_flag=True, help="The best labels by score, 5 without K, also if MODEL keeps a decision.")
@click.option(
    "--decided",
    is_flag=True,
    help="All labels that MODEL decides for, as without K if it keeps a decision: see xmlcore decide.",
)
@labels_option("labels", "A label that may be predicted, or a file with one in each line; by default all.")
@labels_option("exclude", "A label that may not be predicted, or a file with one in each line.")
@click.option("-o", "--output", type=click.Path(dir_okay=False),
              help="File to write; by default, or for -, stdout. A name in .jsonl gives JSON lines.")  # fmt: skip
@click.option("--first-index", type=click.IntRange(0, 1), default=0, show_default=True, help="Smallest id in ROWS.")
@click.option("--json", "to_json", is_flag=True, help="Write JSON lines instead of CSV.")
@click.option(
    "--scheduler", help="Address of a Dask scheduler whose workers predict K labels, such as tcp://host:8786."
)
@click.option("--quiet", is_flag=True, help="Write no progress.")
def command(
    model, rows, texts, columns, vectors, encoding, k, scores, decided, labels, exclude, output, first_index, to_json,
    scheduler, quiet,
):  # fmt: skip
    """Predict the labels of the rows or texts in the file ROWS with a packed or saved MODEL.

    A MODEL that keeps a decision gives all labels that it decides for, each with the probability that decides; others
    give the 5 best by score. CSV has a line for each label of each row, best first: row, rank, label, label_name,
    score; and after row the id, if ROWS has a column of that name. JSON lines have a line for each row. For example:

    python -m xmlcore predict model.zip new.csv -o labels.csv

    python -m xmlcore predict model.zip --text "A text to label"
    """
    from xmlcore.models import read_packed
    from xmlcore.models.rules import Watch, decided_ranking, decision_of, rule_of, unlike_held_out

    if decided and scores:
        raise click.UsageError("give either --decided or --scores")
    if bool(texts) == bool(rows):
        raise click.UsageError("give either a file of rows or texts, or --text")
    must_exist(rows)
    must_exist(vectors)
    with ProgressLine(quiet) as progress:
        progress("Reading the model", 0.0)
        packed = read_packed(model)
        options = {"text": columns, "encoding": encoding}
        inputs, ids = (list(texts), None) if texts else _read(rows, packed, options, first_index, progress)
        has_vectors = check_vectors(packed, vectors)
        given = [inputs, *read_vectors(vectors, len(inputs), None, progress)] if has_vectors else inputs
        progress("Predicting", 0.0)
        X, seen, allowed = packed.rows(given), Watch(), packed.allowed(labels, exclude)
        has_rule = rule_of(packed.model) is not None
        if decided := decided or has_rule and k is None and not scores:
            ranking = decided_ranking(packed.model, X, k, seen, allowed)
        elif scheduler is None:
            ranking = packed.model.predict_topk(X, k or 5, progress=progress, labels=allowed)
        else:
            ranking = _by_workers(scheduler, packed.model, X, k or 5, progress, allowed)
        others = unlike_held_out(packed.model, seen)
        without = int(np.sum(np.diff(X.indptr) == 0)) if packed.is_text else 0
        ranking = of_known(ranking, X) if without else ranking
    if without:
        note(f"The model knows no word of {without:,} of {len(inputs):,} texts, so they get no labels.")
    if others is not None:
        note(others)
    if decided or has_rule:
        by_score = f"the {k or 5} best by score, as asked for, not by the kept decision"
        few = f", at most {k} of each row, so that a promise need not hold" if k else ""
        note(f"The labels are {decision_of(packed.model, allowed) + few if decided else by_score}.")
    to_json = to_json or Path(output or "").suffix.lower() in (".jsonl", ".ndjson")
    if output in (None, "-"):
        _write(sys.stdout, packed, ranking, to_json, ids)
        return
    with atomic_write(output) as raw:
        file = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        _write(file, packed, ranking, to_json, ids)
        file.detach()
    if not quiet:
        click.echo(f"Labels of {len(ranking.labels):,} {'texts' if packed.is_text else 'rows'}: {output}", err=True)


def _by_workers(scheduler, model, X, k, progress, allowed):
    """Return the best labels of rows, which the workers of a cluster read from files."""
    folder = cache_root() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="predicted-", dir=folder) as own, jobs.on_cluster(scheduler):
        return model.predict_topk(write_rows(X, own), k, progress=progress, labels=allowed)


def _read(rows, packed, options, first_index, progress):
    """Return the texts of a file and their ids, or its rows in the model's columns; print what is left out."""
    if packed.is_text:
        return texts_with_ids(rows, **reading_of(rows, options, with_labels=False), progress=progress)
    found = datasets.read_new_rows(
        rows, packed.n_features, packed.feature_names, packed.label_names, first_index=first_index, progress=progress
    )
    for remark in found.notes(packed.feature_names):
        note(remark)
    return found.X, found.ids


def _write(file, packed, ranking, to_json, ids=None):
    from xmlcore.experiment.kinds.predictions import frame_of, json_lines

    if to_json:
        file.writelines(json_lines(ranking, packed.label_name, ids=ids))
        return
    for first, end in row_blocks(len(ranking.labels), WRITTEN) or [(0, 0)]:
        part = Ranking(*(values[first:end] for values in ranking))
        frame = csv_safe(frame_of(part, packed.label_name, ids=None if ids is None else ids[first:end]))
        frame.assign(row=frame["row"] + first).to_csv(file, index=False, header=first == 0, lineterminator="\n")
