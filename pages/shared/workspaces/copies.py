"""Copies of what a workspace keeps."""

from copy import deepcopy

_SCALARS = frozenset((str, int, float, bool, type(None)))  # types of which no copy is needed


def copied(value):
    """Return a deep copy of what JSON can hold, several times faster than ``deepcopy``."""
    if isinstance(value, dict):
        return {name: one if type(one) in _SCALARS else copied(one) for name, one in value.items()}
    if isinstance(value, list):
        return [one if type(one) in _SCALARS else copied(one) for one in value]
    return value if type(value) in _SCALARS else deepcopy(value)
