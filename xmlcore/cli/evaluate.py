"""``xmlcore evaluate`` and ``xmlcore decide``, on a data set in the columns of a model."""

from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import scipy.sparse as sp

from xmlcore import metrics
from xmlcore.arrays import placed
from xmlcore.cli.data import check_vectors, data_options, is_of_catalog, labels_option, read
from xmlcore.cli.output import ProgressLine, as_json, measures, note, table
from xmlcore.datasets import Dataset, DatasetFormatError, TextVectorizer
from xmlcore.datasets.readers.names import read_names, read_pairs
from xmlcore.datasets.registry.entries import propensity_of
from xmlcore.datasets.texts.text_datasets import with_vectors
from xmlcore.metrics.sets import of_sets
from xmlcore.models.rules import decided_scores, decision_of
from xmlcore.wording import hundredths


@click.command("evaluate")
@click.argument("model", type=click.Path())
@click.argument("data")
@click.option("-k", "k", type=click.IntRange(1, 1000), default=5, show_default=True, help="Measure at 1 to k.")
@click.option("--intervals", is_flag=True, help="Add 95 % bootstrap intervals over rows.")
@data_options
def evaluate(model, data, k, intervals, to_json, quiet, **options):
    """Measure a packed or saved MODEL on rows whose labels are known.

    With a file of test rows (--test), or a data set of the catalog, the test rows are measured. With one file, all its
    rows are measured; but if MODEL was trained on this file, only the rows that were held out then. Propensities are
    those of the rows that MODEL was trained on. For example:

    python -m xmlcore evaluate model.zip train.txt --test test.txt
    """
    from xmlcore import experiment
    from xmlcore.models import read_packed

    with ProgressLine(quiet) as progress:
        progress("Reading the model", 0.0)
        packed = read_packed(model)
        dataset, rows = rows_to_measure(packed, data, options, progress)
        unseen = dataset.n_labels - packed.model.n_labels_  # no training row has labels that the model does not know
        counts = np.pad(packed.model.label_counts_, (0, unseen))
        of = packed.card.get("data") or {}
        sizes = (of.get(name) or 0 for name in ("training rows", "test rows", "features", "labels"))
        constants = propensity_of(*sizes)
        inv_ps = metrics.ranking.inverse_propensity_of_counts(counts, packed.model.n_rows_seen_, *constants)
        done = experiment.evaluate(packed.model, dataset, k, progress, intervals=intervals, inv_ps=inv_ps)
        sets = decided_scores(packed.model, dataset.X_test).astype(bool)
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


def rows_to_measure(packed, data, options, progress):
    """Return a data set in the columns of the model whose test rows are to be measured, and which rows these are."""
    every, which = f"all rows of {data}", "the test rows"
    as_trained = packed.vectorizer if packed.is_text else None
    is_divided = options["test"] is None and not is_of_catalog(data)
    if packed.is_text and not is_of_catalog(data):
        check_vectors(packed, options["vectors"])
    try:
        found = read(data, options, progress, as_trained)
    except DatasetFormatError:
        raise
    except ValueError:  # too few rows to divide them: read as both parts; another error comes again
        if not is_divided:
            raise
        labels, which = options["labels"], every
        test_labels = labels[0] if len(labels) == 1 and Path(labels[0]).is_file() else None
        twice = options | {"test": data, "test_labels": test_labels, "test_vectors": options["vectors"]}
        found = read(data, twice, progress, TextVectorizer(min_df=1))
    data_of_model = packed.card.get("data")
    data_of_model = data_of_model if isinstance(data_of_model, dict) else {}
    if data_of_model.get("content hash") == found.content_hash:
        return found, "the rows that were held out when the model was trained" if is_divided else which
    if packed.is_text and found.texts_train is not None:
        rows = {f"X_{part}": packed.rows(with_vectors(found, part)) for part in ("train", "test")}
        found = replace(found, **rows, feature_names=packed.feature_names, vectorizer=packed.vectorizer)
    found = aligned(packed, found)
    unknown = found.n_labels - packed.n_labels
    if unknown > 0:
        which_ones = f"{unknown:,} of {found.n_labels:,} labels, such as {found.label_name(found.n_labels - 1)!r:.200},"
        note(f"{which_ones} are not those of the model and count as missed.")
    if not is_divided or which == every:
        return found, which
    X, Y = sp.vstack([found.X_train, found.X_test], "csr"), sp.vstack([found.Y_train, found.Y_test], "csr")
    names = found.feature_names, found.label_names
    return Dataset(found.name, X, Y, X, Y, *names, label_parents=found.label_parents), every


RISK = 0.1


def _bounds(context, option, given) -> dict[str, float]:
    bounds = {}
    for one in given:
        name, equals, bound = one.rpartition("=")
        try:
            value = float(bound)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise click.BadParameter(f"{one!r:.60} is no bound: give a measure and a number, such as 'micro P=0.9'")
        if name.strip() in bounds:
            raise click.BadParameter(f"there are two bounds of {name.strip()!r:.60}: give one")
        bounds[name.strip()] = value
    return bounds


@click.command("decide")
@click.argument("model", type=click.Path())
@click.argument("data")
@click.option(
    "--measure", help="Measure to optimize: micro F1 (the default), samples F1, macro F1, macro F1@3, PSP@5 and others."
)
@click.option("--at-most", is_flag=True, help="The k of the measure is the most labels of a row.")
@click.option("--least", multiple=True, callback=_bounds, metavar="MEASURE=BOUND",
              help='A bound to keep on the rows of DATA: "micro P=0.9" finds the highest recall with '
              "--measure 'micro R'. Of micro P, micro R, micro F1, samples F1; several can be given.")  # fmt: skip
