"""Which result a page about one result shows."""

import streamlit as st

from pages.shared import format, server, workspace
from xmlcore import store
from xmlcore.models import ModelFormatError


def kept(kind: str, fingerprint: str) -> list:
    """Results on a data set that this workspace knows and the store still has, newest first.

    Parameters
    ----------
    kind : {"runs", "selections"}
    fingerprint : str
    """
    return [r for r in workspace.get(kind) if r["fingerprint"] == fingerprint and store.exists(kind, r["key"])][::-1]


def opened(key: str):
    """The run and its model; None, and an error on the page, where they cannot be read."""
    try:
        return server.run(key), server.model(key)
    except (store.StoreError, OSError, ModelFormatError) as error:
        st.error(f"The model of this result cannot be read: {format.plain(error)}. Train it again on the Train page.")
        return None


def chosen(widget: str, fingerprint: str, runs: list) -> str:
    """The result shown on the Train page, when it is one of these; else the one looked at last; else the newest.

    Parameters
    ----------
    widget : str
        Key of the page's select box, of ``state``.
    fingerprint : str
    runs : list of dict
        Newest first.
    """
    keys = [r["key"] for r in runs]
    wanted = (workspace.get("shown").get(fingerprint), workspace.get("widgets").get(f"{widget} {fingerprint}"))
    return next((key for key in wanted if key in keys), keys[0])


def choose(widget: str, fingerprint: str, titles: dict, key: str, label: str, help: str) -> None:
    """A select box of results, ``titles`` by key; what is picked is shown from then on, on the Train page too."""
    st.session_state[widget] = key
    st.selectbox(
        label,
        list(titles),
        format_func=titles.get,
        key=widget,
        on_change=_open,
        args=(widget, fingerprint),
        help=help,
    )


def _open(widget, fingerprint):
    key = st.session_state[widget]

    def change(data):
        data["widgets"][f"{widget} {fingerprint}"] = key
        data["shown"][fingerprint] = key

    workspace.update(change)
