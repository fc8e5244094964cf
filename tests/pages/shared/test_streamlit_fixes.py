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
from pages.shared.streamlit_fixes import transfers, websocket


def test_downloads_a_file_is_gone_after_the_ends_of_two_runs():
    storage = MemoryMediaFileStorage("/media")
    manager = MediaFileManager(storage)
    name = manager.add_deferred(lambda: b"content", "text/csv", "0.1", file_name="a.csv")
    file = manager.execute_deferred(name).rsplit("/", 1)[-1]
    assert storage.get_file(file).content == b"content"
    transfers._remove(manager)  # as it is without the work-around
    transfers._remove(manager)
    with pytest.raises(MediaFileStorageError):
        storage.get_file(file)


def test_late_polls_a_poll_undoes_the_change_to_another_page():
    requests = ScriptRequests()
    requests.request_rerun(RerunData(page_script_hash="A"))
    requests.on_scriptrunner_ready()
    requests.request_rerun(RerunData(page_script_hash="B"))
    requests.request_rerun(RerunData(page_script_hash="A", fragment_id="news", is_auto_rerun=True))
    assert requests.on_scriptrunner_yield().rerun_data.page_script_hash == "A"


def test_upload_addresses_an_answer_is_lost_when_a_run_begins():
    queue, answer = ForwardMsgQueue(), ForwardMsg()
    answer.file_urls_response.response_id = "1"
    queue.enqueue(answer)
    websocket._clear(queue, retain_lifecycle_msgs=True)  # as it is without the work-around
    assert not queue.flush()


def test_reconnected_a_later_session_has_none_of_the_files():
    files = MemoryUploadedFileManager("/upload")
    files.add_file("before", UploadedFileRec("1", "a.txt", "text/plain", b"content"))
    assert files.get_files("before", ["1"]) and not files.get_files("after", ["1"])


def test_address_fields_only_a_field_of_the_whole_app_stays():
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
        receive_in_time, found = websocket.without_late_polls(receive), []
        while (message := await receive_in_time())["type"] != "websocket.disconnect":
            found.append(next(i for i, one in enumerate(messages) if one is message))
        return found

    return asyncio.run(all_received())


def test_only_polls_of_the_page_that_is_shown_are_received():
    assert received(asks("A"), poll("A"), asks("B"), poll("A"), poll("A"), poll("B")) == [0, 1, 2, 5]
    assert received(asks("A"), asks("B"), poll("A"), asks("A"), poll("B"), poll("A")) == [0, 1, 3, 5]
    assert received(asks("A"), asks("B"), asks("A", "progress")) == [0, 1, 2]
    assert received(asks("A"), poll("C"), asks("B"), poll("C"), poll("B")) == [0, 1, 2, 4]
    heartbeat = BackMsg(app_heartbeat=True).SerializeToString()
    others = [{"type": "websocket.receive", "bytes": data} for data in (heartbeat, b"\xff\xff\xff", b"")]
    others += [{"type": "websocket.receive", "text": "text"}, asks("")]
    assert received(asks("A"), asks("B"), *others) == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("fragments", [None, ["a part"]])
def test_an_answer_with_an_address_is_kept_and_sent_once(monkeypatch, fragments):
    noted, queue, answer = [], ForwardMsgQueue(), ForwardMsg()
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    monkeypatch.setattr(ForwardMsgQueue, "_before_enqueue_msg", None)
    websocket.keep_upload_addresses(noted.append)
    answer.file_urls_response.file_urls.add().upload_url = "/_stcore/upload_file/s/1"
    for message in (ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY), answer):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=fragments)
    assert noted == ["/_stcore/upload_file/s/1"] and queue.flush()[-1] == answer
    assert not queue.flush()


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets, and nothing handed out yet."""
    now = [100.0]
    monkeypatch.setattr(transfers, "_until", 0.0)
    monkeypatch.setattr(transfers, "_removed", 0.0)
    monkeypatch.setattr(transfers, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_nothing_is_deleted_while_a_browser_fetches_a_file(clock, monkeypatch):
    monkeypatch.setattr(MediaFileManager, "remove_orphaned_files", MediaFileManager.remove_orphaned_files)
    deleted, manager = [], MediaFileManager(MemoryMediaFileStorage("/media"))
    monkeypatch.setattr(transfers, "_remove", lambda manager: deleted.append(clock[0]))
    transfers.keep()
    manager.remove_orphaned_files()
    transfers.made()
    for seconds in (0.5, 1.0, 1.0):
        clock[0] += seconds
        manager.remove_orphaned_files()
    assert deleted == [100.0, 102.5]
    for _ in range(30):  # files are made all the time
        transfers.made()
        clock[0] += 1
        manager.remove_orphaned_files()
    assert deleted[2:] == [102.5 + transfers.LONGEST]


def test_a_file_is_made_when_asked_for(clock, monkeypatch):
    buttons, made = [], []
    monkeypatch.setattr(charts.st, "download_button", lambda label, **about: buttons.append(about))

    def make():
        made.append(True)
        clock[0] += 60
        return pd.DataFrame({"a": [1]})

    charts.csv_button("Data, CSV", make, "name", "help")
    assert not made and transfers._until == 0
    assert buttons[0]["data"]() == b"a\n1\n"
    assert transfers._until == pytest.approx(160 + transfers.MOMENT)
