"""Threads on which requests are worked on."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from xmlcore.progress import Cancelled
from xmlcore.serve.limits import Refused


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
