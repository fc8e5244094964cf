"""Pages by name, links to them, and the fields of their addresses.

Hidden fields keep in the address what it says when the user goes to another page. Streamlit drops what an address says
beside the page when a link of ``st.navigation`` is followed, unless it is the value of a field that the app itself, not
the page, binds to the address. If the script wrote it anew, each page would be two steps of the browser's history, and
the first press of Back would stay on the page. Seen with Streamlit 1.67.0.
"""

from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

FOLDER = Path(__file__).resolve().parents[1]
# The script has a folder of its own. Beside a folder named "pages", Streamlit would take each file in that folder for a
# page until the first run of the script ends.
SCRIPT = FOLDER / "main" / "script.py"
FIRST = "Data"  # the page at "/"
ABOUT = "About this result"  # the section of the Train page with all that is known of the result
RINGED = "map.ringed"  # likewise: of which data set the map has rings, around what, and these rows
ADDING = "data.adding"  # key of st.session_state: whether the Data page opens with the ways to get more data sets
# Title of each group of pages in the sidebar, and the icon of each page.
GROUPS = {
    "": {"Data": "table_rows", "Train": "model_training", "Compare": "compare_arrows", "Predict": "label"},
    "Look into a model": {"Explain": "search_insights", "Review": "rule", "Robustness": "ssid_chart"},
    "Methods": {"Trees": "account_tree", "Features": "filter_list", "Sampling": "filter_alt", "Papers": "menu_book"},
    "This workspace": {"Jobs": "pending_actions", "Storage": "database"},
}
ICONS = {name: icon for pages in GROUPS.values() for name, icon in pages.items()}


def page(name: str):
    file, is_first = FOLDER / name.lower() / "page.py", name == FIRST
    return st.Page(file, title=name, url_path=name.lower(), default=is_first)


def icons_style() -> str:
    """Return the style that puts an icon before each link of the navigation."""
    # Streamlit would fetch an icon that is given to ``st.Page`` from the network, for the browser's tab. The font with
    # the icons comes with Streamlit. The text after the slash is what screen readers say: nothing.
    link = "[data-testid=stSidebarNavLink]"
    look = 'font: 1.25rem/1 "Material Symbols Rounded"; font-feature-settings: "liga"; opacity: 0.8;'
    places = {name: "" if name == FIRST else f'[href$="/{name.lower()}"]' for name in ICONS}
    rules = [f'{link}{place}::before {{ content: "{ICONS[name]}" / ""; }}' for name, place in places.items()]
    return "\n".join([f"{link}::before {{ {look} }}", *rules])


def navigation():
    """Show links to all pages in the sidebar, in groups, and return the page that the address names."""
    return st.navigation({group: [*map(page, pages)] for group, pages in GROUPS.items()}, expanded=True)


def link(name: str, label: str, **also: str) -> None:
    # Other fields of the address are kept by :func:`keep`. If the link had them too, the
    # address would have them twice for a moment: one more step in the browser's history.
    st.page_link(page(name), label=label, icon=f":material/{ICONS[name]}:", query_params=also or None)


def keep(name: str, value: str) -> None:
    """Have the address say a value under a name on every page; called within a hidden container."""
    st.session_state[name] = value
    st.text_input(name, key=name, bind="query-params")


def switch(name: str, **also: str) -> None:
    """Open another page with what these fields say; ``st.switch_page`` refuses to write what a field is bound to."""
    with get_script_run_ctx().session_state.query_params() as params:
        fields = {field: params[field] for field in params if params.is_bound(field)}
        for field in fields:
            params.unbind_widget(params.get_binding_for_param(field).widget_id)
    st.switch_page(page(name), query_params=fields | also)


def to_map(fingerprint: str, called: str, lines, key: str) -> None:
    """Offer the map of a data set with a ring around some rows, numbered from the training rows on."""
    if st.button("Show on the map", key=key, type="tertiary", icon=":material/scatter_plot:"):
        st.session_state[RINGED] = fingerprint, called, tuple(map(int, lines))
        switch("Data", section="Map")
