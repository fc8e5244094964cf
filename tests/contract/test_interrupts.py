"""Ctrl+C at any moment of a fit raises KeyboardInterrupt, and leaves the estimator wholly old or wholly new."""

import os
import random
import signal
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from contract.estimators import CASES, assert_same, each_of_rows, fitted, problem, results

from xmlcore import PLT, OneVsRest
from xmlcore._kernels.plt_rows import take_rows
from xmlcore.datasets import TextVectorizer
from xmlcore.models import TextClassifier

MOMENTS = int(os.environ.get("XMLCORE_INTERRUPTS", 10))  # random moments of each estimator


@pytest.fixture(autouse=True)
def handled_as_python_does():
    """Undo what a shell does for programs in the background: they ignore Ctrl+C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(act, after: float) -> None:
    """Press Ctrl+C ``after`` so many seconds of ``act()``, or soon after its end."""
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        act()
        time.sleep(after + 10)
    finally:
        timer.join()


def after_interrupts(make, state, given, seed):
    """Yield estimators of this state, each after Ctrl+C was pressed at a random moment of a further fit."""
    start = time.perf_counter()
    make().fit(*given)
    seconds, chance = time.perf_counter() - start, random.Random(seed)
    for _ in range(MOMENTS):
        estimator = make()
        estimator.__dict__.update(state)
        with pytest.raises(KeyboardInterrupt):
            interrupted(lambda: estimator.fit(*given), chance.random() * seconds)  # noqa: B023
        yield estimator


@each_of_rows
@pytest.mark.timeout(60 + MOMENTS)
@pytest.mark.filterwarnings("ignore")
def test_an_estimator_is_old_or_new_after_an_interrupt(case):
    X, Y = case.problem()
    other = X[:, :-3].copy(), Y[:, :-1].copy()
    states = {X.shape[1]: (X, results(fitted(case)))}
    states[other[0].shape[1]] = other[0], results(case.make().fit(*other), other[0])
    for estimator in after_interrupts(case.make, vars(fitted(case)), other, case.id):
        rows, expected = states[estimator.n_features_in_]
        assert_same(results(estimator, rows), expected)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [TextVectorizer, lambda: TextClassifier(OneVsRest(), TextVectorizer(min_df=1))])
def test_texts_leave_old_or_new_after_an_interrupt(make):
    texts, labels = ["a cat and a dog", "a dog", "no cat", "two dogs"] * 20, [["cat"], ["dog"], [], ["dog"]] * 20
    given = (texts, labels) if make is not TextVectorizer else (texts,)
    old, new = make().fit(*(part[:40] for part in given)), make().fit(*given)
    kept, expected = dict(vars(old)), vars(new)
    for estimator in after_interrupts(make, kept, given, 0):
        found = vars(estimator)
        fitted_names = [name for name in expected if name.endswith("_")]
        is_old = [found[name] is kept[name] for name in fitted_names if not isinstance(kept[name], (int, str))]
        assert fitted_names and found.keys() == expected.keys() and (all(is_old) or not any(is_old))


def test_an_interrupt_in_a_kernel_is_raised_after_it():
    rng = np.random.default_rng(0)
    X = sp.random_array((20_000, 500), density=0.1, rng=rng, format="csr", dtype=np.float32)
    columns = np.arange(500, dtype=np.int32)
    arguments = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, 0, X.shape[0], columns, columns, True

    take_rows(*arguments)  # compiled now, as compiling is not interrupted either

    def for_a_while():
        end = time.perf_counter() + 5
        while time.perf_counter() < end:
            take_rows(*arguments)  # returns a named tuple, which Numba makes with code in Python

    for _ in range(10):
        with pytest.raises(KeyboardInterrupt):
            interrupted(for_a_while, 0.05)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("swallowing", ["a destructor", "another error"])
def test_a_swallowed_interrupt_is_raised_when_the_fit_ends(swallowing):
    model = PLT(max_leaf_labels=2).fit(*problem())
    before = dict(vars(model))

    def press(*_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if swallowing == "another error":
                raise SystemError from None

    with pytest.raises(KeyboardInterrupt):
        model.fit(*problem(), progress=press)
    assert swallowing == "a destructor" or vars(model) == before


def test_a_programs_own_handler_of_interrupts_stays():
    came = []
    handler = signal.signal(signal.SIGINT, lambda *_: came.append(1))
    try:
        model = OneVsRest().fit(*problem(), progress=lambda *_: signal.raise_signal(signal.SIGINT))
        assert came and model.n_labels_ == problem()[1].shape[1]
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)


def test_no_thread_sees_half_of_a_model():
    X, Y = problem()
    narrow = X[:, :-3].copy()
    model, seen, stop = PLT(max_leaf_labels=2).fit(X, Y), set(), threading.Event()

    def look():
        while not stop.is_set():
            state = model.__dict__
            seen.add((state["n_features_in_"], state["_columns"][0].size))

    thread = threading.Thread(target=look)
    thread.start()
    sizes = set()
    for rows in (narrow, X) * 10:
        model.fit(rows, Y)
        sizes.add((model.n_features_in_, model._columns[0].size))
    stop.set()
    thread.join()
    assert len(sizes) == 2 and seen <= sizes


@pytest.mark.parametrize("case", [CASES[2], CASES[4]], ids=lambda case: case.cls.__name__)
def test_a_warning_of_a_fit_shows_the_line_that_called_it(case):
    X, Y = case.problem()
    with warnings.catch_warnings(record=True, action="always") as caught:
        case.make(n_estimators=2).fit(X, np.vstack([Y[:-1], 0 * Y[-1:]]))
    assert caught and {warning.filename for warning in caught} == {__file__}
