"""Run the web application with uvicorn."""

import contextlib
import ipaddress
import os
import socket
import warnings
from collections.abc import Callable

from xmlcore.datasets.texts import words
from xmlcore.extras import require

IDLE_SECONDS = 30  # after which a connection without a request is closed
MOST_CONNECTIONS = 500  # further ones are answered with status 503


def listen(host: str = "127.0.0.1", port: int = 8000) -> socket.socket:
    """Return a socket that listens: with the host ``0.0.0.0`` to everyone who can reach it, with port 0 at a free one.

    OSError is raised if the port is in use, or the host is none of this machine.
    """
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
    app: Callable[..., object], host: str = "127.0.0.1", port: int = 8000, *, listening: socket.socket | None = None
) -> None:
    """Answer requests of an ASGI application until the process is interrupted, on what :func:`listen` returned."""
    require("serve", "uvicorn")
    import uvicorn

    warnings.filterwarnings("ignore", message="X does not have valid feature names")  # rows of requests never have
    words.limit_search(words.SECONDS)
    listening = listening or listen(host, port)
    config = uvicorn.Config(
        app,
        log_level="error",  # warnings are about requests that are no HTTP: anyone could fill the log with them
        access_log=False,
        server_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=5,
    )
    with listening, contextlib.suppress(KeyboardInterrupt):  # uvicorn has answered what was begun, and raises it again
        uvicorn.Server(config).run(sockets=[listening])
