"""``xmlcore compact``."""

from pathlib import Path

import click

from xmlcore.cli.data import must_exist
from xmlcore.cli.output import as_json


@click.command("compact")
@click.argument("model", type=click.Path())
@click.argument("out", type=click.Path())
@click.option("--bits", type=click.IntRange(4, 8), default=8, show_default=True, help="Bits of each weight.")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@click.option("--json", "to_json", is_flag=True, help="Write JSON.")
def command(model, out, bits, force, to_json):
    """Write a packed or saved MODEL with small weights to OUT: a zip file if its name ends with .zip, else a folder.

    Servers share the memory of a folder; a zip file is smaller still. For example:

    python -m xmlcore compact model.zip small
    """
    from xmlcore.models import PackedModel, read_packed

    must_exist(model)
    if Path(out).exists() and not force:
        raise FileExistsError(f"{out} exists: give --force to replace it")
    packed = read_packed(model)
    small = packed.estimator.compact(bits)
    if Path(out).suffix == ".zip":
        others = packed.label_names, packed.feature_names, packed.vectorizer, packed.card, packed.aliases
        PackedModel(getattr(small, "model_", small) if packed.is_text else small, *others).save(out)
    else:
        small.save(out)
    report = {"file": out, **small.compact_}
    if to_json:
        as_json(report)
    else:
        click.echo("{file}: {bits} bits a weight, {bytes_after:,} bytes of {bytes_before:,}".format(**report))
