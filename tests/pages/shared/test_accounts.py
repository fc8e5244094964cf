"""Who is signed in, which workspaces belong to whom, what one user may take, and what the operator's log says."""

import json
import stat
import subprocess
import sys
from types import SimpleNamespace

import pytest
import streamlit as st

from pages.shared import jobs
from pages.shared.operator import accounts, audit, limits, user_workspaces
from pages.shared.process import in_memory, job_queue, room
from pages.shared.workspaces import dataset_list, stored, workspace
from xmlcore import experiment
from xmlcore.jobs import Plan
from xmlcore.system import cache_root

ANN = accounts.user_of({"iss": "https://id.example.org", "sub": "1", "email": "Ann@Example.org"})
BOB = accounts.user_of({"iss": "https://id.example.org", "sub": "2", "email": "bob@example.org"})


@pytest.fixture
def sign_in(monkeypatch):
    """Begin a new session of a user, or of nobody who signs in, with an address; return the workspace it opens."""

    def begin(who, token=None):
        monkeypatch.setattr(accounts, "user", lambda: who)
        monkeypatch.setattr(st, "session_state", {})
        monkeypatch.setattr(st, "query_params", {"workspace": token} if token else {})
        workspace.open_workspace()
        return workspace.address()

    return begin


def work():
    """Do something in the present workspace."""
    dataset_list.add_dataset("f1f1f1f1", "mine", "upload", use=True)


def test_a_user_is_provider_and_subject_and_a_verified_address(monkeypatch):
    same = accounts.user_of({"iss": "https://id.example.org", "sub": "1", "name": "Ann B"})
    assert same.id == ANN.id and same.name == "Ann B" and same.address is None
    other = accounts.user_of({"iss": "https://elsewhere.example", "sub": "1", "email": "ann@example.org"})
    assert other.id != ANN.id
    assert ANN.name == ANN.address == "ann@example.org" and "1" not in (ANN.name, ANN.id)
    assert accounts.user_of({"email": "ann@example.org"}) is None and accounts.user_of({"sub": 3}) is None
    forged = accounts.user_of({"sub": "9", "email": "ann@example.org", "email_verified": False})
    monkeypatch.setenv(accounts.USERS, "ann@example.org")
    assert not accounts.may_use(forged) and accounts.may_use(ANN) and not accounts.may_use(BOB)


@pytest.mark.parametrize(("listed", "both"), [("", True), ("@example.org", True), ("@ample.org, @org", False)])
def test_users_are_listed_by_address_or_by_the_end_of_it(listed, both, monkeypatch):
    monkeypatch.setenv(accounts.USERS, listed)
    assert (accounts.may_use(ANN), accounts.may_use(BOB)) == (both, both)


def test_a_workspace_is_of_who_opened_it_first_others_may_look(own_cache, sign_in):
    hers = sign_in(ANN)
    work()
    assert sign_in(ANN, hers) == hers
    assert sign_in(BOB, hers) not in (hers, None)
    assert sign_in(None, hers) != hers  # the operator has switched signing in off
    assert workspace.take_notices() == [workspace.NOT_FOUND]  # it does not say that there is such a workspace
    old = sign_in(None)
    work()
    assert sign_in(BOB, old) == old and sign_in(ANN, old) != old
    assert stored.read(old)["user"] == BOB.id
    sign_in(ANN)
    work()
    look = workspace.read_only_token()
    assert sign_in(BOB, look) == look
    assert workspace.read_only() and workspace.get("known")["f1f1f1f1"]["name"] == "mine"


def test_who_comes_without_an_address_gets_the_last_workspace(own_cache, sign_in, monkeypatch):
    first = sign_in(ANN)
    work()
    second = workspace.begin()
    assert user_workspaces.tokens(ANN.id) == [second, first]
    assert sign_in(ANN, first) == first
    monkeypatch.setattr(accounts, "user", lambda: None)
    made_by_entrance = workspace.begin()
    assert sign_in(ANN, made_by_entrance) == first and st.query_params["workspace"] == first
    assert sign_in(ANN) == first and sign_in(BOB) not in (first, second)


