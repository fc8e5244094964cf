"""What a request may cost, and the error of a request that is refused."""

from dataclasses import dataclass, fields

from xmlcore.system import effective_jobs
from xmlcore.validation import check_count

LARGE_BYTES = 1 << 16  # of a body: with more a request is large
LARGE_LABELS = 10_000  # in an answer: with more a request is large


class Refused(Exception):
    """A request that is answered with a status of 4xx or 503, and a reason: what was found and what to send."""

    def __init__(self, status: int, reason: str):
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass(frozen=True)
class Limits:
    """Bounds of each request and of all together."""

    bytes: int = 16 << 20  # of the body of a request; a larger one is refused before it is read (status 413)
    rows: int = 1000  # rows or texts in a request
    k: int = 1000  # labels that are returned for each
    seconds: int = 30  # for sending the body, and then for waiting and predicting; longer ones are given up
    at_once: int | None = None  # requests that are worked on at the same time; by default one per core
    waiting: int = 100  # requests that wait for a turn; one more is refused (status 503): the answer comes at once

    def __post_init__(self):
        object.__setattr__(self, "at_once", effective_jobs(None) if self.at_once is None else self.at_once)
        for field in fields(self):
            check_count(getattr(self, field.name), field.name)
