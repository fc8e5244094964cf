"""The hash of the code changes with what the code does, and with nothing else."""

import ast
import shutil
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

import xmlcore
from xmlcore.experiment.engine import code_version
from xmlcore.experiment.engine.code_version import DECIDES, LEFT_OUT, deciding_files, hash_of

PACKAGE = Path(xmlcore.__file__).parent
SOURCE = '''"""Docstring."""
from xmlcore.parameters import Parameter

# a comment
C = Parameter("C", "Weight", "Larger fits closer.", "float", 1.0, minimum=0.0)
D = Parameter("D", label="Depth", help="Deeper " + WORDS + f"{1}", kind="int", default=2)


def double(x):
    """Double x."""
    return 2 * x


class Thing:
    """A thing."""

    size: int = 1
    """Its size."""
'''


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "xmlcore"
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "plt.py").write_text(SOURCE)
    return folder


def changed(package, old, new):
    assert old in SOURCE
    before = hash_of(package)
    (package / "models" / "plt.py").write_text(SOURCE.replace(old, new))
    return hash_of(package) != before


@pytest.mark.parametrize(
    "old, new",
    [
        ('"""Docstring."""', '"""Another."""'),
        ('"""Docstring."""', ""),
        ("    # a comment".strip(), "# another"),
        ('"""Double x."""', '"""Return twice x."""'),
        ('"""Its size."""', '"""Bytes."""'),
        ("Larger fits closer.", "Larger values fit the rows closer."),
        ('"Weight"', '"C, weight"'),
        ('label="Depth"', 'label="Levels"'),
        ('"Deeper " + WORDS + f"{1}"', '"More."'),
        ("return 2 * x", "return (2 *\n        x)"),
    ],
)
def test_words_and_layout_do_not_count(package, old, new):
    assert not changed(package, old, new)


@pytest.mark.parametrize(
    "old, new",
    [
        ("2 * x", "3 * x"),
        ("size: int = 1", "size: int = 2"),
        ('"float", 1.0', '"float", 2.0'),
        ("default=2", "default=3"),
        ("minimum=0.0", "minimum=0.1"),
        ('Parameter("C"', 'Parameter("E"'),
        ("return 2 * x", "print('text')\n    return 2 * x"),
    ],
)
def test_what_decides_results_counts(package, old, new):
    assert changed(package, old, new)


def test_figures_do_not_count_and_line_ends_neither(package):
    before = hash_of(package)
    (package / "figures").mkdir()
    (package / "figures" / "lines.py").write_text("y = 1\n")
    (package / "models" / "plt.py").write_bytes(SOURCE.replace("\n", "\r\n").encode())
    assert hash_of(package) == before
    (package / "validation.py").write_text("x = 1\n")
    assert hash_of(package) != before


def test_it_tells_which_file_holds_what(package):
    seen = set()
    for a, b in (("x\n", "y\n"), ("y\n", "x\n"), ("x\ny\n", ""), ("", "x\ny\n")):
        (package / "models" / "a.py").write_text(a)
        (package / "models" / "b.py").write_text(b)
        seen.add(hash_of(package))
    assert len(seen) == 4


@pytest.mark.parametrize("library", ["numpy", "scipy", "numba"])
def test_it_follows_the_libraries(package, library, monkeypatch):
    first = hash_of(package)
    versions = {name: metadata.version(name) for name in ("numpy", "scipy", "numba")}
    versions[library] += ".post1"
    monkeypatch.setattr(code_version, "metadata", SimpleNamespace(version=versions.__getitem__))
    assert hash_of(package) != first


# Parts that deciding code imports, and that decide no result: messages on progress, the number of cores and the folders
# of this machine, the kept files and their keys, and worker processes.
DECIDES_NOTHING = {
    "artifact_keys", "extras", "interrupts", "jobs", "progress", "store", "system", "typing", "versions", "zips"
}  # fmt: skip


def imported_parts(path):
    """Parts of xmlcore that a file imports anywhere: ``models`` for ``from xmlcore.models.plt import PLT``."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        parts = (name.split(".")[1] for name in names if name.startswith("xmlcore."))
        yield from (part for part in parts if (PACKAGE / part).is_dir() or (PACKAGE / f"{part}.py").is_file())


def test_all_parts_that_deciding_code_imports_count():
    assert all((PACKAGE / name).exists() for name in [*DECIDES, *LEFT_OUT])
    needed = {"experiment"}  # what runs tasks, and what that imports, directly or not
    files = deciding_files(PACKAGE)
    while True:
        within = [name for name in files if name.split("/")[0].removesuffix(".py") in needed]
        more = {part for name in within for part in imported_parts(PACKAGE / name)} - DECIDES_NOTHING - needed
        if not more:
            break
        needed |= more
    assert needed == {name.removesuffix(".py") for name in DECIDES}


def test_files_that_only_estimate_or_find_do_not_count(package):
    before = hash_of(package)
    (package / "experiment").mkdir()
    for name in LEFT_OUT:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("x = 1\n")
    assert hash_of(package) == before
    (package / "experiment" / "train.py").write_text("x = 1\n")
    assert hash_of(package) != before


def test_a_changed_help_text_of_a_model_changes_nothing(tmp_path):
    """A copy of the package in which every help text and docstring of the catalog is another one."""
    copy = tmp_path / "xmlcore"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    expected = hash_of(PACKAGE)
    assert hash_of(copy) == expected == code_version.code_version()
    text = (copy / "parameters.py").read_text(encoding="utf-8")
    assert "The same seed gives the same model" in text
    (copy / "parameters.py").write_text(text.replace("The same seed gives", "Equal seeds give"), encoding="utf-8")
    assert hash_of(copy) == expected
    (copy / "parameters.py").write_text(text.replace("2**32 - 1", "2**31 - 1"), encoding="utf-8")
    assert hash_of(copy) != expected


def test_the_hash_is_kept_for_a_state_of_the_files(package, monkeypatch):
    calls = []
    compute = code_version._hash
    monkeypatch.setattr(code_version, "_hash", lambda sources: calls.append(1) or compute(sources))
    first = code_version.kept_hash_of(package)
    assert (code_version.kept_hash_of(package), len(calls)) == (first, 1)
    (package / "models" / "plt.py").write_text(SOURCE.replace("2 * x", "3 * x"))
    second = code_version.kept_hash_of(package)
    assert second != first
    assert (code_version.kept_hash_of(package), len(calls)) == (second, 2)
    (package / "models" / "plt.py").write_text(SOURCE)
    assert (code_version.kept_hash_of(package), len(calls)) == (first, 2)


def test_the_hash_is_kept_for_the_versions_of_libraries(package, monkeypatch):
    first = code_version.kept_hash_of(package)
    monkeypatch.setattr(code_version, "metadata", SimpleNamespace(version=lambda library: "99"))
    assert code_version.kept_hash_of(package) != first


def test_the_hash_is_computed_where_nothing_can_be_kept(package, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XMLCORE_CACHE", str(tmp_path / "file"))
    assert code_version.kept_hash_of(package) == hash_of(package)
