"""A monkey that walks over the pages, presses, ticks, types, edits, uploads and downloads at random meets no exception.

Each walk has a seed, one of many states to begin with, and 100 steps, and is the same each time.
``XMLCORE_MONKEY_STEPS=10000 python -m pytest tests/pages/test_monkey.py`` goes 10,000 steps; the seed of the first
walk is ``XMLCORE_MONKEY_SEED``. Instead, a walk can do what ``XMLCORE_MONKEY_DEEDS`` lists, as a fault names it.
"""

import contextlib
import errno
import io
import json
import os
import random
import zipfile

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from models.test_damaged_models import harm_json
from streamlit.runtime.state.common import TESTING_KEY

from pages.shared import addresses, sections
from pages.shared.streamlit_fixes import transfers
from tests.pages.conftest import Session
from tests.pages.making import (
    damage,
    failures,
    predictions,
    put_file,
    select,
    train,
    use,
    word_data,
    workspace_row,
)
from tests.pages.predict.test_page import text_data
from tests.pages.small import small_data, xmlc
from tests.pages.test_damaged import another_model, later
from tests.pages.test_states import DATA
from xmlcore import datasets, experiment, store

STEPS = int(os.environ.get("XMLCORE_MONKEY_STEPS", 50))
SEED = int(os.environ.get("XMLCORE_MONKEY_SEED", 0))
DEEDS = json.loads(os.environ.get("XMLCORE_MONKEY_DEEDS", "[]"))
WALK = 100  # steps with one seed
SLOW = [] if "XMLCORE_MONKEY_STEPS" in os.environ else [pytest.mark.slow]
ADDRESS = ("at", "section")  # what an address says besides the page
PAGES = [name.lower() for name in addresses.ICONS]
TEXTS = ["", " ", "0", "-1", "1 2 3", "topic", "word_1", "*a* `b` $x$", "<b>", "é😀", "1e999", "nan", "[", "\\"]
TEXTS += ["x" * 10_000]
NUMBERS = [0, -1.5, 1e300, 1e-300]  # typed into tables
FIELDS = ("checkbox", "toggle", "selectbox", "multiselect", "radio", "number_input", "text_input", "text_area")
FIELDS += ("slider", "select_slider", "button_group", "menu_button")
MULTI_ROW = 1  # in Streamlit's messages
DOWNLOAD_BUTTON = st.download_button
FILES = {
    "rows.txt": lambda: xmlc(word_data()),
    "texts.csv": lambda: b"id,text,labels\n" + b"".join(b"%d,a text of %d,x;y%d\n" % (i, i, i % 3) for i in range(40)),
    "numbers.csv": lambda: b"a,b,label\n" + b"1.5,2,1\n0,3,0\n" * 20,
    "digits.csv": lambda: b"a,label\n" + b"1" * 30_000 + b",1\n",
    "lines.jsonl": lambda: b'{"text": "one two", "labels": ["x"]}\n' * 30,
    "rows.arff": lambda: b"@relation 'r: -C -1'\n@attribute a numeric\n@attribute b {0,1}\n@data\n1,0\n2,1\n" * 2,
    "names.txt": lambda: b"one\ntwo\n",
    "empty.txt": bytes,
    "noise.zip": lambda: b"PK\x03\x04" + bytes(range(256)) * 9,
    "letters.txt": lambda: b"\xff\xfe\x00\xd8 \xe9",
}
# Jobs may refuse what the monkey gives them, with a reason that a user can mend.
REFUSALS = ("ValueError", "OSError", "DownloadError", "DatasetFormatError", "SeveralFilesError", "ModelFormatError")
REFUSALS += ("NoExampleError",)

FORMS = "all"


