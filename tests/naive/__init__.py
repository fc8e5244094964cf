"""Plain-Python twins of the kernels: slow, short, and plainly right.

Each is written from the definition of what is computed, not from the kernel.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"naive.{_module.name}")
