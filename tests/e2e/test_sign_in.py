"""Signing in with a provider of OpenID Connect, and what it protects: a real server, a provider on this machine."""

import asyncio
import contextlib
import http.client
import json
import signal
import time
from types import SimpleNamespace

import httpx
import pytest
from provider import Provider, secrets_file

from benchmarks.library.dashboard_server import Server
from benchmarks.library.visitor import Tab, TabError

pytest.importorskip("authlib", reason="the extra sign-in is not installed")
pytestmark = pytest.mark.slow
ANN = {"sub": "1", "email": "ann@example.org", "email_verified": True}
BOB = {"sub": "2", "email": "bob@example.org", "email_verified": True}
EVE = {"sub": "3", "email": "eve@evil.example", "email_verified": True}


@pytest.fixture(scope="module")
def lab(tmp_path_factory, with_data):
    """A dashboard whose users sign in, at example.org only, and its provider."""
    folder, provider = tmp_path_factory.mktemp("sign-in"), Provider()
    variables = {"XMLCORE_USERS": "@example.org", "XMLCORE_UPLOAD_SIZE": "3 MB"}
    server = Server(folder, variables=variables, cache=with_data(folder / "cache"))
    file = secrets_file(folder / "secrets.toml", provider, f"http://localhost:{server.port}")
    server.add_options("--secrets.files", str(file))
    with provider.running():
        server.start()
        try:
            yield SimpleNamespace(server=server, provider=provider, port=server.port)
        finally:
            server.stop()


@contextlib.asynccontextmanager
async def tab(lab, claims=None, workspace=None):
    """Open a tab of a browser of which the provider says who uses it; None for nobody."""
    cookies = await signed_in(lab, claims) if claims else {}
    one = Tab("localhost", lab.port, cookies=cookies)
    try:
        await one.open(workspace=workspace)
        yield one
    finally:
        await one.close()


async def signed_in(lab, claims):
    """Press the button that signs in, follow where it leads, and return the cookies of the browser."""
    lab.provider.claims = claims
    async with tab(lab) as one:
        with contextlib.suppress(TabError):  # the browser leaves the page
            await one.press("Sign in", timeout=5)
        await one.until(lambda: one.redirected, "the address of the sign-in")
    async with httpx.AsyncClient(base_url=f"http://localhost:{lab.port}", follow_redirects=True) as browser:
        answer = await browser.get("/_stcore/health")
        answer = await browser.get(one.redirected, headers={"Accept": "text/html"})
        assert answer.status_code == 200
        return dict(browser.cookies)


def shows_data(one):
    return one.says("Training file") or one.says("Data set")


@pytest.mark.parametrize(
    ("who", "said"), [(None, "Sign in to open your workspaces"), (EVE, "Not a user of this server")]
)
def test_who_has_not_signed_in_sees_no_page_and_uploads_no_file(lab, who, said):
    async def visit():
        async with tab(lab, who) as one:
            assert one.says(said) and not shows_data(one)
            assert await one.put(f"/_stcore/upload_file/{one.session}/a-file", "a.txt", b"abc") == 403

    asyncio.run(visit())


def test_a_workspace_belongs_to_the_user_who_opened_it(lab):
    async def visit():
        async with tab(lab, ANN) as one:
            assert shows_data(one) and one.find("button", "Sign out") and not one.exceptions
            await one.upload("Training file", "own.txt", b"1 1 1\n0 0:1\n")
            opened = one.workspace
        async with tab(lab, ANN) as again:  # the address of a new visit names a new workspace
            assert again.workspace == opened
        async with tab(lab, BOB, workspace=opened) as other:
            assert shows_data(other) and other.workspace != opened
        async with tab(lab, workspace=opened) as nobody:
            assert not shows_data(nobody)

    asyncio.run(visit())


def test_the_log_says_who_uploaded_and_who_was_refused(lab):
    async def visit():
        async with tab(lab, ANN) as one:
            assert await one.put(f"/_stcore/upload_file/{one.session}/a-file", "a.txt", b"abc") == 403
            await one.upload("Training file", "a.txt", b"abc")
            announced = http.client.HTTPConnection("localhost", lab.port, timeout=30)
            announced.putrequest("PUT", f"/_stcore/upload_file/{one.session}/b-file")
            announced.putheader("Content-Length", "5000000")
            announced.endheaders()  # the answer comes before the file is sent
            assert (await asyncio.to_thread(announced.getresponse)).status == 413
            announced.close()

    asyncio.run(visit())
    lines = [json.loads(line) for line in (lab.server.cache / "log" / "audit.jsonl").read_text().splitlines()]
    hers = [line for line in lines if line["user"] == "ann@example.org"]
    assert [line["event"] for line in hers][-2:] == ["upload", "refused"]
    assert hers[-2]["bytes"] > 3 and hers[-1]["status"] == 413 and len(hers[-1]["workspace"]) == 16
    assert "abc" not in json.dumps(lines) and "a.txt" not in json.dumps(lines)


def test_a_terminated_server_ends_as_with_ctrl_c(lab):
    end, before = time.monotonic() + 60, {}
    # Its two workers and their two trackers, at rest: one that is being made leaves a semaphore to its tracker.
    while (len(now := lab.server.ticks()) < 4 or now != before) and time.monotonic() < end:
        before = now
        time.sleep(1)
    assert lab.server.stop(signal.SIGTERM) == []
    assert lab.server.process.returncode == 0
    assert [line for line in lab.server.bad_lines() if "AuthlibDeprecationWarning" not in line] == []
