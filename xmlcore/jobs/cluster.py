"""The workers of a Dask cluster as the place where the jobs of a queue run."""

import contextlib
import logging
import os
import threading
import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor

from xmlcore.jobs import agent, shipping, worker
from xmlcore.jobs.places import Place
from xmlcore.jobs.records import QUEUE_FILE
from xmlcore.system import cache_root

ANSWER_SECONDS = 4.0  # time that a scheduler has to answer
TRY_AGAIN = 30.0  # seconds after which a scheduler that did not answer is tried again
COUNT_SECONDS = 2.0  # seconds between two counts of the workers
LARGEST_RESULT = 200_000_000  # bytes of a job's results that are sent back at most

log = logging.getLogger(__name__)


class Cluster(Place):
    """The workers of a Dask scheduler."""

    def __init__(self, address, changed, grace, largest=LARGEST_RESULT):
        super().__init__()
        self.address, self.problem = address, ""
        self._changed, self._grace, self._largest = changed, grace, largest
        self._client = None
        self._threads = {}  # of each worker, by address
        self._topic = ""
        self._jobs = {}  # id -> job, of those that run
        self._hosts = {}  # id of a job -> address and name of its worker
        self.is_tried = False  # whether the scheduler has answered, or has had the time to
        self._ended = threading.Event()
        self._sending = ThreadPoolExecutor(2, thread_name_prefix="xmlcore-send")
        threading.Thread(target=self._keep_in_touch, name="xmlcore-cluster", daemon=True).start()

    # --- the scheduler ---

    def _keep_in_touch(self):
        while not self._ended.is_set():
            if self._client is None:
                self._connect()
                self.is_tried = True
                self._changed()
            if self._client is not None:
                self._check_connection()
            self._ended.wait(TRY_AGAIN if self._client is None else COUNT_SECONDS)

    def _connect(self):
        try:
            from distributed import Client
        except ImportError:
            self._note_problem("The package distributed is missing. Install it: pip install 'xmlcore[cluster]'.")
            return
        try:
            client = Client(
                self.address, timeout=ANSWER_SECONDS, set_as_default=False, name="xmlcore", direct_to_workers=False
            )
            threads = client.nthreads()
        except Exception as error:
            why = f"The scheduler {self.address} does not answer ({worker.one_line(error)[:120]}). Start it"
            self._note_problem(f"{why} with: dask scheduler. Or unset XMLCORE_SCHEDULER to use this machine only.")
            return
        self._topic = f"xmlcore-{client.id}"
        client.subscribe_topic(self._topic, self._hear)
        self._count(threads)  # before it is there: a short job would run elsewhere where nobody is known to be free
        self._client = client

    def _check_connection(self):
        """Note the threads of each worker; if the scheduler is lost, end all its jobs."""
        try:
            threads = self._client.nthreads()
            if self._client.status != "running":
                raise OSError(self._client.status)
        except Exception:
            if self._ended.is_set():
                return
            client, self._client = self._client, None
            self._note_problem(f"The connection to the scheduler {self.address} was lost. It is tried again by and by.")
            with contextlib.suppress(Exception):
                client.close(timeout=1)
            for job in list(self._jobs.values()):
                self._end(job.id, error=BrokenExecutor("the connection to the scheduler was lost"))
            self._changed()
            return
        if threads != self._threads:
            self._count(threads)
            self._changed()

    def _count(self, threads):
        self._threads = dict(threads)
        self.problem = "" if threads else (
            f"The scheduler {self.address} has no workers. Start one with: dask worker {self.address}."
        )  # fmt: skip

    def _note_problem(self, problem):
        if problem != self.problem:
            log.warning("%s Until then, jobs run on this machine.", problem)
        self.problem, self._threads = problem, {}

    @property
    def is_there(self) -> bool:
        return self._client is not None

    @property
    def is_silent(self) -> bool:
        """Whether the connection was broken a moment ago: the scheduler may answer again, or be lost."""
        client = self._client
        return client is not None and client.status != "running"

    @property
    def words(self):
        count = len(self._threads)
        return f"the cluster at {self.address}, which has {count} worker{'' if count == 1 else 's'}"

    def name_of(self, job):
        return self._hosts.get(job.id, ("", self.words))[1]

    def slots(self):
        return sum(self._threads.values())  # each runs one job

    def lacks_worker(self):
        return super().lacks_worker() if self._threads else "a worker of the cluster"

    # --- jobs ---

    def start(self, job):
        if self._client is None:
            raise BrokenExecutor("the connection to the scheduler was lost")
        request = {
            "id": job.id,
            "topic": self._topic,
            "payload": job._payload,
            "reads": list(job.plan.reads),
            "writes": list(job.plan.writes),
            "bytes": 0 if job._insisted else job._bytes,
            "grace": self._grace,
            "largest": self._largest,
            "store": (str(cache_root()), os.path.relpath(job._queue.folder / QUEUE_FILE, cache_root())),
        }
        outcome = Future()
        self._jobs[job.id] = job
        job._remote = self._client.submit(
            agent.run, request, key=f"xmlcore-{job.id}-{job.attempts}", pure=False, retries=0
        )
        job._outcome = outcome
        job._remote.add_done_callback(lambda future: self._sending.submit(self._take, job, future))
        return outcome

    def stop(self, job, grace):
        self._in_new_thread(self._cancel, job)

    def _in_new_thread(self, function, *args):
        # The client must not be asked from the thread that hears events.
        threading.Thread(target=function, args=args, name="xmlcore-ask", daemon=True).start()

    def _cancel(self, job):
        """Tell the worker of a job to stop it; without a worker it is taken from the scheduler."""
        host = self._hosts.get(job.id)
        try:
            if host is not None:
                self._client.run(agent.cancel, job.id, workers=[host[0]], on_error="ignore")
                return
            job._remote.cancel()
        except Exception:
            log.debug("cancelling %s", job.id, exc_info=True)
        self._end(job.id, outcome=worker.outcome_of("cancelled"))

    def _hear(self, event):
        """Take in an event of a worker; called in the thread of the client."""
        _, message = event
        job = self._jobs.get(message.get("id"))
        if job is None:
            return
        if message["op"] == "begin":
            self._begin(job, message)
        elif message["op"] == "progress":
            worker.put(job._folder / worker.RECORD, message["record"])
            if message["log"]:
                worker.put(job._folder / worker.LOG, message["log"])
        elif message["op"] == "send":
            address = self._hosts[job.id][0]
            self._sending.submit(self._send, job.id, address, message["kind"], message["key"])

    def _begin(self, job, message):
        """Note which worker runs a job; a second one runs it when the first one was lost."""
        if job.id in self._hosts:
            job.attempts += 1
            job._earlier_log.append(
                f"{time.strftime('%H:%M:%S')} The worker was lost: another one starts the job again"
            )
        self._hosts[job.id] = message["address"], message["name"]
        worker.put(job._folder / worker.RECORD, worker.record_of())
        if job._cancelling:
            self._in_new_thread(self._cancel, job)

    def _send(self, job_id, address, kind, key):
        try:
            for piece in shipping.pieces(kind, key):
                answer = self._client.run(agent.receive, job_id, *piece, workers=[address])
                if not answer.get(address):
                    return  # the job has ended, or has failed by itself
        except Exception as error:
            with contextlib.suppress(Exception):
                self._client.run(agent.refuse_job, job_id, worker.one_line(error), workers=[address])

    def _take(self, job, future):
        if job.id not in self._jobs or future is not job._remote:
            return
        try:
            outcome = future.result(timeout=60)
            for kind, key, pieces in outcome.pop("artifacts", ()):
                arrival = shipping.Arrival(kind, key, replace=True)
                try:
                    for piece in pieces:
                        arrival.take(*piece)
                finally:
                    arrival.drop()
            self._end(job.id, outcome=outcome)
        except BaseException as error:
            if type(error).__name__ in ("CancelledError", "FutureCancelledError"):  # not by the queue
                error = BrokenExecutor(f"the scheduler has dropped the job: {error}")
            self._end(job.id, error=error)

    def _end(self, job_id, outcome=None, error=None):
        job = self._jobs.pop(job_id, None)
        if job is None:
            return
        self._hosts.pop(job_id, None)
        future, job._outcome, job._remote = job._outcome, None, None  # the scheduler then forgets the result
        if error is None:
            future.set_result(outcome)
        else:
            future.set_exception(error)

    def close(self):
        """Leave the scheduler; jobs that run there stop, as nobody wants them any more."""
        self._ended.set()
        client, self._client = self._client, None
        for job in list(self._jobs.values()):
            with contextlib.suppress(Exception):
                job._remote.cancel()
            self._end(job.id, outcome=worker.outcome_of("cancelled"))
        if client is not None:
            with contextlib.suppress(Exception):
                client.close(timeout=2)
        self._sending.shutdown(wait=False, cancel_futures=True)
