"""Requests for the address of an upload, which Streamlit may leave without an answer: they are made again.

Before a browser sends a file, it asks the session for an address. When a run of the page begins, Streamlit drops what
it was about to send to the browser, since the run draws everything anew, and an answer to such a request with it. The
browser would wait for it as long as the page is open, and the field for files would not react to a file.
Seen with Streamlit 1.67.0.
"""

import asyncio

from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

WAIT = 0.3  # seconds without an answer after which a request is made again; an answer takes some thousandths
TRIES = 20  # times that a request is made again, at most
MOST = 50  # requests that are waited for at once; a page has one for each field for files, when files are chosen
MEMORY = 60.0  # seconds for which a second answer is looked for, which the browser does not expect


def asked_again(receive, send, wait: float = WAIT, note=lambda address: None):
    """Return functions of a websocket that receive and send messages, but repeat requests that are not answered.

    Each address that an answer has is given to ``note``.
    """
    asked = {}  # id of a request -> the message, when it is due again, how often it was repeated
    answered = {}  # id of a request that was repeated, and has its answer -> until when a second one is looked for
    coming = None  # the task that receives the next message, if a request was repeated meanwhile

    async def receive_or_repeat():
        """Return the next message, or one that was not answered."""
        nonlocal coming
        if not asked and coming is None:
            return _noted(await receive())
        if coming is None:
            coming = asyncio.ensure_future(receive())
        try:
            while True:
                due = min((when for _, when, _ in asked.values()), default=None)
                await asyncio.wait({coming}, timeout=None if due is None else max(0.0, due - _now()))
                if coming.done():
                    message = coming.result()
                    coming = None
                    return _noted(message)
                late = next((name for name, (_, when, _) in asked.items() if when <= _now()), None)
                if late is not None:
                    message, _, tries = asked.pop(late)
                    if tries < TRIES:
                        asked[late] = message, _now() + wait, tries + 1
                        return message
        except BaseException:
            if coming is not None:
                coming.cancel()
                coming = None
            raise

    def _noted(message):
        """Note a request for an address, unless a flood of them waits; return the message."""
        name = _read(BackMsg, message).file_urls_request.request_id
        if name and len(asked) < MOST:
            asked[name] = message, _now() + wait, 0
        return message

    async def send_once(message):
        """Send a message, unless it answers a request that has been answered."""
        if asked or answered:
            for name in [name for name, until in answered.items() if until < _now()]:
                del answered[name]
            answer = _read(ForwardMsg, message).file_urls_response
            name = answer.response_id
            if name in answered:
                return
            for file in answer.file_urls:
                note(file.upload_url)
            if name in asked and asked.pop(name)[2]:
                answered[name] = _now() + MEMORY
        await send(message)

    return receive_or_repeat, send_once


def _now():
    return asyncio.get_running_loop().time()


def _read(kind, message):
    """Return what a message holds; if it is of another kind or damaged, the ids of requests and answers are empty."""
    try:
        return kind.FromString(message.get("bytes") or b"")
    except DecodeError:
        return kind()  # Streamlit says what is wrong
