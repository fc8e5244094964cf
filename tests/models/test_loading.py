"""Loading a saved or packed model takes little more memory than the model itself."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT, DoubleSampling, LdSM, OneVsRest, TextClassifier, load_model
from xmlcore.models.packed import PackedModel

ALWAYS = 3_000_000  # bytes, beside 1.1 times the model
LINEAR = {"C": 1.0, "normalize": "l2", "weight_threshold": 0.0, "max_iter": 1, "n_jobs": 1}
TREE = PLT(**LINEAR, n_estimators=1, max_leaf_labels=20, arity=8)
# Each with the number of rows, features, labels and values of a row of which it is made, for 10 to 25 MB.
MODELS = [
    (OneVsRest(**LINEAR), (200, 5_000, 150, 600)),
    (TREE, (500, 10_000, 200, 600)),
    (TextClassifier(model=TREE), (600, 10_000, 250, 600)),
    (LdSM(n_estimators=3, n_epochs=1, n_jobs=1, max_nodes=41), (500, 20_000, 300, 2_000)),
    (DoubleSampling(n_jobs=1, n_candidates=2), (400, 80_000, 300, 2_500)),
]


@pytest.mark.parametrize("model, sizes", MODELS, ids=[type(model).__name__ for model, _ in MODELS])
def test_loading_takes_at_most_a_tenth_more_than_the_model(model, sizes, tmp_path):
    n, n_features, n_labels, n_values = sizes
    rng = np.random.default_rng(0)
    X = sp.random_array((n, n_features), density=n_values / n_features, rng=rng, format="csr", dtype=np.float32)
    if isinstance(model, TextClassifier):
        X = [" ".join(f"w{column}" for column in X[[i]].indices) for i in range(n)]
    with warnings.catch_warnings(action="ignore"):  # of training that is cut short
        model.fit(X, [[int(label)] for label in rng.integers(0, n_labels, n)])
    size = model.size()["model_bytes"]
    assert 8e6 < size < 4e7
    for path in (model.save(tmp_path / "folder"), PackedModel(model).save(tmp_path / "packed.zip")):
        load_model(path)  # what is imported and compiled is not the model's
        tracemalloc.start()
        loaded = load_model(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert loaded.n_labels_ == model.n_labels_ and peak <= 1.1 * size + ALWAYS, path.name
