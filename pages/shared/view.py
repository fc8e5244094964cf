"""The view of a tab is its address: ``at=data-1a2b3c4d.result-5e6f7a8b.row-17.label-3``.

So a copied address shows the same, a reload too, and Back and Forward walk through earlier views. Fields that are not
in the address have their defaults. Pages read :func:`now` and change it with
:func:`look`; all pages have one view, so that going to another page loses nothing.
"""

import dataclasses
import functools
import re

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared import addresses, format
from pages.shared.workspaces import dataset_list, workspace

FIELD = "at"  # the name in the address, and the key of the field that keeps it there
NOW = "view.now"  # key of the session's state: the view of this tab
_BARE = "view.bare"  # likewise: the view that an address stands for that says nothing
DIGITS = 12  # of a fingerprint, and of the key of a run or of predictions, in the address
_PART = re.compile(r"(?<![0-9a-z])(?:(data|result|file)-([0-9a-f]{6,32})|([a-z]+)-([0-9]{1,9}))(?![0-9a-z])")
UNKNOWN = "This workspace does not have the {parts} of the link, so it shows what it has."


@dataclasses.dataclass(frozen=True)
class View:
    """The view of a tab; None stands for the default of a page."""

    data: str = ""  # beginning of the data set's fingerprint; empty: the data set of a new workspace
    result: str = ""  # beginning of the key of the run; empty: the newest
    row: int | None = None  # test row
    label: int | None = None  # the label of the row that is explained
    other: int | None = None  # the label that it is compared with
    ticked: int | None = None  # the label whose rows the Train page shows
    group: int | None = None  # the line of the group of rows that it shows
    features: int | None = None  # the label whose features the pages Explain and Features show
    draw: int | None = None  # which noise the Explain page draws
    noisy: int | None = None  # the first test row that the Robustness page shows under noise
    training: int | None = None  # the training row, and the test row, on the Data page
    test: int | None = None
    tree: int | None = None
    mode: int | None = None  # what is drawn of a tree
    of: int | None = None  # the label selected on the Trees page
    node: int | None = None
    top: int | None = None  # the node with which the drawing begins
    levels: int | None = None  # how much of a tree is drawn
    most: int | None = None
    positive: int | None = None  # positive test rows that listed nodes have at least
    file: str = ""  # beginning of the key of the predictions for a file, one row of which the Predict page shows
    given: int | None = None  # that row
    claim: int | None = None  # of a paper, on the page Papers
    edit: str = ""  # changes of the row: see pages.shared.rows.row_editor

    def text(self) -> str:
        named = {name: getattr(self, name) for name in NAMES}
        return ".".join(f"{name}-{value}" for name, value in named.items() if value not in (None, ""))

    def changed(self, **fields) -> "View":
        """Return the view with other values of fields, without the fields that belonged to the values before."""
        left = {name for field, value in fields.items() if value != getattr(self, field) for name in OF.get(field, ())}
        return dataclasses.replace(self, **{name: DEFAULTS[name] for name in left - fields.keys()}, **fields)


DEFAULTS = {field.name: field.default for field in dataclasses.fields(View)}
NAMES = tuple(DEFAULTS)
_OF_TREE = ("node", "top")
# Fields that belong to another one: they are forgotten when it gets another value.
OF = {"data": set(NAMES) - {"data", "claim", "levels", "most", "positive"}}
OF |= {
    "result": ("tree", *_OF_TREE, "file", "given", "group"),
    "tree": _OF_TREE,
    "mode": ("node",),
    "row": ("label", "other", "edit"),
    "label": ("other",),
    "file": ("given",),
}


@functools.lru_cache(maxsize=1000)
def parsed(text: str) -> View:
    """Return the view of an address; invalid parts are left out."""
    text, _, edit = f".{text}".partition(".edit-")
    fields = {}
    for key, digits, name, number in _PART.findall(text):
        if key:
            fields[key] = digits
        elif name in NAMES and isinstance(DEFAULTS[name], type(None)):
            fields[name] = int(number)
    return View(**fields, edit=edit)


def now() -> View:
    return st.session_state.get(NOW, View())


def look(**fields) -> None:
    """Look at something else; for callbacks of widgets, after which the whole page is drawn."""
    plain = {name: value if value is None or isinstance(value, str) else int(value) for name, value in fields.items()}
    st.session_state[NOW] = now().changed(**plain)


def walked() -> bool:
    """Return whether this run answers Back or Forward of the browser."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def follow() -> None:
    """Take over the view of an address that was opened or walked to; called first in each run of a page."""
    # An address that says nothing stands for what was shown when it was opened. The data set and the result in use are
    # the workspace's: another may have become ready, or be gone.
    if NOW not in st.session_state or walked():
        asked, missing = parsed(st.query_params.get(FIELD, "") or st.session_state.get(_BARE, "")), []
        if asked != View():
            use = lambda data: _use_dataset(data, asked.data) or _use_result(data, asked.result)  # noqa: E731
            workspace.update(lambda data: missing.extend(use(data)))
        st.session_state[NOW] = _in_use(View() if missing else asked)
        if missing:
            workspace.notify(UNKNOWN.format(parts=format.listed(missing)))
        if not st.query_params.get(FIELD):
            st.session_state[_BARE] = now().text()


def keep() -> None:
    """Update the view to the data set and result in use, and write it into the address, within a hidden container."""
    st.session_state[NOW] = _in_use(now())
    text = now().text()
    addresses.keep(FIELD, "" if text == st.session_state.get(_BARE) else text)


def _in_use(view) -> View:
    """Return a view with the data set and the result that the workspace has in use."""
    fingerprint = workspace.get("dataset")
    if fingerprint is None:  # a model from a file predicts also then, papers stay
        return View(file=view.file, given=view.given, claim=view.claim)
    data = "" if dataset_list.is_default(workspace.get("known").get(fingerprint, {})) else fingerprint[:DIGITS]
    return view.changed(data=data).changed(result=(workspace.get("shown").get(fingerprint) or "")[:DIGITS])


def _use_dataset(data, beginning) -> list[str]:
    """Put the data set of a view in use in a workspace's fields; return its noun if it is missing."""
    known = data["known"].items()
    fits = [key for key, entry in known if dataset_list.is_default(entry)]
    if beginning:
        fits = [key for key, _ in known if key.startswith(beginning)]
    if fits:
        data["dataset"], data["wanted"] = fits[0], None
    return [] if fits or not beginning else ["data set"]


def _use_result(data, beginning) -> list[str]:
    fingerprint = data["dataset"]
    if not beginning:
        data["shown"].pop(fingerprint, None)
        return []
    keys = [record["key"] for record in data["runs"] if record["fingerprint"] == fingerprint]
    fits = [key for key in keys if key.startswith(beginning)]
    if not fits:
        return ["result"]
    data["shown"][fingerprint] = fits[0]
    return []
