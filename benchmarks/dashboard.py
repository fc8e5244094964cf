"""How long the dashboard takes to answer an interaction: python -m benchmarks.dashboard FOLDER

A real browser on a real server uploads a data set, trains a PLT on it, and then does the interactions of a list, three
rounds of them. An interaction ends when the page has not changed for half a second and no script runs; its time is that
from the click to the last change. Then a long training runs on all cores, and each page is opened in each round; the
panels that show its progress are not counted as changes. It needs playwright and a Chromium.
"""

import argparse
import itertools
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from benchmarks.library import files, machine, processes, tables

RESULT = files.RESULTS / "dashboard.json"
QUIET_MS = 500
RECORDER = """() => {
  window.lastChange = performance.now();
  const ofJobs = (change) => {
    const at = change.target instanceof Element ? change.target : change.target.parentElement;
    return change.attributeName === "data-test-script-state"
      || at?.closest('[class*="st-key-job-"], [data-testid=stStatusWidget], [data-testid=stHeader]');
  };
  new MutationObserver((changes) => {
    if (!window.ignoreJobs || !changes.every(ofJobs)) window.lastChange = performance.now();
  }).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
}"""
SLOW = "LdSM"  # the model that is trained while pages are opened; its default settings take minutes
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
    """Return an interaction that chooses another option of a select box in each round."""

    rounds = itertools.cycle(options)

    def act(page):
        field = page.get_by_role("combobox", name=label).first
        field.evaluate("field => field.scrollIntoView({block: 'center'})")
        page.wait_for_timeout(300)  # a list that is open closes when the page is scrolled
        start = page.evaluate("window.lastChange = performance.now()")
        field.click()
        option = page.get_by_role("option").nth(next(rounds))
        try:
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


# Interactions of each page, after opening it.
INTERACTIONS = {
    "Data": {
        "open Frequency": section("Frequency"),
        "open Train and test": section("Train and test"),
        "open Problems": section("Problems"),
        "open Labels together": section("Labels together"),
        "labels of the strongest pairs": radio(
            "Draw", ["the labels of the strongest pairs", "the most frequent labels"]
        ),
        "more labels drawn": slide("Number of labels", ["ArrowRight", "ArrowRight", "ArrowLeft"]),
        "tick a label set": tick("label_sets", [1, 2, 0]),
        "open All labels": section("All labels"),
        "find labels": fill("Find labels by name or id", ["a", "e", "o"]),
        "tick a label": tick("labels-table", [0, 1, 2]),
        "another order of labels": choose("Order", [1, 2, 0]),
        "open Rows": section("Rows"),
        "random row": press("Random row"),
        "find rows by a name": fill("Find rows by label, feature or row name", ["e", "a", "i"]),
        "tick a row": tick("rows-table", [2, 3, 4]),
        "open Size": section("Size"),
    },
    "Compare": {},
    "Train": {
        "another model": choose("Model", [1, 0, 2]),
        "the first model": choose("Model", [0, 1, 0]),
        "1 label predicted": radio("Labels predicted for a row", ["1", "3", "1"]),
        "5 labels predicted": radio("Labels predicted for a row", ["5", "5", "5"]),
        "find labels": fill("Find labels by name or id", ["a", "e", ""]),
        "tick a label": tick(0, [1, 2, 3]),
        "open Single predictions": section("Single predictions"),
        "random row": press("Random row"),
        "next worst mistake": press("Next worst mistake"),
        "row by number": fill("Test row, 0 to", ["10", "20", "30"]),
        "open More": section("More about this result"),
        "open Label by label": section("Label by label"),
    },
    "Explain": {
        "random row": press("Random row"),
        "next worst mistake": press("Next worst mistake"),
        "row by number": fill("Test row, 0 to", ["11", "21", "31"]),
        "another label": choose("Label explained", [1, 2, 1]),
        "open What if": section("What if"),
        "open Path": section("Path"),
        "open Noise": section("Noise"),
        "open Features of a label": section("Features of a label"),
        "open Another label": section("Another label"),
    },
    "Robustness": {"another kind of noise": choose("Noise or attack", [1, 2, 0])},
    "Trees": {
        "find a label": fill("Find labels by name or id", ["a", "e", "o"]),
        "node by number": fill("Node, 0 to", ["3", "5", "0"]),
        "open Path of a test row": section("Path of a test row"),
        "random row": press("Random row"),
        "open The tree": section("The tree"),
    },
    "Features": {"another method": choose("Method", [1, 2, 0]), "the first method": choose("Method", [0, 1, 1])},
    "Sampling": {},
    "Jobs": {},
    "Storage": {},
}


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


def upload_and_train(page, folder):
    """Upload the data set of a folder, and train a PLT on it."""
    page.get_by_text("Labels per row").first.wait_for()
    page.get_by_test_id("stExpander").get_by_text("Upload your own data").click()
    for label, name in (("Training file", "train.txt.gz"), ("Test file", "test.txt.gz"), ("Label names", "labels.txt")):
        if (folder / name).is_file():
            widget = page.get_by_test_id("stFileUploader").filter(has_text=label, visible=True)
            widget.locator("input[type=file]").set_input_files(folder / name)
            widget.get_by_text(name).first.wait_for()
            quiet(page)
    page.locator("button:enabled", has_text="Read the files").click()
    page.get_by_text("is read and in use").first.wait_for()
    page.get_by_text("Compiling kernels").wait_for(state="detached", timeout=240_000)
    open_page("Train")(page)
    quiet(page)
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_text("ranks a true label first").first.wait_for()


