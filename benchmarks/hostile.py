"""Damaged files, models, requests, and walks over the pages: python -m benchmarks.hostile --minutes 3 --seed 1

What the tests damage in small numbers is damaged here for as long as asked, by the same functions. Each attempt follows
from the seed and its number, and a fault is printed with both: ``--seed 1 --only 'csv 1234'`` makes this attempt alone.
The status is 1 if there was a fault.
"""

import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import types
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
WALK, WALK_EVERY = "walk over the pages", 300  # which takes as long as some thousand other attempts
JSON = {"Content-Type": "application/json"}
BODIES = (
    {"row": {"0": 1.5, "2": 2}, "k": 3},
    {"rows": [{"1": -1e-3}, {}], "unknown": "ignore"},
    {"rows": [{"é\n": 0}]},
)


def find_tests() -> None:
    """Have the modules of the tests found, although an installed library may have a package of their name."""
    folder = str(ROOT / "tests")
    sys.path.insert(1, folder)
    sys.modules["tests"] = types.ModuleType("tests")
    sys.modules["tests"].__path__ = [folder]


def readers():
    """Return, by format, what reads a damaged file: whether it could, or AssertionError for any other end."""
    from datasets import fuzzing, test_fuzzing

    def attempt(rng, seeds, options):
        content = rng.choice(seeds)
        damaged = (fuzzing.mutate_archive if content.startswith(b"PK") else fuzzing.mutate)(content, rng)
        return fuzzing.check(test_fuzzing.read, damaged, rng.choice(options))

    cases = {kind: test_fuzzing.cases(kind) for kind in test_fuzzing.KINDS}
    return {kind: lambda rng, case=case: attempt(rng, *case) for kind, case in cases.items()}


def models(folder):
    """Return what loads a damaged model and predicts with it."""
    from models import damaged_models, test_damaged_models

    def attempt(rng):
        with np.errstate(all="ignore"):
            _, files, _ = damaged_models.damaged(rng.randrange(1 << 60))
        return test_damaged_models.outcome(damaged_models.write(files, folder)) is None

    return {"models": attempt}


def requests():
    """Return what sends a damaged request to a served model, and what it answers."""
    from datasets import fuzzing
    from serve.conftest import client_of

    from xmlcore import PLT
    from xmlcore.models import PackedModel
    from xmlcore.serve import Served

    client = client_of([Served("m", PackedModel(PLT().fit(np.eye(3), [[0], [1], [2]])))])

    def attempt(rng):
        body = fuzzing.mutate(json.dumps(rng.choice(BODIES), ensure_ascii=rng.random() < 0.5).encode(), rng)
        status = client.post("/predict", content=body, headers=JSON).status_code
        assert status in (200, 400, 413, 422), f"status {status} for {body!r}"
        return status == 200

    return {"requests": attempt}


def pages():
    """Return what walks over the pages at random, as ``tests/pages/test_monkey.py`` does, with a seed of its own."""

    def walk(rng):
        variables = {"XMLCORE_MONKEY_SEED": str(rng.randrange(1 << 30)), "XMLCORE_MONKEY_STEPS": "100"}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/pages/test_monkey.py"]
        done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True)
        assert done.returncode == 0, "\n".join(re.findall(r"^E .*", done.stdout, re.MULTILINE)) or done.stdout[-2000:]
        return True

    return {WALK: walk}


def run(minutes: float, seed: int, only: str | None = None) -> int:
    """Make attempts of all kinds in turn; print how many of each there were, and the faults; return their number."""
    tried, taken, faults = Counter(), Counter(), defaultdict(list)
    end = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        attempts = pages() | readers() | models(Path(folder)) | requests()
        every = (f"{kind} {i}" for i in itertools.count() for kind in attempts if kind != WALK or i % WALK_EVERY == 0)
        wanted = [only] if only else every
        for name in wanted:
            kind = name.rpartition(" ")[0]
            if time.monotonic() > end:
                break
            tried[kind] += 1
            try:
                taken[kind] += attempts[kind](random.Random(f"{seed} {name}"))
            except Exception as error:
                faults[f"{type(error).__name__}: {error}"[:60]].append(f"{name!r}: {error!r:.300}")
    print("| what was damaged | tried | taken |\n|---|---|---|")
    for kind, count in tried.items():
        print(f"| {kind} | {count:,} | {taken[kind]:,} |")
    for found in faults.values():
        print(f"{len(found):,} times, first --seed {seed} --only {found[0]}")
    return len(faults)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="the kind and the number of one attempt, as it was printed")
    given = parser.parse_args()
    find_tests()
    sys.exit(run(given.minutes, given.seed, given.only) > 0)
