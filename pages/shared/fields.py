"""First values of fields, and what they accept."""


def rows_within(seconds, n_rows: int, most_seconds: float, samples) -> int:
    """Return how many rows to begin with: all when that is quick, else the largest sample that is.

    Parameters
    ----------
    seconds : callable
        Estimated time for a number of rows.
    n_rows : int
        All rows.
    most_seconds : float
    samples : sequence of int
        Numbers of rows, falling. The last one is taken when none is quick.
    """
    if seconds(n_rows) <= most_seconds:
        return n_rows
    return next((n for n in samples if n < n_rows and seconds(n) <= most_seconds), min(n_rows, samples[-1]))


def whole_number(low: int, high: int):
    """Return a function that says whether a remembered value is a whole number from ``low`` to ``high``."""
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
