"""Patterns of words that search without end are refused by their form."""

import pytest

from xmlcore.datasets.texts import TextVectorizer
from xmlcore.datasets.texts.patterns import runs_away
from xmlcore.datasets.texts.vectorizer import WORD

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
]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_pattern_that_can_match_in_one_way_is_taken(pattern):
    assert not runs_away(pattern)


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_pattern_whose_repetition_can_match_in_many_ways_is_refused_before_it_is_used(pattern):
    assert runs_away(pattern)
    with pytest.raises(ValueError, match="pattern .* could search without end: .* in one way only"):
        TextVectorizer(pattern=pattern).fit(["a" * 50])
