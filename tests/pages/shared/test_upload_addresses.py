"""A browser that asks for the address of an upload gets an answer, also when Streamlit has dropped the first one."""

import asyncio

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.shared.streamlit_fixes import upload_addresses

WAIT = 0.05  # seconds
END = {"type": "websocket.disconnect"}


def request(name="one"):
    message = BackMsg()
    message.file_urls_request.request_id = name
    return {"type": "websocket.receive", "bytes": message.SerializeToString()}


def answer(name="one"):
    message = ForwardMsg()
    message.file_urls_response.response_id = name
    return {"type": "websocket.send", "bytes": message.SerializeToString()}


def heartbeat():
    return {"type": "websocket.receive", "bytes": BackMsg(app_heartbeat=True).SerializeToString()}


def run(act):
    """Run ``act(browser, receive, send, sent)``: what is put into ``browser`` is received, ``sent`` is what it gets."""

    async def everything():
        browser, sent = asyncio.Queue(), []

        async def keep(message):
            sent.append(message)

        return await act(browser, *upload_addresses.asked_again(browser.get, keep, WAIT), sent)

    return asyncio.run(everything())


def test_a_request_without_an_answer_is_made_again_until_there_is_one():
    async def act(browser, receive, send, sent):
        await browser.put(request())
        assert [await receive() for _ in range(3)] == [request()] * 3
        await send(answer())
        await browser.put(heartbeat())
        assert await receive() == heartbeat()
        with pytest.raises(TimeoutError):  # nothing is repeated any more
            await asyncio.wait_for(receive(), 3 * WAIT)
        assert sent == [answer()]

    run(act)


def test_messages_arrive_while_an_answer_is_waited_for_and_none_is_lost():
    async def act(browser, receive, send, sent):
        await browser.put(request())
        await receive()
        assert await receive() == request()
        for message in (heartbeat(), request("two"), END):
            await browser.put(message)
        got = []
        while END not in got:
            got.append(await receive())
        assert [one for one in got if one != request()] == [heartbeat(), request("two"), END]

    run(act)


def test_a_second_answer_to_one_request_is_not_sent():
    async def act(browser, receive, send, sent):
        await browser.put(request())
        await receive()
        await receive()  # once more, for the first answer is late
        for message in (answer(), answer(), answer("other"), {"type": "websocket.send", "text": "text"}):
            await send(message)
        assert sent == [answer(), answer("other"), {"type": "websocket.send", "text": "text"}]

    run(act)


def test_a_request_that_is_never_answered_is_given_up(monkeypatch):
    monkeypatch.setattr(upload_addresses, "TRIES", 2)

    async def act(browser, receive, send, sent):
        await browser.put(request())
        assert [await receive() for _ in range(3)] == [request()] * 3
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(receive(), 4 * WAIT)

    run(act)


def test_of_a_flood_of_requests_only_some_are_made_again(monkeypatch):
    monkeypatch.setattr(upload_addresses, "TRIES", 1)
    monkeypatch.setattr(upload_addresses, "MOST", 3)

    async def act(browser, receive, send, sent):
        flood = [request(str(i)) for i in range(10)]
        for message in flood:
            await browser.put(message)
        assert [await receive() for _ in range(13)] == flood + flood[:3]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(receive(), 4 * WAIT)

    run(act)


def test_what_is_no_message_of_streamlit_is_passed_on():
    async def act(browser, receive, send, sent):
        for message in ({"type": "websocket.receive", "bytes": b"\xff\xff\xff"}, {"type": "websocket.connect"}):
            await browser.put(message)
            assert await receive() == message

    run(act)
