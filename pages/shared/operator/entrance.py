"""Before a page is loaded: a visitor without a workspace gets one.

With a page comes its style, after that of Streamlit.
"""

from pathlib import Path
from urllib.parse import parse_qs

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse

from pages.shared import addresses
from pages.shared.workspaces import workspace

WIDE = "wide trees-whole features-heat-map features-overlap sampling-contributions together-heat".split()
WIDE = f":is({', '.join(f'[class*=st-key-{key}]' for key in WIDE)})"
SHEET = Path(__file__).parents[1] / "style.css"
SHEET = SHEET.read_text(encoding="utf-8").partition("*/")[2].replace("@@wide", WIDE)
STYLE = f"<style>\n{SHEET}{addresses.icons_style()}\n</style>"
END = b"</body>"
PLAIN = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")  # without these, a page comes as it is


class Entrance:
    """ASGI middleware that redirects a browser without a workspace to the same page with a new workspace.

    If the page's script did that, the browser's history would have a second entry for the page, and the first press of
    Back would stay on it.
    """

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        path = _page(Request(scope)) if scope["type"] == "http" else None
        if path is None:
            await self._app(scope, receive, send)
            return
        goal = _goal(Request(scope), path)
        if goal is not None:
            await RedirectResponse(goal, headers={"Cache-Control": "no-store"})(scope, receive, send)
            return
        scope = scope | {"headers": [(name, value) for name, value in scope["headers"] if name not in PLAIN]}
        await self._app(scope, receive, _with_style(send))


def _with_style(send):
    held = []

    async def send_with_style(message):
        held.append(message)
        if message.get("more_body", message["type"] == "http.response.start"):
            return
        start, body = held[0], b"".join(part.get("body", b"") for part in held)
        if start["status"] == 200:
            body = body.replace(END, STYLE.encode() + END)
            MutableHeaders(scope=start)["Content-Length"] = str(len(body))
        await send(start)
        await send({"type": "http.response.body", "body": body})

    return send_with_style


def _page(request) -> str | None:
    """Return the path of the page that a browser asks for, empty for the first one; None for other addresses."""
    if request.method != "GET" or "text/html" not in request.headers.get("accept", ""):
        return None
    base = st.get_option("server.baseUrlPath").strip("/")
    path = request.url.path.strip("/").removeprefix(base).strip("/")
    return None if path and path.lower() not in {name.lower() for name in addresses.ICONS} else path


def _goal(request, path) -> str | None:
    """Return where a browser that asks for a page is sent: to its address, with a workspace; None for nowhere."""
    query, name, slash = request.url.query, path.lower(), bool(path) and request.url.path.endswith("/")
    if workspace.QUERY not in parse_qs(query, keep_blank_values=True):
        query = "&".join(filter(None, (query, f"{workspace.QUERY}={workspace.begin()}")))
    elif path == name != addresses.FIRST.lower() and not slash:
        return None
    # Relative addresses, so that they also hold behind a proxy that serves the dashboard under a prefix. The first page
    # is at "/".
    place = "" if name == addresses.FIRST.lower() else name
    return f"{'../' if slash else './'}{place}?{query}" if path else f"?{query}"
