"""Data sets are made of files of documents."""

import gzip
import zipfile

import numpy as np
import pytest

from xmlcore.datasets import TextVectorizer, guess_columns, load_saved, read_text_dataset, read_texts, save_dataset
from xmlcore.datasets.errors import DatasetFormatError, DatasetWarning
from xmlcore.datasets.texts.guess import guess_new_texts
from xmlcore.datasets.texts.reading import texts_with_ids

TRAIN = "text,labels\n" + "".join(f"cat number{i} dog,animal{';small' if i % 2 else ''}\n" for i in range(20))
TEST = "text,labels\nmy dog,animal\na wine,drink\n"


def test_one_file_is_split_and_keeps_its_texts(tmp_path):
    path = tmp_path / "zoo_train.csv"
    path.write_text(TRAIN)
    data = read_text_dataset(path)
    assert (data.name, data.n_train, data.n_test) == ("zoo", 16, 4)
    assert data.label_names == ["animal", "small"] and data.feature_names == ["cat", "dog"]
    assert data.notes[0] == "The test rows are 4 of the 20 documents of zoo_train.csv, drawn at random with seed 0."
    texts, labels = read_texts(path)
    assert sorted(data.texts_train + data.texts_test) == sorted(texts)
    for part in ("train", "test"):
        kept, X, Y = (getattr(data, f"{what}_{part}") for what in ("texts", "X", "Y"))
        assert (data.vectorizer.transform(kept) != X).nnz == 0
        expected = [["small" in labels[texts.index(text)]] for text in kept]
        np.testing.assert_array_equal(Y.toarray()[:, 1:], expected)
    assert load_saved(save_dataset(data)).texts_test == data.texts_test


def test_two_files_have_labels_of_both_words_of_the_first():
    data = read_text_dataset(TRAIN.encode(), TEST.encode(), "mine", vectorizer=TextVectorizer(min_df=1, ngrams=(2, 2)))
    assert (data.name, data.n_train, data.n_test) == ("mine", 20, 2)
    assert data.label_names == ["animal", "drink", "small"] and "my dog" not in data.feature_names
    assert data.Y_test.toarray().tolist() == [[True, False, False], [False, True, False]]
    assert data.vectorizer.n_rows_ == 20 and "TextVectorizer(min_df=1, ngrams=(2, 2))" in data.notes[-1]


def test_the_split_can_be_given():
    data = read_text_dataset(TRAIN.encode(), split=([0, 1, 2, 4], [3]))
    assert data.texts_test == ["cat number3 dog"] and data.n_train == 4
    assert "1 of the 20 documents of data, chosen by a list of row numbers" in data.notes[0]
    with pytest.raises(ValueError, match="and there is a test file"):
        read_text_dataset(TRAIN.encode(), TEST.encode(), split=([0], [1]))


LINES = (
    "a cat, or two\na dog\na dog\n",
    '"Yes," it said\ta\nas yes',
    "cat\ncats purr and sleep in the sun\ndogs bark and run in the sun\n",
    "good film\ngood film\n",
    "Title, or not\na, b\nc, d\n",
    "text,labels\na,b\na, b, and c\n",
    "headline\tstory\ttags\na\tb\tc\n",
    "http://a.b/cat\na cat\n",
    "a cat\t<http://a.b/cat>\na dog\n",
    '{sic} "a cat"\na dog\n',
    "[1] a cat\n",
    "text\na cat\n",
)
TABLES = (
    "id\tabstract\n1\ta cat\n",
    "text,tags,source\na cat,animal,web\n",
    "a cat\t<http://a.b/cat> <http://a.b/c>\n",
    '{"text": "a cat"}\n',
)


@pytest.mark.parametrize("ending", [".txt", ".TXT.gz", ".zip"])
def test_each_line_of_a_txt_file_is_a_text(tmp_path, ending):
    for content in (*LINES, *TABLES):
        check_lines(tmp_path / f"new{ending}", content)


def check_lines(path, content):
    ending = path.suffix
    path.write_bytes(gzip.compress(content.encode()) if ending == ".gz" else content.encode())
    if ending == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("new.txt", content)
            archive.writestr("__MACOSX/._new.txt", "which macOS adds")
    guess = guess_new_texts(path)
    texts, _ = texts_with_ids(path, guess.text, format=guess.format)
    assert texts == (content.splitlines() if content in LINES else ["a cat"])
    assert (guess.format == "lines") == (content in LINES)


def test_lines_of_other_files_are_not_texts():
    assert guess_new_texts(b"a cat\na dog\n", name="new.csv").format == "tsv"
    assert read_texts(b"text\nlabels\n", labels=None, format="lines") == (["text", "labels"], [[], []])
    with pytest.raises(ValueError, match="has no labels"):
        read_texts(b"a cat\n", format="lines")
    with pytest.raises(DatasetFormatError, match="only blank lines"):
        guess_new_texts(b"\n\n", name="new.txt")


@pytest.mark.parametrize(("format", "heading"), [("lines", ""), ("csv", "text\n"), ("csv", "\ntext\n")])
def test_blank_lines_of_one_column_are_empty_texts(format, heading):
    content = heading.encode() + b"a cat\r\n\r\na dog\n \na dog\n\n"
    with pytest.warns(DatasetWarning, match=rf"2 of 5 texts \(first in line {2 + heading.count(chr(10))}\) are empty"):
        texts, _ = read_texts(content, labels=None, format=format)
    assert [text.strip() for text in texts] == ["a cat", "", "a dog", "", "a dog"], "those after the last are none"


def test_lacking_blanks_are_said_by_the_guess_and_the_data_set():
    table = b"text,labels\n" + "東京都の猫,animal\n大阪の犬です,dog\n".encode() * 10
    data = read_text_dataset(table)
    assert guess_columns(table).no_blanks and data.X_test.nnz > 3 * data.n_test and "東京" in data.feature_names
    assert "letters and pairs of letters (analyzer 'letters'" in data.notes[-1]
    assert not guess_columns(TRAIN.encode()).no_blanks


def test_errors_say_which_file():
    with pytest.raises(DatasetFormatError, match=r"data \(test\), line 2"):
        read_text_dataset(TRAIN.encode(), b"text,labels\none,two,three\n")
    with pytest.raises(DatasetFormatError, match="no document has a label"):
        read_text_dataset(b"text\n" + b"one two\n" * 9, labels=None)


def test_options_are_those_of_read_texts_and_progress_is_told():
    seen = []
    data = read_text_dataset(
        TRAIN.replace("labels", "tags").encode(), labels="tags", separator="none", progress=lambda *at: seen.append(at)
    )
    assert data.label_names == ["animal", "animal;small"]
    assert {"Reading the training texts", "Reading words", "Weighting words"} <= {phase for phase, *_ in seen}
