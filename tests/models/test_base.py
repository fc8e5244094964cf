"""What all estimators share: what importing and dense rows take, what they offer, and how kernels are compiled once."""

import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from contract.estimators import problem
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import xmlcore.models
from xmlcore import PLT, DoubleSampling, LdSM, OneVsRest
from xmlcore.models import compiling
from xmlcore.models.compiling import compile_lock
from xmlcore.models.rows import rows_for
from xmlcore.validation import csr_parts

ROOT = Path(__file__).resolve().parents[2]

USE = """
import sys
from xmlcore import PLT, load_model

X, Y = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]], [[0], [0], [1, 2], [1, 2]]
model = PLT(n_estimators=2, random_state=0).fit(X, Y)
model.predict_topk(X, k=1), model.predict(X), model.predict_proba(X), repr(model)
load_model(model.set_params(beam=2).save(sys.argv[1])).predict_topk(X)
print(*sorted(sys.modules))
"""


def test_models_leave_the_heavy_packages_alone(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path / "m")], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.split())
    assert {"xmlcore.models.plt", "numba", "scipy.sparse"} <= loaded
    assert not loaded & {"sklearn", "pandas", "joblib", "plotly", "pyarrow", "scipy.stats", "scipy.optimize"}


def test_the_error_of_an_unfitted_model_is_scikit_learns_own():
    assert xmlcore.models.NotFittedError is NotFittedError
    with pytest.raises(NotFittedError):
        PLT().classes_  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'NoSuchError'"):
        xmlcore.models.NoSuchError  # noqa: B018


def test_metadata_routing_takes_it_for_one_that_asks_for_nothing():
    X, Y = problem()
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(MaxAbsScaler(), PLT()).fit(X, Y)
        scores = cross_val_score(make_pipeline(MaxAbsScaler(), PLT()), X, Y, cv=2, scoring="f1_micro")
    assert model.predict(X).shape == Y.shape and min(scores) > 0.5


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "CACHE_FOLDER", tmp_path / "kernels")
    return tmp_path / "kernels"


def test_one_at_a_time_runs_a_piece_and_others_run_other_pieces(folder):
    with compile_lock("piece") as mine:
        assert mine
        with compile_lock("piece", wait=False) as second, compile_lock("other", wait=False) as other:
            assert not second and other
    with pytest.raises(ZeroDivisionError), compile_lock("piece", wait=False) as again:
        assert again
        raise ZeroDivisionError
    with compile_lock("piece", wait=False) as after_an_error:
        assert after_an_error


def test_who_waits_gets_its_turn_when_the_other_is_done(folder):
    order, begun = [], threading.Event()

    def wait():
        begun.set()
        with compile_lock("piece") as mine:
            order.append(mine)

    with compile_lock("piece"):
        thread = threading.Thread(target=wait)
        thread.start()
        begun.wait()
        time.sleep(0.1)
        order.append("first")
    thread.join(timeout=120)
    assert order == ["first", True]


def test_a_process_that_died_holds_up_nobody(folder):
    script = "import os, sys; from pathlib import Path; from xmlcore.models import compiling\n"
    script += "compiling.CACHE_FOLDER = Path(sys.argv[1])\nwith compiling.compile_lock('piece'): os._exit(1)"
    assert subprocess.run([sys.executable, "-c", script, str(folder)]).returncode == 1
    assert (folder / "piece.lock").is_file()
    with compile_lock("piece", wait=False) as mine:
        assert mine


def test_after_the_longest_wait_the_piece_is_run_all_the_same(folder, monkeypatch):
    monkeypatch.setattr(compiling, "LONGEST_WAIT", 0.1)
    with compile_lock("piece"), compile_lock("piece") as second:
        assert second


def test_without_a_folder_for_locks_everybody_compiles(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(compiling, "CACHE_FOLDER", tmp_path / "file" / "kernels")
    with compile_lock("piece") as first, compile_lock("piece", wait=False) as second:
        assert first and second


LINEAR = {"C": 0.1, "loss": "squared_hinge", "max_iter": 2}
TREE = {"arity": 2, "max_leaf_labels": 100}
MODELS = [
    *(PLT(**LINEAR, **TREE, normalize=normalize) for normalize in ("l2", "idf", None)),
    OneVsRest(**LINEAR, normalize="l2"),
    LdSM(n_estimators=2, n_epochs=1, max_nodes=5),
    DoubleSampling(n_candidates=2, n_adversarial=1),
]


def bytes_at(name):
    return 1024 * int(Path("/proc/self/status").read_text().split(f"{name}:")[1].split()[0])


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux says how much was taken at most")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_dense_rows_take_few_times_their_memory(model):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 20_000)
    X = rng.random((20_000, 200), dtype=np.float32) + y[:, None]
    few = slice(0, len(X) if isinstance(model, PLT) else 2_000)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X[:500], y[:500]).predict_topk(X[:500])
        for act, rows, most in ((lambda: model.fit(X, y), X, 3.0), (lambda: model.predict_topk(X[few]), X[few], 1.5)):
            Path("/proc/self/clear_refs").write_text("5")
            before = bytes_at("VmRSS")
            act()
            assert bytes_at("VmHWM") - before < most * max(rows.nbytes, 8 << 20)


def changed(part=None, at=0, value=0, dtype=np.float32, index=np.int32, **flags):
    row = sp.csr_array((np.array([1, 2, 3], dtype), np.array([1, 2, 4], index), np.array([0, 3], index)), shape=(1, 5))
    if part:
        getattr(row, part)[at] = value
    row.data.flags.writeable = not flags
    return row


ROWS = [
    {}, {"part": "data", "value": np.nan}, {"part": "data", "value": -np.inf}, {"part": "data"}, {"index": np.int64},
    {"part": "data", "value": 1e30}, {"part": "indices", "value": 2}, {"part": "indices", "value": 3},
    {"part": "indices", "value": -1}, {"part": "indices", "at": 2, "value": 5}, {"part": "indptr", "at": 1, "value": 2},
    {"part": "indptr", "value": 1}, {"part": "indptr", "at": 1, "value": 4}, {"dtype": np.int64}, {"read_only": True},
    {"dtype": np.float64},
]  # fmt: skip


@pytest.mark.parametrize("change", ROWS, ids=str)
def test_one_row_is_checked_quickly_as_others_are(change):
    found, model = [], SimpleNamespace(n_features_in_=5)
    for copy in (True, False):
        row = changed(**change)
        before = row.data.copy(), row.indices.copy()
        try:
            found.append([part.tolist() for part in csr_parts(rows_for(model, row, copy=copy))])
        except ValueError as error:
            found.append(str(error))
        assert all(map(np.array_equal, before, (row.data, row.indices), [True] * 2))
    assert found[0] == found[1]
