"""A small data set of words, results on it in a workspace, and figures of a page, for tests of several pages."""

import base64
import contextlib
import json
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from pages.compare.table import CHOSEN
from xmlcore import datasets, experiment, store
from xmlcore.experiment.engine.task import SHORT
from xmlcore.state import database


def word_data():
    """120 training and 30 test rows of 8 labels; label j goes with the words 3j to 3j + 2. Each part has its labels."""
    rng = np.random.default_rng(4)
    Y = rng.random((150, 8)) < np.linspace(0.5, 0.08, 8)
    Y[:, 0] |= ~Y.any(axis=1)
    X = np.repeat(Y, 3, axis=1) * rng.uniform(0.2, 1.0, (150, 24)) * (rng.random((150, 24)) < 0.7)
    names = [f"topic *{j}*" for j in range(8)], [f"word_{j}" for j in range(24)]
    return datasets.Dataset("words", X[:120], Y[:120], X[120:], Y[120:], label_names=names[0], feature_names=names[1])


def said_plainly(text):
    """What a page writes, without Markdown's backslashes and with plain spaces before units."""
    return text.replace("\\", "").replace("\u00a0", " ")


def plainly(page):
    """What a page says, without the stars of bold text."""
    return page.text().replace("*", "")


class Row:
    """The row of a workspace in the database."""

    def __init__(self, token):
        from pages.shared.workspaces import stored

        self.key = stored.row(token)

    def read(self):
        return database().get("workspaces", self.key)

    def write(self, fields):
        database().put("workspaces", self.key, fields)

    def remove(self):
        database().remove("workspaces", self.key)


def workspace_row(session) -> Row:
    return Row(session.token)


def written(session):
    """The fields of a session's workspace in the database."""
    return workspace_row(session).read()


@contextlib.contextmanager
def fields_of(session):
    """The fields of a session's workspace, to be changed."""
    row = workspace_row(session)
    fields = row.read()
    yield fields
    row.write(fields)


def trained(session):
    """The page of a session after it has trained PLT on the Train page."""
    return session.go("train").press("train.PLT.submit").until(lambda s: "Training" in s.metrics())


def use(session, data):
    """Let a workspace use a data set, as after an upload; return its fingerprint."""
    fingerprint = datasets.save_dataset(data)
    with fields_of(session) as fields:
        fields["known"][fingerprint] = {"name": data.name, "source": "upload", "notes": []}
        fields |= {"dataset": fingerprint, "used": time.time(), "wanted": None}
    return fingerprint


def use_listed(page, name):
    """Choose a data set of the workspace by its name, in the sidebar."""
    known = page.at.session_state["workspace.snapshot"]["known"]
    return page.set("sidebar.dataset", next(key for key, entry in known.items() if entry["name"] == name))


def add(session, kind, record, data):
    """Let a workspace list a result, and use its data set."""
    use(session, data)
    with fields_of(session) as fields:
        created = f"2026-01-0{len(fields[kind]) + 1}T00:00:00+00:00"
        fields[kind].append({**record, "created": created})
    return record["key"]


_KEPT = tempfile.TemporaryDirectory()  # results of tests, which later ones need not compute


def keep(task):
    """Have the result of a task in the store, from an earlier test if there is one that had it."""
    kept, place = Path(_KEPT.name) / task.folder / task.key, store.folder(task.folder, task.key)
    if kept.exists() and not place.exists():
        shutil.copytree(kept, place)
    experiment.keep(task)
    if not kept.exists():
        shutil.copytree(place, kept)


def train(session, model="PLT", data=None, **params):
    """Put a data set and a run into the workspace, as other pages would; return the run's key."""
    data = data or word_data()
    task = experiment.task(
        "train", {"dataset": datasets.save_dataset(data)}, {"model": model, "params": params, "k": 5}
    )
    keep(task)
    return add(session, "runs", {"key": task.key, "fingerprint": task.fingerprint, **task.params}, data)


def predictions(session, name="other", data=None):
    """Put the predictions of another program into the workspace, as the Compare page would; return the result's key."""
    data = data or word_data()
    key = experiment.add_predictions(data, [[0]] * data.n_test, name)
    return add(
        session, "runs", {"key": key, "fingerprint": data.fingerprint, **store.info("runs", key)["params"]}, data
    )


def show(session, key, data):
    """Let a workspace show a run, as after its training."""
    with fields_of(session) as fields:
        fields["shown"][data.fingerprint] = key


def select(session, method="FALS", data=None, **params):
    """Put a data set and a selection into the workspace, as the Features page would; return its key."""
    data = data or word_data()
    task = experiment.task("select", {"dataset": datasets.save_dataset(data)}, {"method": method, "params": params})
    keep(task)
    return add(session, "selections", {"key": task.key, "fingerprint": task.fingerprint, **task.params}, data)


def failures(server, refusals):
    """What failed and why, apart from errors of these names, which have a reason that a user can mend."""
    failed = [job for job in server.jobs() if job.state == "failed"]
    return [f"{job.title}: {job.error}" for job in failed if not job.error.startswith(refusals)]


def figure(page, start):
    """The first figure whose title begins so."""
    for chart in page.at.get("plotly_chart"):
        spec = json.loads(chart.proto.spec)
        if spec["layout"]["title"]["text"].startswith(start):
            return spec
    return None


def titles(page):
    """Titles of all figures."""
    return [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in page.at.get("plotly_chart")]


def numbers(values):
    """Numbers of a figure, which Plotly may have packed."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"])).tolist()
    return values


def estimate(monkeypatch, kind, seconds):
    """Have all tasks of a kind be expected to take so many seconds; with less than 20 they are short."""
    known = experiment.Estimate(seconds, values=SHORT * seconds / 20)
    monkeypatch.setattr(experiment.KINDS[kind], "estimate", lambda task: known)


def damage(folder, key):
    """Cut a kept result short."""
    from pages.shared import cached

    path = store.folder(folder, key) / store.VALUE
    path.write_bytes(path.read_bytes()[:-20])
    cached.forget()


def put_file(session, key, name, content):
    """Put a file into a field, as a user does."""
    session.at.file_uploader(key=key).set_value((name, content, "text/plain"))


def ticked(page, keys):
    """Tick these results alone, as the table of the Compare page does."""
    with fields_of(page) as fields:
        fields["widgets"][CHOSEN] = keys
    page.at.session_state["workspace.view"]["widgets"][CHOSEN] = keys
    return page.run()
