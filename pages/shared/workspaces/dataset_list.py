"""The data sets that a workspace lists: add, rename and forget them, where they come from, and how one is made."""

import re
import time

from pages.shared import format
from pages.shared.workspaces import workspace
from pages.shared.workspaces.records import DEFAULT_DATASET, free_dataset_name
from xmlcore import datasets
from xmlcore.datasets.readers.sources import stem, telling_name
from xmlcore.experiment.engine import task_files

LONGEST_NAME = 80  # characters in the name of a data set
WITH_XMLCORE = "comes with xmlcore"
DOWNLOADED = "downloaded"
OWN = {
    "upload": "uploaded here", "synthetic": "made here", "split": "split here", "words": "made here",
    "correct": "corrected here",
}  # fmt: skip


def add_dataset(
    fingerprint: str, name: str, source: str, *, use: bool, notes: list[str] = (), files: dict = None, task: str = ""
) -> None:
    """Add a saved data set to those that the workspace can open; with ``use``, it becomes the one in use."""

    def add(data):
        before = data["known"].get(fingerprint, {})
        taken = [other["name"] for key, other in data["known"].items() if key != fingerprint]
        data["known"][fingerprint] = {
            "name": before.get("name") or free_dataset_name(name, taken),
            "source": source,
            "notes": list(notes),
        }
        more = {"entry": name if source == "catalog" else None, "files": files or before.get("files")}
        more |= {"task": task or before.get("task")}
        data["known"][fingerprint] |= {field: value for field, value in more.items() if value}
        if use:
            data["dataset"] = fingerprint
            data["used"] = time.time()
            data["wanted"] = None

    workspace.update(add)


def catalog_name(entry: dict) -> str:
    return entry.get("entry", entry["name"])


def is_default(entry: dict | None) -> bool:
    """Return whether the record of a data set is of the one that comes with the program."""
    return entry is not None and entry["source"] == "catalog" and catalog_name(entry) == DEFAULT_DATASET


def catalog_entry(fingerprint: str | None) -> datasets.CatalogEntry | None:
    """Return the catalog's entry of a data set of the workspace; None if it is not of the catalog."""
    known = workspace.get("known").get(fingerprint, {"source": None})
    name = catalog_name(known) if known["source"] == "catalog" else None
    return next((entry for entry in datasets.catalog() if entry.name == name), None)


def rename_dataset(fingerprint: str, name: str) -> None:
    """Give a data set of the workspace another name; results and downloads are then called by it."""

    def rename(data):
        """Write the name into the workspace's fields; one that another data set has gets a number."""
        entry = data["known"].get(fingerprint)
        if entry is not None:
            if entry["source"] == "catalog":
                entry["entry"] = catalog_name(entry)
            taken = [other["name"] for key, other in data["known"].items() if key != fingerprint]
            entry["name"] = free_dataset_name(name.strip() or entry["name"], taken)

    workspace.update(rename)


def use_dataset(fingerprint: str) -> None:
    workspace.update(dataset=fingerprint, wanted=None)


def leave_dataset(fingerprint: str, wanted: str = DEFAULT_DATASET, *, forget: bool = False) -> None:
    """Take a data set out of use, and off the list; ``wanted``, one of the catalog, is prepared and used next."""

    def leave(data):
        if forget:
            data["known"].pop(fingerprint, None)
        if data["dataset"] == fingerprint:
            data["dataset"], data["wanted"] = None, wanted

    workspace.update(leave)


def where_from(entry: dict) -> str:
    """Return where a data set comes from, given as in the workspace's "known": ``uploaded here``."""
    if entry["source"] == "catalog":
        published = {one.name for one in datasets.catalog() if one.published}
        return DOWNLOADED if catalog_name(entry) in published else WITH_XMLCORE
    return OWN.get(entry["source"], entry["source"])


# Kinds of tasks, with the source of what they make.
KINDS = {"read": "upload", "read_texts": "upload"} | {kind: kind for kind in ("split", "synthetic", "words", "correct")}

_GIVEN = re.compile(re.escape(task_files.NAME).replace(re.escape("{}"), r"(\w+)"))  # the name of a file that is given


def list_dataset(kind: str, made, use: bool, task: str = "", *, name="", files={}, notes=()) -> None:  # noqa: B006
    """List a data set that a task has made in the workspace, and say so."""
    source, notes = KINDS[kind], [*notes, *(with_names(note, files) for note in made.notes)]
    name = name or made.name or file_name(files) or f"upload of {format.count(made.n_labels, 'label')}"
    entry = workspace.get("known").get(made.dataset, {})
    earlier = entry.get("name")
    if earlier is None or entry["source"] == kind == "correct":  # which may have further decisions
        kept_files = files if source == "upload" else None
        add_dataset(made.dataset, name, source, use=use, notes=notes, files=kept_files, task=task)
        name = workspace.get("known").get(made.dataset, {}).get("name", name)
    elif use:
        use_dataset(made.dataset)
    same = "" if earlier in (None, name) else f" with the same content as {name}"
    workspace.notify(f"{earlier or name}{same} is {'in use' if use else 'ready: choose it in the sidebar'}.")


def with_names(text: str, files: dict) -> str:
    """Return a message of a task that reads files, with the user's names of the files."""
    return _GIVEN.sub(lambda found: files.get(found[1], found[1].replace("_", " ")), text)


def file_name(files: dict) -> str:
    """Return a name for a data set from the names of its files; empty if they say nothing."""
    test = re.sub(r"(?i)(?<![ ._-])[ ._-]++(test|testing|tst|te)(?=\.|$)", "", files.get("test", ""))
    return telling_name(files.get("train", "")) or telling_name(test) or stem(files.get("train", ""))[:80]
