"""Docstrings of the names that the documentation names, by the rules of numpydoc.

What a module exports for the pages and for other modules only has one sentence, or none.
"""

import dataclasses
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString, get_doc_object
from numpydoc.validate import validate

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
make_reference = import_module("make_reference")
sys.path.pop(0)

# Every other code of numpydoc is an error.
IGNORED = {
    "ES01",  # no extended summary: one sentence is often enough
    "SA01",  # no "See Also"
    "EX01",  # no example: docs/methods has them
    "PR07",  # a parameter without a description: X and Y mean the same everywhere, their shapes are stated
    "PR08",  # a description may start with the name of a parameter or a unit
    "RT01",  # no return value: where there is no more to say than its type, that stands in the signature
    "RT03",  # a return value without a description: the summary says what is returned
    "RT04",  # the same as PR08, for return values
}
DOCS = [path for path in (ROOT / "docs").rglob("*.md") if path.name != "architecture.md"]
TEXT = "\n".join(path.read_text("utf-8") for path in [ROOT / "README.md", *DOCS])
CODE = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", TEXT, re.DOTALL))
METHOD_KINDS = (staticmethod, classmethod, property)


def public_objects(module_name):
    """Return a module's functions, classes and methods that the documentation names, by their dotted names."""
    make_reference.load_names(module_name)
    module = import_module(module_name)
    exported = getattr(module, "__all__", None)
    if exported is None:
        exported = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module_name]
    objects = {}
    for name in sorted(exported):
        value = getattr(module, name)
        if (
            name.startswith("_")
            or not is_documented(module_name, name)
            or inspect.ismodule(value)
            or not callable(value)
        ):
            continue
        objects[f"{module_name}.{name}"] = value
        if inspect.isclass(value):
            methods = {method: getattr(value, method) for method in public_methods(value)}
            # A method without a docstring has that of the base, which says all there is to say.
            objects |= {
                f"{module_name}.{name}.{method}": member
                for method, member in methods.items()
                if re.search(rf"\.{method}\b", CODE) and (member.__doc__ or not inspect.getdoc(member))
            }
    return objects


def is_documented(module_name, name):
    """Return whether the documentation has a name of a module in its code: alone, imported, or after the module."""
    return re.search(rf"(`|import [^\n]*\b|\b{module_name.rpartition('.')[2]}\.){name}\b", CODE) is not None


def public_methods(cls):
    """Return the names of the public methods and properties that a class has from this package."""
    methods = {}
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] == "xmlcore":
            methods.update(
                (name, None)
                for name, value in vars(base).items()
                if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, METHOD_KINDS))
            )
    return sorted(methods)


def violations(value):
    """Return the codes and messages of numpydoc that count for a function, class or method."""
    text = NumpyDocString(inspect.getdoc(value) or "")
    attributes = {name.strip() for entry in text["Attributes"] for name in entry.name.split(",")}
    is_record = inspect.isclass(value) and (dataclasses.is_dataclass(value) or hasattr(value, "_fields"))
    # Not by its name, which numpydoc would look up: xmlcore.experiment.task is a function and a module.
    for code, message in validate(get_doc_object(value))["errors"]:
        # Users read the fields of a result and never make one: its section "Attributes" describes them.
        documented = code == "PR01" and is_record and set(inspect.signature(value).parameters) == attributes
        is_protocol = code == "PR01" and getattr(value, "_is_protocol", False)  # nobody makes an instance of it
        if code not in IGNORED and not documented and not is_protocol:
            yield code, message


@pytest.mark.parametrize("module_name", make_reference.MODULES)
def test_docstrings_follow_numpydoc(module_name):
    wrong = [
        f"{name}: {code} {message}"
        for name, value in public_objects(module_name).items()
        for code, message in violations(value)
    ]
    assert not wrong, "\n".join(wrong)
