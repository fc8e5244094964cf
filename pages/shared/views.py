"""The view in the address of a page: the data set, result, row, labels, tree and node that are looked at.

The address says ``at=data-1a2b3c4d.result-5e6f7a8b.row-17``: what differs from what a new visitor sees. So a copied
address shows the same view, and Back and Forward walk through what was looked at. After the data set and the result
come numbers: ``row``, ``label`` (explained), ``other`` (the label that it is compared with), ``ticked`` (the label
whose rows the Train page shows), ``tree``, ``node``, ``mode`` (what the Trees page draws) and ``of`` (the label looked
at on the Trees page). Last comes ``edit``, the changes of the row on the Explain page: see pages.shared.rows.row_edits.
"""

import re

import streamlit as st

from pages.shared import format
from pages.shared.rows import row_edits
from pages.shared.workspaces import workspace
from pages.shared.workspaces.records import DEFAULT_DATASET

FIELD = "at"  # the name in the address, and the key of the field that keeps it there
WRITTEN = "view.written"  # key of the session's state: the view that this session wrote into the address last
_BARE = "view.bare"  # likewise: the view while the address said nothing
_BASE = "view.base"  # likewise: the view after an address was followed, and what that address said
_DATA, _KEY = 12, 12  # digits of a fingerprint, and of the key of a run, in the address
_NUMBERS = ("row", "label", "other", "ticked", "tree", "node", "mode", "of")
_PATTERN = re.compile(
    r"(?<![0-9a-z])(?:(data|result)-([0-9a-f]{6,32})(?![0-9a-z])|"
    rf"({'|'.join(_NUMBERS)})-([0-9]{{1,9}})(?![0-9a-z]))"
)
UNKNOWN = "This workspace does not have the {what} of the link, so it shows what it has."


def follow() -> None:
    """Change what the workspace shows to what the address says, if it was opened or if the user has changed it.

    An address that says nothing, as that of a first visit, stands for what was shown when it was opened. One without
    a workspace was not opened by the user: a browser that has not drawn the fields of the address yet leaves out what
    they say when it goes to another page.
    """
    if workspace.QUERY not in st.query_params:
        return
    asked = st.query_params.get(FIELD, "")
    if asked == st.session_state.get(WRITTEN):
        return
    said, missing = _parsed(asked or st.session_state.get(_BARE, "")), []
    if said:
        workspace.update(lambda data: missing.extend(_show(data, said)))
        if missing:
            workspace.notify(UNKNOWN.format(what=format.listed(missing)))
    st.session_state[WRITTEN] = asked
    st.session_state[_BASE] = (text(), asked)
    if not asked:
        st.session_state[_BARE] = text()


def _parsed(text) -> dict:
    """Return what an address says, by name; what has not the form of such an address is left out."""
    text, _, edits = text.partition(".edit-")
    said = {one or other: value or number for one, value, other, number in _PATTERN.findall(text)}
    return said | ({"edit": edits} if edits else {})


def _now() -> str:
    """Return what the address is to say: what the workspace shows, or as before if that was made from the address."""
    now = text()
    base, said = st.session_state.get(_BASE, (None, None))
    return said if now == base else now


def is_behind() -> bool:
    """Return whether the address does not say what is shown: a fragment has changed it, and cannot write it there."""
    return _now() != st.session_state.get(WRITTEN)


def keep() -> None:
    """Write what the workspace shows into the address; called within a hidden container."""
    now = _now()
    st.session_state[WRITTEN] = st.session_state[FIELD] = now
    st.text_input("View", key=FIELD, bind="query-params")


def text() -> str:
    """Return what the workspace shows, as the address says it; empty for what a new visitor sees."""
    fingerprint, rows = workspace.get("dataset"), workspace.get("rows")
    if fingerprint is None:
        return ""
    said = {}
    if not _is_default(workspace.get("known").get(fingerprint, {})):
        said["data"] = fingerprint[:_DATA]
    key = workspace.get("shown").get(fingerprint)
    if key is not None:
        said["result"] = key[:_KEY]
        row, tree = rows.get(f"run {key}"), rows.get(f"tree {key}", 0)
        named = {"row": row, "tree": tree or None, "node": rows.get(f"node {key} {tree}")}
        named |= {"ticked": rows.get(f"ticked {key}"), "mode": rows.get("trees mode") or None}
        named["of"] = rows.get(f"trees label {fingerprint}")
        if rows.get(f"label row {key}") == (row or 0):
            named |= {"row": row or 0, "label": rows.get(f"label {key}")}
        if rows.get(f"other row {key}") == (row or 0) and isinstance(rows.get(f"other of {key}"), int):
            named |= {"row": row or 0, "label": rows[f"other of {key}"], "other": rows.get(f"other {key}")}
        said |= {name: named[name] for name in _NUMBERS if isinstance(named.get(name), int) and named[name] >= 0}
        edits = row_edits.text(row_edits.of(workspace.get("widgets"), fingerprint, row or 0))
        said |= {"row": row or 0, "edit": edits} if edits else {}
    return ".".join(f"{name}-{value}" for name, value in said.items())


def _is_default(entry) -> bool:
    """Return whether an entry of "known" is the data set of a new workspace."""
    return entry.get("source") == "catalog" and entry.get("name") == DEFAULT_DATASET


def _show(data, said) -> list[str]:
    """Change a workspace's fields to what an address says; return what the workspace does not have."""
    known, prefix = data["known"], said.get("data")
    fits = [fp for fp, entry in known.items() if (fp.startswith(prefix) if prefix else _is_default(entry))]
    if fits:
        data["dataset"], data["wanted"] = fits[0], None
    elif prefix:
        return ["data set"]
    fingerprint, prefix = data["dataset"], said.get("result")
    if prefix is None:
        data["shown"].pop(fingerprint, None)
        return []
    runs = [r["key"] for r in data["runs"] if r["fingerprint"] == fingerprint and r["key"].startswith(prefix)]
    if not runs:
        return ["result"]
    key, numbers = runs[0], {name: int(value) for name, value in said.items() if value.isdecimal()}
    data["shown"][fingerprint] = key
    places = {"row": f"run {key}", "label": f"label {key}", "tree": f"tree {key}", "ticked": f"ticked {key}"}
    places |= {"other": f"other {key}", "mode": "trees mode", "of": f"trees label {fingerprint}"}
    places["node"] = f"node {key} {numbers.get('tree', 0)}"
    for name, place in places.items():
        data["rows"].pop(place, None)
        if name in numbers:
            data["rows"][place] = numbers[name]
    if "label" in numbers:
        data["rows"][f"label row {key}"] = numbers.get("row", 0)
        if "other" in numbers:
            data["rows"] |= {f"other row {key}": numbers.get("row", 0), f"other of {key}": numbers["label"]}
    row_edits.put(data["widgets"], fingerprint, numbers.get("row", 0), row_edits.parsed(said.get("edit", "")))
    return []
