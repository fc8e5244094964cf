"""A file is replaced as a whole, and what is no file is left alone."""

import os

import pytest

from xmlcore.atomic import atomic_write


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for name in ("pipe", "link", "."):
        with pytest.raises(FileExistsError, match="is there and is no file: give the name of a file"):
            with atomic_write(tmp_path / name):
                pytest.fail("it gave a file")
    assert pipe.is_fifo() and sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_a_file_is_replaced_and_stays_after_an_error(tmp_path):
    path = tmp_path / "a"
    for content in (b"one", b"two"):
        with atomic_write(path) as file:
            file.write(content)
        assert path.read_bytes() == content
    with pytest.raises(ZeroDivisionError), atomic_write(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"two" and os.listdir(tmp_path) == ["a"]
