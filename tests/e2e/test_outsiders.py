"""What a server does with those who are not its users: asked as an outsider would, without a browser."""

import asyncio
import http.client
import time

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

pytestmark = pytest.mark.slow


@pytest.fixture
def port(dashboard):
    return dashboard.port


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


def test_a_websocket_opens_for_pages_of_the_server_only(port):
    assert opens(port, f"http://localhost:{port}")[0]
    for origin in ("http://evil.example", f"http://localhost:{port + 1}", "null"):
        opened, seconds = opens(port, origin)
        assert not opened
        assert seconds < 5  # Streamlit alone would ask the network for the address of this machine first
    assert not opens(port, f"http://evil.example:{port}", f"evil.example:{port}")[0]


def test_a_name_that_is_not_the_servers_own_gets_nothing(port):
    status, _, body = ask(port, "GET", "/train", {"Host": f"evil.example:{port}", "Accept": "text/html"})
    assert status == 421 and b"--server.allowedHosts" in body


def test_nothing_is_uploaded_without_a_session_of_this_site(port):
    token = xsrf(port)
    assert upload(port, "0" * 32, token) == 400  # no such session
    assert upload(port, "0" * 32) == 403  # no token
    assert upload(port, "0" * 32, token, Host="evil.example") == 421
    assert upload(port, "..%2f..%2fetc", token) in (400, 404)
