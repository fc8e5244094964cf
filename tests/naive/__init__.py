"""Plain-Python twins of the kernels: slow, short, and plainly right.

The twin of ``xmlcore/_kernels/NAME.py`` is ``tests/naive/NAME.py``, written from the definition of what is computed and
not from the kernel. A test calls both and compares: ``import naive``, then ``naive.NAME.function``. Kernel files
without a twin, and twins of something else than a kernel, are listed with the reason in ``tests/test_twins.py``.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"naive.{_module.name}")
