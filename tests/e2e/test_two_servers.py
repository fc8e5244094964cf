"""Two servers on one cache, as an old one and a new one for a while: sessions work at both, and nothing is lost."""

import asyncio
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.library import crowd
from benchmarks.library.dashboard_server import Server
from pages.shared.workspaces import stored

pytestmark = [pytest.mark.slow, pytest.mark.long]
ROOT = Path(__file__).resolve().parents[2]
WRITES = 200  # of each of two processes, to a workspace in which sessions work at both servers
SEEDS = 3  # trainings of each session
WRITER = """
import sys
import streamlit as st
from pages.shared.workspaces import result_list, workspace
st.session_state, st.query_params = {}, {"workspace": sys.argv[1]}
workspace.open_workspace()
for i in range(int(sys.argv[3])):
    result_list.add_made("written", f"{sys.argv[2]}{i}")
"""


@pytest.fixture
def servers(tmp_path, monkeypatch):
    cache, started = tmp_path / "cache", []
    monkeypatch.setenv("XMLCORE_CACHE", str(cache))
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        started.append(Server(tmp_path / name, cache=cache).start())
    yield started
    for server in started:
        server.stop()


def run(code, *arguments):
    """Start Python with the cache of the servers, which is that of the tests."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def kept(token):
    """Return the workspace in its file."""
    return stored.read(token)


async def train(visitor, seeds):
    """Train with each seed in turn, and visit pages meanwhile."""
    for seed in seeds:
        visitor.random.randrange = lambda most, seed=seed: seed
        await visitor.train(wait=True)
        for page in ("jobs", "compare", "storage"):
            await visitor.go(page)
            said = visitor.tab.text()
            assert "was restarted" not in said and "Interrupted" not in said, said
    end = time.monotonic() + 240
    while kept(visitor.tab.workspace)["jobs"]:
        assert time.monotonic() < end
        await visitor.go("jobs")
        await visitor.go("train")


def test_sessions_at_two_servers_lose_no_write_and_no_result(servers):
    seen = crowd.Seen()
    visitors = [crowd.Visitor(i, "localhost", servers[i % 2].port, seen, seed=0) for i in range(4)]
    one, two, three, four = visitors

    async def work():
        await one.arrive()
        await one.upload()
        await two.arrive(one.tab.workspace)  # the same workspace at the other server
        await three.arrive()
        await three.upload()
        await four.arrive(three.tab.workspace)
        writers = [run(WRITER, one.tab.workspace, name, WRITES) for name in "ab"]
        await asyncio.gather(
            train(one, range(SEEDS)),
            train(two, range(SEEDS - 1, 2 * SEEDS)),  # one of these is a training of the first session, too
            train(three, range(SEEDS)),
            train(four, range(SEEDS)),  # all of these are
        )
        for writer in writers:
            writer.communicate()
            assert writer.returncode == 0
        for visitor in visitors:
            assert visitor.tab.exceptions == []
            await visitor.tab.close()

    asyncio.run(work())
    for token, seeds in ((one.tab.workspace, 2 * SEEDS), (three.tab.workspace, SEEDS)):
        found = kept(token)
        assert sorted(run["params"]["random_state"] for run in found["runs"]) == list(range(seeds))
        assert found["jobs"] == []
    made = {key for kind, key in kept(one.tab.workspace)["made"] if kind == "written"}
    assert made == {f"{name}{i}" for name in "ab" for i in range(WRITES)}
    for server in servers:
        assert [line for line in server.bad_lines() if not re.search("semlock|warnings.warn", line)] == []
