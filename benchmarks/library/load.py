"""A load generator for a server that speaks JSON over HTTP: few connections, each with one request at a time.

Beside it others can be hostile: silent, slow, huge or broken.
"""

import asyncio
import contextlib
import itertools
import json
import multiprocessing
import random
import time
from collections import Counter

TIMEOUT = 60  # seconds for an answer
# connections at once, of each kind
HOSTILE = {"silent": 200, "slow": 50, "broken": 20, "huge": 2, "too large": 2, "lines": 1, "lists": 1, "many labels": 1}
WHOLE = {  # what is sent at once
    "huge": lambda: {"text": "many words " * (1 << 20)},
    "too large": lambda: b" " * (17 << 20),
    "lines": lambda: {"text": "many\nwords,\n" * (1 << 19)},
    "lists": lambda: b'{"texts": [' + b"[]," * (1 << 22) + b"[]]}",
    "many labels": lambda: {"texts": ["many different words"] * 1000, "k": 1000},
}
ADDRESSES = 20  # from which they come: a server may close what is too much of one


def request(path, body, kind="application/json"):
    """Return the bytes of a POST."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def answer(reader):
    """Return status and body of an answer, and whether the connection stays open."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
    fields = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
    body = await reader.readexactly(int(fields.get("content-length", 0)))
    return int(head[0].split()[1]), body, fields.get("connection") != "close"


async def _connection(host, port, requests, end, latencies, problems):
    """Send requests one after the other until the time ``end``.

    ``requests`` yields the bytes and the statuses that are expected; None among them: the server may close instead.
    """
    reader = writer = None
    while time.monotonic() < end:
        sent, expected = next(requests)
        start = time.perf_counter()
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection(host, port, limit=1 << 26)
            writer.write(sent)
            await writer.drain()
            status, body, stays = await asyncio.wait_for(answer(reader), TIMEOUT)
        except (TimeoutError, OSError, EOFError) as error:
            status, body, stays = None, repr(error).encode(), False
        latencies.append((status, time.perf_counter() - start))
        if status not in expected:
            problems.append(f"{sent[:200]!r}: {status} {body[:200]!r}, expected {expected}")
        if not stays and writer is not None:
            writer.close()
            writer = None
    if writer is not None:
        writer.close()


def run(host, port, requests, seconds, connections, watch=None):
    """Send requests for some seconds.

    Parameters
    ----------
    host, port
        Of the server.
    requests : list of (bytes, tuple of int or None)
        Sent in turn, by each connection from another one on; with the statuses that are right.
    seconds, connections : number
    watch : callable, optional
        Called every second, such as to note the memory of the server.

    Returns
    -------
    dict
        "requests" and "seconds"; "p50_ms" and "p99_ms" of all answers; "statuses", their number by status; and
        "problems", what was not as expected.
    """

    async def all_connections():
        """Run the connections, and watch."""
        end = time.monotonic() + seconds
        firsts = [i * len(requests) // connections for i in range(connections)]
        turns = [itertools.cycle(requests[first:] + requests[:first]) for first in firsts]
        tasks = [asyncio.create_task(_connection(host, port, turn, end, latencies, problems)) for turn in turns]
        while watch is not None and time.monotonic() < end:
            watch()
            await asyncio.sleep(1)
        await asyncio.gather(*tasks)

    latencies, problems, start = [], [], time.perf_counter()
    asyncio.run(all_connections())
    took, times = time.perf_counter() - start, sorted(one for _, one in latencies)
    return {
        "requests": len(times),
        "seconds": took,
        "p50_ms": 1000 * times[len(times) // 2],
        "p99_ms": 1000 * times[min(len(times) - 1, int(0.99 * len(times)))],
        "statuses": dict(Counter(str(status) for status, _ in latencies)),
        "problems": problems,
    }


async def _hostile(kind, number, port, end, statuses):
    """Annoy a server in one way until the time ``end``; count how it answers."""
    chance = random.Random(number)
    whole = request("/predict", WHOLE[kind]() if kind in WHOLE else {"text": "a few words"})
    while time.monotonic() < end:
        writer, status = None, None
        with contextlib.suppress(OSError, EOFError, TimeoutError, ValueError, IndexError):
            local = f"127.0.0.{2 + number % ADDRESSES}", 0
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 26, local_addr=local)
            async with asyncio.timeout(end - time.monotonic()):
                if kind == "silent":
                    await reader.read()
                for byte in whole if kind == "slow" else b"":
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(1)
                if kind in WHOLE:
                    writer.write(whole)
                    await writer.drain()
                if kind == "broken":
                    damaged = bytearray(whole)
                    damaged[chance.randrange(len(damaged))] = chance.randrange(256)
                    writer.write(damaged[: chance.randrange(1, 2 * len(damaged))])
                if kind != "silent" and (kind != "broken" or chance.random() < 0.5):
                    async with asyncio.timeout(TIMEOUT):
                        status, *_ = await answer(reader)
        if writer is not None:
            writer.close()
        statuses[f"{kind} {status}"] += 1
        await asyncio.sleep(1)


def _annoy(port, seconds, pipe):
    """Run all hostile clients for some seconds; send how they were answered."""

    async def everybody():
        end, kinds = time.monotonic() + seconds, [kind for kind, count in HOSTILE.items() for _ in range(count)]
        await asyncio.gather(*(_hostile(kind, i, port, end, statuses) for i, kind in enumerate(kinds)))

    statuses = Counter()
    asyncio.run(everybody())
    pipe.send(dict(statuses))


@contextlib.contextmanager
def hostile(port, seconds):
    """Have hostile clients, in a process of their own, annoy a server; what is yielded returns their answers."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_annoy, args=(port, seconds, there), daemon=True)
    process.start()
    try:
        yield here.recv
    finally:
        process.join(TIMEOUT)
        process.terminate()
