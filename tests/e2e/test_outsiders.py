"""What a server does with those who are not its users: asked as an outsider would, without a browser."""

import asyncio
import http.client
import json
import time
import urllib.parse
import urllib.request

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

pytestmark = pytest.mark.slow


@pytest.fixture
def port(dashboard):
    return urllib.parse.urlsplit(dashboard.url).port


def ask(port, method, path, headers=(), body=b""):
    """Send a request; return the status, the headers and the body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": f"localhost:{port}", "Content-Length": str(len(body)), **dict(headers)}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def opens(port, origin, host=None, **more):
    """Return whether a websocket is opened, and the seconds until that was clear."""

    async def attempt():
        """Open a websocket, and look whether it stays open."""
        # The connection goes to this machine, whatever name is in the header, as after a DNS rebinding.
        address = f"ws://{host or f'localhost:{port}'}/_stcore/stream"
        try:
            async with connect(address, host="127.0.0.1", port=port, origin=origin, proxy=None, **more) as socket:
                await asyncio.wait_for(socket.wait_closed(), 0.5)
                return False
        except TimeoutError:
            return True
        except (ConnectionClosed, InvalidHandshake):
            return False

    start = time.monotonic()
    return asyncio.run(attempt()), time.monotonic() - start


def upload(port, session, token=None, **headers):
    """Send a small file to the address of an upload; return the status."""
    mark = "mark"
    body = (
        f'--{mark}\r\nContent-Disposition: form-data; name="a"; filename="a.txt"\r\n\r\nabc\r\n--{mark}--\r\n'.encode()
    )
    given = {"Content-Type": f"multipart/form-data; boundary={mark}", **headers}
    if token is not None:
        given |= {"Cookie": f"_streamlit_xsrf={token}", "X-Xsrftoken": token}
    return ask(port, "PUT", f"/_stcore/upload_file/{session}/file", given, body)[0]


def xsrf(port):
    """Return a token against forged requests, as every visitor gets."""
    _, headers, _ = ask(port, "GET", "/_stcore/health")
    return headers["set-cookie"].split(";")[0].split("=", 1)[1]


def test_a_page_of_the_server_opens_its_websocket_and_pages_of_others_do_not(port):
    assert opens(port, f"http://localhost:{port}")[0]
    for origin in ("http://evil.example", f"http://localhost:{port + 1}", "null"):
        opened, seconds = opens(port, origin)
        assert not opened
        assert seconds < 5  # Streamlit alone would ask the network for the address of this machine first


def test_a_name_that_leads_to_the_server_but_is_not_its_own_gets_nothing(port):
    name = f"evil.example:{port}"
    assert not opens(port, f"http://{name}", name)[0]
    for path in ("/", "/train", "/_stcore/health", "/_stcore/host-config", "/static/index.html"):
        status, _, body = ask(port, "GET", path, {"Host": name, "Accept": "text/html"})
        assert status == 421 and b"--server.allowedHosts" in body, path


def test_the_server_asks_nobody_for_the_address_of_its_machine(port, dashboard):
    assert not opens(port, "http://evil.example")[0]
    log = (dashboard.cache.parent / "log.txt").read_text(errors="replace")
    # Streamlit says so if it has asked and got no answer, and its welcome names the address otherwise.
    assert f"The dashboard is at http://localhost:{port}/" in log
    assert "external IP" not in log and "External URL" not in log and "Network URL" not in log


def test_nothing_is_uploaded_without_a_session_or_from_another_site(port):
    token = xsrf(port)
    assert upload(port, "0" * 32, token) == 400  # no such session
    assert upload(port, "0" * 32) == 403  # no token
    assert upload(port, "0" * 32, token, Host="evil.example") == 421
    assert upload(port, "..%2f..%2fetc", token) in (400, 404)


def test_every_answer_says_that_no_other_site_may_show_it_and_leaks_no_address(port):
    for path in ("/train", "/_stcore/health"):
        status, headers, _ = ask(port, "GET", path)
        headers = {name.lower(): value for name, value in headers.items()}
        assert status == 200
        assert headers["x-frame-options"] == "SAMEORIGIN" and headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


def test_a_workspace_is_not_made_under_a_name_that_an_outsider_has_chosen(port, dashboard):
    before = sorted((dashboard.cache / "workspaces").glob("*.json"))
    planted = "0123456789abcdef" * 2
    status, headers, _ = ask(port, "GET", f"/?workspace={planted}", {"Accept": "text/html"})
    assert status == 200 and sorted((dashboard.cache / "workspaces").glob("*.json")) == before
    for path in ("/workspaces", "/cache/workspaces", "/app/static/../cache", "/_stcore/../cache/workspaces"):
        status, _, body = ask(port, "GET", path)
        with pytest.raises(ValueError):
            json.loads(body)  # whatever it is, it is no workspace and no list of them
