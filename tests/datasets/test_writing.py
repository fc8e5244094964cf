"""Writing of matrices."""

import numpy as np
import pytest
from datasets.reads import random_matrices

from xmlcore.datasets import (
    read_matrix,
    write_matrix,
)


@pytest.mark.parametrize("name", ["data.txt", "data.txt.gz", "data.bz2", "data.txt.XZ"])
def test_what_is_written_is_read_back_exactly(name, tmp_path, monkeypatch):
    monkeypatch.setattr("xmlcore.datasets.writing._CHUNK", 100)
    X, Y = random_matrices(np.random.default_rng(7))
    write_matrix(tmp_path / name, X, Y)
    X_back, Y_back, _, _ = read_matrix(tmp_path / name)
    assert X_back.shape == X.shape
    assert (X_back != X).nnz == 0
    assert (Y_back != Y).nnz == 0
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [name]
    packed = (tmp_path / name).read_bytes()
    assert (packed[:1] in (b"2",)) == (name == "data.txt")


def test_numbers_are_written_short_and_empty_rows_as_blank_lines(tmp_path):
    write_matrix(tmp_path / "d.txt", np.array([[0.1, 2, 0], [0, 0, 1e-7], [0, 0, 0], [0, 0, 0]]), [[1], [], [0, 1], []])
    assert (tmp_path / "d.txt").read_bytes() == b"4 3 2\n1 0:0.1 1:2\n 2:1e-07\n0,1\n\n"
    X, Y, _, _ = read_matrix(tmp_path / "d.txt")
    assert X.shape == (4, 3)
    assert Y.nnz == 3


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "d.txt"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("xmlcore.datasets.writing._rows_text", fail)
    with pytest.raises(OSError, match="disk full"):
        write_matrix(path, np.eye(2), [[0], [1]])
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["d.txt"]


def test_matrices_that_do_not_fit_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="rows"):
        write_matrix(tmp_path / "d.txt", np.eye(2), [[0]])
    with pytest.raises(ValueError, match="zip"):
        write_matrix(tmp_path / "d.zip", np.eye(2), [[0], [1]])
