"""The arrows go one way: app -> pages -> xmlcore -> _kernels."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KERNELS_MAY_IMPORT = {"numpy", "numba", "math", "typing", "xmlcore._kernels", "xmlcore.system"}
SLOW = ("pandas", "sklearn", "plotly", "streamlit", "joblib", "numba", "scipy")


def modules(folder):
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"no modules in {folder}"
    return found


def imported(path):
    """Full names of all modules that a file imports anywhere, with the line; ``from a import b`` gives a and a.b."""
    package = path.relative_to(ROOT).with_suffix("").parts
    package = package[:-1]  # of a module and of an __init__ alike: relative imports start at the folder
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
            yield base, node.lineno
            for alias in node.names:
                yield f"{base}.{alias.name}", node.lineno


def offences(paths, forbidden):
    return [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in paths
        for name, line in imported(path)
        if forbidden(name)
    ]


def within(name, *packages):
    return any(name == package or name.startswith(package + ".") for package in packages)


def test_xmlcore_imports_neither_streamlit_nor_the_pages():
    assert not offences(modules("xmlcore"), lambda name: within(name, "streamlit", "pages", "app"))


def test_pages_and_app_use_only_public_modules_of_xmlcore():
    def private(name):
        parts = name.split(".")
        return parts[0] == "xmlcore" and any(part.startswith("_") for part in parts[1:])

    assert not offences([*modules("pages"), ROOT / "app.py"], private)


def test_pages_never_import_the_app():
    assert not offences(modules("pages"), lambda name: within(name, "app"))


def test_app_goes_through_the_pages():
    assert not offences([ROOT / "app.py"], lambda name: within(name, "xmlcore"))


def test_kernels_import_only_numpy_numba_and_each_other():
    def foreign(name):
        return not within(name, *KERNELS_MAY_IMPORT)

    # _jit.py is not a kernel but the decorator: it deals with files and warnings. lanes.py writes vector instructions.
    kernels = [path for path in modules("xmlcore/_kernels") if path.name not in ("_jit.py", "lanes.py")]
    assert not offences(kernels, foreign)


def test_kernels_are_compiled_by_the_one_decorator_and_never_parallel():
    found = []
    for path in modules("xmlcore/_kernels"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
            if name == "prange" or (name in ("njit", "jit") and path.name != "_jit.py"):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno} uses {name}")
            if isinstance(node, ast.keyword) and node.arg == "parallel":
                found.append(f"{path.relative_to(ROOT)}:{node.value.lineno} passes parallel=")
    assert not found


def test_import_xmlcore_is_quick_and_loads_nothing_heavy():
    code = (
        "import sys, time; start = time.perf_counter(); import xmlcore; seconds = time.perf_counter() - start;"
        f"print(seconds, *[name for name in {SLOW!r} if name in sys.modules])"
    )
    best = float("inf")
    for _ in range(3):
        run = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
        )
        seconds, *loaded = run.stdout.split()
        assert not loaded, f"import xmlcore loads {', '.join(loaded)}"
        best = min(best, float(seconds))
    assert best < 1.5


@pytest.mark.parametrize("module", ["jobs", "store", "datasets", "experiment", "models", "metrics"])
def test_what_workers_import_does_not_bring_streamlit_along(module):
    code = f"import sys, xmlcore.{module}; sys.exit('streamlit' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=120)
