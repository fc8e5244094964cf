"""The text of a row is in tables, found by searches, and shown as it is."""

from dataclasses import replace

from streamlit.testing.v1 import AppTest

from pages.shared import tables
from tests.pages.small import small_data


def with_texts():
    data = small_data()
    texts = [f"<b>Text</b> {i}\r\nof *{'odd' if i % 2 else 'even'}* words\u202e" + " and more" * 40 for i in range(60)]
    return replace(data, texts_train=texts, texts_test=["", "short"] * 10)


def test_tables_have_the_beginning_of_a_text_in_one_line():
    data = with_texts()
    frame = tables.rows(data, "training", [3])
    assert list(frame.columns[-3:]) == ["text", "labels", "features"]
    assert frame["text"][0].startswith("<b>Text</b> 3 of *odd* words") and frame["text"][0].endswith("…")
    assert len(frame["text"][0]) == tables.TEXT and tables.rows(data, "test", [1])["text"][0] == "short"
    assert "text" not in tables.rows(replace(data, texts_test=None), "test", [1])


def test_rows_are_found_by_their_text():
    data = with_texts()
    assert tables.find_rows(data, "training", "*ODD*").tolist() == list(range(1, 60, 2))
    assert tables.find_rows(data, "test", "Short").tolist() == list(range(1, 20, 2))


def shown(part, row):
    def page(data, part, row):
        from pages.shared.rows import row_text

        row_text.show(data, part, row)

    at = AppTest.from_function(page, args=(with_texts(), part, row)).run()
    assert not at.exception
    return [element.proto.body for element in at.get("html")], [caption.value for caption in at.caption]


def test_a_text_is_shown_with_its_line_breaks_and_without_becoming_html():
    (body,), captions = shown("training", 3)
    assert "&lt;b&gt;Text&lt;/b&gt; 3\nof *odd* words�" in body and "<b>" not in body and not captions
    assert 'tabindex="0"' in body and 'aria-label="Text of the row"' in body


def test_an_empty_text_is_called_empty():
    assert shown("test", 0) == ([], ["The text of this row is empty."])
