"""The workspace, which outlives sessions.

A workspace is a row of the database, found by a random token that only the page's address contains: see
:mod:`pages.shared.workspaces.stored`. So a reload, a second tab or a restarted server shows the same data
sets and results, and nobody sees a workspace without knowing its address. What a tab looks at is its own: see
:mod:`pages.shared.workspaces.tab_view`.
"""

import secrets
import time
from copy import deepcopy

import streamlit as st

from pages.shared.operator import user_workspaces
from pages.shared.workspaces import records as workspace_records
from pages.shared.workspaces import stored, tab_view
from xmlcore import store

# Keys of st.session_state.
WORKSPACE = "workspace.token"
SNAPSHOT = "workspace.snapshot"  # the workspace as this run of the script sees it
FEATURES_SELECTION = "features.selection"  # what is chosen on the Features page, likewise
WATCHED = "jobs.watched"  # ids of the jobs whose progress this run of the script shows, and (id, in the sidebar)
NOTICE = "notice"  # messages that are not shown yet

ADDRESS = "workspace.address"  # the token in the address: that of the workspace, or a read-only one
OWN_CHANGES = "workspace.looks"  # in a read-only session: what it has changed for itself
VIEW = "workspace.view"  # in another session: what its tab looks at
SINCE = "workspace.since"  # likewise: when it was opened, and when it chose what it looks at

QUERY = "workspace"  # the name of the token in the address of the page, and the key of the field that keeps it there
READ_ONLY = "This link is read-only: it cannot start, change or delete anything."
NOT_FOUND = "The stored workspace was not found; started afresh."

_SCALARS = frozenset((str, int, float, bool, type(None)))  # types of which no copy is needed
_LOCAL = ("dataset", "forms", "widgets", "shown")  # what a read-only session may change for itself


def open_workspace() -> None:
    """Find the workspace of this session, or begin one, and keep its token in the address."""
    token = st.session_state.get(WORKSPACE)
    if token is None:
        in_address = st.query_params.get(QUERY, "")
        # A workspace is never made under a token from an address: whoever planted the address could read it.
        well_formed = stored.TOKEN.fullmatch(in_address) is not None
        known = well_formed and stored.exists(in_address) and _shown_by(in_address) != ""
        known = known and user_workspaces.admits(in_address)
        token = user_workspaces.chosen(in_address if known else None) or begin()
        st.session_state[ADDRESS] = token
        st.session_state[WORKSPACE] = _shown_by(token) or token
        if not read_only():
            with stored.changing():
                data = user_workspaces.bind(token, workspace_records.read(token))
            st.session_state[VIEW], st.session_state[SINCE] = tab_view.of(data), {"": time.time()}
            stored.note_opened(token)
        if token != in_address:  # what the address says counts more than the field that keeps it there
            st.query_params[QUERY] = token
        if well_formed and not known:
            notify(NOT_FOUND)
    st.session_state[SNAPSHOT] = _current()
    st.session_state[WATCHED] = set()


def token() -> str:
    return st.session_state[WORKSPACE]


def address() -> str:
    """Return the token in the address of this session's pages."""
    return st.session_state[ADDRESS]


def read_only() -> bool:
    return st.session_state[ADDRESS] != st.session_state[WORKSPACE]


def refuse_change() -> bool:
    """Return whether this session is read-only; if so, a message says that it cannot do what was asked for."""
    if read_only():
        notify(READ_ONLY)
    return read_only()


def read_only_token() -> str:
    """Return the token of the workspace's read-only address; it is made when it is asked for first."""
    made = get("look")
    if made is None:
        made = secrets.token_hex(16)
        _let_read(made)
        update(look=made)
    return made


def _let_read(address):
    stored.write(address, {"version": workspace_records.VERSION, "look_of": token()})


def _shown_by(token) -> str | None:
    data = stored.read(token)
    shown = data.get("look_of") if isinstance(data, dict) else None
    if not isinstance(shown, str):
        return None
    return shown if stored.TOKEN.fullmatch(shown) and stored.exists(shown) else ""


def get(name):
    """Return a copy of a field of the workspace; :func:`update` changes it."""
    return _copied(st.session_state[SNAPSHOT][name])


