"""Docstrings of the public names, by the rules of numpydoc."""

import dataclasses
import inspect
import sys
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import ERROR_MSGS, Validator, validate

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
make_reference = import_module("make_reference")
sys.path.pop(0)

# Every other code of numpydoc is an error.
IGNORED = {
    "ES01",  # no extended summary: one sentence is often enough
    "SA01",  # no "See Also"
    "EX01",  # no example: docs/methods has them
    "PR07",  # a parameter without a description: X and Y mean the same everywhere, their shapes are stated
    "PR08",  # a description may start with the name of a parameter or a unit
    "RT03",  # a return value without a description: the summary says what is returned
    "RT04",  # the same as PR08, for return values
}
METHOD_KINDS = (staticmethod, classmethod, property)


def public_names(module_name):
    """Return the dotted names of a module's public functions and classes, and of their public methods."""
    make_reference.load_names(module_name)
    module = import_module(module_name)
    exported = getattr(module, "__all__", None)
    if exported is None:
        exported = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module_name]
    names = []
    for name in sorted(exported):
        value = getattr(module, name)
        if name.startswith("_") or inspect.ismodule(value) or not callable(value):
            continue
        names.append(f"{module_name}.{name}")
        if inspect.isclass(value):
            names += [f"{module_name}.{name}.{method}" for method in public_methods(value)]
    return names


def public_methods(cls):
    """Return the names of the public methods and properties that a class has from this package."""
    found = {}
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] == "xmlcore":
            found.update(
                (name, None)
                for name, value in vars(base).items()
                if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, METHOD_KINDS))
            )
    return sorted(found)


def violations(name):
    """Return the codes and messages of numpydoc that count for a name."""
    cls = Validator._load_obj(name)
    attributes = {
        part.strip()
        for entry in NumpyDocString(inspect.getdoc(cls) or "")["Attributes"]
        for part in entry.name.split(",")
    }
    is_record = inspect.isclass(cls) and (dataclasses.is_dataclass(cls) or hasattr(cls, "_fields"))
    for code, message in validate(name)["errors"]:
        # Users read the fields of a result and never make one: its section "Attributes" describes them.
        documented = code == "PR01" and is_record and set(inspect.signature(cls).parameters) == attributes
        if code not in IGNORED and not documented:
            yield code, message


def test_the_ignored_codes_exist():
    assert set(ERROR_MSGS) > IGNORED


@pytest.mark.parametrize("module_name", make_reference.MODULES)
def test_docstrings_follow_numpydoc(module_name):
    wrong = [f"{name}: {code} {message}" for name in public_names(module_name) for code, message in violations(name)]
    assert not wrong, "\n".join(wrong)