class Monkey:
    """Somebody who uses the dashboard at random; ``did`` has what it has done: an action, of what, and a value."""

    def __init__(self, page, seed):
        self.page, self.chance, self.did, self.view = page, random.Random(seed), [], 0
        self.opened, self.name, self.addresses, self.files = random.Random(0), None, {}, {}

    def is_open(self, tab):
        """Whether a section is drawn: a few, the same until the monkey looks at others."""
        return tab.open or self.opened.random() < 0.15

    def offer(self, label, data, file_name, key, **about):
        """Note what a download would bring, and draw its button."""
        self.files[key] = file_name, data
        return DOWNLOAD_BUTTON(label, data, file_name, key=key, **about)

    def there(self, *kinds):
        """What can be used of the page, of some kinds."""
        found = [element for kind in kinds for element in self.page.at.get(kind)]
        return [element for element in found if not getattr(element.proto, "disabled", False)]

    def next(self):
        """What to do next: an action, the key of what it is done to, and a value."""
        fields, buttons, tables = self.there(*FIELDS), self.there("button"), self.there("dataframe")
        tables = [table for table in tables if len(table.value)]
        could = {
            "tick": [table for table in tables if table.proto.selection_mode],
            "edit": [table for table in tables if table.editing_mode != "read_only"],
            "click": [chart for chart in self.there("plotly_chart") if points_of(chart)],
            "open": [button for button in self.there("download_button") if name_of(button) in self.files],
            "give": self.there("file_uploader"),
            "press": buttons,
            "set": fields,
        }
        addresses, what = self.addresses.setdefault(self.name, [{}]), self.chance.random()
        query = self.page.at.query_params
        addresses.append({name: query[name] for name in ADDRESS if name in query})
        if what < 0.16 or not any(could.values()):
            return (
                ["go", self.chance.choice(PAGES), None] if what < 0.12 else ["walk", "", self.chance.choice(addresses)]
            )
        often = {"tick": 6, "edit": 6, "click": 2, "open": 6, "give": 4, "press": 21, "set": 43}
        verbs = [verb for verb in often if could[verb]]
        (verb,) = self.chance.choices(verbs, [often[verb] for verb in verbs])
        element = self.chance.choice(could[verb])
        return [verb, name_of(element), getattr(self, f"to_{verb}", lambda element: None)(element)]

    def to_tick(self, table):
        most = len(table.value) if MULTI_ROW in table.proto.selection_mode else 1
        return self.chance.sample(range(len(table.value)), min(self.chance.choice((0, 1, 1, 1, 2, 50)), most))

    def to_edit(self, table):
        """Changes of some cells of numbers and ticks."""
        typed = table.value.select_dtypes(["bool", "number"])
        lines = self.chance.sample(range(len(typed)), min(self.chance.choice((1, 1, 2, 50)), len(typed)))

        def change(kind):
            return self.chance.random() < 0.5 if kind.kind == "b" else self.chance.choice(NUMBERS)

        return {str(i): {name: change(kind) for name, kind in typed.dtypes.items()} for i in lines}

    def to_click(self, chart):
        return self.chance.choice(points_of(chart))

    def to_give(self, field):
        ends = tuple(field.proto.type)
        return self.chance.choice([name for name in FILES if not ends or name.endswith(ends)])

    def to_set(self, field):
        """A value that a user could give a field."""
        if field.type in ("checkbox", "toggle"):
            return not field.value
        if field.type in ("text_input", "text_area"):
            return self.chance.choice(TEXTS)
        if field.type == "number_input":
            few = [field.min, field.max, (field.value or 0) + field.step, (field.value or 0) - field.step]
            fits = [v for v in few if v is not None and abs(v) <= 1000 and (field.min or v) <= v <= (field.max or v)]
            return self.chance.choice(fits or [field.value])
        if field.type == "slider":
            return self.chance.choice([field.min, field.max, field.value])
        options = list(field.options)
        if field.type in ("multiselect", "button_group"):
            return [option for option in options if self.chance.random() < 0.4]
        return self.chance.choice(options) if options else field.value

    def step(self, deed=None):
        """Do one thing, and see the page that follows, with the same sections open until others are looked at."""
        if deed is None:
            if self.chance.random() < 0.2:
                self.view = self.chance.random()
            deed = [*self.next(), self.view]
        self.did.append(deed)
        verb, name, value, view = deed
        self.opened = random.Random(view)
        if verb == "go":
            self.name = name
            return self.page.go(name)
        if verb == "walk":
            return self.page.walk(**value)
        elements = (one for one in self.page.at._tree if verb in USED.get(one.type, ()) and name_of(one) == name)
        element = next(elements, None)
        if element is None:  # in a shorter walk
            return self.page
        if verb == "tick":
            return self.page.tick(element, *value)
        if verb == "edit":
            return self.page.send(element, {"edited_rows": value, "added_rows": [], "deleted_rows": []})
        if verb == "click":
            return self.page.send(element, {"selection": {"points": [{"customdata": value}]}})
        if verb == "open":
            return look_into(*self.files[name])
        if verb == "give":
            put_file(self.page, element.key, value, FILES[value]())
        elif verb == "press":
            element.click()
        else:
            self.give(element, value)
        return self.page.run()

    def give(self, field, value):
        """Give a field a value; one of several options is given as it is shown, which AppTest takes for its value."""
        if field.type == "menu_button":
            field.click_index(field.options.index(value))
            return
        if hasattr(field, "options") and hasattr(field, "format_func"):
            shown = field.root.session_state[TESTING_KEY]
            formatted = shown[field.id]
            shown[field.id] = lambda one: one if one in field.options else formatted(one)
        field.set_value(value)


USED = {"dataframe": ("tick", "edit"), "plotly_chart": ("click",), "download_button": ("open",)}
USED |= {"file_uploader": ("give",), "button": ("press",)} | dict.fromkeys(FIELDS, ("set",))


def name_of(element):
    return element.key or element.proto.id


def points_of(chart):
    """What the points of a figure stand for that can be clicked."""
    drawn = json.loads(chart.proto.spec)["data"] if chart.proto.selection_mode else []
    return [about for trace in drawn for about in trace.get("customdata", []) if isinstance(about, list)]


