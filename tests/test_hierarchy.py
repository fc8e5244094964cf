"""What stands above labels, and further names of labels: in data sets, kept with them, and read from files."""

from dataclasses import replace

import numpy as np
import pytest

from xmlcore import PLT, decisions, experiment
from xmlcore.datasets import Dataset, load_saved, save_dataset, with_label_table
from xmlcore.metrics import Hierarchy
from xmlcore.models import PackedModel, read_packed
from xmlcore.models.rules import candidates

PARENTS = {"cat": "animal", "dog": ("animal", "pet"), "animal": "thing", "law": "thing"}
ROWS = [[1.0, 0.0, 0.1], [0.0, 1.0, 0.0], [0.2, 0.0, 1.0]]


def data(**more):
    Y = [["cat"], ["hound"], ["law", "dog"]]
    more = {"label_parents": PARENTS, "label_aliases": {"hound": "dog"}} | more
    return Dataset("animals", ROWS, Y, ROWS, Y, label_names=["cat", "dog", "law"], **more)


def test_a_data_set_keeps_what_is_said_of_labels():
    found = data()
    assert found.Y_train.toarray().astype(int).tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    again = load_saved(save_dataset(found))
    assert again.label_parents == found.label_parents and again.label_aliases == {"hound": "dog"}
    assert replace(again, notes=found.notes).fingerprint == found.fingerprint
    without = replace(found, label_parents=None, label_aliases=None)
    assert without.hierarchy is None and without.content_hash == found.content_hash
    assert len({found.fingerprint, without.fingerprint, replace(found, label_parents=None).fingerprint}) == 3
    model = PLT().fit(without.X_train, without.Y_train, label_names=found.label_names)
    assert experiment.evaluate(model, found, 2).keys() - experiment.evaluate(model, without, 2) == {"hierarchical F1@k"}
    rule = decisions.learn(model, found.X_test, found.Y_test, "P@3")
    assert [row[0].labels for row in decisions.back_off(rule, ROWS, 1, taxonomy=found.hierarchy)] == 3 * [(0, 1, 2)]


def test_a_row_without_a_sure_label_gets_the_smallest_sure_group():
    found = data()
    model = PLT().fit(found.X_train, found.Y_train, label_names=found.label_names)
    rule = decisions.learn(model, found.X_test, found.Y_test, "micro F1")
    p, none = rule.calibration.of_entries(*candidates(model, ROWS, 3)).toarray(), -2 * np.ones_like(rule.offsets)
    for least in (0.1, 0.5, 0.999):
        said = decisions.back_off(replace(rule, offsets=none), ROWS, taxonomy=found.hierarchy, least=least)
        for entries, (cat, dog, _) in zip(said, p):
            animal = 1 - (1 - cat) * (1 - dog)  # what is above all labels is never said
            assert [entry.name for entry in entries] == ["animal"] * int(animal >= least)
            assert all(entry.probability == pytest.approx(animal) for entry in entries)
    assert decisions.back_off(replace(rule, offsets=none), ROWS, taxonomy=found.hierarchy) == [[], [], []]


def test_a_table_gives_parents_and_aliases_to_labels():
    X, Y = [[1.0], [2.0], [3.0], [4.0]], [["cat"], ["dog", "hound"], ["hound"], ["law"]]
    whole = Dataset("pets", X, Y, X, Y)
    found = with_label_table(whole, b"label,parent,aliases\ncat,animal; pet,\ndog,animal,hound;Fido\nfish,animal,cod\n")
    assert found.label_names == ["cat", "dog", "law"] and found.label_parents["cat"] == ("animal", "pet")
    assert found.label_aliases == {"hound": "dog", "Fido": "dog"}
    assert found.Y_train.toarray().astype(int).tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    alone = with_label_table(whole, b"cat\tanimal\ndog\tanimal\n\ndog\tpet\n")
    assert alone.label_parents == {"cat": ("animal",), "dog": ("animal", "pet")}
    assert alone.label_names == whole.label_names
    tabs = with_label_table(whole, b"label\tparent\taliases\ncat\tpup\t\ndog\t\tpup\n")
    assert tabs.label_parents == {"cat": ("dog",)} and tabs.label_aliases == {"pup": "dog"}
    european = with_label_table(whole, b'label;parent;aliases\ncat;animal;"kitty;pup"\n')
    assert european.label_aliases == {"kitty": "cat", "pup": "cat"}
    assert with_label_table(whole, b"label,aliases\nhome,law\n").label_names == ["cat", "dog", "hound", "home"]
    for table, says in (
        (b"label,parent\n,animal\n", "line 2: it has no label"),
        (b"a\tb\n", "none of the 4 labels"),
        (b"cat\tanimal\ndog animal\n", "line 2: it has one name, 'dog animal'"),
        (b"label;parent;aliases\ncat;animal;kitty;pup\n", "line 2: it has 4 cells, but the table has 3 columns"),
        (b"label,aliases\ndog,hound\ncat,hound\n", "line 3: 'hound' is a further name of 'dog' and of 'cat'"),
        (b"label,aliases\ndog,hound\nhound,\n", "'hound' is a further name of 'dog', and a label"),
    ):
        with pytest.raises(ValueError, match=says):
            with_label_table(whole, table)


def test_what_cannot_be_said_of_labels_is_refused():
    for more, says in (
        ({"label_parents": {"cat": "cat"}}, "a circle: cat in cat"),
        ({"label_aliases": {"law": "cat"}}, "the alias 'law' is the name of a label"),
    ):
        with pytest.raises(ValueError, match=says):
            data(**more)
    with pytest.raises(ValueError, match="names has 'cat' more than once"):
        Hierarchy({"cat": "animal"}, ["cat", "dog", "cat"])
    with pytest.raises(TypeError, match="'cat' in .*None"):  # as tables with empty cells give
        Hierarchy({"cat": None}, ["cat"])


def test_a_root_counts_for_nobody_unless_it_is_a_label():
    assert Hierarchy(PARENTS, ["cat", "dog", "law"]).above.toarray().astype(int).tolist() == [
        [1, 0, 0, 0, 0, 1], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 0, 0]
    ]  # fmt: skip
    assert Hierarchy(PARENTS, ["cat", "thing"]).above.toarray().astype(int).tolist() == [
        [1, 1, 0, 1, 0, 0],
        [0, 1] + [0] * 4,
    ]


def test_a_packed_model_takes_further_names(tmp_path):
    found = data()
    model = PLT().fit(found.X_train, found.Y_train)
    PackedModel(model, found.label_names, aliases=found.label_aliases).save(tmp_path / "model.zip")
    assert read_packed(tmp_path / "model.zip").predict_topk(ROWS[:1], 2, labels=["hound"]).labels.tolist() == [[1, -1]]
