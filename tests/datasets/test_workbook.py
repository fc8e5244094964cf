"""Excel workbooks are read as CSV is, and errors name rows as the sheet numbers them."""

import datetime
import gzip
import sys

import pytest

from tests.archiving import members
from tests.archiving import workbook as book
from xmlcore.datasets import DatasetFormatError, guess_columns, read_dataset, read_matrix, read_texts
from xmlcore.extras import MissingExtraError

DOCUMENTS = [["text", "labels"], ["the court\nhas decided", "law; crime"], ["a museum", "art"], [None, None], ["7", 2]]


def test_texts_and_labels_are_those_of_the_same_csv():
    texts, labels = read_texts(book(DOCUMENTS, []), labels="labels", separator=";", name="a.xlsx")
    assert texts == ["the court\nhas decided", "a museum", "7"] and labels == [["law", "crime"], ["art"], ["2"]]
    assert read_texts(book([["text", "labels"], ["日本語 é", "a"]]), encoding="latin-1")[0] == ["日本語 é"]
    guess = guess_columns(book(DOCUMENTS))
    assert (guess.text, guess.labels, guess.separator) == ("text", "labels", ";")


def test_numbers_and_indicators_are_features_and_labels(tmp_path):
    rows = [["width", "day", "apple", "pear"], [2.5, 3.0, True, False], [None, -1e-7, 0, 1]]
    X, Y, features, labels = read_matrix(book(rows), labels=-2)
    assert X.toarray().ravel().tolist() == pytest.approx([2.5, 3, 0, -1e-7]) and features == ["width", "day"]
    assert Y.toarray().tolist() == [[True, False], [False, True]] and labels == ["apple", "pear"]
    (tmp_path / "fruit.xlsx").write_bytes(book(rows + [[4, 5, 1, 0]] * 20))
    assert len(read_dataset(tmp_path / "fruit.xlsx", labels=-2).Y_test.indptr) > 1


def test_errors_name_the_row_of_the_sheet():
    rows = [["a", "b"], [1, 1], [], [datetime.datetime(2020, 1, 2), 0]]
    with pytest.raises(DatasetFormatError, match="line 4") as caught:
        read_matrix(book(rows), labels=-1, name="fruit.xlsx")
    assert caught.value.line == 4 and "2020-01-02" in str(caught.value)


@pytest.mark.parametrize(("content", "found"), [
    (book([["a"]], [[None, 1]]), r"2 sheets with cells \('Sheet', 'Sheet1'\)"),
    (book([[None, ""]]), "is empty"),
    (gzip.compress(book(DOCUMENTS)), "within compressed data"),
    (book(DOCUMENTS, **{"xl/worksheets/sheet1.xml": "<worksheet"}), "cannot be read"),
    (book(DOCUMENTS, **{"xl/workbook.xml": "<x/>"}), "is empty"),
    (book(DOCUMENTS, **{"xl/sharedStrings.xml": "<sst>" + "<si/>" * 10**5}), "more than 100,000 bytes"),
])  # fmt: skip
@pytest.mark.parametrize("read", [read_texts, read_matrix])
def test_a_workbook_without_one_table_is_refused(content, found, read):
    with pytest.raises(DatasetFormatError, match=found):
        read(content, labels="labels", max_bytes=100_000)


def test_texts_with_marks_of_tables_are_one_cell():
    for mark in ",;|\t":
        assert guess_columns(book([[f"paint{mark} museum"], [f"court{mark} judge"]])).columns == ("1",)


SHARED, FAR = '<c t="s"><v>0</v></c>' * 500, '<row r="1"><c><v>1</v></c></row><row r="9999999999"/>'


@pytest.mark.parametrize("xml", [f'<row r="1">{SHARED}</row>', FAR])
def test_a_small_workbook_takes_little_memory_and_time(xml):
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    parts = {"xl/worksheets/sheet1.xml": f"<worksheet {main}><sheetData>{xml}</sheetData></worksheet>"}
    parts["xl/sharedStrings.xml"] = f"<sst {main}><si><t>{'x' * 9000}</t></si></sst>"
    about = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    about = f'PartName="/xl/sharedStrings.xml" ContentType="{about}"'
    types = members(book(DOCUMENTS))["[Content_Types].xml"].decode()
    parts["[Content_Types].xml"] = types.replace("</Types>", f"<Override {about}/></Types>")
    with pytest.raises(DatasetFormatError, match="more than 1,000,000 bytes|the last one of Excel"):
        read_texts(book(DOCUMENTS, **parts), max_bytes=10**6)


def test_an_installation_without_openpyxl_says_what_to_install(monkeypatch):
    content = book(DOCUMENTS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"xmlcore\[excel\]"):
        read_texts(content)
