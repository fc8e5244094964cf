"""Every kernel file has a plain-Python twin, in a file whose docstring names it, or a reason why it has none."""

import ast
import functools
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
KERNELS = TESTS.parent / "xmlcore" / "_kernels"
NAIVE = TESTS / "naive"

WITHOUT_TWIN = {
    "__init__": "it has no code",
    "_dispatchers": "it compiles kernels and computes nothing",
    "_jit": "it compiles kernels and computes nothing",
    "_caching": "it keeps compiled code on disk",
    "ds_classes": "it declares tuples of arrays",
    "plt_tree": "it declares a tuple of arrays; how wide a stored row is, is a part of the twin of plt_margins.py",
}


def modules(folder):
    return {path.stem for path in folder.glob("*.py")}


def test_every_kernel_file_has_a_twin_or_a_reason():
    docs = [ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) for path in NAIVE.glob("*.py")]
    named = set(re.findall(r"(\w+)\.py", "\n".join(docs)))
    assert named <= modules(KERNELS), "a twin of a kernel that is no more"
    missing = modules(KERNELS) - named - WITHOUT_TWIN.keys()
    assert not missing, f"write twins in tests/naive, or enter a reason in WITHOUT_TWIN: {sorted(missing)}"
    assert WITHOUT_TWIN.keys() <= modules(KERNELS) - named


def test_files_without_a_twin_have_no_loops():
    for name in WITHOUT_TWIN.keys() - {"_caching", "_dispatchers", "_jit"}:
        tree = ast.parse((KERNELS / f"{name}.py").read_text(encoding="utf-8"))
        assert not any(isinstance(node, ast.For | ast.While) for node in ast.walk(tree)), name


@functools.cache
def named_in_tests():
    """Return the functions of twins that tests name, as pairs of file and function, and the sources of all twins."""
    texts = {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}
    tests = "\n".join(text for path, text in texts.items() if path.parent != NAIVE)
    return set(re.findall(r"\bnaive\.(\w+)\.(\w+)", tests)), {p.stem: t for p, t in texts.items() if p.parent == NAIVE}


@pytest.mark.parametrize("name", sorted(modules(NAIVE) - {"__init__"}))
def test_every_function_of_a_twin_is_used(name):
    source = (NAIVE / f"{name}.py").read_text(encoding="utf-8")
    named = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    public = {function for function in named if not function.startswith("_")}
    assert public, "a twin without a function"
    named_by_tests, twins = named_in_tests()
    assert any(file == name for file, _ in named_by_tests), "no test compares with this twin"
    others = [text for other, text in twins.items() if other != name]
    for function in public:
        used = (name, function) in named_by_tests
        used = used or any(f"from naive.{name} import" in text and function in text for text in others)
        used = used or len(re.findall(rf"\b{function}\b", source)) > 1
        assert used, f"{function} is used by nothing"
