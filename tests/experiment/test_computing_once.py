"""The same result is computed once by all processes that share a cache folder, and again if it was damaged."""

import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from making import kept, of_file, stop, train

from xmlcore import experiment, store
from xmlcore.datasets import Dataset, TextVectorizer, save_dataset
from xmlcore.experiment.engine.task import PHASE, computing
from xmlcore.experiment.kinds import train as inputs
from xmlcore.progress import Cancelled, silent
from xmlcore.state import database, holders

ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys, time
from xmlcore.experiment.engine.task import computing
with computing(sys.argv[1], print):
    print("begun", flush=True)
    time.sleep(100)
"""


@pytest.fixture
def holder():
    """Another process whose turn it is for the key "a"."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, "a"], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"begun\n"
    yield process
    process.kill()
    process.communicate()


def test_a_result_that_several_ask_for_at_once_is_computed_once(monkeypatch):
    data = Dataset("small", [[1.0, 0.0], [0.0, 2.0]], [[0], [1]], [[3.0, 0.0]], [[0]])
    task = experiment.task("description", {"dataset": save_dataset(data)})
    compute, runs, waits, go = type(task).run, [], [], threading.Event()

    def run(*args, **options):
        runs.append(threading.get_ident())
        assert go.wait(60)
        return compute(*args, **options)

    def progress(phase, fraction, detail=""):
        if phase == PHASE:
            waits.append(threading.get_ident())
            if len(set(waits)) == 2:
                go.set()

    monkeypatch.setattr(type(task), "run", run)
    threads = [threading.Thread(target=experiment.keep, args=(task, progress)) for _ in range(3)]
    for thread in threads:  # each locks by itself, as a process does
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(runs) == 1 and task.exists() and database().rows("holders") == []


def test_a_turn_ends_with_its_process_and_other_keys_do_not_wait(holder):
    with computing("b", silent) as waited:
        assert not waited

    def kill(phase, fraction, detail=""):
        assert phase == PHASE
        holder.kill()

    with computing("a", kill) as waited:
        assert waited


def test_a_turn_ends_when_its_process_was_killed(holder):
    with computing("b", silent):
        assert holders.remove_dead(database()) == 0
    holder.kill()
    holder.wait(10)
    assert holders.remove_dead(database(), 1000) == 0 and holders.remove_dead(database()) == 1
    assert database().rows("holders") == []


def test_who_waits_can_be_stopped(holder):
    with pytest.raises(Cancelled), computing("a", stop):
        pass
    assert holder.poll() is None


def cut_model(key):
    """Cut the model of a run short."""
    arrays = store.folder("runs", key) / "model" / "arrays.npz"
    arrays.write_bytes(arrays.read_bytes()[:100])


def change_value(folder, key):
    """Change the last byte of a result."""
    file = store.folder(folder, key) / store.VALUE
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def test_a_run_with_a_damaged_model_stays_until_made_again(data):
    key = experiment.keep(train(save_dataset(data), "PLT"))
    before = experiment.load_run_model(key).predict_topk(data.X_test, 5)
    cut_model(key)
    with pytest.raises(store.DamagedArtifactError, match="make the run again"):
        experiment.load_run_model(key)
    assert store.exists("runs", key)
    phases = []
    with pytest.warns(experiment.DamagedResultWarning, match="was damaged"):
        run, model = inputs.kept_run_and_model(key, lambda phase, fraction, detail="": phases.append(phase))
    np.testing.assert_array_equal(model.predict_topk(data.X_test, 5).scores, before.scores)
    assert run.model == "PLT" and "Saving" in phases


@pytest.mark.parametrize("damage", [cut_model, lambda key: change_value("runs", key)], ids=["model", "run"])
@pytest.mark.parametrize(
    "kind, params",
    [("explanations", {"n_rows": 5}), ("robustness", {"kind": "gaussian", "levels": [0.1], "n_repeats": 1})],
)
def test_a_task_makes_a_damaged_run_again_and_measures_it(data, kind, params, damage):
    key = experiment.keep(train(save_dataset(data), "PLT"))
    made = experiment.task(kind, {"run": key}, params)
    damage(key)
    with pytest.warns(experiment.DamagedResultWarning):
        experiment.keep(made)
    assert made.load().run_key == key
    experiment.load("train", key)
    experiment.load_run_model(key)


@pytest.mark.parametrize("is_known", [False, True], ids=["unread", "read before"])
def test_a_damaged_selection_is_made_again(data, is_known):
    key = experiment.keep(experiment.task("select", {"dataset": save_dataset(data)}, {"method": "ChiSquared"}))
    before = experiment.load("select", key).selected
    change_value("selections", key)
    if is_known:
        with pytest.raises(store.DamagedArtifactError):
            experiment.load("select", key)
    with pytest.warns(experiment.DamagedResultWarning):
        np.testing.assert_array_equal(inputs.kept_selection(key).selected, before)


def test_a_run_that_is_not_kept_cannot_be_made_again():
    with pytest.raises(store.MissingArtifactError):
        inputs.kept_run("ab" * 16)


NOT_IN_KEYS = {"again", "factor"}  # where rows of the same file are taken from; what another method of sweeps uses


def brought(data, who):
    """A data set in which everything but what models learn from is of somebody."""
    words = TextVectorizer(min_df=1, stop_words=[who]).fit([" ".join(f"word{j}" for j in range(data.n_features))])
    names = {f"row_names_{part}": [who] * count for part, count in (("train", data.n_train), ("test", data.n_test))}
    texts = {name.replace("row_names", "texts"): each for name, each in names.items()}
    return replace(data, name=who, notes=(who,), vectorizer=words, **names, **texts)


def contents(artifact):
    """All bytes of a kept artifact, as they were before they were packed."""
    for path in filter(Path.is_file, store.folder(*artifact).rglob("*")):
        packed = zipfile.ZipFile(path) if zipfile.is_zipfile(path) else None
        yield from map(packed.read, packed.namelist()) if packed else [path.read_bytes()]


def test_no_kind_shows_what_another_one_has_brought(easy, classes, every_kind):
    own = {}
    for who in ("ann7", "bob7"):
        tasks = every_kind(brought(easy, who), brought(classes, who), who)
        for task in tasks:
            left_out = task.params.keys() - task.params_in_key().keys()
            assert {name for name in left_out if task.params[name] is not None} <= NOT_IN_KEYS
        data = {getattr(task.load(), "dataset", task.inputs.get("dataset")) for task in tasks} - {None}
        shown = {(task.folder, task.key) for task in tasks} | {("datasets", key) for key in data}
        own[who] = b"".join(part for name in sorted(shown) for part in contents(name))
    assert b"ann7" in own["ann7"] and b"ann7" not in own["bob7"] and b"bob7" not in own["ann7"]


def test_a_packed_model_has_the_vectoriser_that_was_asked_for():
    content = b"text,labels\n" + b"a bird,a\nthe cat,b\n" * 20
    for lower, known in ((False, 0), (True, 1)):
        task = of_file("read_texts", {}, content, "train", vectorizer={"lowercase": lower})
        run = kept("train", {"dataset": task.load().dataset}, params={"n_estimators": 1})
        assert experiment.pack_run(run.key).vectorizer.transform(["BIRD"]).nnz == known
