"""``xmlcore convert-model``."""

from pathlib import Path

import click

from xmlcore.cli.data import must_exist
from xmlcore.cli.output import as_json


@click.command("convert-model")
@click.argument("old", type=click.Path())
@click.argument("new", type=click.Path())
@click.option("--force", is_flag=True, help="Replace NEW if it exists.")
@click.option("--json", "to_json", is_flag=True, help="Write JSON.")
def command(old, new, force, to_json):
    """Read the model OLD, which an earlier xmlcore wrote, and write it as NEW in the format of this one.

    Both are packed models (zip files), or both are folders of saved models. What the model predicts does not change.
    For example: xmlcore convert-model model.zip model-today.zip
    """
    from xmlcore import __version__
    from xmlcore.models import load_model, read_packed

    must_exist(old)
    target = Path(new)
    if target.exists() and not force:
        raise FileExistsError(f"{new} exists: give --force to replace it")
    packed = Path(old).is_file()
    if (Path(old).suffix.lower() == ".zip") != (target.suffix.lower() == ".zip"):
        needed = "a packed model: give a name that ends in .zip" if packed else "a folder: give a name without .zip"
        raise ValueError(f"{old} becomes {needed}, not {new}")
    if packed:
        read_packed(old).save(target)
    else:
        load_model(old).save(target)
    if to_json:
        as_json({"model": str(target), "xmlcore": __version__})
    else:
        click.echo(f"{target}: written by xmlcore {__version__}")
