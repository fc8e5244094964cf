"""No regular expression of the project takes more than linear time on hostile texts."""

import ast
import importlib
import itertools
import re
import string
import time
from pathlib import Path

import pytest

from xmlcore.datasets.texts import words

ROOT = Path(__file__).parent.parent
FEW, MANY, QUICK = 500, 8_000, 0.02  # repetitions; seconds of the processor in which a linear pattern is through
WAYS = {"match", "fullmatch", "search", "sub", "split", "findall", "finditer"}
REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}


def patterns():
    """Return how each pattern of each file is used: (file, pattern, flags, whether it is sought at every place)."""
    found = set()
    for path in sorted([*(ROOT / "xmlcore").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]):
        name, source = path.relative_to(ROOT), path.read_text()
        if not re.search(r"\bre\.|\bregex\.", source):
            continue
        for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args):
            if getattr(call.func, "attr", None) in WAYS and ast.unparse(call.func.value) == "re":
                if isinstance(call.args[0], ast.Constant):
                    found.add((name, call.args[0].value, re.I if "re.I" in ast.unparse(call) else 0, sought(call.func)))
        module = importlib.import_module(".".join(name.with_suffix("").parts).removesuffix(".__init__"))
        for variable, value in vars(module).items():
            for pattern in value.values() if isinstance(value, dict) else [value]:
                if isinstance(pattern, re.Pattern):
                    anywhere = bool(re.search(rf"\b{variable}\.(?!match|fullmatch)", source)) or pattern is not value
                    found.add((name, pattern.pattern, pattern.flags & ~re.UNICODE, anywhere))
    return sorted(found, key=str)


def sought(function):
    return function.attr not in ("match", "fullmatch")


def hostile(pattern, flags):
    """Yield beginnings and pieces: a text may begin as a match does, and repeat what may be repeated then."""
    parsed = re._parser.parse(pattern, flags)
    letters = sorted(set(shortest(parsed)) | {text for _, body in repeats(parsed, "") for text in body} | {" "})
    for start in dict.fromkeys(start for start, _ in repeats(parsed, "")):
        for piece in [*letters, *(a + b for a in letters for b in letters if a != b)]:
            yield start, piece


def repeats(items, start):
    """Yield the beginning before each part that may be repeated, and a shortest text of that part."""
    for item in items:
        kind, value = str(item[0]), item[1]
        for part in parts(kind, value):
            if kind in REPEATS:
                yield start, shortest(part) or "a"
            yield from repeats(part, start)
        start += shortest([item])


def parts(kind, value):
    if kind == "BRANCH":
        return value[1]
    if kind in REPEATS | {"SUBPATTERN"}:
        return [value[-1]]
    return [value] if kind == "ATOMIC_GROUP" else []


def shortest(items):
    text = ""
    for kind, value in ((str(kind), value) for kind, value in items):
        if kind == "LITERAL":
            text += chr(value)
        elif kind in ("NOT_LITERAL", "ANY"):
            text += "a" if value != ord("a") else "b"
        elif kind == "IN":
            text += next((c for c in string.printable + "\0" if re.match(as_set(value), c)), "")
        elif kind in REPEATS:
            text += max(value[0], 1) * shortest(value[2])
        elif inner := parts(kind, value):
            text += shortest(inner[0])
    return text


def as_set(items):
    """Return a set of characters of a parsed pattern as the text of a pattern."""
    text = ""
    names = {"DIGIT": r"\d", "NOT_DIGIT": r"\D", "SPACE": r"\s", "NOT_SPACE": r"\S", "WORD": r"\w", "NOT_WORD": r"\W"}
    for kind, value in ((str(kind), value) for kind, value in items):
        if kind == "NEGATE":
            text += "^"
        elif kind == "LITERAL":
            text += re.escape(chr(value))
        elif kind == "RANGE":
            text += re.escape(chr(value[0])) + "-" + re.escape(chr(value[1]))
        else:
            text += names[str(value).removeprefix("CATEGORY_")]
    return f"[{text}]"


def seconds(pattern, anywhere, text):
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        for _ in pattern.finditer(text) if anywhere else [pattern.fullmatch(text)]:
            pass
        best = min(best, time.process_time() - began)
        if best < QUICK:
            break
    return best


@pytest.mark.parametrize(("name", "pattern", "flags", "anywhere"), patterns(), ids=str)
def test_a_pattern_takes_linear_time_on_hostile_texts(name, pattern, flags, anywhere):
    compiled, most = re.compile(pattern, flags), MANY
    if name == Path("xmlcore/datasets/texts/words.py"):
        most = words.LONGEST  # what it searches is no longer
    for (start, piece), end in itertools.product(hostile(pattern, flags), ("\0!", " ! !")):
        few, many = (start + piece * count + end for count in (FEW, most))
        if isinstance(pattern, bytes):
            few, many = few.encode("latin-1"), many.encode("latin-1")
        if (short := seconds(compiled, anywhere, few)) > QUICK or seconds(compiled, anywhere, many) > QUICK:
            long = seconds(compiled, anywhere, many) if short < 1 else float("inf")
            assert long < 60 * max(short, 1e-5), f"{pattern!r} of {name} is slow on {start!r} and many {piece!r}"
