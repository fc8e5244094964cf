"""No regular expression of the project takes more than linear time on hostile texts."""

import ast
import importlib
import itertools
import re
import time
from pathlib import Path

import pytest

from xmlcore.datasets.texts import words

ROOT = Path(__file__).parent.parent
FEW, MANY, QUICK = 500, 8_000, 0.02  # repetitions; seconds of the processor in which a linear pattern is through
WAYS = {"match", "fullmatch", "search", "sub", "split", "findall", "finditer"}
PUNCTUATION = "\n,;:|/\\'\"{}[]()<>=+-_#%@~"


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


def hostile(pattern):
    """Yield beginnings and pieces that are repeated, of what patterns of the project read and of the pattern itself."""
    pattern = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    letters = dict.fromkeys([*"0a \t.", *(letter for letter in PUNCTUATION if letter in pattern)])
    return itertools.product(["", "0", " 0", "<"], [*letters, *(a + b for a in "0a " for b in letters if a != b)])


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
    for (start, piece), end in itertools.product(hostile(pattern), ("\0!", " ! !")):
        few, many = (start + piece * count + end for count in (FEW, most))
        if isinstance(pattern, bytes):
            few, many = few.encode("latin-1"), many.encode("latin-1")
        if (short := seconds(compiled, anywhere, few)) > QUICK or seconds(compiled, anywhere, many) > QUICK:
            long = seconds(compiled, anywhere, many) if short < 1 else float("inf")
            assert long < 60 * max(short, 1e-5), f"{pattern!r} of {name} is slow on {start!r} and many {piece!r}"
