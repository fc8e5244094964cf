"""Further measures as columns of the table: chosen by the user, and taken when they are asked for."""

import streamlit as st

from pages.shared import format
from pages.shared.streamlit_fixes import downloads
from pages.shared.workspaces import workspace
from xmlcore import experiment

LOOKED_AT = "compare.more.looked_at"  # key of st.session_state: keys of results that were looked at
EVERY = 0.2  # seconds between two steps
STEP = 0.4  # seconds that one step takes
_rounds = [0]  # how many steps were made in this server process


def choose() -> tuple[str, ...]:
    """Show a field for further measures, and return those that are chosen."""
    known = experiment.MORE_MEASURES
    kept = workspace.keep("compare.more", [], lambda value: isinstance(value, list) and set(value) <= set(known))
    kept["default"] = kept.pop("value")
    chosen = st.multiselect(
        "More measures",
        known,
        placeholder="none",
        width=170,
        help="Columns of the table, and lines of the measures side by side. Coverage: the share of labels of the test "
        "rows that are found at least once. Abandonment: the share of rows without a right label. Macro: the mean over "
        "labels; micro: over all pairs of a row and a label.",
        **kept,
    )
    return tuple(measure for measure in known if measure in chosen)


def rounds() -> int:
    """Return a number that is another one when records of results have got measures that they did not have."""
    return _rounds[0]


def names(chosen) -> list[str]:
    """Return the names of measures of which some k was chosen: ``["macro F1@k"]`` for ``["macro F1@5"]``."""
    return list(dict.fromkeys(f"{measure.rpartition('@')[0]}@k" for measure in chosen))


def take(frame, choice) -> None:
    """Take chosen measures of results that do not have them, a few at a time, and draw the page again with them."""
    seen = st.session_state.setdefault(LOOKED_AT, set())
    lacking = frame.loc[frame[list(choice.more)].isna().any(axis=1), "key"].tolist()
    if set(lacking) - seen:
        st.fragment(_step, run_every=EVERY)(lacking)


def _step(lacking):
    """Take the measures of the next results."""
    seen = st.session_state.setdefault(LOOKED_AT, set())
    left = [key for key in lacking if key not in seen]
    if left:
        seen.update(left[: experiment.take_more_measures(left, STEP)])
        _rounds[0] += 1
    done = sum(key in seen for key in lacking)
    if done == len(lacking):
        downloads.wait()
        st.rerun()
    st.caption(f"Taking these measures: {done:,} of {format.count(len(lacking), 'result')}.")
