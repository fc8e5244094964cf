"""The arrows go one way, files and functions are short, and private names stay inside their package.

The picture in docs/architecture.md says what may import what. Imports inside functions count.
"""

import ast
import copy
import functools
import graphlib
import itertools
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

from xmlcore.first_use import _Module

ROOT = Path(__file__).resolve().parents[1]
KERNELS_MAY_IMPORT = {"numpy", "numba", "math", "typing", "xmlcore._kernels", "xmlcore.system"}
# The one file that names modules of higher layers in a table: the estimators that may be loaded from a saved model.
NAMES_WHAT_MAY_BE_LOADED = {ROOT / "xmlcore" / "models" / "saving.py"}
# The one file that names types of higher layers, for type checkers only.
NAMES_TYPES = ROOT / "xmlcore" / "typing.py"
MOST_LINES = 600  # of a file
MOST_CODE_LINES = 80  # of a function, without its docstring
MOST_ARGUMENTS = 12  # of a kernel
# A comment of this form beside a file's or a function's beginning says why it is longer, or takes more arguments.
REASON = re.compile(r"#.*\b((long|many arguments) because\b|more than 12 arguments: )", re.IGNORECASE)

SLOW = ("pandas", "sklearn", "plotly", "streamlit", "joblib", "numba", "scipy", "click", "starlette", "uvicorn")


def modules(folder):
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"no modules in {folder}"
    return found


@functools.cache
def nodes(path):
    """All nodes of a file's syntax tree."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@functools.cache
def imported(path, *, for_types=True):
    """List all modules that a file imports anywhere, by full name, with the line; ``from a import b`` gives a and a.b.

    ``import_module("a")`` imports a. With ``for_types=False``, without what is imported if TYPE_CHECKING is true: type
    checkers read such an import, and it is never run.
    """
    package = path.relative_to(ROOT).with_suffix("").parts
    package = package[:-1]  # of a module and of an __init__ alike: relative imports start at the folder
    tops = [] if for_types else filter(_is_for_types, nodes(path)[0].body)
    left_out = {id(node) for top in tops for node in ast.walk(top)}
    return list(_imports((node for node in nodes(path) if id(node) not in left_out), package))


def _imports(nodes, package):
    """Yield what :func:`imported` lists, for the nodes of a file in a package."""
    for node in nodes:
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
        elif isinstance(node, ast.Call) and _last_name(node.func) in ("import_module", "__import__"):
            if node.args and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value, node.lineno


def _last_name(node):
    """``c`` of the expressions ``a.b.c`` and ``c``."""
    return getattr(node, "attr", getattr(node, "id", None))


def _is_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def named_in_tables(path):
    """Modules of xmlcore that a file which calls import_module names in a table, with the line.

    Such a name is a whole string, ``"xmlcore.models.plt"`` or ``"xmlcore.models.plt:PLT"``.
    """
    if any("import_module" in (_last_name(node) or "") for node in nodes(path)):
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if re.fullmatch(r"xmlcore(\.\w+)+(:\w+)?", node.value):
                    yield node.value.split(":")[0], node.lineno


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


def part_of_xmlcore(path):
    """The first name under xmlcore: ``models`` of ``xmlcore/models/base.py``."""
    return path.relative_to(ROOT / "xmlcore").parts[0].removesuffix(".py")


def picture():
    """Read the picture of the architecture: the box of each part of the package, and the arrows between boxes."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("```mermaid")[1].split("```")[0]
    boxes = {
        re.sub(r"(/|\.py)$", "", name): box
        for box, names in re.findall(r"(\w+)\[([^:\]]+):", text)
        for name in names.split(", ")
    }
    arrows = set()
    for line in re.sub(r"\[.*?\]", "", text).splitlines():
        froms, arrow, to = line.partition("-->")
        if arrow:
            arrows |= set(itertools.product(re.findall(r"\w+", froms), re.findall(r"\w+", to)))
    return boxes, arrows


def test_each_fact_to_change_is_defined_at_one_place():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("## Where to change what")[1]
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", text.split("\n## ")[0], re.MULTILINE)[1:]
    assert 10 < len(rows) <= 20
    for fact, where in rows:
        [(name, place)] = re.findall(r"`(\w+)` of `([\w./]+)`", where)
        [path] = [root / place for root in (ROOT, ROOT / "xmlcore") if (root / place).exists()]
        assert name in _defined(path), (fact, name, place)


