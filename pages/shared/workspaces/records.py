"""What a workspace has, and how it is read: what is damaged in it is left out, and the rest is used."""

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
    # What may be opened: fingerprint -> {"name", "source": "catalog", "upload", "synthetic", "split" or "words",
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
    "look": None,  # the token of the address for looking only, once it was asked for
    "user": None,  # whose it is, if users sign in: see pages.shared.operator.user_workspaces
    "restored": 0.0,  # when a tab wrote it again after the database was lost, in seconds since 1970
}
OWN = {"name": str, "tags": list, "note": str}  # what a user gives a run; tags are texts, and all may be missing
_RUN = ("key", "fingerprint", "model", "params", "k", "created")
_SELECTION = ("key", "fingerprint", "method", "params", "created")
_SWEEP = ("key", "fingerprint", "params", "asked")
_JOB = ("id", "kind", "inputs", "params", "key", "fingerprint", "title")
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"  # signs that count as printable, and show nothing
_LATEST = 4e9  # seconds since 1970: later times are none


def read(token) -> dict | None:
    """Return a workspace, without what is damaged in it; None without such a workspace."""
    data = stored.read(token)
    if data is None and not stored.exists(token):
        return None
    if not isinstance(data, dict) or data.get("version") != VERSION:
        return deepcopy(EMPTY)
    # Entries that do not have the expected form are damaged: they are left out, and the rest is used.
    read = {name: data.get(name, empty) for name, empty in deepcopy(EMPTY).items()}
    for name, empty in deepcopy(EMPTY).items():
        kind = (str, type(None)) if empty is None or name == "wanted" else type(empty)
        if not isinstance(read[name], kind) or (isinstance(read[name], str) and not _is_text(read[name])):
            read[name] = empty
        elif isinstance(read[name], list):
            read[name] = [entry for entry in read[name] if _is_shallow(entry)]
        elif isinstance(read[name], dict):
            read[name] = {key: entry for key, entry in read[name].items() if _is_shallow(entry)}
    forms = {model: form for model, form in read["forms"].items() if isinstance(form, dict)}
    read["forms"] = {
        m: {name: value for name, value in form.items() if _is_setting(value)} for m, form in forms.items()
    }
    read["widgets"] = {key: v for key, v in read["widgets"].items() if isinstance(v, (list, dict)) or _is_setting(v)}
    read["known"] = {key: entry for key, entry in read["known"].items() if KEY.fullmatch(key) and _is_known(entry)}
    read["dataset"] = read["dataset"] if KEY.fullmatch(read["dataset"] or "") else None
    read["runs"] = [_without_damage(run) for run in read["runs"] if _is_result(run, *_RUN) and _has_settings(run)]
    read["selections"] = [one for one in read["selections"] if _is_result(one, *_SELECTION) and _has_settings(one)]
    read["sweeps"] = [record for record in read["sweeps"] if _is_result(record, *_SWEEP)]
    read["made"] = [pair for pair in read["made"] if isinstance(pair, list) and len(pair) == 2 and _are_texts(pair)]
    read["shown"] = {fingerprint: key for fingerprint, key in read["shown"].items() if isinstance(key, str)}
    read["jobs"] = [job for job in read["jobs"] if _is_job(job)]
    return read


def add(data: dict, entries: dict) -> None:
    """Add data sets and results to a workspace, in place; what it has stays, and names that are taken get a number."""
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


def _is_known(entry) -> bool:
    """Return whether an entry has all that an entry of a data set needs."""
    if not _has(entry, "name", "source", "notes") or not isinstance(entry["notes"], list):
        return False
    files = entry.get("files", {})
    texts = (entry["name"], entry["source"], entry.get("entry", ""), entry.get("task", ""), *entry["notes"])
    return _are_texts(texts) and isinstance(files, dict) and _are_texts(files.values())


def _is_result(record, *names) -> bool:
    """Return whether a record has all that a record of a run, a selection or a sweep needs: these names."""
    if not _has(record, *names) or not isinstance(record["params"], dict):
        return False
    texts = (record[name] for name in names if name not in ("params", "k", "asked"))
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
    """Return the record of a run without what a user cannot have given it, such as a name that is no text."""
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
    """Return whether a value is a time; one below 0 says that nobody asked, see :mod:`pages.shared.first_results`."""
    return isinstance(value, (int, float)) and abs(value) <= _LATEST


def _is_setting(value) -> bool:
    """Return whether a setting can have a value, a whole number only as far as floats go."""
    if isinstance(value, int):
        return abs(value) <= sys.float_info.max
    return value is None or isinstance(value, float) or _is_text(value)


def _has(record, *names) -> bool:
    """Return whether a record is a dict with these keys."""
    return isinstance(record, dict) and all(name in record for name in names)
