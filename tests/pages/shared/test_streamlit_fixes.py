"""Each work-around of Streamlit works, and is still needed: the shortest reproduction of what it puts right.

Where a reproduction fails, the installed Streamlit does better: the file of pages/shared/streamlit_fixes may go.
"""

import asyncio
from types import SimpleNamespace

import pandas as pd
import pytest
from streamlit.errors import StreamlitAPIException
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests
from streamlit.runtime.state.query_params import QueryParams
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.shared.figures import charts
from pages.shared.streamlit_fixes import downloads, late_polls, upload_addresses


def test_downloads_a_file_made_for_a_download_is_gone_after_the_ends_of_two_runs():
    storage = MemoryMediaFileStorage("/media")
    manager = MediaFileManager(storage)
    name = manager.add_deferred(lambda: b"content", "text/csv", "0.1", file_name="a.csv")
    file = manager.execute_deferred(name).rsplit("/", 1)[-1]
    assert storage.get_file(file).content == b"content"
    manager.remove_orphaned_files()
    manager.remove_orphaned_files()
    with pytest.raises(MediaFileStorageError):
        storage.get_file(file)


def test_late_polls_a_request_for_news_of_a_page_undoes_the_change_to_another():
    requests = ScriptRequests()
    requests.request_rerun(RerunData(page_script_hash="A"))
    requests.on_scriptrunner_ready()
    requests.request_rerun(RerunData(page_script_hash="B"))
    requests.request_rerun(RerunData(page_script_hash="A", fragment_id="news", is_auto_rerun=True))
    assert requests.on_scriptrunner_yield().rerun_data.page_script_hash == "A"


def test_upload_addresses_the_answer_to_a_request_for_an_address_is_lost_when_a_run_begins():
    queue, answer = ForwardMsgQueue(), ForwardMsg()
    answer.file_urls_response.response_id = "1"
    queue.enqueue(answer)
    queue.clear(retain_lifecycle_msgs=True)
    assert not queue.flush()


def test_reconnected_a_session_that_follows_another_has_none_of_its_files():
    files = MemoryUploadedFileManager("/upload")
    files.add_file("before", UploadedFileRec("1", "a.txt", "text/plain", b"content"))
    assert files.get_files("before", ["1"]) and not files.get_files("after", ["1"])


def test_address_fields_only_a_field_of_the_whole_app_stays_and_cannot_be_written_by_switching():
    params = QueryParams()
    params.bind_widget("at", "of the app", "string_value", "app")
    params.bind_widget("section", "of a page", "string_value", "train")
    params.populate_from_query_string("at=row-1&section=Rows", {"app", "explain"})
    assert dict(params) == {"at": "row-1"}, "a field of a page loses its word when another page is opened"
    params.bind_widget("at", "of the app", "string_value", "app")
    with pytest.raises(StreamlitAPIException):
        params.from_dict({"at": "row-1"})


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


def test_only_news_of_the_page_that_is_shown_are_asked_for_and_all_else_is_received():
    assert received(asks("A"), poll("A"), asks("B"), poll("A"), poll("A"), poll("B")) == [0, 1, 2, 5]
    assert received(asks("A"), asks("B"), poll("A"), asks("A"), poll("B"), poll("A")) == [0, 1, 3, 5]
    assert received(asks("A"), asks("B"), asks("A", "progress")) == [0, 1, 2]
    assert received(asks("A"), poll("C"), asks("B"), poll("C"), poll("B")) == [0, 1, 2, 4]
    heartbeat = BackMsg(app_heartbeat=True).SerializeToString()
    others = [{"type": "websocket.receive", "bytes": data} for data in (heartbeat, b"\xff\xff\xff", b"")]
    others += [{"type": "websocket.receive", "text": "text"}, asks("")]
    assert received(asks("A"), asks("B"), *others) == [0, 1, 2, 3, 4, 5, 6]


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


async def comes_nothing_more(receive):
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(receive(), 4 * WAIT)


def test_a_request_without_an_answer_is_made_again_until_there_is_one_and_a_second_one_is_not_sent():
    others = [answer("other"), {"type": "websocket.send", "text": "text"}]

    async def act(browser, receive, send, sent):
        await browser.put(request())
        assert [await receive() for _ in range(3)] == [request()] * 3
        for message in (answer(), answer(), *others):
            await send(message)
        await browser.put(heartbeat())
        assert await receive() == heartbeat()
        await comes_nothing_more(receive)
        assert sent == [answer(), *others]

    run(act)


def test_messages_arrive_while_an_answer_is_waited_for_and_none_is_lost():
    others = [{"type": "websocket.receive", "bytes": b"\xff\xff\xff"}, {"type": "websocket.connect"}]
    messages = [heartbeat(), request("two"), *others, END]

    async def act(browser, receive, send, sent):
        await browser.put(request())
        assert [await receive() for _ in range(2)] == [request()] * 2
        for message in messages:
            await browser.put(message)
        got = []
        while END not in got:
            got.append(await receive())
        assert [message for message in got if message != request()] == messages

    run(act)


@pytest.mark.parametrize(("tries", "most", "n_requests"), [(2, 3, 1), (1, 3, 10)])
def test_a_request_is_given_up_in_the_end_and_of_a_flood_only_some_are_made_again(monkeypatch, tries, most, n_requests):
    monkeypatch.setattr(upload_addresses, "TRIES", tries)
    monkeypatch.setattr(upload_addresses, "MOST", most)

    async def act(browser, receive, send, sent):
        flood = [request(str(i)) for i in range(n_requests)]
        for message in flood:
            await browser.put(message)
        expected = flood + tries * flood[:most]
        assert [await receive() for _ in expected] == expected
        await comes_nothing_more(receive)

    run(act)


@pytest.fixture
def clock(monkeypatch):
    """A clock that only goes on while somebody sleeps, and nothing handed out yet."""
    now = [100.0]
    monkeypatch.setattr(downloads, "_until", 0.0)
    monkeypatch.setattr(
        downloads, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s))
    )
    return now


def test_the_browser_has_its_moment_to_fetch_a_file_that_was_made_and_then_nothing_waits(clock):
    downloads.wait()
    assert clock[0] == 100
    downloads.made()
    clock[0] += 0.5
    downloads.wait()
    over = clock[0]
    assert over == pytest.approx(100 + downloads.MOMENT, abs=0.1)
    downloads.wait()
    assert clock[0] == over


def test_downloading_all_the_time_holds_nothing_up_for_longer_than_a_moment(clock, monkeypatch):
    downloads.made()
    sleep = downloads.time.sleep
    monkeypatch.setattr(downloads.time, "sleep", lambda s: (sleep(s), downloads.made()))
    downloads.wait()
    assert clock[0] == pytest.approx(100 + downloads.MOMENT, abs=0.1)


def test_a_file_is_made_when_asked_for_and_its_moment_begins_when_it_is_there(clock, monkeypatch):
    buttons, made = [], []
    monkeypatch.setattr(charts.st, "download_button", lambda label, **about: buttons.append(about))

    def make():
        made.append(True)
        clock[0] += 60
        return pd.DataFrame({"a": [1]})

    charts.csv_button("Data, CSV", make, "name", "help")
    assert not made and downloads._until == 0
    assert buttons[0]["data"]() == b"a\n1\n"
    assert downloads._until == pytest.approx(160 + downloads.MOMENT)
