"""Patterns of words that a user writes are searched for by ``regex``: as ``re`` does, and within limits."""

import re
import threading
import time
import unicodedata

import pytest

from xmlcore.datasets.texts import TextVectorizer, words
from xmlcore.datasets.texts.words import WORD, WordFinder

USUAL = [
    WORD.removeprefix("(?u)"),
    r"\w+(?:-\w+)*",
    r"[A-Za-z]+(?:['’][A-Za-z]+)?",
    r"\d+(?:[.,]\d+)*%?|[^\W\d_]{2,}",
    r"(?:[A-Z]\.)+|\w+",
    r"#?(\w[\w.]*)",
    r"(#)?x",
    r"(?>\w+)*+ ",
    r"\S+(?=\s|$)",
    r"(?i:[a-z]+)",
    r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+",
    r"(z)?(?(1)\w+|\d+)",
    r"[+-]?\d+\.?\d*(?:e[+-]?\d+)?|https?://\S+|\w+",
    r"[\w.+-]+@[\w-]+\.[\w.-]+|\w+[-']?\w+",
    r"\b",
    r"\N{LATIN SMALL LETTER X}\w*|\{\w+\}|a{2,}",
]
TEXT = (
    "Ångström's well-known u.s.a. U.S.A. x #tag.a 3.5% 12 34 été xy{id} caab 日本 a@b.org "
    "https://x.y/?z=1e-3 x\ud800y x- "
)


@pytest.mark.parametrize("pattern", [WORD, *USUAL])
def test_a_pattern_finds_what_it_finds_in_python(pattern):
    finder = WordFinder(pattern, lowercase=False)
    assert list(finder.words([TEXT, ""])) == [re.findall(pattern, text) for text in (TEXT, "")]
    assert finder.places(TEXT)[0] == [TEXT[slice(*m.span(m.re.groups))] for m in re.finditer(pattern, TEXT)]


def test_combining_marks_are_word_characters():
    assert list(WordFinder(r"\w+").words(["\u0130x H\u2082 \u0915\u093f"])) == [["i\u0307x", "h", "\u0915\u093f"]]


@pytest.fixture
def limited():
    """Limit searches as a server does."""
    words.limit_search(0.2)
    yield
    words.limit_search(None)


@pytest.mark.parametrize("pattern", [r"\w+\w+!", r"\w+(?=\w*!)", r"(?:(?!\w*\w*!)\w)+!", r"(\w+)*!"])
def test_a_search_that_takes_too_long_is_ended(pattern, limited):
    messages, steps = [], 0
    search = threading.Thread(target=lambda: messages.append(_refused(pattern)))
    search.start()
    while search.is_alive():  # other threads run on, and the search ends
        time.sleep(0.01)
        steps += 1
    assert "takes more than 0.2 seconds" in messages[0] and steps > 3


def _refused(pattern):
    with pytest.raises(ValueError) as error:
        TextVectorizer(pattern=pattern, min_df=1).fit(["a" * 100_000 + " !"])
    return str(error.value)


def test_many_texts_share_the_time_of_a_search(limited):
    slow = ["a" * 700 + " !"] * 1000
    with pytest.raises(ValueError, match="takes more"):
        TextVectorizer(pattern=r"\w+\w+!", min_df=1).fit(slow)


def test_a_search_that_would_take_all_memory_is_refused():
    with pytest.raises(ValueError, match="too much memory"):
        TextVectorizer(pattern=r"(?:(?:(a))*)*!", min_df=1).fit(["a" * 10_000_000 + " !"])


@pytest.mark.parametrize("pattern, message", [
    ("a" * 1001, "pattern has 1,001 characters: it can have 1,000 at most"),
    ("(?:" * 240 + "a" + ")" * 240, "recursion"),
    ("(?:(?:a{1000}){1000}){1000}", "its counts"),
    ("(?:cats){e<=1}", "brackets"),
    ("[[:alpha:]]+", "brackets"),
    ("a{e", "no regular expression"),
    (r"\p{L}+", r"bad escape \\p"),
    ("(", "no regular expression"),
    ("a{99999999999999999999}", "no regular expression"),
])  # fmt: skip
def test_a_pattern_that_cannot_be_used_is_refused(pattern, message):
    with pytest.raises(ValueError, match=message):
        TextVectorizer(pattern=pattern).check()


SHORT = ["", "ab cd", "abcdefg", " ab  cdef gh ", "ab\tcd ef\ngh", "ab,cd;ΑΣ,", "漢字。仮名", "ΟΔΟΣ ΣΑΣ ΑΣ"]
SHORT += ["e\u0301a \u0301bc dé", "abc\u2028de efg\u3000hi", "ab\u00a0cdé\u00a0ef"]


@pytest.mark.parametrize("gap", [" ", ","])
def test_a_long_text_is_split_so_that_threads_can_run(gap):
    finder, text = WordFinder(WORD), gap.join(["word", "élan", "x", "_y"] * 100_000)
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.001):
            ticks.append(1)

    other = threading.Thread(target=tick)
    other.start()
    (found,) = finder.words([text])
    over.set()
    other.join()
    assert len(ticks) >= 10 and found == re.findall(WORD, text)


def test_words_are_not_cut_where_a_text_is_split(monkeypatch):
    monkeypatch.setattr(words, "PIECE", 3)
    for short in SHORT:
        assert [*WordFinder(WORD).words([short])] == [re.findall(WORD, short.lower())]
        assert [*WordFinder(WORD, strip_accents="ascii").words([short])] == [re.findall(WORD, _as_ascii(short.lower()))]


def _as_ascii(text):
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
