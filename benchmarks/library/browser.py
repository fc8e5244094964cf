"""A browser on a server of the dashboard: interactions, when a page is quiet, and tables of how long they took."""

import contextlib
import itertools
import os
import shutil
import statistics

from benchmarks.library import dashboard_server, processes, tables
from benchmarks.library.tables import percentile
from xmlcore.models.compiling import COMPILING

QUIET_MS = 500
RECORDER = """() => {
  window.lastChange = performance.now();
  const ofJobs = (change) => {
    const at = change.target instanceof Element ? change.target : change.target.parentElement;
    return change.attributeName === "data-test-script-state"
      || at?.closest('[class*="st-key-job-"], [data-testid=stStatusWidget], [data-testid=stHeader]');
  };
  // A table is drawn on a canvas. What it writes into it for screen readers, 0.3 s later, changes nothing in sight.
  const inCanvas = (change) => {
    const at = change.target instanceof Element ? change.target : change.target.parentElement;
    return at?.closest("canvas") && (at.tagName !== "CANVAS" || change.type !== "attributes");
  };
  new MutationObserver((changes) => {
    const seen = changes.filter((change) => !inCanvas(change));
    if (seen.length && !(window.ignoreJobs && seen.every(ofJobs))) window.lastChange = performance.now();
  }).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
}"""
IDLE = """quiet => document.querySelector("[data-testid=stApp][data-test-script-state=notRunning]") !== null
  && performance.now() - window.lastChange > quiet"""


def playwright_timeout():
    """Return the exception of playwright for what did not happen in time."""
    from playwright.sync_api import TimeoutError

    return TimeoutError


def press(name):
    """Return an interaction that presses a button."""
    return lambda page: page.get_by_role("button", name=name, exact=True).first.click()


def fill(label, values):
    """Return an interaction that types another value into a field in each round."""

    rounds = itertools.cycle(values)

    def act(page):
        field = page.locator(f'input[aria-label^="{label}"]').first
        field.fill(next(rounds))
        field.press("Enter")

    return act


def choose(label, options):
    """Return an interaction that chooses another option of a select box in each round; its time is from that click."""

    rounds = itertools.cycle(options)

    def act(page):
        field = page.get_by_role("combobox", name=label).first
        field.evaluate("field => field.scrollIntoView({block: 'center'})")
        page.wait_for_timeout(300)  # a list that is open closes when the page is scrolled
        field.click()
        option = page.get_by_role("option").nth(next(rounds))
        try:
            option.hover(timeout=5_000)  # when the list is open and at rest
            start = page.evaluate("window.lastChange = performance.now()")
            option.click(timeout=5_000)
        except playwright_timeout() as error:
            offered = page.get_by_role("option").all_inner_texts()
            raise SystemExit(f"{label!r} has no such option; it offers {offered}") from error
        return start

    return act


def tick(table, lines):
    """Return an interaction that ticks another line of a table in each round.

    ``table``: the number of the table on the page, or how its key begins, with hyphens in place of dots.
    """
    if isinstance(table, str):
        tables_of, number = f'[class*="st-key-{table}"] [data-testid=stDataFrame]:visible', 0
    else:
        tables_of, number = "[data-testid=stDataFrame]:visible", table  # folded ones do not count

    rounds = itertools.cycle(lines)

    def act(page):
        found = page.locator(tables_of).nth(number)
        found.scroll_into_view_if_needed()
        found.click(position={"x": 16, "y": 35 * (next(rounds) + 1) + 17})

    return act


def slide(label, keys):
    """Return an interaction that moves a slider by another key in each round."""
    rounds = itertools.cycle(keys)
    return lambda page: page.get_by_role("slider", name=label).first.press(next(rounds))


def radio(group, options):
    """Return an interaction that chooses another option of a radio in each round."""
    rounds = itertools.cycle(options)

    def act(page):
        page.get_by_role("radiogroup", name=group).get_by_text(next(rounds), exact=True).click()

    return act


def section(name):
    """Return an interaction that opens a section of a page."""
    return lambda page: page.get_by_role("tab", name=name, exact=True).click()


def quiet(page, most=60_000):
    """Wait until the page is quiet, and return the moment of its last change, in ms of the page's own clock."""
    page.wait_for_function(IDLE, arg=QUIET_MS, timeout=most)
    return page.evaluate("window.lastChange")


def timed(page, act):
    """Return the seconds from an interaction to the page's last change."""
    quiet(page)
    start = page.evaluate("window.lastChange = performance.now()")
    start = act(page) or start  # an interaction may begin with scrolling, which is not counted
    page.wait_for_timeout(50)  # until the click has reached the page
    return (quiet(page) - start) / 1000


def open_page(name):
    """Return an interaction that opens a page."""

    def act(page):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
        page.get_by_role("heading", name=name, exact=True).wait_for()

    return act


def upload(page, folder):
    """Upload the data set of a folder and use it."""
    page.get_by_text("Labels per row").first.wait_for()
    page.get_by_test_id("stExpander").get_by_text("Add a data set").click()
    for label, name in (("Training file", "train.txt.gz"), ("Test file", "test.txt.gz"), ("Label names", "labels.txt")):
        if (folder / name).is_file():
            widget = page.get_by_test_id("stFileUploader").filter(has_text=label, visible=True)
            widget.locator("input[type=file]").set_input_files(folder / name)
            widget.get_by_text(name).first.wait_for()
            quiet(page)
    page.locator("button:enabled", has_text="Read the files").click()
    page.get_by_text("is read and in use").first.wait_for()
    page.get_by_text(f"{COMPILING}: ").wait_for(state="detached", timeout=240_000)


def measure(page, listed, rounds):
    """Return a record for each interaction with its seconds in each round.

    ``listed``: for each page that is opened its interactions, by what they do.
    """
    found = {}
    for at in range(rounds):
        for name, interactions in listed.items():
            found.setdefault((name, "open"), []).append(timed(page, open_page(name)))
            for what, act in interactions.items():
                found.setdefault((name, what), []).append(timed(page, act))
        processes.say(f"round {at + 1} of {rounds}")
    return [{"page": name, "what": what, "seconds": seconds} for (name, what), seconds in found.items()]


@contextlib.contextmanager
def dashboard():
    """Start a server with an empty cache and a browser on it; give the page."""
    from playwright.sync_api import sync_playwright

    with dashboard_server.folder() as folder, sync_playwright() as playwright:
        server = dashboard_server.Server(folder)
        try:
            server.start()
            path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(60_000)
            page.goto(f"http://localhost:{server.port}/")
            page.evaluate(RECORDER)
            yield page
        finally:
            server.stop()


def table(records):
    """Return a table with a line for each record: its page, what was done, the median and the most seconds."""
    lines = [
        [one["page"], one["what"], f"{statistics.median(one['seconds']):.2f}", f"{max(one['seconds']):.2f}"]
        for one in records
    ]
    return tables.table(["page", "interaction", "median, s", "most, s"], lines, left=2)


def summary(records, where, rounds):
    """Return the lines on measured interactions: the times of all, those above a second, and a table."""
    every = [value for one in records for value in one["seconds"]]
    slow = [f"{one['page']}: {one['what']}" for one in records if max(one["seconds"]) > 1]
    return [
        f"{where}: {len(records)} interactions, {rounds} rounds. From the click to the last change of the page: median "
        f"{statistics.median(every):.2f} s, 95 % within {percentile(every, 0.95):.2f} s, at most {max(every):.2f} s.",
        f"Longer than one second in a round: {', '.join(slow) or 'none'}.",
        table(records),
    ]
