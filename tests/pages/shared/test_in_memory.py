"""The memory of the values that the server keeps for all sessions."""

import mmap
import types

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pages.shared import server
from pages.shared.operator import limits
from pages.shared.process import in_memory
from pages.shared.process.in_memory import Values


class Function:
    """What keeps values, and forgets them when told so."""

    def __init__(self):
        self.forgotten = []

    def clear(self, *arguments):
        self.forgotten.append(arguments)


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = types.SimpleNamespace(time=0.0)
    monkeypatch.setattr(in_memory.time, "monotonic", lambda: now.time)
    return now


def test_the_values_used_longest_ago_are_forgotten_when_all_are_too_large(clock):
    one, other, values = Function(), Function(), Values(lambda: 35_000)
    for function, name in ((one, "a"), (other, "a"), (one, "b")):
        values.used(function, (name,), np.zeros(10_000, np.uint8), 10)
        clock.time += 1
    values.used(one, ("a",), np.zeros(10_000, np.uint8), 10)  # used again
    clock.time += 2 * in_memory.NEEDED_SECONDS
    values.used(one, ("c",), np.zeros(10_000, np.uint8), 10)
    assert (one.forgotten, other.forgotten) == ([], [("a",)])
    values.used(one, ("d",), np.zeros(20_000, np.uint8), 10)
    assert one.forgotten == [("b",), ("a",)] and values.bytes < 35_000


def test_what_pages_have_just_used_stays_though_it_is_too_large(clock):
    function, values = Function(), Values(lambda: 10_000)
    values.used(function, ("data",), np.zeros(50_000, np.uint8), 10)
    values.used(function, ("model",), np.zeros(50_000, np.uint8), 10)
    assert function.forgotten == []
    clock.time += 2 * in_memory.NEEDED_SECONDS
    values.used(function, ("model",), np.zeros(50_000, np.uint8), 10)
    assert function.forgotten == [("data",)]


def test_a_value_that_its_function_has_forgotten_is_not_counted(clock):
    function, values = Function(), Values(lambda: 100_000)
    for i in range(50):
        values.used(function, (i,), np.zeros(10_000, np.uint8), 3)
    assert function.forgotten == [] and 3 * 10_000 < values.bytes < 3 * 11_000
    values.forget()
    assert values.bytes == 0


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (lambda: np.zeros(100_000), 800_000),
        (lambda: np.zeros(100_000)[:5], 800_000),  # which keeps the whole
        (lambda: [np.zeros(100_000)] * 10, 800_000),
        (lambda: {"a": [sp.csr_array(np.ones((300, 300), np.float32))]}, 720_000),
        (lambda: pd.DataFrame({"a": np.zeros(100_000), "b": np.arange(100_000)}), 1_600_000),
        (lambda: [f"name {i:06d}" for i in range(10_000)], 680_000),
        (lambda: np.array([f"name {i:06d}" for i in range(10_000)], dtype=object), 680_000),
        (lambda: np.frombuffer(mmap.mmap(-1, 800_000)), 0),  # of a file, which the system keeps or drops
        (lambda: 1.0, 0),
    ],
)
def test_the_size_of_a_value_counts_each_part_once(made, wanted):
    values = Values(lambda: 1 << 30)
    values.used(Function(), (), made(), 1)
    assert wanted <= values.bytes < 1.05 * wanted + 5_000


def test_a_data_set_that_is_too_large_is_read_again_when_it_is_asked_for(own_cache, monkeypatch, clock):
    made = []

    @server.shared(max_entries=10)
    def numbers(name):
        """Return a large value."""
        made.append(name)
        return np.zeros(100_000)

    monkeypatch.setenv(in_memory.VARIABLE, "1 MB")
    server.forget()
    for name in ("a", "b"):
        for _ in range(3):
            numbers(name)
        clock.time += 2 * in_memory.NEEDED_SECONDS
    assert made == ["a", "b"]
    numbers("a")
    assert made == ["a", "b", "a"] and in_memory.values.bytes < 1 << 20
    server.forget()


def test_a_share_of_the_machines_memory_is_the_bound_if_none_is_set(monkeypatch):
    monkeypatch.delenv(in_memory.VARIABLE, raising=False)
    assert in_memory.bound() == int(in_memory.SHARE * in_memory.memory.total())


def test_a_bound_that_is_none_is_said_when_the_server_starts(monkeypatch):
    monkeypatch.setenv(in_memory.VARIABLE, "much")
    with pytest.raises(ValueError, match=f"{in_memory.VARIABLE} is 'much'"):
        limits.apply()
