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
    r"\w?" * 3000,
]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_pattern_that_can_match_in_one_way_is_taken(pattern):
    assert not runs_away(pattern)


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_pattern_whose_repetition_can_match_in_many_ways_is_refused_before_it_is_used(pattern):
    assert runs_away(pattern)
    with pytest.raises(ValueError, match="pattern .* could search without end: .* in one way only"):
        TextVectorizer(pattern=pattern).fit(["a" * 50])
