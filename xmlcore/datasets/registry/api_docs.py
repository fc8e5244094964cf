"""The data set "api-docs", made from the documentation of numpy, scipy, scikit-learn and pandas: docs/catalog.md.

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
MIN_ROWS = 2  # smallest number of rows of a word or a label
MIN_WORDS = 3  # smallest number of words in a text
SHARED = 10  # docstrings with a paragraph that says nothing of the single function
HIDDEN = "…"  # stands for a name
TEST_SIZE = 0.2
SEED = 0
VERSION = 5  # raised when a change of this module changes the data set, or what is kept of it

# Modules without documentation for users: tests and their set-up, copies of other packages, build tools, and modules
# that pandas documents as private although their names have no underscore.
_SKIPPED_NAMES = {"tests", "conftest", "setup", "externals", "distutils"}
_SKIPPED_MODULES = {"pandas.core", "pandas.compat"}
# Types of functions: numpy's dispatchers, and what Cython compiles.
_FUNCTION_LIKE = ("_ArrayFunctionDispatcher", "cython_function_or_method", "fused_cython_function")
_UNDERLINE = re.compile(r"(-{3,}|={3,})\s*")
# Begins a paragraph of a signature, a table, code, a formula, or one that leads elsewhere.
_NO_PROSE = re.compile(r"\s|\.\. |>>>|={3}|[\w.]+\(|(Read more|Refer to|See) ")
_NAME = re.compile(r"(?::[\w:]+:)?`?[~.]*([A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?`?\.?")
_MARKED = re.compile(r"(?:(?<![\w:]):[\w:]++)?(`{1,2})(.+?)\1_{0,2}")
_LINKED = re.compile(r"([^<]*[^<\s])\s*+<(.+)>")
_BLANKS = re.compile(
    r"(?<!\s)[^\S\n]*\n\s*+(?![-*] )|(?<! ) {2,}+|(?<!\s)\s*+\[\d+\]_"
)  # items of a list stay in lines of their own


# ---- the scan: nothing of xmlcore, because it runs as a script ------------------------------------------------------


def split_docstring(doc: str) -> tuple[list[str], list[str]]:
    """Return the paragraphs before the first section, without code and formulas, and the names in See Also."""
    lines = inspect.cleandoc(doc).splitlines()
    headings = [
        i for i, line in enumerate(lines[:-1]) if line and not line[0].isspace() and _UNDERLINE.fullmatch(lines[i + 1])
    ]
    names = []
    for start, end in zip(headings, [*headings[1:], len(lines)]):
        if lines[start].rstrip(" :").lower() == "see also":
            for line in lines[start + 2 : end]:
                names += _listed(line)
    before = "\n".join(lines[: headings[0]] if headings else lines).rstrip()
    return [part for part in re.split(r"\n(?:[ \t]*\n)+", before) if part and not _NO_PROSE.match(part)], names


def _listed(line):
    """Return the names in a line of a See Also section: ["mean", "ma.std"] for ``mean, ma.std : Two measures``."""
    names = []
    for piece in re.split(r"(?<!\s)\s*+:(?=\s|$)", line, maxsplit=1)[0].split(","):
        if name := _NAME.fullmatch(piece.strip()) if line[:1].strip() else None:
            names.append(name[1])
        elif piece.strip():
            break  # a sentence, not a list of names
    return names


def _readable(paragraph, find, labels):
    """Return a paragraph as plain text, with "…" for the names that ``find`` knows, and for those of the labels."""

    def unmarked(match):
        linked = _LINKED.fullmatch(match[2])
        shown, name = linked.groups() if linked else (match[2], match[2])
        return HIDDEN if find(name.strip("~!. ()")) else shown.strip("~ ")

    text = _MARKED.sub(unmarked, _BLANKS.sub(" ", paragraph).strip())
    for label in labels:
        last = label.rpartition(".")[2]
        if last in text:
            dots = "+" if last.isalpha() and last[1:].islower() else "*"  # a plain word is hidden after a dot only
            text = re.sub(rf"(?<![\w.])\.?(?:\w+\.){dots}{last}(?!\w)", HIDDEN, text)
    sentences = re.split(r"(?<=\.) (?=[A-Z])", text)
    return " ".join(sentences[:-1] if text.endswith(":") else sentences).strip()  # code or a formula would follow


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
    # What documents the same in the same words is one thing of several names, best first: those of no base class,
    # shorter ones. By package, own name and docstring.
    known, keys = {}, {}

    def offer(name, thing, inherited=False):
        """Keep an object under a name; return whether the package owns the object."""
        package, owner = name.partition(".")[0], _owner(thing)
        if owner not in (None, package):
            return False
        if isinstance(doc := getattr(thing, "__doc__", None), str):
            key = keys.setdefault(name, (package, getattr(thing, "__name__", ""), doc))
            known.setdefault(key, set()).add((inherited, len(name), name))
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
    return _rows(known, keys)


def _rows(known, keys):
    """Return the rows of objects: ``known`` has their names by key, and ``keys`` their keys by name."""
    read, votes, shared = {}, Counter(), Counter()
    for key, names in known.items():
        paragraphs, listed = split_docstring(key[2])
        parts = min(names)[2].split(".")
        scopes = ["", *(".".join(parts[:n]) + "." for n in range(len(parts) - 1, 0, -1)), "numpy."]

        def found(name, scopes=scopes):
            return next((scope + name for scope in scopes if scope + name in keys), None)

        related = [name for name in map(found, listed) if name]
        votes.update(related)
        shared.update(paragraphs[1:])
        read[key] = paragraphs, found, related
    # The name by which others call it, such as numpy.concatenate, which has the shorter name concat as well.
    best = {key: min(names, key=lambda one: (-votes[one[2]], *one))[2] for key, names in known.items()}
    rows = {}  # by text: functions that are described in the same words are one row, with the labels of all
    for key, (paragraphs, found, related) in sorted(read.items(), key=lambda item: best[item[0]]):
        labels = list(dict.fromkeys([best[key], *(best[keys[name]] for name in related)]))
        said = [paragraph for i, paragraph in enumerate(paragraphs) if not i or shared[paragraph] < SHARED]
        text = "\n\n".join(filter(None, (_readable(paragraph, found, labels) for paragraph in said)))
        if len(re.findall(WORD, text)) >= MIN_WORDS:
            row = rows.setdefault(text, {"name": best[key], "text": text, "labels": []})
            row["labels"] = list(dict.fromkeys([*row["labels"], *labels]))
    return list(rows.values())


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
    """Make the data set, in some seconds: rows are functions and classes, labels themselves and related ones."""
    import numpy as np

    from xmlcore.datasets.dataset import Dataset
    from xmlcore.datasets.texts import TextVectorizer

    rows, failed = _scan_in_process(progress)
    progress("Counting words", 0.0, f"{len(rows)} functions")
    counts = Counter(name for row in rows for name in row["labels"])
    labels = sorted(name for name, count in counts.items() if count >= MIN_ROWS)
    ids = {name: j for j, name in enumerate(labels)}
    rows = [row for row in rows if not ids.keys().isdisjoint(row["labels"])]
    rows = [rows[i] for i in np.random.default_rng(SEED).permutation(len(rows))]
    texts = [row["text"] for row in rows]
    vectorizer = TextVectorizer(min_df=MIN_ROWS, pattern=WORD)
    X = vectorizer.fit_transform(texts)
    words = vectorizer.get_feature_names_out()
    progress("Counting words", 0.8, f"{len(words)} words")
    Y = [[ids[name] for name in row["labels"] if name in ids] for row in rows]
    names = [row["name"] for row in rows]
    versions = ", ".join(f"{name} {version}" for name, version in _versions().items())
    n_test = round(len(rows) * TEST_SIZE)
    notes = [
        f"Made from the documentation of {versions}: a row is a function or a class, a feature a word of its prose, "
        "and its labels are the functions that its See Also names, and itself if others name it. Values are tf-idf "
        "weights.",
        f"The rows are in random order (seed {SEED}); the test rows are the first {n_test:,} of {len(rows):,}.",
    ]
    if failed:
        notes.append(f"{len(failed)} modules could not be imported and were skipped: {', '.join(sorted(failed))}.")
    train, test = slice(n_test, None), slice(n_test)
    dataset = Dataset(
        "api-docs",
        X[train],
        Y[train],
        X[test],
        Y[test],
        feature_names=words,
        label_names=labels,
        row_names_train=names[train],
        row_names_test=names[test],
        notes=notes,
        texts_train=texts[train],
        texts_test=texts[test],
        vectorizer=vectorizer,
        columns={"library": [name.partition(".")[0] for name in names[train] + names[test]]},
    )
    progress("Counting words", 1.0, f"{len(words)} words, {len(labels)} labels")
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