@click.option("--recall", type=float, help="Promise this recall instead, such as 0.9.")
@click.option("--precision", type=float, help="Promise this precision instead.")
@click.option(
    "--risk",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Probability, over the rows of DATA, that the promise fails; 0.1 by default.",
)
@labels_option("allow", "A label that may be predicted, or a file with one in each line; by default all.")
@labels_option("exclude", "A label that may not be predicted, or a file with one in each line.")
@click.option("--aliases", type=click.Path(exists=True, dir_okay=False),
              help="File of further names of labels to keep: in each line one, a tab, and the label.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File to write; by default MODEL is replaced.")
@data_options
def decide(
    model, data, measure, at_most, least, recall, precision, risk, allow, exclude, aliases, output, to_json, quiet,
    **options,
):  # fmt: skip
    """Choose which labels MODEL predicts, by rows of DATA, to which it was not fitted.

    The decision is written with the model; load_model(...).predict, xmlcore predict and xmlcore serve use it.
    With one file, all its rows are used; but if MODEL was trained on this file, only the rows that were held out then.
    Keep other rows to measure it. For example:

    python -m xmlcore decide model.zip held-out.txt --measure "macro F1@3"

    python -m xmlcore decide model.zip held-out.txt --measure "micro R" --least "micro P=0.9"

    python -m xmlcore decide model.zip held-out.txt --recall 0.9 -o model-with-promise.zip
    """
    from xmlcore import decisions
    from xmlcore.models import read_packed

    promised = {"recall": recall, "precision": precision}
    promised = {name: share for name, share in promised.items() if share is not None}
    if len(promised) > 1:
        raise click.UsageError("give either --recall or --precision")
    if promised and (at_most or measure or least):
        raise click.UsageError("--measure, --at-most and --least do not go with --recall and --precision")
    if risk is not None and not promised:
        raise click.UsageError("--risk goes with --recall or --precision")
    with ProgressLine(quiet) as progress:
        progress("Reading the model", 0.0)
        packed = read_packed(model)
        dataset, _ = rows_to_measure(packed, data, options, progress)
        X, Y = dataset.X_test, dataset.Y_test
        rows = X, (Y if Y.shape[1] == packed.n_labels else Y.tolil().rows.tolist())
        progress("Choosing", 0.0)
        if promised:
            rule = decisions.promise(packed.model, *rows, **promised, risk=risk or RISK)
        else:
            rule = decisions.learn(packed.model, *rows, measure or "micro F1", at_most=at_most, least=least or None)
        if allow or exclude or aliases:
            further = dict(read_pairs(*read_names(aliases, "label_aliases"))) if aliases else None
            rule = rule.within(allow, exclude, aliases=further, names=packed.label_names)
        rule.keep()
        target = Path(output or model)
        packed.model.save(target) if target.is_dir() else packed.save(target)
    as_json(rule.about) if to_json else _say_decision(rule.about)


def _say_decision(told) -> None:
    if "promise" in told:
        found = f"{hundredths(told['value'])} on {told['rows']:,} rows, {told['labels']:.1f} labels a row"
        click.echo(f"{told['promise']} of at least {told['level']:g}: {found}")
    else:
        click.echo(f"{told['measure']} on {told['rows']:,} rows: {hundredths(told['value'])}, "
                   f"{hundredths(told['plain'])} by the plain decision")  # fmt: skip
        if told["value"] <= told["plain"]:
            note("no decision was better on these rows than the plain one: the k best labels, or what predict gives.")


def aligned(packed, data):
    same_features = data.n_features == packed.n_features and data.feature_names in (None, packed.feature_names)
    same_labels = data.n_labels == packed.n_labels and data.label_names in (None, packed.label_names)
    if same_features and same_labels:
        return data
    of_features, features, n_features = _places(data.feature_names, packed.feature_names, data.n_features,
                                                packed.n_features, "features")  # fmt: skip
    if n_features > packed.n_features:
        unknown = n_features - packed.n_features
        raise ValueError(
            f"{data.name} has {unknown:,} of {data.n_features:,} features that the model does not have, such as "
            f"{(features or [''])[-1]!r:.200}: it was trained on other features"
        )
    of_labels, labels, n_labels = _places(
        data.label_names, packed.label_names, data.n_labels, packed.n_labels, "labels"
    )
    matrices = {}
    for part in ("train", "test"):
        matrices[f"X_{part}"] = placed(getattr(data, f"X_{part}"), of_features, n_features)
        matrices[f"Y_{part}"] = placed(getattr(data, f"Y_{part}"), of_labels, n_labels)
    return replace(data, **matrices, feature_names=features, label_names=labels, vectorizer=None)


def _places(names, known, count, n_known, noun):
    """Return the new place of each column, the names of all places, and their number; unknown names come last."""
    if names is None or known is None:
        if count > n_known:
            raise ValueError(f"the data has {count:,} {noun}, but the model has {n_known:,}, and there are no names to "
                             "compare: are they those of its training data, in the same order?")  # fmt: skip
        return np.arange(count), known, n_known
    places, all_names = {name: j for j, name in enumerate(known)}, list(known)
    for name in names:
        if name not in places:
            places[name] = len(all_names)
            all_names.append(name)
    return np.array([places[name] for name in names]), all_names, len(all_names)
