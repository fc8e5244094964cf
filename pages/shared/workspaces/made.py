"""Data sets that were made for this workspace: read from files, split anew, or synthetic."""

import re

from pages.shared import format
from pages.shared.workspaces import dataset_list, records, result_list, workspace
from xmlcore.datasets.readers.sources import telling_name
from xmlcore.experiment.engine import given

# Kinds of tasks, with the source of what they make.
KINDS = {"read": "upload", "read_texts": "upload", "split": "split", "synthetic": "synthetic", "words": "words"}

_GIVEN = re.compile(re.escape(given.NAME).replace(re.escape("{}"), r"(\w+)"))  # the name of a file that is given
LONG_AGO = 1.0  # seconds since 1970 at which what a file brings was asked for: nothing gives way to it


def list_dataset(kind: str, made, use: bool, *, name: str = "", files: dict = {}, notes: list = ()) -> None:  # noqa: B006
    """List a data set that a task has made in the workspace, and say so."""
    source, notes = KINDS[kind], [*notes, *(with_names(note, files) for note in made.notes)]
    name = name or getattr(made, "name", "") or file_name(files) or f"upload of {format.count(made.n_labels, 'label')}"
    earlier = workspace.get("known").get(made.dataset, {}).get("name")
    if earlier is None:
        kept_files = files if source == "upload" else None
        dataset_list.add_dataset(made.dataset, name, source, use=use, notes=notes, files=kept_files)
        name = workspace.get("known").get(made.dataset, {}).get("name", name)
    elif use:
        workspace.update(dataset=made.dataset, wanted=None)
    workspace.notify(_said(kind, made, name, earlier, use))


def _said(kind, made, name, earlier, use):
    """Return the message that a data set is there; ``earlier`` is the name it had already, or None."""
    if earlier is not None:
        of = f"{earlier} is split in the same way" if kind == "split" else f"{name} has the same content as {earlier}"
        if kind == "synthetic" or name == earlier:
            of = f"{earlier} is here already"
        return f"{of}: it is in use now." if use else f"{of}: choose it on the Data page."
    then = "." if use else f": {name} can be chosen on the Data page."
    if kind == "split":
        return f"Split anew: {made.n_train:,} training rows and {made.n_test:,} test rows{then}"
    done = "read" if KINDS[kind] == "upload" else "made"
    return f"{name} is {done} and in use." if use else f"{name} is {done}: choose it on the Data page."


def with_names(text: str, files: dict) -> str:
    """Return a message of a task that reads files, with what the user calls the files."""
    return _GIVEN.sub(lambda found: files.get(found[1], found[1].replace("_", " ")), text)


def file_name(files: dict) -> str:
    """Return a name for a data set from the names of its files; empty if they say nothing."""
    test = re.sub(r"(?i)(?<![ ._-])[ ._-]++(test|testing|tst|te)(?=\.|$)", "", files.get("test", ""))
    return telling_name(files.get("train", "")) or telling_name(test)


def list_import(result) -> None:
    """List data sets and results of an import in this workspace, and say so; what is listed already stays as it is."""
    entries = result.contents | {"imports": result.readings}
    for kind in result_list.FIELDS:
        entries[kind] = [record | {"asked": LONG_AGO} for record in entries[kind]]
    workspace.update(lambda data: records.add(data, entries))
    sets = format.count(len(result.contents["known"]), "data set")
    rest = sum(len(result.contents.get(name, ())) for name in ("runs", "selections", "sweeps", "made"))
    left = format.count(result.left_out, "result")
    more = (
        f" Left out: {left} of which an earlier file had another value; make it again here." if result.left_out else ""
    )
    workspace.notify(
        f"The workspace is read: {sets} and {format.count(rest, 'result')}. Choose a data set on the Data page.{more}"
    )
