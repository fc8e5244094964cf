"""What happens before a page is loaded: a visitor without a workspace is given one."""

from urllib.parse import parse_qs

import streamlit as st
from starlette.requests import Request
from starlette.responses import RedirectResponse

from pages.shared import addresses, workspace


class Entrance:
    """ASGI middleware that redirects a browser without a workspace to the same page with a new workspace.

    If the page's script did that, the browser's history would have a second entry for the page, and the first press of
    Back would stay on it.

    Parameters
    ----------
    app : callable
        The ASGI application behind it.
    """

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        """Redirect, or let the application answer."""
        answer = self._app
        if scope["type"] == "http" and _is_first_look(Request(scope)):
            query = scope["query_string"].decode("latin-1")
            own = f"{workspace.QUERY}={workspace.begin()}"
            headers = {"Cache-Control": "no-store"}
            # An address without a path, so that it also holds behind a proxy that serves the dashboard under a prefix.
            answer = RedirectResponse(f"?{query}&{own}" if query else f"?{own}", headers=headers)
        await answer(scope, receive, send)


def _is_first_look(request) -> bool:
    """Return whether a browser asks for a page, and the address names no workspace."""
    if request.method != "GET" or "text/html" not in request.headers.get("accept", ""):
        return False
    base = st.get_option("server.baseUrlPath").strip("/")
    path = request.url.path.strip("/").removeprefix(base).strip("/")
    named = {name.lower() for name in addresses.ICONS} | {""}
    return path in named and workspace.QUERY not in parse_qs(request.url.query, keep_blank_values=True)
