"""Take the pictures of pages in images/: ``python -m docs.make_pictures``, from the top of the repository.

A dashboard of its own trains and measures what the pages show, on the data that come with the program, in some minutes.
Chromium is that of the environment variable CHROMIUM, or the first one found; images/page-*.png are replaced.
"""

import os
import shutil
import tempfile
from pathlib import Path

from benchmarks.library.dashboard_server import Server

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 1440, "height": 900}
MODELS = ("LdSM", "OneVsRest", "DoubleSampling", "PLT")  # the last one is shown
LONGEST = 900_000  # milliseconds for what one button starts
MADE = {"robustness": ("Measure",), "sampling": ("times", "Measure"), "features": ("Select features by FALS",)}
PAGES = ("data", "train", "compare", "predict", "explain", "robustness", "trees", "features", "sampling", "papers")
PAGES += ("jobs", "storage")  # last, when there is something to see


def rest(page):
    """Wait until nothing runs, and all is drawn."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=LONGEST)
    page.wait_for_timeout(3000)


def train(page, address, model):
    page.goto(address("train"))
    rest(page)
    page.get_by_role("combobox", name="Model").last.click()
    page.get_by_role("option", name=model).first.click()
    rest(page)
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_text(f"{model} ranks a true label first").wait_for(timeout=LONGEST)


def main():
    """Take a picture of every page with something to see."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("no Chromium was found: name one in the environment variable CHROMIUM")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(folder).start()
        try:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport=SIZE)
            page.set_default_timeout(LONGEST)
            page.goto(f"http://localhost:{server.port}/train")
            page.get_by_role("button", name="Train", exact=True).wait_for()
            rest(page)
            token = page.url.partition("?")[2].partition("&")[0]

            def address(name):
                return f"http://localhost:{server.port}/{'' if name == 'data' else name}?{token}"

            for model in MODELS:
                train(page, address, model)
            for name in PAGES:
                page.goto(address(name))
                rest(page)
                for button in MADE.get(name, ()):  # what they compute is shown
                    page.get_by_role("button", name=button).first.click()
                    page.wait_for_timeout(5000)
                    page.get_by_role("button", name="Stop", exact=True).first.wait_for(state="detached")
                    page.goto(address(name))
                    rest(page)
                page.screenshot(path=IMAGES / f"page-{name}.png")
                print(f"images/page-{name}.png")
            browser.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main()
