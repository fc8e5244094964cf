"""What is said of a chosen file, remembered for the last file of each kind: a page that is drawn again looks once."""

import streamlit as st

from pages.shared.process import turns
from xmlcore.experiment.engine import looks

LOOKED = "looking.looked"  # key of st.session_state: by kind, a file and settings, and what its beginning says


def look(kind: str, function, file, **options) -> tuple:
    """Return what :func:`xmlcore.experiment.engine.looks.look` returns, or raise what it raised."""
    known = st.session_state.setdefault(LOOKED, {})
    names = {name: getattr(value, "file_id", value) for name, value in options.items()}
    key = file.file_id, repr(names)
    if known.get(kind, (None,))[0] != key:
        turns.give_up()
        try:
            known[kind] = key, looks.look(function, file, **options)
        except (ValueError, TypeError, OSError) as error:
            known[kind] = key, error
    outcome = known[kind][1]
    if isinstance(outcome, Exception):
        raise outcome.with_traceback(None)
    return outcome
