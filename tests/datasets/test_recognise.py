"""Files of other formats are called by their name, and files that are read are not."""

import gzip
import lzma

import pytest

from tests.archiving import zipped
from xmlcore.datasets import DatasetFormatError, guess_columns, read_dataset, read_matrix, read_texts, read_vocabulary
from xmlcore.datasets.readers.sources import telling_name

EXCEL = zipped({"[Content_Types].xml": "<x/>", "xl/workbook.bin": "<x/>"})
MULAN = "it is a Mulan XML file, which names the labels of an ARFF file"
UNTELLING = ("train", "trn.txt.gz", "Training_data (2).txt", "dataset.svm", "X_train.txt", ".txt", "3", "train.parquet")


@pytest.mark.parametrize(("content", "what"), [
    (b'{"text": "a"}\n', "it is a JSON file"),
    (b"%%MatrixMarket matrix coordinate\n3 3 1\n", "it is a Matrix Market file"),
    (EXCEL, "it is a binary Excel workbook (.xlsb)"),
    (b"\xd0\xcf\x11\xe0" + b"\0" * 99,
     "it is an Excel or Word file of before 2007, or one with a password, not rows of UTF-8 text"),
    ("a,b\n1,2\n".encode("utf-32"), "it is UTF-32 text, not rows of UTF-8 text"),
    (b'<?xml version="1.0"?>\n<labels xmlns="a">', MULAN),
    (b'<labels>\n<label name="a"/>', MULAN),
    (b"<html><body>404", "it is a web page or XML, not rows of text"),
    (b"__label__a some, words\n", "it is a fastText file, of texts with __label__ before each label"),
])  # fmt: skip
def test_a_file_of_another_format_is_called_by_its_name(content, what):
    with pytest.raises(DatasetFormatError) as caught:
        read_matrix(content, name="mine")
    assert str(caught.value).startswith(f"mine: {what}.") and caught.value.remedy


TURTLE = b"# Law\n\n@prefix a: <http://a#> .\na:1 a a:C .\n"
RDF_XML = b'<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n<!ENTITY a "b">\n]>\n<rdf:RDF xmlns:rdf="http://a#">'


@pytest.mark.parametrize("read", [read_matrix, read_texts, read_vocabulary])
def test_files_of_other_programs_are_named_by_every_reader(read):
    for content, what in (
        (b"X\n\0\0\0\3\0\4\1\0", "an R object"), (b"RDX3\nX\n\0\0\0\3", "an R workspace"), (b"Obj\1\4", "an Avro file"),
        (TURTLE, "RDF in Turtle"), (RDF_XML, "RDF in RDF/XML"), (b'<a:1> <a:2> "b"@en .\n', "RDF in N-Triples"),
        (b'{\n "@context": {},\n "@graph": []}', "RDF in JSON-LD"), (b'[{"@id": "http://a/1"}]', "RDF in JSON-LD"),
        (zipped({"mimetype": "a", "content.xml": "<x/>"}), "an OpenDocument file"), (b"\x80\5K\1.", "a Python pickle"),
        (b"A\n3\n262401\n197888\n5\n", "an R object"),
        (b"ARROW1\0\0", "an Arrow"), (b"MATLAB 7.3 MAT-file, a", "a MATLAB"), (b"---\n- text: a\n", "a YAML file"),
        ("a,b\n1,2\n".encode("utf-16-be"), "UTF-16 text"), (b"\0\5\x16\7\0\2", "a file that macOS added"),
    ):  # fmt: skip
        for source in (content, gzip.compress(content), lzma.compress(content))[: 1 if content[:2] == b"PK" else 3]:
            with pytest.raises(DatasetFormatError, match=f"data: it is {what}"):
                read(source)


@pytest.mark.parametrize("text", ["PREFIX is a word", "<p>A text</p>", '{"@id": 1, "text": "x", "labels": ["y"]}'])
def test_texts_that_begin_alike_are_read(text):
    assert guess_columns(f"{text}\n".encode()).columns


@pytest.mark.parametrize("content", [b"1 2 2\n0 0:1\n", b"0,1 0:1\n1 1:2\n", b"2,2,3\n0,1 0:1\n", b"# a,b\n0 0:1\n"])
def test_files_that_can_be_read_are_not_taken_for_others(content):
    assert read_matrix(content)[0].shape[0] > 0


@pytest.mark.parametrize(
    ("name", "told"),
    [("bibtex.txt.gz", "bibtex"), ("a.b.svm", "a.b"), ("train-animals.txt", "animals"), ("Übung.txt", "Übung")]
    + [("bibtex_train.txt", "bibtex"), ("Eurlex-4K trn.txt.gz", "Eurlex-4K"), ("restraining.txt", "restraining")]
    + [("news.parquet", "news"), ("news_train.jsonl.gz", "news")]
    + [(name, "") for name in UNTELLING],
)
def test_data_is_named_after_its_file_if_the_name_tells_anything(name, told):
    assert telling_name(name) == told


def test_a_file_called_train_is_named_after_its_folder(tmp_path):
    folder = tmp_path / "delicious"
    folder.mkdir()
    for name in ("train.txt", "delicious-small_train.txt"):
        (folder / name).write_bytes(b"4 2 2\n" + b"0 0:1\n1 1:1\n" * 2)
    assert read_dataset(folder / "train.txt").name == "delicious"
    assert read_dataset(folder / "delicious-small_train.txt").name == "delicious-small"
