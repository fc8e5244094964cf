"""All public functions of the package, and the public methods of its public classes."""

import inspect
from importlib import import_module

PACKAGES = (
    "xmlcore", "xmlcore.models", "xmlcore.selection", "xmlcore.metrics", "xmlcore.decisions", "xmlcore.review",
    "xmlcore.datasets",
    "xmlcore.robustness", "xmlcore.explain", "xmlcore.figures", "xmlcore.experiment", "xmlcore.jobs", "xmlcore.store",
    "xmlcore.serve", "xmlcore.ranking", "xmlcore.progress", "xmlcore.typing",
)  # fmt: skip


def public_functions():
    """Name -> function, of all public functions and of the public methods of all public classes."""
    found = {}
    for name in PACKAGES:
        module = import_module(name)
        for public in getattr(module, "__all__", None) or [key for key in vars(module) if key[0] != "_"]:
            value = getattr(module, public)
            if not getattr(value, "__module__", "").startswith("xmlcore"):
                continue
            if inspect.isfunction(value):
                found[f"{value.__module__}.{public}"] = value
            for cls in value.__mro__ if inspect.isclass(value) else ():
                for key, member in vars(cls).items() if cls.__module__.startswith("xmlcore") else ():
                    member = getattr(member, "__func__", member)
                    member = member.fget if isinstance(member, property) else member
                    if inspect.isfunction(member) and (key[0] != "_" or key in ("__init__", "__call__")):
                        if "xmlcore" in member.__code__.co_filename:  # not what dataclasses write
                            found[f"{cls.__module__}.{cls.__qualname__}.{key}"] = member
    return found
