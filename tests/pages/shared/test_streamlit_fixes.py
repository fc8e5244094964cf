"""Each work-around of Streamlit is still needed: the shortest reproduction of what it puts right.

Where one of these fails, the installed Streamlit does better: the file of pages/shared/streamlit_fixes may go.
"""

import pytest
from streamlit.errors import StreamlitAPIException
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests
from streamlit.runtime.state.query_params import QueryParams
from streamlit.runtime.uploaded_file_manager import UploadedFileRec


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


def test_address_fields_only_what_a_field_of_the_whole_app_is_bound_to_can_be_said_to_stay():
    params = QueryParams()
    params.bind_widget("at", "of the app", "string_value", "app")
    params.bind_widget("section", "of a page", "string_value", "train")
    params.populate_from_query_string("at=row-1&section=Rows", {"app", "explain"})
    assert dict(params) == {"at": "row-1"}, "a field of a page loses its word when another page is opened"


def test_address_fields_what_a_field_is_bound_to_cannot_be_written_by_switching_the_page():
    params = QueryParams()
    params.bind_widget("at", "of the app", "string_value", "app")
    with pytest.raises(StreamlitAPIException):
        params.from_dict({"at": "row-1"})
