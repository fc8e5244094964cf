"""The same data and seed give the same model in every process: threads, BLAS threads and hash seeds change no bit."""

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from xmlcore.parallel import one_blas_thread

ROOT = Path(__file__).resolve().parents[2]
CODE = f"""
import hashlib, json, sys, warnings
sys.path.insert(0, {str(ROOT)!r})
import numpy as np
from xmlcore import FALS, PLT, DoubleSampling, LdSM, OneVsRest

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
n, d, n_labels = 400, 300, 20
Y = rng.random((n, n_labels)) < 0.05
Y[np.arange(n), rng.integers(0, n_labels, n)] = True
X = np.where(rng.random((n, d)) < 0.1, rng.integers(1, 4, (n, d)), 0).astype(float)
X[:, :n_labels] += 2 * Y
found = {{}}
for model in (PLT(), LdSM(n_estimators=2), OneVsRest(), DoubleSampling(), FALS(n_epochs=2, n_features=20, n_hidden=64)):
    model.set_params(n_jobs=int(sys.argv[1])).fit(X, Y)
    ranking = model.predict_topk(X, 5)
    arrays = [ranking.labels, ranking.scores]
    arrays += [getattr(model, name) for name in ("weights_", "feature_scale_", "scores_") if hasattr(model, name)]
    digest = hashlib.blake2b(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()
    about = arrays[-1] if len(arrays) > 2 else ranking.scores
    found[type(model).__name__] = digest, about.ravel()[:200].tolist()
print(json.dumps(found))
"""
BY_PRODUCTS = ("DoubleSampling", "FALS")  # models that rest on matrix products of a library, which differ by processor


def found_in(n_jobs, **variables):
    """Return what each model is in a process of its own: a hash of all bits, and some values."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(n_jobs)], env=os.environ | variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def expected():
    """What each model is in this process, with one thread."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said), warnings.catch_warnings():
        patch.setattr(sys, "argv", ["", "1"])
        patch.setattr(sys, "path", sys.path.copy())
        with threadpool_limits(1, "blas"):
            exec(CODE, {"__name__": "models"})
    return json.loads(said.getvalue())


def test_threads_blas_threads_and_hash_seeds_change_no_bit(expected):
    assert found_in(2, OPENBLAS_NUM_THREADS="2", PYTHONHASHSEED="2") == expected


@pytest.mark.slow
@pytest.mark.long
def test_another_processor_changes_only_roundings_of_products(expected):
    other = found_in(3, OPENBLAS_NUM_THREADS="2", OPENBLAS_CORETYPE="Nehalem")
    for name, (digest, values) in expected.items():
        if name in BY_PRODUCTS:
            np.testing.assert_allclose(other[name][1], values, rtol=1e-3, atol=1e-6)
        else:
            assert other[name][0] == digest, name


def test_blas_has_one_thread_within_a_block():
    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with one_blas_thread():
        inside = threads()
    assert set(inside) == {1}  # of NumPy, and of SciPy if it has one of its own
    assert threads() != [] and len(threads()) == len(inside)
