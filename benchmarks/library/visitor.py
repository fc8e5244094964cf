"""A tab of the dashboard without a browser: it speaks Streamlit's websocket protocol, as the browser does."""

import asyncio
import contextlib
import re
import time
import urllib.parse
import uuid

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

TIMEOUT = 60.0  # seconds for an answer
XSRF = "_streamlit_xsrf"  # the cookie that the browser sends back with uploads and with the websocket
LARGEST = 1 << 28  # bytes of a message


class TabError(Exception):
    """The page did not do what was expected in time, or the server has closed the connection."""


async def http(host, port, method, path, headers=(), body=b"", timeout=TIMEOUT):
    """Send one HTTP request on a connection of its own; return the status, the headers as pairs, and the body."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}:{port}", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    async with asyncio.timeout(timeout):
        reader, writer = await asyncio.open_connection(host, port, limit=1 << 20)
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode() + body)
            await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            found = await reader.read()
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
    pairs = [tuple(line.split(": ", 1)) for line in head[1:] if ": " in line]
    return int(head[0].split()[1]), pairs, found


class Tab:
    """A tab of a browser on the dashboard.

    Parameters
    ----------
    host, port
        Of the server.
    watch : callable, optional
        Called with the bytes of each message from the server.
    cookies : dict, optional
        That the browser has already, such as those of signing in.
    """

    def __init__(self, host, port, watch=None, cookies=None):
        self.host, self.port, self.watch, self.cookies = host, port, watch, dict(cookies or {})
        self.redirected = None  # the address to which the page has sent the browser
        self.workspace = None  # the token in the address
        self.session = None  # Streamlit's id of the session
        self.pages = {}  # hash of the script by the path of each page
        self.page = ""  # hash of the page that is shown
        self.elements = {}  # element or block by its path in the page: (kind, message, id of the run, id of fragment)
        self.exceptions = []  # texts of what failed on a page
        self.redrawn = 0  # runs of the whole page that have ended
        self.parts_redrawn = 0  # runs of parts of a page that have ended
        self._run = "", set()  # the run of the script that goes on: its id, and those of the fragments that it draws
        self._timers = {}  # tasks that ask for a fragment again and again, by its id
        self._changed = asyncio.Condition()
        self._files = {}  # answers to requests for addresses of uploads
        self._socket = self._reader = None
        self.closed = None  # why the connection has ended
        self.closed_at = None  # when, by time.monotonic()

    # --- opening and closing ---

    async def open(self, page="", workspace=None):
        """Ask for the page as a browser does, and connect; ``workspace`` is the token of one that exists."""
        query = f"?workspace={workspace}" if workspace else ""
        accept = ("Accept", "text/html")
        status, headers, _ = await http(self.host, self.port, "GET", f"/{page}{query}", [accept])
        if status in (302, 303, 307):
            target = dict(headers)["location"]
            path = urllib.parse.urljoin(f"/{page}", target)
            query = "?" + urllib.parse.urlparse(path).query
            status, headers, _ = await http(self.host, self.port, "GET", path, [accept])
        if status != 200:
            raise TabError(f"the page answered {status}")
        self.workspace = urllib.parse.parse_qs(query[1:])["workspace"][0]
        if XSRF not in self.cookies:
            _, headers, _ = await http(self.host, self.port, "GET", "/_stcore/health")
            given = [value for name, value in headers if name == "set-cookie" and value.startswith(XSRF)]
            self.cookies |= {XSRF: given[0].split(";")[0].split("=", 1)[1]} if given else {}
        self._xsrf = self.cookies.get(XSRF, "")
        await self._connect()
        await self.run(page=page)

    async def _connect(self):
        origin = f"http://{self.host}:{self.port}"
        try:
            self._socket = await connect(
                f"ws://{self.host}:{self.port}/_stcore/stream",
                origin=origin,
                subprotocols=["streamlit", self._xsrf] if self._xsrf else ["streamlit"],
                additional_headers={"Cookie": self._cookie()},
                max_size=LARGEST,
                open_timeout=TIMEOUT,
                compression=None,
                ping_interval=None,
            )
        except WebSocketException as error:  # the server refuses, or ends while it answers
            raise TabError(f"the page does not connect: {error}") from error
        self._reader = asyncio.create_task(self._read())

    def _cookie(self):
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    async def close(self):
        """Close the tab."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        if self._socket is not None:
            await self._socket.close()
        if self._reader is not None:
            await asyncio.gather(self._reader, return_exceptions=True)

    # --- what the server sends ---

    async def _read(self):
        try:
            async for data in self._socket:
                if self.watch is not None:
                    self.watch(data)
                message = ForwardMsg.FromString(data)
                self._take(message)
                async with self._changed:
                    self._changed.notify_all()
        except ConnectionClosed as error:
            self.closed = str(error)
        else:
            self.closed = "the server closed the connection"
        self.closed_at = time.monotonic()
        for timer in self._timers.values():
            timer.cancel()
        async with self._changed:
            self._changed.notify_all()

    def _take(self, message):
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._begin(message)
        elif kind == "delta":
            self._draw(message)
        elif kind in ("auto_rerun", "stop_auto_rerun"):
            self._set_timers(kind, getattr(message, kind))
        elif kind == "navigation":
            self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
            self.page = message.navigation.page_script_hash or self.page
        elif kind == "file_urls_response":
            self._files[message.file_urls_response.response_id] = message.file_urls_response
        elif kind == "page_info_changed":
            said = urllib.parse.parse_qs(message.page_info_changed.query_string)
            self.workspace = said.get("workspace", [self.workspace])[0]
        elif kind == "auth_redirect":
            self.redirected = message.auth_redirect.url
        elif kind == "script_finished":
            self._finished(message.script_finished)

    def _begin(self, message):
        """Note a run of the script, which draws a page or fragments of it."""
        new = message.new_session
        self.session = new.initialize.session_id or self.session
        run = message.metadata.run if message.metadata.HasField("run") else None
        fragments = run.fragment_ids if run else getattr(new, "fragment_ids_this_run", ())  # before Streamlit 1.67
        self._run = run.script_run_id if run else getattr(new, "script_run_id", ""), set(fragments)
        if not fragments:
            self.page = new.page_script_hash
            for timer in self._timers.values():
                timer.cancel()
            self._timers.clear()

    def _set_timers(self, kind, about):
        """Ask for a fragment again from time to time, or stop asking for fragments."""
        for fragment in about.fragment_ids if kind == "stop_auto_rerun" else [about.fragment_id]:
            if fragment in self._timers:
                self._timers.pop(fragment).cancel()
            if kind == "auto_rerun":
                self._timers[fragment] = asyncio.create_task(self._ask_again(fragment, about.interval))

    def _draw(self, message):
        delta, path = message.delta, tuple(message.metadata.delta_path)
        kind = delta.WhichOneof("type")
        if kind == "new_element":
            what = delta.new_element.WhichOneof("type")
            found = getattr(delta.new_element, what) if what else None
            if what == "exception":
                self.exceptions.append(f"{found.type}: {found.message}")
        elif kind == "add_block":
            what, found = "block", delta.add_block
        else:
            return
        for old in [other for other in self.elements if other[: len(path)] == path and len(other) > len(path)]:
            if kind == "new_element":
                del self.elements[old]
        self.elements[path] = (what, found, self._run[0], delta.fragment_id)

    def _finished(self, status):
        succeeded = status == ForwardMsg.FINISHED_SUCCESSFULLY
        of_fragment = status == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
        run, fragments = self._run
        if succeeded:  # what this run has not drawn is gone
            self.elements = {path: one for path, one in self.elements.items() if one[2] == run}
            self.redrawn += 1
        elif of_fragment:
            self.parts_redrawn += 1
            self.elements = {
                path: one for path, one in self.elements.items() if one[3] not in fragments or one[2] == run
            }

    async def _ask_again(self, fragment, interval):
        while True:
            await asyncio.sleep(interval)
            with contextlib.suppress(ConnectionClosed):
                await self._send(fragment=fragment, automatic=True)

    async def until(self, condition, what, timeout=TIMEOUT):
        """Wait until a condition holds, which is looked at after each message."""
        try:
            async with asyncio.timeout(timeout), self._changed:
                while not condition():
                    if self.closed is not None:
                        raise TabError(f"{what}: {self.closed}")
                    await self._changed.wait()
        except TimeoutError:
            raise TabError(f"{what}: not within {timeout:g} s") from None

    # --- what the tab sends ---

    async def _send(self, page=None, states=(), fragment="", automatic=False):
        message = BackMsg()
        state = message.rerun_script
        state.query_string = f"workspace={self.workspace}"
        state.page_script_hash = self.page if page is None else self.pages.get(page, "")
        state.page_name = page or ""
        state.fragment_id, state.is_auto_rerun = fragment, automatic
        state.widget_states.widgets.extend(states)
        try:
            await self._socket.send(message.SerializeToString())
        except ConnectionClosed as error:
            raise TabError(f"the connection is closed: {error}") from error

    async def run(self, page=None, states=(), fragment="", timeout=TIMEOUT):
        """Have the page run, with new values of widgets, and wait until it is drawn; return the seconds that it took.

        ``page`` is the path of another page, such as "train"; ``fragment`` the id of the part of the page that is run.
        """
        if fragment:
            start, before = time.perf_counter(), self.parts_redrawn + self.redrawn
            await self._send(None, states, fragment)
            await self.until(lambda: self.parts_redrawn + self.redrawn > before, "a part of the page", timeout)
            return time.perf_counter() - start
        start, before = time.perf_counter(), self.redrawn
        await self._send(page, states)
        goal = self.pages.get(page) if page is not None else None
        what = f"page {page!r}" if page is not None else f"answer to {[state.id[-60:] for state in states]}"
        await self.until(lambda: self.redrawn > before and (goal is None or self.page == goal), what, timeout)
        return time.perf_counter() - start

    async def press(self, label, timeout=TIMEOUT):
        """Press the button of a label, and wait until the page is drawn; return the seconds that it took."""
        found = self.find("button", label)
        if found is None:
            raise TabError(f"no button {label!r}")
        return await self.run(states=[WidgetState(id=found.id, trigger_value=True)], timeout=timeout)

    async def unfold(self, label):
        """Open a folded box, which draws what is in it."""
        boxes = [found.expandable for what, found, *_ in self.elements.values() if what == "block"]
        for box in boxes:
            if box.label == label and not box.expanded:
                await self.run(states=[WidgetState(id=box.id, bool_value=True)])

    async def upload(self, label, name, content):
        """Put a file into the upload widget whose label begins so."""
        if self.find("file_uploader", label) is None:
            await self.unfold("Add a data set")
        await self.until(lambda: self.find("file_uploader", label) is not None, f"upload widget {label!r}")
        widget = self.find("file_uploader", label)
        asked = BackMsg()
        asked.file_urls_request.request_id = uuid.uuid4().hex
        asked.file_urls_request.file_names.append(name)
        asked.file_urls_request.session_id = self.session
        await self._socket.send(asked.SerializeToString())
        key = asked.file_urls_request.request_id
        await self.until(lambda: key in self._files, "the address of an upload")
        urls = self._files.pop(key).file_urls[0]
        status = await self.put(urls.upload_url, name, content)
        if status != 204:
            raise TabError(f"the upload of {name} answered {status}")
        state = WidgetState(id=widget.id)
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.name, info.size, info.file_id = name, len(content), urls.file_id
        info.file_urls.CopyFrom(urls)
        return await self.run(states=[state])

    async def put(self, url, name, content):
        """Send a file to the address of an upload, and return the status."""
        mark = uuid.uuid4().hex
        head = f'--{mark}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{mark}--\r\n".encode()
        headers = [
            ("Content-Type", f"multipart/form-data; boundary={mark}"),
            ("Cookie", self._cookie()),
            ("X-Xsrftoken", self._xsrf),
        ]
        return (await http(self.host, self.port, "PUT", url, headers, body))[0]

    # --- what the page shows ---

    def find(self, kind, label=""):
        """Return the first element of a kind whose label begins so, and that is not disabled; None if there is none."""
        return next((one for one in self.all(kind) if one.label.startswith(label)), None)

    def all(self, kind):
        """Return all elements of a kind that are not disabled, in the order of the page."""
        found = [self.elements[path][1] for path in sorted(self.elements) if self.elements[path][0] == kind]
        return [one for one in found if not one.disabled]

    def sections(self):
        """Return the tabs of the page: their id, their titles, and the id of their fragment; None if it has none."""
        for path in sorted(self.elements):
            what, found, _, fragment = self.elements[path]
            if what == "block" and found.HasField("tab_container") and found.tab_container.id:
                inside = [self.elements[other][:2] for other in sorted(self.elements) if other[:-1] == path]
                titles = [one.tab.label for kind, one in inside if kind == "block" and one.HasField("tab")]
                return found.tab_container.id, titles, fragment
        return None

    def text(self):
        """Return the texts of the page, in order: sentences, labels, values, and what bars of progress say."""
        parts = []
        for path in sorted(self.elements):
            what, found, *_ = self.elements[path]
            if what not in ("block", "html"):
                fields = (getattr(found, name, "") for name in ("label", "body", "text", "message"))
                parts += [field for field in fields if isinstance(field, str) and field]
        return "\n".join(parts)

    def says(self, pattern):
        """Return whether the page says something, a regular expression."""
        return re.search(pattern, self.text()) is not None
