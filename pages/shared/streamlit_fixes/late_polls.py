"""Requests for news of a page that come after the user has asked for another page: they would undo the change.

A part of a page that shows progress asks for news about once a second. If it asks between the user's click on a link
and the beginning of the other page, Streamlit merges both requests into one for the page before: the click is lost.
Seen with Streamlit 1.67.0.
"""

from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg


def without(receive):
    """Return a function that receives messages of a websocket as ``receive`` does, but for requests that are late."""
    shown, left = None, None  # hashes of the page that the browser has asked for last, and of the one before

    async def receive_in_time():
        """Return the next message that is not late."""
        nonlocal shown, left
        while True:
            message = await receive()
            state = _request(message.get("bytes"))
            if state is None:
                return message
            page = state.page_script_hash
            if state.fragment_id and state.is_auto_rerun and page == left:
                continue
            if page and page != shown:
                shown, left = page, shown
            return message

    return receive_in_time


def _request(data):
    """Return what a message asks to be drawn; None if it asks for something else, or names no page."""
    if not data:
        return None
    try:
        message = BackMsg.FromString(data)
    except DecodeError:
        return None  # Streamlit says what is wrong
    if message.WhichOneof("type") != "rerun_script" or not message.rerun_script.page_script_hash:
        return None
    return message.rerun_script
