"""Tasks: keys, titles, keeping, loading, plain values."""

import json
import pickle
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from joblib.numpy_pickle import NumpyUnpickler

from xmlcore import experiment, jobs, store
from xmlcore.datasets import save_dataset
from xmlcore.experiment import KINDS, Estimate, Task
from xmlcore.experiment.engine.times import Work
from xmlcore.parameters import Parameter
from xmlcore.progress import Cancelled, silent

task_module = import_module("xmlcore.experiment.engine.task")


@dataclass(frozen=True)
class Sum:
    total: float
    notes: str = ""


class Add(Task):
    """Add numbers: a task that takes no time."""

    kind, folder, result = "add", "sums", Sum
    calls = 0

    PARAMETERS = (
        Parameter("numbers", "Numbers", "What is added.", "any", [1, 2]),
        Parameter("scale", "Scale", "What the sum is multiplied by.", "any", 1.0),
    )

    def title_on(self, dataset):
        return f"Adding on {dataset}"

    def work(self):
        return Work(self.kind, 1.0)

    def run(self, progress=silent, files=None):
        type(self).calls += 1
        if files is not None:
            files["notes.txt"] = lambda path: path.write_text("written")
        return {"total": self.params["scale"] * sum(self.params["numbers"])}


@pytest.fixture(autouse=True)
def add(monkeypatch):
    monkeypatch.setitem(KINDS, "add", Add)
    monkeypatch.setattr(Add, "calls", 0)


def adding(**params):
    return experiment.task("add", {"dataset": "ab" * 16}, params)


# --- what a task is


def test_parameters_are_completed_and_plain():
    made = adding(numbers=(np.int64(3), np.float64(0.5)))
    assert made.params == {"numbers": [3, 0.5], "scale": 1.0}
    assert json.loads(json.dumps(made.to_record())) == made.to_record()
    assert experiment.from_record(made.to_record()) == made
    with pytest.raises(TypeError, match="params"):
        adding(numbers={1, 2})


def test_key_follows_kind_inputs_parameters_and_version(monkeypatch):
    keys = {adding().key, adding(scale=2).key, experiment.task("add", {"dataset": "cd" * 16}).key}
    assert len(keys) == 3 and adding(scale=1).key == adding().key
    monkeypatch.setattr(Add, "version", 2)
    assert adding().key not in keys
    assert adding() == adding() and hash(adding()) == hash(adding()) and adding() != adding(scale=3)


def test_parameters_have_one_spelling_however_they_are_written():
    settings = {"C": np.float32(2), "n_estimators": np.int64(3), "loss": np.array(["logistic"])[0], "arity": "auto"}
    first = experiment.task("train", {"dataset": "ab" * 16}, {"params": settings, "k": np.int8(3)})
    other = {"C": 2, "n_estimators": 3, "loss": "logistic"}
    again = experiment.task("train", {"dataset": "ab" * 16}, {"params": other, "k": 3})
    assert repr(first.to_record()) == repr(again.to_record()) and type(first.params["params"]["C"]) is float
    shares = [
        experiment.task("learning_curve", {"dataset": "ab" * 16}, {"shares": shares, "seeds": (2, 0, 2)})
        for shares in ([1, 0.5], (0.5, 1.0, np.float64(1)))
    ]
    assert repr(shares[0].params) == repr(shares[1].params) and shares[0].params["seeds"] == [0, 2]
    with pytest.raises(TypeError, match="k must be a whole number, not True"):
        experiment.task("train", {"dataset": "ab" * 16}, {"k": True})


def test_unknown_kinds_and_inputs_are_named():
    with pytest.raises(ValueError, match="unknown kind of task 'fly': known are add"):
        experiment.task("fly")
    with pytest.raises(ValueError, match=r"add needs the inputs \['dataset'\], not \['run'\]"):
        experiment.task("add", {"run": "ab"})
    with pytest.raises(AttributeError):
        adding().params = {}


def test_every_kind_is_described():
    for kind, cls in KINDS.items():
        assert cls.kind == kind and cls.__doc__ and isinstance(cls.version, int) and cls.folder
        assert isinstance(cls.needs, tuple) and isinstance(cls.result, type)
    folders = [cls.folder for kind, cls in KINDS.items() if kind != "given_predictions"]  # a run, as what train makes
    assert len(set(folders)) == len(folders)
    with pytest.raises(ValueError, match="there is a kind"):
        task_module.register(type("Other", (Add,), {"kind": "train"}))


# --- keeping and loading


def test_a_task_is_run_once_and_its_result_is_found_again():
    made = adding(numbers=[2, 3])
    assert not made.exists()
    with pytest.raises(store.MissingArtifactError):
        made.load()
    assert experiment.keep(made) == made.key == experiment.keep(made)
    assert Add.calls == 1 and made.load() == Sum(5.0)
    assert (store.folder("sums", made.key) / "notes.txt").read_text() == "written"
    facts = store.info("sums", made.key)
    assert (facts["task"], facts["version"], facts["inputs"], facts["params"]) == ("add", 1, made.inputs, made.params)
    assert facts["libraries"]["numba"] and facts["xmlcore"] and facts["created"] and facts["bytes"] > 0


