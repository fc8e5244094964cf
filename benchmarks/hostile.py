"""What strangers, damaged files and chance can do: python -m benchmarks.hostile --minutes 3 --seed 1

What the tests damage in small numbers is damaged here for as long as asked, by the same functions: files, models,
requests, matrices; and a monkey walks over the pages. Each attempt follows from the seed and its number. A fault is
printed with both, ``--seed 1 --only 'csv 1234'`` makes this attempt alone, and with the shortest content or walk that
was found to show it. The status is 1 if there was a fault.
"""

import argparse
import faulthandler
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
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from xmlcore.system import kernel_cache_root

ROOT = Path(__file__).parents[1]
WALK, WALK_EVERY = "walks", 300  # which takes as long as some thousand other attempts
JSON = {"Content-Type": "application/json"}
BODIES = (
    {"row": {"0": 1.5, "2": 2}, "k": 3},
    {"rows": [{"1": -1e-3}, {}], "unknown": "ignore"},
    {"rows": [{"é\n": 0}]},
)


def find_tests() -> None:
    """Have the modules of the tests found, although an installed library may have a package of their name."""
    folder = ROOT / "tests"
    sys.path.insert(1, str(folder))
    sys.modules["tests"] = types.ModuleType("tests")
    sys.modules["tests"].__path__ = [str(folder)]


class Kind(NamedTuple):
    """A kind of attempts: ``make(rng)`` returns what is tried, the content that may be shortened first.

    ``check`` of it returns whether it was taken, or raises what nobody should see. ``tries`` are for shortening.
    """

    make: Callable
    check: Callable
    tries: int = 500


def readers():
    """Return, by format, the attempts to read a damaged file."""
    from datasets import fuzzing, test_fuzzing
    from datasets.texts import test_fuzz

    def harmed(content, rng):
        return (fuzzing.mutate_archive if content.startswith(b"PK") else fuzzing.mutate)(content, rng)

    def of(kind):
        seeds, options = test_fuzzing.cases(kind)
        return Kind(
            lambda rng: (harmed(rng.choice(seeds), rng), rng.choice(options)),
            lambda content, option: fuzzing.check(test_fuzzing.read, content, option),
        )

    texts = Kind(
        lambda rng: (harmed(test_fuzz.FILES[rng.choice(test_fuzz.NAMES)], rng), rng.random() < 0.5),
        lambda content, guessed: fuzzing.check(test_fuzz.read, content, guessed),
    )
    return {kind: of(kind) for kind in test_fuzzing.KINDS} | {"texts": texts}


def models(folder):
    """Return the attempts to load a damaged model and to predict with it."""
    from models import test_damaged_models

    def check(number):
        with np.errstate(all="ignore"):
            _, files, _ = test_damaged_models.damaged(number)
        return test_damaged_models.outcome(test_damaged_models.write(files, folder)) is None

    return {"models": Kind(lambda rng: (rng.randrange(1 << 60),), check)}


def matrices():
    """Return the attempts to fit and to measure with hostile matrices."""
    from contract import fuzzing
    from contract.estimators import CASES

    def fit(number, case):
        return fuzzing.fit_and_predict(case, number)

    return {
        "fits": Kind(lambda rng: (rng.randrange(1 << 32), rng.choice(CASES)), fit),
        "measures": Kind(lambda rng: (rng.randrange(1 << 32),), fuzzing.measure),
    }


def requests():
    """Return the attempts to have a served model answer a damaged request with another status than it should."""
    from datasets import fuzzing
    from serve.conftest import client_of

    from xmlcore import PLT
    from xmlcore.models import PackedModel
    from xmlcore.serve import Served

    client = client_of([Served("m", PackedModel(PLT().fit(np.eye(3), [[0], [1], [2]])))])

    def make(rng):
        return (fuzzing.mutate(json.dumps(rng.choice(BODIES), ensure_ascii=rng.random() < 0.5).encode(), rng),)

    def check(body):
        status = client.post("/predict", content=body, headers=JSON).status_code
        assert status in (200, 400, 413, 422), f"status {status} for {body!r}"
        return status == 200

    return {"requests": Kind(make, check)}


