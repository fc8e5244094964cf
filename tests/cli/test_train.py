"""Training, measuring and predicting on the command line give what a notebook and the dashboard give."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from xmlcore import PLT, datasets, experiment, load_model, metrics
from xmlcore.cli.parameters import Value, params_of
from xmlcore.cli.train import command
from xmlcore.datasets import save_dataset
from xmlcore.experiment import MODELS
from xmlcore.models import PackedModel, read_packed
from xmlcore.parameters import Parameter

SMALL = ("--max-leaf-labels", 4, "--random-state", 2)


def test_the_measures_are_those_of_a_notebook(json_of, files):
    got = json_of("train", files / "train.txt", "--test", files / "test.txt", *SMALL, "-k", 3)
    data = datasets.read_dataset(files / "train.txt", files / "test.txt")
    params = {"max_leaf_labels": 4, "random_state": 2}
    task = experiment.task("train", {"dataset": save_dataset(data)}, {"model": "PLT", "params": params, "k": 3})
    page = experiment.load("train", experiment.keep(task))
    assert got["data"]["fingerprint"] == data.fingerprint and got["params"] == page.params
    notebook = experiment.evaluate(PLT(max_leaf_labels=4, random_state=2).fit(data.X_train, data.Y_train), data, 3)
    for measure, frame in page.measures.groupby("measure"):
        assert got["measures"][measure] == frame["value"].tolist() == notebook[measure].tolist()


def test_the_workers_of_a_scheduler_train_the_same(json_of, files):
    local = pytest.importorskip("distributed").LocalCluster
    with local(1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as made:
        got = json_of("train", files / "train.txt", *SMALL, "--scheduler", made.scheduler_address)
    assert got["measures"] == json_of("train", files / "train.txt", *SMALL)["measures"] and not got["warnings"]


def test_a_written_model_predicts_as_one_of_a_notebook(run, files, rows, tmp_path):
    run("train", files / "train.txt", "--test", files / "test.txt", *SMALL, "-o", tmp_path / "m.zip", "--name", "Toy")
    X, Y = rows
    model = PLT(max_leaf_labels=4, random_state=2).fit(X[:150], Y[:150])
    want = model.predict_topk(X[150:], 3)
    got = load_model(tmp_path / "m.zip").predict_topk(X[150:], 3)
    assert np.array_equal(got.labels, want.labels) and np.array_equal(got.scores, want.scores)
    assert read_packed(tmp_path / "m.zip").card["name"] == "Toy"
    lines = run("predict", tmp_path / "m.zip", files / "test.txt", "-k", 3).out.splitlines()
    assert run("predict", tmp_path / "m.zip", files / "test.txt", "-k", 3, "-o", "-").out.splitlines() == lines
    assert lines[0] == "row,rank,label,label_name,score" and len(lines) == 1 + 3 * 50
    cells = [line.split(",") for line in lines[1:]]
    assert [int(cell[2]) for cell in cells] == want.labels.ravel().tolist()
    assert np.array_equal(np.array([cell[4] for cell in cells], np.float32), want.scores.ravel())
    run("predict", tmp_path / "m.zip", files / "test.txt", "-k", 3, "-o", tmp_path / "out.jsonl")
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [[one["label"] for one in record["labels"]] for record in records] == want.labels.tolist()
    table = pd.DataFrame(X[150:].toarray(), [f"doc/{i}" for i in range(50)]).rename_axis("id")
    table.to_csv(tmp_path / "rows.csv")
    lines = run("predict", tmp_path / "m.zip", tmp_path / "rows.csv", "-k", 3).out.splitlines()
    assert lines[:1] == ["row,id,rank,label,label_name,score"]
    assert [line.split(",")[1] for line in lines[1:]] == table.index.repeat(3).tolist()
    assert {"m.zip", "out.jsonl", "rows.csv"} >= set(os.listdir(tmp_path)) - {"cache"}


def test_evaluate_measures_test_rows_held_out_rows_or_all_rows(run, json_of, files, tmp_path):
    trained = json_of("train", files / "train.txt", "--test", files / "test.txt", *SMALL, "-o", tmp_path / "m.zip")
    again = json_of("evaluate", tmp_path / "m.zip", files / "train.txt", "--test", files / "test.txt")
    assert again["measures"] == trained["measures"] and again["which rows"] == "the test rows"
    all_rows = json_of("evaluate", tmp_path / "m.zip", files / "test.txt")
    assert all_rows["rows"] == 50 and {*trained["measures"]} == {*all_rows["measures"]}
    for measure, values in trained["measures"].items():  # propensities, too, are those of the training rows
        assert all_rows["measures"][measure] == pytest.approx(values), measure
    held = json_of("train", files / "train.txt", *SMALL, "-o", tmp_path / "h.zip")
    found = json_of("evaluate", tmp_path / "h.zip", files / "train.txt")
    assert found["rows"] == 30 and found["measures"] == held["measures"]
    assert "held out" in found["which rows"]
    model = load_model(tmp_path / "m.zip")
    X, Y, *_ = datasets.read_matrix(files / "test.txt")
    micro = metrics.precision_recall_f1(Y, model.predict(X))
    assert [again["decided"][f"micro {name}"] for name in ("P", "R", "F1")] == pytest.approx([*micro])
    assert again["decided"]["labels"] == model.predict(X).nnz / 50
    assert again["decision"] == f"labels with a score of at least {model.threshold_:.3g}"  # of the squared hinge
    (tmp_path / "one.txt").write_text("1 24 12\n0 0:1 1:1\n")  # too few rows to be divided
    assert json_of("evaluate", tmp_path / "m.zip", tmp_path / "one.txt")["rows"] == 1
    shown = run("evaluate", tmp_path / "m.zip", files / "test.txt", "--intervals").out
    assert "all rows of" in shown and "95 % interval" in shown


def test_a_model_of_classes_is_measured_and_served(json_of, files, tmp_path):
    X = datasets.read_matrix(files / "test.txt")[0]
    classes = np.arange(50) % 3
    datasets.write_matrix(tmp_path / "classes.txt", X, np.eye(3, dtype=bool)[classes])
    model = PLT().fit(X, classes)
    PackedModel(model).save(tmp_path / "m.zip")
    found = json_of("evaluate", tmp_path / "m.zip", tmp_path / "classes.txt")
    assert found["decided"]["labels"] == 1 and found["decision"] == "the best label"
    assert found["decided"]["micro P"] == pytest.approx(found["measures"]["P@k"][0])
    decided = read_packed(tmp_path / "m.zip").decided(X, 3).labels
    assert decided.tolist() == model.predict_topk(X, 1).labels.tolist()


def test_labels_and_features_are_found_by_name(json_of, run, files, rows, tmp_path):
    json_of("train", files / "named.npz", *SMALL, "-o", tmp_path / "m.zip")
    X, Y = rows
    names = [f"feature {j}" for j in range(24)], [f"label {chr(97 + j)}" for j in range(12)]
    order, labels = np.arange(24)[::-1], np.arange(12)[::-1]
    turned = {"feature_names": [names[0][j] for j in order], "label_names": [names[1][j] for j in labels]}
    datasets.write_matrix(tmp_path / "turned.npz", X[:, order], Y[:, labels], "npz", **turned)
    datasets.write_matrix(tmp_path / "same.npz", X, Y, "npz", feature_names=names[0], label_names=names[1])
    found = [
        json_of("evaluate", tmp_path / "m.zip", tmp_path / name, "--test", tmp_path / name)["measures"]
        for name in ("turned.npz", "same.npz")
    ]
    for measure, values in found[0].items():
        assert values == pytest.approx(found[1][measure]), measure
    other = turned | {"feature_names": [*turned["feature_names"][:-1], "new"]}
    datasets.write_matrix(tmp_path / "other.npz", X[:, order], Y[:, labels], "npz", **other)
    said = run("evaluate", tmp_path / "m.zip", tmp_path / "other.npz", status=2).err
    assert "1 of 24 features that the model does not have, such as 'new'" in said


def test_labels_that_the_model_lacks_count_as_missed(json_of, run, files, rows, tmp_path):
    json_of("train", files / "named.npz", *SMALL, "-o", tmp_path / "m.zip")
    X, Y = rows
    names = [f"feature {j}" for j in range(24)], [f"label {chr(97 + j)}" for j in range(12)]
    renamed = [*names[1][:-1], "another"]
    datasets.write_matrix(tmp_path / "new.npz", X, Y, "npz", feature_names=names[0], label_names=renamed)
    before = json_of("evaluate", tmp_path / "m.zip", files / "named.npz", "--test", files / "named.npz")["measures"]
    after = json_of("evaluate", tmp_path / "m.zip", tmp_path / "new.npz", "--test", tmp_path / "new.npz")["measures"]
    assert after["P@k"][0] <= before["P@k"][0] and after["R@k"][4] < before["R@k"][4]
    said = run("evaluate", tmp_path / "m.zip", tmp_path / "new.npz", "--test", tmp_path / "new.npz").err
    assert "1 of 13 labels, such as 'another', are not those of the model and count as missed" in said


def test_every_parameter_of_every_form_is_an_option(run):
    for name, info in MODELS.items():
        text = run("train", "--help", "--model", name).out
        assert info.cls.ABOUT.title in text
        for parameter in info.parameters:
            assert f"--{parameter.name.replace('_', '-')} " in text, parameter.name
    text = " ".join(run("train", "--help").out.split())
    assert "auto: 2, or so many children" in text and "None: the search is exact" in text and "Empty" not in text


def params(*arguments):
    """The parameters of the model for arguments of ``xmlcore train``."""
    context = command.make_context("train", ["data", *arguments])
    return params_of(context, context.params["preset"])


def test_presets_and_words_on_the_command_line_become_values():
    parabel = PLT.presets()["parabel"]
    assert params("--preset", "parabel", "--beam", "none", "--C", "2") == parabel | {"beam": None, "C": 2.0}
    assert params() == {} and params("--preset", "recommended") == {}
    assert params("--C", "auto", "--arity=16", "--tol", "1e-3") == {"C": "auto", "arity": 16, "tol": 0.001}
    assert params("--model", "DoubleSampling", "--balanced", "true", "--leave-one-out", "off") == {
        "balanced": True,
        "leave_one_out": False,
    }
    for given in (("--model=LdSM", "--arity", "3"), ("--model", "LdSM", "--arity", "3")):
        assert params(*given) == {"arity": 3}


@pytest.mark.parametrize("kind, text, value", [("share", "0.5", 0.5), ("share", "7", 7), ("pair", "1,2", (1, 2)),
                                               ("bool", "YES", True), ("text", "a", "a")])  # fmt: skip
def test_values_of_all_kinds_are_read(kind, text, value):
    about = Parameter("x", "X", "Help.", kind, None, minimum=1, maximum=9)
    found = Value(about).convert(text, None, None)
    assert found == value and type(found) is type(value)
