"""Split texts into words: lower case, accents, and the pattern of a word; and where each word stands in its text."""

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator
from itertools import repeat

import numpy as np

from xmlcore.datasets.texts import apart
from xmlcore.datasets.texts.patterns import is_quick, runs_away

WORD = r"(?u)\b\w\w+\b"  # two or more letters, digits or underscores, as scikit-learn's TfidfVectorizer
LONGEST = 1000  # characters of a pattern, at most: compiling a longer one takes long, too
IGNORED = -2  # code of a word that is left out before n-grams are formed: a stop word
UNKNOWN = -1  # code of a word that no feature has


class WordFinder:
    """Finds the words of texts.

    Parameters
    ----------
    pattern : str
        Regular expression of a word; its group is the word if it has one.
    lowercase : bool
        Whether texts are brought into lower case first.
    strip_accents : {None, "unicode", "ascii"}
        Whether accents are removed then, or all that is not ASCII.
    """

    def __init__(self, pattern: str, lowercase: bool = True, strip_accents: str | None = None):
        if len(pattern) > LONGEST:
            raise ValueError(f"pattern has {len(pattern):,} characters: it can have {LONGEST:,} at most")
        try:
            self._pattern = re.compile(pattern)
        except re.error as error:
            raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from error
        if self._pattern.groups > 1:
            raise ValueError(
                f"pattern {pattern!r} has {self._pattern.groups} groups: use one for the word, and (?:...) for others"
            )
        if runs_away(pattern):
            raise ValueError(
                f"pattern {pattern!r} could search without end: write its parts so that they match a text in "
                r"one way only, such as \w+(?:-\w+)* instead of (?:\w+-?)*"
            )
        self._quick = pattern == WORD or is_quick(pattern)
        self._lowercase, self._strip = lowercase, _STRIP[strip_accents]

    def words(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Yield the words of each text, in their order."""
        if self._quick or not apart.is_limited():
            yield from (self._pattern.findall(self._prepared(text)) for text in texts)
            return
        texts = [self._prepared(text) for text in texts]
        for text, spans in zip(texts, apart.spans(self._pattern.pattern, texts)):
            yield [text[start:end] for start, end in spans]

    def places(self, text: str) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Return the words of a text, and where each starts and ends in it, in characters."""
        prepared = self._prepared(text)
        if self._quick or not apart.is_limited():
            spans = [match.span(self._pattern.groups) for match in self._pattern.finditer(prepared)]
        else:
            (spans,) = apart.spans(self._pattern.pattern, [prepared])
        words = [prepared[start:end] for start, end in spans]
        starts, ends = (np.array([span[i] for span in spans], np.int64) for i in (0, 1))
        if self._lowercase or self._strip is not None:
            origin = self._origin(text)
            if origin is not None:
                last = origin[np.maximum(ends - 1, starts)]
                starts, ends = origin[starts], np.where(ends > starts, _after(text, last), origin[starts])
        return words, starts, ends

    def _prepared(self, text) -> str:
        """Return a text in lower case and without accents, as the settings say."""
        if self._lowercase:
            text = text.lower()
        return text if self._strip is None else self._strip(text)

    def _origin(self, text) -> np.ndarray | None:
        """Return from which character of a text each character of the prepared text comes; None if all stay in place.

        Both steps change one character at a time, to none, one or several: only the place of a small sigma depends on
        its neighbours, and not the number of characters.
        """
        if text.isascii():
            return None
        sizes = [len(self._prepared(character)) for character in text]
        return np.append(np.repeat(np.arange(len(text)), sizes), len(text))


def _after(text, last) -> np.ndarray:
    """Return the ends of words whose last characters are known: behind the accents that follow them."""
    ends = last + 1
    for i, end in enumerate(ends):
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        ends[i] = end
    return ends


def _without_accents(text) -> str:
    """Return a text in the compatibility decomposition, without the marks that it combines with letters."""
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _as_ascii(text) -> str:
    """Return a text in the compatibility decomposition, without all that is not ASCII."""
    return text if text.isascii() else unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


_STRIP = {None: None, "unicode": _without_accents, "ascii": _as_ascii}


class Coder:
    """Numbers words: each new word gets the next number.

    Parameters
    ----------
    finder : WordFinder
    ignored : iterable of str
        Words that are left out.

    Attributes
    ----------
    words : list of str
        The words by their numbers.
    """

    def __init__(self, finder: WordFinder, ignored=()):
        self._finder = finder
        self._numbers = _Numbers((word, i) for i, word in enumerate(dict.fromkeys(ignored)))
        self._n_ignored = len(self._numbers)

    @property
    def words(self) -> list[str]:
        """The words by their numbers."""
        return list(self._numbers)[self._n_ignored :]

    def codes(self, texts) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the words of all texts, one text after the other, and the end of each text."""
        codes, ends = _read(texts, self._finder, lambda words: map(self._numbers.__getitem__, words))
        return without(codes, ends, codes < self._n_ignored, shift=self._n_ignored)


class _Numbers(dict):
    """A dict that gives a missing word the next number."""

    def __missing__(self, word):
        number = self[word] = len(self)
        return number


def known_codes(texts, finder: WordFinder, numbers: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return what :meth:`Coder.codes` does, for known words."""
    codes, ends = _read(texts, finder, lambda words: map(numbers.get, words, repeat(UNKNOWN)))
    return without(codes, ends, codes == IGNORED)


def _read(texts, finder, numbered):
    """Return the numbers of the words of all texts, and the end of each text."""
    codes, ends = array("i"), array("q")
    for words in finder.words(texts):
        codes.extend(numbered(words))
        ends.append(len(codes))
    return np.array(codes, np.int32), np.array(ends, np.int64)


def without(codes, ends, gone, shift: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return codes without those that are ``gone``, lowered by ``shift``, and the ends of the texts among them."""
    if not gone.any():
        return codes - np.int32(shift) if shift else codes, ends
    kept = np.append(0, np.cumsum(~gone))
    return codes[~gone] - np.int32(shift), kept[ends]
