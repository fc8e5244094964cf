"""How long work says what it is doing, and how it is stopped."""

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
