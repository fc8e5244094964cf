"""Tasks: work whose result is kept in the store.

A task has a key, a title, and says how much work it is. All tasks are run, kept and loaded in the same way.

A kind of task is a subclass of :class:`Task` in a file of its own, registered by :func:`register`::

    @register
    class Train(Task):
        kind, folder, result = "train", "runs", Run

        PARAMETERS = (MODEL, SETTINGS, K)              # their checks and defaults

        def title_on(self, dataset): ...               # "Training PLT on bibtex"
        def work(self): ...                            # values that it reads, and the memory that it takes
        def run(self, progress=silent, files=None): ...  # the result

Everything else is the same for all kinds: :func:`keep` runs a task and keeps its result in the store,
:func:`xmlcore.experiment.submit` has a worker call :func:`keep`, and :meth:`Task.load` reads the result.
"""

import contextlib
import dataclasses
import inspect
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from xmlcore import __version__, store
from xmlcore.artifact_keys import artifact_key, library_versions, plain
from xmlcore.datasets import in_use_or_saved, load_saved
from xmlcore.documented import TEXTS
from xmlcore.experiment.catalog import with_settings
from xmlcore.experiment.engine import task_files, times
from xmlcore.experiment.engine.times import Work
from xmlcore.parameters import Parameter, filled
from xmlcore.progress import Progress, silent
from xmlcore.ranking import Ranking
from xmlcore.state import database, holders
from xmlcore.typing import Dataset
from xmlcore.validation import check_known
from xmlcore.wording import listed

KINDS: "dict[str, type[Task]]" = {}
# Name of an input -> kind of the task that makes this input.
MADE_BY = {"run": "train", "selection": "select", "packed": "open_model"}
DATASETS = "datasets"
SHORT = 1e8  # values; a task that reads no more is short: some seconds
LAST_STEP = ("Saving", 1.0)  # as what is done stands when the result of a task is kept
PHASE = "Waiting for another process that computes the same"
POLL_SECONDS = 0.2  # seconds between two looks whether the other process has ended

Files = dict[str, Callable[[Path], None]]


class DamagedResultWarning(UserWarning):
    """A kept result was damaged and is made again."""


@dataclass(frozen=True)
class Estimate:
    """Estimated time and memory of a task."""

    seconds: float | None = None  # that work of equal settings took on this machine; None if none is known
    bytes: int = 0  # peak memory, without the data set and the model that the task reads; 0 if it is small
    values: float = 0.0  # that it reads

    @property
    def is_short(self) -> bool:
        """Whether the task reads so few values that its job has a worker of its own."""
        return self.values <= SHORT


