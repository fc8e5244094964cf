"""What all sessions of one server process share."""

import asyncio

import pytest

from pages.shared import server


@pytest.mark.parametrize("headless", [False, True])
def test_the_browser_is_opened_when_the_server_starts_unless_it_is_headless(headless, monkeypatch):
    opened = []
    options = {"server.headless": headless, "server.port": 8599, "browser.serverAddress": "localhost"}
    monkeypatch.setattr(server.st, "get_option", lambda name: options.get(name, ""))
    monkeypatch.setattr(server.webbrowser, "open", opened.append)

    async def start():
        async with server.lifespan(None):
            await asyncio.sleep(0.7)

    asyncio.run(start())
    assert opened == ([] if headless else ["http://localhost:8599/"])
