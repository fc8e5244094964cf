"""Names of labels in Mulan's XML files: what is read, and what is refused."""

import io
import time

import pytest

from xmlcore.datasets import DatasetFormatError, DatasetWarning
from xmlcore.datasets.readers.names import xml_label_names as label_names

PLAIN = '<?xml version="1.0" encoding="{}"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n{}\n</labels>\n'


def mulan(labels, encoding="utf-8"):
    return PLAIN.format(encoding, labels).encode(encoding)


@pytest.mark.parametrize("content", [
    mulan('<label name="a &amp; b"></label><label name="ü"></label>'),
    mulan("<label name='a &#38; b'/>\n<!-- more -->\n<label name='&#252;'/>"),
    mulan('<label name="a &amp; b"/><label name="ü"/>', "iso-8859-1"),
    mulan('<label name="a &amp; b"/><label name="ü"/>', "windows-1252"),
    mulan('<label name="a &amp; b"/><label name="ü"/>', "utf-16"),
    mulan('<m:label xmlns:m="urn:m" name="a &amp; b"/><label name="ü"/>'),
    b"\xef\xbb\xbf" + mulan('<label name="a &amp; b"/><label name="ü"/>').partition(b"\n")[2],
    mulan('<label name="a &amp; b"><label name="ü"></label></label>'),
    mulan('<label index="0" name="a &amp; b"/><other name="x"/><label name="ü"/>').replace(b"\n", b"\r\n"),
])  # fmt: skip
def test_all_layouts_name_the_same_labels(content, tmp_path):
    (tmp_path / "a.xml").write_bytes(content)
    assert label_names(content) == label_names(io.BytesIO(content)) == label_names(tmp_path / "a.xml") == ["a & b", "ü"]


def test_nested_labels_are_listed_in_the_order_of_the_file():
    nested = '<label name="a"><label name="b"><label name="c"/></label><label name="d"/></label><label name="e"/>'
    assert label_names(mulan(nested)) == list("abcde")


def test_names_in_an_undeclared_encoding_give_a_warning():
    content = mulan('<label name="ü"/>', "iso-8859-1").replace(b"iso-8859-1", b"utf-8")
    with pytest.warns(DatasetWarning, match="read as Latin-1"):
        assert label_names(content) == ["ü"]


def test_a_long_namespace_is_not_copied_for_each_element():
    content = b"<labels xmlns='" + b"u" * 120_000 + b"'>" + b"<a/>" * 30_000 + b"<label name='x'/></labels>"
    start = time.process_time()
    assert label_names(content) == ["x"]
    assert time.process_time() - start < 1


BOMB = '<?xml version="1.0"?><!DOCTYPE labels [<!ENTITY a "{}">{}]><labels><label name="&j;"/></labels>'.format(
    "x" * 100, "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij"))
)
DEFAULTS = "<!DOCTYPE labels [<!ATTLIST label index CDATA '0'>]><labels><label name='a'/></labels>"
OUTSIDE = '<!DOCTYPE labels [<!ENTITY e SYSTEM "file:///etc/hostname">]><labels><label name="a"/>&e;</labels>'


@pytest.mark.parametrize(("content", "found", "line"), [
    (BOMB.encode(), "it has a DOCTYPE", 1),
    (OUTSIDE.encode(), "it has a DOCTYPE", 1),
    (DEFAULTS.encode(), "it has a DOCTYPE", 1),
    (b"label1\nlabel2\n", "it is not XML", None),
    (b"<html><body/></html>", "its first element is <html>, not <labels>", 1),
    (mulan('<label name="a"/>\n<label name="a"/>'), "the label 'a' is named twice", 4),
    (mulan("<label/>"), "a <label> without a name", 3),
    (mulan(""), "it names no labels", None),
    (mulan('<label name="R&D"/>'), "it is not valid XML (not well-formed (invalid token))", 3),
    (b"<labels><label name='a'/>", "it is not valid XML (no element found)", 1),
    (b"<?xml version='1.0' encoding='klingon'?><labels/>", "", 1),
    (b"<?xml version='1.0' encoding='gb2312'?><labels><label name='\xc4\xe3'/></labels>", "", 1),
    (b"", "it is empty", None),
    (b" \n ", "it is empty", None),
])  # fmt: skip
def test_what_is_no_list_of_labels_is_an_error(content, found, line):
    with pytest.raises(DatasetFormatError) as caught:
        label_names(content)
    assert caught.value.source == "labels" and found in caught.value.found and caught.value.remedy
    assert caught.value.line == line
