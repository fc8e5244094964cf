"""How long the dashboard takes to answer an interaction: python -m benchmarks.dashboard FOLDER

A real browser on a real server uploads a data set, trains a PLT on it, and then does the interactions of a list, three
rounds of them. An interaction ends when the page has not changed for half a second and no script runs; its time is that
from the click to the last change. Then a long training runs on all cores, and each page is opened in each round; the
panels that show its progress are not counted as changes. It needs playwright and a Chromium.
"""

import os
import statistics
from pathlib import Path

from benchmarks.library import browser, command, files, machine, processes, tables

RESULT = files.RESULTS / "dashboard.json"
SLOW = "LdSM"  # the model that is trained while pages are opened; its default settings take minutes
# Interactions of each page, after opening it.
INTERACTIONS = {
    "Data": {
        "open Frequency": browser.section("Frequency"),
        "open Train and test": browser.section("Train and test"),
        "open Problems": browser.section("Problems"),
        "open Labels together": browser.section("Labels together"),
        "labels of the strongest pairs": browser.radio(
            "Draw", ["the labels of the strongest pairs", "the most frequent labels"]
        ),
        "more labels drawn": browser.slide("Number of labels", ["ArrowRight", "ArrowRight", "ArrowLeft"]),
        "tick a label set": browser.tick("label_sets", [1, 2, 0]),
        "open All labels": browser.section("All labels"),
        "find labels": browser.fill("Find labels by name or id", ["a", "e", "o"]),
        "tick a label": browser.tick("labels-table", [0, 1, 2]),
        "another order of labels": browser.choose("Order", [1, 2, 0]),
        "open Rows": browser.section("Rows"),
        "random row": browser.press("Random row"),
        "find rows by a name": browser.fill("Find rows by label, feature, name or text", ["e", "a", "i"]),
        "tick a row": browser.tick("rows-table", [2, 3, 4]),
        "open Size": browser.section("Size"),
    },
    "Compare": {},
    "Train": {
        "another model": browser.choose("Model", [1, 0, 2]),
        "the first model": browser.choose("Model", [0, 1, 0]),
        "1 label predicted": browser.radio("Labels predicted", ["1", "3", "1"]),
        "5 labels predicted": browser.radio("Labels predicted", ["5", "5", "5"]),
        "find labels": browser.fill("Find labels by name or id", ["a", "e", ""]),
        "tick a label": browser.tick(0, [1, 2, 3]),
        "open Single predictions": browser.section("Single predictions"),
        "random row": browser.press("Random row"),
        "next confident mistake": browser.press("Next confident mistake"),
        "row by number": browser.fill("Test row, 0 to", ["10", "20", "30"]),
        "open Measures": browser.section("Measures"),
        "open Label by label": browser.section("Label by label"),
    },
    "Explain": {
        "random row": browser.press("Random row"),
        "next confident mistake": browser.press("Next confident mistake"),
        "row by number": browser.fill("Test row, 0 to", ["11", "21", "31"]),
        "another label": browser.choose("Label explained", [1, 2, 1]),
        "open What if": browser.section("What if"),
        "open Path": browser.section("Path"),
        "open Noise": browser.section("Noise"),
        "open Features of a label": browser.section("Features of a label"),
        "open Another label": browser.section("Another label"),
    },
    "Robustness": {"another kind of noise": browser.choose("Noise or attack", [1, 2, 0])},
    "Trees": {
        "find a label": browser.fill("Find labels by name or id", ["a", "e", "o"]),
        "node by number": browser.fill("Node, 0 to", ["3", "5", "0"]),
        "open How well nodes decide": browser.section("How well nodes decide"),
        "open The tree": browser.section("The tree"),
    },
    "Features": {},
    "Sampling": {},
    "Papers": {},
    "Jobs": {},
    "Storage": {},
}


def upload_and_train(page, folder):
    """Upload the data set of a folder, and train a PLT on it."""
    browser.upload(page, folder)
    browser.open_page("Train")(page)
    browser.quiet(page)
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_text("ranks a true label first").first.wait_for()


def measure_busy(page, rounds):
    """Return a record for each page, with the seconds to open it in each round, while a training runs."""
    browser.open_page("Train")(page)
    page.get_by_role("combobox", name="Model to train").first.click()
    page.get_by_role("option", name=SLOW).first.click()
    browser.quiet(page)
    page.get_by_role("button", name="Train", exact=True).click()
    stop = page.get_by_test_id("stButton").get_by_role("button", name="Stop", exact=True)
    stop.first.wait_for()
    page.wait_for_timeout(5000)  # until its worker has read the data set
    page.evaluate("window.ignoreJobs = true")
    found = {}
    for at in range(rounds):
        this = {name: browser.timed(page, browser.open_page(name)) for name in INTERACTIONS}
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
    with browser.dashboard() as page:
        upload_and_train(page, folder)
        return browser.measure(page, INTERACTIONS, rounds), measure_busy(page, rounds)


def busy_text(records):
    """Return the lines on opening pages while a training runs; none if that was not measured."""
    if not records:
        return []
    every = [value for one in records for value in one["seconds"]]
    return [
        "## While a training runs",
        f"Pages opened while {SLOW} is trained on all cores: median {statistics.median(every):.2f} s, at most "
        f"{max(every):.2f} s.",
        browser.table(records),
    ]


def markdown(results):
    """Return the results as Markdown."""
    return tables.document(
        "# Interactions with the dashboard",
        *browser.summary(results["runs"], f"On {results['data']}, with a trained PLT", results["rounds"]),
        *busy_text(results.get("busy")),
        tables.measured_text(results),
    )


def main():
    parser = command.parser("dashboard", __doc__)
    parser.add_argument("folder", type=Path, help="folder with train.txt.gz, test.txt.gz and labels.txt")
    parser.add_argument("--rounds", type=int, default=3)
    command.add_files(parser, RESULT)
    options = parser.parse_args()
    results = files.read_json(options.out)
    if not options.table:
        results = machine.header("dashboard", os.cpu_count()) | {"data": options.folder.name, "rounds": options.rounds}
        results["runs"], results["busy"] = run(options.folder, options.rounds)
        command.keep(results, options)
    command.show(markdown(results), options)


if __name__ == "__main__":
    main()
