"""The default executor of a queue: worker processes of joblib's loky that do not depend on each other."""

import contextlib
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

from xmlcore.validation import check_count, check_number

IDLE_SECONDS = 900.0  # an idle worker process ends after so many seconds
NICENESS, SHORT_NICENESS = 10, 5  # workers give way to those of short jobs, and both to the main process
WATCH_SECONDS = 1.0  # time between two checks of a worker whether the main process still runs, in seconds


def default_workers() -> int:
    """Return how many jobs run at the same time by default: one for every 4 cores, at least 2 and at most 4.

    The kernels of one job use all cores, so more jobs at the same time do not finish sooner. With two, a second session
    need not wait for the first.
    """
    from joblib import cpu_count

    return max(2, min(4, cpu_count() // 4))


class WorkerPool(ThreadPoolExecutor):
    """An executor whose worker processes do not depend on each other.

    Loky's own pool shares queues between its workers: when one dies, all their work fails, and a single call cannot be
    stopped. Here each thread of a :class:`~concurrent.futures.ThreadPoolExecutor` owns a loky pool of one process,
    sends it one call after the other, and makes a new pool when the process died or was killed.

    A process starts with the first call that needs it. It is a new Python that imports xmlcore and nothing of the main
    program: loky sends ``sys.path`` and the working folder, and does not import the main module again, so scripts need
    no ``if __name__ == "__main__"``. The process then waits for the next call and keeps its compiled kernels; it ends
    after 15 idle minutes. All processes end when this process ends, in whatever way. (On Windows, when this process is
    killed, they end after their present call.)
    """

    def __init__(self, n_workers: int | None = None, idle_seconds: float = IDLE_SECONDS, niceness: int = NICENESS):
        n_workers = default_workers() if n_workers is None else check_count(n_workers, "n_workers")
        self._idle_seconds = check_number(idle_seconds, "idle_seconds")
        self._niceness = check_count(niceness, "niceness", 0)
        super().__init__(n_workers, thread_name_prefix="xmlcore-worker")
        self._of_thread = threading.local()  # its attribute ``slot`` is the slot of the present thread
        self._slots = weakref.WeakSet()  # the slots of all threads; a slot is removed when its thread ends
        self._calls = weakref.WeakKeyDictionary()  # of each future: see submit
        self._guard = threading.Lock()
        self._closed = False

    def submit(self, fn: Callable[..., object], /, *args: object, **kwargs: object) -> Future:
        """Call a function in a worker process; see :meth:`concurrent.futures.Executor.submit`."""
        call = SimpleNamespace(killed=False, slot=None)  # it has a slot, with the process, while it runs
        future = super().submit(self._carry_out, call, fn, args, kwargs)
        with self._guard:
            self._calls[future] = call
        return future

    def kill(self, future: Future) -> None:
        """End a call by killing its process; its future then has an exception."""
        if future.cancel():
            return
        with self._guard:
            call = self._calls.get(future)
            if call is not None:
                call.killed = True
                if call.slot is not None:
                    call.slot.end(kill=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False, kill: bool = False) -> None:
        """Accept no more calls, and end the processes; see :meth:`concurrent.futures.Executor.shutdown`."""
        with self._guard:
            self._closed, slots = self._closed or kill, list(self._slots)
            for slot in slots if kill else ():
                slot.end(kill=True)
        super().shutdown(wait=wait, cancel_futures=cancel_futures or kill)
        if wait:
            for slot in slots:
                slot.end(kill=False)

    def _carry_out(self, call, fn, args, kwargs):
        """Run a call in the process of the present thread, wait for its end, and return its result."""
        with self._guard:
            slot = getattr(self._of_thread, "slot", None)
            if slot is None:
                slot = self._of_thread.slot = _Slot(self._idle_seconds, self._niceness)
                self._slots.add(slot)
            if self._closed or call.killed:
                raise BrokenExecutor("killed before it began")
            inner = slot.submit(fn, args, kwargs)
            call.slot = slot
        try:
            return inner.result()
        except BrokenExecutor:  # the process has died: what its pool has of the system goes now
            with self._guard:
                slot.end(kill=True)
            raise
        finally:
            with self._guard:
                call.slot = None


class _Slot:
    """A worker process, which is replaced when it has died. The pool's lock protects the slot."""

    def __init__(self, idle_seconds, niceness):
        self._idle_seconds, self._niceness = idle_seconds, niceness
        self._loky = None

    def submit(self, fn, args, kwargs):
        """Send a call to the process, started if needed, and return its future."""
        from joblib.externals.loky.process_executor import ProcessPoolExecutor, ShutdownExecutorError

        for is_last_attempt in (False, True):
            if self._loky is None:
                self._loky = ProcessPoolExecutor(
                    1, timeout=self._idle_seconds, initializer=prepare_worker, initargs=(os.getpid(), self._niceness)
                )
                # When the interpreter exits, loky ends its pools first, and waits for running calls unless this flag
                # is set. An ordinary shutdown sets the flag again, as its arguments say.
                self._loky._flags.kill_workers = True
            try:
                return self._loky.submit(fn, *args, **kwargs)
            except (BrokenExecutor, ShutdownExecutorError) as error:  # the process died while it was idle
                error.__traceback__ = None  # which would keep the pool, and its semaphores, until garbage is collected
                self._loky = None
                if is_last_attempt:
                    raise

    def end(self, kill):
        """Kill the process, or end it after its present call and wait for that."""
        pool, self._loky = self._loky, None
        if pool is not None:
            pool.shutdown(wait=not kill, kill_workers=kill)


def prepare_worker(parent: int, niceness: int) -> None:
    """Set up a new worker process before its first call; ``parent`` is the id of the main process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the main process decides what ends
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # when memory runs out, Linux kills this process before the main process
            Path("/proc/self/oom_score_adj").write_text("500")
    if os.name == "posix":
        os.umask(0o077)  # what a worker writes is private to its user
        os.nice(niceness)
        threading.Thread(target=_end_with, args=(parent,), name="xmlcore-watch", daemon=True).start()


def _end_with(parent):
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)
