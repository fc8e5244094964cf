"""Values that are kept: numbers, text, arrays, DataFrames, lists and dicts, never instances of classes of xmlcore."""

import dataclasses
import numbers

from xmlcore.ranking import Ranking


def as_plain(result) -> dict:
    """Return the fields of an instance of :attr:`Task.result` as the dict that :meth:`Task.run` returns."""
    value = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    if isinstance(value.get("ranking"), Ranking):
        value["ranking"] = value["ranking"]._asdict()
    return value


def plain(value, where: str = "value"):
    """Return a value in types that JSON has: NumPy scalars become numbers, tuples become lists."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        value = value.item()
    if value is None or isinstance(value, (bool, str, float)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {name: plain(item, f"{where}[{name!r}]") for name, item in value.items()}
    raise TypeError(f"{where} is a {type(value).__name__}: give a number, text, True, False, None, or a list or dict")
