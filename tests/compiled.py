"""What has been compiled so far."""

from importlib import import_module
from pkgutil import iter_modules

import xmlcore._kernels as kernels


def compiled():
    """Return the signatures of every kernel that is called from Python, by module and name."""
    signatures = {}
    for info in iter_modules(kernels.__path__):
        for name, item in vars(import_module(f"{kernels.__name__}.{info.name}")).items():
            if isinstance(getattr(item, "signatures", None), list):
                signatures[f"{info.name}.{name}"] = set(item.signatures)
    return signatures
