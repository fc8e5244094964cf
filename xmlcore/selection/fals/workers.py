"""Threads that are started once for many short pieces of work, such as training steps."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor

from xmlcore.system import effective_jobs


class Workers:
    """A pool of threads for a ``with`` statement; with ``n_jobs=1`` the calling thread does all work."""

    def __init__(self, n_jobs):
        threads = effective_jobs(n_jobs)
        self._ahead = 2 * threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._pool:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def each(self, function, parts):
        """Call ``function(*part)`` for each part and wait until all are done."""
        if self._pool is None or len(parts) == 1:
            for part in parts:
                function(*part)
            return
        futures = [self._pool.submit(function, *part) for part in parts]
        for future in futures:
            future.result()

    def ordered(self, function, parts):
        """Yield ``function(*part)`` for each part, in their order."""
        if self._pool is None:
            for part in parts:
                yield function(*part)
            return
        waiting = deque()
        try:
            for part in parts:
                waiting.append(self._pool.submit(function, *part))
                if len(waiting) >= self._ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


class InCaller:
    """A stand-in for :class:`Workers` that does all work in the calling thread."""

    def each(self, function, parts):
        """See :meth:`Workers.each`."""
        for part in parts:
            function(*part)

    def ordered(self, function, parts):
        """See :meth:`Workers.ordered`."""
        for part in parts:
            yield function(*part)
