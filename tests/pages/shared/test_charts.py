"""Figures and tables as files."""

import json
import re

import pandas as pd
import plotly.graph_objects as go
import pytest

from pages.shared import charts
from xmlcore import figures


def test_csv_is_complete_and_quotes_what_needs_it():
    frame = pd.DataFrame({"name": ['a,"b"', "c\nd"], "n": [1, 2]})
    assert charts.csv_bytes(frame).decode() == 'name,n\n"a,""b""",1\n"c\nd",2\n'


@pytest.fixture(scope="module")
def page():
    frame = pd.DataFrame({"measure": ["P@k"] * 2, "k": [1, 2], "value": [0.5, 0.25]})
    caption = r"Higher is **better**; `k` of \*all\* <b>rows</b> & more."
    return charts.html_page(figures.measures_at_k(frame), "a <b> – Measures at k", caption, "a-measures").decode()


def own_parts(page):
    """The page without Plotly's own code."""
    scripts = re.findall(r"<script[^>]*>.*?</script>", page, flags=re.S)
    longest = max(scripts, key=len)
    assert len(longest) > 1_000_000
    return page.replace(longest, "")


def test_figure_file_does_not_offer_to_upload_the_chart(page):
    config = json.loads(re.search(r'Plotly\.newPlot\(\s*"figure",.*?(\{"displaylogo".*?\})\s*\)', page, flags=re.S)[1])
    assert config["showSendToCloud"] is False
    assert "sendChartToCloud" in config["modeBarButtonsToRemove"]


def test_figure_file_loads_nothing_from_the_network(page):
    own = own_parts(page)
    assert "http:" not in own and "https:" not in own
    assert not re.search(r"<(link|iframe|img)\b|@import|\bsrc=", own)
    assert "default-src 'none'" in own


def test_figure_file_is_a_whole_page_with_title_and_caption(page):
    own = own_parts(page)
    assert own.startswith('<!doctype html>\n<html lang="en">')
    assert own.count("<html") == own.count("<body") == own.count("<!doctype") == 1
    assert '<meta name="viewport"' in own and "prefers-color-scheme: dark" in own
    assert "<title>a &lt;b&gt; – Measures at k</title>" in own
    caption = re.search("<figcaption>(.*)</figcaption>", own)[1]
    assert caption == "Higher is <strong>better</strong>; <code>k</code> of *all* &lt;b&gt;rows&lt;/b&gt; &amp; more."


def test_figure_file_leaves_the_figure_as_it_was():
    figure = go.Figure(layout={"height": 100})
    charts.html_page(figure, "t", "c")
    assert figure.layout.height == 100
