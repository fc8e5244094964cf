r"""Regular expressions that search without end: found by their form, before they are used.

Python's ``re`` tries all ways in which a part of a text can match. A repeated part that can match the same characters
in several ways, such as ``(\w+)*``, has more ways with each further character, twice as many or worse, and nothing can
stop the search. So the characters that may follow each other in a repetition must leave one way only. Outside of a
repetition, each place where the next character is not clear multiplies the ways, as in ``\w?\w?\w?``: few may be so.
"""

import functools
import re
import sys
from collections.abc import Iterator
from re import _constants as codes
from re import _parser as parser  # the parser of re itself; it has been at this place since Python 3.11

CHARACTERS = 0x600  # code points below this one are all looked at; above, one of each kind between two that are named
_KINDS = tuple(map(re.compile, (r"\d", r"[^\W\d]", r"\s", r"[^\w\s]")))  # each character is of one of these
CHOICES = 3  # places outside of repetitions, at most, where several parts of the pattern may match what comes next
LONG = 2  # how often such a place counts at which a repetition may end, as each of its characters can be the last one
SHORT = 10  # parts of a quick pattern, and least rounds of its repetition, at most: each may be tried at each character
_SINGLE = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN, codes.CATEGORY)
_ASSERTIONS = (codes.ASSERT, codes.ASSERT_NOT)
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}


@functools.lru_cache(maxsize=100)
def runs_away(pattern: str) -> bool:
    """Return whether a regular expression can match the same text in very many ways.

    It can if a repeated part can match in several ways, or if there are many choices between parts.
    """
    items = parser.parse(pattern)
    found = _Pattern(pattern, items)
    found.part(items, repeated=False)
    return found.ambiguous


def is_quick(pattern: str) -> bool:
    """Return whether the time of a search is in proportion to the text: only the end of the pattern repeats anything.

    That is a single character, which is repeated to where it does not match any more; nothing follows that may fail.
    """
    items = parser.parse(pattern)
    before = [code for code, _ in items[:-1]]
    if not items or len(items) > SHORT or not set(before) <= {*_SINGLE, codes.AT}:
        return False
    code, argument = items[-1]
    if code in _REPEATS:
        return argument[0] <= SHORT and len(argument[2]) == 1 and argument[2][0][0] in _SINGLE
    return code in _SINGLE


