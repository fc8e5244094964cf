"""A figure with its line of explanation, and the downloads that go with it; tables as CSV."""

import inspect

import pandas as pd
import streamlit as st
from streamlit.proto.DownloadButton_pb2 import DownloadButton

# Older Streamlit wants the bytes at once; newer ones call a function when the button is pressed.
_DEFERS = "deferred_file_id" in DownloadButton.DESCRIPTOR.fields_by_name
_TAKES_ALT = "alt" in inspect.signature(st.plotly_chart).parameters


def show_figure(figure, frame: pd.DataFrame, name: str, caption: str) -> None:
    """Show a figure, one line that says what it shows and how to read it, and its downloads.

    Parameters
    ----------
    figure : plotly Figure
    frame : DataFrame
        The complete data behind it, for the CSV.
    name : str
        Of the files, without ending; also makes the widgets' keys.
    caption : str
        Markdown.
    """
    config = {
        "displaylogo": False,
        "toImageButtonOptions": {"format": "png", "scale": 2, "filename": name},
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
    }
    extra = {"alt": f"{figure.layout.title.text}. {caption}"} if _TAKES_ALT else {}
    with st.container(key=f"figure-{name}"):
        st.plotly_chart(figure, theme="streamlit", key=f"chart-{name}", config=config, **extra)
        st.caption(caption)
        with st.container(horizontal=True, gap="small"):
            _download("Figure, HTML", lambda: _html(figure), f"{name}.html", "text/html", "One file, works offline")
            csv_button("Data, CSV", lambda: frame, name, "All the data behind the figure")


def csv_button(label: str, make, name: str, help: str) -> None:
    """Offer the DataFrame ``make()`` returns as ``name.csv``; it is made when asked for."""
    _download(label, lambda: csv_bytes(make()), f"{name}.csv", "text/csv", help)


def csv_bytes(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode("utf-8")


def _html(figure) -> bytes:
    # A fixed id, so that the same figure gives the same file.
    page = figure.to_html(include_plotlyjs=True, full_html=True, div_id="figure", config={"displaylogo": False})
    return page.encode("utf-8")


def _download(label, make, file_name, mime, help):
    st.download_button(
        label,
        data=make if _DEFERS else make(),
        file_name=file_name,
        mime=mime,
        key=f"download-{file_name}",
        help=help,
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )
