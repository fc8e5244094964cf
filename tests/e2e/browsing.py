"""A page of the dashboard in a real browser, and files to upload."""

import re
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from pages.shared import addresses
from xmlcore.datasets import Dataset

WAIT = 120_000  # ms, for what a worker does; a failing test waits so long, a passing one does not
PAGES = tuple(addresses.ICONS)  # in the order of the navigation


def playwright_error():
    """Return the exception of playwright for what did not happen in time, or was there twice."""
    from playwright.sync_api import Error

    return Error


def new_context(browser, **options):
    options = {"viewport": {"width": 1280, "height": 1000}, "accept_downloads": True} | options
    return browser.new_context(reduced_motion="reduce", **options)


class Tab:
    """A page of the dashboard in a browser context, by default its own, and what went wrong in it."""

    def __init__(self, browser, url, context=None, **options):
        self.context, self._shared = context or new_context(browser, **options), context is not None
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT)
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._console)
        self.page.on("request", self._request)
        self.page.goto(url)

    def _console(self, message):
        # Streamlit looks for its server below the page's own path first, /train/_stcore, and finds it above.
        if message.type == "error" and "/_stcore/" not in message.location.get("url", ""):
            self.errors.append(f"{message.text} ({message.location.get('url')})")

    def _request(self, request):
        if not re.match(r"(http|ws)://localhost[:/]|data:|blob:", request.url):
            self.errors.append(f"asked the network for {request.url}")

    def text(self, what):
        """Wait until the page says so."""
        try:
            self.page.get_by_text(what).first.wait_for()
        except Exception as error:
            said = self.page.get_by_test_id("stApp").inner_text()
            raise AssertionError(f"{what!r} did not appear; errors: {self.errors}; the page says:\n{said}") from error

    def until(self, act, what, tries=4, wait=15_000):
        """Act until the page says so: Streamlit drops a change that arrives while the end of a job reruns the page."""
        for _ in range(tries - 1):
            act()
            try:
                self.page.get_by_text(what).first.wait_for(timeout=wait)
                return
            except playwright_error():
                self.idle()
        act()
        self.text(what)

    def idle(self):
        """Wait until the page has been drawn to its end, and the browser has the scripts that draw its elements."""
        self.page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        self.page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')")

    def link(self, name):
        """The link to a page in the sidebar."""
        return self.page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True)

    def go(self, name):
        """Open a page; return how many clicks on its link that took."""
        clicks, link = 1, self.link(name)
        heading = self.page.get_by_role("heading", name=name, exact=True)
        self.idle()
        link.click()
        try:  # on a busy machine, Streamlit may draw the page before once more instead: then as a user would
            heading.wait_for(timeout=30_000)
        except playwright_error():
            link.click()
            heading.wait_for()
            clicks += 1
        self.idle()
        return clicks

    def section(self, name):
        """Open a section of the page, and wait until it is drawn."""
        self.page.get_by_role("tab", name=name, exact=True).click()
        self.page.locator(f"[role=tab][aria-selected=true]:has-text('{name}')").wait_for()
        self.page.wait_for_timeout(300)  # until the server is asked for it
        self.idle()

    def choose(self, label, name, content):
        """Put a file into an upload widget."""
        widget = self.page.get_by_test_id("stFileUploader").filter(has_text=label, visible=True)  # of the open form
        file = {"name": name, "mimeType": "text/plain", "buffer": content}
        end = time.monotonic() + WAIT / 1000
        taken = False
        while not taken:
            self.idle()  # Streamlit forgets a file that comes while the widget is drawn anew
            try:  # a widget that is drawn anew stands beside its old self for a moment: then as a user would, once more
                widget.locator("input[type=file]").set_input_files(file, timeout=5_000)
                widget.get_by_text(name).first.wait_for(timeout=10_000)
                taken = True
            except playwright_error():
                assert time.monotonic() < end, f"{label!r} did not take {name!r}; errors: {self.errors}"
                self.page.wait_for_timeout(200)
        self.idle()

    def read(self):
        """Have the chosen files read: press the button, and once more if that has missed it.

        The page makes room for what it says of a file, and on a busy machine the button may move just then.
        """
        reacts = """() => document.querySelector("[data-testid=stAlert]")
          || ![...document.querySelectorAll("button:enabled")].some(one => one.innerText.includes("Read the files"))"""
        for _ in range(3):
            self.page.locator("button:enabled", has_text="Read the files").click()
            try:
                self.page.wait_for_function(reacts, timeout=15_000)
                return
            except playwright_error():
                self.idle()

    def train(self):
        self.go("Train")
        # The same data and settings may be trained by another test on this server.
        self.page.get_by_role("button", name=re.compile("^(Train|Show the result)$")).click()
        self.text("ranks a true label first")

    def setting(self, name):
        """The field of a setting of the model to train, in the box that is closed at first."""
        field = self.page.get_by_role("spinbutton", name=name, exact=True)
        opens = self.page.get_by_test_id("stPopover").get_by_role("button", name="Settings", exact=True)
        opens.wait_for()
        self.idle()
        if not field.is_visible():
            opens.click()
            field.wait_for()
        return field

    def measures(self):
        """The measures on cards: {"P@1": 77.9, ...} in percent."""
        cards = self.page.get_by_test_id("stMetric").filter(has_text="@")
        cards.nth(3).wait_for()
        texts = cards.all_inner_texts()
        return {name: float(value) for text in texts for name, value in re.findall(r"(\S.*@\d)[^%]*?([\d.]+)\s%", text)}

    def download(self, label, of=0):
        """Download a file of the page's ``of``-th figure, or of the page."""
        if not self.page.get_by_role("button", name=label).count():  # those of a figure are behind its button
            self.page.get_by_role("button", name="Save", exact=True).nth(of).click()
        with self.page.expect_download() as caught:
            self.page.get_by_role("button", name=label).first.click()
        return caught.value.suggested_filename, Path(caught.value.path()).read_bytes()

    def click_node(self, node):
        """Click a node in the drawing of a tree."""
        self.idle()
        chart = self.page.locator(".js-plotly-plot").first
        chart.evaluate("chart => chart.scrollIntoView({block: 'center'})")
        self.page.wait_for_timeout(500)  # until it has stopped
        places = chart.evaluate(
            """chart => {
              const {xaxis, yaxis} = chart._fullLayout, box = chart.getBoundingClientRect();
              return chart._fullData.flatMap(trace => (trace.customdata || []).map((data, i) => [data[0],
                box.x + xaxis._offset + xaxis.d2p(trace.x[i]), box.y + yaxis._offset + yaxis.d2p(trace.y[i])]));
            }"""
        )
        x, y = next(place for one, *place in places if one == node)
        near = [one for one, *place in places if one != node and np.hypot(place[0] - x, place[1] - y) < 15]
        assert not near, f"nodes {near} are drawn over node {node}"
        self.page.mouse.move(x - 2, y)
        self.page.mouse.click(x, y)

    def close(self):
        if self._shared:
            kept, *others = self.context.pages
            for page in others:
                page.close()
            self.context.clear_cookies()
            kept.evaluate("localStorage.clear()")
        else:
            self.context.close()
        assert not self.errors, self.errors


def easy_file(n_rows=300, n_labels=12, seed=0):
    """Label j goes with the words 2j and 2j + 1: nearly all of it can be learned."""
    rng = np.random.default_rng(seed)
    lines = [f"{n_rows} {2 * n_labels} {n_labels}"]
    for _ in range(n_rows):
        labels = np.sort(rng.choice(n_labels, rng.integers(1, 4), replace=False))
        words = np.sort(np.concatenate([2 * labels, 2 * labels + 1]))
        lines.append(",".join(map(str, labels)) + "".join(f" {w}:{rng.uniform(0.5, 1.5):.3f}" for w in words))
    return ("\n".join(lines) + "\n").encode()


def easy_data(name, n_rows=300, n_labels=12, seed=0, named=False):
    """Return a data set like that of :func:`easy_file`, a fifth of it test rows."""
    rng = np.random.default_rng(seed)
    n_train, count = n_rows - n_rows // 5, rng.integers(1, 4, n_rows)
    labels = np.argsort(rng.random((n_rows, n_labels)), axis=1)[:, :3]
    row, place = np.nonzero(np.arange(3) < count[:, None])
    Y = sp.csr_array((np.ones(row.size, bool), (row, labels[row, place])), shape=(n_rows, n_labels))
    X = sp.csr_array(sp.kron(Y, np.ones((1, 2)), format="csr"))
    X.data = rng.uniform(0.5, 1.5, X.nnz)
    given = {"label_names": [f"fruit {j}" for j in range(n_labels)]} if named else {}
    given |= {"feature_names": [f"word {j}" for j in range(2 * n_labels)]} if named else {}
    return Dataset(name, X[:n_train], Y[:n_train], X[n_train:], Y[n_train:], **given)


def names(word, n):
    return "".join(f"{word} {j}\n" for j in range(n)).encode()
