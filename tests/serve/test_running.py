"""A server whose clients say nothing, speak slowly or come too often still answers the others."""

import asyncio
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import pytest
from serve.running import ROOT

from xmlcore.serve import Limits
from xmlcore.serve.bodies import Arriving
from xmlcore.serve.limits import Lane, Refused

SERVER = """
import asyncio
from xmlcore.serve import listen, running

async def app(scope, receive, send):
    if scope["path"] == "/slow":
        await asyncio.sleep(3)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})

running.HEAD_SECONDS, running.MOST_OF_ADDRESS, running._most_connections = 1, 6, lambda: 9
with listen(port=0) as listening:
    print(listening.getsockname()[1], flush=True)
    running.run(app, listening=listening, seconds=1)
"""


@pytest.fixture(scope="module")
def port():
    with subprocess.Popen([sys.executable, "-c", SERVER], cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        yield int(server.stdout.readline())
        server.terminate()


@pytest.fixture
def client(port):
    with ExitStack() as opened:

        def connect(text="", address="127.0.0.1"):
            made = socket.create_connection(("127.0.0.1", port), 20, (address, 0))
            opened.enter_context(made)
            made.sendall(text.encode())
            return made

        yield connect
    time.sleep(0.2)  # until the server has seen that they are gone


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"


def is_closed(connection):
    """Whether the server has ended a connection by now."""
    connection.settimeout(0.1)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def closed(connection):
    try:
        while connection.recv(1000):
            pass
    except ConnectionResetError:
        pass
    return True


def test_connections_without_a_whole_request_are_ended(client):
    silent, slow = client(), client(get("/"))
    assert slow.recv(1000).startswith(b"HTTP/1.1 200")
    slow.sendall(b"GET / HT")
    kept = client(get("/"))
    assert kept.recv(1000).startswith(b"HTTP/1.1 200")
    assert closed(silent) and closed(slow)
    kept.sendall(get("/").encode())  # one that rests between requests is kept
    assert kept.recv(1000).startswith(b"HTTP/1.1 200")


def test_an_address_has_only_so_many_connections(client):
    first = [client() for _ in range(6)]
    assert closed(client())
    first[0].sendall(get("/").encode())
    assert first[0].recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a machine has one address of its own")
def test_the_address_with_most_connections_gives_way(client):
    def answered(address):
        """A connection that rests after its answer, which may take longer than a silent one may."""
        made = client(get("/"), address)
        assert made.recv(1000).startswith(b"HTTP/1.1 200")
        return made

    most, few = [answered("127.0.0.2") for _ in range(5)], [answered("127.0.0.3") for _ in range(4)]
    answered("127.0.0.4")
    assert (sum(map(is_closed, most)), sum(map(is_closed, few))) == (1, 0)


def test_a_request_that_takes_too_long_is_ended(client):
    slow = client(get("/slow"))
    time.sleep(0.2)
    assert client(get("/")).recv(1000).startswith(b"HTTP/1.1 200")
    assert closed(slow)


def test_bodies_that_do_not_arrive_shut_nobody_out():
    class Request:
        def __init__(self, size):
            self.headers, self.size, self.whole = {}, size, asyncio.Event()

        async def stream(self):
            yield b" " * self.size
            await self.whole.wait()

    async def arriving():
        bodies = Arriving(Limits(bytes=100_000))
        unfinished = [Request(size) for size in [80_000] * 20 + [1000] * 1000]
        tasks = [asyncio.create_task(bodies.read(request)) for request in unfinished]
        await asyncio.sleep(0)
        more, small = Request(80_000), Request(60_000)
        for request in (more, small, unfinished[0]):
            request.whole.set()
        with pytest.raises(Refused, match="too many large requests"):
            await bodies.read(more)
        assert [len(await bodies.read(small)), len(await tasks[0])] == [60_000, 80_000]
        assert len(await bodies.read(more)) == 80_000
        for task in tasks:
            task.cancel()

    asyncio.run(arriving())


def test_a_request_that_waits_when_the_server_stops_is_told_so():
    go = threading.Event()

    class Request:
        async def receive(self):
            await asyncio.Event().wait()

    async def stopped():
        task = asyncio.create_task(Lane(1, 1, 20).run(Request(), lambda progress: go.wait(20)))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(Refused, match="the server is being stopped"):
            await task
        go.set()

    asyncio.run(stopped())
