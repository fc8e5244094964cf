"""Names that a package imports on their first use, so that importing the package stays quick."""

from collections.abc import Callable, Mapping
from importlib import import_module
from sys import modules
from typing import Any


def on_first_use(package: str, names: Mapping[str, tuple[str, ...]]) -> tuple[Callable[[str], Any], Callable[[], list]]:
    """Return ``__getattr__`` and ``__dir__`` of a package; ``names`` are those of each module that are its names."""
    places = {name: module for module, of_module in names.items() for name in of_module}

    def on_use(name):
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if places[name] == package:  # a module of the package
            return import_module(f"{package}.{name}")
        return getattr(import_module(places[name]), name)

    return on_use, lambda: sorted({*vars(modules[package]), *places})
