"""``xmlcore decide``."""

from pathlib import Path

import click

from xmlcore.cli.data import data_options
from xmlcore.cli.evaluate import rows_to_measure
from xmlcore.cli.output import ProgressLine, as_json, note
from xmlcore.wording import hundredths

RISK = 0.1


def _bounds(context, option, given) -> dict[str, float]:
    """Return the bounds of measures that are given as "micro P=0.9"."""
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
    "--measure",
    help="What is to be best: micro F1 (if nothing is said), samples F1, macro F1, macro F1@3, PSP@5 and others.",
)
@click.option("--at-most", is_flag=True, help="The k of the measure is the largest number of labels, not the number.")
@click.option("--least", multiple=True, callback=_bounds, metavar="MEASURE=BOUND",
              help='A bound that the measure leaves, on the rows of DATA: "micro P=0.9" finds the most recall with '
              "--measure 'micro R'. Of micro P, micro R, micro F1, samples F1; several can be given.")  # fmt: skip
@click.option("--recall", type=float, help="Promise this share of the true labels instead, such as 0.9.")
@click.option("--precision", type=float, help="Promise instead that this share of the predicted labels is right.")
@click.option(
    "--risk",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Probability, over the rows of DATA, that the promise fails; 0.1 if it is not said.",
)
@data_options
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File to write; by default MODEL is replaced.")
@click.option("--json", "to_json", is_flag=True, help="Write JSON.")
@click.option("--quiet", is_flag=True, help="Write no progress.")
def command(model, data, measure, at_most, least, recall, precision, risk, output, to_json, quiet, **options):
    """Choose which labels MODEL predicts, by rows of DATA, to which it was not fitted.

    The decision is written with the model; load_model(...).predict, xmlcore predict --decided and xmlcore serve use it.
    With one file, all its rows are used; but if MODEL was trained on this file, only the rows that were held out then.
    Keep other rows to measure it. For example:

    xmlcore decide model.zip held-out.txt --measure "macro F1@3"

    xmlcore decide model.zip held-out.txt --measure "micro R" --least "micro P=0.9"

    xmlcore decide model.zip held-out.txt --recall 0.9 -o model-with-promise.zip
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
        rule.keep()
        target = Path(output or model)
        packed.model.save(target) if target.is_dir() else packed.save(target)
    told = rule.about
    if to_json:
        as_json(told)
    elif promised:
        found = f"{hundredths(told['value'])} on {told['rows']:,} rows, {told['labels']:.1f} labels a row"
        click.echo(f"{told['promise']} of at least {told['level']:g}: {found}")
    else:
        click.echo(f"{told['measure']} on {told['rows']:,} rows: {hundredths(told['value'])}, "
                   f"{hundredths(told['plain'])} by the plain decision")  # fmt: skip
        if told["value"] <= told["plain"]:
            note("no decision was better on these rows than the plain one: the k best labels, or what predict gives.")
