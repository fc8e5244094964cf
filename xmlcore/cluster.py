"""Training and prediction by the workers of a Dask cluster, which read and write files that all machines share."""

import os
import queue
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from xmlcore.extras import require
from xmlcore.progress import Progress

ANSWER_SECONDS = 5.0  # time that a scheduler has to answer, and to have a worker
HEAR_SECONDS = 0.5  # between two looks at whether the training is still wanted

in_use: ContextVar["TrainingCluster | None"] = ContextVar("cluster", default=None)


@contextmanager
def on_cluster(cluster: Any) -> Iterator[None]:
    """Let the workers of a Dask cluster train models, and predict rows in files, in a block.

    Label trees (PLT, also as a part of other models) and OneVsRest are trained there. ``predict_topk`` and
    ``predict_proba`` of any model that can be saved are given there to rows of :func:`xmlcore.mapped.open_rows` or
    ``write_rows``. All other work, and that of other threads than the one that enters the block, is done here. Models
    and predictions are those of one process, bit for bit.

    Parameters
    ----------
    cluster : str, distributed.Client or distributed.LocalCluster
        The address of a scheduler, such as "tcp://host:8786", or a client. Each thread of a worker trains a part of the
        model, or predicts a block of rows, at a time.

    Yields
    ------
    None

    Raises
    ------
    ConnectionError
        The scheduler does not answer or has no workers. ``fit`` and predictions raise it when the connection is lost.

    Notes
    -----
    Rows and results are files in the folder of :func:`xmlcore.mapped.write_rows`, else in ``rows`` of the cache folder.
    ``fit`` raises ValueError where a worker does not see it under this path, or has another version of xmlcore.
    """
    used = TrainingCluster(cluster)
    token = in_use.set(used)
    try:
        yield
        if not used.is_asked:
            warnings.warn(
                "the cluster was not used: it trains PLT and OneVsRest, and predicts rows of open_rows(...)",
                stacklevel=3,
            )
    finally:
        in_use.reset(token)
        used.close()


class TrainingCluster:
    """The workers of a Dask scheduler."""

    def __init__(self, cluster):
        require("cluster", "distributed")
        from distributed import Client

        if cluster is None:
            raise TypeError("cluster is None: give the address of a scheduler, or a client of distributed")
        self._is_own, self.is_asked = not isinstance(cluster, Client), False
        options = {"timeout": ANSWER_SECONDS, "set_as_default": False, "name": "xmlcore"}
        try:
            self._client = Client(cluster, **options) if self._is_own else cluster
        except (OSError, ValueError, TypeError) as error:
            raise ConnectionError(
                f"the scheduler {cluster!s:.200} does not answer ({error!s:.120}): start it with: dask scheduler"
            ) from error
        self._address = self._client.scheduler.address
        try:
            self._client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        except TimeoutError:
            self.close()
            raise ConnectionError(
                f"the scheduler {self._address} has no workers: start one with: dask worker {self._address}"
            ) from None

    def close(self) -> None:
        if self._is_own:
            self._client.close(timeout=2)

    def check(self, version: Callable[[], str], folder: Path) -> None:
        """Raise ValueError unless all workers see the files of a folder, and have the version of this process."""
        self.is_asked = True
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".seen-") as file:
            answers = self._client.run(_facts, version, file.name, on_error="return")
        for address, answer in answers.items():
            has, is_seen = (f"none ({answer!s:.200})", True) if isinstance(answer, BaseException) else answer
            if has != version():
                raise ValueError(
                    f"the worker {address} has {has}, and this machine {version()}: install the same version of "
                    "xmlcore and of Numba on all machines"
                )
            if not is_seen:
                raise ValueError(
                    f"the worker {address} does not see the files of {folder}: share this folder with all machines, "
                    "under the same path, or set XMLCORE_CACHE to a folder that is shared"
                )

    def run(self, function: Callable, tasks: list[tuple], costs, progress: Progress, phase: str) -> list:
        """Call ``function(*task)`` for every task on a worker, the most expensive first; return the results."""
        name, total, done = f"xmlcore-{uuid.uuid4().hex}", sum(costs) or 1.0, 0.0
        futures, results, heard = {}, [None] * len(tasks), queue.SimpleQueue()
        try:
            for i in sorted(range(len(tasks)), key=lambda i: -costs[i]):
                futures[i] = self._client.submit(function, *tasks[i], key=f"{name}-{i}", pure=False)
                futures[i].add_done_callback(heard.put)
            while futures:
                progress(phase, done / total, f"{len(tasks) - len(futures):,} of {len(tasks):,} parts")
                try:
                    future = heard.get(timeout=HEAR_SECONDS)
                except queue.Empty:
                    future = None
                if self._client.status != "running" or (future and future.status == "cancelled"):
                    raise ConnectionError(
                        f"the connection to the scheduler {self._address} was lost. When it is there again, the same "
                        "fit goes on with the parts that are finished"
                    )
                if future is None:
                    continue
                i = int(future.key.rpartition("-")[2])
                results[i] = future.result()
                done += costs[i]
                del futures[i]
            progress(phase, 1.0, f"{len(tasks):,} parts")
            return results
        finally:
            if futures and self._client.status == "running":
                self._client.cancel(list(futures.values()))


def _facts(version, path) -> tuple[str, bool]:
    return version(), os.path.exists(path)
