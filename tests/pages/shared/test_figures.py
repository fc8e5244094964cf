"""Figures and tables as files, which say where they come from."""

import base64
import gzip
import html
import json
import re

import pandas as pd
import plotly.graph_objects as go
import plotly.offline
import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.figures import charts, figure_files
from pages.shared.workspaces import workspace
from tests.pages import making
from tests.pages.small import small_data
from xmlcore import figures

ORIGIN = {"Data set": "κ </script><b>", "Results": "PLT (C: 3)", "Parameters": '[{"C": 3.0}]'}
ORIGIN |= {"Software": "xmlcore 0.1", "Creation Time": "2026-11-21"}


@pytest.fixture(scope="module")
def page():
    frame = pd.DataFrame({"measure": ["P@k"] * 2, "k": [1, 2], "value": [0.5, 0.25]})
    caption = r"Higher is **better**; `k` of \*all\* <b>rows</b> & more."
    figure = figures.measures_at_k(frame)
    config = charts._config("a-measures")
    return figure_files.html_page(figure, caption, "a-measures", config, ORIGIN).decode()


def test_how_much_a_figure_shows_is_said_once():
    def script(title):
        import pandas as pd

        from pages.shared.figures import charts
        from xmlcore import figures

        figure = figures.measures_at_k(pd.DataFrame({"measure": ["P@k"], "k": [1], "value": [0.5]}))
        figure.update_layout(title_text=title, meta={"shown": 3, "total": 9})
        charts.show_figure(figure, pd.DataFrame(), "a", "It has bars.", counted="labels")

    shown = ["Showing 3 of 9 labels."]
    for title, said in {
        "Labels": shown,
        "Tree: 3 of 9 labels": [],
        "Depth 2, 3 of 9 labels, by size": [],
        "Tree: 13 of 9 labels": shown,
        "Tree: 1,003 of 9 labels": shown,
        "3 of 9 labelsets": shown,
    }.items():
        captions = [one.value for one in AppTest.from_function(script, args=(title,)).run().caption]
        assert [text for text in captions if text.startswith("Showing")] == said


def part(page, what):
    """The content of a script of the page by its id."""
    return re.search(rf'<script type="[a-z/]+" id="{what}">(.*?)</script>', page, flags=re.S)[1]


def own_parts(page):
    """The page without Plotly's own code."""
    return page.replace(part(page, "library"), "")


def test_a_figure_file_works_offline_and_names_its_origin(page):
    library = gzip.decompress(base64.b64decode(part(page, "library"))).decode()
    assert library == plotly.offline.get_plotlyjs() and len(page) < 0.5 * len(library)
    config = json.loads(part(page, "drawing"))["config"]
    assert config["showSendToCloud"] is False
    assert {"sendChartToCloud", "toImage"} <= set(config["modeBarButtonsToRemove"])
    own = own_parts(page)
    assert "http:" not in own and "https:" not in own
    assert not re.search(r"<(link|iframe|img)\b|@import|\bsrc=", own)
    assert "default-src 'none'" in own and "font/woff2;base64,d09GM" in own, "the font of pages is in the file"
    assert own.startswith('<!doctype html>\n<html lang="en">')
    assert own.count("<html") == own.count("<body") == own.count("<!doctype") == 1
    assert '<meta name="viewport"' in own and "prefers-color-scheme: dark" in own
    assert "<title>κ &lt;/script&gt;&lt;b&gt; – Measures at k" in own
    caption = re.search("<figcaption><p>(.*?)</p>", own)[1]
    assert caption == "Higher is <strong>better</strong>; <code>k</code> of *all* &lt;b&gt;rows&lt;/b&gt; &amp; more."
    figure = go.Figure(layout={"height": 100})
    figure_files.html_page(figure, "c", "n", {}, ORIGIN)
    assert figure.layout.height == 100
    assert charts._config("a-measures")["toImageButtonOptions"] == {"format": "svg", "filename": "a-measures"}
    frame = pd.DataFrame({"name": ['a,"b"', "c\nd"], "n": [1, 2]})
    assert charts.csv_bytes(frame).decode() == 'name,n\n"a,""b""",1\n"c\nd",2\n'
    drawing = json.loads(part(page, "drawing"))
    assert drawing["origin"] == ORIGIN and "<" not in part(page, "drawing")
    said = "Data set: κ </script><b>; results: PLT (C: 3). xmlcore 0.1, 2026-11-21."
    assert drawing["originText"] == said and f'<p id="origin">{html.escape(said)}</p>' in page
    for name, value in ORIGIN.items():
        assert f'<meta name="{name}" content="{html.escape(value)}">' in page
    assert drawing["caption"] == "Higher is better; k of *all* <b>rows</b> & more."


def origin(session, name, keys=()):
    """The origin of a figure of a session's page."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(figure_files.st, "session_state", session.at.session_state)
        return figure_files.origin(name, keys)


def test_the_origin_of_a_figure_is_the_result_its_file_names(ready):
    run, selection = making.train(ready, C=3.0), making.select(ready, "ChiSquared", n_features=4)
    found = origin(ready.run(), f"words-PLT-{run[:6]}-measures")
    assert found["Data set"] == "words" and found["Results"] == "PLT (C, weight of the loss: 3)"
    (told,) = json.loads(found["Parameters"])
    assert (told["of"], told["params"]["C"], told["key"]) == ("PLT", 3.0, run)
    assert re.fullmatch(r"xmlcore [\d.]+", found["Software"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["Creation Time"])
    # Files are made when they are asked for, outside the script: there is no workspace then but that of the figure.
    snapshot = ready.at.session_state[workspace.SNAPSHOT]
    assert figure_files.origin(f"words-PLT-{run[:6]}-measures", (), snapshot) == found
    assert origin(ready, f"words-chi-{selection[:6]}-heat")["Results"].startswith("ChiSquared")
    assert set(origin(ready, "words-labels-per-row")) == {"Data set", "Software", "Creation Time"}


def test_a_figure_of_several_results_names_each_of_them(ready):
    keys = [making.train(ready, C=3.0), making.train(ready)]
    found = origin(ready.run(), "words-frontier", keys)
    assert origin(ready, f"words-robustness-{keys[0][:6]}-{keys[1][:6]}-curves") == found
    assert found["Results"] == "PLT (C, weight of the loss: 3); PLT (default settings)"
    assert [result["key"] for result in json.loads(found["Parameters"])] == keys
    assert f"; results: {found['Results']}. " in figure_files.in_words(found)
    keys[1] = making.train(ready, data=small_data("others"))
    ready.run()
    for of, name in (((), "others"), (keys[:1], "words"), (keys, "words; others")):  # of none: the one in use
        assert origin(ready, "figure", of)["Data set"] == name


@pytest.mark.sections()
def test_a_figure_is_opened_to_be_saved_as_an_image(ready, monkeypatch):
    shown = []
    monkeypatch.setattr(charts.st, "iframe", lambda page, height: shown.append((page, height)))
    ready.click("Figure, SVG or PNG")
    assert len(shown) == 1 and shown[0][0].startswith("<!doctype html>") and shown[0][1] > figure_files.HEIGHT
