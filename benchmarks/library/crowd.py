"""Visitors of a dashboard that work at once, each in a workspace of its own, and what they have seen.

Each visitor uploads data sets whose labels and features have names of its own. So whatever a visitor's tab receives
says whose it is, be it a sentence, a table or a figure.
"""

import asyncio
import contextlib
import random
import re
import time
from dataclasses import dataclass, field

import numpy as np
from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.library.visitor import Tab, TabError

OWN = re.compile(rb"berry(\d{3})x")  # a visitor's number, in all names of its data
PAGES = ("", "train", "compare", "predict", "explain", "robustness", "trees", "features", "sampling", "jobs", "storage")
BUTTONS = ("Random row", "Next confident mistake")  # quick interactions, where the page has them
OFFERED = re.compile(r"\(about [^)]*s\)$")  # the end of a button that starts something of some seconds
# What a visitor does next, and how often.
ACTIONS = {"switch": 70, "press": 12, "section": 6, "train": 4, "offer": 2, "stop": 2, "reload": 3, "upload": 1}


@dataclass
class Seen:
    """What all visitors together have seen."""

    switches: list = field(default_factory=list)  # seconds of each change of the page
    presses: list = field(default_factory=list)  # seconds of each other interaction
    loads: list = field(default_factory=list)  # seconds of each opening of a tab
    trained: int = 0
    uploaded: int = 0
    problems: list = field(default_factory=list)  # what did not happen, or failed on a page
    strangers: list = field(default_factory=list)  # names of another visitor in a message: (visitor, names)
    messages: int = 0
    received: int = 0  # bytes
    peak_bytes: int = 0  # of memory, of the server and its processes


def names(visitor, what, count):
    """Return the content of a file of names."""
    return "".join(f"berry{visitor:03d}x {what} {j}\n" for j in range(count)).encode()


def matrix(n_rows, n_labels, seed):
    """Return the content of a file in XMLC format in which label j goes with the features 2j and 2j + 1."""
    rng = np.random.default_rng(seed)
    lines = [f"{n_rows} {2 * n_labels} {n_labels}"]
    for _ in range(n_rows):
        labels = np.sort(rng.choice(n_labels, rng.integers(1, 4), replace=False))
        features = np.sort(np.concatenate([2 * labels, 2 * labels + 1, rng.choice(2 * n_labels, 3)]))
        features = np.unique(features)
        values = rng.uniform(0.5, 1.5, features.size)
        lines.append(",".join(map(str, labels)) + "".join(f" {w}:{x:.3f}" for w, x in zip(features, values)))
    return ("\n".join(lines) + "\n").encode()


