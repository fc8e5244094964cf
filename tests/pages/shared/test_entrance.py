"""What a server answers before a page is loaded."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route

from pages.shared.operator import entrance
from pages.shared.workspaces import workspace

TOKEN = "0" * 32


def answer(path, query="", accept="text/html", page=None):
    """The head of the answer to a browser that asks for a path; ``page`` is what is behind the entrance."""
    application = Starlette(routes=[Route("/{rest:path}", lambda request: page or HTMLResponse("page"))])
    said = []

    async def ask():
        async def send(message):
            said.append(message)

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "root_path": ""}
        scope |= {
            "headers": [(b"accept", accept.encode()), (b"host", b"here")],
            "server": ("here", 80),
            "scheme": "http",
        }
        await entrance.Entrance(application)(scope, receive, send)

    asyncio.run(ask())
    return said[0]["status"], {name.decode(): value.decode() for name, value in said[0]["headers"]}


@pytest.mark.parametrize("path", ["/", "/compare", "/train"])
def test_a_page_names_the_parts_of_the_program_that_figures_and_tables_need(path):
    status, head = answer(path, f"{workspace.QUERY}={TOKEN}")
    assert status == 200
    links = head["link"].split(", ")
    assert [link.split("/")[-1].split(".")[0] for link in links] == list(entrance.FETCHED)
    for link in links:
        address, *rest = link.split("; ")
        assert (entrance.PROGRAM / address.removeprefix("<./static/js/").removesuffix(">")).is_file()
        assert rest == ["rel=prefetch", "as=script"]


@pytest.mark.parametrize(
    ("path", "accept"), [("/compare", "*/*"), ("/media/file", "text/html"), ("/_stcore/health", "*/*")]
)
def test_what_is_no_page_names_nothing(path, accept):
    status, head = answer(path, f"{workspace.QUERY}={TOKEN}", accept)
    assert status == 200 and "link" not in head


def test_a_browser_that_is_sent_on_fetches_nothing_ahead(own_cache):
    status, head = answer("/compare")
    assert status == 307 and f"{workspace.QUERY}=" in head["location"] and "link" not in head


def test_a_browser_that_is_sent_on_by_streamlit_fetches_nothing_ahead_from_below_the_address_that_it_leaves():
    status, head = answer("/compare/", f"{workspace.QUERY}={TOKEN}", page=RedirectResponse("/compare"))
    assert status == 307 and "link" not in head
