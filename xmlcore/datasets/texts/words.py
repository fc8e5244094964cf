"""Split texts into words: lower case, accents, and the pattern of a word; and where each word stands in its text."""

import math
import re
import time
import unicodedata
from collections.abc import Iterable, Iterator

import numpy as np

WORD = r"(?u)\b\w\w+\b"  # two or more letters, digits or underscores, as scikit-learn's TfidfVectorizer
LONGEST = 1000  # characters of a pattern, at most: compiling a longer one takes long, too
PIECE = 1 << 12  # characters, at least, between two moments at which other threads may run
MOST_REPEATS = 10_000  # product of the counts in a pattern, at most: regex writes them out when it compiles one
SECONDS = 5.0  # that a search may take in a server, while somebody waits for it
# The packages re and regex differ here: in regex, {e<=1} allows errors, and [[:alpha:]] is a class.
_READ_DIFFERENTLY = re.compile(r"(?<!\\)(?:\\\\)*(?:(?<!\\N)\{[^}a-z]*+[a-z][^}]*+\}|\[\^?\[:)")
# Lower case and accents depend on neighbours, but never across a space; words end at each character that is in none.
_SPACE = re.compile(r"\s", re.ASCII)  # accents "ascii" leave other spaces out
# The first and the last character of scripts without blanks between words: Thai, Lao, Tibetan, Burmese, Khmer, those of
# Tai languages and Javanese, kana and Chinese characters (in Unicode's first blocks without the Hangul among them).
_UNSPACED = ((0xE00, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19FF), (0x1A20, 0x1AAF), (0x3000, 0x312F), (0x3190, 0x9FFF),
             (0xA980, 0xA9FF), (0xAA60, 0xAADF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x1B000, 0x1B16F),
             (0x20000, 0x3FFFF))  # fmt: skip
_THEIRS = "".join(f"{chr(first)}-{chr(last)}" for first, last in _UNSPACED)
_MARKS = "".join(  # vowels and tones that combine with the letter before them
    chr(i)
    for first, last in _UNSPACED
    for i in range(first, min(last, 0x312F) + 1)
    if unicodedata.category(chr(i))[0] == "M"
)
_NO_WORD, _OF_THEM = re.compile(rf"[^\w{_MARKS}]"), re.compile(rf"[{_THEIRS}]+")
_APART, _HANGUL = re.compile(rf"([{_THEIRS}]) (?=[{_THEIRS}])"), re.compile("[\uac00-\ud7a3]")
# A text with blanks between words of fewer letters on average was cut into words by a program: those of Thai and its
# like, which come before kana and Chinese characters in Unicode, are longer.
_A_WORD, _A_WORD_OF_THAI, _FIRST_OF_KANA = 4, 8, "\u3000"
_A_LETTER = 1.25  # letters between two blanks on average, at most, where there is a blank after nearly each letter
_LETTER = rf"(?=\w)[{_THEIRS}][{_MARKS}]*"
_ONE_LETTER = re.compile(_LETTER)
# Words as above, and of letters without blanks between them each one and each pair of neighbours, before its first
# letter; each of the three has a group of its own.
LETTERS = rf"([^\W{_THEIRS}]{{2,}})|(?=({_LETTER}{_LETTER}))|({_LETTER})"
LACKING = 0.05  # share of all characters that such letters without blanks need for texts to be said to lack blanks
_limit = None  # seconds that a search for a user's pattern may take in this process; None: any time


def limit_search(seconds: float | None) -> None:
    """Set how long a search for a pattern of a user may take in this process; workers that can be ended have none."""
    global _limit
    _limit = seconds


def lack_blanks(texts: list[str]) -> bool:
    """Return whether blanks show no words: not in texts cut into words before, nor in Korean with Hanja."""
    lacking = 0
    for text in texts:
        runs = [] if text.isascii() else _OF_THEM.findall(text := " ".join(text.split()))
        letters = len(_ONE_LETTER.findall(text)) if runs else 0  # without their marks
        if letters > len(_HANGUL.findall(text)):
            apart = (_A_WORD if last >= _FIRST_OF_KANA else _A_WORD_OF_THAI for last in _APART.findall(text))
            if letters > sum(apart) or letters <= _A_LETTER * len(runs):
                lacking += sum(map(len, runs))
    return lacking > LACKING * sum(map(len, texts))


