"""The fields of a workspace, and how they are read: damaged parts are left out, and the rest is used."""

import functools
import sys
from collections.abc import Collection
from copy import deepcopy

from pages.shared.operator.user_workspaces import LISTS
from pages.shared.workspaces import stored
from xmlcore import experiment
from xmlcore.store.places import KEY

DEFAULT_DATASET = "api-docs"
VERSION = 2
EMPTY = {
    "version": VERSION,
    "dataset": None,  # fingerprint in use
    "used": 0.0,  # when a data set was put in use because it had become ready, in seconds since 1970
    "wanted": DEFAULT_DATASET,  # a catalog entry to prepare, and to use when it is ready
    # Known data sets: fingerprint -> {"name", "source": "catalog", "upload", "synthetic", "split" or "words",
    # "notes": [...]}, with "entry", the name in the catalog, of a data set of the catalog that was given another name,
    # "files", what the user calls the files it was read from, by what they are, and "task", the key of what made it.
    "known": {},
    "forms": {},  # model -> {parameter: value} as last typed, allowed or not; "MODEL own": as they were before a preset
    "widgets": {},  # widget key -> value
    # Results, in the order in which they became ready. "asked": when the user asked for it, in seconds since 1970.
    # {"key", "fingerprint", "model", "params", "k", "created", "asked"}, and what the user gave it: see OWN
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
    "restored": 0.0,  # when a tab wrote it again after the database was lost, in seconds since 1970
}
OWN = {"name": str, "tags": list, "note": str}  # what a user gives a run; tags are texts, and all may be missing
_JOB = ("id", "kind", "inputs", "params", "key", "fingerprint", "title")
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"  # signs that count as printable, and show nothing
_LATEST = 4e9  # seconds since 1970: later times are invalid


def read(token) -> dict | None:
    """Return a workspace without its damaged parts; None if there is no such workspace."""
    data = stored.read(token)
    if data is None and not stored.exists(token):
        return None
    if not isinstance(data, dict) or data.get("version") != VERSION:
        return deepcopy(EMPTY)
    read = {name: _undamaged(name, data.get(name, empty), empty) for name, empty in deepcopy(EMPTY).items()}
    for form in read["forms"].values():
        for name in [name for name, value in form.items() if not _is_setting(value)]:
            del form[name]
    read["runs"] = [_without_damage(run) for run in read["runs"]]
    return read


def _undamaged(name, value, empty):
    """Return the value of a field without entries that do not have the expected form; else the empty one."""
    kind, is_right = (str, type(None)) if empty is None or name == "wanted" else type(empty), _CHECKS.get(name)
    if not isinstance(value, kind):
        return empty
    if isinstance(value, str):
        return value if (is_right or _is_text)(value) else empty
    if isinstance(value, list):
        return [entry for entry in value if _is_shallow(entry) and is_right(entry)]
    if isinstance(value, dict):
        return {key: entry for key, entry in value.items() if _is_shallow(entry) and is_right(key, entry)}
    return value


def add(data: dict, entries: dict) -> None:
    """Add data sets and results to a workspace, in place; its entries stay, and names that are taken get a number."""
    for fingerprint, entry in entries["known"].items():
        if fingerprint not in data["known"]:
            taken = [other["name"] for other in data["known"].values()]
            entry = ({"entry": entry["name"]} if entry["source"] == "catalog" else {}) | entry
            data["known"][fingerprint] = entry | {"name": free_dataset_name(entry["name"], taken)}
    for name in (*LISTS, "jobs"):
        listed = {record["key"] for record in data[name]}
        data[name] += [record for record in entries.get(name, ()) if record["key"] not in listed]
    for name in LISTS:
        data[name].sort(key=lambda record: record.get("created") or record["asked"])
    data["made"] += [entry for entry in entries.get("made", ()) if entry not in data["made"]]


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


