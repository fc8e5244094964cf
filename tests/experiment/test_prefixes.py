"""Parts of an ensemble are measured as if they had been trained so."""

import pytest
from making import stop, train

from xmlcore import PLT, LdSM, evaluate, experiment, store
from xmlcore.datasets import save_dataset
from xmlcore.progress import Cancelled


@pytest.fixture(scope="module")
def forest(easy):
    return LdSM(n_estimators=5, max_nodes=20, learning_rate=1.0).fit(easy.X_train, easy.Y_train)


def test_parts_of_a_model_are_measured_as_models_trained_so(easy, forest):
    frame = experiment.prefix_measures(forest, easy, k=3, n_trees=[2, 5], max_nodes=[1, 8, 20])
    for (axis, trees, most), rows in frame.groupby(["axis", "n_trees", "max_nodes"]):
        model = LdSM(n_estimators=trees, max_nodes=most, learning_rate=1.0).fit(easy.X_train, easy.Y_train)
        expected = evaluate(model, easy, k=3)
        for line in rows.to_dict("records"):
            assert line["value"] == expected[line["measure"]][line["k"] - 1], (axis, trees, most)
        assert set(rows["depth"]) == {model.size()["depth"]}
    assert set(frame["measure"]) == {"P@k", "R@k", "nDCG@k", "PSP@k", "PSnDCG@k"}
    assert len(frame) == 5 * 5 * 3


def test_points_reach_from_one_to_the_whole_model(forest):
    n_trees, max_nodes = experiment.prefix_points(forest)
    assert n_trees == [1, 2, 3, 5]
    assert max_nodes[0] == 1 and max_nodes[-1] == 20
    assert 2 not in max_nodes  # with two children per node, the same trees as 1


def test_measures_of_parts_end_with_those_of_the_run(easy):
    fingerprint = save_dataset(easy)
    key = experiment.keep(train(fingerprint, "LdSM", {"n_estimators": 3, "max_nodes": 20}))
    run = experiment.load("train", key)
    task = experiment.task("prefixes", {"run": key})
    assert task.work().values > 0

    with pytest.raises(Cancelled):
        experiment.keep(task, stop)
    assert not store.exists("prefixes", task.key)

    said, details = [], set()
    stored = experiment.keep(task, lambda *shown: said.append(shown[1]) or details.add(str(shown[-1]).split(":")[0]))
    assert {"1 tree", "2 trees", "20 nodes"} <= details
    assert stored == task.key == experiment.keep(task, stop)  # at once
    assert said == sorted(said) and 0 <= said[0] and said[-1] <= 1 + 1e-9
    frame = experiment.load("prefixes", stored).measures
    for _, rows in frame.groupby("axis"):
        whole = rows[(rows["n_trees"] == 3) & (rows["max_nodes"] == 20)]
        pairs = whole.merge(run.measures, on=["measure", "k"])
        assert len(pairs) == 25 and set(pairs["measure"]) < set(run.measures["measure"])
        assert (pairs["value_x"] == pairs["value_y"]).all()


def test_only_models_of_trees_over_rows_have_parts(data):
    with pytest.raises(TypeError, match="not PLT"):
        experiment.prefix_measures(PLT().fit(data.X_train, data.Y_train), data)
