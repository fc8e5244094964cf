"""Errors and warnings about data, which name the place and the remedy."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

_HERE = str(Path(__file__).parent)


def _in_python(argument: str, value: object = None) -> str:
    """Return how users of the library write an argument; a name with a point is that of a function."""
    return argument if "." in argument else f"{argument}={'...' if value is None else f'{value!r:.200}'}"


class Fault(NamedTuple):
    """A fault, its place and its remedy. No sentence names an argument: each surface calls it in its own way."""

    found: str
    remedy: str = ""
    source: str = ""  # name of the file, as the user knows it
    line: int | None = None  # from 1
    column: int | None = None  # byte within the line, from 1
    argument: str | None = None  # of the library, by which the remedy is carried out
    value: Any = None  # for the argument, if it is known

    @property
    def place(self) -> str:
        parts = {"line": self.line, "column": self.column}
        return ", ".join([self.source, *(f"{noun} {number}" for noun, number in parts.items() if number is not None)])

    def advice(self, called: Callable[[str, Any], str] = _in_python) -> str:
        """Return the remedy; ``called(argument, value)`` is how a surface calls an argument, perhaps not at all."""
        hint = called(self.argument, self.value) if self.argument else ""
        if not hint:
            return self.remedy
        return f"{self.remedy.removesuffix('.')} ({hint}){'.' * self.remedy.endswith('.')}".lstrip()

    def text(self, called: Callable[[str, Any], str] = _in_python) -> str:
        """Return all in one line."""
        if not self.source and not self.remedy:  # a warning, or a short message
            return self._replace(remedy=self.found).advice(called)
        place = f"{self.place}: " if self.source else ""
        return f"{place}{self.found}. {self.advice(called)}".rstrip()


class InputError(ValueError):
    """Arguments do not fit the data, or each other; the attribute ``fault`` is a :class:`Fault`."""

    def __init__(self, found: str, remedy: str = "", *, argument: str | None = None, value: object = None) -> None:
        self._set(Fault(f"{found:.600}", f"{remedy:.600}", argument=argument, value=value))

    def _set(self, fault):
        self.fault = fault
        super().__init__(fault.text())

    def __reduce__(self):
        return _with_fault, (type(self), self.fault)


class DatasetFormatError(InputError):
    """A file does not have the expected format.

    Parameters
    ----------
    source : str
        Name of the file, as the user knows it.
    found : str
        What was found in the file, and why it is wrong.
    remedy : str
        How to correct it.
    line : int, optional
        Line of the file, from 1.
    column : int, optional
        Byte within the line, from 1.
    argument : str, optional
        The argument of the library to change.
    value : optional
        What to pass for it.

    Attributes
    ----------
    source, found, remedy, line, column
    fault : Fault
    """

    def __init__(
        self, source: str, found: str, remedy: str = "", line: int | None = None, column: int | None = None,
        *, argument: str | None = None, value: object = None,
    ) -> None:  # fmt: skip
        self._set(Fault(f"{found:.600}", f"{remedy:.600}", f"{source!s:.200}", line, column, argument, value))

    def _set(self, fault):
        super()._set(fault)
        self.source, self.found, self.remedy = fault.source, fault.found, fault.remedy
        self.line, self.column = fault.line, fault.column


class SeveralFilesError(DatasetFormatError):
    """An archive holds several files where one is expected."""


def _with_fault(kind, fault) -> InputError:
    error = kind.__new__(kind)
    error._set(fault)
    return error


class RecordPlace(NamedTuple):
    """Where a document stands: the line of a file, or the name of a file in a folder, or a row of Parquet."""

    source: str
    line: int | None = None
    row: int | None = None

    def error(self, found: str, remedy: str) -> DatasetFormatError:
        found = found if self.row is None else f"row {self.row:,}: {found}"
        return DatasetFormatError(self.source, found, remedy, self.line)

    def __str__(self):
        if self.row is not None:
            return f"row {self.row:,}"
        return str(self.source) if self.line is None else f"line {self.line:,}"


class DatasetWarning(UserWarning):
    """The data can be read, but the user should know how they were interpreted; ``fault`` is a :class:`Fault`.

    Parameters
    ----------
    message : str
        How they were interpreted.
    argument : str, optional
        The argument of the library by which that can be changed.
    value : optional
        What to pass for it.
    """

    def __init__(self, message: str, argument: str | None = None, value: object = None) -> None:
        self.fault = Fault(message, argument=argument, value=value)
        super().__init__(self.fault.text())


def warn(message: str, argument: str | None = None, value: object = None) -> None:
    """Give a :class:`DatasetWarning` that points to the line of the user which called a function of this package."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(DatasetWarning(message, argument, value), stacklevel=level)


@contextmanager
def warnings_of_data() -> Iterator[list[str]]:
    """Give a list that has the text of each :class:`DatasetWarning` of the block, without arguments, when it ends."""
    texts = []
    with warnings.catch_warnings(record=True, action="always", category=DatasetWarning) as caught:
        yield texts
    texts += [each.message.fault.found for each in caught if issubclass(each.category, DatasetWarning)]
