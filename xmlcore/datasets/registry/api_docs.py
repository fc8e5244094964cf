"""The data set "api-docs", made from the documentation of numpy, scipy, scikit-learn and pandas.

A row is a public function, class or method whose docstring has a numpydoc Parameters section. Its text is its dotted
name and the docstring without that section; its labels are the names in that section. The data set keeps the texts.

The packages are scanned in a Python process of its own (this file, run as a script). The scan imports every public
module of four packages: in the user's process that would keep hundreds of modules in memory, switch on experimental
features of scikit-learn, and let whatever the user imported, patched or configured before change the result. A fresh
process has the same modules, hash seed and warnings each time, and can be stopped at once.
"""

import contextlib
import gc
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from importlib import metadata
from pathlib import Path

PACKAGES = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn", "pandas": "pandas"}
KIND = "catalog"
WORD = "[A-Za-z]{2,}"  # regular expression for a word
MIN_ROWS = 2  # smallest number of rows of a word or parameter name in the data set
TEST_SIZE = 0.2
SEED = 0
VERSION = 3  # raised when a change of this module changes the data set, or what is kept of it

# Modules without documentation for users: tests and their set-up, copies of other packages, build tools, and modules
# that pandas documents as private although their names have no underscore.
_SKIPPED_NAMES = {"tests", "conftest", "setup", "externals", "distutils"}
_SKIPPED_MODULES = {"pandas.core", "pandas.compat"}
# Types of functions: numpy's dispatchers, and what Cython compiles.
_FUNCTION_LIKE = ("_ArrayFunctionDispatcher", "cython_function_or_method", "fused_cython_function")
_UNDERLINE = re.compile(r"(-{3,}|={3,})\s*")
_DRAWN = re.compile(r"(?<=\.sample\(shape=\(4,\)\)\n)array\(\[[^\]]*\]\)")  # which scipy.stats draws at each import


# ---- the scan: nothing of xmlcore, because it runs as a script ------------------------------------------------------


def split_docstring(doc: str) -> tuple[str, list[str]] | None:
    if "Parameters" not in doc:
        return None
    lines = inspect.cleandoc(doc).splitlines()
    underlines = [i for i, line in enumerate(lines) if line.startswith(("---", "===")) and _UNDERLINE.fullmatch(line)]
    headings = [i - 1 for i in underlines if i and lines[i - 1] and not lines[i - 1][0].isspace()]
    kept, names, start = [], [], 0
    for i, end in zip(headings, [*headings[1:], len(lines)]):
        if lines[i].strip().rstrip(":") == "Parameters":
            kept += lines[start:i]
            start = end
            for line in lines[i + 2 : end]:
                names += _listed(line)
    if not start:
        return None
    return _DRAWN.sub("array([...])", "\n".join(kept + lines[start:])), list(dict.fromkeys(names))


def _listed(line):
    """Return the parameter names in a line of a Parameters section: ["x", "args"] for ``x, *args : object``."""
    if not line or line[0].isspace():
        return []
    names = []
    for piece in line.split(":", 1)[0].split(","):
        name = piece.strip().strip("`").replace("\\", "").lstrip("*")
        if name.isidentifier():
            names.append(name)
        elif name != "...":
            return []  # a sentence, not a list of names
    return names


def _public(name):
    return not name.startswith("_") and name not in _SKIPPED_NAMES