def test_a_user_may_have_so_many_jobs_in_all_workspaces(own_cache, sign_in, monkeypatch):
    sign_in(ANN)
    first = workspace.token()
    workspace.begin()
    plan = Plan()
    active = {first: [SimpleNamespace(id=name, active=name == "a", plan=plan) for name in "ab"]}
    queue = SimpleNamespace(jobs=lambda owner=None: active.get(owner, []))
    monkeypatch.setattr(job_queue, "queue", lambda: queue)
    assert limits.refusal() is None
    monkeypatch.setenv(limits.JOBS, "1")
    assert "You have 1 job already" in limits.refusal()
    active[workspace.token()] = active[first]
    jobs.submit(experiment.task("prepare", {}, {"name": "api-docs"}), "", title="A training")
    assert workspace.take_notices()[0].startswith("Not started: A training. You have 1 job already")
    assert lines()[-1]["event"] == "refused" and lines()[-1]["kind"] == "prepare"
    monkeypatch.setattr(accounts, "user", lambda: BOB)
    monkeypatch.setattr(workspace, "token", lambda: "0" * 32)
    assert limits.refusal() is None


def test_what_the_workspaces_of_a_user_keep_is_limited(own_cache, sign_in, monkeypatch):
    sign_in(ANN)
    experiment.keep(job_queue.default_dataset())
    monkeypatch.setenv(limits.DISK, "5 kB")
    assert limits.refusal() is None
    fingerprint = job_queue.default_dataset().load().dataset
    for _ in range(2):  # what two workspaces have in common counts once
        dataset_list.add_dataset(fingerprint, "api-docs", "catalog", use=True)
        workspace.begin()
    assert "Delete something on the Storage page" in limits.refusal()
    assert limits.kept() == room.inventory().with_key(fingerprint)[0].bytes
    workspace.update(unasked={fingerprint: True})
    assert limits.kept() == 0, "nobody asked for it"


def test_a_limit_that_is_none_is_said_when_the_server_starts(monkeypatch):
    wrong = {limits.JOBS: "many", limits.DISK: "10 apples", limits.UPLOAD: "-1"}
    wrong |= {audit.SIZE_VARIABLE: "10 MB", audit.FILES_VARIABLE: "0", in_memory.VARIABLE: "much"}
    for name, text in wrong.items():
        with monkeypatch.context() as patch, pytest.raises(ValueError, match=name):
            patch.setenv(name, text)
            limits.apply()


def lines():
    """Return the lines of the log."""
    file = cache_root() / "log" / "audit.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_line_of_the_log_is_private_and_a_full_disk_no_error(own_cache, monkeypatch):
    audit.write("upload", "ann\n@example.org", "a" * 32, bytes=35)
    (line,) = lines()
    assert line["event"] == "upload" and line["user"] == "ann\n@example.org" and line["bytes"] == 35
    assert line["time"].endswith("+00:00") and "a" * 32 not in json.dumps(line)
    folder = cache_root() / "log"
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "audit.jsonl")]
    assert modes == [0o700, 0o600]

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(audit.os, "open", full)
    audit.write("upload", None, None, bytes=35)


def test_the_log_rotates_and_keeps_so_many_files(own_cache, monkeypatch):
    monkeypatch.setenv(audit.SIZE_VARIABLE, "500")
    monkeypatch.setenv(audit.FILES_VARIABLE, "3")
    for number in range(40):
        audit.write("job", None, None, number=number)
    files = sorted((cache_root() / "log").iterdir())
    assert [file.name for file in files] == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    assert all(file.stat().st_size <= 500 and stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
    assert lines()[-1]["number"] == 39


@pytest.mark.slow
def test_servers_on_one_cache_lose_no_line_of_the_log(own_cache, monkeypatch):
    monkeypatch.setenv(audit.SIZE_VARIABLE, "1000")
    monkeypatch.setenv(audit.FILES_VARIABLE, "999")
    audit.write("job", None, None, of="here", number=-1)  # this process knows the first file, too
    code = "import sys; from pages.shared.operator import audit; print('ready', flush=True); sys.stdin.readline()\n"
    code += "for number in range(200): audit.write('job', None, None, of='there', number=number)"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    other = subprocess.Popen([sys.executable, "-c", code], **pipes)
    assert other.stdout.readline() == "ready\n"
    other.stdin.write("go\n")
    other.stdin.flush()
    for number in range(200):
        audit.write("job", None, None, of="here", number=number)
    assert other.wait() == 0
    folder = cache_root() / "log"
    files = sorted(
        folder.glob("audit.jsonl*"), key=lambda file: -int(file.suffix[1:]) if file.suffix[1:].isdigit() else 0
    )
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert len(files) > 20
    for name, first in (("there", 0), ("here", -1)):
        assert [line["number"] for line in lines if line["of"] == name] == list(range(first, 200))
