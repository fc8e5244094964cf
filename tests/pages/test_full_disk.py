"""A full disk, a folder that others could have written to, and a damaged upload: said on the page, nothing is lost."""

import errno
import shutil

import pytest

from pages.shared import addresses, cached
from tests.pages.making import use, workspace_row
from tests.pages.small import small_data
from xmlcore import experiment, store
from xmlcore.state import FILE
from xmlcore.system import cache_root


@pytest.fixture
def full_disk():
    """A full disk; ``undo()`` frees it."""

    def no_room(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xmlcore.state.Database.put", no_room)
        patch.setattr("xmlcore.store.room.free_on_disk", lambda: 1_000_000)
        yield patch


def test_what_is_done_on_a_full_disk_is_kept_later(ready, full_disk):
    assert "Nothing new can be kept" in ready.go("train").text() and "1.0 MB are free" in ready.text()
    assert "stays in memory" in ready.set("preferences.automatic", False).text()
    assert workspace_row(ready).read()["widgets"]["preferences.automatic"] is True
    full_disk.undo()
    ready.run()
    assert "There is space again" in ready.text() and "Nothing new can be kept" not in ready.text()
    assert workspace_row(ready).read()["widgets"]["preferences.automatic"] is False


def test_a_training_on_a_full_disk_says_so_before_it_computes(ready, full_disk, monkeypatch):
    monkeypatch.setattr(experiment.KINDS["train"], "run", lambda *args: pytest.fail("it computed"))
    ready.go("explain").press("explain.train").until(lambda s: "Nothing was computed" in s.text())


def test_a_folder_that_others_can_write_to_is_refused(ready):
    cache_root().chmod(0o777)
    assert "The dashboard does not start" in ready.go("train").text() and "chmod -R go-rwx" in ready.text()
    cache_root().chmod(0o700)
    assert "The dashboard does not start" not in ready.run().text()


def test_a_damaged_upload_is_said_to_be_damaged_and_stays_listed(ready):
    fingerprint = use(ready, small_data("mine", seed=3))
    file = store.folder("datasets", fingerprint) / store.VALUE
    content = bytearray(file.read_bytes())
    content[500] ^= 1
    file.write_bytes(content)
    cached.forget()
    page = ready.run()
    assert "mine is damaged" in page.text() and "left as it is" in page.text()
    assert file.read_bytes() == content
    assert fingerprint in page.at.session_state["workspace.snapshot"]["known"]


PAGES = [name.lower() for name in addresses.ICONS]


def test_a_cache_deleted_meanwhile_is_made_anew(ready, server):
    ready.run()
    shutil.rmtree(cache_root())
    for page in PAGES:
        ready.go(page)
    ready.go("data").until(lambda s: "Labels per row" in s.metrics() and not any(job.active for job in server.jobs()))
    assert "Nothing new can be kept" not in ready.text() and workspace_row(ready).read()
    assert cache_root().stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("how", ["empty", "gone"])
def test_an_open_page_writes_back_to_an_empty_database(ready, how):
    before, file = workspace_row(ready.run()).read(), cache_root() / FILE
    file.write_bytes(b"") if how == "empty" else file.unlink()
    said = ready.run().text()
    assert ("was damaged" in said) == (how == "empty")
    assert workspace_row(ready).read()["known"] == before["known"]


def test_a_damaged_database_is_said_until_that_is_closed(ready, session):
    before = workspace_row(ready.run()).read()
    file = cache_root() / FILE
    for path in cache_root().glob(f"{FILE}*"):
        path.write_bytes(b"damaged" * 10_000)
    assert "was damaged" in ready.run().text() and file.is_file()
    assert workspace_row(ready).read()["known"] == before["known"]
    assert "was damaged" not in ready.press("keeping.close").run().text()
    assert "was damaged" in session(ready.token).run().text()