@dataclass(frozen=True, eq=False)
class Task:
    """Work whose result is kept, described by its inputs and its parameters.

    ``inputs`` is what the task reads: ``{"dataset": fingerprint}``, ``{"run": key}`` or ``{"selection": key}``.
    ``params`` decides everything else; those that are not given get their defaults, and all are plain values. An
    input or a parameter that the kind does not have or accept raises ValueError or TypeError.
    """

    kind: ClassVar[str]  # name of the kind in :data:`KINDS`
    folder: ClassVar[str]  # kind of artifact in the store: the folder with results of this kind of task
    result: ClassVar[
        type
    ]  # what :meth:`load` returns: its fields are the names in the kept dict, or :meth:`view` knows
    version: ClassVar[int] = 1  # the author adds 1 when the same inputs and parameters give another result than before
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = ()  # everything besides the inputs that decides the result
    needs: ClassVar[tuple[str, ...]] = ("dataset",)  # names of the inputs
    doing: ClassVar[str]  # what it does, a sentence for users with ``{dataset}`` and names of parameters in braces
    computes: ClassVar[Callable[..., Any]]  # a function of the data set and the parameters that gives the same result
    # whether the inputs and the parameters alone are enough to make the result; else it is never removed
    can_be_made_again: ClassVar[bool] = True
    # whether a worker on another machine can run the task: it must keep nothing but its result
    on_cluster: ClassVar[bool] = True

    inputs: dict[str, str]
    params: dict[str, Any]

    def __post_init__(self):
        if set(self.inputs) != set(self.needs):
            raise ValueError(
                f"{self.kind} needs the inputs {list(self.needs)}, not [{listed(map(repr, sorted(self.inputs)))}]"
            )
        object.__setattr__(self, "inputs", {name: str(self.inputs[name]) for name in self.needs})
        object.__setattr__(self, "params", plain(self.complete(self.accepted(self.params)), "params"))

    def __eq__(self, other):
        return isinstance(other, Task) and self.key == other.key

    def __hash__(self):
        return hash(self.key)

    def accepted(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return given parameters, checked, with the defaults of the others."""
        return with_settings(filled(self.PARAMETERS, params, self.kind))

    def complete(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return all parameters in the spelling that is kept; completing them again changes nothing.

        A kind defines this only where a parameter depends on another one.
        """
        return params

    @classmethod
    def parameter(cls, name: str) -> Parameter:
        """Return the description of one of :attr:`PARAMETERS`."""
        return next(parameter for parameter in cls.PARAMETERS if parameter.name == name)

    # --- to be defined by a kind ---

    def params_in_key(self) -> dict[str, Any]:
        """Return the parameters that the key is computed from; by default :attr:`params`."""
        return self.params

    def title_on(self, dataset: str) -> str:
        """Return a sentence for users that says what the task does."""
        return self.doing.format(dataset=dataset, **self.params)

    def work(self) -> Work:
        """Return how much work it is; by default, the data set is read once and copied."""
        return Work(self.kind, self.sizes["train_values"] + self.sizes["test_values"], self.sizes["bytes"])

    def _took(self, value: dict[str, Any], seconds: float) -> tuple[float, float]:
        """Return the seconds and bytes of :meth:`work` of a run that took ``seconds`` in all; 0 seconds: none."""
        return seconds, 0

    def run(self, progress: Progress = silent, files: Files | None = None) -> Any:
        """Do the work and return a :attr:`result` of numbers, text, arrays, DataFrames, lists and dicts, or its fields.

        What it has besides is entered in ``files``: names, each with a function that writes to a path.
        """
        return type(self).computes(self.dataset(progress), progress=progress, **self.params)

    @classmethod
    def view(cls, value: dict[str, Any]) -> Any:
        """Make the dataclass :attr:`result` from a kept dict."""
        known = {field.name for field in dataclasses.fields(cls.result)}
        value = {name: part for name, part in value.items() if name in known}
        if isinstance(value.get("ranking"), dict):
            value["ranking"] = Ranking(**value["ranking"])
        return cls.result(**value)

    @classmethod
    def summary(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Return the small part of a kept dict that lists show, in types that JSON has.

        It is written into the record of the result, under ``summary``, so that a list of many results reads none.
        """
        return {}

    def after_keeping(self) -> None:
        """Remove what was computed on the way to the result; :func:`keep` calls this when the result is kept."""

    # --- shared by all kinds ---

    def estimate(self) -> Estimate:
        """Return the estimated time and memory, from work of equal settings on this machine."""
        work = self.work()
        took = times.nearest(work)
        if took is None:
            return Estimate(None, work.bytes, work.values)
        return Estimate(took.seconds, max(work.bytes, took.bytes), work.values)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Numbers of rows, features, labels, bytes and values of the data set, by the names in its record."""
        return store.info(DATASETS, self.fingerprint)

    @cached_property
    def key(self) -> str:
        """Hash of kind, inputs, parameters and version: 32 hex digits."""
        return artifact_key(self.kind, self.inputs, self.params_in_key(), self.version)

    @property
    def title(self) -> str:
        """Sentence for users that says what the task does: ``Training PLT on bibtex (Trees: 3)``."""
        return self.titled(self.dataset_name())

    def titled(self, dataset: str, about: str = "") -> str:
        """Return the title with a name of the data set, and what else it is about: by default the model of its run."""
        if "run" in self.inputs and not about:
            with contextlib.suppress(store.StoreError, KeyError):  # the result is not kept any more
                about = store.info(KINDS[MADE_BY["run"]].folder, self.inputs["run"])["model"]
        return self.title_on(dataset) + (f" ({about})" if about not in ("", dataset) else "")

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the data set of the task; StoreError if the run or the selection is not kept any more."""
        if "dataset" in self.inputs:
            return self.inputs["dataset"]
        for name, key in self.inputs.items():
            return store.info(KINDS[MADE_BY[name]].folder, key)["fingerprint"]
        raise ValueError(f"{self.kind} has no input that belongs to a data set")

    def dataset(self, progress: Progress = silent) -> "Dataset":
        """Return the data set of the task, if it is still kept; it is not read again while this process uses it."""
        progress("Reading the data set", 0.0)
        return (in_use_or_saved if store.exists(DATASETS, self.fingerprint) else load_saved)(self.fingerprint)

    def dataset_name(self) -> str:
        """Return the name of the kept data set, or "the data set" if it is not kept any more."""
        try:
            return store.info(DATASETS, self.fingerprint).get("name", "the data set")
        except store.StoreError:
            return "the data set"

    def facts(self) -> dict[str, Any]:
        """Return the record that is written beside the result: kind, versions, inputs and parameters."""
        return {
            "task": self.kind,
            "version": self.version,
            "xmlcore": __version__,
            "libraries": library_versions(),
            "inputs": self.inputs,
            "params": self.params,
            "again": self.can_be_made_again,
            **self.about(),
        }

    def about(self) -> dict[str, Any]:
        """Return the part of :meth:`facts` by which the result is found in a list; a kind may add to it."""
        if not self.needs:
            return {"name": self.dataset_name()}
        return {"fingerprint": self.fingerprint, "dataset": self.dataset_name()}

    def exists(self) -> bool:
        """Return whether the result is kept."""
        return store.exists(self.folder, self.key)

    def load(self) -> Any:
        """Read the kept result."""
        return load(self.kind, self.key)

    def to_record(self) -> dict[str, Any]:
        """Return the task as a dict that JSON can hold, for :func:`from_record`."""
        return {"kind": self.kind, "inputs": dict(self.inputs), "params": self.params}


def register(cls: type[Task]) -> type[Task]:
    """Enter a kind of task in :data:`KINDS`, and its parameters in docstrings; for use as a decorator."""
    if cls.kind in KINDS and KINDS[cls.kind].__qualname__ != cls.__qualname__:
        raise ValueError(f"there is a kind of task {cls.kind!r:.200} already")
    KINDS[cls.kind] = cls
    if cls.PARAMETERS and cls.__doc__ is not None:  # which it is with python -OO
        entries = "\n".join(parameter.doc for parameter in cls.PARAMETERS)
        cls.__doc__ = f"{inspect.cleandoc(cls.__doc__)}\n\nIn ``params``:\n\n{entries}"
        if "computes" in vars(cls):
            text = f"Parameters\n----------\ndataset : Dataset\n{entries}\n{TEXTS['progress']}"
            cls.computes.__doc__ = inspect.cleandoc(cls.computes.__doc__).replace("{arguments}", text) + "\n"
    return cls


def task(kind: str, inputs: dict[str, Any] | None = None, params: dict[str, Any] | None = None) -> Task:
    """Make a task.

    Parameters
    ----------
    kind : str
        A key of :data:`KINDS`.
    inputs, params : dict, optional
        See :class:`Task`.

    Returns
    -------
    Task
        An instance of the class of the kind.
    """
    return check_known(KINDS, kind, "kind of task")(inputs or {}, params or {})


def from_record(record: dict[str, Any]) -> Task:
    """Make the task that :meth:`Task.to_record` has written."""
    return task(record["kind"], record["inputs"], record["params"])


def load(kind: str, key: str) -> Any:
    """Read the result that is kept under a key.

    Parameters
    ----------
    kind : str
        A key of :data:`KINDS`.
    key : str
        Key of the result.

    Returns
    -------
    object
        An instance of the kind's :attr:`Task.result`.

    Raises
    ------
    xmlcore.store.MissingArtifactError
        No result is kept under the key.
    xmlcore.store.DamagedArtifactError
        The result could not be read.
    """
    cls = KINDS[kind]
    value = store.load(cls.folder, key)
    try:
        return cls.view(value)
    except (TypeError, AttributeError) as error:
        raise store.UnreadableArtifactError(
            f"the stored {cls.folder}/{key} was written by another version and cannot be read ({error}); make it again"
        ) from None


def keep(task: Task, progress: Progress = silent, again: bool = False) -> str:
    """Run a task and keep its result, unless one is kept already and is not to be made ``again``; return the key.

    If another process of this machine computes the same, as of a second server, its result is waited for. A damaged
    result is made again, with a DamagedResultWarning. CannotKeepError is raised if a result cannot be written.
    """
    note = None
    if task.exists():
        try:
            store.check(task.folder, task.key)
        except store.StoreError as error:
            note = f"Made again: {error}"
            warnings.warn(note, DamagedResultWarning, stacklevel=2)
        else:
            if not again:
                return task.key
    with computing(task.key, progress) as waited:
        if waited and not again and task.exists():
            task_files.drop(task.key)  # the other process has read its own copy of files that were given
        else:
            try:
                _run_and_keep(task, progress, again, {} if note is None else {"note": note})
            finally:  # a process that is killed leaves files that were given to it for the next run
                task_files.done(task.key)
    return task.key


def _run_and_keep(task, progress, again, more_facts) -> None:
    store.check_room()
    for name, key in task.inputs.items():
        store.used(DATASETS if name == "dataset" else KINDS[MADE_BY[name]].folder, key, now=True)
    files: Files = {}
    start = time.perf_counter()
    value = as_plain(task.run(progress, files))
    with contextlib.suppress(store.StoreError):  # an input was removed meanwhile
        times.add(task.work(), *task._took(value, time.perf_counter() - start))
    progress(*LAST_STEP)
    summary = task.summary(value)
    facts = task.facts() | more_facts | ({"summary": summary} if summary else {})
    with store.writing(task.folder, task.key, replace=again, **facts) as path:
        store.write_value(path, value)
        for name, write in files.items():
            write(path / name)
    task.after_keeping()


def as_plain(result) -> dict:
    """Return a result as it is kept: without instances of classes of xmlcore, so that code can move."""
    if isinstance(result, dict):
        return result
    value = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    if isinstance(value.get("ranking"), Ranking):
        value["ranking"] = value["ranking"]._asdict()
    return value


# --- processes that share a cache folder, such as two servers, compute the same result once ---


@contextlib.contextmanager
def computing(key: str, progress: Progress):
    """Keep other processes from computing the result with a key; wait until no other process computes it."""
    waited, hold = False, None
    while hold is None:
        try:
            hold = holders.take(database(), f"turn/{key}", elsewhere=False)
        except OSError:  # where no hold can be written, as on a full disk, all compute
            break
        if hold is None:
            waited = True
            progress(PHASE, 0.0)
            time.sleep(POLL_SECONDS)
    try:
        yield waited
    finally:
        with contextlib.suppress(OSError):  # the hold ends with the process
            if hold is not None:
                hold.release()
