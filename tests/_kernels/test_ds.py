"""Double sampling's classes and samples are those of the plain-Python twins."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from models.double_sampling.problems import binary, problem

from xmlcore._kernels import ds_classes, ds_sampling
from xmlcore.validation import csr_parts


@pytest.mark.parametrize("n_classes, most", [(7, 1), (7, 3), (40, 2)])  # 40: terms of few of many classes
def test_sums_and_squares_are_those_of_mega_documents(n_classes, most):
    X, rows, labels = problem(n=60, n_classes=n_classes, most=most, seed=2, real=True, skip=(2,))
    documents, holding, size = naive.ds.mega_documents(rows, labels)
    columns, Y = sp.csc_array(X), binary(labels, n_classes)
    by_term = columns.indptr.astype(np.int64), columns.indices, columns.data
    parts = [ds_classes.sum_terms(*by_term, *block, *csr_parts(Y)[:2], n_classes) for block in ((0, 6), (6, 15))]
    ptr = np.concatenate([[0], np.cumsum(np.concatenate([part[0] for part in parts]))])
    classes, sums = np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])
    for t in range(15):
        own = classes[ptr[t] : ptr[t + 1]].tolist()
        assert own == sorted(k for k, document in documents.items() if t in document)
        np.testing.assert_allclose(sums[ptr[t] : ptr[t + 1]], [documents[k][t] for k in own], rtol=1e-6)
    largest = max(y for document in documents.values() for y in document.values())
    assert max(part[3] for part in parts) == pytest.approx(largest)
    assert size.keys() == set(classes.tolist()) == set(range(n_classes)) - {2}
    assert holding == {t: int(Y.sum(axis=1)[X[:, t] != 0].sum()) for t in holding}

    idf = naive.ds.idf_of(rows, labels)
    weight, scale = np.array([idf[t] for t in range(15)]), np.random.default_rng(0).random(n_classes)
    length, square = ds_classes.class_totals(ptr, classes, sums, weight, n_classes)
    head = ds_classes.head_lengths(ptr, classes, sums, weight, scale, 4)
    damped = ds_classes.damped_squares(ptr, classes, sums, weight, n_classes)
    assert length[2] == square[2] == head[2] == damped[2] == 0
    for k, document in documents.items():
        assert length[k] == pytest.approx(sum(document.values()), rel=1e-6)
        assert square[k] == pytest.approx(sum((y * idf[t]) ** 2 for t, y in document.items()), rel=1e-6)
        expected = sum((y * idf[t] * scale[k]) ** 2 for t, y in document.items() if t < 4) ** 0.5
        assert head[k] == pytest.approx(expected, rel=1e-6)
        assert damped[k] == pytest.approx(sum((np.log1p(y) * idf[t]) ** 2 for t, y in document.items()), rel=1e-6)


def test_each_example_gets_the_copies_of_the_twin():
    rng = np.random.default_rng(0)
    labels, expected = rng.integers(0, 5, 200).astype(np.int32), np.array([0.0, 0.3, 1.0, 2.5, 7.99])
    copies = np.full(200, -1)
    ds_sampling.draw_copies(labels, expected, 11, 20, 200, copies)
    assert (copies[:20] == -1).all()
    wanted = [naive.ds.copies(expected[labels[i]], 11, i) for i in range(20, 200)]
    assert copies[20:].tolist() == wanted and len(set(wanted)) > 4


@pytest.mark.parametrize("kappa", [1, 2, 5, 17, 28, 29])
def test_each_copy_gets_the_adversaries_of_the_twin(kappa):
    rng = np.random.default_rng(kappa)
    classes = np.sort(rng.choice(40, 30, replace=False)).astype(np.int32)  # those that have rows
    place = np.full(40, -1, np.int32)
    place[classes] = np.arange(30)
    labels = rng.choice(classes, 12).astype(np.int32)
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 4, 12))])
    found = np.full((start[-1], kappa), -1, np.int32)
    ds_sampling.draw_adversaries(labels, start, classes, place, 5, 0, 12, found)
    expected = []
    for i, own in enumerate(labels.tolist()):
        n_copies = start[i + 1] - start[i]
        expected += naive.ds.adversaries(n_copies, own, classes.tolist(), kappa, 5, i)
    assert found.tolist() == expected
