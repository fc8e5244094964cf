"""Limits of a request, the error of a refused one, and the threads on which requests are worked on."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any

from xmlcore.progress import Cancelled
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


class Lane:
    """Some threads, and the requests that are worked on there or wait; used on the event loop only."""

    def __init__(self, threads: int, waiting: int, seconds: float):
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="predict")
        self.most, self.seconds, self.busy = threads + waiting, seconds, 0

    @property
    def is_full(self) -> bool:
        return self.busy >= self.most

    async def run(self, request, work: Callable[..., Any]) -> Any:
        """Return what ``work(progress)`` returns; ``progress`` ends it when time is over or the client has gone."""
        end = time.monotonic() + self.seconds
        if self.is_full:
            raise Refused(503, f"{self.busy:,} requests are waiting already: try again in a moment")
        gone = asyncio.ensure_future(_gone(request))

        def progress(phase, fraction, detail=""):
            if time.monotonic() > end or gone.done():
                raise Cancelled

        def started():
            progress("Waiting", 0.0)
            return work(progress)

        self.busy += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self.pool, started)
        except Cancelled:
            raise Refused(503, f"this took more than {self.seconds} seconds: send less, or try again") from None
        except asyncio.CancelledError:
            raise Refused(503, "the server is being stopped: ask another, or try again later") from None
        except (ValueError, TypeError) as error:  # rows that the model does not accept
            raise Refused(422, " ".join(str(error).split())[:1000]) from error
        finally:
            self.busy -= 1
            gone.cancel()


async def _gone(request) -> None:
    """Return when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
