"""The task that reads uploaded files into a data set, and what is wrong with them in the words of the page."""

import re

from pages.shared import format, sending
from xmlcore import datasets, experiment
from xmlcore.datasets.readers.visible import visible
from xmlcore.experiment.engine import given


def reading(train, test, **options):
    """Return a function that makes the task that reads uploaded files, and the files by their argument of it."""
    options |= {"train": train, "test": test}
    files = {role: file for role, file in options.items() if hasattr(file, "read")}
    others = {name: value for name, value in options.items() if name not in files and value is not None}
    return lambda: experiment.task("read", {}, others | {"files": given.described(files)}), files


def names_of(files: dict) -> dict:
    """Return the names of files, by what they are; training and test rows of one name are told apart."""
    names = {role: visible(file.name) for role, file in files.items()}
    if "train" in names and names["train"] == names.get("test"):
        names["train"], names["test"] = f"{names['train']} (training)", f"{names['train']} (test)"
    return names


def failures(kind: str, beginning: str) -> None:
    """Show why jobs of a kind failed, in the words of the page; ``beginning`` begins it."""
    sending.failures(kind, beginning, lambda record: record.get("about", {}).get("files", {}), on_page)


def explain(error: Exception, failure: str = "The files could not be read:") -> str:
    """Return what went wrong, where, and what to do, as Markdown in the words of the page's controls."""
    if isinstance(error, MemoryError):
        return "This data needs more memory than there is. Try a part of its rows."
    if isinstance(error, OSError):  # without the path of the file on this machine
        return f"{failure} {format.plain(error.strerror or 'the disk failed')}."
    if not isinstance(error, datasets.DatasetFormatError):
        return f"{failure} {format.plain(on_page(str(error)))}"
    place = format.plain(error.source)
    if error.line is not None:
        place += f", line {error.line:,}"
    if error.column is not None:
        place += f", column {error.column:,}"
    text = f"**{place}**: {format.plain(on_page(error.found))}."
    return f"{text}  \n{format.plain(on_page(error.remedy))}" if error.remedy else text


