"""What a PDF file says about itself: title, caption and where its figure comes from."""

import re

_STRUCTURE = re.compile(rb"trailer\s*<<(.*?)>>\s*startxref\s+(\d+)\s+%%EOF\s*$", re.DOTALL)


def with_info(pdf: bytes, facts: dict[str, str]) -> bytes:
    """Return a PDF file with facts in its document information, as the properties of a viewer show them."""
    # The facts are appended as an update of the file, so nothing in it has to be understood except where its table of
    # objects is. Chrome, which makes the files, writes that table in the classic form; a file without one is returned
    # as it is.
    found = _STRUCTURE.match(pdf, max(pdf.rfind(b"trailer"), 0))
    if found is None:
        return pdf
    trailer, table = found[1], int(found[2])
    size, root = re.search(rb"/Size\s+(\d+)", trailer), re.search(rb"/Root\s+\d+\s+\d+\s+R", trailer)
    if size is None or root is None:
        return pdf
    number = int(size[1])
    body = pdf if pdf.endswith(b"\n") else pdf + b"\n"
    entries = b"\n".join(_name(name) + b" " + _text(value) for name, value in facts.items())
    update = b"%d 0 obj\n<<\n%s\n>>\nendobj\n" % (number, entries)
    xref = b"xref\n0 1\n0000000000 65535 f \n%d 1\n%010d 00000 n \n" % (number, len(body))
    end = b"trailer\n<</Size %d\n%s\n/Info %d 0 R\n/Prev %d>>\n" % (number + 1, root[0], number, table)
    return body + update + xref + end + b"startxref\n%d\n%%%%EOF\n" % (len(body) + len(update))


def _name(text) -> bytes:
    return b"/" + b"".join(b"%c" % c if chr(c).isalnum() and c < 128 else b"#%02X" % c for c in text.encode("utf-8"))


def _text(text) -> bytes:
    return b"<FEFF" + text.encode("utf-16-be").hex().upper().encode("ascii") + b">"