def update(change=None, /, **fields) -> None:
    # ``change`` is called with the workspace's dictionary and changes it in place. The row is read again before, so
    # that two tabs on one workspace do not undo each other's changes.
    with stored.changing():
        before = _current()
        data = _copied(before)
        if change is not None:
            change(data)
        data.update(fields)
        if read_only():
            st.session_state[OWN_CHANGES] = {name: data[name] for name in _LOCAL}
            data = _current()
        else:
            tab_view.note(before, data, st.session_state[SINCE], time.time())
            st.session_state[VIEW] = tab_view.of(data)
            stored.write(token(), tab_view.written(workspace_records.read(token()), before, data))
    # Not before the change has ended: Streamlit may stop a run where the session's state is written.
    st.session_state[SNAPSHOT] = data


def keep(key: str, default, allowed=None, *, options=None) -> dict:
    """Return arguments for a widget outside forms, so that its value outlives page switches and reloads."""
    remembered = st.session_state[SNAPSHOT]["widgets"].get(key, default)
    value = first_value(key, remembered, default, allowed or (None if options is None else options.__contains__))
    first = {"value": value} if options is None else {"index": list(options).index(value)}
    return {"key": key, "on_change": _remember, "args": (key,), **first}


def first_value(key: str, remembered, default, allowed=None):
    """Return the value to make a widget with: the remembered one if it is allowed, else the default."""
    # Once the widget exists, Streamlit takes its value by its key, and not this one. A value written to
    # ``st.session_state[key]`` would be lost when the script is interrupted before the browser has the widget.
    fits = allowed or (lambda _: True)
    if key in st.session_state and not fits(st.session_state[key]):
        del st.session_state[key]
    return remembered if fits(remembered) else default


def _remember(key):
    """Remember the value of a widget; called when it changes, and now and then when it does not."""
    value = st.session_state.get(key)
    widgets = st.session_state[SNAPSHOT]["widgets"]
    if key in widgets and widgets[key] == value:
        return  # Streamlit has called before: two parts of a page were drawn at once
    update(lambda data: data["widgets"].__setitem__(key, value))


def remember(name: str, value) -> None:
    """Remember a choice, for a widget of this name or for another use."""
    update(lambda data: data["widgets"].__setitem__(name, value))


def notify(message: str) -> None:
    """Have a message shown once: in this run of the script if it has not shown messages yet, else in the next."""
    st.session_state[NOTICE] = [*st.session_state.get(NOTICE, ()), message]


def take_notices() -> list[str]:
    return list(dict.fromkeys(st.session_state.pop(NOTICE, ())))


def begin() -> str:
    """Begin an empty workspace, which belongs to the present user, and return its token."""
    made = secrets.token_hex(16)
    stored.begin(made, workspace_records.EMPTY)
    user_workspaces.bind(made, workspace_records.EMPTY)
    return made


def _current() -> dict:
    """Read the workspace of this session, which is written again if it is lost."""
    data, before = workspace_records.read(token()), st.session_state.get(SNAPSHOT)
    if read_only():
        own = deepcopy(st.session_state.get(OWN_CHANGES, {}))
        if data is None:
            return deepcopy(workspace_records.EMPTY)
        if own:
            tab_view.drop_removed(data, own)
        return data | own
    if data is None:
        with stored.changing():  # another tab may write it now
            data = workspace_records.read(token()) or _restored(deepcopy(before or workspace_records.EMPTY))
    return tab_view.merged(data, st.session_state[VIEW], st.session_state[SINCE], f"{FEATURES_SELECTION} ")


def _restored(before) -> dict:
    """Write a lost workspace again, as this tab knows it, and return it."""
    there = store.trouble(0) is not None or any(store.exists("datasets", key) for key in before["known"])
    if not there:  # it begins anew
        before = {name: before[name] for name in ("forms", "widgets", "user")}
        notify(NOT_FOUND)
    data = deepcopy(workspace_records.EMPTY) | before
    stored.write(token(), data)
    if data["look"]:
        _let_read(data["look"])
    return data


def _copied(value):
    """Return a deep copy of a JSON value, several times faster than ``deepcopy``."""
    if isinstance(value, dict):
        return {name: inner if type(inner) in _SCALARS else _copied(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [inner if type(inner) in _SCALARS else _copied(inner) for inner in value]
    return value if type(value) in _SCALARS else deepcopy(value)
