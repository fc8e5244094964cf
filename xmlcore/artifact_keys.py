"""Keys of results: hashes of what decides a result, under which :mod:`xmlcore.store` keeps it."""

import hashlib
import json
import math
import numbers

_LARGEST_EXACT = 2**53  # all integers up to this size are exact as float64


def _plain(value, where):
    """Return ``value`` in types that JSON has, so that equal parameters give equal text; errors name ``where``."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():  # a NumPy scalar
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return {"float": repr(value)}
        # 10.0 and 10 get the same key: forms and notebooks write the same number differently.
        return int(value) if value.is_integer() and abs(value) <= _LARGEST_EXACT else value
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                raise TypeError(f"{where} has the key {name!r}; the keys of a parameter must be text")
        return {name: _plain(item, f"{where}[{name!r}]") for name, item in value.items()}
    raise TypeError(
        f"{where} is a {type(value).__name__}, which cannot be part of a key; "
        "give a number, text, True, False, None, or a list or dict of these"
    )


def artifact_key(kind: str, inputs: dict, params: dict, version: int = 1) -> str:
    """Return the key of a result, which depends on its kind, inputs, parameters and version: 32 hex digits."""
    for name, value in (("inputs", inputs), ("params", params)):
        if not isinstance(value, dict):
            raise TypeError(f"{name} must be a dict, not {type(value).__name__}")
    parts = [kind, _plain(inputs, "inputs"), _plain(params, "params"), int(version)]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
