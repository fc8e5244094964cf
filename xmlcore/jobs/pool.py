"""The default executor: joblib's loky processes, each on its own."""

import os
import signal
import sys
import threading
import time
import weakref
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor

IDLE_SECONDS = 900.0
WATCH_SECONDS = 1.0


def default_workers() -> int:
    """Return how many jobs run at the same time by default: one for every 4 cores, at least 2 and at most 4.

    The kernels of one job use all cores, so more jobs at the same time do not finish sooner. With two, a short job need
    not wait for a long one, and a second session need not wait for the first.

    Returns
    -------
    int
    """
    from joblib import cpu_count

    return max(2, min(4, cpu_count() // 4))


class WorkerPool(ThreadPoolExecutor):
    """An executor whose worker processes do not depend on each other.

    Loky's own pool shares queues between its workers: when one dies, all their work fails, and a single call cannot be
    stopped. Here each thread of a :class:`~concurrent.futures.ThreadPoolExecutor` owns a loky pool of one process,
    sends it one call after the other, and makes a new pool when the process died or was killed.

    Processes start with the first call that needs them, from a fresh Python that imports xmlcore and nothing of the
    main program (loky sends ``sys.path`` and the working folder, and does not import the main module again, so scripts
    need no ``if __name__ == "__main__"``). They stay for the next call, so compiled kernels stay loaded; an idle one
    goes after 15 minutes. They end with this process, however it ends (on Windows, when killed: with their call).

    Parameters
    ----------
    n_workers : int, optional
        Number of calls that run at the same time; by default :func:`default_workers`.
    idle_seconds : float
        Time after which an idle process ends.
    """

    def __init__(self, n_workers=None, idle_seconds=IDLE_SECONDS):
        super().__init__(default_workers() if n_workers is None else n_workers, thread_name_prefix="xmlcore-worker")
        self._idle_seconds = idle_seconds
        self._own = threading.local()  # of each thread: its slot
        self._slots = weakref.WeakSet()  # a slot goes with its thread
        self._calls = weakref.WeakKeyDictionary()  # future -> _Call
        self._guard = threading.Lock()
        self._closed = False

    def submit(self, fn, /, *args, **kwargs):
        """Call a function in a worker process; see :meth:`concurrent.futures.Executor.submit`.

        Parameters
        ----------
        fn : callable
            The function.
        *args, **kwargs
            Arguments of the function.

        Returns
        -------
        concurrent.futures.Future
            Gives the result of the call.
        """
        call = _Call()
        future = super().submit(self._carry_out, call, fn, args, kwargs)
        with self._guard:
            self._calls[future] = call
        return future

    def kill(self, future) -> None:
        """End a call by killing its process; its future then has an exception.

        A call that has ended already is left as it is.

        Parameters
        ----------
        future : concurrent.futures.Future
            What :meth:`submit` returned for the call.
        """
        if future.cancel():
            return
        with self._guard:
            call = self._calls.get(future)
            if call is not None:
                call.killed = True
                if call.slot is not None:
                    call.slot.kill()

    def shutdown(self, wait=True, *, cancel_futures=False, kill=False):
        """Take no more calls; see :meth:`concurrent.futures.Executor.shutdown`.

        Parameters
        ----------
        wait : bool
            Whether to return only when all calls have ended.
        cancel_futures : bool
            Whether to drop calls that wait.
        kill : bool
            Whether to drop calls that wait and kill the ones that run.
        """
        if kill:
            self._kill_all()
        with self._guard:
            slots = list(self._slots)
        super().shutdown(wait=wait, cancel_futures=cancel_futures or kill)
        if wait:
            for slot in slots:
                slot.join()

    def _kill_all(self):
        with self._guard:
            self._closed = True
            for slot in list(self._slots):
                slot.kill()

    def _carry_out(self, call, fn, args, kwargs):
        with self._guard:
            slot = getattr(self._own, "slot", None)
            if slot is None:
                slot = self._own.slot = _Slot(self._idle_seconds)
                self._slots.add(slot)
            if self._closed or call.killed:
                raise BrokenExecutor("killed before it began")
            inner = slot.submit(fn, args, kwargs)
            call.slot = slot
        try:
            return inner.result()
        finally:
            with self._guard:
                call.slot = None


class _Call:
    __slots__ = ("killed", "slot")

    def __init__(self):
        self.killed = False
        self.slot = None  # while it runs


class _Slot:
    """One worker process, made anew when it broke. The pool's lock guards it."""

    def __init__(self, idle_seconds):
        self._idle_seconds = idle_seconds
        self._loky = None

    def submit(self, fn, args, kwargs):
        from joblib.externals.loky.process_executor import ProcessPoolExecutor, ShutdownExecutorError

        for last in (False, True):
            if self._loky is None:
                self._loky = ProcessPoolExecutor(
                    1, timeout=self._idle_seconds, initializer=prepare_worker, initargs=(os.getpid(),)
                )
                # When the interpreter exits, loky ends its pools before anything else can, and waits for running calls
                # unless this flag is set; an ordinary shutdown sets it anew.
                self._loky._flags.kill_workers = True
            try:
                return self._loky.submit(fn, *args, **kwargs)
            except (BrokenExecutor, ShutdownExecutorError):  # by the call before, or it died while idle
                self._loky = None
                if last:
                    raise

    def kill(self):
        pool, self._loky = self._loky, None
        if pool is not None:
            pool.shutdown(wait=False, kill_workers=True)

    def join(self):
        pool, self._loky = self._loky, None
        if pool is not None:
            pool.shutdown(wait=True)


def prepare_worker(parent: int) -> None:
    """Make a new process a good worker; runs there before its first call."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what ends
    if sys.platform == "linux":
        try:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write("500")  # when memory runs out, this process goes before the one that shows the pages
        except OSError:
            pass
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(parent,), name="xmlcore-watch", daemon=True).start()


def _end_with(parent):
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)
