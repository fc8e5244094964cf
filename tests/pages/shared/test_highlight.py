"""Words for and against a label, marked in the text."""

import re

import numpy as np
import pytest

from pages.shared.rows import highlight
from tests.figures.seen import contrast

TEXT = "The cat sat.\nA CAT & <b>mat</b>"
CAT, MAT, SAT = 3, 5, 8
SPANS = highlight.Spans(*(np.array(part) for part in ([4, 8, 15, 24], [7, 11, 18, 27], [CAT, SAT, CAT, MAT])))
GIVEN = {CAT: 0.5, MAT: -0.25, SAT: 0.0}


def test_pieces_joined_are_the_text_and_have_the_contributions_of_their_words():
    cut = highlight.pieces(TEXT, SPANS, GIVEN)
    assert "".join(piece for piece, _ in cut) == TEXT
    assert [(piece, value) for piece, value in cut if value] == [("cat", 0.5), ("CAT", 0.5), ("mat", -0.25)]


def test_a_piece_in_several_spans_has_the_sum_of_their_contributions():
    spans = ([0, 4, 0], [3, 7, 7], [1, 2, 9])  # two words, and the pair of them
    cut = highlight.pieces("big cat", spans, {1: 1.0, 2: -0.5, 9: 0.25})
    assert cut == [("big", 1.25), (" ", 0.25), ("cat", -0.25)]
    assert highlight.pieces("big cat", spans, {1: 0.1, 9: -0.1, 2: 0.3})[0] == ("big", 0.0)


def test_words_of_a_feature_are_counted_and_the_largest_contribution_comes_first():
    found = highlight.words(TEXT, SPANS, GIVEN)
    assert found["word"].tolist() == ["cat", "mat", "sat"]
    assert found["times"].tolist() == [2, 1, 1]
    assert found["contribution"].tolist() == [0.5, -0.25, 0.0]


def test_words_that_share_a_feature_are_all_named():
    spans = ([0, 2, 4, 6], [1, 3, 5, 7], [0, 0, 0, 0])
    assert highlight.words("a b c d", spans, {0: 1.0})["word"].tolist() == ["a / b / c and 1 more"]


def test_all_texts_are_escaped_and_nothing_is_lost():
    made = highlight.page(TEXT, SPANS, GIVEN, "<i>animal</i>", "log P & more")
    text = made.split('tabindex="0">', 1)[1].split("</div>", 1)[0]
    assert re.sub("<[^>]+>", "", text) == TEXT.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert "<b>" not in made and "<i>" not in made and "&lt;i&gt;animal&lt;/i&gt;" in made
    assert 'aria-label="Text, with words for and against &lt;i&gt;animal' in made


def test_two_texts_of_a_page_have_different_names_for_screen_readers():
    regions = [
        re.findall('role="region" aria-label="([^"]+)"', highlight.page(TEXT, SPANS, GIVEN, "animal", "log P", what))
        for what in ("Text", "Changed text")
    ]
    assert regions[0][0] == "Text, with words for and against animal" and len({*regions[0], *regions[1]}) == 4


def test_characters_that_turn_the_direction_of_a_text_are_replaced():
    made = highlight.page("cat\u202e sat", ([0], [3], [CAT]), GIVEN, "animal", "log P")
    assert "\u202e" not in made and "� sat" in made


def test_colours_say_for_and_against_and_how_much():
    made = highlight.page(TEXT, SPANS, GIVEN, "animal", "log P")
    marks = re.findall(r'<mark class="hl-(\w+) hl-(\d)" title="([^"]+)">(\w+)</mark>', made)
    assert marks == [
        ("for", "5", "+0.50 to log P", "cat"),
        ("for", "5", "+0.50 to log P", "CAT"),
        ("against", "3", "−0.25 to log P", "mat"),
    ]
    assert "raises the score of <strong>animal</strong>" in made and "<strong>cat</strong> with +0.50 to log P" in made
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", made)
    assert rows == [("cat", "2", "+0.50"), ("mat", "1", "−0.25"), ("sat", "1", "0")]


@pytest.mark.parametrize("text", ["", "nothing known"])
def test_a_text_without_known_words_is_shown_without_marks(text):
    made = highlight.page(text, ([], [], []), {}, "animal", "log P")
    assert f'tabindex="0">{text}</div>' in made and "<mark" not in made.split("</style>")[1].split("hl-legend")[0]
    assert "The 0 known words as a table" in made


@pytest.mark.parametrize(("paper", "ink"), [((255, 255, 255), (11, 17, 22)), ((20, 24, 28), (230, 234, 237))])
def test_marked_words_can_be_read_in_light_and_dark(paper, ink):
    rules = re.findall(r"background: rgba\((\d+), (\d+), (\d+), ([\d.]+)\)", highlight.STYLE)
    assert len(rules) == 2 * highlight.LEVELS
    for *color, alpha in rules:
        mixed = [float(alpha) * int(c) + (1 - float(alpha)) * p for c, p in zip(color, paper)]
        assert contrast(mixed, ink) >= 7
