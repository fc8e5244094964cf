"""Files of documents: whether a file has some, and which columns are texts and labels."""

from pathlib import Path

from xmlcore.cli.output import note
from xmlcore.datasets import DatasetFormatError, guess_columns
from xmlcore.datasets.readers.sources import ending_of
from xmlcore.datasets.texts.guess import FORMATS, WITHOUT_COLUMNS, guess_new_texts, is_fasttext

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
    """Return the arguments of ``read_texts`` for a file: those of the command line, and guesses, which are said."""
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
    if guess.format == "lines":
        note(f"{data} is read as one text per line ({option_of['text']} names a column instead).")
        return read
    guessed = [f"the {noun} from {_columns(read[noun])} ({option} says another)"
               for noun, option in option_of.items() if read[noun] is not None and not options[noun]]  # fmt: skip
    if not with_labels and (ids := guess.ids_beside(read["text"])) is not None:
        guessed.append(f"ids from {_columns(ids)}")
    if guess.format == "fasttext":
        note(f"{data} is read as {FORMATS[guess.format]}: words after __label__ are labels.")
    if guessed and guess.format not in WITHOUT_COLUMNS:
        note(f"{data} is read as documents: {' and '.join(guessed)}.")
    return read


def _columns(given) -> str:
    if isinstance(given, str):
        return f"column {given!r:.200}"
    return f"the columns {', '.join(map(repr, given[:5]))}{' and others' if len(given) > 5 else ''}"
