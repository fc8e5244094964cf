"""Figures with a caption and their downloads; tables as CSV files."""

import html
import inspect
import json
import re

import pandas as pd
import streamlit as st
from streamlit.proto.DownloadButton_pb2 import DownloadButton

from pages.shared import downloads, workspace

# Older versions of Streamlit need the bytes at once; newer ones call a function when the button is pressed.
_DEFERS = "deferred_file_id" in DownloadButton.DESCRIPTOR.fields_by_name
# Newer versions of Streamlit take a text for screen readers.
_TAKES_ALT = "alt" in inspect.signature(st.plotly_chart).parameters

FILE_HEIGHT = 520  # smallest height of a figure in a downloaded HTML page, in pixels

# A downloaded figure is a page by itself. Its policy lets it load nothing from anywhere; the colours are those of
# .streamlit/config.toml.
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
<style>
:root {{ --page: #ffffff; --ink: #1b2329; --quiet: #5b6770; }}
@media (prefers-color-scheme: dark) {{ :root {{ --page: #14181c; --ink: #e6eaed; --quiet: #a9b4bd; }} }}
body {{ margin: 0; padding: 1rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 "Source Sans", "Source Sans Pro", "Helvetica Neue", Arial, sans-serif; }}
figure {{ margin: 0 auto; max-width: 72rem; }}
figcaption {{ max-width: 48rem; padding: 0.5rem; color: var(--quiet); }}
</style>
</head>
<body>
<figure>
{figure}
<figcaption>{caption}</figcaption>
</figure>
<script>
(() => {{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colors = {colors};
  const paint = () => Plotly.relayout("figure", Object.fromEntries(
    Object.entries(colors).map(([name, color]) => [name, dark.matches ? color : null])));
  if (dark.matches) paint();
  dark.addEventListener("change", paint);
}})();
</script>
</body>
</html>
"""
_AXIS_COLORS = {"gridcolor": "#323b43", "linecolor": "#a9b4bd", "tickcolor": "#a9b4bd"}
_DARK = {
    "font.color": "#e6eaed",
    "paper_bgcolor": "#14181c",
    "plot_bgcolor": "#14181c",
    **{f"{axis}.{name}": color for axis in ("xaxis", "yaxis") for name, color in _AXIS_COLORS.items()},
}


def show_figure(figure, frame, name: str, caption: str, *, key: str | None = None, on_click=None) -> None:
    """Show a figure, a caption that says what it shows and how to read it, and its downloads.

    Parameters
    ----------
    figure : plotly Figure
    frame : DataFrame or callable
        All the data behind the figure, for the CSV file; or a function that returns it, which is called when the user
        downloads the file.
    name : str
        Name of the files, without extension; keys of widgets are made from it.
    caption : str
        Markdown.
    key : str, optional
        Key of the chart; by default made from ``name``.
    on_click : callable, optional
        Called without arguments when the user clicks points of the chart. Give ``key`` too: the points clicked are in
        ``st.session_state[key]``.
    """
    key = key or f"chart-{name}"
    extra = {"alt": f"{figure.layout.title.text}. {caption}"} if _TAKES_ALT else {}
    page_title = " – ".join(filter(None, (workspace.dataset_name(), figure.layout.title.text)))
    with st.container(key=f"figure-{name}"):
        if on_click is not None:
            extra |= {"on_select": on_click, "selection_mode": "points"}
        st.plotly_chart(figure, theme="streamlit", key=key, config=_config(name), **extra)
        st.caption(caption)
        with st.container(horizontal=True, gap="small"):
            _download(
                "Figure, HTML",
                lambda: html_page(figure, page_title, caption, name),
                f"{name}.html",
                mime="text/html",
                help="One file, works offline",
            )
            make = frame if callable(frame) else lambda: frame
            csv_button("Data, CSV", make, name, "All the data behind the figure")


def csv_button(label: str, make, name: str, help: str) -> None:
    """Show a button that downloads the DataFrame that ``make()`` returns as ``name.csv``."""
    _download(label, lambda: csv_bytes(make()), f"{name}.csv", mime="text/csv", help=help)


def text_button(label: str, make, file_name: str, help: str) -> None:
    """Show a button that downloads the bytes that ``make()`` returns as a text file."""
    _download(label, make, file_name, mime="text/plain", help=help)


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Return a DataFrame as a CSV file in UTF-8."""
    return frame.to_csv(index=False).encode("utf-8")


def html_page(figure, page_title: str, caption: str, name: str = "figure") -> bytes:
    """Return an HTML page with the figure and its caption; it loads nothing from the network.

    An image that is saved from the page gets the file name ``name``.
    """
    drawn = type(figure)(figure).update_layout(height=max(FILE_HEIGHT, figure.layout.height or 0))
    # A fixed id, so that the same figure gives the same file.
    inner = drawn.to_html(include_plotlyjs=True, full_html=False, div_id="figure", config=_config(name))
    page = _PAGE.format(
        title=html.escape(page_title), figure=inner, caption=_html_of_markdown(caption), colors=json.dumps(_DARK)
    )
    return page.encode("utf-8")


def _config(name) -> dict:
    """Return Plotly's settings for a figure whose image is saved under ``name``."""
    return {
        "displaylogo": False,
        "responsive": True,
        # Newer Plotly offers to upload the chart to its makers' cloud unless told not to.
        "showSendToCloud": False,
        "toImageButtonOptions": {"format": "png", "scale": 2, "filename": name},
        "modeBarButtonsToRemove": [
            "sendChartToCloud",
            "sendDataToCloud",
            "select2d",
            "lasso2d",
            "autoScale2d",
            "zoomIn2d",
            "zoomOut2d",
        ],
    }


def _html_of_markdown(text: str) -> str:
    """Convert Markdown to HTML, as far as captions use it: emphasis, code, and escaping by a backslash."""
    kept = []

    def keep(match):
        """Put an escaped character aside and return a placeholder, so that it is not read as Markdown."""
        kept.append(html.escape(match[1]))
        return f"\0{len(kept) - 1}\0"

    text = html.escape(re.sub(r"\\([!-/:-@[-`{-~])", keep, text.replace("\0", "")), quote=False)
    for mark, tag in ((r"\*\*", "strong"), (r"\*", "em"), ("`", "code")):
        text = re.sub(f"{mark}(.+?){mark}", rf"<{tag}>\1</{tag}>", text)
    return re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], text)


def _download(label, make, file_name, mime, help):
    """Show a download button for the file that ``make()`` returns as bytes or text."""

    def hand_out():
        """Make the file, and note that the browser is about to fetch it."""
        content = make()
        downloads.made()
        return content

    st.download_button(
        label,
        data=hand_out if _DEFERS else make(),
        file_name=file_name,
        mime=mime,
        key=f"download-{file_name}",
        help=help,
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )
