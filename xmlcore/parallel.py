"""Run many independent pieces of work on threads; kernels release the interpreter lock, so no processes are needed."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager

from xmlcore.progress import Progress, silent
from xmlcore.system import effective_jobs

TASK_BYTES = 2000  # that each task takes while it waits for one of several threads


def run_tasks(
    function: Callable,
    tasks: Iterable,
    costs: Iterable[float],
    n_jobs: int | None = None,
    progress: Progress = silent,
    phase: str = "Working",
    unit: str = "tasks",
    on_error: Callable[[BaseException], None] | None = None,
) -> list:
    """Call ``function(task)`` for every task, the most expensive first; return results in the order of ``tasks``."""
    tasks = list(tasks)
    costs = [float(cost) for cost in costs]
    total = sum(costs) or 1.0
    results = [None] * len(tasks)
    order = sorted(range(len(tasks)), key=lambda i: -costs[i])
    done_cost = 0.0
    progress(phase, 0.0, f"0 of {len(tasks):,} {unit}")
    threads = min(effective_jobs(n_jobs, len(tasks)), len(tasks))
    if threads <= 1:
        for done, i in enumerate(order, start=1):
            results[i] = function(tasks[i])
            done_cost += costs[i]
            progress(phase, done_cost / total, f"{done:,} of {len(tasks):,} {unit}")
        return results
    with ThreadPoolExecutor(threads) as pool:
        try:
            futures = {pool.submit(function, tasks[i]): i for i in order}
            for done, future in enumerate(as_completed(futures), start=1):
                i = futures[future]
                results[i] = future.result()
                done_cost += costs[i]
                progress(phase, done_cost / total, f"{done:,} of {len(tasks):,} {unit}")
        except BaseException as error:
            if on_error is not None:
                on_error(error)
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return results


def run_blocks(
    function: Callable, blocks: list, n_jobs: int | None = None, progress: Progress = silent, phase: str = "Working",
    unit: str = "blocks of rows",
) -> list:  # fmt: skip
    """Call ``function`` for blocks with :func:`run_tasks`; the cost of a block is its length."""
    return run_tasks(function, blocks, [end - first for first, end in blocks], n_jobs, progress, phase, unit)


def row_blocks(n_rows: int, size: int) -> list[tuple[int, int]]:
    """Split ``n_rows`` rows into blocks of at most ``size`` rows: pairs of the first row and the last row + 1."""
    return [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let matrix products, of NumPy, SciPy and kernels, use one thread in a block."""
    # Their sums then do not depend on the number of threads. They still depend on the processor, whose instructions the
    # library uses: results that rest on products agree between kinds of processors up to rounding.
    import scipy.linalg  # noqa: F401  kernels and scikit-learn use SciPy's own library, which must be there to be told
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):
        yield
