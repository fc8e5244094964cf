"""Write texts and their labels as fastText reads them: a line for each text, with its labels before it."""

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from xmlcore.datasets.readers.label_cells import PREFIX
from xmlcore.datasets.writers.files import atomic
from xmlcore.typing import FilePath

_BLANKS = re.compile(r"[\s\0]+", re.ASCII)  # where fastText ends a word


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
    ValueError
        A name of a label is empty or has blanks, or two become the same; or a text has a word that starts with
        ``__label__``, and would be a label. The message has the row, from 0.
    OSError
        The file cannot be written.
    """
    if blanks is not None and (not blanks or _BLANKS.search(blanks)):
        raise ValueError(f"blanks is {blanks!r:.200}: give a mark without blanks, such as '_'")
    written = {}  # names of labels by what is written for them
    with atomic(Path(path)) as stream:
        for i, (text, labels) in enumerate(zip(texts, label_lists, strict=True)):
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
