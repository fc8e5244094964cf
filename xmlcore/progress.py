"""Progress reporting and cancellation for long-running work."""

from typing import Protocol


class Cancelled(Exception):
    """Raised by a progress callback when the work is no longer wanted."""


class Progress(Protocol):
    """What long functions take as ``progress``: called often, cheap, may raise :class:`Cancelled`.

    It may be called by other threads than the one that started the work, by one at a time.
    """

    def __call__(self, phase: str, fraction: float, detail: str = "") -> None:
        """Report.

        Parameters
        ----------
        phase : str
            What is being done, as a user would say it: ``"Training nodes"``.
        fraction : float
            How much of this phase is done, in [0, 1].
        detail : str
            A count or a name worth showing, such as ``"120 of 384 nodes"``.
        """


def silent(phase: str, fraction: float, detail: str = "") -> None:
    """Report to nobody."""


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

    def report(own_phase: str, fraction: float, own_detail: str = "") -> None:
        said = ": ".join(text for text in (detail, own_detail) if text)
        progress(phase or own_phase, start + fraction * (end - start), said)

    return report
