"""Names and modules that are imported on their first use, so that importing xmlcore stays quick."""

from collections.abc import Callable, Mapping
from importlib import import_module
from sys import modules
from typing import TYPE_CHECKING, Any

from xmlcore.extras import MissingExtraError


def on_first_use(package: str, names: Mapping[str, tuple[str, ...]]) -> tuple[Callable[[str], Any], Callable[[], list]]:
    """Return ``__getattr__`` and ``__dir__`` of a package; ``names`` are those of each module that are its names."""
    places = {name: module for module, of_module in names.items() for name in of_module}

    def on_use(name):
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if places[name] != package:
            return getattr(import_module(places[name]), name)
        try:
            return import_module(f"{package}.{name}")
        except MissingExtraError as error:  # so that hasattr, help and inspect find that it is not there
            raise AttributeError(str(error), name=name) from error

    return on_use, lambda: sorted({*vars(modules[package]), *places})


class _Module:
    """A module that is imported when one of its names is used."""

    def __init__(self, module: str):
        self._module = module

    def __getattr__(self, name):
        value = getattr(import_module(self._module), name)
        setattr(self, name, value)
        return value

    def __reduce__(self):
        return _Module, (self._module,)


if TYPE_CHECKING:
    import pandas as pd
else:
    pd = _Module("pandas")  # to import it takes half a second
