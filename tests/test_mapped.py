"""Rows in files: trainings that go on, and files that are read to a folder."""

import errno
import pickle
import shutil

import numpy as np
import pytest

from xmlcore import PLT
from xmlcore.datasets import make_synthetic, read_matrix, write_matrix
from xmlcore.datasets.readers import blocks
from xmlcore.mapped import open_rows, write_rows
from xmlcore.models.plt import memory
from xmlcore.models.plt.journal import Journal


@pytest.fixture(scope="module")
def data():
    return make_synthetic(n_train=2500, n_test=50, n_labels=400, n_features=900, n_jobs=1)


def arrays(matrix):
    return matrix.indptr, matrix.indices, matrix.data


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("weights", [None, np.arange(2500) % 5])
def test_a_stopped_training_goes_on_with_its_nodes(weights, data, tmp_path):
    rows = write_rows(data.X_train, tmp_path)
    model = PLT(arity=4, max_leaf_labels=8, C=1.0, loss="logistic", normalize="l2", n_jobs=1)
    told = []

    def stop(phase, fraction, detail=""):
        told.append(fraction)
        if len(told) > 40:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        model.fit(rows, data.Y_train, progress=stop, sample_weight=weights)
    [kept] = tmp_path.glob("nodes-*")
    assert kept.stat().st_size > 0
    with kept.open("ab") as file:
        file.write(b"torn" * 50)
    found = model.fit(rows, data.Y_train, sample_weight=weights).fitted_[0]
    assert same(found, model.fit(data.X_train, data.Y_train, sample_weight=weights).fitted_[0])
    assert not list(tmp_path.glob("nodes-*"))


@pytest.mark.parametrize("cut, more", [(1, 0), (30, 0), (100, 0), (100, 1000)])
def test_a_journal_drops_what_was_torn_at_its_end(cut, more, tmp_path):
    group = (np.arange(3, dtype=np.int32), np.arange(4, dtype=np.uint32), np.ones(3, np.uint8), *np.ones((2, 3), "f4"))
    path = tmp_path / "nodes"
    journal = Journal(path)
    for number in (7, 2):
        journal.write(number, (*group, 5, 0.25))
    journal.close()
    path.write_bytes(path.read_bytes()[:-cut] + bytes(more))  # zeros, as after a loss of power
    again = Journal(path)
    assert [number in again for number in (7, 2, 0)] == [True, False, False]
    again.write(2, (*group, 6, np.inf))
    *found, epochs, violation = again.read(2)
    assert same(found, group) and (epochs, violation) == (6, np.inf)


def test_two_trainings_of_the_same_do_not_share_a_file(tmp_path):
    one, other = Journal(tmp_path / "nodes"), Journal(tmp_path / "nodes")
    group = (*(np.zeros(1, kind) for kind in ("i4", "u4", "u1", "f4", "f4")), 1, 0.0)
    one.write(0, group)
    assert 0 not in other
    other.write(1, group)
    assert 1 not in one and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("form", ["text", "npz"])
def test_a_file_read_to_a_folder_has_the_rows_read_to_memory(form, data, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 1 << 16)
    path = tmp_path / ("rows.txt" if form == "text" else "rows.npz")
    if form == "text":
        write_matrix(path, data.X_train, data.Y_train)
        assert path.stat().st_size > 5 * blocks.BLOCK
    else:
        np.savez(path, X=data.X_test.toarray(), Y=data.Y_test.toarray())
    X, Y, *_ = read_matrix(path, to=tmp_path / "to")
    in_memory, labels, *_ = read_matrix(path)
    assert same(arrays(X), arrays(in_memory)) and (Y != labels).nnz == 0 and X.folder == tmp_path / "to"
    assert same(arrays(open_rows(tmp_path / "to")), arrays(in_memory))
    with pytest.raises(ValueError, match="has rows already: open_rows"):
        read_matrix(path, to=tmp_path / "to")


def test_files_that_do_not_fit_are_refused(data, tmp_path):
    with pytest.raises(ValueError, match="has no rows: write_rows"):
        open_rows(tmp_path)
    write_rows(data.X_test, tmp_path)
    (tmp_path / "rows.values").write_bytes(b"1234")
    with pytest.raises(ValueError, match="damaged: its files have .* and 4 bytes instead of"):
        open_rows(tmp_path)
    (tmp_path / "rows.npz").write_bytes(b"others")
    with pytest.raises(ValueError, match="rows.npz is damaged, or no file of"):
        open_rows(tmp_path)


@pytest.mark.parametrize("part, value", [("rows.columns", -1), ("rows.columns", 900), ("rows.values", np.nan)])
def test_rows_that_were_changed_to_what_cannot_be_are_refused(part, value, data, tmp_path):
    rows = write_rows(data.X_train, tmp_path)
    (rows.data if part == "rows.values" else rows.indices)[7] = value
    with pytest.raises(ValueError, match="damaged: rows 0 to .* have columns beyond"):
        PLT().fit(open_rows(tmp_path), data.Y_train)


def test_an_error_on_the_way_leaves_no_rows_behind(data, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    (tmp_path / "values").write_text("of the user")
    with pytest.raises(OSError, match="No space left"):
        write_rows(data.X_train, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["values"]


def test_pickled_rows_need_their_folder_no_more(data, tmp_path):
    pickled = pickle.dumps(write_rows(data.X_test, tmp_path / "rows"))
    shutil.rmtree(tmp_path / "rows")
    found = pickle.loads(pickled)
    assert found.folder is None and same(arrays(found.copy()), arrays(data.X_test))


def test_without_enough_memory_rows_go_to_files(data, tmp_path, monkeypatch):
    monkeypatch.setenv("XMLCORE_CACHE", str(tmp_path))
    model = PLT(arity=4, max_leaf_labels=8, C=1.0, loss="logistic", normalize="l2")
    expected, found = model.estimate(data.X_train, data.Y_train), model.fit(data.X_train, data.Y_train).fitted_[0]
    bytes_of_data = sum(part.nbytes for matrix in (data.X_train, data.Y_train) for part in arrays(matrix))
    assert 0.5 < expected.data / bytes_of_data < 1.5
    assert 0.3 < expected.model / model.size()["model_bytes"] < 3
    monkeypatch.setattr(memory, "free_bytes", lambda: expected.peak - 1)
    with pytest.warns(UserWarning, match="expected to take .* of memory, and .* are free: rows .* are kept in files"):
        assert same(model.fit(data.X_train, data.Y_train).fitted_[0], found)
    assert not list((tmp_path / "rows").iterdir())
    (tmp_path / "file").touch()
    monkeypatch.setenv("XMLCORE_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="cannot hold the rows .*: memory may not suffice"):
        assert same(model.fit(data.X_train, data.Y_train).fitted_[0], found)
