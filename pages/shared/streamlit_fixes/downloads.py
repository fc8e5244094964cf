"""Files that were made for a download stay until the browser has fetched them.

When a download button is pressed, Streamlit makes the file and tells the browser its address. No session owns the
file: when any run of a script or fragment ends, in any session, the file is marked for deletion, and when the next one
ends, it is deleted. What shows how far jobs are is drawn by a timer, all the time and in all tabs, so the browser would
often be too late. So nothing is deleted for a moment. Seen with Streamlit 1.67.0.
"""

import time

from streamlit.runtime.media_file_manager import MediaFileManager

MOMENT = 2.0  # seconds that a browser has to fetch a file; it needs some hundredths, tenths on a busy machine
LONGEST = 20.0  # seconds for which nothing is deleted, also if files are made all the time

_until = 0.0  # on the monotonic clock; one for all sessions of this process, as their runs delete each other's files
_removed = 0.0  # likewise: when files were deleted last
_remove = MediaFileManager.remove_orphaned_files


def made() -> None:
    """Note that a file was made just now, which the browser is about to fetch."""
    global _until
    _until = time.monotonic() + MOMENT


def keep() -> None:
    """Have Streamlit delete no file until the browser should have fetched the latest one."""

    def remove(manager):
        global _removed
        if time.monotonic() >= min(_until, _removed + LONGEST):
            _removed = time.monotonic()
            _remove(manager)

    MediaFileManager.remove_orphaned_files = remove
