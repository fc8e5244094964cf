"""Pages by name, and links to them."""

from pathlib import Path

import streamlit as st

FOLDER = Path(__file__).resolve().parents[1]
FIRST = "Data"  # the page at "/"


def page(name: str):
    """Return the page of a name, such as "Train": its file, its title and its address."""
    return st.Page(FOLDER / name.lower() / "page.py", title=name, url_path=name.lower(), default=name == FIRST)


def link(name: str, label: str, icon: str) -> None:
    """Show a link to a page.

    Parameters
    ----------
    name : str
        Title of the page.
    label : str
        What the link says.
    icon : str
        Name of a Material icon.
    """
    st.page_link(page(name), label=label, icon=f":material/{icon}:")