# Messages of xmlcore name arguments of functions; the upload form has controls instead.
_ON_PAGE = (
    (r"\bPass first_index=([01])", r"Choose \1 at “Ids start at”"),
    (r"\bpass first_index=([01])", r"choose \1 at “Ids start at”"),
    (r"\bbut with first_index=1 ids start at 1", "but “Ids start at” is 1"),
    (
        r"If that is right( and there is memory for it)?, pass a larger max_bytes\.",
        "The dashboard takes no more. Larger data can be used from a notebook.",
    ),
    (r'(To take the numbers from the data), pass counts="data"\.', r"\1, tick “Take the numbers from the data”."),
    (r"Give the file that holds the labels as labels=\.\.\.", "Choose the file that holds the labels at “Label file”."),
    (r"If the labels are in a file of their own, give that as labels=\.\.\.", "Labels may be in a “Label file”."),
    (r"but labels= is given too", "but a label file is chosen too"),
    (r"but labels=.{0,400} names columns", "but “Labels are” names columns"),
    (r"Give the ARFF file, and this one as labels=\.\.\.", "Choose the ARFF file, and this one at “Label file”."),
    (r"Leave labels= out\.", "Clear “Label file”."),
    (r"are given as label_names=\.", "belong at “Label names”."),
    (
        r"leave out the file of labels, or give it as label_names= if",
        "leave “Label file” empty, or choose that file at “Label names” if",
    ),
    (r"If this is none, leave labels= out, or give the file.*", "If this is none, choose the files again."),
    (r"labels= is the file with the labels of the training rows.*", "“Label file of the test rows” is missing"),
    (r"Say which columns are labels: labels=.*", "Say at “Labels are” which columns are labels."),
    (
        r"Pass labels=: the Mulan XML file[^.]*\.",
        "Say it at “Labels are”, or choose the Mulan XML file at “Label file”.",
    ),
    (r": if these are the labels, pass labels=-?\d+", ""),
    (r" If these are the labels, pass labels=-?\d+\.", " If these are the labels, say so at “Labels are”."),
    (r'perhaps labels="(.{0,400})"', r'perhaps the column "\1"'),
    (r"labels=-(\d+) was given", r"the last \1 were chosen as labels"),
    (r"labels=(\d+) was given", r"the first \1 were chosen as labels"),
    (r", or pass a larger max_bytes\.", "."),
    (r" If the first row has the number 0, pass first=0\.", " If the first row has the number 0, choose so above."),
    (r"labels=-(\d+)(?=,)", r"the last \1 are labels"),
    (r"labels=(\d+)(?=,)", r"the first \1 are labels"),
    (r" ?\(labels=-?\d+\)", ""),
    (r" If the column lists labels, name it: labels=\.\.\.", " If the column lists labels, choose it at “Labels are”."),
    (r"Give the number of labels, such as labels=-3 for the last three\.", "Choose the last or the first columns."),
    (r"read_dataset also takes one archive", "“Training file” also takes one archive"),
    (r"Read your file with a tool .*", "See “Formats, and a sample file”."),
    (
        r", or pass leave_out=True\.",
        ", or tick “Leave out columns of text”. A file of texts is read at “Upload texts”.",
    ),
    (r"If it has texts with labels, read it with .{0,400}dataset\.", "Texts are read at “Upload texts”."),
    (r"Say how it is encoded, such as .{0,400}, or save it as UTF-8\.", "Choose its “Encoding”, or save it as UTF-8."),
    (r" They look like text=.{0,400}, labels=.{0,400}\.", ""),
    (r"; language= chooses another: (.{0,400})", r". It also has names in: \1"),
    (r"no word is in at least (\S+) and at most \S+ of", r"no word is in at least \1 of, and not in too many of,"),
    (
        r" \(whole numbers count texts, fractions are shares\): lower min_df.*",
        ": lower “Min texts with a word”, raise “Max texts with a word”, or look at the settings of words.",
    ),
    (r"max_df=([^\s=]+) is fewer texts than min_df=(\d+), of", r"“Max texts with a word” is less than \2, of"),
    (r"max_features needs the list of words that hashing_bits avoids: .*", "Empty “Max features” or “Hashing, bits”."),
    (r"pattern (.{0,400}) is no regular expression", r"the “Pattern of a word” \1 is no regular expression"),
    (r"pattern (.{0,400}) (takes more|needs too much)", r"the “Pattern of a word” \1 \2"),
    (r"analyzer='letters' makes features", "“Scripts without blanks” can make features"),
    (
        r"pattern is not used with analyzer='letters': .*",
        "“Pattern of a word” is used for words only: reset one of both.",
    ),
    (r"pattern has (\S+) characters", r"the “Pattern of a word” has \1 characters"),
    (r"pattern (.{0,400}) has (\d+) groups", r"the “Pattern of a word” \1 has \2 groups"),
    (r" If it is right, pass max_columns=\d+\.", " The dashboard takes no more."),
    (r"Give names separately, as feature_names\.", "Give names in a file of their own, at “Feature names”."),
    (
        r"If it is a row with three labels, pass format=\"svmlight\"\.",
        "If it is a row with three labels, put a header above it.",
    ),
    (r"test_size=(0\.[0-9]+) leaves", lambda result: f"a test share of {100 * float(result[1]):.0f} % leaves"),
    (
        r"for the test: both need at least one",
        "for the test, and both need at least one. Choose another “Test share”, or give more rows or a test file.",
    ),
)


def on_page(message: str) -> str:
    for pattern, instead in _ON_PAGE:
        message = re.sub(pattern, instead, message)
    return message


def sentence(note: str) -> str:
    """Return a note or a warning of xmlcore in the words of the upload form, with a full stop."""
    text = on_page(note).rstrip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