class Visitor:
    """A user with one tab: arrives, uploads, trains, and then does what users do.

    Parameters
    ----------
    number : int
        Distinguishes the visitor from all others.
    host, port
        Of the dashboard.
    seen : Seen
        Where what happens is noted.
    seed : int
    """

    def __init__(self, number, host, port, seen, seed):
        self.number, self.host, self.port, self.seen = number, host, port, seen
        self.random = random.Random(f"{seed} {number}")
        self.rounds = 0
        self.tab = None
        self.where = ""

    def watch(self, data):
        """Look for the names of others in a message."""
        self.seen.messages += 1
        self.seen.received += len(data)
        others = {int(found) for found in OWN.findall(data)} - {self.number}
        if others:
            self.seen.strangers.append((self.number, sorted(others)))

    async def arrive(self, workspace=None, page=""):
        """Open a tab."""
        start = time.perf_counter()
        self.tab = Tab(self.host, self.port, self.watch)
        await self.tab.open(page, workspace)
        self.where = page
        self.seen.loads.append(time.perf_counter() - start)

    async def upload(self):
        """Upload a data set with names, and wait until it is in use."""
        if self.where != "":
            await self.go("")
        self.rounds += 1
        n_labels = 12
        name = f"berry{self.number:03d}x{self.rounds}.txt"
        content = matrix(300 + 10 * self.number + self.rounds, n_labels, self.number)
        await self.tab.upload("Training file", name, content)
        await self.tab.upload("Label names", "labels.txt", names(self.number, "label", n_labels))
        await self.tab.upload("Feature names", "features.txt", names(self.number, "word", 2 * n_labels))
        await self.tab.press("Read the files")
        in_use = (
            rf"\*\*berry{self.number:03d}x{self.rounds}\*\*\s+[\d,]+ training"  # in the sidebar: a worker has read it
        )
        await self.tab.until(lambda: self.tab.says(in_use), "the upload", 300)
        self.seen.uploaded += 1

    async def train(self, wait):
        """Start a training with another seed."""
        if self.where != "train":
            await self.go("train")
        if wait:  # the button is disabled while a training with these settings goes on
            await self.tab.until(self._train_button, "the button of a training")
        seed, states = self.tab.find("number_input", "Seed"), []
        if seed is not None:
            states = [WidgetState(id=seed.id, double_value=self.random.randrange(10**6))]
        button = self._train_button()
        if button is None:
            return
        await self.tab.run(states=[*states, WidgetState(id=button.id, trigger_value=True)])
        if wait:
            await self.tab.until(lambda: self.tab.says("ranks a true label first"), "the training", 300)
        self.seen.trained += 1

    def _train_button(self):
        """Return the button that trains, or that shows what was trained with these settings; None while disabled."""
        return self.tab.find("button", "Train") or self.tab.find("button", "Show the result")

    async def go(self, page):
        """Change the page."""
        took = await self.tab.run(page)
        self.where = page
        return took

    async def act(self):
        """Do one thing."""
        what = self.random.choices(list(ACTIONS), list(ACTIONS.values()))[0]
        await getattr(self, f"do_{what}")()

    async def do_switch(self):
        self.seen.switches.append(await self.go(self.random.choice([one for one in PAGES if one != self.where])))

    async def do_press(self):
        for label in self.random.sample(BUTTONS, len(BUTTONS)):
            if self.tab.find("button", label) is not None:
                self.seen.presses.append(await self.tab.press(label))
                break

    async def do_train(self):
        await self.train(wait=False)

    async def do_offer(self):
        offered = [one for one in self.tab.all("button") if OFFERED.search(one.label)]
        if offered:
            button = self.random.choice(offered)
            await self.tab.run(states=[WidgetState(id=button.id, trigger_value=True)])

    async def do_stop(self):
        if self.tab.find("button", "Stop") is not None:
            await self.tab.press("Stop")

    async def do_reload(self):
        workspace, page = self.tab.workspace, self.where
        await self.tab.close()
        await self.arrive(workspace, page)

    async def do_upload(self):
        await self.upload()

    async def do_section(self):
        """Open another section of the page, if it has some."""
        found = self.tab.sections()
        if found is None:
            return
        widget, titles, fragment = found
        state = WidgetState(id=widget, string_value=self.random.choice(titles))
        self.seen.presses.append(await self.tab.run(states=[state], fragment=fragment))

    async def work(self, until, pause):
        """Do one thing after the other until the time ``until``, by time.monotonic, with pauses between them."""
        while time.monotonic() < until:
            await asyncio.sleep(min(5 * pause, self.random.expovariate(1 / pause)))
            if time.monotonic() >= until:
                return
            await self.guarded(self.act())
            self.note_exceptions()

    def note_exceptions(self):
        """Note what has failed on the page."""
        while self.tab is not None and self.tab.exceptions:
            self.seen.problems.append(f"visitor {self.number} on {self.where!r}: {self.tab.exceptions.pop()[:300]}")

    async def guarded(self, action):
        """Do something; what does not happen is noted, and the tab is opened anew."""
        try:
            return await action
        except (TabError, OSError, EOFError, TimeoutError) as error:
            self.seen.problems.append(f"visitor {self.number} on {self.where!r}: {error}"[:300])
            workspace = self.tab.workspace if self.tab is not None else None
            with contextlib.suppress(TabError, OSError, EOFError, TimeoutError):
                if self.tab is not None:
                    await self.tab.close()
                await self.arrive(workspace)
        return None


class Lag:
    """How late this program's own event loop is: what it measures of others is that much too long."""

    def __init__(self):
        self.times = []

    async def run(self):
        while True:
            start = time.perf_counter()
            await asyncio.sleep(0.05)
            self.times.append(time.perf_counter() - start - 0.05)
