"""Who may speak to the server: names, websockets of other sites, what every answer says, and the first one."""

import asyncio
import socket
from types import SimpleNamespace
from urllib.parse import urljoin

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient
from streamlit.file_util import get_static_dir
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.shared.operator import entrance, guard
from pages.shared.operator.entrance import STYLE
from pages.shared.workspaces import stored, workspace
from xmlcore.state import database


@pytest.fixture
def options(monkeypatch):
    """Set options of Streamlit: a dict to fill."""
    given = {"server.address": "localhost", "browser.serverAddress": "localhost", "server.enableCORS": True}
    given |= {"server.allowedHosts": [], "server.corsAllowedOrigins": []}
    monkeypatch.setattr(st, "get_option", given.get)
    return given


OWN = "localhost localhost:8501 LOCALHOST.:80 127.0.0.1:8501 10.1.2.3 [::1]:8501".split()
OTHERS = ["", "evil.example", "localhost.evil.example:8501", "evil.example:localhost", "user@localhost", "localhost/x"]
OTHERS += ["127.0.0.1.evil.example", "localhost:99999", "[::1", "localhost?x", "0x7f.1.evil", "localhost evil.example"]


def test_only_names_that_are_certainly_this_servers_are_answered(options):
    assert [host for host in (*OWN, socket.gethostname(), *OTHERS) if guard.is_own(host)] == [
        *OWN,
        socket.gethostname(),
    ]


def test_the_operator_names_further_names(options):
    options["server.allowedHosts"] = ["Lab.example.org", "*.people.example.org"]
    options["browser.serverAddress"] = "shown.example.org"
    assert all(map(guard.is_own, ["lab.example.org:443", "a.people.example.org", "shown.example.org"]))
    assert not any(map(guard.is_own, ["example.org", "xlab.example.org", "people.example.org", "x.lab.example.org"]))
    options["server.allowedHosts"] = ["*"]
    assert guard.is_own("anything.example")


@pytest.mark.parametrize(("right", "origins"), [
    (True, [None, "http://localhost:8501", "http://LOCALHOST:8501"]),
    (False, ["http://localhost:9999", "http://127.0.0.1:8501"]),  # other servers on this machine
    (False, ["http://evil.example", "https://localhost:8501.evil.example", "null", ""]),
])  # fmt: skip
def test_only_pages_of_this_server_open_its_websocket(options, right, origins):
    assert [guard.is_from_here(origin, "localhost:8501") for origin in origins] == [right] * len(origins)


def test_sites_that_the_operator_trusts_open_the_websocket(options):
    sites = ["portal.example.org", "portal.example.org.evil.example", "lab.example.org", "evil.example"]

    def trusted():
        return [site for site in sites if guard.is_from_here(f"https://{site}", "localhost:8501")]

    options["server.corsAllowedOrigins"] = ["https://portal.example.org"]
    assert trusted() == ["portal.example.org"]
    options["server.allowedHosts"] = ["lab.example.org"]  # behind a proxy that asks for localhost
    assert trusted() == ["portal.example.org", "lab.example.org"]
    options["server.enableCORS"] = False
    assert trusted() == sites


def test_streamlits_numbers_on_all_sessions_are_shown_to_nobody(options):
    for path in ("/_stcore/metrics", "/_stcore/metrics/", "/lab/_stcore/metrics"):
        saw, sent = ask({"type": "http", "path": path, "headers": [("host", "localhost")]})
        assert saw == [] and sent[0]["status"] == 404


@pytest.fixture
def session(options, monkeypatch):
    """Streamlit's place for files of the session "s", which may see pages and was given addresses for "a" to "d"."""
    options["server.maxUploadSize"] = 3  # MB
    files = MemoryUploadedFileManager("/_stcore/upload_file")
    runs = SimpleNamespace(is_active_session=lambda session: session == "s", uploaded_file_mgr=files)
    monkeypatch.setattr(guard.runtime, "get_instance", lambda: runs)
    monkeypatch.setattr(guard, "_sessions", {"s": guard._Session(token=TOKEN, given=[*"abcd"])})
    return files


def put(file, size, session="s", **more):
    """Announce a file; return the status of the answer."""
    headers = {"host": "localhost", "content-length": str(size), **more}
    scope = {"type": "http", "method": "PUT", "path": f"/_stcore/upload_file/{session}/{file}"}
    return ask(scope | {"headers": list(headers.items())})[1][0]["status"]


def test_a_file_is_taken_only_where_its_session_asked_for_it(session):
    assert put("a", 10) == 200 and put("made-up", 10) == 403
    assert put("a", 10, session="unknown") == 200  # Streamlit refuses it
    assert put("a", 10, **{"transfer-encoding": "chunked"}) == put("a", "x") == 411  # its length would not count
    guard._sessions["s"].read_only = True
    assert put("a", 10) == 403


