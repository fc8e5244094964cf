"""No regular expression of the project takes more than linear time on hostile texts."""

import ast
import functools
import importlib
import itertools
import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from xmlcore.datasets.texts import words
from xmlcore.experiment import MODELS
from xmlcore.experiment.sharing import bundles
from xmlcore.models import packed

ROOT = Path(__file__).parent.parent
FEW, MANY, QUICK = 125, 2_000, 0.004  # repetitions; seconds of the processor in which a linear pattern is through
ANCHORED = {"match", "fullmatch"}
WAYS = {"compile", "search", "sub", "subn", "split", "findall", "finditer", *ANCHORED}
OF_PANDAS = {"contains", "count", "extract", "extractall", "findall", "replace", "split", "rsplit", *ANCHORED}
PUNCTUATION = "\n,;:|/\\'\"{}[]()<>=+-_#%@~"
# Values of what is local to a function, or an argument, where a pattern is made of it.
LOCAL = {
    "pages/features/words.py": lambda module: [{"noun": "feature"}],
    "pages/shared/figures/charts.py": lambda module: [{"drawn": "12 of 1,000 labels"}],
    "pages/shared/figures/figure_files.py": lambda module: [{"mark": mark} for mark in (r"\*\*", r"\*", "`")],
    "pages/shared/settings.py": lambda module: [{"p": MODELS["PLT"].parameters[0]}],
    "xmlcore/archives.py": lambda module: [
        {"use": use, "self": SimpleNamespace(_use=use)} for use in (packed.USE, bundles.USE)
    ],
    "xmlcore/datasets/texts/records.py": lambda module: [{"prefix": "__label__"}],
    "xmlcore/datasets/registry/api_docs.py": lambda module: [{"dots": dots, "last": "read_csv"} for dots in "+*"],
    "xmlcore/datasets/texts/words.py": lambda module: [{"pattern": module.WORD}],
}


def patterns(folder):
    """Return how each pattern of files is used: (file, pattern, flags, whether it is sought at every place)."""
    files = [*(ROOT / folder).rglob("*.py"), ROOT / "app.py"]
    return {use for path in files for use in of_file(path.relative_to(ROOT).as_posix(), path.read_text())}


def of_file(name, source):
    """Yield how each pattern of a file is used; one that is found in another way than these is refused."""
    if not re.search(r"\bre\b|\bregex\b|\.str\b", source):
        return
    tree, called = ast.parse(source), set()
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    module = functools.cache(lambda: importlib.import_module(name.removesuffix(".py").replace("/", ".")))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and takes_pattern(node)):
        called.add(call.func)
        flags = [n.attr for n in ast.walk(call) if isinstance(n, ast.Attribute) and n.attr.isupper() and is_re(n.value)]
        flags = functools.reduce(lambda all, one: all | getattr(re, one, 0), flags, 0)
        for pattern in values(call.args[0], name, module):
            yield name, pattern, flags, is_sought(call, parents, source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.module not in ("re", "regex"), f"{name} imports from {node.module}: import all of it"
        if isinstance(node, ast.Attribute) and is_re(node.value) and node.attr in WAYS:
            assert node in called, f"{name}:{node.lineno} hands on {ast.unparse(node)}: call it with a pattern"


def is_re(node):
    return isinstance(node, ast.Name) and node.id in ("re", "regex")


def takes_pattern(call):
    if not isinstance(call.func, ast.Attribute) or not call.args:
        return False
    of, way = call.func.value, call.func.attr
    of_pandas = isinstance(of, ast.Attribute) and of.attr == "str" and way in OF_PANDAS
    plain = any(keyword.arg == "regex" and ast.unparse(keyword.value) == "False" for keyword in call.keywords)
    return is_re(of) and way in WAYS or of_pandas and not plain


def values(expression, name, module):
    """Return the patterns that an expression stands for."""
    if isinstance(expression, ast.Constant):
        return [expression.value]
    code = compile(ast.Expression(expression), name, "eval")
    try:
        return [eval(code, dict(vars(module())))]
    except NameError:
        assert name in LOCAL, f"{name}:{expression.lineno} makes a pattern of local values: LOCAL needs examples"
        return [eval(code, vars(module()) | example) for example in LOCAL[name](module())]


def is_sought(call, parents, source):
    """Return whether a pattern is tried at every place of a text, not only at its beginning."""
    if call.func.attr != "compile":
        return call.func.attr not in ANCHORED
    parent = parents[call]
    if isinstance(parent, ast.Attribute):
        return parent.attr not in ANCHORED
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        return bool(re.search(rf"\b{parent.targets[0].id}\b(?!\.(?:match|fullmatch)\b| = )", source))
    return True


def hostile(pattern):
    """Yield beginnings and pieces that are repeated, of what patterns of the project read and of the pattern itself."""
    pattern = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    letters = dict.fromkeys([*"0a \t.", *(letter for letter in PUNCTUATION if letter in pattern)])
    pairs, words = (a + b for a in "0a " for b in letters if a != b), re.findall(r"[\w =]{4,}", pattern)
    return itertools.product(["", "0", " 0", "<"], [*letters, *pairs, *words])


def seconds(pattern, anywhere, text, enough=QUICK):
    """Return the least processor time of several tries; what is through in enough seconds is tried no more."""
    best = float("inf")
    for _ in range(20 if len(text) < 20_000 else 3):
        began = time.process_time()
        for _ in pattern.finditer(text) if anywhere else [pattern.fullmatch(text)]:
            pass
        best = min(best, time.process_time() - began)
        if best < enough:
            break
    return best


@pytest.mark.parametrize("folder", ["pages", "xmlcore"])
def test_patterns_take_linear_time_on_hostile_texts(folder):
    found = patterns(folder)
    assert len(found) > 10
    for use in found:
        check(*use)


def check(name, pattern, flags, anywhere):
    compiled, few_of, most = re.compile(pattern, flags), FEW, MANY
    if name == "xmlcore/datasets/texts/words.py":
        few_of, most = words.LONGEST // 4, words.LONGEST  # what it searches is no longer
    for (start, piece), end in itertools.product(hostile(pattern), ("\0!", " ! !")):
        few, many = (start + piece * count + end for count in (few_of, most))
        if isinstance(pattern, bytes):
            few, many = few.encode("latin-1"), many.encode("latin-1")
        if (short := seconds(compiled, anywhere, few)) > QUICK or seconds(compiled, anywhere, many) > QUICK:
            enough = max(60 * short, QUICK)
            long = seconds(compiled, anywhere, many, enough) if short < 1 else float("inf")
            assert long < enough, f"{pattern!r} of {name} is slow on {start!r} and many {piece!r}"
