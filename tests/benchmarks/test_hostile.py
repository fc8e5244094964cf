"""The command that tries what is hostile says what it tried, and how each fault is found again, as short as may be."""

import os
import random
import re

import pytest

from benchmarks import hostile


@pytest.fixture
def numbers(monkeypatch):
    """Have the command make contents that end with a number, of which each third is a fault; return the numbers."""

    def check(content, option):
        numbers.append(content[-1])
        if content[-1] % 3 == 2:
            raise ValueError(f"a third for {content!r}")
        return True

    numbers = []
    make = lambda rng: ([*range(50), rng.randrange(100)], "option")  # noqa: E731
    for name in ("readers", "models", "matrices", "requests", "pages"):
        monkeypatch.setattr(hostile, name, lambda *folder: {})
    monkeypatch.setattr("xmlcore.experiment.warm_up", lambda: None)  # no kernel is needed
    monkeypatch.setenv("XMLCORE_CACHE", os.environ["XMLCORE_CACHE"])  # which the command changes
    monkeypatch.setattr(hostile, "readers", lambda: {"csv": hostile.Kind(make, check)})
    return numbers


def test_a_fault_is_printed_with_its_shortest_attempt(numbers, capsys):
    assert hostile.run(0.001, seed=7) == 1
    text = capsys.readouterr().out
    name, content = re.search(
        r"times, first --seed 7 --only '(.*)': \[(\d+)\] \('option',\): ValueError", text
    ).groups()
    assert "| csv |" in text and int(content) % 3 == 2
    numbers.clear()
    assert hostile.run(1, seed=7, only=name) == 1 and numbers[0] == int(content)
    assert capsys.readouterr().out.endswith(text[text.index("first --seed") :])


def test_a_walk_is_shortened_while_its_fault_stays():
    def check(deeds, seed):
        deeds = deeds or list(range(100))
        if 40 in deeds and 60 in deeds:
            raise hostile.WalkError("both for this", deeds)
        if len(deeds) < 10:
            raise hostile.WalkError("another", deeds)

    with pytest.raises(hostile.WalkError) as caught:
        check(None, 3)
    assert hostile.shown(hostile.Kind(None, check), caught.value, None, 3).startswith("[40, 60] (3,): WalkError")


def test_the_kinds_that_tests_damage_are_found(tmp_path):
    kinds = hostile.pages() | hostile.readers() | hostile.models(tmp_path) | hostile.matrices() | hostile.requests()
    assert len(kinds) == 13
    assert kinds["models"].check(*kinds["models"].make(random.Random(0))) in (True, False)
