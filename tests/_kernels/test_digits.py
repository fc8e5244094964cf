"""Digits of a text, read at once."""

import naive
import numpy as np

from xmlcore._kernels import digits
from xmlcore._kernels._jit import kernel


@kernel
def read_everywhere(text, counts, values):
    """Read the digits from each place on that eight bytes follow."""
    for at in range(counts.size):
        counts[at], values[at] = digits.read_digits(text, at)


def test_digits_are_read_from_every_place_of_any_text():
    rng = np.random.default_rng(0)
    letters = np.frombuffer(b"0123456789" * 6 + bytes(range(256)), np.uint8)
    text = np.concatenate(
        [rng.choice(letters, 5000), np.frombuffer(b"99999999 00000000.00000001:12345678/9", np.uint8)]
    )
    counts, values = np.zeros((2, text.size - 8), np.int64)
    read_everywhere(text, counts, values)
    expected = [naive.digits.read_digits(text.tobytes(), at) for at in range(counts.size)]
    assert list(zip(counts.tolist(), values.tolist())) == expected
    assert set(counts) == set(range(9))