def measure(page, rounds):
    """Return a record for each interaction, with its seconds in each round."""
    found = {}
    for at in range(rounds):
        for name, interactions in INTERACTIONS.items():
            found.setdefault((name, "open"), []).append(timed(page, open_page(name)))
            for what, act in interactions.items():
                found.setdefault((name, what), []).append(timed(page, act))
        processes.say(f"round {at + 1} of {rounds}")
    return [{"page": name, "what": what, "seconds": seconds} for (name, what), seconds in found.items()]


def measure_busy(page, rounds):
    """Return a record for each page, with the seconds to open it in each round, while a training runs."""
    open_page("Train")(page)
    page.get_by_role("combobox", name="Model").first.click()
    page.get_by_role("option", name=SLOW).first.click()
    quiet(page)
    page.get_by_role("button", name="Train", exact=True).click()
    stop = page.get_by_test_id("stButton").get_by_role("button", name="Stop", exact=True)
    stop.first.wait_for()
    page.wait_for_timeout(5000)  # until its worker has read the data set
    page.evaluate("window.ignoreJobs = true")
    found = {}
    for at in range(rounds):
        this = {name: timed(page, open_page(name)) for name in INTERACTIONS}
        if not stop.count():
            if not found:
                raise SystemExit(f"the training of {SLOW} ended in the first round: take a larger data set")
            processes.say(f"the training of {SLOW} ended in round {at + 1}, which does not count")
            break
        for name, seconds in this.items():
            found.setdefault(name, []).append(seconds)
        processes.say(f"round {at + 1} of {rounds} while a training runs")
    if stop.count():
        stop.first.click()
    return [{"page": name, "what": "open", "seconds": seconds} for name, seconds in found.items()]


def run(folder, rounds):
    """Start a server and a browser, and measure: records of an idle machine, and of one with a training."""
    from playwright.sync_api import sync_playwright

    with socket.socket() as probe, tempfile.TemporaryDirectory(prefix="xmlcore-dashboard-") as cache:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        server = subprocess.Popen(
            [*command, "--server.headless", "true"],
            cwd=machine.ROOT,
            env={**os.environ, "XMLCORE_CACHE": cache},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(f"http://localhost:{port}/_stcore/health")
            with sync_playwright() as playwright:
                path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
                browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                page.set_default_timeout(60_000)
                page.goto(f"http://localhost:{port}/")
                page.evaluate(RECORDER)
                upload_and_train(page, folder)
                return measure(page, rounds), measure_busy(page, rounds)
        finally:
            server.terminate()
            server.wait()


def wait_for(url, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"the dashboard did not start within {seconds} s")


def percentile_95(values):
    """Return the 95th percentile: the smallest value that at most 5 % of the values exceed."""
    values = sorted(values)
    return values[max(0, -(-95 * len(values) // 100) - 1)]


def lines_of(records):
    """Return a line of a table for each record: its page, what was done, the median and the most seconds."""
    return [
        [one["page"], one["what"], f"{statistics.median(one['seconds']):.2f}", f"{max(one['seconds']):.2f}"]
        for one in records
    ]


def busy_text(records):
    """Return the lines on opening pages while a training runs; none if that was not measured."""
    if not records:
        return []
    every = [value for one in records for value in one["seconds"]]
    return [
        "## While a training runs",
        "",
        f"Pages opened while {SLOW} is trained on all cores: median {statistics.median(every):.2f} s, at most "
        f"{max(every):.2f} s.",
        "",
        tables.table(["page", "interaction", "median, s", "most, s"], lines_of(records), left=2),
        "",
    ]


def markdown(results):
    """Return the results as Markdown."""
    lines = lines_of(results["runs"])
    every = [value for one in results["runs"] for value in one["seconds"]]
    slow = [f"{one['page']}: {one['what']}" for one in results["runs"] if max(one["seconds"]) > 1]
    return "\n".join(
        [
            "# Interactions with the dashboard",
            "",
            f"On {results['data']}, with a trained PLT: {len(lines)} interactions, {results['rounds']} rounds. From "
            f"the click to the last change of the page: median {statistics.median(every):.2f} s, 95 % within "
            f"{percentile_95(every):.2f} s, at most {max(every):.2f} s.",
            "",
            f"Longer than one second in a round: {', '.join(slow) or 'none'}.",
            "",
            tables.table(["page", "interaction", "median, s", "most, s"], lines, left=2),
            "",
            *busy_text(results.get("busy")),
            tables.measured_text(results),
            "",
        ]
    )


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.dashboard", description=__doc__.split("\n\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )  # fmt: skip
    parser.add_argument("folder", type=Path, help="folder with train.txt.gz, test.txt.gz and labels.txt")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULT, help="file of results; the table is written beside it")
    parser.add_argument("--table", action="store_true", help="write the table again, without measuring")
    options = parser.parse_args()
    results = files.read_json(options.out)
    if not options.table:
        results = machine.header("dashboard", os.cpu_count()) | {"data": options.folder.name, "rounds": options.rounds}
        results["runs"], results["busy"] = run(options.folder, options.rounds)
        results["xmlcore_code_end"] = machine.code_now()
        files.write(options.out, files.as_json(results))
    files.write(options.out.with_suffix(".md"), markdown(results))
    print(markdown(results))


if __name__ == "__main__":
    main()
