"""What every page says when nothing can be kept (disk full, folder gone or not safe) or the database was damaged."""

from datetime import datetime

import streamlit as st

from pages.shared import format
from pages.shared.workspaces import stored, workspace
from xmlcore import store
from xmlcore.system import UnsafeCacheError, secure_cache

SAID = "keeping.said"  # key of st.session_state: whether the trouble was shown in this session and is not over
DAMAGE = "keeping.damage"  # likewise: the name of the damaged database of which this session was told enough
STAYS = "What you see stays in memory and is kept when that is possible again, unless the server is stopped before."


def refused() -> bool:
    """Show why the folder for results is not used, if others could have written to it; return whether that is so."""
    try:
        secure_cache()
    except UnsafeCacheError as error:
        st.error(f"**The dashboard does not start.** {format.plain(error)}")
        return True
    return False


def show_trouble() -> None:
    """Say that nothing can be kept now, and why; write what could not be written before."""
    damage = stored.damage()
    if damage is not None and st.session_state.get(DAMAGE) != damage.value:
        since = st.session_state.get(workspace.SINCE, {}).get("", damage.written)
        kept = "Data sets and results are kept: where one is not listed, the same settings show it again at once. "
        if damage.key == "lost":
            last = f" after {datetime.fromtimestamp(damage.value[0]):%Y-%m-%d %H:%M}" if damage.value[0] else ""
            st.warning(
                f"**The list of workspaces lacks what was changed last**{last}: its file was removed or replaced by an "
                f"older one. {kept}The server's log names the file, so that its operator can put it back."
            )
        else:
            st.warning(
                "**The list of workspaces was damaged.** What could still be read of it was taken over"
                + (", and this page lists again what it had open. " if since < damage.written else ". ")
                + f"{kept}The damaged file is now called `{damage.value}`."
            )
        st.button("Close", key="keeping.close", on_click=st.session_state.__setitem__, args=(DAMAGE, damage.value))
    saved, why = stored.save_waiting(), store.trouble()
    if why is not None:
        st.session_state[SAID] = True
        st.warning(f"**Nothing new can be kept.** {format.plain(why)}" + ("" if saved else f" {STAYS}"))
    elif st.session_state.pop(SAID, False):
        workspace.notify("There is room again: what is done now is kept.")


def run(page) -> None:
    """Run a page; say what it could not do for want of a disk."""
    try:
        page.run()
    except OSError as error:
        why = store.trouble()
        if why is None and not isinstance(error, store.CannotKeepError):
            raise
        st.error(f"This page could not be shown as a whole. {format.plain(why or error)}")
