"""Monitoring of a server: numbers for Prometheus, and a line of JSON for each request."""

import contextlib
import json
import queue
import sys
import threading
import time
from datetime import UTC, datetime

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.responses import Response

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)  # bounds of the histogram
MOST_LINES = 10_000  # of the log that wait to be written


class Numbers:
    """The numbers of ``GET /metrics``: of all requests since the server began."""

    def __init__(self, n_busy):
        self._registry = CollectorRegistry()
        self.requests = Counter("xmlcore_requests", "Requests answered", ["address", "status"], registry=self._registry)
        about = "From the head of a request to the end of its answer"
        self.seconds = Histogram(
            "xmlcore_request_seconds", about, ["address"], buckets=SECONDS, registry=self._registry
        )
        self.rows = Counter("xmlcore_rows", "Rows and texts predicted", ["model"], registry=self._registry)
        self.drift = Gauge(
            "xmlcore_drift_p", "p-value: are the last rows drawn like the held-out ones?", ["model"],
            registry=self._registry,
        )  # fmt: skip
        Gauge("xmlcore_busy", "Requests worked on or waiting", registry=self._registry).set_function(n_busy)

    def answer(self, models) -> Response:
        self.drift.clear()
        for name, model in models.items():
            p = (model.about().get("drift") or {}).get("p")
            if p is not None:
                self.drift.labels(name).set(p)
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)


class Counted:
    """An application whose requests are counted, and logged on request; nothing of their content is."""

    def __init__(self, app, numbers: Numbers, log: bool = False):
        self._app, self._numbers, self._log = app, numbers, _Log() if log else None

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        status, begun = 500, time.perf_counter()

        async def sent(message):
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            seconds = time.perf_counter() - begun
            endpoint = scope.get("endpoint")
            address = getattr(endpoint, "__name__", "none")  # the method that answers: so there are only a few
            self._numbers.requests.labels(address, status).inc()
            self._numbers.seconds.labels(address).observe(seconds)
            if self._log is not None:
                line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "address": address}
                line |= {"model": scope.get("model"), "status": status, "seconds": round(seconds, 6)}
                self._log.write(line)


class _Log:
    """Lines of JSON on standard error, written by a thread: who reads them slowly loses lines, and stops nothing."""

    def __init__(self):
        self._lines = queue.Queue(MOST_LINES)
        threading.Thread(target=self._write_all, name="log", daemon=True).start()

    def write(self, line: dict) -> None:
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(line)

    def _write_all(self):
        while True:
            with contextlib.suppress(OSError, ValueError):  # nobody reads them any more
                # With its end at once: another thread may write between two pieces.
                print(json.dumps(self._lines.get()) + "\n", end="", file=sys.stderr, flush=True)
