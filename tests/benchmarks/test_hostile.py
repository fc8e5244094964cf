"""The command that damages files, models and requests says what it tried, and how each fault is found again."""

from benchmarks import hostile


def test_a_fault_is_printed_with_the_attempt_that_makes_it_again(monkeypatch, capsys):
    def third(rng):
        numbers.append(rng.random())
        if len(numbers) % 3 == 0:
            raise ValueError("the third")
        return True

    numbers = []
    monkeypatch.setattr(hostile, "readers", lambda: {"csv": third})
    monkeypatch.setattr(hostile, "models", lambda folder: {})
    monkeypatch.setattr(hostile, "requests", dict)
    monkeypatch.setattr(hostile, "pages", dict)
    assert hostile.run(0.001, seed=7) == 1
    text = capsys.readouterr().out
    assert f"| csv | {len(numbers):,} |" in text and "first --seed 7 --only 'csv 2': ValueError('the third" in text
    second = numbers[1]
    numbers.clear()
    assert hostile.run(1, seed=7, only="csv 1") == 0 and numbers == [second]
