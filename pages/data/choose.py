"""The list of data sets on the Data page, and the ways to get more."""

import streamlit as st

from pages.data import boxes
from pages.data.forms import form, published, synthetic, texts, upload
from pages.shared import actions, fields, format, fragments, jobs, sections
from pages.shared.workspaces import dataset_list, sources, workspace
from xmlcore import datasets

ADDING = "data.adding"  # key of st.session_state: whether the user has asked for the ways to get more
OPENED = "data.opened"  # key of st.session_state: the data set that was in use when a form was last busy, by form


def show(fingerprint) -> None:
    """Show the ways to get more data sets; ``fingerprint``: of the data set in use."""
    if actions.refused():
        return
    for read in (upload.FORM, texts.FORM):
        if lost := read.chosen.lost():
            names = format.plain(", ".join(lost))
            st.toast(f"Chosen before this page was loaded, and not read: {names}. Choose again.", duration="long")
        if read.chosen.empty_when_read():  # before the box is drawn, which is folded then
            sections.scroll_to("[data-testid=stMainBlockContainer]")
    forms = {
        "Upload data": (upload.FORM.is_open(), lambda: form.draw(upload.FORM, fingerprint)),
        "Upload texts": (texts.FORM.is_open(), lambda: form.draw(texts.FORM)),
        "Published": (_stays_open("download", published.busy(), fingerprint), _published),
        "Synthetic": (_stays_open("synthetic", synthetic.FORM.busy(), fingerprint), lambda: form.draw(synthetic.FORM)),
    }
    tabs = upload.FORM.chosen.key("tabs")  # with the form emptied, as when its file is taken over by that of texts
    boxes.show("add", "Add a data set", forms, opened=st.session_state.pop(ADDING, False), key=tabs)


def _published():
    published.progress()
    fragments.alone(published.show)()


def _stays_open(name: str, busy: bool, fingerprint) -> bool:
    """Return whether a form is open: while it is busy, and after that until another data set is in use."""
    opened = st.session_state.setdefault(OPENED, {})
    if busy:
        opened[name] = fingerprint
    return opened.get(name, "") == fingerprint


def dataset(fingerprint) -> None:
    """Show the list of data sets."""
    opened = workspace.get("known")
    own = {fp: entry for fp, entry in opened.items() if entry["source"] != "catalog"}
    named = {dataset_list.catalog_name(entry): entry for entry in opened.values() if entry["source"] == "catalog"}
    made_here = [entry.name for entry in datasets.catalog() if not entry.published]
    wanted = workspace.get("wanted") if jobs.active("prepare") else None
    names = dict.fromkeys([*made_here, *named, *([wanted] if wanted in published.names() else [])])
    called = {name: entry["name"] for name, entry in named.items()}
    titles = {f"catalog {name}": f"{called.get(name, name)} ({sources.of_catalog(name)})" for name in names}
    titles |= {f"{entry['source']} {fp}": f"{entry['name']} ({sources.words(entry)})" for fp, entry in own.items()}
    current = None
    if fingerprint in opened:
        entry = opened[fingerprint]
        current = f"{entry['source']} {fingerprint}"
        if entry["source"] == "catalog":
            current = f"catalog {dataset_list.catalog_name(entry)}"
    if wanted in names:
        current = f"catalog {wanted}"
    current = current if current in titles else None
    look = {"index": None if current is None else 0, "placeholder": "Choose a data set", "width": 400}
    about = "Data sets that you upload are seen only by people who have this page's full address."
    fields.pick("Data set", titles, "data.choice", current, _choose, help=about, **look)


def _choose(option: str | None):
    """Put the chosen data set in use, or note that it must be prepared first; called when the select box changes."""
    if option is None:
        return
    source, _, name = option.partition(" ")
    if source == "catalog":
        published.use(name)
    elif name in workspace.get("known"):
        workspace.update(dataset=name, wanted=None)
