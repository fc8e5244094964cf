"""Patterns of words that search without end are refused by their form."""

import re
import sys
import time

import pytest

from xmlcore.datasets.texts import TextVectorizer, apart
from xmlcore.datasets.texts.patterns import is_quick, runs_away
from xmlcore.datasets.texts.words import WORD

HARMLESS = [
    WORD,
    r"(?u)\b\w\w+\b",
    r"\w+(?:-\w+)*",
    r"(?:\w+-)*\w+",
    r"[A-Za-z]+(?:['’][A-Za-z]+)?",
    r"\d+(?:[.,]\d+)*%?|[^\W\d_]{2,}",
    r"(?:[A-Z]\.)+|\w+",
    r"#?(\w[\w.]*)",
    r"(?:\d{2}){3,}",
    r"(?>\w+)*+ ",
    r"\S+(?=\s|$)",
    r"(?i:[a-z]+)",
    r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+",
    r"(?:[\u4e00-\u62ff]x?|[\u6300-\u9fff])+",
    r"(z)?(?(1)\w+|\d+)",
    r"[+-]?\d+\.?\d*(?:e[+-]?\d+)?|https?://\S+|\w+",
    r"(?:\d{1,3}\.){3}\d{1,3}",
    r"[\w.+-]+@[\w-]+\.[\w.-]+|\w+[-']?\w+",
    r"\w{3}\w+",
]
ENDLESS = [
    r"(\w+)*!",
    r"(?:\w+\s?)+$",
    r"(?:a|a)+$",
    r"(?:[a-z]+'?)+!",
    r"(?:a?){40}a{40}",
    r"(?:a{2,3})*!",
    r"(?:(?:ab)+c?)*!",
    r"(?:\w|\dx)+!",
    r"\w(?=(\w+)+!)",
    r"(?:.|\n|x)*!",
    r"(?:[\u4e00-\u9fff]+)+!",
    r"(?:[^\x00-\u05ff]+)+!",
    r"(?:\dx?|[\u0e00-\u0eff])+!",
    r"(?:\wx?|[\u2000-\u9fff])+!",
    r"(?:[\U00020000-\U0002a6df]|\U00020001x?)+!",
    r"(z)?(?(1)b|(?:\w+)*!)",
    r"(z)?(?:(?(1)b|\w+))*!",
    r"(?:\w\w?){30}!",
    r"(?:(?:\b|)\w)+!",
    r"(?:(?:(?<=a))?[ab])+!",
    r"(?:\w+){12}!",
    r"\w?" * 30 + "!",
    r"\w+" * 12 + "!",
    r"\w+\w+\w+!",
    r"(?:ab)+(?:ab)+(?:ab)+!",
    r"(?:\d|\w\w)" * 30 + "!",
    r"\w?" * 300,
]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_pattern_that_can_match_in_one_way_is_taken(pattern):
    assert not runs_away(pattern)


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_pattern_whose_repetition_can_match_in_many_ways_is_refused_before_it_is_used(pattern):
    assert runs_away(pattern)
    with pytest.raises(ValueError, match="pattern .* could search without end: .* in one way only"):
        TextVectorizer(pattern=pattern).fit(["a" * 50])


@pytest.fixture
def limited():
    """Limit searches as a server does."""
    apart.limit_search(0.5)
    yield
    apart.limit_search(None)


@pytest.mark.parametrize("pattern", [r"\w+\w+!", r"\w+(?=\w*!)", r"(?:(?!\w*\w*!)\w)+!", r"\w+!"])
def test_a_search_that_takes_too_long_is_ended_where_there_is_a_limit(pattern, limited):
    text, start = "a" * 100_000, time.perf_counter()
    with pytest.raises(ValueError, match="takes more than 0.5 seconds on these texts: write it so that"):
        TextVectorizer(pattern=pattern, min_df=1).fit([text])
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("pattern", [*HARMLESS[1:9], "(#)?x", r"#?(\w[\w.]*)|-", r"\b"])
@pytest.mark.parametrize("accents", [None, "unicode"])
def test_a_search_with_a_limit_finds_the_same(pattern, accents, limited):
    texts = ["Ångström's well-known U.S.A. x #tag.a 3.5% 12 34", "", "x\ud800y x- a-b", "été x"]
    vectorizer = TextVectorizer(pattern=pattern, min_df=1, strip_accents=accents)
    try:
        found = vectorizer.fit_transform(texts)
    except ValueError as error:
        found = str(error)
    spans = [vectorizer.spans(text) for text in texts] if hasattr(vectorizer, "words_") else []
    apart.limit_search(None)
    try:
        expected = vectorizer.fit_transform(texts)
    except ValueError as error:
        assert found == str(error)
        return
    assert (found != expected).nnz == 0 and found.shape == expected.shape
    for one, text in zip(spans, texts):
        assert all((a == b).all() for a, b in zip(one, vectorizer.spans(text)))


def test_patterns_in_which_only_the_end_repeats_are_quick():
    assert all(map(is_quick, ["[A-Za-z]{2,}", r"\w\w+", r"\b\w+", "a", r"\S+?", "(?i)[a-z]+"]))
    assert not any(map(is_quick, [r"\w+!", r"\w+\w+", r"(?:a+)+", r"\w{1000,}", "", r"\w+$", r"x*y", "a" * 100 + "b+"]))


def test_the_pattern_named_as_quick_but_not_known_to_be_is_one():
    (example,) = re.findall(r"such as ``(.*?)``", is_quick.__doc__)
    assert not is_quick(example) and is_quick("a|b")


def test_a_very_long_pattern_is_refused():
    with pytest.raises(ValueError, match="pattern has 1,001 characters: it can have 1,000 at most"):
        TextVectorizer(pattern="a" * 1001).check()


class Ended:
    """A process that has ended."""

    def __init__(self, returncode, stderr=b""):
        self.returncode, self.stderr = returncode, stderr


@pytest.mark.parametrize(
    "ended, message",
    [
        (Ended(-9), "was ended before it was done: there may be too little memory"),
        (Ended(1, b"Traceback\nMemoryError\n"), "needs too much memory: search fewer texts at once"),
        (OSError(12, "Cannot allocate memory"), "could not begin: Cannot allocate memory. Try again later"),
    ],
)
def test_a_search_that_ends_without_a_result_is_refused_with_its_reason(ended, message, limited, monkeypatch):
    def run(*_, **options):
        if isinstance(ended, OSError):
            raise ended
        return ended

    monkeypatch.setattr(apart.subprocess, "run", run)
    with pytest.raises(ValueError, match=message):
        TextVectorizer(pattern=r"\w+!", min_df=1).fit(["a! b!"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems may not limit a process's memory")
def test_a_search_with_a_limit_takes_little_memory(limited, monkeypatch):
    monkeypatch.setattr(apart, "MEMORY", 100 << 20)
    apart.limit_search(60)
    with pytest.raises(ValueError, match="needs too much memory"):
        apart.spans("a|", ["a" * 2_000_000])
    assert apart.spans("a", ["ba"]) == [[(1, 2)]]
