"""Starting and ending a server."""

import contextlib
import importlib
import logging
import os
import signal
import sys
import threading
import webbrowser

import streamlit as st

from pages.shared.addresses import SCRIPT
from pages.shared.operator import guard
from pages.shared.process import job_queue, reading, room, turns
from pages.shared.streamlit_fixes import transfers, websocket
from pages.shared.workspaces import stored
from xmlcore import store
from xmlcore.state import database
from xmlcore.system import OTHERS


@contextlib.asynccontextmanager
async def lifespan(app):
    """Get ready for the first page when the server starts, say where it is, and open the user's browser."""
    threading.Thread(target=get_ready, name="xmlcore-get-ready", daemon=True).start()
    ended = threading.Event()
    for name, keep_tidy in (("xmlcore-tidy-store", room.keep_tidy), ("xmlcore-garbage", turns.keep_tidy)):
        threading.Thread(target=keep_tidy, args=(ended,), name=name, daemon=True).start()
    print(f"\n  The dashboard is at {_address()}\n", flush=True)
    if not st.get_option("server.headless"):
        # A thread, since some browsers return only when they are closed; later, when the server answers.
        opening = threading.Timer(0.5, webbrowser.open, [_address()])
        opening.daemon = True
        opening.start()
    # Files written from now on, by threads and worker processes too, are private to this user.
    os.umask(OTHERS)
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").addFilter(
        reading.says_nothing_of_reader
    )
    # Streamlit would add the script's folder for each view of a page, and remove it after that. Meanwhile, an import in
    # another session, which goes along the path, would skip a folder and not find its module.
    sys.path.append(str(SCRIPT.parent))
    websocket.keep_upload_addresses(guard.note_given)
    transfers.keep()
    turns.serving.set()
    yield
    ended.set()
    turns.serving.clear()
    _end_in_order()


def _end_in_order():
    """Have this process end as with Ctrl+C also after SIGTERM; called when the server stops."""
    # The web server, which has caught the signal, sends it once more when it has stopped. The process would end at
    # once, without ending its workers and removing their semaphores. So the main thread does not receive it any more.
    caught = signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, signal.SIG_IGN, None)
    if caught and os.name == "posix" and threading.current_thread() is threading.main_thread():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def _address() -> str:
    host = st.get_option("browser.serverAddress")
    if host in (None, "", "localhost"):  # not set by the user
        host = st.get_option("server.address") or "localhost"
    if host in ("0.0.0.0", "::"):  # all of the machine's addresses
        host = "localhost"
    host = f"[{host}]" if ":" in host else host
    secure = "s" if st.get_option("server.sslCertFile") else ""
    return f"http{secure}://{host}:{st.get_option('server.port')}/{st.get_option('server.baseUrlPath').strip('/')}"


def get_ready() -> None:
    """Prepare for the first visit: start making the default data set, and import the modules that draw its page."""
    with contextlib.suppress(OSError):  # the disk is full or gone: pages say so
        database().check()
        stored.remove_visits()
    job_queue.queue()
    for name in ("pandas", "xmlcore.figures", *(reading.LATER if store.changed("runs") else ())):  # what takes long
        importlib.import_module(name)
    turns.collect(everything=True)
