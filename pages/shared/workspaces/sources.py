"""Where the data sets of a workspace come from, in words: the same in all lists."""

from pages.shared.workspaces import dataset_list
from xmlcore import datasets

WITH_XMLCORE = "comes with xmlcore"
DOWNLOADED = "downloaded"
OWN = {"upload": "uploaded here", "synthetic": "made here", "split": "split here", "words": "made here"}


def words(entry: dict) -> str:
    """Return where a data set comes from, given as in the workspace's "known": ``uploaded here``."""
    if entry["source"] == "catalog":
        return of_catalog(dataset_list.catalog_name(entry))
    return OWN.get(entry["source"], entry["source"])


def of_catalog(name: str) -> str:
    """Return where a data set of the catalog comes from, given by its name there."""
    return DOWNLOADED if any(entry.published for entry in datasets.catalog() if entry.name == name) else WITH_XMLCORE
