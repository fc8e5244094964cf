"""The fields of a workspace, and how they are read."""

from collections.abc import Collection
from copy import deepcopy

from pages.shared.workspaces import stored
from xmlcore import experiment

DEFAULT_DATASET = "api-docs"
VERSION = 2
EMPTY = {
    "version": VERSION,
    "dataset": None,  # fingerprint in use
    "used": 0.0,  # when a data set was put in use because it had become ready, in seconds since 1970
    "wanted": DEFAULT_DATASET,  # a catalog entry to prepare, and to use when it is ready
    # Known data sets: fingerprint -> {"name", "source": "catalog", "upload", "synthetic", "split", "words" or
    # "correct",
    # "notes": [...]}, with "entry", the name in the catalog, of a data set of the catalog that was given another name,
    # "files", what the user calls the files it was read from, by what they are, and "task", the key of what made it.
    "known": {},
    "forms": {},  # model -> {parameter: value} as last typed, allowed or not; "MODEL own": as they were before a preset
    "widgets": {},  # widget key -> value
    # Results, in the order in which they became ready. "asked": when the user asked for it, in seconds since 1970.
    # {"key", "fingerprint", "model", "params", "k", "created", "asked"}, and of the user: "name", "tags", "note"
    "runs": [],
    "selections": [],  # {"key", "fingerprint", "method", "params", "created", "asked"}
    "made": [],  # [kind in the store, key] of results of other kinds that this workspace asked for, oldest first
    "shown": {},  # fingerprint -> key of the run shown
    "jobs": [],  # records of tasks.start: tasks whose results have not been collected
    # Results that are not begun again unasked: key -> whether nobody asked for it. See pages.shared.first_results.
    "unasked": {},
    "sweeps": [],  # records of sweeps, oldest first: see pages.shared.sweeping
    "look": None,  # the token of the read-only address, once it was asked for
    "user": None,  # whose it is, if users sign in: see pages.shared.operator.user_workspaces
}
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"  # signs that count as printable, and show nothing


def read(token) -> dict | None:
    """Return the fields of a workspace; None if there is no such workspace."""
    data = stored.read(token)
    if data is None:
        return None
    if not isinstance(data, dict) or data.get("version") != VERSION:
        return deepcopy(EMPTY)
    read = deepcopy(EMPTY) | data
    read["jobs"] = [record for record in read["jobs"] if record["kind"] in experiment.KINDS]  # else of another version
    return read


def free_dataset_name(wanted: str, taken: Collection[str]) -> str:
    """Return the name ``wanted`` of a data set, if anything of it can be seen, as :func:`free_name` does."""
    is_seen = any(sign.isprintable() and not sign.isspace() and sign not in _BLANKS for sign in wanted)
    return free_name(wanted if is_seen else "unnamed data", taken)


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return the name ``wanted``, followed by a number if another one has that name."""
    found, number = wanted, 1
    while found in taken:
        number += 1
        found = f"{wanted} ({number})"
    return found
