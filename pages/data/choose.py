"""Two folded boxes of forms on the Data page: to get more data sets, and to change one."""

import streamlit as st

from pages.data import manage
from pages.data.forms import form, published, split, synthetic, texts, upload, vectorizer
from pages.shared import actions, addresses, format, jobs, sections
from pages.shared.workspaces import workspace
from xmlcore import datasets

OPENED = "data.opened"  # key of st.session_state: the data set that was in use when a form was last busy, by form
_SEEN = "data.boxes"  # key of st.session_state: of each box whether a form was in use, and whether it has been drawn


def add(fingerprint) -> None:
    """Show the ways to get more data sets; ``fingerprint``: of the data set in use."""
    if actions.refused():
        return
    for read in (upload.FORM, texts.FORM):
        if read.chosen.empty_when_read():  # before the box is drawn, which is folded then
            sections.scroll_to("[data-testid=stMainBlockContainer]")
    forms = {
        "Upload data": (upload.FORM.is_open(), lambda: form.draw(upload.FORM, fingerprint)),
        "Upload texts": (texts.FORM.is_open(), lambda: form.draw(texts.FORM)),
        "Published": (_stays_open("download", published.busy(), fingerprint), published.draw),
        "Synthetic": (_stays_open("synthetic", synthetic.FORM.busy(), fingerprint), lambda: form.draw(synthetic.FORM)),
    }
    tabs = upload.FORM.chosen.key("tabs")  # with the form emptied, as when its file is taken over by that of texts
    _box("add", "Add a data set", forms, opened=st.session_state.pop(addresses.ADDING, False), key=tabs)


def _stays_open(name: str, busy: bool, fingerprint) -> bool:
    """Return whether a form is open: while it is busy, and after that until another data set is in use."""
    opened = st.session_state.setdefault(OPENED, {})
    if busy:
        opened[name] = fingerprint
    return opened.get(name, "") == fingerprint


def change(data, fingerprint, used: dict | None) -> None:
    """Show the forms that split a data set, make other features of it, compare it with others, and rename it."""
    forms = {}
    if data is not None:
        forms["Split again"] = split.FORM.busy(), lambda: form.draw(split.FORM, data, fingerprint, used)
        if data.texts_train is not None and data.texts_test is not None:
            forms["Other words"] = vectorizer.FORM.busy(), lambda: form.draw(vectorizer.FORM, data, fingerprint, used)
    if opened := manage.opened():
        forms["Compare"] = False, lambda: manage.compare(opened, fingerprint)
        forms["Rename, convert or remove"] = False, lambda: manage.edit(opened, fingerprint)
    if forms:
        _box("change", "Change or compare data sets", forms)


def nothing_yet() -> None:
    if jobs.active("prepare"):
        wanted = format.plain(workspace.get("wanted") or "The data set")
        st.markdown(f"**{wanted}** is being made ready, once. You can upload your own data meanwhile.")
    else:
        st.markdown("No data set is in use. Choose one in the sidebar, or upload your own data.")
    preparing()


def preparing() -> None:
    """Show the progress and the failure of the data set that is made here; its form shows those of published ones."""
    jobs.watch([job for entry in datasets.catalog() if not entry.published
                for job in jobs.active("prepare", name=entry.name)])  # fmt: skip
    jobs.show_failures([pair for pair in jobs.failed("prepare") if not published.is_published(pair[0])])


def _box(name: str, title: str, forms: dict, opened: bool = False, key: str | None = None) -> None:
    """Show forms in tabs, in a box that opens on the form in use; it is scrolled to if a button has ``opened`` it."""
    used = [form for form, (in_use, _) in forms.items() if in_use]
    box, opens, seen = f"data.box.{name}", bool(used), st.session_state.setdefault(_SEEN, {})
    if box not in st.session_state:  # Streamlit forgets it, and what is filled in there, with the page
        seen.pop(name, None)
    opened_last, drawn = seen.get(name, (False, False))
    if opened or opens != opened_last:
        st.session_state[box] = opened or opens
    expander = st.expander(title, key=box, on_change="rerun")
    seen[name] = opens, drawn or expander.open
    if not (drawn or expander.open):
        return
    with expander:
        tabs = st.tabs(list(forms), default=used[0] if used else None, key=key)
        for tab, (_, draw) in zip(tabs, forms.values()):
            with tab:
                draw()
        if opened:  # below the window, perhaps
            sections.scroll_to(".stExpander")
