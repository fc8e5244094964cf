"""``xmlcore describe``."""

import click

from xmlcore import datasets
from xmlcore.cli.data import data_options, read
from xmlcore.cli.output import ProgressLine, as_json, note, table
from xmlcore.cli.parameters import DocumentsCommand, vectorizer_of
from xmlcore.wording import significant


@click.command("describe", cls=DocumentsCommand)
@click.argument("data")
@data_options
@click.pass_context
def command(ctx, data, to_json, quiet, **options):
    """Describe DATA: a file, a data set of the catalog by its name, or a packed or saved model.

    For example: python -m xmlcore describe train.txt --test test.txt
    """
    from xmlcore.models import looks_packed, read_packed

    if looks_packed(data):
        packed = read_packed(data)
        as_json(packed.card) if to_json else click.echo(packed.describe())
        return

    with ProgressLine(quiet) as progress:
        dataset = read(data, options, progress, vectorizer_of(ctx))
        progress("Counting labels and features", 0.0)
        summary = datasets.describe(dataset).summary
    about = {"name": dataset.name, "fingerprint": dataset.fingerprint, "notes": [*dataset.notes], **summary}
    if to_json:
        as_json(about)
        return
    for line in about.pop("notes"):
        note(line)
    table(("what", "value"), [(_words(name), _text(value)) for name, value in about.items()])


def _words(name) -> str:
    return {"n_train": "training rows", "n_test": "test rows"}.get(name, name.removeprefix("n_").replace("_", " "))


def _text(value) -> str:
    return significant(value, 6) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
