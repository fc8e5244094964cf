"""Hostile matrices are refused by a line of xmlcore, with a reason, or give finite results; nothing crashes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from contract.estimators import CASES, case_of_rows
from contract.fuzzing import fit_and_predict, measure

FEW, FEW_MEASURES = 25, 300
MANY = int(os.environ.get("XMLCORE_FUZZ_FILES", 0))  # hostile matrices of each estimator, and for measures
ROOT = Path(__file__).resolve().parents[2]
CODE = f"""
import faulthandler, sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
faulthandler.enable()
from contract.estimators import CASES
from contract.fuzzing import fit_and_predict, measure

which, first, count = map(int, sys.argv[1:])
done = 0
for seed in range(first, first + count):
    print(seed, flush=True)
    done += measure(seed) if which < 0 else fit_and_predict(CASES[which], seed)
assert 0 < done < count
"""


@case_of_rows
def test_a_few_hostile_matrices_are_refused_or_give_finite_results(case):
    done = sum(fit_and_predict(case, seed) for seed in range(FEW))
    assert 0 < done < FEW


def test_a_few_hostile_rankings_are_refused_or_measured():
    done = sum(measure(seed) for seed in range(FEW_MEASURES))
    assert 0 < done < FEW_MEASURES


@pytest.mark.slow
@pytest.mark.timeout(200 + MANY)
@pytest.mark.skipif(not MANY, reason="XMLCORE_FUZZ_FILES does not say how many")
@pytest.mark.parametrize(
    "which", range(-1, len(CASES)), ids=lambda which: CASES[which].id if which >= 0 else "measures"
)
def test_many_hostile_matrices_crash_nothing(which):
    command = [sys.executable, "-c", CODE, str(which), "1000", str(MANY)]
    run = subprocess.run(command, capture_output=True, text=True)
    seeds = run.stdout.split()
    assert run.returncode == 0, f"case {seeds[-1] if seeds else None}: {run.stderr[-3000:]}"


def test_values_that_once_failed_do_so_no_more():
    """The seeds of cases that were found: NaN in the features of pairs, infinite scores, labels of type float16."""
    for case in CASES:
        for seed in (22, 1305):
            fit_and_predict(case, seed)