def _defined(path):
    """Names that a file defines outside functions."""
    if path.suffix == ".toml":
        return set(re.findall(r"^(\w+) *=", path.read_text(encoding="utf-8"), re.MULTILINE))
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        names |= {getattr(target, "id", getattr(target, "name", None)) for target in targets}
    return names


def reached(arrows, start):
    """The boxes to which arrows lead from a box, in one step or more."""
    boxes, waiting = set(), [start]
    while waiting:
        box = waiting.pop()
        ahead = {to for origin, to in arrows if origin == box} - boxes
        boxes |= ahead
        waiting += ahead
    return boxes


def test_imports_follow_the_arrows_of_the_picture():
    boxes, arrows = picture()
    paths = [path for path in [*modules("xmlcore"), *modules("pages")] if path.parent.name != "main"]
    own = {path: part_of_xmlcore(path) if path.is_relative_to(ROOT / "xmlcore") else "pages" for path in paths}
    del own[ROOT / "xmlcore" / "__init__.py"]
    assert {*own.values(), "app"} == boxes.keys(), "a part is in no box, or a box names none"
    used, wrong, ahead = {("app", "pages")}, [], {box: reached(arrows, box) for box in boxes.values()}
    for path, part in own.items():
        tables = () if path in NAMES_WHAT_MAY_BE_LOADED else named_in_tables(path)
        for name, line in [*imported(path, for_types=path != NAMES_TYPES), *tables]:
            names = name.split(".")
            if names[0] != "xmlcore" or len(names) == 1 or names[1] in ("__version__", part):
                continue
            where = f"{path.relative_to(ROOT)}:{line} imports {name}"
            if names[1] not in boxes:
                wrong.append(f"{where}: name the module that has it")
            elif boxes[part] != boxes[names[1]]:
                used.add((boxes[part], boxes[names[1]]))
                if boxes[names[1]] not in ahead[boxes[part]]:
                    wrong.append(f"{where}: no arrow leads there")
    assert not wrong, "\n".join(wrong)
    assert not [box for box in ahead if box in ahead[box]], "arrows go in a circle"
    needed = {arrow for arrow in used if arrow[1] not in reached(used - {arrow}, arrow[0])}
    assert arrows == needed


@pytest.mark.parametrize("folder", ["xmlcore", "pages", "benchmarks"])
def test_modules_import_each_other_in_no_circle(folder):
    paths = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
             for path in modules(folder)}  # fmt: skip
    uses = {name: {other for other, _ in imported(path, for_types=False) if other in paths} - {name}
            for name, path in paths.items()}  # fmt: skip
    for name, others in uses.items():  # ``from package import module`` names both: what is meant is the module
        froms = {other for other in others if any(more.startswith(other + ".") for more in others)}
        uses[name] = {other for other in others if other not in froms or _names_more(paths[name], other, paths)}
    try:
        graphlib.TopologicalSorter(uses).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def _names_more(path, package, paths):
    """Whether a file takes from a package something that is not one of its modules."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            if any(f"{package}.{alias.name}" not in paths for alias in node.names):
                return True
        if isinstance(node, ast.Import) and any(alias.name == package for alias in node.names):
            return True
    return False


def test_private_names_stay_inside_their_package():
    found = []
    for path in modules("xmlcore"):
        own = part_of_xmlcore(path)
        for name, line in imported(path):
            names = name.split(".")
            private = [part for part in names[2:] if part.startswith("_") and not part.startswith("__")]
            if names[0] == "xmlcore" and len(names) > 2 and names[1] not in (own, "_kernels") and private:
                found.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
        for node in nodes(path):
            if isinstance(node, ast.Attribute) and node.attr in _private_of_others().get(own, set()):
                value = node.value
                if not (isinstance(value, ast.Name) and value.id in ("self", "cls")) and not _is_super(value):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno} uses {ast.unparse(node)}")
    assert not found, "\n".join(found)


def _is_super(value):
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super"


@functools.cache
def _private_of_others():
    """Private names that other parts of xmlcore define and this one does not, by part."""
    names = {}
    for path in modules("xmlcore"):
        own = names.setdefault(part_of_xmlcore(path), set())
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                own.add(node.name)
            elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
                own.add(node.attr if isinstance(node, ast.Attribute) else node.id)
    private = {name for own in names.values() for name in own if re.match(r"_[^_]", name)}
    return {part: private - own for part, own in names.items()}


def functions(path):
    """All functions of a file with the number of their code lines, and whether a reason stands beside them."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            count = node.end_lineno - body[0].lineno + 1 + node.body[0].lineno - node.lineno if body else 0
            start = (body or node.body)[0].lineno
            top = lines[max(0, first - 4) : node.body[0].lineno + 1] + lines[start - 3 : start + 1]
            yield node, count, any(REASON.search(line) for line in top)


