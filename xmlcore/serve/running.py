"""Run the web application with uvicorn."""

import contextlib
import ipaddress
import os
import socket
import sys
import warnings
from collections import defaultdict
from collections.abc import Awaitable, Callable

from xmlcore.datasets.texts import words
from xmlcore.extras import require
from xmlcore.validation import check_count, check_number

SWITCH_SECONDS = 0.0005  # after which a thread lets others run: an answer needs several turns beside a large request
IDLE_SECONDS = 30  # after which a connection is closed that has had an answer and asks for nothing more
HEAD_SECONDS = 10  # for the head of a request to arrive, from the first byte or the beginning of the connection
MOST_OF_ADDRESS = 250  # connections of one address; further ones are closed
MOST_FILES = 4096  # that the process asks the system for: each connection is one
BACKLOG = 100  # connections that wait to be accepted; so many are accepted in one turn


def listen(host: str = "127.0.0.1", port: int = 8000) -> socket.socket:
    """Return a socket that listens: with the host ``0.0.0.0`` to everyone who can reach it, with port 0 at a free one.

    OSError is raised if the port is in use, or this machine has no such host.
    """
    port = check_count(port, "port", 0, 65535)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends what is written at once (TCP_NODELAY); otherwise an answer whose head and
    # body are written one after the other waits 40 ms for the acknowledgement of its head.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere this would let two servers share a port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(1024)
        return made
    except OSError as error:
        made.close()
        raise OSError(error.errno, f"cannot listen at {host}, port {port}: {error.strerror or error}") from None


def is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def run(
    app: Callable[..., Awaitable[None]],
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    listening: socket.socket | None = None,
    seconds: float = 100,
) -> None:
    """Answer requests of an ASGI application until the process is interrupted, on what :func:`listen` returned.

    A connection ends if the head of a request does not arrive in 10 seconds, or if it takes more than so many
    ``seconds`` from there until the answer has been fetched. Where as many are open as the system allows, a new one
    takes the place of one of the address that has most.
    """
    require("serve", "uvicorn")
    import uvicorn

    seconds = check_number(seconds, "seconds", above=True)
    warnings.filterwarnings("ignore", message="X does not have valid feature names")  # rows of requests never have
    words.limit_search(words.SECONDS)
    sys.setswitchinterval(SWITCH_SECONDS)
    listening = listening or listen(host, port)
    config = uvicorn.Config(
        app,
        http=_impatient(seconds, _most_connections()),
        backlog=BACKLOG,
        log_level="error",  # warnings are about requests that are no HTTP: anyone could fill the log with them
        access_log=False,
        server_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=5,
    )
    with listening, contextlib.suppress(KeyboardInterrupt):  # uvicorn has answered what was begun, and raises it again
        uvicorn.Server(config).run(sockets=[listening])


def _most_connections() -> int:
    """Return how many connections may be open: as many as files, less those accepted until others are closed."""
    try:
        import resource
    except ImportError:  # Windows
        return MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(most - 5 * BACKLOG, BACKLOG)


def _impatient(seconds, most):
    """Return uvicorn's protocol with limits of time for the head and the whole of a request, and of connections."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class Impatient(AutoHTTPProtocol):
        def connection_made(self, transport):
            super().connection_made(transport)
            of = defaultdict(list)
            for other in self.connections:
                if not other.transport.is_closing():
                    of[(other.client or ("",))[0]].append(other)
            if len(of[(self.client or ("",))[0]]) > MOST_OF_ADDRESS:
                transport.close()
                return
            if sum(map(len, of.values())) > most:
                max(of.values(), key=len)[0].transport.abort()
            self._look()

        def _look(self, before=None, since=0.0):
            """End the connection if it has been in one state for too long; look again in a second."""
            state, now = (self.cycle, self.cycle is not None and not self.cycle.response_complete), self.loop.time()
            if state != before or self.timeout_keep_alive_task is not None:  # uvicorn ends one that rests
                since = now
            if now - since > (seconds if state[1] else HEAD_SECONDS):
                self.transport.abort()
            elif not self.transport.is_closing():
                self.loop.call_later(1.0, self._look, state, since)

    return Impatient