class WordFinder:
    """Finds the words of texts; the group of ``pattern`` is the word if it has one."""

    def __init__(self, pattern: str, lowercase: bool = True, strip_accents: str | None = None):
        self._pattern = _compiled(pattern)
        self._lowercase, self._strip = lowercase, strip_accents

    def words(self, texts: Iterable[str]) -> Iterator[list[str]]:
        if isinstance(self._pattern, re.Pattern):
            return map(self._in_pieces, texts)
        return self._search(self._pattern.findall, map(self._prepared, texts))

    def _in_pieces(self, text) -> list[str]:
        """Return the words of a text, which is prepared and searched in pieces: ``re`` lets no other thread run."""
        words = []
        for part in _pieces(text, _SPACE):
            for piece in _pieces(self._prepared(part), _NO_WORD):
                found = self._pattern.findall(piece)
                words += map("".join, found) if self._pattern.groups > 1 else found
        return words

    def places(self, text: str, cut=None) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Return the words of a text, or the parts that ``cut`` names of each, and where they begin and end."""
        prepared = self._prepared(text)
        searched = map if isinstance(self._pattern, re.Pattern) else self._search
        (spans,) = searched(self._spans, [prepared])
        words = [prepared[start:end] for start, end in spans]
        if cut is not None:
            parts = [(name, start + a, start + b) for word, (start, _) in zip(words, spans) for name, a, b in cut(word)]
            words, spans = [name for name, _, _ in parts], [part[1:] for part in parts]
        starts, ends = (np.array([span[i] for span in spans], np.int64) for i in (0, 1))
        if self._lowercase or self._strip is not None:
            origin = self._origin(text)
            if origin is not None:
                last = origin[np.maximum(ends - 1, starts)]
                starts, ends = origin[starts], np.where(ends > starts, _after(text, last), origin[starts])
        return words, starts, ends

    def _spans(self, text, **options) -> list[tuple[int, int]]:
        """Return where each match starts and ends: its group, if the pattern has one."""
        found = self._pattern.finditer(text, **options)
        groups = self._pattern.groups
        return [match.span(match.lastindex if groups > 1 else groups) for match in found]

    def _search(self, find, texts):
        """Yield what ``find`` returns for each text; a user's pattern has one limit of time for all; threads run on."""
        start, pattern = time.monotonic(), self._pattern.pattern
        try:
            for text in texts:
                left = None if _limit is None else max(_limit + start - time.monotonic(), 1e-3)
                yield find(text, timeout=left, concurrent=True)
        except TimeoutError:
            raise ValueError(
                f"the pattern {pattern!r:.200} takes more than {_limit:g} seconds on these texts: write it so that "
                r"each part can end in one place only, such as \w+ instead of \w+\w+"
            ) from None
        except MemoryError:
            raise ValueError(f"the pattern {pattern!r:.200} needs too much memory: search shorter texts") from None

    def _prepared(self, text) -> str:
        if self._lowercase:
            text = text.lower()
        if self._strip is None or text.isascii():
            return text
        return _STRIP[self._strip](unicodedata.normalize("NFKD", text))

    def _origin(self, text) -> np.ndarray | None:
        """Return from which character of a text each one of the prepared text comes; None if all stay in place."""
        # Both steps change one character at a time, to none, one or several: only the place of a small sigma depends on
        # its neighbours, and not the number of characters.
        if text.isascii():
            return None
        sizes = [len(self._prepared(character)) for character in text]
        return np.append(np.repeat(np.arange(len(text)), sizes), len(text))


def _pieces(text, end) -> Iterator[str]:
    """Cut a text before characters that ``end`` finds, into pieces that are short where there are many of these."""
    start = 0
    while len(text) - start > PIECE:
        at = start + PIECE
        while at < len(text) and (found := end.search(text, at, at + PIECE)) is None:
            at += PIECE
        cut = found.start() if at < len(text) else len(text)
        yield text[start:cut]
        start = cut
    yield text[start:]


def _compiled(pattern):
    """Return a compiled pattern: of ``re``, which is a little quicker, if it is one of ours, and else of ``regex``."""
    if pattern in (WORD, LETTERS):
        return re.compile(pattern)
    import regex

    if len(pattern) > LONGEST:
        raise ValueError(f"the pattern has {len(pattern):,} characters: it can have {LONGEST:,} at most")
    try:
        if different := _READ_DIFFERENTLY.search(pattern):
            raise re.error(rf"write \{{ and \[ for the brackets in {different[0]!r:.200}")
        re.compile(pattern)  # not one that only regex understands
        if math.prod(max(int(count), 1) for count in re.findall(r"\{(\d+)", pattern)) > MOST_REPEATS:
            raise re.error(f"its counts ask for more than {MOST_REPEATS:,} characters")
        compiled = regex.compile(pattern, regex.VERSION0)
    except (re.error, regex.error, OverflowError, RecursionError) as error:
        raise ValueError(f"the pattern {pattern!r:.200} is no regular expression: {error}") from error
    if compiled.groups > 1:
        raise ValueError(
            f"the pattern {pattern!r:.200} has {compiled.groups} groups: use one for the word, and (?:...) for others"
        )
    return compiled


def _after(text, last) -> np.ndarray:
    """Return the ends of words whose last characters are known: behind the accents that follow them."""
    ends = last + 1
    for i, end in enumerate(ends):
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        ends[i] = end
    return ends


_STRIP = {  # of the compatibility decomposition: no marks that are combined with letters, or nothing but ASCII
    "unicode": lambda decomposed: "".join(c for c in decomposed if not unicodedata.combining(c)),
    "ascii": lambda decomposed: decomposed.encode("ascii", "ignore").decode("ascii"),
}
