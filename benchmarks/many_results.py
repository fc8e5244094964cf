"""How long the Compare page takes to answer with 1,000 results: python -m benchmarks.many_results FOLDER

A real browser on a real server uploads a data set. 1,000 results on it are then written into the store and into the
browser's workspace: rankings are partly right and partly random, nothing is trained. The user comes back, looks at the
Data page for three seconds, and opens Compare. Each interaction of a list is done in three rounds, and its time is that
from the click to the last change of the page. It needs playwright and a Chromium.
"""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlparse

from benchmarks.library import browser, command, files, machine, tables
from benchmarks.library.browser import choose, fill, press, radio, section, tick, timed

RESULT = files.RESULTS / "many_results.json"
READS = 3000  # for which the Data page is looked at before Compare is opened for the first time, in milliseconds


def toggle(name):
    """Return an interaction that changes a switch."""
    return lambda page: page.get_by_text(name, exact=True).first.click()


def sort_by(column):
    """Return an interaction that clicks a heading of the table of results: the one of this number, from 0."""

    def act(page):
        table = page.locator("[data-testid=stDataFrame]:visible").first
        table.scroll_into_view_if_needed()
        table.click(position={"x": 60 + 130 * column, "y": 17})

    return act


def untick(page):
    """Untick all results."""
    page.get_by_role("button", name="Untick all", exact=True).click()


INTERACTIONS = {
    "Data": {},
    "Compare": {
        "best by another measure": choose("Best by", [3, 1, 0]),
        "one model": choose("Model", [1, 2, 3]),
        "all models": choose("Model", [0, 0, 0]),
        "each result on a line": choose("One line for", [1, 1, 1]),
        "all parameters": toggle("All parameters"),
        "only those that differ": toggle("All parameters"),
        "sort by a column": sort_by(1),
        "best settings of each model": choose("One line for", [2, 2, 2]),
        "seeds together": choose("One line for", [0, 0, 0]),
        "find results": fill("Find", ["C", "LdSM", "noise"]),
        "find none less": fill("Find", [""]),
        "tick a line": tick(0, [1, 2, 3]),
        "tick another line": tick(0, [4, 5, 6]),
        "open Is the difference real?": section("Is the difference real?"),
        "another first of the pair": choose("First", [1, 0, 1]),
        "the first one again": choose("First", [0, 1, 0]),
        "1 label predicted": radio("Labels predicted for a row, in the tables below", ["1", "3", "1"]),
        "5 labels predicted": radio("Labels predicted for a row, in the tables below", ["5", "5", "5"]),
        "find labels": fill("Find labels by name or id", ["a", "e", "o"]),
        "tick a row": tick("compare-rows", [1, 2, 3]),
        "open Head, torso and tail": section("Head, torso and tail"),
        "precision of buckets": radio("Measure of the labels", ["Precision", "Precision", "Precision"]),
        "recall of buckets": radio("Measure of the labels", ["Recall", "Recall", "Recall"]),
        "open Which settings matter": section("Which settings matter"),
        "open Side by side": section("Side by side"),
        "untick all": untick,
        "make the report": press("Report, HTML"),
    },
}


def list_results(cache, token, count):
    """Write ``count`` results on the data set that a workspace uses into the store and into the workspace."""
    command = [sys.executable, "-m", "benchmarks.library.many_runs", token, str(count)]
    subprocess.run(command, cwd=machine.ROOT, env={**os.environ, "XMLCORE_CACHE": cache}, check=True)


def run(folder, count, rounds):
    """Start a server and a browser, and return a record for each interaction."""
    with browser.dashboard() as (page, cache):
        browser.upload(page, folder)
        (token,) = parse_qs(urlparse(page.url).query)["workspace"]
        list_results(cache, token, count)
        page.reload()  # as a user who comes back, and looks at the Data page for a while
        page.evaluate(browser.RECORDER)
        page.get_by_text("Labels per row").first.wait_for()
        browser.quiet(page)
        page.wait_for_timeout(READS)
        first = timed(page, browser.open_page("Compare"))
        found = browser.measure(page, INTERACTIONS, rounds)
        return [{"page": "Compare", "what": "open for the first time", "seconds": [first]}, *found]


def markdown(results):
    """Return the results as Markdown."""
    return "\n".join(
        [
            "# The Compare page with many results",
            "",
            *browser.summary(
                results["runs"], f"With {results['count']:,} results on {results['data']}", results["rounds"]
            ),
            tables.measured_text(results),
            "",
        ]
    )


def main():
    parser = command.parser("many_results", __doc__)
    parser.add_argument("folder", type=Path, help="folder with train.txt.gz, test.txt.gz and labels.txt")
    parser.add_argument("--results", type=int, default=1000, help="number of results")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULT, help="file of results; the table is written beside it")
    options = parser.parse_args()
    results = machine.header("many_results", os.cpu_count())
    results |= {"data": options.folder.name, "rounds": options.rounds, "count": options.results}
    results["runs"] = run(options.folder, options.results, options.rounds)
    command.keep(results, options)
    command.show(markdown(results), options)


if __name__ == "__main__":
    main()
