"""First values of input fields, and checks of remembered values."""


def rows_within(seconds, n_rows: int, most_seconds: float, samples) -> int:
    """Return the first value of a field for a number of rows: all rows if that is quick, else the largest quick sample.

    Parameters
    ----------
    seconds : callable
        Returns the estimated time, in seconds, for a number of rows.
    n_rows : int
        Number of all rows.
    most_seconds : float
        Time up to which a number of rows is quick.
    samples : sequence of int
        Numbers of rows in falling order. The last one is returned when no number is quick.
    """
    if seconds(n_rows) <= most_seconds:
        return n_rows
    return next((n for n in samples if n < n_rows and seconds(n) <= most_seconds), min(n_rows, samples[-1]))


def whole_number(low: int, high: int):
    """Return a function that says whether a remembered value is a whole number from ``low`` to ``high``."""
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
