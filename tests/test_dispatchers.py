"""Kernels that kernels call: their code is part of the callers, and Python can call them all the same."""

import gc

import numpy as np
import pytest
from numba import njit
from numba.core import config, types
from numba.core.registry import CPUDispatcher
from numba.core.target_extension import CPU, jit_registry

from xmlcore._kernels import _jit
from xmlcore._kernels._dispatchers import CodeForCallers
from xmlcore._kernels._jit import kernel

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="kernels are not compiled (NUMBA_DISABLE_JIT)")


def pair():
    """A kernel that calls a function, and that function; neither is compiled yet."""

    def add_one(x):
        return x + 1

    add_one = kernel(add_one)

    def add_two(x):
        return add_one(add_one(x))

    return kernel(add_two), add_one


def test_a_function_that_only_kernels_call_gets_no_machine_code():
    add_two, add_one = pair()
    assert add_two(1) == 3
    assert add_one.signatures == []  # nothing that Python could call
    (compiled,) = add_one.for_callers.overloads.values()
    assert isinstance(compiled.library, CodeForCallers)
    assert not any(isinstance(made.library, CodeForCallers) for made in add_two.overloads.values())


def test_python_can_call_a_function_before_and_after_kernels_do():
    add_two, add_one = pair()
    assert (add_one(1), add_two(1), add_one(1)) == (2, 3, 2)
    add_two, add_one = pair()
    assert (add_two(1), add_one(1), add_two(1)) == (3, 2, 3)


def test_numbers_that_kernels_name_share_code():
    add_one = pair()[1]

    def add(x):
        return add_one(0) + add_one(5) + add_one(x)

    assert kernel(add)(1) == 9
    assert len(add_one.for_callers.overloads) == 1


def test_functions_of_numpy_work_after_kernels_used_them():
    def reversed_and_longer(n):
        return np.arange(n)[::-1].copy().sum() + np.empty(n - 1, np.float64).size

    compiled = kernel(reversed_and_longer), njit(reversed_and_longer)
    usual, typing = jit_registry[CPU], types.Function.get_call_type
    for function in compiled:
        assert function(4) == 9
        with pytest.raises(ValueError, match="negative dimensions"):
            function(0)
    assert jit_registry[CPU] is usual and types.Function.get_call_type == typing


def test_an_error_in_a_called_function_reaches_python():
    def divide(a, b):
        return a // b

    divide = kernel(divide, error_model="python")

    def calling(a, b):
        return divide(a, b) + 1

    calling = kernel(calling, error_model="python")
    assert calling(7, 2) == 4
    with pytest.raises(ZeroDivisionError):
        calling(1, 0)


@pytest.mark.parametrize("on", [True, False])
def test_compiling_leaves_garbage_collection_as_before(on):
    was_on = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        assert pair()[0](1) == 3
        assert gc.isenabled() == on
        with pytest.raises(Exception, match="cannot determine Numba type|No implementation"):
            kernel(lambda x: x + "text")(1)
        assert gc.isenabled() == on
    finally:
        (gc.enable if was_on else gc.disable)()


def test_an_untried_version_of_numba_compiles_itself(monkeypatch):
    monkeypatch.setattr(_jit, "IS_TRIED", False)
    add_two, add_one = pair()
    assert type(add_two) is type(add_one) is CPUDispatcher
    assert add_two(1) == 3 and len(add_one.signatures) == 1
