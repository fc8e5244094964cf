"""Messages of a page's websocket that Streamlit loses or answers wrongly. Seen with Streamlit 1.67.0.

A part of a page that shows progress asks for news about once a second. If it asks between the user's click on a link
and the beginning of the other page, Streamlit merges both requests into one for the page before: the click is lost.

Before a browser sends a file, it asks the session for an address. When a run of the page begins, Streamlit drops what
it was about to send to the browser, since the run draws everything anew, and an answer to such a request with it. The
browser would wait for it as long as the page is open, and the field for files would not react to a file.
"""

from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

_clear = ForwardMsgQueue.clear


def without_late_polls(receive):
    """Return a function that receives messages of a websocket as ``receive`` does, but for requests that are late."""
    shown, left = None, None  # hashes of the page that the browser has asked for last, and of the one before

    async def receive_in_time():
        nonlocal shown, left
        while True:
            message = await receive()
            state = _read(message).rerun_script  # empty in messages of other types
            page = state.page_script_hash
            if state.fragment_id and state.is_auto_rerun and page == left:
                continue
            if page and page != shown:
                shown, left = page, shown
            return message

    return receive_in_time


def _read(message) -> BackMsg:
    """Return the content of a browser's message; an empty one if it is damaged, or a text."""
    try:
        return BackMsg.FromString(message.get("bytes") or b"")
    except DecodeError:
        return BackMsg()  # Streamlit says what is wrong


def keep_upload_addresses(note) -> None:
    """Have answers to requests for addresses of uploads sent; ``note`` is called with each address."""

    def is_answer(message) -> bool:
        return message.WhichOneof("type") == "file_urls_response"

    def clear(queue, retain_lifecycle_msgs=False, fragment_ids_this_run=None):
        """Drop the waiting messages as Streamlit does, but keep the answers when a run begins."""
        answers = [message for message in queue._queue if is_answer(message)]
        _clear(queue, retain_lifecycle_msgs, fragment_ids_this_run)
        if retain_lifecycle_msgs:
            queue._queue[:] = [message for message in queue._queue if not is_answer(message)] + answers

    def note_answer(message):
        for file in message.file_urls_response.file_urls if is_answer(message) else ():
            note(file.upload_url)

    ForwardMsgQueue.clear = clear
    ForwardMsgQueue.on_before_enqueue_msg(note_answer)