def _is_shallow(value, levels: int = 20) -> bool:
    """Return whether lists and dicts in a value are nested in so few levels that every function can follow them."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(one, levels - 1) for one in inner)


def _is_known(fingerprint, entry) -> bool:
    if not KEY.fullmatch(fingerprint) or not _has(entry, "name", "source", "notes"):
        return False
    files, notes = entry.get("files", {}), entry["notes"]
    if not isinstance(notes, list) or not isinstance(files, dict):
        return False
    return _are_texts(
        (entry["name"], entry["source"], entry.get("entry", ""), entry.get("task", ""), *notes, *files.values())
    )


def _is_result(record, *names) -> bool:
    """Return whether a record has all that a record of a run, a selection or a sweep needs: these names, too."""
    if not _has(record, "key", "fingerprint", "params", *names) or not isinstance(record["params"], dict):
        return False
    texts = (record[name] for name in ("key", "fingerprint", *names) if name not in ("k", "asked"))
    if not _are_texts(texts) or KEY.fullmatch(record["key"]) is None or not _is_time(record.get("asked", 0.0)):
        return False
    k = record.get("k", 1)
    return type(k) is int and k >= 1


def _has_settings(record) -> bool:
    """Return whether the settings of a run or a selection can be those of its model or method."""
    of, params = record.get("model", record.get("method")), record["params"]
    return _are_texts(params) and all(_is_setting(value) and _fits(of, name, value) for name, value in params.items())


@functools.lru_cache(maxsize=10_000, typed=True)  # 1, 1.0 and True are different settings
def _fits(of, name, value) -> bool:
    """Return whether a setting has a type that is accepted; another version may know other names and other values."""
    info = (experiment.MODELS | experiment.SELECTORS).get(of)
    try:
        for parameter in info.accepted if info else ():
            if parameter.name == name:
                parameter.check(value)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def _without_damage(run) -> dict:
    """Return the record of a run without invalid values of users, such as a name that is no text."""
    for name, kind in OWN.items():
        if name in run and not (_is_text(run[name]) if kind is str else isinstance(run[name], kind)):
            del run[name]
    if "tags" in run:
        run["tags"] = [tag for tag in run["tags"] if _is_text(tag)]
    return run


def _is_job(record) -> bool:
    if not _has(record, *_JOB) or not _are_texts(record[name] for name in ("id", "kind", "key", "title")):
        return False
    if record["kind"] not in experiment.KINDS or not _is_time(record.get("interrupted", 0.0)):
        return False
    return isinstance(record["inputs"], dict) and isinstance(record["params"], dict)


def _are_texts(values) -> bool:
    return all(map(_is_text, values))


def _is_text(value) -> bool:
    """Return whether a value is a text that can be shown: half of a character alone cannot."""
    try:
        return isinstance(value, str) and (value.isascii() or bool(value.encode()))
    except UnicodeEncodeError:
        return False


def _is_time(value) -> bool:
    """Return whether a value is a time; below 0 it marks a first result, see :mod:`pages.shared.first_results`."""
    return isinstance(value, (int, float)) and abs(value) <= _LATEST


def _is_setting(value) -> bool:
    """Return whether a setting can have a value, a whole number only as far as floats go."""
    if isinstance(value, int):
        return abs(value) <= sys.float_info.max
    return value is None or isinstance(value, float) or _is_text(value)


def _has(record, *names) -> bool:
    return isinstance(record, dict) and all(name in record for name in names)


# By field of a workspace: whether a text, or an entry of a list or a dict, is one that pages can use.
_CHECKS = {
    "dataset": KEY.fullmatch,
    "known": _is_known,
    "forms": lambda _, form: isinstance(form, dict),
    "widgets": lambda _, value: isinstance(value, (list, dict)) or _is_setting(value),
    "shown": lambda _, key: isinstance(key, str),
    "unasked": lambda *_: True,
    "runs": lambda run: _is_result(run, "model", "k", "created") and _has_settings(run),
    "selections": lambda one: _is_result(one, "method", "created") and _has_settings(one),
    "sweeps": lambda record: _is_result(record, "asked"),
    "made": lambda pair: isinstance(pair, list) and len(pair) == 2 and _are_texts(pair),
    "jobs": _is_job,
}
