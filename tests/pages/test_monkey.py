"""A monkey that walks over the pages, and back, presses, ticks and types at random meets no exception.

Each walk has a seed and 100 steps, and is the same each time. ``XMLCORE_MONKEY_STEPS=10000 python -m pytest
tests/pages/test_monkey.py`` goes 10,000 steps.
"""

import errno
import os
import random

import pytest
from streamlit.runtime.state.common import TESTING_KEY

from pages.shared import addresses, sections
from tests.pages.making import failures, select, train, word_data
from xmlcore import experiment

STEPS = int(os.environ.get("XMLCORE_MONKEY_STEPS", 300))
WALK = 100  # steps with one seed
SLOW = [] if "XMLCORE_MONKEY_STEPS" in os.environ else [pytest.mark.slow]
ADDRESS = ("at", "section")  # what an address says besides the page
PAGES = [name.lower() for name in addresses.ICONS]
TEXTS = ["", " ", "0", "-1", "1 2 3", "topic", "word_1", "*a* `b` $x$", "<b>", "é😀", "1e999", "nan", "[", "\\"]
TEXTS += ["x" * 10_000]
MOST_SECONDS = 3.0  # of a task, as it is estimated: others are refused, as on a full disk
FIELDS = ("checkbox", "toggle", "selectbox", "multiselect", "radio", "number_input", "text_input", "text_area")
FIELDS += ("slider", "select_slider", "button_group")


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
        if what < 0.45 and buttons:
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


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=SLOW) for seed in range(-(-STEPS // WALK))])
def test_a_walk_at_random_meets_no_exception(ready, server, monkeypatch, seed):
    data, submit = word_data(), experiment.submit

    def submit_if_quick(queue, task, **about):
        if task.estimate().seconds > MOST_SECONDS:
            raise OSError(errno.ENOSPC, "No space left on device")
        return submit(queue, task, **about)

    for model in experiment.MODELS:
        train(ready, model, data)
    select(ready, "ChiSquared", data, n_features=2)
    monkey = Monkey(ready, seed)
    monkeypatch.setattr(experiment, "submit", submit_if_quick)
    monkeypatch.setattr(sections, "is_open", monkey.is_open)
    try:
        for _ in range(WALK):
            monkey.step()
            for job in server.jobs():
                job.wait(10)  # a sweep of settings that hardly converge may go on behind the next steps
            assert not (errors := failures(server, ("ValueError", "OSError", "DownloadError"))), "\n".join(errors)
    except Exception as error:
        raise AssertionError("\n".join([str(error)[:3000], *monkey.did])) from error
