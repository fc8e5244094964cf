"""Who may speak to the server: requests for other names, and websockets of other sites, are refused.

A site whose name is made to lead to this server (DNS rebinding) can have a visitor's browser ask for pages, and read
the answers. Such requests have the site's name in the header ``Host``. So only names that are certainly this server's
are answered: ``localhost``, addresses in numbers, the name of this machine, and those in Streamlit's options
``server.address``, ``browser.serverAddress`` and ``server.allowedHosts``.

A file is taken only for a session that may change its workspace, at an address that Streamlit has given it, and only if
it fits into what one session may upload. Streamlit's numbers on all sessions are shown to nobody.
"""

import ipaddress
import re
import socket
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared.operator import accounts, audit, limits
from pages.shared.streamlit_fixes import websocket
from pages.shared.workspaces import workspace

# Headers of each answer. Addresses of pages name the workspace, so other sites are not told them, and
# no other site shows a page within its own.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Content-Security-Policy": "frame-ancestors 'self'; object-src 'none'; base-uri 'self'",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
REFUSED = (
    "This server does not answer under this name. If the name is right, start the server with the option "
    "--server.allowedHosts and the name, or write allowedHosts in .streamlit/config.toml.\n"
)
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)$")  # the path to which a browser sends a file
_METRICS = re.compile(r"/_stcore/metrics/*$")  # how many sessions there are, how long they last, what they keep
_MARKS = 2**20  # bytes of a request beside the file that it brings, at most
_MOST_SESSIONS = 10_000  # that are remembered: the newest
_MOST_GIVEN = 1000  # addresses for files that are remembered of a session: the newest
_sessions = OrderedDict()  # Streamlit's id of each session -> _Session


@dataclass
class _Session:
    """A session, and the files that it sends."""

    user: str | None = None
    token: str | None = None  # of the workspace that it has opened; None before it may see pages
    read_only: bool = False
    arriving: int = 0  # bytes of files that are on their way
    given: deque = field(default_factory=lambda: deque(maxlen=_MOST_GIVEN))  # ids of files, as in their addresses


def let_in(token: str) -> None:
    """Note that the present session may see pages, and the workspace that it has opened."""
    known, who = _remembered(get_script_run_ctx().session_id), accounts.user()
    known.user, known.token, known.read_only = None if who is None else who.name, token, workspace.read_only()


def _remembered(session) -> _Session:
    known = _sessions.setdefault(session, _Session())
    _sessions.move_to_end(session)
    while len(_sessions) > _MOST_SESSIONS:
        _sessions.popitem(last=False)
    return known


def note_given(address: str) -> None:
    session, file = _UPLOAD.search(address).groups()
    _remembered(session).given.append(file)


class Guard:
    """ASGI middleware that refuses requests for other names and websockets of other sites, and adds headers."""

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        named = headers.getlist("host")
        right = len(named) == 1 and is_own(named[0])
        if scope["type"] == "http":
            answer, send = self._app, _with_headers(send)
            if not right:
                answer = PlainTextResponse(REFUSED, 421)
            elif _METRICS.search(scope["path"]):
                answer = PlainTextResponse("These numbers are private: they cover all sessions.\n", 404)
            elif scope["method"] == "PUT" and _UPLOAD.search(scope["path"]):
                answer = self._upload
            await answer(scope, receive, send)
        elif right and is_from_here(headers.get("origin"), named[0]):
            await self._app(_as_from_here(scope, headers), websocket.without_late_polls(receive), send)
        else:
            await receive()  # the message that asks for the connection
            await send({"type": "websocket.close", "code": 1008, "reason": "refused"})

    async def _upload(self, scope, receive, send):
        session, file = _UPLOAD.search(scope["path"]).groups()
        headers, known = Headers(scope=scope), _sessions.get(session) or _Session()
        length = headers.get("content-length", "")
        size = int(length) if length.isdecimal() and "transfer-encoding" not in headers else None
        refused = _refusal(session, file, known, size)

        async def send_and_note(message):
            if message["type"] == "http.response.start":
                event = "upload" if message["status"] < 300 else "refused"
                audit.write(event, known.user, known.token, status=message["status"], bytes=size)
            await send(message)

        if refused is not None:
            if known.token is not None and size is not None and size <= limits.largest_file() + _MARKS:
                while (await receive()).get("more_body"):  # else the browser does not read the answer
                    pass
            await PlainTextResponse(f"{refused[1]}\n", refused[0])(scope, receive, send_and_note)
            return
        known.arriving += size
        try:
            await self._app(scope, receive, send_and_note)
        finally:
            known.arriving -= size


