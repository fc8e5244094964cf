"""What all sessions of one server process share."""

import asyncio

import pytest

from pages.shared import server


@pytest.mark.parametrize(
    ("headless", "addresses", "wanted"),
    [
        (True, {}, []),
        (False, {"browser.serverAddress": "localhost"}, ["http://localhost:8599/"]),
        (False, {"server.address": "127.0.0.2"}, ["http://127.0.0.2:8599/"]),
        (False, {"server.address": "0.0.0.0", "server.baseUrlPath": "/x/"}, ["http://localhost:8599/x"]),
        (False, {"server.address": "::1", "browser.serverAddress": "localhost"}, ["http://[::1]:8599/"]),
    ],
)
def test_the_browser_is_opened_when_the_server_starts_unless_it_is_headless(headless, addresses, wanted, monkeypatch):
    opened = []
    options = {"server.headless": headless, "server.port": 8599, **addresses}
    monkeypatch.setattr(server.st, "get_option", lambda name: options.get(name, ""))
    monkeypatch.setattr(server.webbrowser, "open", opened.append)

    async def start():
        async with server.lifespan(None):
            await asyncio.sleep(0.7)

    asyncio.run(start())
    assert opened == wanted