def test_unread_files_of_a_session_have_a_bound_together(session):
    size = 3 << 20
    assert put("a", size + (2 << 20)) == 413
    for file in "abcd":
        assert put(file, size) == (413 if file == "d" else 200), file
        session.add_file("s", UploadedFileRec(file, "x.txt", "text/plain", bytes(size * (file != "d"))))
    assert put("a", size) == 200  # once more, in its own place
    session.remove_file("s", "a")
    guard._sessions["s"].arriving = size  # another one is on its way
    assert put("d", size) == 413 and guard._sessions["s"].arriving == size


def ask(scope):
    """Send a request through the guard to an application that takes all; return what it saw and what was sent."""
    saw, sent = [], []

    async def application(scope, receive, send):
        saw.append(scope)
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"x-frame-options", b"DENY")]})
            await send({"type": "http.response.body", "body": b"secret"})

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    headers = [(name.encode(), value.encode()) for name, value in scope.pop("headers")]
    scope = {"path": "/", "method": "GET", "query_string": b"", **scope, "headers": headers}
    asyncio.run(guard.Guard(application)(scope, receive, send))
    return saw, sent


def test_every_answer_has_the_headers_and_keeps_its_own(options):
    _, sent = ask({"type": "http", "headers": [("host", "localhost")]})
    headers = dict(sent[0]["headers"])
    assert headers[b"x-frame-options"] == b"DENY"
    assert headers[b"x-content-type-options"] == b"nosniff" and headers[b"referrer-policy"] == b"same-origin"
    assert b"frame-ancestors 'self'" in headers[b"content-security-policy"]


@pytest.mark.parametrize("hosts", [["evil.example"], [], ["localhost", "evil.example"]])
def test_a_request_for_another_name_is_refused(options, hosts):
    saw, sent = ask({"type": "http", "headers": [("host", host) for host in hosts]})
    assert saw == [] and sent[0]["status"] == 421
    assert b"--server.allowedHosts" in sent[1]["body"] and b"evil" not in sent[1]["body"]


def test_a_websocket_of_another_site_or_name_is_refused(options):
    for host, origin in (("localhost", "http://evil.example"), ("evil.example", "http://evil.example")):
        saw, sent = ask({"type": "websocket", "headers": [("host", host), ("origin", origin)]})
        assert saw == [] and sent == [{"type": "websocket.close", "code": 1008, "reason": "refused"}]


def test_streamlit_sees_a_trusted_page_as_its_own(options):
    options["server.allowedHosts"] = ["lab.example.org"]
    headers = [("host", "localhost:8501"), ("origin", "https://lab.example.org"), ("cookie", "a=b")]
    (scope,), _ = ask({"type": "websocket", "headers": headers})
    assert dict(scope["headers"])[b"host"] == b"lab.example.org" and (b"cookie", b"a=b") in scope["headers"]


TOKEN = "0" * 32


def answer(path, query="", accept="text/html", page=None):
    """The status and headers that a browser gets for a path; ``page`` is what is behind the entrance."""
    application = Starlette(routes=[Route("/{rest:path}", lambda request: page or HTMLResponse("page"))])
    browser = TestClient(entrance.Entrance(application), follow_redirects=False)
    result = browser.get(f"{path}?{query}", headers={"accept": accept})
    return result.status_code, result.headers


def test_a_page_comes_with_its_style_also_if_it_is_cached():
    browser = TestClient(entrance.Entrance(StaticFiles(directory=get_static_dir(), html=True)))
    page = browser.get(f"/?{workspace.QUERY}={TOKEN}", headers={"accept": "text/html", "accept-encoding": "gzip"})
    assert page.text.endswith(f"{STYLE}</body>\n</html>\n")
    again = browser.get(page.url, headers={"accept": "text/html", "if-none-match": page.headers["etag"]})
    assert again.status_code == 200 and again.text == page.text


@pytest.mark.parametrize(
    ("path", "goal"),
    [("/data", "/"), ("/Data", "/"), ("/data/", "/"), ("/TRAIN", "/train"), ("/train/", "/train"), ("/train", None)],
)
def test_other_spellings_of_a_page_lead_to_it_with_their_query(path, goal):
    query = f"{workspace.QUERY}={TOKEN}&at=row-3"
    status, head = answer(path, query)
    assert (status == 307) == (goal is not None)
    assert goal is None or urljoin(f"http://host{path}", head["location"]) == f"http://host{goal}?{query}"


def test_a_request_without_a_workspace_writes_nothing(own_cache, monkeypatch):
    monkeypatch.setattr(stored, "MOST_BEGUN", 3)
    begun = [answer("/")[1]["location"].partition(f"{workspace.QUERY}=")[2] for _ in range(4)]
    assert [stored.exists(token) for token in begun] == [False, True, True, True]
    assert database().rows(stored.TABLE) == []
    stored.write(begun[1], stored.read(begun[1]) | {"dataset": "f"})
    assert [row.key for row in database().rows(stored.TABLE)] == [stored.row(begun[1])]
    assert stored.read(begun[1])["dataset"] == "f" and stored.read(begun[2])["dataset"] is None