def _refusal(session, file, known, size) -> tuple[int, str] | None:
    """Return the status and the sentence with which a file is refused; None if it may come."""
    if known.token is None and accounts.needed():
        return 403, "Sign in first."
    if known.read_only:
        return 403, workspace.READ_ONLY
    if size is None:
        return 411, "The length of the file is missing."
    largest, active = limits.largest_file(), runtime.get_instance()
    if size > largest + _MARKS:
        return 413, f"This server takes files of at most {largest:,} bytes."
    if not active.is_active_session(session):
        return None  # Streamlit says so
    if known.token is None or file not in known.given:
        return 403, "The server has not given this address to a file. Reload the page, and choose the file again."
    kept = active.uploaded_file_mgr.file_storage.get(session, {}).copy()
    held = known.arriving + sum(len(other.data) for name, other in kept.items() if name != file)
    most = limits.UPLOADS * largest
    if held + size > most + _MARKS:
        return 413, (
            f"Files that were chosen in this tab and not read yet have {held:,} bytes, and this server allows "
            f"{most:,}. Use or remove one, or reload the page, then choose this one again."
        )
    return None


def is_own(host: str) -> bool:
    """Return whether the value of a header ``Host`` is a name or an address of this server, with or without a port."""
    name = _name(f"//{host}")
    own = {"localhost", socket.gethostname().lower(), *_named_by_operator()}
    return name is not None and (_is_address(name) or _matches(name, own))


def is_from_here(origin: str | None, host: str) -> bool:
    """Return whether a websocket may be opened: by a page of this server, of a trusted site, or by no page at all."""
    # A proxy that gives this server another name leaves the site's name in ``Origin``: it is right if it is one of
    # those that the operator has named.
    if origin is None or not st.get_option("server.enableCORS"):
        return True
    if origin.partition("://")[2].lower() == host.lower() or origin in st.get_option("server.corsAllowedOrigins"):
        return True
    name = _name(origin)
    return name is not None and _matches(name, _named_by_operator())


def _as_from_here(scope, headers):
    """Return the scope of a websocket in which ``Host`` is the name that its page has."""
    # Streamlit takes a page of another name for one of another site, and asks another server for the address that this
    # machine has in the Internet before it decides. Meanwhile it answers nobody.
    origin = headers.get("origin")
    if origin is None or not urlsplit(origin).netloc:
        return scope
    changed = MutableHeaders(scope={**scope, "headers": list(scope["headers"])})
    changed["host"] = urlsplit(origin).netloc
    return {**scope, "headers": changed.raw}


def _with_headers(send):
    async def send_with_headers(message):
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


def _named_by_operator():
    """Return names that the operator has given; one that begins with ``*.`` stands for all that end so."""
    names = [st.get_option("server.address"), st.get_option("browser.serverAddress")]
    names += st.get_option("server.allowedHosts")
    return {name.strip().lower().rstrip(".") for name in names if name} - {"localhost"}


def _name(address):
    """Return the name of the server in an address, in lower case; None for an invalid address."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises ValueError for an invalid port
        strange = parts.username is not None or parts.path or parts.query or parts.fragment
        return None if strange or not parts.hostname else parts.hostname.rstrip(".")
    except ValueError:
        return None


def _is_address(name):
    """Return whether a name is an address in numbers: no other site can have it."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _matches(name, names):
    return "*" in names or name in names or any(allowed[:2] == "*." and name.endswith(allowed[1:]) for allowed in names)
