"""A page's request for news does not undo the user's change to another page."""

import asyncio

from streamlit.proto.BackMsg_pb2 import BackMsg

from pages.shared.streamlit_fixes import late_polls


def asks(page, fragment="", automatic=False):
    """Return a message of a browser that has a page drawn, or a part of it."""
    message = BackMsg()
    message.rerun_script.page_script_hash = page
    message.rerun_script.fragment_id, message.rerun_script.is_auto_rerun = fragment, automatic
    return {"type": "websocket.receive", "bytes": message.SerializeToString()}


def poll(page):
    return asks(page, "progress", True)


def received(*messages):
    """Return the numbers of the messages that are received."""
    line = iter([*messages, {"type": "websocket.disconnect"}])

    async def receive():
        return next(line)

    async def all_received():
        receive_in_time, found = late_polls.without(receive), []
        while (message := await receive_in_time())["type"] != "websocket.disconnect":
            found.append(next(i for i, one in enumerate(messages) if one is message))
        return found

    return asyncio.run(all_received())


def test_news_of_a_page_that_was_left_are_not_asked_for():
    assert received(asks("A"), poll("A"), asks("B"), poll("A"), poll("A"), poll("B")) == [0, 1, 2, 5]


def test_who_returns_to_a_page_gets_its_news():
    assert received(asks("A"), asks("B"), poll("A"), asks("A"), poll("B"), poll("A")) == [0, 1, 3, 5]


def test_a_click_in_a_part_of_a_page_is_never_dropped():
    assert received(asks("A"), asks("B"), asks("A", "progress")) == [0, 1, 2]


def test_news_of_a_page_to_which_the_server_has_led_are_received():
    assert received(asks("A"), poll("C"), asks("B"), poll("C"), poll("B")) == [0, 1, 2, 4]


def test_what_is_no_request_to_draw_is_received():
    heartbeat = BackMsg(app_heartbeat=True).SerializeToString()
    others = [{"type": "websocket.receive", "bytes": data} for data in (heartbeat, b"\xff\xff\xff", b"")]
    others += [{"type": "websocket.receive", "text": "text"}, asks("")]
    assert received(asks("A"), asks("B"), *others) == [0, 1, 2, 3, 4, 5, 6]
