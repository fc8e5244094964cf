"""The version of the code that made a result: a hash of the code that decides results, without texts for users."""

import ast
import contextlib
import functools
import hashlib
import sys
from importlib import metadata
from pathlib import Path

from xmlcore import store

KIND = "code"  # the store's name for hashes that were computed before

# Folders and files of xmlcore that decide results.
DECIDES = (
    "_kernels",
    "datasets",
    "experiment",
    "explain",
    "metrics",
    "models",
    "robustness",
    "selection",
    "arrays.py",
    "augmentation.py",
    "label_names.py",
    "noise.py",
    "parallel.py",
    "parameters.py",
    "ranking.py",
    "validation.py",
)
# Files in these folders that decide no result: they keep compiled code, estimate, compile, find results of early
# versions, pair runs, write down how a run was made, or compare what is kept.
LEFT_OUT = frozenset(
    {
        "_kernels/_caching.py",
        "experiment/sharing/bundles.py",
        "experiment/kinds/carry.py",
        "experiment/engine/earlier.py",
        "experiment/engine/estimates.py",
        "experiment/engine/keeping.py",
        "experiment/kept_runs.py",
        "experiment/sharing/latex.py",
        "experiment/engine/learned.py",
        "experiment/sharing/packing.py",
        "experiment/sharing/portable.py",
        "experiment/sharing/report.py",
        "experiment/sharing/report_tables.py",
        "experiment/sharing/run_code.py",
        "experiment/side_by_side.py",
        "experiment/engine/submitting.py",
        "experiment/engine/sweep_unfinished.py",
        "experiment/twins.py",
        "experiment/warm_up.py",
        "experiment/sharing/workspace_files.py",
        "experiment/sharing/workspace_reading.py",
        "models/cards.py",
        "models/compiling.py",
        "models/packed.py",
        "models/plt/warming.py",
    }
)
LIBRARIES = ("numpy", "scipy", "numba")
TEXTS = frozenset(
    {"label", "help", "details", "title", "summary", "paper", "empty"}
)  # keyword arguments with texts for users


@functools.cache
def code_version() -> str:
    """Return a hash of the code that decides results, computed once for each state of the source files.

    It covers the source files in :data:`DECIDES` but not those in :data:`LEFT_OUT`, without comments, docstrings and
    the layout of lines, without the texts of :class:`~xmlcore.parameters.Parameter` and of the catalog, and the
    versions of NumPy, SciPy and Numba.
    """
    return kept_hash_of(Path(__file__).resolve().parents[2])


def kept_hash_of(package: Path) -> str:
    """Return :func:`hash_of` from the store, where it is found by a hash of the files' bytes; or compute and keep it.

    Parsing all files takes half a second, which every worker would spend before it saves its first result.
    """
    digest = hashlib.blake2b(f"{sys.version_info[:2]} {_libraries()}".encode(), digest_size=16)
    sources = sources_of(package)
    for name, source in sources.items():
        digest.update(f"{name} {len(source)}\n".encode("utf-8", "surrogatepass"))
        digest.update(source)
    key = digest.hexdigest()
    with contextlib.suppress(store.StoreError, OSError):
        return str(store.info(KIND, key)["hash"])
    found = _hash(sources)
    with contextlib.suppress(OSError), store.writing(KIND, key, hash=found):  # a full disk: computed again next time
        pass
    return found


def sources_of(package: Path) -> dict[str, bytes]:
    """Return the content of the files in a folder of sources that decide results, by their paths within the folder."""
    return {name: (package / name).read_bytes() for name in deciding_files(package)}


def hash_of(package: Path) -> str:
    """Return what :func:`code_version` returns, for the sources in a folder as they are now."""
    return _hash(sources_of(package))


def _hash(sources: dict[str, bytes]) -> str:
    """Return the hash for sources by the names of their files."""
    digest = hashlib.blake2b(digest_size=8)
    for name, source in sources.items():
        text = _meaning(ast.parse(source))
        digest.update(f"{name} {len(text)}\n{text}".encode("utf-8", "surrogatepass"))
    digest.update(_libraries().encode())
    return digest.hexdigest()


def _libraries() -> str:
    """Return a line with name and version for each library that decides results."""
    return "".join(f"{library} {metadata.version(library)}\n" for library in LIBRARIES)


def deciding_files(package: Path) -> list[str]:
    """Return the files in a folder of sources that decide results, as paths within the folder."""
    found = []
    for part in DECIDES:
        place = package / part
        files = [place] if place.suffix else place.rglob("*.py")
        found += sorted(path.relative_to(package).as_posix() for path in files if path.is_file())
    return [name for name in found if name not in LEFT_OUT]


def _meaning(tree) -> str:
    """Return a text of a syntax tree that changes only when the code does something else."""
    parts = []
    _write(tree, parts.append)
    return "".join(parts)


def _write(node, write):
    """Call ``write`` with the pieces of the text of :func:`_meaning` for one node or value."""
    if isinstance(node, ast.AST):
        write(type(node).__name__)
        write("(")
        fields = node._fields
        if isinstance(node, ast.Call):
            node = _without_texts(node)
        for name in fields:
            value = getattr(node, name, None)
            if value is None or value == [] or name in ("ctx", "type_comment"):
                continue
            if name == "body" and isinstance(value, list):
                value = [line for line in value if not _is_text(line)]
            write(name)
            write("=")
            _write(value, write)
        write(")")
    elif isinstance(node, list):
        write("[")
        for item in node:
            _write(item, write)
            write(",")
        write("]")
    else:
        write(repr(node))


def _is_text(line) -> bool:
    """Return whether a statement is only a string: a docstring, or a description of an attribute."""
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)


def _without_texts(call):
    """Return a call without texts for users: ``help="..."`` and the like, and label and help of a Parameter."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    args = [arg for at, arg in enumerate(call.args) if not (name == "Parameter" and at in (1, 2))]
    keywords = [k for k in call.keywords if not (k.arg in TEXTS and _is_words(k.value))]
    return ast.Call(func=call.func, args=args, keywords=keywords)


def _is_words(value) -> bool:
    """Return whether an expression is a text, or a sum of texts."""
    if isinstance(value, ast.BinOp):  # "some words" + OTHER_WORDS
        return _is_words(value.left) or _is_words(value.right)
    return isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str))
