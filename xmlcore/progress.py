"""Progress reporting and cancellation for long-running work."""

import inspect
from typing import Any, Literal, Protocol, TypeAlias

from xmlcore.extras import require

# How tqdm draws a bar: phase, percentage, bar, time, detail.
BAR_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"


class Cancelled(Exception):
    """Raised by a progress callback to stop the work that reports to it."""


class Progress(Protocol):
    """The type of the argument ``progress`` of long functions.

    The callback is called often, so it should be fast. It may raise :class:`Cancelled` to stop the work. Any thread of
    the work may call it, but never two at the same time.
    """

    def __call__(self, phase: str, fraction: float, detail: str = "") -> None:
        """Report how far the work is."""


ProgressLike: TypeAlias = Progress | Literal["bar"]  # what public functions take as ``progress``


def silent(phase: str, fraction: float, detail: str = "") -> None:
    """Ignore the report: the default of ``progress`` arguments."""


def part_of(
    progress: Progress, start: float, end: float, *, phase: str | None = None, detail: str | None = None
) -> Progress:
    def report(part_phase: str, fraction: float, part_detail: str = "") -> None:
        full_detail = ": ".join(text for text in (detail, part_detail) if text)
        progress(phase or part_phase, start + fraction * (end - start), full_detail)

    return report


def of_phases(progress: Progress, shares: dict[str, float]) -> Progress:
    """Report phases as parts of one work: each goes on where the one before it has ended.

    ``shares`` of the time are by the phases in their order; they need not add up to 1, and those that are left out do
    not count. A phase without a share is all that is left.
    """
    phases, present, begun, reached = list(shares), "", 0.0, 0.0

    def report(phase: str, fraction: float, detail: str = "") -> None:
        nonlocal present, begun, reached
        if phase != present:
            present, begun = phase, reached
        share = shares[phase] / sum(shares[name] for name in phases[phases.index(phase) :]) if phase in shares else 1.0
        reached = max(reached, begun + fraction * share * (1 - begun))
        progress(phase, reached, detail)

    return report


class Bar:
    """Show progress as bars of tqdm, in a terminal or a notebook; ``progress="bar"`` makes one.

    A bar shows the finished share of the work, its phase, and the detail. It is followed by another one when the work
    goes on with a phase that starts from 0. Phases of one longer work share a bar.

    Parameters
    ----------
    **options : object
        Arguments of ``tqdm.auto.tqdm``, such as ``file`` or ``leave=False``.

    Raises
    ------
    ImportError
        tqdm is not installed; the message says how to install it.

    Examples
    --------
    >>> from xmlcore import PLT
    >>> model = PLT().fit([[1.0, 0.0], [0.0, 1.0]], [[0], [1]], progress="bar")  # doctest: +SKIP
    Training nodes: 100%|██████████| 00:00<00:00, 2 of 2 nodes
    """

    def __init__(self, **options: Any) -> None:
        require("bars", "tqdm")
        from tqdm.auto import tqdm

        self._tqdm, self._options = tqdm, {"total": 1.0, "bar_format": BAR_FORMAT, **options}
        self._bar, self._phase = None, None

    def __call__(self, phase: str, fraction: float, detail: str = "") -> None:
        """Show how far the work is; see :class:`Progress`."""
        if phase != self._phase:
            if self._bar is not None and fraction < self._bar.n:
                self.close()
        elif self._bar is None and fraction >= 1:
            return  # the bar of this phase is complete
        if self._bar is None:
            self._bar = self._tqdm(desc=phase, **self._options)
        elif phase != self._phase:
            self._bar.set_description(phase, refresh=False)
        self._phase = phase
        self._bar.set_postfix_str(detail, refresh=False)
        self._bar.update(max(0.0, min(1.0, fraction) - self._bar.n))
        if fraction >= 1:
            self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def to_progress(progress: ProgressLike | None) -> Progress:
    if progress is None or progress is silent:
        return silent
    if isinstance(progress, str) and progress == "bar":
        return Bar()
    if not callable(progress):
        raise TypeError(f'progress must be a function, as in xmlcore.progress.Progress, or "bar", not {progress!r:.60}')
    try:
        inspect.signature(progress).bind("", 0.0, "")
    except ValueError:  # a function of C, which does not say what it takes
        pass
    except TypeError as error:
        message = f"progress is called with a phase, a fraction and a detail, which {progress!r:.60} does not take"
        raise TypeError(f"{message}: {error}") from None
    return progress
