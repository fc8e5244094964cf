"""Errors and warnings about data, which name the place and the remedy."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_HERE = str(Path(__file__).parent)


class DatasetFormatError(ValueError):
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

    Attributes
    ----------
    source, found, remedy, line, column
        The arguments.
    """

    def __init__(
        self, source: str, found: str, remedy: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        self.source = source
        self.found = found
        self.remedy = remedy
        self.line = line
        self.column = column
        place = f"{source!s:.200}"
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column}"
        super().__init__(f"{place}: {found:.600}." + (f" {remedy:.600}" if remedy else ""))

    def __reduce__(self):
        return type(self), (self.source, self.found, self.remedy, self.line, self.column)


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
        return self.source if self.line is None else f"line {self.line:,}"


class SeveralFilesError(DatasetFormatError):
    """An archive holds several files where one is expected."""


class DatasetWarning(UserWarning):
    """The data can be read, but the user should know how they were interpreted."""


def warn(message: str) -> None:
    """Give a :class:`DatasetWarning` that points to the line of the user which called a function of this package."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DatasetWarning, stacklevel=level)


@contextmanager
def warnings_of_data() -> Iterator[list[str]]:
    """Give a list that has the text of each :class:`DatasetWarning` of the block when the block has ended."""
    texts = []
    with warnings.catch_warnings(record=True, action="always", category=DatasetWarning) as caught:
        yield texts
    texts += [str(warning.message) for warning in caught if issubclass(warning.category, DatasetWarning)]
