"""Damaged ARFF files give a matrix or a DatasetFormatError, nothing else."""

import os
import random
from pathlib import Path

import numpy as np
import pytest
from datasets import fuzzing

from xmlcore.datasets import read_matrix, write_arff

DENSE = rb"""% dense
@relation 'd: -C -2'
@attribute height numeric % metres
@attribute 'it\'s a colour' {red, green, 'dark \'blue\''}
@attribute "old \\ er" {1,0}
@attribute day integer [1,31] {2.0}
@attribute tall {0,1}
@attribute 'TAG_m\'usica' {no,yes}

@data
1.5,green,1,3,0,no
0,'dark \'blue\'',0,?,1,yes, {0.5}
-2e-3	red	1	31	0	'yes'
{0 1.25,1 green, 4 1}, {2}
{}
"""
XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels"><label name="tall"><label name="TAG_m'usica"/></label></labels>"""


def cut(folder, file, features, labels):
    """Return a real file with its first features and last labels only, and its first rows."""
    head, _, rows = (folder / "arff" / file).read_text().partition("@data\n")
    attributes = [line for line in head.split("\n") if line.startswith("@attribute")]
    keep = [*range(features), *range(len(attributes) - labels, len(attributes))]
    made = [f"@relation 'cut: -C -{labels}'", *(attributes[i] for i in keep), "@data"]
    for row in rows.split("\n")[:30]:
        if row.startswith("{"):
            pairs = [pair.split(" ") for pair in row[1:-1].split(",")]
            made.append("{" + ",".join(f"{keep.index(int(i))} {v}" for i, v in pairs if int(i) in keep) + "}")
        elif row:
            values = row.split(",")
            made.append(",".join(values[i] for i in keep))
    return "\n".join([*made, ""]).encode()


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """Some small files: a dense one, one that was written, and parts of real ones where there are some."""
    path = tmp_path_factory.mktemp("written") / "a.arff"
    rng = np.random.default_rng(0)
    names = ["a", "b c", "d'e", "\\", "ü"]
    write_arff(path, rng.random((8, 5)).round(3), [[0], [1], [], [0, 1]] * 2, names, ["tall", "y%"])
    found = [DENSE, path.read_bytes()]
    if os.environ.get("XMLCORE_TEST_DATA"):
        folder = Path(os.environ["XMLCORE_TEST_DATA"])
        found += [cut(folder, "Corel5k-train-sparse.arff", 30, 30), cut(folder, "yeast-train.arff", 12, 4)]
    return found


def damaged(contents, count, seed):
    """Read damaged files in all ways to tell the labels; return how many could be read."""
    generator = random.Random(seed)
    read = 0
    for _ in range(count):
        content = fuzzing.mutate(generator.choice(contents), generator)
        xml = XML if generator.random() < 0.5 else fuzzing.mutate(XML, generator)
        labels = generator.choice((None, None, -2, 1, xml, ["tall"]))
        format = "arff" if labels is not None else generator.choice(("arff", "auto"))
        read += fuzzing.check(read_matrix, content, labels=labels, format=format)
    return read


def test_damaged_files_give_a_matrix_or_an_error(contents):
    assert 20 < damaged(contents, 600, seed=1) < 580


@pytest.mark.slow
@pytest.mark.timeout(100 + fuzzing.MANY / 20)
def test_many_damaged_files_give_a_matrix_or_an_error(contents):
    assert 0.05 * fuzzing.MANY < damaged(contents, fuzzing.MANY, seed=2) < 0.95 * fuzzing.MANY
