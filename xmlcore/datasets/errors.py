"""What goes wrong with data, said so that it can be put right."""


class DatasetFormatError(ValueError):
    """A file is not what it should be.

    Parameters
    ----------
    source : str
        The file, as the user knows it.
    found : str
        What is there, and what is wrong with it.
    remedy : str
        What to do about it.
    line : int, optional
        Line of the file, from 1.
    column : int, optional
        Byte within the line, from 1.

    Attributes
    ----------
    source, found, remedy, line, column
        As given.
    """

    def __init__(
        self, source: str, found: str, remedy: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        self.source = source
        self.found = found
        self.remedy = remedy
        self.line = line
        self.column = column
        place = source
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column}"
        super().__init__(f"{place}: {found}." + (f" {remedy}" if remedy else ""))

    def __reduce__(self):
        return type(self), (self.source, self.found, self.remedy, self.line, self.column)


class DatasetWarning(UserWarning):
    """Data that can be read, but in a way that is worth knowing."""
