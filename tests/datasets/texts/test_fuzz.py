"""Damaged files of documents give texts and labels, or an error with a remedy, quickly."""

import random

import pytest
from datasets.fuzzing import check, mutate, mutate_archive
from datasets.texts.test_read_texts import FILES

from xmlcore.datasets import DatasetFormatError, guess_columns, read_texts

NAMES = ("commas", "tabs", "JSON lists in cells", "Annif's JSON lines", "Parquet lists", "folder of .tsv", "gzip")


def read(content, guessed):
    """Read as the page does, by the guess, or with the defaults; what is read is plain and of one length."""
    options = guess_columns(content).options if guessed else {}
    if guessed and (options["text"] is None or options["labels"] is None):
        return
    texts, label_lists = read_texts(content, **options)
    assert len(texts) == len(label_lists) and set(map(type, texts)) == {str}
    for text, row in zip(texts, label_lists):
        text.encode("utf-8")
        assert len(set(row)) == len(row)
        for label in row:
            assert label and label.encode("utf-8") and "\n" not in label


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_give_documents_or_a_clear_error(name):
    chance = random.Random(name)
    harm = mutate_archive if name.startswith("folder") else mutate
    could = [check(read, harm(FILES[name], chance), chance.random() < 0.5) for _ in range(300)]
    assert len(set(could)) == 2, "either all files could be read, or none"


def test_what_is_no_file_of_documents_is_refused():
    chance = random.Random(0)
    for size in (1, 10, 1000):
        check(read, chance.randbytes(size), True)
    with pytest.raises(DatasetFormatError):
        read_texts(b"\x7fELF" + bytes(100))
