"""Figures with a caption and their downloads; tables as CSV files."""

import mimetypes
import re

import pandas as pd
import streamlit as st

from pages.shared.figures import figure_files
from pages.shared.streamlit_fixes import transfers
from xmlcore.wording import csv_safe

DIALOGS = "charts.dialogs"  # key of st.session_state: how many dialogs were opened from the menu of each figure
_NUMBERS = re.compile(r"-[0-9a-f]{6}(?=-|$)|[0-9]+")  # in names of files: of a result, a row, a label
UNUSED_BUTTONS = "sendChartToCloud sendDataToCloud select2d lasso2d autoScale2d zoomIn2d zoomOut2d".split()
SELECTING = ("select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d")
AROUND_FIGURE = 320  # height of what is around a figure in the page that saves it, in pixels


def show_figure(
    figure,
    frame,
    name: str,
    caption: str,
    *,
    key: str | None = None,
    on_click=None,
    on_area=None,
    place: str | None = None,
    of=(),
    counted: str = "",
) -> None:
    """Show a figure and how many ``counted`` things it shows; menus below have its caption and downloads."""
    key = key or f"chart-{_NUMBERS.sub('', name)}"  # the browser draws another result, row or label in its place
    known = figure_files.workspace_now()
    extra = {"alt": f"{figure.layout.title.text}. {caption}"}
    if on_click is not None:
        extra |= {"on_select": lambda: _clicked(key, on_click), "selection_mode": "points"}
    if on_area is not None:
        extra |= {"on_select": lambda: on_area(_selected(key)), "selection_mode": ("points", "box", "lasso")}
    with st.container():  # without a key of its own, for the same reason
        st.plotly_chart(figure, theme="streamlit", key=key, config=_config(name, on_area is not None), **extra)
        _menus(figure, frame, name, caption, place or key, lambda: figure_files.origin(name, of, known), counted)


def _menus(figure, frame, name, caption, place, origin, counted) -> None:
    # The menu is another one after a dialog was opened from it: so it is closed, and Escape closes the dialog. A
    # tooltip would cover what opens.
    times = st.session_state.get(DIALOGS, {}).get(place, 0)
    menus = st.container(horizontal=True, gap="small", vertical_alignment="center")
    with menus.popover("How to read this", type="tertiary", icon=":material/help:", key=f"reading-{place}"):
        st.markdown(caption)
    meta = figure.layout.meta
    drawn = f"{meta['shown']:,} of {meta['total']:,} {counted}".strip()
    in_title = re.search(rf"(?<![\w,.]){re.escape(drawn)}(?![,.]?\w)", str(figure.layout.title.text))
    if meta["shown"] < meta["total"] and not in_title:
        menus.caption(f"Showing {drawn}.", width="content")

    def page():
        return figure_files.html_page(figure, caption, name, _config(name), origin())

    with menus.popover("Save", type="tertiary", icon=":material/download:", key=f"menu-{place}-{times}"):
        about = "Opens the figure with buttons that save it as an image, with its caption if you like"
        look = {"type": "tertiary", "icon": ":material/image:", "on_click": _close_menu, "args": (place,)}
        if st.button("Figure, SVG or PNG", f"save-{place}", about, **look):
            _save(page(), figure_files.height_of(figure) + AROUND_FIGURE)
        about = "One file of about 2\u00a0MB that works offline and saves SVG and PNG"
        file_button("Figure, HTML", page, f"{name}.html", about, f"{place}-html")
        csv_button("Data, CSV", frame, name, "All the data behind the figure", place)
        st.caption("The camera above the figure saves it as an SVG at once.")


def _clicked(key, on_click) -> None:
    if points := _selected(key):
        on_click(points[0])


def _selected(key) -> list:
    points = st.session_state[key]["selection"]["points"]
    return [point["customdata"][0] for point in points if point.get("customdata")]


def csv_button(label: str, frame, name: str, help: str | None = None, place: str = "") -> None:
    make = frame if callable(frame) else lambda: frame
    file_button(label, lambda: csv_bytes(make()), f"{name}.csv", help, f"{label} {place or name}")


def file_button(label: str, make, file_name: str, help: str | None, key: str | None = None) -> None:
    """Show a button that downloads what ``make()`` returns; ``key`` is by default the name of the file."""

    def hand_out():
        content = make()
        transfers.made()
        return content

    st.download_button(
        label,
        data=hand_out,
        file_name=file_name,
        mime=mimetypes.guess_type(file_name)[0] or "text/plain",
        key=f"download-{key or file_name}",
        help=help,
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Return a DataFrame as a CSV file in UTF-8, in which no text is a formula for a spreadsheet."""
    return csv_safe(frame).to_csv(index=False).encode("utf-8")


def _close_menu(place):
    """Have the menu of a figure closed when the page is drawn next; called by its buttons that open a dialog."""
    opened = st.session_state.setdefault(DIALOGS, {})
    opened[place] = opened.get(place, 0) + 1


@st.dialog("Figure to save", width="large")
def _save(page: bytes, height: int):
    st.iframe(page.decode("utf-8"), height=height)


def _config(name, selects=False) -> dict:
    """Return Plotly's settings for a figure whose image is saved under ``name``."""
    return {
        "displaylogo": False,
        "plotGlPixelRatio": 1,  # lines of parallel coordinates are so wide, in pixels of the page: of 2, half a pixel
        "responsive": True,
        # Newer Plotly offers to upload the chart to its makers' cloud unless told not to.
        "showSendToCloud": False,
        # Plotly's button has one format. PNG is in the figure that "Save" opens.
        "toImageButtonOptions": {"format": "svg", "filename": name},
        "modeBarButtonsToRemove": [one for one in UNUSED_BUTTONS if not (selects and one in SELECTING)],
    }
