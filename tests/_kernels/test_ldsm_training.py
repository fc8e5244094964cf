"""A node of LdSM is trained as the paper says, line by line, on rows that are numbered among what occurs in them."""

import naive
import numpy as np
import pytest
from ldsm_examples import rows_and_labels

from xmlcore._kernels import ldsm_rows, ldsm_training
from xmlcore._kernels.ldsm_rows import RowsOfNode, TrainingRows
from xmlcore._kernels.ldsm_training import NodeSettings
from xmlcore.validation import check_labels, csr_parts


def in_float64(X, labels, optimizer="nag", n_labels=6):
    """Return a node's rows as the kernels take them, with values in float64, as the twin computes."""
    ptr, columns, values = csr_parts(X)
    y = csr_parts(check_labels(labels, n_labels=n_labels))
    data = TrainingRows(ptr, columns, values.astype(np.float64), *y[:2])
    rows, place = np.arange(X.shape[0], dtype=np.int32), np.full(100, -1, np.int32)
    label_ptr, own_labels, kept_labels = ldsm_rows.gather_lists(*y[:2], rows, place)
    assert (place == -1).all()
    kept = ldsm_rows.number_ids(ptr, columns, rows, place)
    own = np.zeros(1, np.int64), np.arange(kept.size, dtype=np.uint32), np.empty(kept.size)
    if optimizer == "nag":
        own = (
            *ldsm_rows.gather_numbers(ptr, columns, rows, place),
            ldsm_rows.gather_values(ptr, data.values, rows),
        )
    node = RowsOfNode(*own, label_ptr, own_labels, kept.size, kept_labels.size)
    return node, ldsm_rows.standards(data, rows, place, kept.size), kept, kept_labels


def settings(M, optimizer="nag", min_error=0.0, weight_decay=0.0):
    return NodeSettings(
        arity=M, n_epochs=4, learning_rate=0.3, integrity_weight=2.0, trained_weight=2.0, multiway_weight=1.0,
        spread=0.05, least=0.0, optimizer={"nag": ldsm_training.NAG, "sgd": ldsm_training.SGD}[optimizer],
        min_error=min_error, weight_decay=weight_decay,
    )  # fmt: skip


@pytest.mark.parametrize("optimizer", ["nag", "sgd"])
@pytest.mark.parametrize("M, extra", [(2, (0.0, 0.0)), (3, (0.0, 0.0)), (2, (0.3, 0.01))])
def test_a_node_is_trained_as_the_paper_says(optimizer, M, extra):
    X, rows, labels = rows_and_labels(seed=M)
    node, standards, kept, kept_labels = in_float64(X, labels, optimizer)
    met_rows = naive.ldsm.standardise(rows) if optimizer == "sgd" else rows
    trace = np.empty((4, 4))
    weights, sums, label_sums, counts, _ = ldsm_training.train_node(
        node, standards, settings(M, optimizer, *extra), 11, 3, trace, np.zeros(1, np.uint8)
    )
    regressors, P, P_of, C, met, _, expected = naive.ldsm.train_node(
        met_rows, labels, M, 4, 0.3, (2.0, 1.0), 0.05, optimizer, naive.rng.stream(11, 3), *extra
    )
    twin = [regressors.weights[f] for f in [*kept.tolist(), "bias"]]
    np.testing.assert_allclose(weights.reshape(-1, M), twin, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(sums / counts.sum(), P, rtol=1e-9)
    for i, k in enumerate(kept_labels.tolist()):
        assert counts[i] == met[k]
        np.testing.assert_allclose(label_sums[M * i : M * i + M] / counts[i], P_of[k], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(trace, expected, rtol=1e-8, atol=1e-10)
    assert counts.sum() == C


def test_nothing_is_learnt_before_the_first_epoch():
    node, standards, *_ = in_float64(*rows_and_labels()[::2])
    trace = np.full((4, 4), np.nan)
    *_, counts, _ = ldsm_training.train_node(node, standards, settings(2), 1, 1, trace, np.ones(1, np.uint8))
    assert np.isnan(trace).all() and not counts.any()


def test_a_regressor_does_not_learn_from_nan():
    """The error is nan, which is neither 0 nor at least ``min_error``."""
    node, standards, *_ = in_float64(*rows_and_labels()[::2], "sgd")
    standards.data.values[:] = np.nan
    node = node._replace(label_ptr=node.label_ptr[:2])
    before = ldsm_training.start_training(node, settings(2, "sgd"), 1, 1).weights
    after, *_ = ldsm_training.train_node(
        node, standards, settings(2, "sgd"), 1, 1, np.empty((4, 4)), np.zeros(1, np.uint8)
    )
    np.testing.assert_array_equal(before, after)
