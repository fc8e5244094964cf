"""What the library needs to be installed, and what is said where an optional package is missing."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import xmlcore
from xmlcore import extras

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = PROJECT["optional-dependencies"]
OF_APP = (
    "streamlit",
    "click",
    "starlette",
    "uvicorn",
    "plotly",
    "pooch",
    "requests",
    "pyarrow",
    "httpx",
    "altair",
    "openpyxl",
)


def lines(name):
    """The requirements of a file, without comments and empty lines."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return {found for line in text.splitlines() if (found := re.sub(r"\s*#.*", "", line))}


def with_inner(extra):
    """The requirements of an extra, those of extras that it names included."""
    found = set()
    for requirement in OPTIONAL[extra]:
        inner = re.fullmatch(r"xmlcore\[(.*)\]", requirement)
        found |= set().union(*map(with_inner, inner[1].split(","))) if inner else {requirement}
    return found


def test_requirements_are_those_of_the_library_and_its_extras():
    assert {*PROJECT["dependencies"], *with_inner("app")} == lines("requirements.txt")
    every = set().union(PROJECT["dependencies"], *map(with_inner, OPTIONAL))
    assert every <= lines("requirements.txt") | lines("requirements-dev.txt")
    bounded = re.compile(r"[A-Za-z-]+>=[\d.]+(,<\d+)?")  # .ci/versions reads the lowest versions
    assert all(map(bounded.fullmatch, every))


def test_errors_name_extras_that_exist():
    assert extras.EXTRAS.keys() <= OPTIONAL.keys()
    used = {match for path in (ROOT / "xmlcore").rglob("*.py")
            for match in re.findall(r"require\(\"(\w+)\"", path.read_text(encoding="utf-8"))}  # fmt: skip
    assert used == extras.EXTRAS.keys()


WITHOUT = f"""
import sys, pkgutil, importlib, inspect, pathlib, pydoc
for name in {OF_APP}:
    sys.modules[name] = None  # importing it raises what importing a package that is not installed raises

def missing(what, *parts, raised=ImportError):
    try:
        what()
    except raised as error:
        assert all(part in str(error) for part in parts), error
    else:
        raise AssertionError(parts)

import numpy as np, xmlcore, xmlcore.extras
folder = pathlib.Path(sys.argv[1])
for module in pkgutil.walk_packages(xmlcore.__path__, "xmlcore.", onerror=lambda name: None):
    if module.name.split(".")[1] not in ("cli", "figures", "serve", "__main__", "_kernels", "_dashboard"):
        importlib.import_module(module.name)
X, Y = np.eye(8, 4, dtype=np.float32), [[row % 4] for row in range(8)]
model = xmlcore.PLT(n_jobs=1).fit(X, Y)
model.save(folder / "model")
loaded = xmlcore.load_model(folder / "model")
assert (loaded.predict_topk(X, 2).labels == model.predict_topk(X, 2).labels).all()
of_figures = "Figures need plotly", "pip install 'xmlcore[figures]'", "'xmlcore[app]'"
missing(lambda: xmlcore.figures, *of_figures, raised=AttributeError)
missing(lambda: exec("from xmlcore import figures"), *of_figures)
missing(lambda: exec("from xmlcore import serve"), "starlette", "pip install 'xmlcore[serve]'")
exec("from xmlcore import *")
assert PLT is xmlcore.PLT and not {{"figures", "serve"}} & {{*vars(), *dict(inspect.getmembers(xmlcore))}}
assert not hasattr(xmlcore, "figures") and "ExtendedPLT" in pydoc.render_doc(xmlcore)
fetch = xmlcore.datasets.registry.fetch.fetch
missing(lambda: fetch("http://localhost/a", folder / "a"), "pooch", "'xmlcore[download]'")
del sys.modules["starlette"]  # installed, and uvicorn is not
from xmlcore.serve import running
missing(lambda: running.run(None), "uvicorn", "pip install 'xmlcore[serve]'")
"""


def test_the_library_works_without_optional_packages(tmp_path):
    done = subprocess.run([sys.executable, "-c", WITHOUT, tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_command_without_click_says_what_to_install():
    code = "import sys; sys.modules['click'] = None; from xmlcore.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.splitlines() == [
        "xmlcore: The command line needs click, which is not installed. Install it: pip install 'xmlcore[cli]', "
        "or all of xmlcore: pip install 'xmlcore[app]'"
    ]


def test_a_part_that_a_finder_refuses_is_not_there(monkeypatch):
    def refuses(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(extras, "find_spec", refuses)
    assert not extras.is_there("figures") and extras.is_there("metrics")


def test_a_half_installed_package_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import not_installed_anywhere\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_installed_anywhere") as raised:
        extras.require("figures", "half_installed")
    assert not isinstance(raised.value, extras.MissingExtraError)


def test_the_version_and_the_licence_are_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r'^version: "(.*)"$', citation, re.MULTILINE)[1] == PROJECT["version"] == xmlcore.__version__
    assert re.search(r"^license: (.*)$", citation, re.MULTILINE)[1] == PROJECT["license"] == "BSD-3-Clause"
    assert (ROOT / PROJECT["license-files"][0]).read_text(encoding="utf-8").startswith("BSD 3-Clause License")
