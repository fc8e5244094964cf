"""The log of a job, shown when it is asked for."""

import streamlit as st


def button(job) -> None:
    shown = is_shown(job)
    st.button("Hide log" if shown else "Log", key=f"jobs.log.{job.id}", on_click=_toggle, args=(job.id, shown))


def is_shown(job) -> bool:
    return st.session_state.get("jobs.log") == job.id


def lines(log: list, place=st) -> None:
    place.code("\n".join(log) or "Nothing was written yet.", language=None, height=min(300, 60 + 24 * len(log)))


def _toggle(job_id, shown):
    st.session_state["jobs.log"] = None if shown else job_id
