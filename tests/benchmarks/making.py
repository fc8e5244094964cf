"""Small data sets and options for the tests of studies."""

import gzip
from types import SimpleNamespace

from xmlcore.datasets import make_synthetic, write_matrix

ABOUT = {  # what the results of every study begin with
    "date": "2025-01-01", "machine": {"cpu": "a processor", "cores": 2, "memory_gib": 8.0, "system": "Linux"},
    "versions": {"python": "3.12", "numba": "1"}, "threads": 2, "xmlcore_code": "abc",
}  # fmt: skip
USUAL = {"n_train": 120, "n_test": 40, "n_features": 40, "n_labels": 6, "features_per_row": 8.0, "labels_per_row": 1.5}


def write_data(folder, name, **sizes):
    """Write a synthetic data set as studies read it: ``name/train.txt.gz`` and ``name/test.txt.gz`` in a folder."""
    data = make_synthetic(**USUAL | sizes, n_jobs=1)
    (folder / name).mkdir(parents=True)
    for part in ("train", "test"):
        path = folder / name / f"{part}.txt"
        write_matrix(path, getattr(data, f"X_{part}"), getattr(data, f"Y_{part}"))
        path.with_suffix(".txt.gz").write_bytes(gzip.compress(path.read_bytes()))


def options(folder, **more):
    """Return the options of a study on the command line, for quick points on small data."""
    return SimpleNamespace(**{"folder": folder, "threads": 1, "quick": True, "attempts": 1, "part": []} | more)


def is_whole(text) -> bool:
    """Return whether there are tables, no row of them is torn, and no figure is missing without a word."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return bool(lines) and all(line.endswith("|") for line in lines) and "nan" not in text