def _modules(package, report):
    """Import and yield every public module of a package; count those that cannot be imported."""
    waiting = [package]
    done = 0
    while waiting:
        name = waiting.pop(0)
        try:
            module = importlib.import_module(name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an optional dependency, a deprecated module; some even call exit()
            report(failed=name, reason=f"{type(error).__name__}: {error}"[:200])
            continue
        done += 1
        report(package=package, module=name, done=done, known=done + len(waiting))
        yield name, module
        if hasattr(module, "__path__"):
            inner = {info.name for info in pkgutil.iter_modules(module.__path__) if _public(info.name)}
            waiting += [
                child for child in sorted(f"{name}.{child}" for child in inner) if child not in _SKIPPED_MODULES
            ]


def _members(module):
    """Yield the names in ``__all__``; without it, what the module defines, and in a package also what it imports."""
    listed = getattr(module, "__all__", None)
    for name in sorted(set(vars(module) if listed is None else listed)):
        if not (isinstance(name, str) and _public(name)):
            continue
        with contextlib.suppress(Exception):  # access to a lazy name may import a package that is not installed
            thing = getattr(module, name)
            own = getattr(thing, "__module__", module.__name__) == module.__name__
            if listed is not None or own or hasattr(module, "__path__"):
                yield name, thing


def _public_methods(cls):
    """Yield name and function of each public method of a class, the inherited ones included."""
    # Members as inspect.getattr_static finds them; calling it for all members of all classes takes ten times as long.
    members = {}
    for base in reversed((*cls.__mro__, *type(cls).__mro__)):
        members.update(vars(base))
    for name in sorted(set(dir(cls))):
        if not _public(name):
            continue
        member = members.get(name)
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        elif not callable(member) and callable(getattr(member, "fn", None)):
            member = member.fn  # scikit-learn's available_if: a method that only some instances have
        if inspect.isfunction(member) or inspect.ismethoddescriptor(member) and callable(member):
            yield name, member


def _owner(thing):
    """Return the top-level package that an object names as its own, or None if it names none."""
    module = getattr(thing, "__module__", None)
    if isinstance(module, str):
        return module.partition(".")[0]
    owner = getattr(thing, "__objclass__", None)  # methods written in C
    return owner.__module__.partition(".")[0] if owner is not None else None


def scan(report, packages=PACKAGES) -> list[dict]:
    packages = list(packages)
    # id of an object -> (is inherited, length of name, name, docstring, the object: kept alive so that ids stay unique)
    best = {}

    def offer(name, thing, inherited=False):
        """Keep an object under a name if it is the best name so far; return whether the package owns the object."""
        owner = _owner(thing)
        if owner is not None and owner != name.partition(".")[0]:
            return False
        identity = thing
        with contextlib.suppress(Exception):
            identity = inspect.unwrap(thing)  # which identifies an object that has several names
        doc = getattr(thing, "__doc__", None)
        if not isinstance(doc, str):
            return True
        candidate = (inherited, len(name), name, doc, identity)
        known = best.get(id(identity))
        if known is None or candidate[:3] < known[:3]:
            best[id(identity)] = candidate
        return True

    def offer_class(dotted, cls):
        if offer(dotted, cls):
            for name, method in _public_methods(cls):
                offer(f"{dotted}.{name}", method, name not in vars(cls))

    for package in packages:
        for module_name, module in _modules(package, report):
            ufunc = getattr(sys.modules.get("numpy"), "ufunc", ())
            for name, thing in _members(module):
                dotted = f"{module_name}.{name}"
                if inspect.isclass(thing):
                    offer_class(dotted, thing)
                    for inner_name in filter(_public, sorted(set(dir(thing)))):  # such as pandas' accessors
                        with contextlib.suppress(Exception):
                            if inspect.isclass(inner := getattr(thing, inner_name)):
                                offer_class(f"{dotted}.{inner_name}", inner)
                elif inspect.isroutine(thing) or isinstance(thing, ufunc) or type(thing).__name__ in _FUNCTION_LIKE:
                    offer(dotted, thing)
    rows = []
    for _, _, name, doc, _ in sorted(best.values(), key=lambda candidate: candidate[2]):
        parts = split_docstring(doc)
        if parts is not None:
            rows.append({"name": name, "text": parts[0], "parameters": parts[1]})
    return rows


def _main():
    # Hardly anything that the scan makes is garbage before its end, and looking for garbage takes a fifth of the time.
    gc.disable()
    # Messages are written to a copy of standard output, because modules may print to standard output at import.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = io.StringIO()
    warnings.simplefilter("ignore")

    def report(**facts):
        channel.write(json.dumps(facts) + "\n")
        channel.flush()

    sys.path[:] = json.loads(sys.argv[1])
    report(rows=scan(report))


# ---- the data set ---------------------------------------------------------------------------------------------------


def _scan_in_process(progress):
    """Run :func:`scan` in a new Python process; return the rows, and the modules that could not be imported."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONOPTIMIZE", "PYTHONWARNINGS", "PYTHONSTARTUP", "PYTHONINSPECT", "SCIPY_ARRAY_API")
    }
    environment |= {"PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8", "MPLBACKEND": "Agg"}
    # -P: modules must not be imported from this folder. Errors of the child process are read after its end; they are
    # written to a file, because a pipe could fill up.
    path = json.dumps([entry for entry in sys.path if isinstance(entry, str)])
    command = [sys.executable, "-P", str(Path(__file__).resolve()), path]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "encoding": "utf-8"}
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(command, stderr=errors, env=environment, **streams) as child:
            try:
                found, failed = _follow(child.stdout, progress)
                if found is None:
                    child.wait()
            finally:
                child.kill()  # after its last message too: it would take its time to free all modules
        if found is None:
            errors.seek(0)
            error_lines = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise RuntimeError(
                f"the documentation could not be read: {sys.executable} ended with code {child.returncode}"
                + (f" ({error_lines[-1]})" if error_lines else "")
            )
    return found["rows"], failed


def _follow(messages, progress):
    """Report the progress of :func:`_main`; return its last message, or None, and the modules that it skipped."""
    failed, reached = [], 0.0
    for line in messages:
        message = json.loads(line)
        if "failed" in message:
            failed.append(message["failed"])
        elif "rows" in message:
            return message, failed
        else:
            share = message["done"] / (message["known"] + 5)  # 5 stands for inner modules that are not known yet
            position = list(PACKAGES).index(message["package"]) + share
            reached = max(reached, position / len(PACKAGES))
            skipped = f", {len(failed)} skipped" if failed else ""
            progress("Reading documentation", reached, message["module"] + skipped)
    return None, failed


def build(progress):
    """Make the data set, in some seconds: rows are functions and classes, labels the names of their parameters."""
    from xmlcore.datasets.dataset import Dataset
    from xmlcore.datasets.splits import split_rows
    from xmlcore.datasets.texts import TextVectorizer

    rows, failed = _scan_in_process(progress)
    progress("Counting words", 0.0, f"{len(rows)} rows")
    texts = [f"{row['name']}\n{row['text']}" for row in rows]
    vectorizer = TextVectorizer(min_df=MIN_ROWS, sublinear=False, pattern=WORD)
    X = vectorizer.fit_transform(texts)
    words = vectorizer.get_feature_names_out()
    progress("Counting words", 0.8, f"{len(words)} words")
    counts = Counter(name for row in rows for name in row["parameters"])
    labels = sorted(name for name, count in counts.items() if count >= MIN_ROWS)
    ids = {name: j for j, name in enumerate(labels)}
    Y = [[ids[name] for name in row["parameters"] if name in ids] for row in rows]
    train, test = split_rows(len(rows), TEST_SIZE, SEED)
    titles = [row["name"] for row in rows]
    versions = ", ".join(f"{name} {version}" for name, version in _versions().items())
    notes = [
        f"Made from the documentation of {versions}: a row is a function or a class, a feature a word of its text, and "
        "a label the name of one of its documented parameters. Values are tf-idf weights.",
        f"The test rows are {len(test):,} of the {len(rows):,} rows, drawn at random with seed {SEED}.",
    ]
    if failed:
        notes.append(f"{len(failed)} modules could not be imported and were skipped: {', '.join(sorted(failed))}.")
    dataset = Dataset(
        "api-docs",
        X[train],
        [Y[i] for i in train],
        X[test],
        [Y[i] for i in test],
        feature_names=words,
        label_names=labels,
        row_names_train=[titles[i] for i in train],
        row_names_test=[titles[i] for i in test],
        notes=notes,
        texts_train=[texts[i] for i in train],
        texts_test=[texts[i] for i in test],
        vectorizer=vectorizer,
    )
    progress("Counting words", 1.0, f"{len(words)} words, {len(labels)} parameter names")
    return dataset


def _versions():
    return {name: metadata.version(name) for name in PACKAGES.values()}


def made_from() -> dict:
    """Return what the content depends on: versions of Python, of the documented packages, and of this module."""
    return {
        "versions": _versions(),
        "python": list(sys.version_info[:2]),  # some modules exist only for some versions of Python
        "code": VERSION,
    }


def load(progress):
    from xmlcore import store
    from xmlcore.artifact_keys import artifact_key
    from xmlcore.datasets.saved import as_plain, from_plain

    key = artifact_key(KIND, {}, made_from())
    with contextlib.suppress(store.StoreError):  # there is none yet, or it is damaged
        dataset = from_plain(store.load(KIND, key))
        progress("Reading documentation", 1.0, "from the cache")
        return dataset
    dataset = build(progress)
    store.save(KIND, key, as_plain(dataset), name="api-docs")
    return dataset


if __name__ == "__main__":
    _main()
