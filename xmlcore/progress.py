"""Progress reporting and cancellation for long-running work."""

from typing import Protocol


class Cancelled(Exception):
    """Raised by a progress callback to stop the work that reports to it."""


class Progress(Protocol):
    """The type of the argument ``progress`` of long functions.

    The callback is called often, so it should be fast. It may raise :class:`Cancelled` to stop the work. Any thread of
    the work may call it, but never two at the same time.
    """

    def __call__(self, phase: str, fraction: float, detail: str = "") -> None:
        """Report how far the work is.

        Parameters
        ----------
        phase : str
            What is being done, in words for users, such as ``"Training nodes"``.
        fraction : float
            The finished share of this phase, in [0, 1].
        detail : str
            A count or a name to show beside the phase, such as ``"120 of 384 nodes"``.
        """


def silent(phase: str, fraction: float, detail: str = "") -> None:
    """Ignore the report: the default of ``progress`` arguments."""


def part_of(
    progress: Progress, start: float, end: float, *, phase: str | None = None, detail: str | None = None
) -> Progress:
    """Return a progress callback for one part of a longer piece of work.

    Parameters
    ----------
    progress : callable
        Reports the whole work.
    start, end : float
        Fractions of the whole work, in [0, 1], that are done before and after the part.
    phase : str, optional
        Reported instead of the phase that the part reports.
    detail : str, optional
        Put before the detail that the part reports.
    """

    def report(part_phase: str, fraction: float, part_detail: str = "") -> None:
        """Pass on a report of the part as a report of the whole work."""
        full_detail = ": ".join(text for text in (detail, part_detail) if text)
        progress(phase or part_phase, start + fraction * (end - start), full_detail)

    return report
