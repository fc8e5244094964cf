"""``xmlcore evaluate``."""

from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import scipy.sparse as sp

from xmlcore import metrics
from xmlcore.cli.alignment import aligned
from xmlcore.cli.data import data_options, is_of_catalog, read
from xmlcore.cli.output import ProgressLine, as_json, hundredths, measures, note, table
from xmlcore.datasets import Dataset, DatasetFormatError, TextVectorizer
from xmlcore.metrics.sets import of_sets
from xmlcore.models.rules import decided_sets, decision_of


@click.command("evaluate")
@click.argument("model", type=click.Path())
@click.argument("data")
@click.option("-k", "k", type=click.IntRange(1, 1000), default=5, show_default=True, help="Measure at 1 to k.")
@click.option("--intervals", is_flag=True, help="Add 95 % bootstrap intervals over rows.")
@data_options
@click.option("--json", "to_json", is_flag=True, help="Write JSON.")
@click.option("--quiet", is_flag=True, help="Write no progress.")
def command(model, data, k, intervals, to_json, quiet, **options):
    """Measure a packed or saved MODEL on rows whose labels are known.

    With a file of test rows (--test), or a data set of the catalog, the test rows are measured. With one file, all its
    rows are measured; but if MODEL was trained on this file, only the rows that were held out then. Propensities are
    those of the rows that MODEL was trained on. For example:

    xmlcore evaluate model.zip train.txt --test test.txt
    """
    from xmlcore import experiment
    from xmlcore.models import read_packed

    with ProgressLine(quiet) as progress:
        progress("Reading the model", 0.0)
        packed = read_packed(model)
        dataset, rows = rows_to_measure(packed, data, options, progress)
        inv_ps = _of_training_rows(packed.model, dataset.n_labels)
        done = experiment.evaluate(packed.model, dataset, k, progress, intervals=intervals, inv_ps=inv_ps)
        sets = decided_sets(packed.model, dataset.X_test)
        sets.resize((sets.shape[0], dataset.n_labels))  # of labels that the model does not know, none
        decided = of_sets(dataset.Y_test, sets)
    ranking, frame = done.pop("ranking"), done.pop("intervals", None)
    times = {name: done.pop(name) for name in ("predict_s", "predict_ms_per_row")}
    ends = {} if frame is None else {(row.measure, row.k): (row.low, row.high) for row in frame.itertuples()}
    if to_json:
        listed = {} if frame is None else {"intervals": frame.to_dict("records")}
        as_json({
            "model": packed.card["model"], "data": {"name": dataset.name, "fingerprint": dataset.fingerprint},
            "rows": len(ranking.labels), "which rows": rows, "k": k, "measures": done, **listed, "times": times,
            "decision": decision_of(packed.model), "decided": decided,
        })  # fmt: skip
        return
    click.echo(f"{packed.card['model']} on {rows}: {len(ranking.labels):,}")
    measures(done, ends)
    if ends:
        click.echo("Below each value: 95 % interval over the rows.")
    click.echo(f"It predicts {decision_of(packed.model)}, {decided.pop('labels'):.1f} labels a row:")
    table(["in %", *decided], [["", *(hundredths(value, "") for value in decided.values())]])


def _of_training_rows(model, n_labels):
    """Return the inverse propensities of labels in the training rows of a model."""
    counts = np.pad(model.label_counts_, (0, n_labels - model.n_labels_))  # no training row has labels it does not know
    return metrics.ranking.inverse_propensity_of_counts(counts, model.n_rows_seen_)


def rows_to_measure(packed, data, options, progress):
    """Return a data set in the columns of the model whose test rows are to be measured, and which rows these are."""
    every, which = f"all rows of {data}", "the test rows"
    as_trained = packed.vectorizer if packed.is_text else None
    try:
        found = read(data, options, progress, as_trained)
    except DatasetFormatError:
        raise
    except ValueError:  # too few rows to divide them: read as both parts; another error comes again
        if options["test"] is not None or is_of_catalog(data):
            raise
        labels, which = options["labels"], every
        test_labels = labels[0] if len(labels) == 1 and Path(labels[0]).is_file() else None
        twice = options | {"test": data, "test_labels": test_labels}
        found = read(data, twice, progress, TextVectorizer(min_df=1))
    data_of_model = packed.card.get("data")
    data_of_model = data_of_model if isinstance(data_of_model, dict) else {}
    # Cards of earlier versions have the hash of the content as the fingerprint.
    if data_of_model.get("content hash", data_of_model.get("fingerprint")) == found.content_hash:
        held_out = options["test"] is None and not is_of_catalog(data)
        return found, "the rows that were held out when the model was trained" if held_out else which
    if packed.is_text and found.texts_train is not None:
        rows = {f"X_{part}": packed.rows(getattr(found, f"texts_{part}")) for part in ("train", "test")}
        found = replace(found, **rows, feature_names=packed.feature_names, vectorizer=packed.vectorizer)
    found = aligned(packed, found)
    unknown = found.n_labels - packed.n_labels
    if unknown > 0:
        which_ones = f"{unknown:,} of {found.n_labels:,} labels, such as {found.label_name(found.n_labels - 1)!r:.200},"
        note(f"{which_ones} are not those of the model and count as missed.")
    if which == every or options["test"] is not None or is_of_catalog(data):
        return found, which
    return _all_rows(found), every


def _all_rows(data):
    """Return a data set whose test rows are all rows."""
    X, Y = sp.vstack([data.X_train, data.X_test], "csr"), sp.vstack([data.Y_train, data.Y_test], "csr")
    return Dataset(data.name, X, Y, X, Y, data.feature_names, data.label_names)