class WalkError(AssertionError):
    """A page has failed after ``deeds``."""

    def __init__(self, said, deeds):
        super().__init__(said)
        self.deeds = deeds


def pages():
    """Return the walks over the pages at random of ``tests/pages/test_monkey.py``, or what they do once more."""

    def walk(deeds, seed):
        variables = {"XMLCORE_MONKEY_SEED": str(seed), "XMLCORE_MONKEY_STEPS": "100"}
        variables["XMLCORE_MONKEY_DEEDS"] = json.dumps(deeds or [])
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/pages/test_monkey.py"]
        done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True)
        if done.returncode:
            said = "\n".join(re.findall(r"^E   (.*)", done.stdout, re.MULTILINE)) or done.stdout[-2000:]
            found = re.search(r"^\s*deeds: (.*)$", said, re.MULTILINE)
            raise WalkError(said.partition("AssertionError: ")[2] or said, json.loads(found[1]) if found else [])
        return True

    return {WALK: Kind(lambda rng: (None, rng.randrange(1 << 30)), walk, 20)}


def name_of(error) -> str:
    """Return how faults are told apart: by the kind of error, and what it says before it says of what."""
    return f"{type(error).__name__}: {error}".split(" for ")[0].splitlines()[0][:80]


def shortest(content, fails, tries):
    """Return a part of a content, or of what a walk does, that fails likewise, after some tries to leave parts out."""
    size = len(content) // 2
    while size and tries:
        at = 0
        while at < len(content) and tries:
            left, tries = content[:at] + content[at + size :], tries - 1
            if left and fails(left):
                content = left
            else:
                at += size
        size //= 2
    return content


def shown(kind, error, thing, *rest) -> str:
    """Return what shows a fault again, as short as it was found to do so."""
    thing = getattr(error, "deeds", thing)
    if not isinstance(thing, (bytes, list)):
        return f"{error!r:.300}"

    def fails(part):
        nonlocal error
        try:
            kind.check(part, *rest)
        except Exception as other:
            if name_of(other) == name_of(error):
                error = other
                return True
        return False

    return f"{shortest(thing, fails, kind.tries)!r:.2000} {rest}: {error!r:.300}"


def run(minutes: float, seed: int, only: str | None = None, without: Sequence[str] = ()) -> int:
    """Make attempts of all kinds in turn; print how many of each there were, and the faults; return their number."""
    from xmlcore import experiment

    tried, taken, faults, first = Counter(), Counter(), Counter(), {}
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings(action="ignore"):
        folder = Path(name)
        os.environ.setdefault("XMLCORE_KERNEL_CACHE", str(kernel_cache_root()))
        os.environ["XMLCORE_CACHE"] = str(folder / "cache")
        experiment.warm_up()  # an attempt that waits for the compiler would be called slow
        end = time.monotonic() + 60 * minutes
        kinds = pages() | readers() | models(folder) | matrices() | requests()
        often = {WALK: WALK_EVERY}
        tries = [kind for kind in kinds if kind not in without]
        every = (f"{kind} {i}" for i in itertools.count(1) for kind in tries if i % often.get(kind, 1) == 0)
        for name in [only] if only else every:
            kind = name.rpartition(" ")[0]
            if time.monotonic() > end:
                break
            tried[kind] += 1
            attempt = kinds[kind].make(random.Random(f"{seed} {name}"))
            try:
                taken[kind] += kinds[kind].check(*attempt)
            except Exception as error:
                faults[name_of(error)] += 1
                if name_of(error) not in first:
                    first[name_of(error)] = f"--seed {seed} --only {name!r}: {shown(kinds[kind], error, *attempt)}"
    print("| what was tried | how often | taken |\n|---|---|---|")
    for kind, count in tried.items():
        print(f"| {kind} | {count:,} | {taken[kind]:,} |")
    for fault, count in faults.items():
        print(f"{count:,} times, first {first[fault]}")
    return len(faults)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="the kind and the number of one attempt, as it was printed")
    parser.add_argument("--without", nargs="*", default=[], help="kinds that are left out, such as walks")
    given = parser.parse_args()
    faulthandler.enable()
    find_tests()
    sys.exit(run(given.minutes, given.seed, given.only, given.without) > 0)
