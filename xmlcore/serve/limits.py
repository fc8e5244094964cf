"""What a request may cost, and the error of a request that is refused."""

from dataclasses import dataclass, fields

from xmlcore.system import effective_jobs
from xmlcore.validation import check_count


class Refused(Exception):
    """A request that is answered with a status of 4xx or 503, and a reason: what was found and what to send."""

    def __init__(self, status: int, reason: str):
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass(frozen=True)
class Limits:
    """Bounds of each request and of all together.

    Parameters
    ----------
    bytes : int
        Most bytes of the body of a request; a larger one is refused before it is read (status 413).
    rows : int
        Most rows or texts in a request.
    k : int
        Most labels that are returned for each.
    seconds : int
        Time for sending the body, and then for waiting and predicting; a request that takes longer is given up.
    at_once : int, optional
        Requests that are worked on at the same time; by default one per core.
    waiting : int
        Requests that wait for a turn; one more is refused (status 503), so that the answer comes at once.
    """

    bytes: int = 16 << 20
    rows: int = 1000
    k: int = 1000
    seconds: int = 30
    at_once: int | None = None
    waiting: int = 100

    def __post_init__(self):
        object.__setattr__(self, "at_once", effective_jobs(self.at_once))
        for field in fields(self):
            check_count(getattr(self, field.name), field.name)
