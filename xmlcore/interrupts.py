"""Ctrl+C at any moment: a fit raises KeyboardInterrupt and leaves its estimator as it was, or wholly fitted."""

import functools
from _signal import SIGINT, default_int_handler, getsignal  # the module signal makes enums of all, in 8 microseconds
from _signal import signal as set_handler
from collections.abc import Callable
from threading import get_ident, main_thread

_came = 0  # interrupts that were counted in this process
_holding = False  # whether the main thread runs compiled code, in which no exception may be raised


def in_one_step(fit: Callable) -> Callable:
    """Return a method ``fit`` that changes its estimator in one step, at its end."""
    # The fit works on a stand-in with the same attributes, and the estimator then takes over the stand-in's attributes.
    # So whatever the fit raises, and wherever, the estimator has the attributes that it had. Another thread that
    # predicts meanwhile sees the old fitted state or the new one. KeyboardInterrupt is raised at the latest when the
    # fit ends. Python raises it wherever the program is: also in a destructor or in the callback of a weak reference,
    # where it is printed and forgotten, and in libraries that turn it into another error. So interrupts are counted
    # here. Only the main thread gets them, and a program that handles them in its own way keeps its handler.

    @functools.wraps(fit)
    def whole(self, *args, **kwargs):
        stand_in = object.__new__(type(self))
        stand_in.__dict__.update(self.__dict__)
        handler = getsignal(SIGINT)
        ours = get_ident() == main_thread().ident and handler in (default_int_handler, _count_and_raise)
        before = _came
        try:
            if ours:
                set_handler(SIGINT, _count_and_raise)
            found = fit(stand_in, *args, **kwargs)
            self.__dict__ = stand_in.__dict__
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if _came > before:
                raise KeyboardInterrupt from error
            raise
        finally:
            if ours:
                set_handler(SIGINT, handler)
        if _came > before:
            raise KeyboardInterrupt
        return self if found is stand_in else found

    return whole


def call_to_the_end(function: Callable, args: tuple, kwargs: dict) -> object:
    """Call a compiled function; an interrupt that comes while it runs is raised when it has returned."""
    # When Ctrl+C was pressed meanwhile, Python would raise KeyboardInterrupt in the first Python code after the
    # compiled code, which is what Numba calls to make Python objects of the results. Numba 0.68 does not expect an
    # error there: a named tuple of results ends the process by a segmentation fault, a tuple of arrays gives a
    # SystemError. And an interrupt while Numba compiles may leave its tables torn, so that the function cannot be
    # compiled any more.
    global _holding
    if _holding or get_ident() != main_thread().ident:
        return function(*args, **kwargs)
    handler = getsignal(SIGINT)
    if handler is default_int_handler:
        set_handler(SIGINT, _count_and_raise)
    elif handler is not _count_and_raise:
        return function(*args, **kwargs)
    before = _came
    try:
        _holding = True
        found = function(*args, **kwargs)
    finally:
        _holding = False
        if handler is default_int_handler:
            set_handler(SIGINT, default_int_handler)
    if _came > before:
        raise KeyboardInterrupt
    return found


def _count_and_raise(number, frame):
    """Count an interrupt, and raise KeyboardInterrupt as Python does by default, but not in compiled code."""
    global _came
    _came += 1
    if not _holding:
        default_int_handler(number, frame)
