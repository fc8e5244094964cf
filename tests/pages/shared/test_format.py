"""Numbers and names as pages write them."""

import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from pages.shared import format
from tests.pages.making import said_plainly
from xmlcore import wording

PAGES = Path(format.__file__).parents[1]
WRITTEN = {  # what is written, by function and value
    format.signed: {
        1.234: "+1.23", -0.5: "−0.50", 0.0: "+0.00", 0.00123: "+0.0012", -math.inf: "−∞", math.nan: "–",
    },
    format.value: {
        0.5: "0.5", -12.3456: "−12.35", 999.96: "1,000", 123456.7: "123,457", -0.0: "0", 1e20: "1e+20", 1e-5: "0.00001",
    },
    format.percent: {0.1234: "12.3 %", 0.8025: "80.3 %", 0.99951: "above 99.9 %", 1: "100.0 %", math.nan: "–"},
    wording.score: {
        0: "0", 1.5e-5: "0.000015", 1e-9: "below 0.00001", 0.01234: "0.0123", 0.99951: "above 0.999", 1: "1",
        math.nan: "–",
    },
    wording.hundredths: {0.99996: "99.99", 1: "100.00", None: "–"},
    wording.significant: {1469.2: "1,470", 99.6: "99.6", 1.2e-5: "0.000012", math.nan: "–"},
    wording.p_value: {2e-16: "p < 0.001", 0.0123: "p = 0.012", 1.0: "p = 1"},
    format.probability: {
        0: "0 %", 4.4e-7: "below 0.001 %", 1e-5: "0.001 %", 0.000123456: "0.0123 %", 0.5: "50 %",
        0.99996: "above 99.9 %", 1.0: "100 %", math.nan: "–",
    },
    format.size: {12: "12 bytes", 1234: "1.2 kB", 5_100_000: "5.1 MB", 250_000_000: "250 MB", 3.2e9: "3.2 GB"},
    format.seconds: {
        0.0123: "12 ms", 1.234: "1.2 s", 42.4: "42 s", 125: "2 min 05 s", 59.6: "60 s",
        3599: "59 min 59 s", 3600: "1 h 00 min", 11529: "3 h 12 min", 7199.9: "2 h 00 min",
    },
    format.roughly: {
        1.234: "1.2 s", 59: "59 s", 76: "1 min 20 s", 122: "2 min", 599: "10 min", 1537: "26 min",
        3590: "1 h 00 min", 11529: "3 h 12 min",
    },
    format.duration: {
        0: "0 s", 7.1e-6: "7.1 µs", 4e-5: "40 µs", 3.4e-4: "0.34 ms", 0.0141: "14 ms", 0.14: "0.14 s",
        0.999: "1.0 s", 12.3: "12 s", 125: "2 min 05 s",
    },
}  # fmt: skip


@pytest.mark.parametrize("write", WRITTEN)
def test_numbers_have_telling_digits_and_stay_with_their_unit(write):
    assert {value: said_plainly(write(value)) for value in WRITTEN[write]} == WRITTEN[write]
    assert not any(re.search(r"[0-9] [^0-9]", write(value)) for value in WRITTEN[write])


def test_small_shares_have_no_exponent():
    assert [wording.rounded(share) for share in (2e-7, 0.34)] == ["0.00002 %", "34 %"]


def test_no_text_of_a_page_has_a_number_like_1e_plus_02():
    lines = [line for path in PAGES.rglob("*.py") for line in path.read_text().splitlines()]
    assert not [line for line in lines if re.search(r":\.[1-3]g\}", line) and "float(f" not in line]


def test_names_in_lists_files_and_markdown_are_written_plainly():
    assert [format.listed(parts) for parts in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    assert format.plain("a*b_c $x$ [l](u) :red[x] <b>") == r"a\*b\_c \$x\$ \[l\]\(u\) \:red\[x\] \<b\>"
    assert format.file_name("../a b/ü.txt") == "a-b--.txt"
    assert format.file_name("...") == "data"
    assert [format.count(n, "row") for n in (0, 1, 1234)] == ["0 rows", "1 row", "1,234 rows"]
    assert [format.ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111, 1013)] == (
        "1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th 1,013th".split()
    )


@pytest.mark.parametrize(
    "name",
    [":material/x:", ":smile:", ":streamlit:", "www.a.org", "https://a.org", "a@b.org", "a -> b", "-- a", "<= b"],
)
def test_names_are_no_icons_links_or_arrows(name):
    unescaped = re.sub(r"\\(.)", r"\1", format.plain(name))
    later = r":[\w+-]+[:/]|https?://|www\.|@\w|(^|\s)(<->|->|<-|--|>=|<=|~=)(\s|$)"  # Streamlit's, after unescaping
    assert re.search(later, name) and not re.search(later, unescaped)
    assert unescaped.replace("\u2060", "") == name and ":material/" not in format.plain(name)


def test_times_are_in_the_zone_of_the_reader(monkeypatch):
    monkeypatch.setattr(format.st, "context", SimpleNamespace(timezone="Asia/Tokyo"))
    year = format.moment("2026-01-01T00:00:00+00:00").now().year
    assert format.when(f"{year}-05-03T12:02:00+00:00") == "3 May, 21:02"
    assert format.when("2019-12-31T23:30:00+00:00") == "1 Jan 2020, 08:30"
    assert format.when("yesterday") == "yesterday" and format.moment("yesterday") is None
    monkeypatch.setattr(format.st, "context", SimpleNamespace(timezone="No/Such"))
    assert format.zone() is not None
