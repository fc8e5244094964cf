"""Kept values as JSON and plain arrays, which can be read without running code: for files that go to other machines."""

import math

import numpy as np

from xmlcore.first_use import pd

MARK = "$"  # the key of a dict that stands for something that JSON does not have
DEEPEST = 60  # levels of lists and dicts


class NotPortableError(ValueError):
    """A value cannot be written as, or read from, JSON and arrays."""


def pack(value) -> tuple[object, dict[str, np.ndarray]]:
    """Return a value as what JSON can hold, and its arrays by name."""
    arrays = {}
    return _packed(value, arrays, "the value"), arrays


def unpack(tree, arrays):
    """Return the value that :func:`pack` was given."""
    return _unpacked(tree, arrays, 0)


def _packed(value, arrays, where):
    """Return a part of a value as what JSON can hold; its arrays are added to ``arrays``."""
    if value is None or isinstance(value, (bool, int, str)) and not isinstance(value, np.generic):
        return value
    if isinstance(value, float) and not isinstance(value, np.generic):
        return value if math.isfinite(value) else {MARK: "float", "value": repr(value)}
    if isinstance(value, np.generic):
        return {MARK: "scalar", "array": _add(np.asarray(value), arrays, where)}
    if isinstance(value, np.ndarray) and value.dtype == object:
        items = [_packed(item, arrays, where) for item in value.ravel().tolist()]
        return {MARK: "objects", "shape": list(value.shape), "items": items}
    if isinstance(value, np.ndarray):
        return {MARK: "array", "array": _add(value, arrays, where)}
    if isinstance(value, pd.DataFrame):
        return _packed_frame(value, arrays, where)
    if isinstance(value, (list, tuple)):
        items = [_packed(item, arrays, f"{where}[{i}]") for i, item in enumerate(value)]
        return items if isinstance(value, list) else {MARK: "tuple", "items": items}
    if isinstance(value, dict):
        if all(type(name) is str for name in value) and MARK not in value:
            return {name: _packed(item, arrays, f"{where}[{name!r:.200}]") for name, item in value.items()}
        pairs = [[_packed(name, arrays, where), _packed(item, arrays, where)] for name, item in value.items()]
        return {MARK: "dict", "items": pairs}
    raise NotPortableError(f"{where} is a {type(value).__name__}, which cannot be written without pickle")


def _add(array, arrays, where) -> str:
    if array.dtype.kind not in "biufUS":
        raise NotPortableError(f"{where} is an array of {array.dtype}, which cannot be written without pickle")
    name = f"a{len(arrays)}"
    arrays[name] = np.ascontiguousarray(array).reshape(array.shape)
    return name


def _packed_frame(frame, arrays, where):
    """Return a DataFrame as what JSON can hold: a list of columns; an index other than 0, 1, 2, ... is kept, too."""
    columns = []
    for name, column in frame.items():
        columns.append([_packed(name, arrays, where), *_packed_column(column, arrays, f"{where}.{name}")])
    plain = frame.index.equals(type(frame)(index=range(len(frame))).index) and frame.index.name is None
    index = None if plain else [frame.index.name, *_packed_column(frame.index.to_series(), arrays, f"{where}.index")]
    return {MARK: "frame", "rows": len(frame), "columns": columns, "index": index}


def _packed_column(column, arrays, where):
    """Return the type of a column as text, and its values."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        kept = _packed_column(column.cat.categories.to_series(), arrays, where)
        values = {"codes": _packed(column.cat.codes.to_numpy(), arrays, where), "ordered": bool(column.cat.ordered)}
        return ["category", values | {"categories": kept}]
    if isinstance(column.dtype, np.dtype) and column.dtype != object:
        return [column.dtype.str, _packed(column.to_numpy(), arrays, where)]
    items = [None if item is pd.NA else item for item in column.tolist()]
    return [str(column.dtype), [_packed(item, arrays, where) for item in items]]


def _unpacked(tree, arrays, depth):
    if depth > DEEPEST:
        raise NotPortableError(f"more than {DEEPEST} levels")
    if isinstance(tree, list):
        return [_unpacked(item, arrays, depth + 1) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if MARK not in tree:
        return {name: _unpacked(item, arrays, depth + 1) for name, item in tree.items()}
    try:
        return _MADE[tree[MARK]](tree, arrays, depth + 1)
    except NotPortableError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise NotPortableError(f"a part of the value is damaged ({type(error).__name__}: {error})") from None


def _objects(tree, arrays, depth):
    items = [_unpacked(item, arrays, depth) for item in tree["items"]]
    found = np.empty(len(items), dtype=object)
    found[:] = items
    return found.reshape([int(size) for size in tree["shape"]])


def _dict(tree, arrays, depth):
    return {_unpacked(name, arrays, depth): _unpacked(item, arrays, depth) for name, item in tree["items"]}


def _frame(tree, arrays, depth):
    n_rows = int(tree["rows"])
    columns = [(_unpacked(name, arrays, depth), _column(*rest, arrays, depth)) for name, *rest in tree["columns"]]
    if any(len(column) != n_rows for _, column in columns):
        raise NotPortableError("the columns of a table have different lengths")
    index = None
    if tree["index"] is not None:
        name, *rest = tree["index"]
        index = pd.Index(_column(*rest, arrays, depth), name=name)
    elif not columns and n_rows > 10**7:
        raise NotPortableError("a table without columns promises too many rows")
    made = pd.DataFrame(dict(enumerate(column for _, column in columns)), index=range(n_rows))
    made.columns = pd.Index([name for name, _ in columns])
    if index is not None:
        made.index = index
    return made


def _column(kind, values, arrays, depth):
    """Return the values of a column: an array, or a pandas array."""
    if kind == "category":
        categories = pd.Index(_column(*values["categories"], arrays, depth))
        codes = _unpacked(values["codes"], arrays, depth)
        return pd.Categorical.from_codes(codes, categories, ordered=bool(values["ordered"]))
    found = _unpacked(values, arrays, depth)
    if isinstance(found, np.ndarray):
        return found
    if not isinstance(found, list):
        raise NotPortableError("a column of a table is no list")
    if kind == "object":
        made = np.empty(len(found), dtype=object)
        made[:] = found
        return made
    if kind not in _COLUMN_TYPES:
        raise NotPortableError(f"a column of a table has the unknown type {kind[:40]!r}")
    return pd.array(found, dtype=kind)


_COLUMN_TYPES = {"str", "string", "boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64",
                 "Float32", "Float64"}  # fmt: skip
_MADE = {
    "float": lambda tree, arrays, depth: float(tree["value"]),
    "scalar": lambda tree, arrays, depth: arrays[tree["array"]][()],
    "array": lambda tree, arrays, depth: arrays[tree["array"]],
    "objects": _objects,
    "tuple": lambda tree, arrays, depth: tuple(_unpacked(item, arrays, depth) for item in tree["items"]),
    "dict": _dict,
    "frame": _frame,
}