def look_into(name, make):
    """Make a file as a download does, and open it."""
    content = make()
    assert content, name
    if name.endswith(".csv"):
        pd.read_csv(io.BytesIO(content))
    elif name.endswith((".zip", ".npz")):
        assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
    elif name.endswith(".json"):
        json.loads(content)
    elif name.endswith((".html", ".py", ".tex", ".txt")) and isinstance(content, bytes):
        content.decode()


def all_results(page):
    """Results of all models, and a selection."""
    for model in experiment.MODELS:
        train(page, model, word_data())
    select(page, "ChiSquared", word_data(), n_features=2)


def of_another_program(page):
    """Predictions of another program, beside a result."""
    train(page)
    predictions(page)


def cut_short(page):
    """A result that is damaged, and one without its data set."""
    gone = DATA["one label"]()
    train(page, "PLT", gone)
    store.delete("datasets", gone.fingerprint)
    damage("runs", train(page))


def looking(page):
    """A read-only link."""
    all_results(page)
    return Session(page.look_only())


def wrong_types(page):
    """A workspace of which some facts have become something else."""
    all_results(page)
    row, rng = workspace_row(page), np.random.default_rng(page.seed)
    files = {"row.json": json.dumps(row.read()).encode()}
    for _ in range(rng.integers(1, 6)):
        harm_json(rng, files)
    row.write(json.loads(files["row.json"]))


def twice(page):
    """Three data sets of one name, with the same settings, and predictions named like the model."""
    for data in (word_data(), small_data("words"), small_data("words", 1)):
        train(page, "PLT", data)
        train(page, "PLT", data, random_state=1)
        predictions(page, "PLT", data)
        select(page, "ChiSquared", data, n_features=2)


def very_many(page):
    """Many data sets, one of many labels, and many results."""
    for seed in range(30):
        use(page, small_data(f"small {seed}", seed))
    rng = np.random.default_rng(0)
    Y = rng.random((300, 3000)) < 0.002
    Y[:, 0] = True
    X = rng.random((300, 5000)) * (rng.random((300, 5000)) < 0.01)
    many = datasets.Dataset("many", X[:200], Y[:200], X[200:], Y[200:])
    train(page, "PLT", many, n_estimators=1)
    for i in range(60):
        predictions(page, f"other {i}", many)


def gone(page):
    """Results, and their data sets, that are gone from the disk while a page shows them."""
    all_results(page)
    page.go("train")
    for kind in ("runs", "selections", "datasets"):
        for entry in store.entries(kind):
            store.delete(kind, entry["key"])


def of_later(page):
    """A result of a later version beside those of this one."""
    all_results(page)
    later(page, "runs", train(page, random_state=3), another_model)


def strange(name):
    """A strange data set, and a result on it if the model takes it."""

    def begin(page):
        use(page, DATA[name]())
        with contextlib.suppress(ValueError):
            train(page, "PLT", DATA[name]())

    return begin


STATES = {
    "all results": all_results,
    "nothing": lambda page: None,
    "data": lambda page: use(page, word_data()) and None,
    "predictions": of_another_program,
    "damaged": cut_short,
    "a read-only link": looking,
    "wrong types": wrong_types,
    "an unknown address": lambda page: Session("0" * 32),
    "the same twice": twice,
    "very many": very_many,
    "gone": gone,
    "of a later version": of_later,
    "texts": lambda page: train(page, data=text_data()) and None,
} | {name: strange(name) for name in DATA}


@pytest.mark.usefixtures("first_figures")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [pytest.param(SEED + i, marks=SLOW) for i in range(-(-STEPS // WALK))])
def test_a_walk_at_random_meets_no_exception(ready, server, monkeypatch, seed):
    submit = experiment.submit

    def submit_if_quick(queue, task, **about):
        with contextlib.suppress(store.StoreError):  # what the task reads is gone
            if not task.estimate().is_short:
                raise OSError(errno.ENOSPC, "No space left on device")
        return submit(queue, task, **about)

    state, ready.seed, waited_for = [*STATES][seed % len(STATES)], seed, set()
    monkey = Monkey(STATES[state](ready) or ready, seed)
    monkeypatch.setattr(experiment, "submit", submit_if_quick)
    monkeypatch.setattr(sections, "is_open", monkey.is_open)
    monkeypatch.setattr(st, "download_button", monkey.offer)
    monkeypatch.setattr(transfers, "made", lambda: None)  # the pages that follow would wait for a browser
    try:
        for deed in DEEDS or [None] * min(WALK, STEPS):
            monkey.step(deed)
            for job in server.jobs():
                # Once: trainings of a sweep may go on behind the next steps, as those on 67,000 labels.
                if job.id not in waited_for:
                    waited_for.add(job.id)
                    job.wait(10)
            assert not (errors := failures(server, REFUSALS)), "\n".join(errors)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"[:3000]
        raise AssertionError("\n".join([said, f"begun with: {state}", f"deeds: {json.dumps(monkey.did)}"])) from error
