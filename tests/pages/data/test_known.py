"""Published and synthetic data sets on the Data page, through app.py."""

import io
import json
import zipfile

import pytest
from datasets.serving import File, serving

from pages.shared import tasks
from tests.pages.making import use
from tests.pages.small import small_data, xmlc
from xmlcore import experiment
from xmlcore.datasets.registry import downloaded, fetch
from xmlcore.system import data_root

FORMS = ("Published", "Synthetic")


@pytest.fixture
def packed():
    """A small data set as a published archive."""
    target, data = io.BytesIO(), small_data("published", seed=2)
    with zipfile.ZipFile(target, "w") as archive:
        for part in ("train", "test"):
            archive.writestr(f"Set/set_{part}.txt", xmlc(data, part))
    return target.getvalue()


@pytest.fixture
def sources(monkeypatch):
    """Give published data sets other addresses: ``sources({"bibtex": address})``; failures are final at once."""
    monkeypatch.setattr(downloaded, "DownloadLimits", lambda: fetch.DownloadLimits(attempts=1))
    original = downloaded.load
    monkeypatch.setattr(
        downloaded, "load", lambda entry, progress: original(entry, progress, fetch.DownloadLimits(attempts=1))
    )

    def write(addresses):
        data_root().mkdir(parents=True, exist_ok=True)
        (data_root() / "sources.json").write_text(json.dumps(addresses))

    return write


def choose(page, name):
    return page.set("known.name", name)


def button(page, key):
    return next(b for b in page.at.button if b.key == key)


def test_a_published_data_set_is_described_before_download(ready):
    said = ready.text().replace("**", "")
    assert "eurlex-4k, from the Extreme" in said and "Please cite: Loza" in said
    assert all(size in said for size in ("19,348 rows", "3,809", "5,000 features", "3,993 labels"))
    assert str(data_root() / "eurlex-4k") in said
    table = ready.frame("A row is", "A label is", "State")
    assert len(table) >= 30 and set(table["State"]) == {"to download"}
    assert button(ready, "known.make").label == "Download eurlex-4k"


def test_a_published_data_set_is_downloaded_once(ready, sources, packed, session):
    with serving({"/set.zip": File(packed)}) as address:
        sources({"bibtex": f"{address}/set.zip"})
        page = choose(ready, "bibtex").press("known.make").until(lambda s: "**bibtex**: 80 rows" in s.text())
    assert "Downloaded from" in page.text() and "7,395 rows, read are 80" in page.text()
    assert button(page, "known.make").label == "In use"
    assert dict(page.frame("A row is", "State")[["Data set", "State"]].to_numpy())["bibtex"] == "in use"
    assert "published data set: bibtex" in page.go("storage").frame("title", "kind")["title"].tolist()
    other = session().until(lambda s: "Labels per row" in s.metrics())
    choose(other, "bibtex")
    assert button(other, "known.make").label == "Use bibtex"
    assert "**bibtex**: 80 rows" in other.press("known.make").run().text()


def test_a_failed_download_says_where_to_put_the_file(ready, sources, packed):
    with serving({"/page": File(b"<html>", kind="text/html")}) as address:
        sources({"bibtex": f"{address}/page"})
        page = choose(ready, "bibtex").press("known.make").until(lambda s: s.at.error)
    assert "a web page" in page.at.error[0].value
    assert "To get bibtex by hand" in page.text() and page.metrics()["Training rows"] == "60"
    folder = data_root() / "bibtex"
    folder.mkdir(exist_ok=True)
    (folder / "what I saved.zip").write_bytes(packed)
    assert button(page.run(), "known.make").label == "Read the file of bibtex"
    page.press("known.make").until(lambda s: "**bibtex**: 80 rows" in s.text())
    assert not page.at.error and "Read from what I saved.zip" in page.text()


def test_a_failed_download_is_tried_again_when_asked(ready, sources, packed):
    file = File(packed, status=[404])
    with serving({"/set.zip": file}) as address:
        sources({"bibtex": f"{address}/set.zip"})
        page = choose(ready, "bibtex").press("known.make").until(lambda s: s.at.error)
        assert page.run().at.session_state["workspace.snapshot"]["wanted"] is None and len(file.asked) == 1
        page.click("Try again").until(lambda s: "**bibtex**: 80 rows" in s.text())
    assert len(file.asked) == 2 and not page.at.error
    with serving({}) as address:
        sources({"delicious": f"{address}/nothing.zip"})
        choose(page, "delicious").press("known.make").until(lambda s: s.at.error)
        page.click("Dismiss").run()
    assert not page.at.error and next(e for e in page.at.expander if e.label == "Add a data set").proto.expanded
    assert page.at.session_state["workspace.snapshot"]["wanted"] is None


def test_a_synthetic_data_set_is_made_and_put_in_use(ready):
    ready.set("made.shape", "small")
    ready.at.select_slider(key="made.share").set_value(10)
    assert "1,000 features and 20 labels" in ready.set("made.noise", 50).text()
    page = ready.press("made.make").until(lambda s: "noise 50 %**: 250 rows" in s.text())
    assert "feature_noise=0.5" in page.text()
    for shape, tail in (("mediamill", 1.0), ("amazon-670k", 0.5)):
        assert ready.set("made.shape", shape).at.slider(key=f"made.tail.{shape}").value == tail


def test_a_data_set_made_meanwhile_is_only_listed(ready, monkeypatch):
    use(ready, small_data("other", seed=5))
    record = {"kind": "synthetic", "fingerprint": "another", "title": "Making", "params": {}, "inputs": {}}
    task = experiment.task("synthetic", {}, {"n_train": 60, "n_test": 20})
    experiment.keep(task)
    seen = {}
    workspace = {"dataset": "other", "known": {}}
    monkeypatch.setattr(tasks.dataset_list, "add_dataset", lambda *names, **about: seen.update(about, names=names))
    monkeypatch.setattr(tasks.workspace, "get", workspace.get)
    monkeypatch.setattr(tasks.workspace, "notify", lambda text: seen.update(text=text))
    tasks._list_result(record, task.key)
    assert seen["use"] is False and seen["names"][2] == "synthetic" and "choose it in the sidebar" in seen["text"]
