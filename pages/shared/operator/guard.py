"""Who may speak to the server: requests for other names, and websockets of other sites, are refused.

A site whose name is made to lead to this server (DNS rebinding) can have a visitor's browser ask for pages, and read
the answers. Such requests have the site's name in the header ``Host``. So only names that are certainly this server's
are answered: ``localhost``, addresses in numbers, the name of this machine, and those in Streamlit's options
``server.address``, ``browser.serverAddress`` and ``server.allowedHosts``.

A file is taken only for a session that may see pages, and only if it is not larger than one user may upload.
"""

import ipaddress
import re
import socket
from collections import OrderedDict
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared.operator import accounts, audit, limits
from pages.shared.streamlit_fixes import late_polls, upload_addresses

# What each answer says beside its content. Addresses of pages name the workspace, so other sites are not told them, and
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
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")  # the path to which a browser sends a file
_MARKS = 2**20  # bytes of a request beside the file that it brings, at most
_MOST_SESSIONS = 10_000  # that are remembered: the newest
_sessions = OrderedDict()  # Streamlit's id of each session that may see pages -> name of the user, token


def let_in(token: str) -> None:
    """Note that the present session may see pages, and the workspace that it has opened."""
    session, who = get_script_run_ctx().session_id, accounts.user()
    _sessions[session] = (None if who is None else who.name, token)
    _sessions.move_to_end(session)
    while len(_sessions) > _MOST_SESSIONS:
        _sessions.popitem(last=False)


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
            answer = self._app if right else PlainTextResponse(REFUSED, 421)
            upload = _UPLOAD.search(scope["path"]) if right and scope["method"] == "PUT" else None
            if upload is not None:
                answer, send = self._upload(upload[1], headers, send)
            await answer(scope, receive, _with_headers(send))
        elif right and is_from_here(headers.get("origin"), named[0]):
            receive, send = upload_addresses.asked_again(late_polls.without(receive), send)
            await self._app(_as_from_here(scope, headers), receive, send)
        else:
            await receive()  # the message that asks for the connection
            await send({"type": "websocket.close", "code": 1008, "reason": "refused"})

    def _upload(self, session, headers, send):
        """Return what answers an upload, and a function that sends the answer and notes what came of it."""
        who, token = _sessions.get(session, (None, None))
        length = headers.get("content-length", "")
        about = {"bytes": int(length) if length.isdecimal() else None}
        most, answer = limits.size(limits.UPLOAD), self._app
        if token is None and accounts.needed():
            answer = PlainTextResponse("Sign in first.\n", 403)
        elif not length.isdecimal():
            answer = PlainTextResponse("The length of the file is missing.\n", 411)
        elif most is not None and int(length) > most + _MARKS:
            answer = PlainTextResponse(f"This server takes files of at most {most:,} bytes.\n", 413)

        async def send_and_note(message):
            if message["type"] == "http.response.start":
                taken = message["status"] < 300
                audit.write("upload" if taken else "refused", who, token, status=message["status"], **about)
            await send(message)

        return answer, send_and_note


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
    """Return the name of the server in an address, in small letters; None if it is no address."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises ValueError if it is none
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