def test_a_damaged_result_is_made_again_with_a_note():
    made = adding()
    experiment.keep(made)
    value = store.folder("sums", made.key) / store.VALUE
    size = value.stat().st_size
    value.write_bytes(b"")
    with pytest.warns(experiment.DamagedResultWarning, match="damaged"):
        experiment.keep(made)
    assert Add.calls == 2 and made.load() == Sum(3.0)
    assert store.info("sums", made.key)["note"].startswith("Made again")
    value.write_bytes(b"\xff" * size)
    with pytest.raises(store.DamagedArtifactError):
        made.load()
    assert not made.exists()
    experiment.keep(made)
    assert made.load() == Sum(3.0)


def test_result_that_another_version_wrote_is_not_removed():
    made = adding()
    experiment.keep(made)
    with store.writing("sums", made.key, replace=True, task="add") as path:
        store.write_value(path, {"sum": 3})  # has no "total"
    with pytest.raises(store.UnreadableArtifactError, match="make it again"):
        made.load()
    assert made.exists()
    experiment.keep(made, again=True)
    assert made.load() == Sum(3.0)


def test_a_worker_keeps_a_task(data):
    made = experiment.task("train", {"dataset": save_dataset(data)}, {"params": {"n_estimators": 2}})
    queue = jobs.Queue(n_workers=1)
    try:
        job = experiment.submit(queue, made, owner="me")
        assert job.title == made.title == f"Training PLT on {data.name} (Trees: 2)" and job.key == made.key
        assert job.owners == ("me",) and job.result(timeout=120) == made.key
    finally:
        queue.shutdown()
    np.testing.assert_array_equal(
        made.load().ranking.scores, experiment.run(data, "PLT", {"n_estimators": 2}).ranking.scores
    )


@pytest.mark.parametrize(
    "kind, stopping, params",
    [("train", "Training nodes of trees", {}), ("select", "Training the network", {"params": {"n_epochs": 2}}),
     ("synthetic", "Making rows", {}), ("export", "Writing", {})],
)  # fmt: skip
def test_a_cancelled_task_leaves_nothing(data, kind, stopping, params):
    def stop(phase, fraction, detail=""):
        if phase == stopping:
            raise Cancelled

    task = experiment.task(kind, {name: save_dataset(data) for name in KINDS[kind].needs}, params)
    with pytest.raises(Cancelled):
        experiment.keep(task, stop)
    assert store.entries(task.folder) == []


# --- results outlive the code


def test_a_failed_remake_keeps_what_there_is(monkeypatch):
    experiment.keep(adding())

    def fail(self, progress=silent, files=None):
        raise OSError("the disk is full")

    monkeypatch.setattr(Add, "run", fail)
    with pytest.raises(OSError):
        experiment.keep(adding(), again=True)
    assert adding().load() == Sum(3.0)


def test_a_changed_help_text_finds_every_kept_result(monkeypatch):
    from dataclasses import replace

    from xmlcore.experiment.catalog import MODELS

    made = experiment.task("train", {"dataset": "ab" * 16})
    words = tuple(replace(p, help="Other words.", label="Other") for p in MODELS["PLT"].parameters)
    monkeypatch.setitem(MODELS, "PLT", replace(MODELS["PLT"], parameters=words))
    assert experiment.task("train", {"dataset": "ab" * 16}).key == made.key


# --- values are plain

ALLOWED = {*"numpy pandas pyarrow joblib builtins collections datetime _codecs functools copyreg".split()}


class PlainUnpickler(NumpyUnpickler):
    """Refuses classes of this package, and of anything but arrays and frames."""

    def find_class(self, module, name):
        assert module.split(".")[0] in ALLOWED, f"{module}.{name}"
        return super().find_class(module, name)


def read_plain(path):
    with open(path, "rb") as file:
        try:
            return PlainUnpickler(str(path), file, ensure_native_byte_order=False).load()  # since joblib 1.5
        except TypeError:
            return PlainUnpickler(str(path), file).load()


def test_the_refusing_unpickler_refuses(tmp_path):
    store.save("sums", "ab" * 16, {"x": experiment.Estimate(1.0)})
    with pytest.raises(AssertionError, match="xmlcore"):
        read_plain(store.folder("sums", "ab" * 16) / store.VALUE)
    assert pickle.loads(pickle.dumps(experiment.Estimate(1.0))) == Estimate(1.0)


@pytest.mark.filterwarnings("ignore:.*splits separated nothing")
def test_what_every_kind_keeps_is_plain(some_of_each):
    assert {made.kind for made in some_of_each} == set(KINDS) - {"add"}
    for made in some_of_each:
        value = read_plain(store.folder(made.folder, made.key) / store.VALUE)
        assert isinstance(value, dict), made.kind
        check_plain(value, made.kind)
        assert type(made.load()) is made.result, made.kind
        assert made.title and "the data set" not in made.title
        assert experiment.from_record(made.to_record()).to_record() == made.to_record()
    for folder in (store.cache_root() / "artifacts").iterdir():  # data sets as well
        for value in folder.glob("*/value*.joblib"):
            read_plain(value)


def check_plain(value, where):
    if isinstance(value, dict):
        for name, part in value.items():
            assert isinstance(name, str), where
            check_plain(part, f"{where}.{name}")
    elif isinstance(value, (list, tuple)):
        for part in value:
            check_plain(part, where)
    else:
        plain = (str, int, float, bool, type(None), np.ndarray, np.generic, pd.DataFrame)
        assert isinstance(value, plain), (where, type(value))
