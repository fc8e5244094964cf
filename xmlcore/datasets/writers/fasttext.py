"""Write texts and their labels as fastText reads them: a line for each text, with its labels before it."""

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from xmlcore.datasets.readers.label_cells import PREFIX
from xmlcore.datasets.texts.vectorizer import check_texts
from xmlcore.datasets.writers.files import atomic
from xmlcore.typing import FilePath

_BLANKS = re.compile(r"[\s\0]+", re.ASCII)  # where fastText ends a word
_HALF = re.compile("[\ud800-\udfff]")


def write_fasttext(
    path: FilePath, texts: Iterable[str], label_lists: Iterable[Collection[str]], *, blanks: str | None = None
) -> None:
    """Write texts and labels in fastText's format: ``__label__art __label__law The court``.

    Parameters
    ----------
    path : str or path
        The file is compressed if the name ends in .gz, .bz2 or .xz. It is written completely or not at all.
    texts : iterable of str
        A line break or tab within a text becomes a blank, and repeated blanks one: fastText does not tell them apart.
    label_lists : iterable of lists of str
        Names of the labels of each text.
    blanks : str, optional
        What is written for blanks in names of labels, such as ``"_"``. By default such names are refused, as fastText
        would end them there.

    Raises
    ------
    TypeError
        A text or a label is no str, or labels are no lists. The message has the row, from 0.
    ValueError
        There are not as many lists as texts, or the last row is empty.
        A name of a label is empty or has blanks, or two become the same; or a text has a word that starts with
        ``__label__``, and would be a label. The message has the row, from 0.
    OSError
        The file cannot be written.
    """
    texts, label_lists = check_texts(texts), _listed(label_lists, "label_lists")
    label_lists = [_listed(row, f"the labels of row {i}", str) for i, row in enumerate(label_lists)]
    if len(texts) != len(label_lists):
        raise ValueError(f"there are {len(texts):,} texts, but {len(label_lists):,} lists of labels: give one for each")
    if texts and not texts[-1].strip(" \t\n\r\v\f\0") and not label_lists[-1]:
        raise ValueError(
            f"row {len(texts) - 1}, the last, has neither a text nor labels, and would be lost: leave it out"
        )
    if blanks is not None and not isinstance(blanks, str):
        raise TypeError(f"blanks is {blanks!r:.200}: give a mark without blanks, such as '_'")
    if blanks is not None and (not blanks or _BLANKS.search(blanks)):
        raise ValueError(f"blanks is {blanks!r:.200}: give a mark without blanks, such as '_'")
    written = {}  # names of labels by what is written for them
    with atomic(Path(path)) as stream:
        for i, (text, labels) in enumerate(zip(texts, label_lists)):
            if broken := next((each for each in (text, *labels) if _HALF.search(each)), None):
                raise ValueError(f"row {i} has half a character in {broken!r:.60}, which UTF-8 cannot write: change it")
            words = [name if blanks is None else _BLANKS.sub(blanks, name) for name in labels]
            for name, word in zip(labels, words):
                where, other = f"the label {name!r:.200} of row {i}", written.setdefault(word, name)
                if _BLANKS.search(word):
                    raise ValueError(f"{where} has blanks: pass blanks='_' to write _ for them")
                if not word or PREFIX in word:
                    raise ValueError(f"{where} {'has ' + PREFIX + ' in it' if word else 'is empty'}: rename it")
                if other != name:
                    raise ValueError(f"{where} would be {word!r:.200}, as {other!r:.200} is: rename one of them")
            text = _BLANKS.sub(" ", text).strip()
            if text.startswith(PREFIX) or f" {PREFIX}" in text:
                raise ValueError(f"the text of row {i} has a word that starts with {PREFIX}, as labels do: change it")
            stream.write(" ".join([*(PREFIX + word for word in words), text + "\n"]).encode("utf-8"))


def _listed(given, where, kind=object) -> list:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"{where}: {given!r:.60} is no list: give a list of names for each text, such as [['art'], []]")
    found = list(given)
    if wrong := [each for each in found if not isinstance(each, kind)]:
        raise TypeError(f"{where}: {wrong[0]!r:.60} is no text: give names, such as 'art'")
    return found
