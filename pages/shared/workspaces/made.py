"""Data sets that were made for this workspace: read from files, split anew, or synthetic."""

import re

from pages.shared import format
from pages.shared.workspaces import dataset_list, workspace
from xmlcore.datasets.readers.sources import telling_name
from xmlcore.experiment.engine import given

# Kinds of tasks, with the source of what they make.
KINDS = {"read": "upload", "read_texts": "upload", "split": "split", "synthetic": "synthetic", "words": "words"}

_GIVEN = re.compile(re.escape(given.NAME).replace(re.escape("{}"), r"(\w+)"))  # the name of a file that is given


def list_dataset(kind: str, made, use: bool, task: str = "", *, name="", files={}, notes=()) -> None:  # noqa: B006
    """List a data set that a task has made in the workspace, and say so."""
    source, notes = KINDS[kind], [*notes, *(with_names(note, files) for note in made.notes)]
    name = name or getattr(made, "name", "") or file_name(files) or f"upload of {format.count(made.n_labels, 'label')}"
    earlier = workspace.get("known").get(made.dataset, {}).get("name")
    if earlier is None:
        kept_files = files if source == "upload" else None
        dataset_list.add_dataset(made.dataset, name, source, use=use, notes=notes, files=kept_files, task=task)
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
