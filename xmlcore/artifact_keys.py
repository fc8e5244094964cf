"""Keys of results: hashes of their inputs and settings, under which :mod:`xmlcore.store` keeps them."""

import functools
import hashlib
import json
import math
import numbers
from importlib import metadata

LIBRARIES = ("numpy", "scipy", "numba")  # which may decide the bits of a result
_LARGEST_EXACT = 2**53  # all integers up to this size are exact as float64


def plain(value, where: str = "value", of_float=lambda value: value):
    """Return a value in types that JSON has: NumPy scalars become numbers, tuples lists; errors name ``where``."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, float):
        return of_float(value)
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{where}[{i}]", of_float) for i, item in enumerate(value)]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {name: plain(item, f"{where}[{name!r:.200}]", of_float) for name, item in value.items()}
    given = f"{where} is a {type(value).__name__}"
    raise TypeError(f"{given}: give a number, text, True, False, None, a list, or a dict with text as keys")


def _same_for_equal(value: float):
    """Return a float as a key has it: 10.0 and 10 are the same, as forms and notebooks write both."""
    if not math.isfinite(value):
        return {"float": repr(value)}
    return int(value) if value.is_integer() and abs(value) <= _LARGEST_EXACT else value


def artifact_key(kind: str, inputs: dict, params: dict, version: int = 1) -> str:
    """Return the key of a result, which depends on its kind, inputs, parameters and version: 32 hex digits."""
    for name, value in (("inputs", inputs), ("params", params)):
        if not isinstance(value, dict):
            raise TypeError(f"{name} must be a dict, not {type(value).__name__}")
    parts = [kind, plain(inputs, "inputs", _same_for_equal), plain(params, "params", _same_for_equal), int(version)]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@functools.cache
def library_versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in LIBRARIES}
