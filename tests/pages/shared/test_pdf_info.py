"""PDF files say where their figure comes from."""

import re

import pytest

from pages.shared.figures.pdf_info import with_info


def a_pdf():
    """A PDF file as Chrome writes it: objects, a table of them, and a trailer."""
    body = b"%PDF-1.4\n1 0 obj\n<</Title (old)>>\nendobj\n2 0 obj\n<</Type /Catalog>>\nendobj\n"
    at = [body.index(b"%d 0 obj" % i) for i in (1, 2)]
    table = b"xref\n0 3\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % i for i in at)
    return body + table + b"trailer\n<</Size 3\n/Root 2 0 R\n/Info 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(body)


def test_facts_are_appended_as_an_update_of_the_file():
    pdf = a_pdf()
    made = with_info(pdf, {"Title": "κ – Measures", "Data set": "(a)"})
    assert made.startswith(pdf)
    table = int(re.findall(rb"startxref\n(\d+)", made)[-1])
    assert made[table : table + 4] == b"xref"
    place = int(re.search(rb"3 1\n(\d{10}) 00000 n ", made[table:])[1])
    assert made[place : place + 7] == b"3 0 obj"
    assert b"/Size 4\n/Root 2 0 R\n/Info 3 0 R\n/Prev %d>>" % pdf.index(b"xref") in made
    found = dict(re.findall(rb"/(\S+) <FEFF([0-9A-F]*)>", made))
    said = {name.decode(): bytes.fromhex(value.decode()).decode("utf-16-be") for name, value in found.items()}
    assert said == {"Title": "κ – Measures", "Data#20set": "(a)"}


def test_facts_can_be_added_twice_and_the_last_ones_hold():
    once = with_info(a_pdf(), {"Title": "first"})
    twice = with_info(once, {"Title": "second"})
    assert b"/Info 4 0 R\n/Prev %d" % int(re.findall(rb"startxref\n(\d+)", once)[-1]) in twice


@pytest.mark.parametrize("content", [b"", b"%PDF-1.5\nno table\n%%EOF\n", a_pdf().replace(b"/Root 2 0 R", b"")])
def test_a_file_without_the_classic_table_is_left_as_it_is(content):
    assert with_info(content, {"Title": "t"}) == content
