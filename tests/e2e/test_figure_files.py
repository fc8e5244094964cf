"""Figures that were downloaded, opened from the disk by a browser without a network."""

import pandas as pd
import pytest
from browsing import WAIT

from pages.shared.figures import figure_files
from xmlcore import figures

pytestmark = [pytest.mark.browser, pytest.mark.slow]
# How many pixels of the layer with the lines are not empty: parallel coordinates are drawn by WebGL.
DRAWN = """() => Promise.all([...document.querySelectorAll(".parcoords .gl-canvas-context, .gl-canvas-context")]
  .map(async canvas => {
    await new Promise(requestAnimationFrame);
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const pen = copy.getContext("2d");
    pen.drawImage(canvas, 0, 0);
    return pen.getImageData(0, 0, copy.width, copy.height).data.filter((v, i) => i % 4 === 3 && v).length;
  }))"""


def opened(browser, path):
    """Return the text of a page on the disk, and how many pixels its parallel coordinates have."""
    context = browser.new_context(offline=True)
    try:
        page = context.new_page()
        page.goto(path.as_uri())
        page.locator(".js-plotly-plot").last.wait_for(timeout=WAIT)
        page.locator(".parcoords .axis, .no-webgl").first.wait_for(timeout=WAIT)
        return page.locator("body").inner_text(), sum(page.evaluate(DRAWN))
    finally:
        context.close()


def test_a_downloaded_figure_of_settings_has_its_lines(browser, tmp_path):
    frame = pd.DataFrame({"C": [0.1, 1.0, 10.0], "trees": [1, 3, 5], "P@1": [60.0, 64.0, 62.0]})
    figure = figures.parameters_compared(frame, {"C": "C", "trees": "Trees"}, "P@1")
    origin = figure_files.origin("settings", known={})
    path = tmp_path / "figure.html"
    path.write_bytes(figure_files.html_page(figure, "Each line is a setting.", "settings", {}, origin))
    said, pixels = opened(browser, path)
    assert "WebGL is not supported" not in said and pixels > 100
