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
        goal = _goal(Request(scope)) if scope["type"] == "http" else None
        answer = self._app if goal is None else RedirectResponse(goal, headers={"Cache-Control": "no-store"})
        await answer(scope, receive, send)


def _goal(request) -> str | None:
    """Return where a browser that asks for a page is sent: with a new workspace if it names none; None for nowhere."""
    if request.method != "GET" or "text/html" not in request.headers.get("accept", ""):
        return None
    base = st.get_option("server.baseUrlPath").strip("/")
    path = request.url.path.strip("/").removeprefix(base).strip("/")
    if path and path not in {name.lower() for name in addresses.ICONS}:
        return None
    query, is_first = request.url.query, path == addresses.FIRST.lower()
    if workspace.QUERY not in parse_qs(query, keep_blank_values=True):
        query = "&".join(filter(None, (query, f"{workspace.QUERY}={workspace.begin()}")))
    elif not is_first:
        return None
    # Relative addresses, so that they also hold behind a proxy that serves the dashboard under a prefix. The first page
    # is at "/".
    return f"./?{query}" if is_first else f"?{query}"
