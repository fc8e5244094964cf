"""Limits of a user on a server that many share: jobs at once, space on the disk, size of an upload.

Each limit is an environment variable; without it there is no limit. Without sign-in, a user is a workspace.
"""

import os

import streamlit as st
from streamlit import config

from pages.shared import format
from pages.shared.operator import accounts, user_workspaces
from pages.shared.operator.audit import FILES_VARIABLE, SIZE_VARIABLE, whole_number
from pages.shared.process import in_memory, job_queue, room
from pages.shared.workspaces import stored, workspace
from xmlcore import store
from xmlcore.datasets.texts import words

JOBS = "XMLCORE_USER_JOBS"  # jobs that wait or run
DISK = "XMLCORE_USER_DISK"  # what the user's workspaces keep, such as "20 GB"
UPLOAD = "XMLCORE_UPLOAD_SIZE"  # one uploaded file, such as "200 MB"
UPLOADS = 3  # times the largest file: what the files that one session has sent may take in memory until they are read
FIRST = "XMLCORE_FIRST_RESULTS"  # "off": nothing is computed that nobody asked for


def size(variable: str) -> int | None:
    """Return the bytes in an environment variable; None if it is not set. ValueError if it has no size."""
    text = os.environ.get(variable, "").strip()
    return store.parse_size(text, variable) if text else None


def apply() -> None:
    """Set the limits of this server process, on uploads and searches; called when the server starts."""
    for variable in (JOBS, SIZE_VARIABLE, FILES_VARIABLE):
        whole_number(variable, None)
    first_results()
    in_memory.bound()
    words.limit_search(words.SECONDS)
    size(DISK)
    config.set_option("server.maxUploadSize", max(1, largest_file() // 2**20))  # the fields of pages say so


def largest_file() -> int:
    most, configured = size(UPLOAD), st.get_option("server.maxUploadSize") * 2**20
    return configured if most is None else min(most, configured)


def first_results() -> bool:
    """Return whether this server computes first results, which nobody asks for; ValueError for neither on nor off."""
    text = os.environ.get(FIRST, "").strip() or "on"
    if text not in ("on", "off"):
        raise ValueError(f"{FIRST} is {text!r}, and must be on or off")
    return text == "on"


def tokens() -> list[str]:
    who = accounts.user()
    return list(dict.fromkeys([workspace.token(), *(user_workspaces.tokens(who.id) if who else ())]))


def refusal() -> str | None:
    """Return why the present user cannot start a job now, and a remedy; None if it is possible."""
    most = whole_number(JOBS, None)
    if most is not None:
        own = [job for token in tokens() for job in job_queue.queue().jobs(owner=token) if job.active]
        active = {job.id for job in own if not job.plan.unasked}
        if len(active) >= most:
            return f"You have {format.count(len(active), 'job')} already, and this server allows {most}. Wait for one."
    most = size(DISK)
    if most is not None and (taken := kept()) >= most:
        return (
            f"Your workspaces keep {format.size(taken)}, and this server allows {format.size(most)}. Delete something "
            "on the Storage page."
        )
    return None


def kept() -> int:
    """Return the bytes of the artifacts that the present user asked for and his workspaces list, each counted once."""
    found = room.inventory()
    names = {}
    for token in tokens():
        fields = stored.read(token) or {}
        unasked = {key for key, is_unasked in fields.get("unasked", {}).items() if is_unasked}
        listed = user_workspaces.listed_keys(fields) - unasked
        names |= {artifact.name: artifact.bytes for key in listed for artifact in found.with_key(key)}
    return sum(names.values())
