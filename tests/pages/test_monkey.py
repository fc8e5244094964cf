"""A monkey that walks over the pages, and back, presses, ticks, types and uploads at random meets no exception.

Each walk has a seed, one of many states to begin with, and 100 steps, and is the same each time.
``XMLCORE_MONKEY_STEPS=10000 python -m pytest tests/pages/test_monkey.py`` goes 10,000 steps; the seed of the first
walk is ``XMLCORE_MONKEY_SEED``.
"""

import contextlib
import errno
import os
import random

import pytest
from streamlit.runtime.state.common import TESTING_KEY

from pages.shared import addresses, sections
from tests.pages.conftest import Session
from tests.pages.making import damage, failures, predictions, put_file, select, train, use, word_data
from tests.pages.small import xmlc
from tests.pages.test_states import DATA
from xmlcore import experiment, store

STEPS = int(os.environ.get("XMLCORE_MONKEY_STEPS", 300))
SEED = int(os.environ.get("XMLCORE_MONKEY_SEED", 0))
WALK = 100  # steps with one seed
SLOW = [] if "XMLCORE_MONKEY_STEPS" in os.environ else [pytest.mark.slow]
ADDRESS = ("at", "section")  # what an address says besides the page
PAGES = [name.lower() for name in addresses.ICONS]
TEXTS = ["", " ", "0", "-1", "1 2 3", "topic", "word_1", "*a* `b` $x$", "<b>", "é😀", "1e999", "nan", "[", "\\"]
TEXTS += ["x" * 10_000]
MOST_SECONDS = 3.0  # of a task, as it is estimated: others are refused, as on a full disk
FIELDS = ("checkbox", "toggle", "selectbox", "multiselect", "radio", "number_input", "text_input", "text_area")
FIELDS += ("slider", "select_slider", "button_group")
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
REFUSALS += ("WorkspaceFileError",)


class Monkey:
    """Somebody who uses the dashboard at random; ``did`` has what it has done."""

    def __init__(self, page, seed):
        self.page, self.chance, self.did, self.view = page, random.Random(seed), [], 0
        self.opened, self.name, self.addresses = random.Random(0), None, {}

    def is_open(self, tab):
        """Whether a section is drawn: a few, the same until the monkey looks at others."""
        return tab.open or self.opened.random() < 0.15

    def step(self):
        """Do one thing."""
        fields = [field for kind in FIELDS for field in self.page.at.get(kind) if not field.proto.disabled]
        buttons = [button for button in self.page.at.button if not button.proto.disabled]
        tables = [table for table in self.page.at.dataframe if table.proto.selection_mode and len(table.value)]
        addresses, what = self.addresses.setdefault(self.name, []), self.chance.random()
        addresses.append(
            {name: self.page.at.query_params[name] for name in ADDRESS if name in self.page.at.query_params}
        )
        if what < 0.2:
            self.view = self.chance.random()
        if what < 0.12 or not fields and not buttons:
            self.name = self.chance.choice(PAGES)
            self.did.append(f"go to {self.name}")
            return self.again(lambda: self.page.go(self.name))
        if what < 0.16:
            address = self.chance.choice(addresses)
            self.did.append(f"walk back to {address}")
            return self.again(lambda: self.page.walk(**address))
        if what < 0.22 and tables:
            table = self.chance.choice(tables)
            line = self.chance.randrange(len(table.value))
            self.did.append(f"tick line {line} of the table with {list(table.value.columns)}")
            return self.again(lambda: self.page.tick(table, line))
        uploaders = [field for field in self.page.at.get("file_uploader") if not field.proto.disabled]
        if what < 0.26 and uploaders:
            field = self.chance.choice(uploaders)
            name = self.chance.choice(
                [name for name in FILES if not field.proto.type or name.endswith(tuple(field.proto.type))]
            )
            self.did.append(f"give {name} to {field.key}")
            put_file(self.page, field.key, name, FILES[name]())
            return self.again(self.page.run)
        if what < 0.47 and buttons:
            button = self.chance.choice(buttons)
            self.did.append(f"press {button.label!r} ({button.key})")
            button.click()
        elif fields:
            field = self.chance.choice(fields)
            value = self.value(field)
            self.did.append(f"set {field.label!r} ({field.key}) to {str(value)[:60]!r}")
            self.give(field, value)
        self.again(self.page.run)

    def again(self, draw):
        """Draw a page, with the same sections open as long as the monkey does not look at others."""
        self.opened = random.Random(self.view)
        draw()

    def give(self, field, value):
        """Give a field a value; one of several options is given as it is shown, which AppTest takes for its value."""
        if hasattr(field, "options") and hasattr(field, "format_func"):
            shown = field.root.session_state[TESTING_KEY]
            formatted = shown[field.id]
            shown[field.id] = lambda one: one if one in field.options else formatted(one)
        field.set_value(value)

    def value(self, field):
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


def all_results(page):
    """Results of all models, and a selection."""
    for model in experiment.MODELS:
        train(page, model, word_data())
    select(page, "ChiSquared", word_data(), n_features=2)


def given(page):
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
    """A link for looking only."""
    all_results(page)
    return Session(page.look_only())


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
    "predictions": given,
    "damaged": cut_short,
    "a link for looking only": looking,
} | {name: strange(name) for name in DATA}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [pytest.param(SEED + i, marks=SLOW) for i in range(-(-STEPS // WALK))])
def test_a_walk_at_random_meets_no_exception(ready, server, monkeypatch, seed):
    submit = experiment.submit

    def submit_if_quick(queue, task, **about):
        if task.estimate().seconds > MOST_SECONDS:
            raise OSError(errno.ENOSPC, "No space left on device")
        return submit(queue, task, **about)

    state = [*STATES][seed % len(STATES)]
    monkey = Monkey(STATES[state](ready) or ready, seed)
    monkeypatch.setattr(experiment, "submit", submit_if_quick)
    monkeypatch.setattr(sections, "is_open", monkey.is_open)
    try:
        for _ in range(min(WALK, STEPS)):
            monkey.step()
            for job in server.jobs():
                job.wait(10)  # a sweep of settings that hardly converge may go on behind the next steps
            assert not (errors := failures(server, REFUSALS)), "\n".join(errors)
    except Exception as error:
        raise AssertionError("\n".join([str(error)[:3000], f"begun with: {state}", *monkey.did])) from error