def test_no_two_classes_share_a_name():
    places = {}
    for path in [*modules("xmlcore"), *modules("pages")]:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_files_have_at_most_600_lines_or_a_reason():
    found = []
    for path in [*modules("xmlcore"), *modules("pages"), *modules("benchmarks"), *modules("tests")]:
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > MOST_LINES and not any(REASON.search(line) for line in lines[:40]):
            found.append(f"{path.relative_to(ROOT)} has {len(lines)} lines")
    assert not found, "\n".join(found)


def test_functions_have_at_most_80_lines_of_code_or_a_reason():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {count} lines"
        for path in [*modules("xmlcore"), *modules("pages"), *modules("benchmarks")]
        for node, count, reason in functions(path)
        if count > MOST_CODE_LINES and not reason
    ]
    assert not found, "\n".join(found)


def count_arguments(function):
    """Number of arguments of all sorts: by position only, by position or name, by name only, ``*`` and ``**``."""
    args = function.args
    return len([*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))])


def test_kernels_have_at_most_12_arguments_or_a_reason():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name} takes {count_arguments(node)} arguments"
        for path in modules("xmlcore/_kernels")
        for node, _, reason in functions(path)
        if count_arguments(node) > MOST_ARGUMENTS and not reason
    ]
    assert not found, "\n".join(found)


def is_private(name):
    parts = name.split(".")
    return parts[0] == "xmlcore" and any(part.startswith("_") for part in parts[1:])


def test_pages_and_app_import_only_what_is_below_them():
    app, pages = ROOT / "app.py", modules("pages")
    script = ROOT / "pages" / "main" / "script.py"  # what Streamlit runs in the place of app.py: it only calls the app
    assert script in pages
    assert not offences([*pages, app], is_private)
    assert not offences([path for path in pages if path != script], lambda name: within(name, "app"))
    assert not offences([app], lambda name: within(name, "xmlcore"))


def test_pages_do_not_import_the_folders_of_each_other():
    folders = {path.name for path in (ROOT / "pages").iterdir() if any(path.glob("*.py"))}
    assert {"shared", "train"} <= folders
    found = []
    for path in modules("pages"):
        own = path.relative_to(ROOT / "pages").parts[0]
        others = [f"pages.{folder}" for folder in folders - {own, "shared"}]
        found += offences([path], lambda name, others=others: within(name, *others))
    assert not found, "\n".join(found)


def test_no_file_is_directly_in_pages():
    """Streamlit's older layout would show such a file as a page."""
    assert not list((ROOT / "pages").glob("*.py"))


def test_kernels_import_only_numpy_numba_and_each_other():
    def foreign(name):
        return not within(name, *KERNELS_MAY_IMPORT)

    # _jit.py, _dispatchers.py and _caching.py are the decorators, not kernels. lanes.py writes vector instructions,
    # plt_ensemble.py reads arrays by their addresses.
    others = ("_caching.py", "_dispatchers.py", "_jit.py", "lanes.py", "plt_ensemble.py")
    kernels = [path for path in modules("xmlcore/_kernels") if path.name not in others]
    assert not offences(kernels, foreign)


def test_kernels_have_one_decorator_and_are_never_parallel():
    found = []
    for path in modules("xmlcore/_kernels"):
        for node in nodes(path):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
            if name == "prange" or (name in ("njit", "jit") and path.name != "_jit.py"):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno} uses {name}")
            if isinstance(node, ast.keyword) and node.arg == "parallel":
                found.append(f"{path.relative_to(ROOT)}:{node.value.lineno} passes parallel=")
    assert not found


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])
def test_a_module_that_is_imported_on_first_use_can_be_copied(copied):
    assert copied(_Module("json")).dumps([1]) == "[1]"


def test_import_xmlcore_is_quick_and_loads_nothing_heavy():
    code = (
        "import sys, time; start = time.process_time(); import xmlcore; seconds = time.process_time() - start;"
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
