"""Kernels that score features do what their plain twins do."""

import naive
import numpy as np

from xmlcore._kernels import fals_scoring


def test_rows_as_differences_from_a_reference_have_the_squares_of_the_rows():
    random = np.random.default_rng(0)
    active = random.random((9, 6)) < 0.5
    reference = random.random(6) < 0.5
    active[4] = reference  # a row without differences
    weights_in, weights_out = (random.normal(size=(6, m)).astype(np.float32) for m in (5, 3))
    weight = random.random((9, 3)).astype(np.float32)
    parts = fals_scoring.deviations(active, reference)
    expected = naive.fals_scoring.deviations(active, reference)
    assert [list(zip(parts[1][a:b], parts[2][a:b])) for a, b in zip(parts[0][:-1], parts[0][1:])] == expected
    sums, total = np.zeros((3, 5), np.float32), np.ones((3, 5))
    fals_scoring.reference_squares(
        *parts, weights_in, weights_out, weights_out[reference].T @ weights_in[reference], weight, sums
    )
    np.testing.assert_allclose(
        sums, naive.fals_scoring.reference_squares(active, weights_in, weights_out, weight), rtol=1e-5, atol=1e-6
    )
    before = sums.copy()
    fals_scoring.flush(sums, total)
    assert not sums.any()
    np.testing.assert_allclose(total, 1 + before.astype(np.float64))


def test_rows_are_drawn_in_proportion_to_their_weights_in_however_many_parts():
    weight = np.array([[1, 0, 3, 4], [0, 0, 0, 0], [5, 5, 0, 0]], np.float32)
    for bounds in ([0, 4], [0, 1, 2, 4]):
        drawn, so_far = np.full((3, 20_000), -1), np.zeros(3)
        for number, (a, b) in enumerate(zip(bounds[:-1], bounds[1:])):
            part = np.ascontiguousarray(weight[:, a:b])
            fals_scoring.draw_rows(part, a, so_far, 7, np.arange(3) * 10 + number, drawn)
        np.testing.assert_allclose(so_far, weight.sum(axis=1))
        assert (drawn[1] == -1).all()  # nothing to draw
        for c in (0, 2):
            share = np.bincount(drawn[c], minlength=4) / drawn.shape[1]
            np.testing.assert_allclose(share, weight[c] / weight[c].sum(), atol=0.015)  # more than 4 deviations
            assert (share[weight[c] == 0] == 0).all()
