"""What a fit to dense rows, and their prediction, take beside the rows themselves."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from xmlcore import PLT, DoubleSampling, LdSM, OneVsRest

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
