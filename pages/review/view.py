"""The doubts that are reviewed, the decisions of this workspace about them, and the one in view."""

import contextlib
import functools
import time
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import fields
from pages.shared.workspaces import stored, workspace
from xmlcore import store
from xmlcore.state import database

KINDS = {"all": "All", "wrong": "Wrong", "missing": "Missing"}
OF_RUN = "Result whose settings are used"
TABLE = stored.DECISIONS
SEEN_SECONDS = 0.25  # between two decisions at least
AT = "review.at"  # key of st.session_state: row and label that were ticked
CHANGED = "review.changed"  # likewise: whether a press has changed what the page shows, until it is drawn
MINE = "review.mine"  # likewise: keys of the decisions of this tab
SKIPPED = "review.skipped"  # likewise: rows and labels that were skipped
PAIR = ["row", "label"]
FIELDS = [*PAIR, "decision"]
COLUMNS = [*FIELDS, "by", "when"]


class Reviewed:
    """Doubts about the training rows of a data set, by the settings of a result."""

    def __init__(self, ready, found):
        self.ready, self.data, self.found = ready, ready.data, found
        self.rows = database().rows(TABLE, self.prefix)
        st.session_state[CHANGED] = False

    @property
    def prefix(self) -> str:
        """How keys of decisions in the database begin."""
        return f"{stored.row(workspace.token())}/{self.ready.fingerprint}/"

    @functools.cached_property
    def earlier(self) -> pd.DataFrame:
        """The decisions that the data set was made with, if it is a corrected one."""
        entry, lines = workspace.get("known").get(self.ready.fingerprint, {}), []
        with contextlib.suppress(store.StoreError):
            if entry.get("source") == "correct":
                lines = store.info("corrected", entry["task"])["params"]["decisions"]
        return pd.DataFrame(lines, columns=COLUMNS)

    @functools.cached_property
    def decided(self) -> pd.DataFrame:
        """The decisions that hold, oldest first: ``row``, ``label``, ``decision``, ``by`` and ``when``."""
        return pd.concat([self.earlier, self.own]).drop_duplicates(PAIR, keep="last", ignore_index=True)

    @functools.cached_property
    def own(self) -> pd.DataFrame:
        """Those of this workspace about this data set."""
        when = (datetime.fromtimestamp(row.written, UTC).isoformat(timespec="seconds") for row in self.rows)
        lines = [row.value | {"when": moment} for row, moment in zip(self.rows, when)]
        return pd.DataFrame(lines, columns=COLUMNS).drop_duplicates(PAIR, keep="last", ignore_index=True)

    @functools.cached_property
    def left(self) -> pd.DataFrame:
        """The doubts that are still to be decided; rows without labels are labelled as a whole."""
        found = self.found.doubts
        found = found[np.diff(self.data.Y_train.indptr)[found["row"]] > 0]
        pairs = pd.MultiIndex.from_frame(self.decided[PAIR].astype(np.int64))
        return found[~pd.MultiIndex.from_frame(found[PAIR]).isin(pairs)]

    @functools.cached_property
    def queue(self) -> pd.DataFrame:
        """Those of the kind and the labels that are chosen."""
        found, kind = self.left, st.session_state.get("review.kind", "all")
        label = st.session_state.get("review.label", "").strip()
        if kind in KINDS and kind != "all":
            found = found[found["kind"] == kind]
        if label:
            known = [j for j in found["label"].unique() if label.lower() in self.data.label_name(int(j)).lower()]
            found = found[found["label"].isin([*known, int(label) if label.isdecimal() else -1])]
        return found

    @functools.cached_property
    def shown(self) -> "pd.Series | None":
        """The doubt in view: the one that is ticked, or else the first that was not skipped; None: all are decided."""
        at = st.session_state.get(AT)
        ticked = self.queue[(self.queue[PAIR] == at).all(axis=1)] if at else self.queue[:0]
        if len(ticked):
            return ticked.iloc[0]
        skipped = st.session_state.get(SKIPPED, set())
        for _, line in self.queue.head(len(skipped) + 1).iterrows():
            if (line["row"], line["label"]) not in skipped:
                return line
        return None

    def decide(self, decision: str, line) -> None:
        """Keep a decision about a row and a label, unless another tab has decided it."""
        pair, rows = [int(line["row"]), int(line["label"])], database().rows(TABLE, self.prefix)
        about, mine = [row for row in rows if _pair(row) == pair], st.session_state.get(MINE, ())
        too_soon = any(time.time() - row.written < SEEN_SECONDS for row in rows if row.key in mine)
        if about and about[-1].key not in mine:
            workspace.notify(f"Another tab has decided this: {about[-1].value['decision']}.")
        elif not about and too_soon:
            workspace.notify("That key came at once after the last one, and decided nothing. Press it again.")
        elif not about:
            self.put([dict(zip(PAIR, pair)) | {"decision": decision}])
        st.session_state[AT] = None

    def decide_all(self, values: list[dict]) -> None:
        """Keep decisions about what nobody has decided meanwhile."""
        pairs = {(*_pair(row),) for row in database().rows(TABLE, self.prefix)}
        self.put([value for value in values if (value["row"], value["label"]) not in pairs])

    def put(self, values: list[dict]) -> None:
        """Keep decisions; one press takes all of them back."""
        now, more, st.session_state[CHANGED] = time.time_ns(), {"by": workspace.get("user") or ""}, True
        with database().change():
            for at, value in enumerate(values):
                key = f"{self.prefix}{now + at:020d}"
                database().put(TABLE, key, more | value | {"file": len(values) > 1 and now})
                st.session_state.setdefault(MINE, set()).add(key)

    def skip(self, line) -> None:
        st.session_state.setdefault(SKIPPED, set()).add((line["row"], line["label"]))
        st.session_state[AT] = None

    def undo(self) -> None:
        """Take the last decision of this tab back, or the last of all, and show what it was about."""
        rows = database().rows(TABLE, self.prefix)
        rows = [row for row in rows if row.key in st.session_state.get(MINE, ())] or rows
        if rows:
            last, file = rows[-1], rows[-1].value.get("file")
            _remove(row for row in rows if row.key == last.key or file and row.value.get("file") == file)
            self.look(_pair(last))

    def withdraw(self, pairs: list) -> None:
        """Take all decisions about rows and labels back."""
        _remove(row for row in database().rows(TABLE, self.prefix) if _pair(row) in pairs)

    def only(self, name: str) -> None:
        """Review labels with this in their names."""
        st.session_state["review.label"], st.session_state[CHANGED] = name, True

    def look(self, pair) -> None:
        st.session_state[AT] = list(pair)

    def choose(self, place) -> None:
        """Let the user choose what is reviewed."""
        kind, label = place.columns([3, 2], vertical_alignment="bottom")
        fields.choice("Doubts", KINDS, "review.kind", place=kind, widget="radio", horizontal=True)
        fields.text("Label", "review.label", place=label, placeholder="part of a name, or an id")

    @functools.cached_property
    def changes(self) -> pd.DataFrame:
        """The decisions that change a label."""
        rows, labels = (self.decided[name].to_numpy(np.int64) for name in PAIR)
        has = np.asarray(self.data.Y_train[rows, labels]).astype(bool).ravel() if rows.size else np.zeros(0, bool)
        return self.decided[self.decided["decision"].to_numpy() == np.where(has, "remove", "add")]


def _pair(row) -> list[int]:
    return [row.value[name] for name in PAIR]


def _remove(rows) -> None:
    with database().change():
        for row in rows:
            database().remove(TABLE, row.key)
    st.session_state[CHANGED] = True
