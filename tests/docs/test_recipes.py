"""The recipes of docs/architecture.md are carried out as written, in a copy of the project, and pass its tests.

A recipe is a section "How to add …". Its blocks of Python are made of pieces, each with a first line that says where it
goes: ``# FILE`` or ``# FILE: remark`` for a new file, ``# FILE, in NAME`` for lines at the end of the list, tuple or
dict ``NAME``, ``# FILE, first in NAME`` at its beginning, ``# FILE, in the imports`` for a line of imports. A block of
``toml`` goes to the end of its file. A block of ``sh`` has the tests that must pass then. A new recipe needs nothing
here.
"""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from docs.test_blocks import FENCE, ROOT

MOST_FILES = 3  # of the project that a recipe touches; files of tests are not counted
PIECE = re.compile(r"^# ([\w/]+\.(?:py|toml))(?:, (in|first in) (\w+|the imports))?(?::.*)?\n", re.MULTILINE)


def recipes():
    """Return the recipes: title -> (pieces as they are written, commands)."""
    found = {}
    for section in re.split(r"^## ", (ROOT / "docs/architecture.md").read_text(encoding="utf-8"), flags=re.MULTILINE):
        title, _, text = section.partition("\n")
        blocks = [(language, block) for _, language, _, block in FENCE.findall(text)]
        if title.startswith("How to add") and blocks:
            written = [block for language, block in blocks if language in ("python", "toml")]
            pieces = [piece for block in written for piece in pieces_of(block)]
            commands = [line for language, block in blocks if language == "sh" for line in block.splitlines()]
            found[title] = pieces, commands
    return found


def pieces_of(block):
    """Return the pieces of a block: file, "in" or "first in", name of the table, text; two are None for a new file."""
    before, *parts = PIECE.split(block)
    assert not before.strip(), f"the block does not say in its first line where it is entered: {block[:80]}"
    return list(zip(parts[::4], parts[1::4], parts[2::4], parts[3::4]))


RECIPES = recipes()


def entered(source, where, name, lines):
    """Return a source in which lines are entered in a table, or after its imports."""
    tree, at = ast.parse(source), source.splitlines(keepends=True)

    def place(line, column):
        """Return the position in the source of a place of a syntax tree."""
        return sum(map(len, at[: line - 1])) + len(at[line - 1].encode()[:column].decode())

    if name == "the imports":
        last = max(node.end_lineno for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
        return "".join(at[:last]) + lines + "".join(at[last:])
    (table,) = (
        node.value
        for node in tree.body
        if name in [ast.unparse(one) for one in getattr(node, "targets", [getattr(node, "target", None)]) if one]
    )
    while not isinstance(table, ast.Dict | ast.List | ast.Tuple | ast.Set):
        table = table.generators[0].iter if hasattr(table, "generators") else table.args[0]
    keys, values = (table.keys, table.values) if isinstance(table, ast.Dict) else (table.elts, table.elts)
    lines = lines.strip("\n").removesuffix(",")
    if where == "first in":
        start = place(keys[0].lineno, keys[0].col_offset)
        return f"{source[:start]}\n{lines},\n{source[start:]}"
    end = place(values[-1].end_lineno, values[-1].end_col_offset)
    rest = source[end:].removeprefix(",")
    return f"{source[:end]},\n{lines},{rest if rest.startswith(chr(10)) else chr(10) + rest}"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the project in which all recipes are carried out, one after the other."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("xmlcore", "pages", "tests", ".streamlit"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("app.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    for pieces, _ in RECIPES.values():
        for file, where, name, text in pieces:
            path = folder / in_project(file)
            if file.endswith(".toml"):
                path.write_text(path.read_text() + "\n" + text)
            elif where is None:
                assert not path.exists(), f"{file} is there already"
                path.parent.mkdir(exist_ok=True, parents=True)
                path.write_text(text)
            else:
                path.write_text(entered(path.read_text(), where, name, text))
    return folder


def in_project(file):
    """Return the path of a file that a recipe names; those of xmlcore are named from there."""
    return file if (ROOT / file).exists() or file.split("/")[0] in ("pages", "tests") else f"xmlcore/{file}"


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_touches_few_files_and_names_tests(title):
    pieces, commands = RECIPES[title]
    assert len({file for file, *_ in pieces if not file.startswith("tests/")}) <= MOST_FILES
    assert commands


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_recipes_are_carried_out_and_pass_their_tests(copy, tmp_path):
    """All commands run in one process, which imports the project once."""
    commands = [shlex.split(command) for _, commands in RECIPES.values() for command in commands]
    assert all(command[:3] == ["python", "-m", "pytest"] for command in commands)
    code = "import pytest, sys\nfor at in sys.argv[1:]: pytest.main(eval(at)) and sys.exit(at)"
    words = [repr([*command[3:], "-q", "-x", "-p", "no:cacheprovider"]) for command in commands]
    environment = {**os.environ, "PYTHONPATH": str(copy), "XMLCORE_CACHE": str(tmp_path / "cache")}
    run = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=copy, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, f"{run.stdout[-4000:]}{run.stderr[-2000:]}"
    assert run.stdout.count(" passed") == len(commands), run.stdout
