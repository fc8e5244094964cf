"""What happens before a page is loaded: a visitor without a workspace is given one.

With a page, the browser is told which parts of Streamlit's program it needs for the style of the page, and which large
ones for figures and tables, so that it fetches these while the user reads.
"""

import functools
from pathlib import Path
from urllib.parse import parse_qs

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse
from streamlit.file_util import get_static_dir

from pages.shared import addresses
from pages.shared.workspaces import workspace

# Parts of Streamlit's program: at once, those that draw the style of the page, then large ones for later.
FETCHED = dict.fromkeys(("Html", "purify"), "modulepreload")
FETCHED |= dict.fromkeys(("PlotlyChart", "DataFrame", "DownloadButton", "Multiselect"), "prefetch")
PROGRAM = Path(get_static_dir()) / "static" / "js"


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
        answer = self._app if goal is None else RedirectResponse(goal, headers={"Cache-Control": "no-store"})

        async def with_links(message):
            """Send a part of an answer; the head of a page says which files the browser may fetch ahead."""
            if message["type"] == "http.response.start" and message["status"] == 200 and _links():
                MutableHeaders(scope=message)["Link"] = _links()
            await send(message)

        await answer(scope, receive, with_links)


def _page(request) -> str | None:
    """Return the path of the page that a browser asks for, empty for the first one; None if it is no page."""
    if request.method != "GET" or "text/html" not in request.headers.get("accept", ""):
        return None
    base = st.get_option("server.baseUrlPath").strip("/")
    path = request.url.path.strip("/").removeprefix(base).strip("/")
    return None if path and path.lower() not in {name.lower() for name in addresses.ICONS} else path


@functools.cache
def _links() -> str:
    """Return the value of the header that names the files to fetch ahead; their names differ between versions."""
    files = [(file.name, how) for part, how in FETCHED.items() for file in sorted(PROGRAM.glob(f"{part}.*.js"))]
    return ", ".join(f"<./static/js/{name}>; rel={how}; as=script" for name, how in files)


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
