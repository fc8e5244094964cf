"""The options by which commands read a data set, and the reading."""

import functools
from pathlib import Path

import click

from xmlcore import datasets
from xmlcore.cli.output import note
from xmlcore.datasets import DatasetFormatError, guess_columns
from xmlcore.datasets.readers.formats import READERS
from xmlcore.datasets.readers.sources import ending_of
from xmlcore.datasets.texts import guess as guessing
from xmlcore.datasets.texts.guess import WITHOUT_COLUMNS, guess_new_texts, is_fasttext

FORMATS = ("auto", *READERS)
_OPTIONS = (
    click.option("--test", type=click.Path(), help="File of test rows. Without it, some rows of DATA are drawn."),
    click.option("--labels", multiple=True, metavar="FILE|COLUMN|NUMBER",
                 help="Which columns are labels: the first NUMBER, the last -NUMBER, a column that lists them, or "
                      "several columns if the option is given several times. Or a file with the labels of DATA."),
    click.option("--test-labels", type=click.Path(), help="File with the labels of the test rows."),
    click.option("--format", "file_format", type=click.Choice(FORMATS), default="auto", show_default=True,
                 help="Format of files of rows."),
    click.option("--first-index", type=click.IntRange(0, 1), default=0, show_default=True,
                 help="Smallest feature and label id in a file."),
    click.option("--test-size", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.2,
                 show_default=True, help="Share of rows that are drawn as test rows."),
    click.option("--split-seed", type=click.IntRange(0), default=0, show_default=True,
                 help="Seed by which test rows are drawn."),
    click.option("--feature-names", type=click.Path(), help="File with a name of a feature in each line."),
    click.option("--label-names", type=click.Path(), help="File with a name of a label in each line."),
    click.option("--vectors", type=click.Path(), help="File of a matrix that has a row for each document of DATA, "
                 "such as embeddings (.npy, .npz): features beside the words."),
    click.option("--test-vectors", type=click.Path(), help="The same for the documents of --test."),
    click.option("--label-parents", type=click.Path(), help="CSV of what is above labels, for hierarchical measures, "
                 "and of further names, with the columns label, parent and aliases; or lines of a label, a tab, and "
                 "what it is in."),
)  # fmt: skip
_OF_DOCUMENTS_AND_ANSWER = (
    click.option("--text", multiple=True, metavar="COLUMN",
                 help="DATA has documents, with their text in this column (several are joined). It is guessed for JSON "
                      "lines, Parquet, folders, and tables that have a column of texts."),
    click.option("--separator", help="Separator of labels in a cell of documents, such as ';' or '><'; or "
                                     "lists, uris, none. It is guessed."),
    click.option("--vocabulary", type=click.Path(), help="Names of labels that are URIs, as Annif's TSV or CSV."),
    click.option("--encoding", default="utf-8", show_default=True, help="Encoding of documents."),
    click.option("--json", "to_json", is_flag=True, help="Write JSON."),
    click.option("--quiet", is_flag=True, help="Write no progress."),
)  # fmt: skip
_OF_MATRICES = ("test_labels", "feature_names", "label_names")
_OF_TEXTS = ("vectors", "test_vectors")


def _all_of(*options):
    return lambda function: functools.reduce(lambda made, option: option(made), reversed(options), function)


data_options, document_options = _all_of(*_OPTIONS, *_OF_DOCUMENTS_AND_ANSWER), _all_of(*_OF_DOCUMENTS_AND_ANSWER)


def labels_option(name: str, help: str):
    """Return an option of labels, each by its name or id, or a file with one in each line; None if none is given."""

    def labels(context, option, given):
        found = [_lines(one) if Path(one).is_file() else [one] for one in given]
        return [label for lines in found for label in lines] or None

    return click.option(f"--{name}", name, multiple=True, metavar="LABEL|FILE", callback=labels, help=help)


def _lines(path) -> list[str]:
    return [line for line in Path(path).read_text(encoding="utf-8-sig").splitlines() if line.strip()]


def read(data: str, options: dict, progress, vectorizer=None):
    """Return a data set: one of the catalog, by its name, or from files of rows or documents."""
    found, parents = _read(data, options, progress, vectorizer), options["label_parents"]
    return found if parents is None else datasets.with_label_table(found, parents)


def _read(data, options, progress, vectorizer):
    if is_of_catalog(data):
        return datasets.load(data, progress)
    must_exist(data, or_of_catalog=True)
    for name in ("test", "vocabulary", "label_parents", *_OF_MATRICES, *_OF_TEXTS):
        must_exist(options[name])
    split = {"test_size": options["test_size"], "random_state": options["split_seed"]}
    of_texts = are_documents(data, options)
    for name in _OF_MATRICES if of_texts else _OF_TEXTS:
        if options[name] is not None:
            found = "rows, and {} has documents" if of_texts else "documents, and {} has rows"
            raise ValueError(f"--{name.replace('_', '-')} is for files of {found.format(data)}")
    if of_texts:
        beside = {name: options[name] for name in _OF_TEXTS}
        read = {"vectorizer": vectorizer, "progress": progress, **reading_of(data, options)}
        return datasets.read_text_dataset(data, options["test"], **split, **beside, **read)
    return datasets.read_dataset(
        data,
        options["test"],
        **split,
        test_labels=options["test_labels"],
        feature_names=options["feature_names"],
        label_names=options["label_names"],
        format=options["file_format"],
        labels=labels_of(options["labels"]),
        first_index=options["first_index"],
        progress=progress,
    )


