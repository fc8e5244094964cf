"""Files of users are looked at in processes of their own, within limits of time and memory."""

import io
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from xmlcore.datasets import DatasetFormatError, guess_columns, read_texts
from xmlcore.experiment.engine import previews
from xmlcore.jobs.pool import WorkerPool


@pytest.fixture(autouse=True, scope="module")
def process():
    pool = WorkerPool(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(previews, "_pool", lambda: pool)
        yield
    pool.shutdown(kill=True)


def named(content, name="news.csv"):
    file = io.BytesIO(content)
    file.name = name
    return file


def test_another_process_says_of_a_file_what_this_one_says():
    content = b"story,topics\n" + b"".join(b"a text of number %d,x;y\n" % i for i in range(30))
    guess, notes = previews.preview(guess_columns, named(content))
    assert (guess, notes) == (guess_columns(named(content)), [])
    names = named(b"<http://x/1>\tpear\n", "names.tsv")
    (texts, labels), _ = previews.preview(read_texts, named(content), text="story", labels="topics", names=names)
    assert (len(texts), labels[0]) == (30, ["x", "y"])
    with pytest.raises(DatasetFormatError) as caught:
        previews.preview(guess_columns, named(b"\xff\xfe\xff", "odd.csv"))
    assert caught.value.source == "odd.csv"


def test_a_preview_that_takes_too_long_is_given_up(monkeypatch):
    assert previews.call(os.getpid, name="") != os.getpid()
    monkeypatch.setattr(previews, "SECONDS", 0.3)
    with pytest.raises(DatasetFormatError, match=r"slow.csv: it takes more than .* seconds to read"):
        previews.call(time.sleep, 60, name="slow.csv")
    monkeypatch.setattr(previews, "SECONDS", 60)
    assert previews.call(abs, -1, name="") == 1
    monkeypatch.setattr(previews, "SECONDS", 3)
    with ThreadPoolExecutor(2) as sessions:  # the second waits for the first, which does not count
        slow = [sessions.submit(previews.call, time.sleep, 1.6, name="") for _ in range(2)]
        assert [look.result() for look in slow] == [None, None]
    with pytest.raises(DatasetFormatError, match="odd.csv: the process that read it ended"):
        previews.call(os._exit, 3, name="odd.csv")
    assert previews.call(abs, -1, name="") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="no other system bounds the memory of a process so")
def test_a_look_that_needs_too_much_memory_is_refused():
    with pytest.raises(DatasetFormatError, match="wide.csv: it takes more than 2.1 GB of memory to read"):
        previews.call(bytearray, 2 * previews.MEMORY, name="wide.csv")
    assert previews.call(abs, -1, name="") == 1
