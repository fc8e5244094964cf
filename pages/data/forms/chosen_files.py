"""The files of an upload form: they stay chosen when the user visits another page, until they are read or cleared."""

import streamlit as st

from pages.shared import format, jobs
from pages.shared.streamlit_fixes import reconnected
from pages.shared.workspaces import workspace


class ChosenFiles:
    """The files that are chosen in the fields of a form, and the name that was typed.

    Streamlit forgets widgets and their values on a page switch; these are kept in st.session_state until the files are
    read or cleared, or the session ends.
    """

    def __init__(self, form: str, fields, kind: str):
        self.form, self.fields, self.kind = form, tuple(fields), kind
        self._before, self._reading, self._round = f"{form}.chosen", f"{form}.reading", f"{form}.round"

    def key(self, field: str) -> str:
        """Return the key of the widget for one input; it changes after each upload, which empties the widget."""
        return f"{self.form}.{field}.{reconnected.number(self._round)}"

    def chosen(self) -> dict:
        """Return the files and the name chosen so far, by input; changing the dict changes what is remembered."""
        return st.session_state.setdefault(self._before, {})

    def file(self, field: str):
        """Return the file chosen in a widget, now or before a page switch; None when no file is chosen."""
        return st.session_state.get(self.key(field)) or self.chosen().get(field)

    def ids(self) -> list:
        return [getattr(self.file(field), "file_id", None) for field in self.fields]

    def note(self, field: str) -> None:
        """Remember the new value of an input, or forget the old value when the input was emptied."""
        # Streamlit calls this when the user has changed the widget, so None means that the file was removed.
        value = st.session_state.get(self.key(field))
        if value is None:
            self.chosen().pop(field, None)
        else:
            self.chosen()[field] = value
        if field in self.fields:  # what was wrong with other files is not shown any more
            for record, _ in jobs.failed(self.kind):
                jobs.dismiss(record["id"])
        self._remember()

    def _remember(self) -> None:
        """Note in the workspace which files are chosen and not read, for :meth:`lost`."""
        files = [self.chosen()[field].name for field in self.fields if field in self.chosen()]
        workspace.remember(f"{self.form}.unread", files)

    def _clear(self, field) -> None:
        self.chosen().pop(field, None)
        self._remember()

    def lost(self) -> list[str]:
        """Return the names of files that were chosen in an earlier session and not read, once."""
        names = workspace.get("widgets").get(f"{self.form}.unread")
        first = self._before not in st.session_state
        self.chosen()
        if not first or not isinstance(names, list) or not names:
            return []
        self._remember()
        return [str(name) for name in names]

    def uploader(self, field: str, label: str, help: str):
        """Draw the field for one file, and return the file chosen now or before a page switch; None without one."""
        key = self.key(field)
        file = st.file_uploader(label, key=key, on_change=self.note, args=(field,), help=help)
        if file is not None:
            self.chosen()[field] = file
            return file
        file = self.chosen().get(field)
        if file is not None:
            with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                st.caption(f"Chosen before: {format.plain(file.name)} ({format.size(file.size)})", width="content")
                st.button(
                    "Clear",
                    key=f"{key}.clear",
                    on_click=self._clear,
                    args=(field,),
                    type="tertiary",
                    icon=":material/close:",
                    help=f"{label}: do not use {format.plain(file.name)} any more",
                )
        return file

    def waits(self) -> bool:
        """Return whether a worker reads the files that are chosen now."""
        key, read = st.session_state.get(self._reading, (None, None))
        return read == self.ids() and bool(jobs.active(self.kind, key=key))

    def are_read_by(self, task) -> None:
        st.session_state[self._reading] = task.key, self.ids()

    def empty_when_read(self) -> bool:
        """Empty the form when its files have been read, which frees their memory, and return whether they have."""
        key, read = st.session_state.get(self._reading, (None, None))
        if key is None or jobs.active(self.kind, key=key):
            return False
        st.session_state.pop(self._reading)
        if is_read := jobs.kept(self.kind, key) and read == self.ids():  # others may have been chosen meanwhile
            self.empty()
        return is_read

    def empty(self) -> None:
        """Make new, empty widgets."""
        ids = self.ids()
        st.session_state[self._before] = {}
        self._remember()
        reconnected.empty(self._round, ids)
