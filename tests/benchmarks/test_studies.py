"""What all studies keep."""

import json
from importlib import import_module

import pytest

from benchmarks.library import comparison, files, scaling_tables, studies

STUDIES = ("ldsm", "fals", "double_sampling", "robustness")


def tables(name):
    """Return the file of results, and the tables that its study makes of them."""
    path = files.RESULTS / f"{name}.json"
    results = json.loads(path.read_text(encoding="utf-8"))
    if name in STUDIES:
        return path, studies.markdown(import_module(f"benchmarks.{name}").STUDY, results)
    return path, (comparison if name == "comparison" else scaling_tables).markdown(results)


@pytest.mark.parametrize("name", [*STUDIES, "scaling", "amazon-670k", "comparison"])
def test_committed_tables_are_those_of_the_committed_results(name):
    path, made = tables(name)
    assert path.with_suffix(".md").read_text(encoding="utf-8") == made
