"""What words are cut into: stems, by their language, and letters."""

import functools
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from xmlcore.extras import is_there, require

WORDS, STEMS, LETTERS = "words", "stems", "letters"
SHORTEST, LONGEST = 3, 5  # letters of a part of a word
EDGE, MORE = "_", "…"  # before the first and behind the last letter of a word, and where it goes on
LOOKED_AT = 2000  # texts by whose words a language is guessed
LEAST = 0.05  # share of words that the frequent words of a language must have
# The languages whose stems are tried, with frequent words that few of the others have.
FREQUENT = {
    "danish": "og det er på af til den med ikke der",
    "dutch": "de het een van en dat niet met voor zijn",
    "english": "the of and to in is for with how that",
    "finnish": "ja on ei se että oli mutta ovat kun sekä",
    "french": "le la les des et du une dans pour est",
    "german": "der die und das von den mit ist für nicht",
    "hungarian": "az és hogy nem egy is volt meg csak de",
    "italian": "il di che la per una della non sono con",
    "norwegian": "og det er på av til den med ikke som",
    "portuguese": "de que do da em para uma os não com",
    "romanian": "și de în la cu pe care din este pentru",
    "russian": "и в не на что по как это из для",
    "spanish": "el de la que los en las por una con",
    "swedish": "och det är på av till den med inte som",
    "turkish": "ve bir bu için ile da de çok olarak daha",
}


def guess_language(lists) -> str | None:
    """Return the language of texts, whose words are given; None if it is unknown, or no stemmer is installed."""
    counts = Counter(word for words in lists for word in words)
    often = {name: sum(counts[word] for word in words.split()) for name, words in FREQUENT.items()}
    first, second = sorted(often, key=often.get, reverse=True)[:2]
    sure = often[first] > max(LEAST * counts.total(), often[second])
    return first if sure and is_there("stems") else None


@functools.cache
def stemmer(language: str) -> Callable[[str], str]:
    """Return a function that gives the stem of a word, and remembers it."""
    require("stems", "snowballstemmer")
    import snowballstemmer

    return functools.lru_cache(maxsize=1 << 20)(snowballstemmer.stemmer(language).stemWord)


def letters_of(word: str) -> list[tuple[str, int, int]]:
    """Return the name of each three to five letters in a row, and where they stand in the word."""
    edged, last = EDGE + word + EDGE, len(word)
    longest = min(LONGEST, last + 2)
    return [
        (MORE * (at > 0) + edged[at : at + n] + MORE * (at + n < last + 2), max(at - 1, 0), min(at + n - 1, last))
        for n in range(min(SHORTEST, longest), longest + 1)
        for at in range(last + 3 - n)
    ]


class Cut(NamedTuple):
    """How words become the terms of a block of features."""

    unit: str = WORDS
    ngrams: tuple[int, int] = (1, 1)
    language: str | None = None

    def terms(self, words: list[str]) -> list[str]:
        """Return letters, or n-grams with blanks between their words, the shorter ones first."""
        if self.unit == LETTERS:
            return [name for word in words for name, _, _ in letters_of(word)]
        words = [*map(stemmer(self.language), words)] if self.unit == STEMS else words
        if tuple(self.ngrams) == (1, 1):
            return words
        lengths = range(self.ngrams[0], self.ngrams[1] + 1)
        return [" ".join(words[at : at + n]) for n in lengths for at in range(len(words) - n + 1)]


def cuts_of(settings: dict) -> list[Cut]:
    """Return how each block of features is cut, by the settings of a vectoriser."""
    blocks = settings["features"].split("+")
    return [Cut(unit, *([settings["ngrams"], settings["language"]] if unit != LETTERS else [])) for unit in blocks]