class _Pattern:
    """The single characters of a pattern, by number, and which of them may follow each other.

    Attributes
    ----------
    ambiguous : bool
        Whether a repetition that was looked at can match in several ways, or there were more choices than
        :data:`CHOICES`.
    """

    def __init__(self, pattern, items):
        self._all = frozenset(range(CHARACTERS)) | _examples(items)
        self._ignore_case = bool(re.compile(pattern).flags & re.IGNORECASE) or "i" in "".join(
            re.findall(r"\(\?([a-zA-Z]+)", pattern)
        )
        self._next = []  # by number of a single character in the pattern: the numbers of those that may follow
        self._sets = []  # by number of a single character in the pattern: what it matches
        self._after = []  # by number of a single character in the pattern: what those that may follow match
        self._choices = 0
        self._counted = set()  # numbers of single characters after which there is a choice that has been counted
        self.ambiguous = False

    def part(self, items, repeated):
        """Look at items one after the other; return whether they can be empty, and their first and last characters.

        ``repeated``: whether they are within a repetition, where what may follow what has to be clear.
        """
        empty, first, last = True, [], []
        for item in items:
            if self.ambiguous:
                break
            may_be_empty, begins, ends = self._item(*item, repeated)
            self._follow(last, begins, repeated)
            first += begins if empty else []
            last = [*last, *ends] if may_be_empty else ends
            empty = empty and may_be_empty
        return empty, first, last

    def _item(self, code, argument, repeated):
        """Look at one item; return what :meth:`part` does."""
        if code in _REPEATS:
            least, most, inner = argument
            many = most is codes.MAXREPEAT or most > 1
            empty, first, last = self.part(inner, repeated or many)
            if empty:  # whether it was left out or empty can be chosen, and in which of the rounds
                self._unclear(many or repeated)
            elif many and least != most:
                self._follow(last, first, True)
            elif many:  # how often is clear, but not where each round ends, as in (?:a+){3}
                self.ambiguous = self.ambiguous or any(self._overlap(self._next[one] + first) for one in last)
            return empty or least == 0, first, last
        if code is codes.SUBPATTERN:
            return self.part(argument[-1], repeated)
        if code is codes.BRANCH:
            empty, first, last = zip(*(self.part(one, repeated) for one in argument[1]))
            if sum(empty) > 1 or self._overlap(sum(first, [])):
                self._unclear(repeated)
            return any(empty), sum(first, []), sum(last, [])
        if code in (codes.ATOMIC_GROUP, codes.POSSESSIVE_REPEAT):  # matches in one way; what is in it may not
            inner = argument if code is codes.ATOMIC_GROUP else argument[2]
            empty, first, _ = self.part(inner, False)
            number = self._number(frozenset().union(*(self._sets[one] for one in first)))
            return empty or (code is codes.POSSESSIVE_REPEAT and argument[0] == 0), [number], [number]
        if code is codes.GROUPREF_EXISTS:  # one part if a group has matched, another one if not
            both = argument[1], argument[2] or []
            empty, first, last = zip(*(self.part(one, repeated) for one in both))
            return any(empty), sum(first, []), sum(last, [])
        if code in _ASSERTIONS:
            self.part(argument[1], False)
            return True, [], []
        if code is codes.AT:
            return True, [], []
        number = self._number(self._characters(code, argument))
        return False, [number], [number]

    def _number(self, characters) -> int:
        """Add a single character of the pattern; return its number."""
        self._sets.append(characters)
        self._next.append([])
        self._after.append(set())
        return len(self._sets) - 1

    def _follow(self, last, first, repeated) -> None:
        """Note that each of some characters may be followed by each of others, and whether that is clear."""
        for one in last if first else ():
            self._next[one] += first
            for number in () if self.ambiguous or one in self._counted else first:
                if not self._after[one].isdisjoint(self._sets[number]):
                    self._counted.add(one)
                    self._unclear(repeated, LONG if self._comes_again(one) else 1)
                    break
                self._after[one] |= self._sets[number]

    def _comes_again(self, number) -> bool:
        """Return whether a character of the pattern can follow itself."""
        seen, left = set(), [number]
        while left:
            new = set(self._next[left.pop()]) - seen
            seen |= new
            left += new
        return number in seen

    def _overlap(self, numbers) -> bool:
        """Return whether two of some characters of the pattern can match the same."""
        seen = set()
        for number in numbers:
            if not seen.isdisjoint(self._sets[number]):
                return True
            seen |= self._sets[number]
        return False

    def _unclear(self, repeated, choices=1) -> None:
        """Note a choice between parts of the pattern."""
        self._choices += 0 if repeated else choices
        self.ambiguous = self.ambiguous or repeated or self._choices > CHOICES

    def _characters(self, code, argument) -> frozenset:
        """Return what an item that matches one character matches; a reference to a group may match anything."""
        if code is codes.LITERAL:
            found = {argument}
        elif code is codes.NOT_LITERAL:
            return self._all - {argument}
        elif code is codes.RANGE:
            found = {one for one in self._all if argument[0] <= one <= argument[1]}
        elif code is codes.CATEGORY:
            return frozenset(filter(_of_category(_CATEGORIES[argument]), self._all))
        elif code is codes.IN:
            negative = argument[0][0] is codes.NEGATE
            found = frozenset().union(*(self._characters(*one) for one in argument[negative:]))
            return self._all - found if negative else found
        else:
            return self._all
        if self._ignore_case:
            found = {
                ord(case) for one in found for case in {chr(one), chr(one).lower(), chr(one).upper()} if len(case) == 1
            }
        return frozenset(found)


def _examples(items) -> set:
    """Return code points above the first ones that stand for all others there.

    Between two code points at which a set of the pattern begins or ends, characters of one kind are alike.
    """
    ends = {end for end in _ends(items) if end >= CHARACTERS}
    if not ends:  # each kind has characters below, and they are in the same sets
        return set()
    ends = sorted({CHARACTERS, *ends, sys.maxunicode + 1})
    found = set()
    for start, end in zip(ends, ends[1:]):
        between = "".join(map(chr, range(start, end)))
        found |= {start + one.start() for one in (kind.search(between) for kind in _KINDS) if one}
    return found


def _ends(part) -> Iterator[int]:
    """Yield the code points at which characters that a parsed pattern names begin, and those behind them."""
    if isinstance(part, tuple) and len(part) == 2 and part[0] in (codes.LITERAL, codes.NOT_LITERAL):
        yield from (part[1], part[1] + 1)
    elif isinstance(part, tuple) and len(part) == 2 and part[0] is codes.RANGE:
        yield from (part[1][0], part[1][1] + 1)
    elif isinstance(part, (tuple, list, parser.SubPattern)):
        for one in part:
            yield from _ends(one)


@functools.cache
def _of_category(category):
    """Return a function that says whether a character, given by its code point, is of a category of ``re``."""
    matches = re.compile(category).match
    return lambda one: matches(chr(one)) is not None
