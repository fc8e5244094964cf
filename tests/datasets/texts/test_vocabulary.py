"""Vocabularies of Annif give names to URIs."""

import pytest

from xmlcore.datasets import DatasetFormatError, DatasetWarning, read_vocabulary

NAMES = {"http://a/1": "computer network", "http://a/2": 'the "Internet"'}
TSV = b'<http://a/1>\tcomputer network\n<http://a/2>\tthe "Internet"\t42.42\n'
CSV = (
    'uri,label_en,label_fr,notation\nhttp://a/1,computer network,réseau,\nhttp://a/2,"the ""Internet""",,42.42\n'
).encode()


pytestmark = pytest.mark.filterwarnings("error::xmlcore.datasets.DatasetWarning")


def test_both_formats_give_the_same_names(tmp_path):
    assert read_vocabulary(TSV) == read_vocabulary(CSV, "en") == NAMES
    (tmp_path / "v.tsv").write_bytes(TSV)
    assert read_vocabulary(tmp_path / "v.tsv") == NAMES
    assert read_vocabulary(b"uri;label\n<http://a/1>;computer network\n") == {"http://a/1": "computer network"}


def test_the_language_can_be_chosen():
    with pytest.warns(DatasetWarning, match="http://a/2 in line 3 without a name: the URI is kept"):
        assert read_vocabulary(CSV, "fr") == {"http://a/1": "réseau"}
    with pytest.warns(DatasetWarning, match="names are those of the column label_en. It also has names in: fr"):
        assert read_vocabulary(CSV) == NAMES
    with pytest.raises(DatasetFormatError, match="it has no names in 'de'. It has the columns label_en, label_fr"):
        read_vocabulary(CSV, "de")


def test_a_uri_that_occurs_twice_keeps_its_first_name():
    with pytest.warns(DatasetWarning, match="http://a/1 in line 3 twice: its first name counts"):
        assert read_vocabulary(TSV + b"<http://a/1>\tother\n") == NAMES


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"uri": "http://a/1"}', "it is no vocabulary, but jsonl"),
        (b"a,b\nc,d\ne,f\n", "its lines start with 'a'"),
        (b"<http://a/1>\n<http://a/2>\n", "its lines have one cell"),
        (b"uri,label\n,name\n", "line 2: it has a name without a URI"),
        (b"uri,label\nhttp://a/1,\n", "it names no subject"),
        (b"", "it is empty"),
    ],
    ids=str,
)
def test_what_is_no_vocabulary_is_refused(content, message):
    with pytest.raises(DatasetFormatError, match=message) as error:
        read_vocabulary(content)
    assert error.value.remedy
