"""A server whose clients say nothing, speak slowly or come too often still answers the others."""

import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest
from serve.running import ROOT

SERVER = """
import asyncio
from xmlcore.serve import listen, running

async def app(scope, receive, send):
    if scope["path"] == "/slow":
        await asyncio.sleep(3)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})

running.HEAD_SECONDS, running.MOST_OF_ADDRESS, running.MOST_REQUESTS = 1, 6, 1
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

        def connect(text=""):
            made = opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            made.sendall(text.encode())
            return made

        yield connect
    time.sleep(0.2)  # until the server has seen that they are gone


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"


def closed(connection):
    try:
        while connection.recv(1000):
            pass
    except ConnectionResetError:
        pass
    return True


def test_connections_without_a_whole_request_are_ended_also_after_an_answer_and_others_are_answered(client):
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


def test_a_request_that_takes_too_long_is_ended_meanwhile_others_are_refused_and_health_is_answered(client):
    slow = client(get("/slow"))
    time.sleep(0.2)
    assert client(get("/")).recv(1000).startswith(b"HTTP/1.1 503")
    assert client(get("/health")).recv(1000).startswith(b"HTTP/1.1 200")
    assert closed(slow)