def check_vectors(packed, vectors) -> bool:
    """Return whether a model takes vectors beside texts; ValueError if they are not given as it takes them."""
    takes = bool(getattr(packed.vectorizer, "widths_beside_", ()))
    if takes != (vectors is not None):
        says = "takes vectors beside texts: give their file with" if takes else "takes no vectors: leave out"
        raise ValueError(f"the model {says} --vectors")
    return takes


def is_of_catalog(data: str) -> bool:
    return not Path(data).exists() and data in {entry.name for entry in datasets.catalog()}


def must_exist(path: str | None, or_of_catalog: bool = False) -> None:
    """Raise FileNotFoundError if a path is given and there is no file; ``or_of_catalog`` names the alternative."""
    if path is None or Path(path).exists():
        return
    if not or_of_catalog:
        raise FileNotFoundError(f"there is no file {path}")
    raise FileNotFoundError(
        f"there is no file {path}, and no data set of this name in the catalog, which has "
        f"{', '.join(entry.name for entry in datasets.catalog()[:3])} and others (docs/catalog.md)"
    )


def labels_of(given: tuple[str, ...]):
    """Return the argument ``labels`` of the readers for the values of the option ``--labels``."""
    if len(given) > 1:
        return list(given)
    if not given:
        return None
    return int(given[0]) if given[0].removeprefix("-").isdecimal() else given[0]


_ONLY = (".jsonl", ".ndjson", ".json", ".parquet")  # endings of files that can have nothing but documents
_MAYBE = (".csv", ".tsv")  # these can have numbers instead


def are_documents(data: str, options: dict) -> bool:
    """Return whether a file is read as documents: ``--text`` says so, or what the file is."""
    if options["text"] or Path(data).is_dir():
        return True
    ending = ending_of(data)
    if options["file_format"] == "auto" and is_fasttext(data, options["encoding"]):
        return True
    if ending not in _MAYBE or options["file_format"] not in ("auto", "csv"):
        return ending in _ONLY
    try:
        return guess_columns(data, encoding=options["encoding"]).text is not None
    except DatasetFormatError:
        return False  # the reader of tables says what is wrong


def reading_of(data: str, options: dict, with_labels: bool = True) -> dict:
    """Return the arguments of ``read_texts`` for a file: those of the command line, and guesses, which are printed."""
    guess = (guess_columns if with_labels or options["text"] else guess_new_texts)(data, encoding=options["encoding"])
    option_of = {"text": "--text", "labels": "--labels"} if with_labels else {"text": "--text-column"}
    read = guess.options | {"encoding": options["encoding"]}
    if options["text"]:
        read["text"] = options["text"][0] if len(options["text"]) == 1 else list(options["text"])
    if not with_labels:
        read = {name: read[name] for name in ("text", "format", "encoding")}
    elif options["labels"]:
        read["labels"] = options["labels"][0] if len(options["labels"]) == 1 else list(options["labels"])
        read.pop("separator", None)  # the guess was of another column
    if with_labels and options["separator"]:
        read["separator"] = options["separator"].encode().decode("unicode_escape")
    if with_labels and options["vocabulary"]:
        read["names"] = options["vocabulary"]
    for noun, option in option_of.items():
        if read[noun] is None:
            there = ", ".join(guess.columns[:20])
            raise ValueError(f"no column of {data} seems to have the {noun}: name it with {option}; there are {there}")
    _say_guesses(data, guess, read, {noun: option for noun, option in option_of.items() if not options[noun]})
    return read


def _say_guesses(data, guess, read, option_of) -> None:
    """Print the guesses for a file; ``option_of`` has the options that replace them, by noun."""
    if guess.format == "lines":
        note(f"{data} is read as one text per line (--text-column names a column instead).")
        return
    guessed = [f"the {noun} from {_columns(read[noun])} ({option} says another)"
               for noun, option in option_of.items()]  # fmt: skip
    if "labels" not in read and (ids := guess.ids_beside(read["text"])) is not None:
        guessed.append(f"ids from {_columns(ids)}")
    if guess.format == "fasttext":
        note(f"{data} is read as {guessing.FORMATS[guess.format]}: words after __label__ are labels.")
    if guessed and guess.format not in WITHOUT_COLUMNS:
        note(f"{data} is read as documents: {' and '.join(guessed)}.")


def _columns(given) -> str:
    if isinstance(given, str):
        return f"column {given!r:.200}"
    return f"the columns {', '.join(map(repr, given[:5]))}{' and others' if len(given) > 5 else ''}"
