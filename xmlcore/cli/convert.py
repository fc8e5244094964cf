"""``xmlcore convert`` and ``xmlcore compact``: data and models in other files."""

from pathlib import Path

import click

from xmlcore import datasets
from xmlcore.cli.data import FORMATS, are_documents, document_options, labels_of, must_exist, reading_of
from xmlcore.cli.output import ProgressLine, as_json, note
from xmlcore.cli.parameters import DocumentsCommand, vectorizer_of
from xmlcore.datasets.readers.label_cells import label_matrix
from xmlcore.datasets.readers.sources import ending_of
from xmlcore.datasets.texts.text_datasets import note_on_features

_BY_ENDING = {".npz": "npz", ".arff": "arff", ".txt": "xmlc", ".xmlc": "xmlc", ".svm": "svmlight",
              ".svmlight": "svmlight", ".libsvm": "svmlight", ".ft": "fasttext"}  # fmt: skip


@click.command("convert", cls=DocumentsCommand)
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path(dir_okay=False))
@click.option("--from", "source_format", type=click.Choice(FORMATS), default="auto", show_default=True,
              help="Format of SOURCE.")  # fmt: skip
@click.option("--to", "target_format", type=click.Choice(["xmlc", "svmlight", "npz", "arff", "fasttext"]),
              help="Format of TARGET; by default that of its name's ending.")  # fmt: skip
@click.option("--labels", multiple=True, metavar="FILE|COLUMN|NUMBER", help="Which columns are labels, as for train.")
@click.option("--first-index", type=click.IntRange(0, 1), default=0, show_default=True, help="Smallest id in SOURCE.")
@click.option("--blanks", help="Character that replaces spaces in label names of fastText files, such as _.")
@click.option("--force", is_flag=True, help="Replace TARGET if it exists.")
@document_options
@click.pass_context
def convert(ctx, source, target, source_format, target_format, labels, first_index, blanks, force, to_json, quiet,
            **others):  # fmt: skip
    """Write the rows of SOURCE to TARGET in another format; documents become rows of the vectoriser's features.

    In the format fasttext they stay texts, in lines with __label__ before each label.

    npz and ARFF keep names of features and labels; for the other formats they are written beside TARGET, one in each
    line. For example: python -m xmlcore convert train.arff train.npz
    """
    must_exist(source)
    to = target_format or _BY_ENDING.get(ending_of(target))
    if to is None:
        raise ValueError(f"the name {target} has no known ending: end it with {', '.join(_BY_ENDING)}, or give --to")
    if Path(target).exists() and not force:
        raise FileExistsError(f"{target} exists: give --force to replace it")
    with ProgressLine(quiet) as progress:
        progress("Reading", 0.0)
        options = {**others, "labels": labels, "file_format": source_format}
        if are_documents(source, options):
            texts, lists = datasets.read_texts(source, **reading_of(source, options), progress=progress)
            if to == "fasttext":
                datasets.write_fasttext(target, texts, lists, blanks=blanks)
                n_labels = len({name for row in lists for name in row})
                _say({"format": to, "rows": len(texts), "labels": n_labels, "files": [target]}, to_json)
                return
            vectorizer, names = vectorizer_of(ctx), sorted({name for row in lists for name in row})
            X, Y = vectorizer.fit_transform(texts, progress=progress), label_matrix(lists, names)
            features = vectorizer.get_feature_names_out().tolist()
            note(note_on_features(vectorizer))
        elif to == "fasttext":
            raise ValueError(f"{source} has rows of numbers: only texts can be written in the format fasttext")
        else:
            X, Y, features, names = datasets.read_matrix(
                source, format=source_format, labels=labels_of(labels), first_index=first_index
            )
        progress("Writing", 0.0)
        kept = {"feature_names": features, "label_names": names}
        kept = {name: listed for name, listed in kept.items() if listed is not None}
        written = [target]
        datasets.write_matrix(target, X, Y, to, **(kept if to in ("npz", "arff") else {}))
        for name, listed in kept.items() if to not in ("npz", "arff") else ():
            beside = Path(f"{target}.{name}.txt")
            if beside.exists() and not force:
                raise FileExistsError(f"{beside} exists: give --force to replace it")
            beside.write_text("".join(" ".join(one.split()) + "\n" for one in listed), encoding="utf-8")
            written.append(str(beside))
    _say({"format": to, "rows": X.shape[0], "features": X.shape[1], "labels": Y.shape[1], "files": written}, to_json)


def _say(about, to_json):
    counts = ", ".join(f"{about[noun]:,} {noun}" for noun in ("rows", "features", "labels") if noun in about)
    as_json(about) if to_json else click.echo(f"{counts}: {', '.join(about['files'])}")


@click.command("compact")
@click.argument("model", type=click.Path())
@click.argument("out", type=click.Path())
@click.option("--bits", type=click.IntRange(4, 8), default=8, show_default=True, help="Bits of each weight.")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@click.option("--json", "to_json", is_flag=True, help="Write JSON.")
def compact(model, out, bits, force, to_json):
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
