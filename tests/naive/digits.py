"""Digits of a text: twin of xmlcore/_kernels/digits.py."""

import re


def read_digits(text, at):
    """Return how many digits follow in bytes, eight at most, and their number."""
    digits = re.match(rb"[0-9]{0,8}", text[at:]).group()
    return len(digits), int(digits or b"0")
