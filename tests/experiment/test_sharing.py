"""Packed models, scripts and archives of data sets that are made of what is kept give the same again."""

import json
import re
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
from making import kept, of_file

from xmlcore import datasets, experiment, store, wording
from xmlcore.datasets import Dataset, describe, read_dataset, save_dataset, write_matrix
from xmlcore.datasets.registry import catalog as registry
from xmlcore.models import read_packed


def test_a_packed_model_predicts_what_the_run_did(key, easy, tmp_path):
    run = experiment.load("train", key)
    got = read_packed(experiment.pack_run(key).save(tmp_path / "m.zip"))
    labels, scores = got.predict_topk(easy.X_test, k=5)
    assert np.array_equal(labels, run.ranking.labels) and np.array_equal(scores, run.ranking.scores)
    card = got.card
    assert card["name"] == "PLT on easy" and card["data"]["fingerprint"] == easy.fingerprint
    assert (card["data"]["training rows"], card["data"]["test rows"], card["labels"]) == (200, 60, 12)
    assert card["parameters"] == run.params and card["created"] == run.created
    values = {(line["measure"], line["k"]): line["value"] for line in card["measures"]}
    assert values == pytest.approx({(m, k): value for m, k, value in run.measures.itertuples(index=False)})
    assert all(line["low"] <= line["value"] <= line["high"] for line in card["measures"])
    facts = store.info("runs", key)
    assert facts["libraries"].items() <= card["versions"].items() and json.dumps(card)
    assert experiment.pack_run(key, "My model").card["name"] == "My model"


def test_a_small_packed_model_is_that_of_a_byte_a_weight(key, easy):
    task = experiment.task("pack_model", {"run": key}, {"small": True})
    experiment.keep(task)
    got, expected = read_packed(task.file()), experiment.pack_run(key).model.compact(8, easy.X_test, easy.Y_test)
    assert np.array_equal(got.predict_topk(easy.X_test, k=5).scores, expected.predict_topk(easy.X_test, k=5).scores)
    said, measured = got.card["compact"], expected.compact_
    assert said == {"bits": 8} | {
        f"{k} {when}": measured[when][k] for k in ("P@1", "P@5") for when in ("before", "after")
    }


def test_a_run_that_is_not_kept_cannot_be_packed():
    with pytest.raises(store.MissingArtifactError):
        experiment.pack_run("0" * 32)


QUICK = {"max_leaf_labels": 4}


def trained(fingerprint, model="PLT", **params):
    return kept("train", {"dataset": fingerprint}, model=model, params=params, k=3)


def executed(code, folder=None, monkeypatch=None):
    if folder is not None:
        monkeypatch.chdir(folder)
    names = {}
    exec(compile(code, "code of a run", "exec"), names)  # what a user does with it
    return names


def same_measures(task, names):
    for name, values in task.load().measures.groupby("measure"):
        np.testing.assert_array_equal(names["measures"][name], values.sort_values("k")["value"])


def test_code_of_a_run_on_kept_data_gives_its_measures(easy):
    task = trained(save_dataset(easy), **QUICK, n_estimators=2, random_state=7)
    code = experiment.code_of(task.key)
    model = code.split("model = ")[1].splitlines()[0]
    assert set(model[4:-1].split(", ")) == {"max_leaf_labels=4", "n_estimators=2", "random_state=7"}
    assert "loss=" not in code and "where it comes from is not known" in code
    same_measures(task, executed(code))


def test_code_of_a_run_trained_with_noise_gives_its_measures(easy):
    task = trained(save_dataset(easy), **QUICK, noise_sigma=0.2, noise_ratio=0.5, random_state=3)
    code = experiment.code_of(task.key)
    assert "AdversarialTraining(PLT(" in code and "sigma=0.2" in code
    same_measures(task, executed(code))


def test_code_loads_data_of_the_catalog_by_its_name(easy, monkeypatch):
    entry, _ = registry._ENTRIES["api-docs"]
    monkeypatch.setattr(registry, "import_module", lambda name: SimpleNamespace(load=lambda progress: easy))
    monkeypatch.setitem(registry._ENTRIES, "api-docs", (entry, "anywhere"))
    kept("prepare", {}, name="api-docs")
    task = trained(save_dataset(easy), **QUICK)
    code = experiment.code_of(task.key)
    assert 'data = datasets.load("api-docs")' in code and "not known" not in code
    same_measures(task, executed(code))


@pytest.mark.parametrize("way", [{"way": "stratified", "random_state": 4}, {"way": "random", "test_size": 0.3},
                                 {"way": "folds", "fold": 2}])  # fmt: skip
def test_code_makes_and_splits_synthetic_data_as_it_was(way):
    sizes = {"n_train": 60, "n_test": 20, "n_features": 30, "n_labels": 10, "labels_per_row": 2, "features_per_row": 6}
    made = kept("synthetic", {}, shape="small", **sizes)
    split = kept("split", {"dataset": made.load().dataset}, **way)
    task = trained(split.load().dataset, "OneVsRest")
    code = experiment.code_of(task.key)
    assert "datasets.make_synthetic(" in code and "datasets.split_again(data, " in code
    same_measures(task, executed(code))


def test_code_reads_uploaded_files_by_their_names(easy, tmp_path, monkeypatch):
    name = 'my "train".txt'
    write_matrix(tmp_path / name, easy.X_train, easy.Y_train)
    read = of_file("read", {}, (tmp_path / name).read_bytes(), "train", test_size=0.25, random_state=5)
    task = trained(read.load().dataset, **QUICK)
    assert '"your-train-file.txt"' in experiment.code_of(task.key)
    code = experiment.code_of(task.key, {"train": name})
    assert repr(name) in code and "test_size=0.25, random_state=5" in code
    same_measures(task, executed(code, tmp_path, monkeypatch))


def test_code_reads_texts_with_the_same_vectoriser(tmp_path, monkeypatch):
    content = "abstract,tags\n" + "".join(f"one two{i % 5} three,a;b{i % 3}\n" for i in range(40))
    (tmp_path / "my.csv").write_text(content)
    params = {"text": "abstract", "labels": "tags", "vectorizer": {"ngrams": (1, 2)}}
    read = of_file("read_texts", {}, content.encode(), "train", **params)
    task = trained(read.load().dataset, **QUICK)
    code = experiment.code_of(task.key, {"train": "my.csv"}, [read.key])
    assert "abstract" not in experiment.code_of(task.key, {"train": "my.csv"}, []), "another one has read the file"
    assert "TextVectorizer(ngrams=(1, 2))" in code and 'text="abstract", labels="tags"' in code
    same_measures(task, executed(code, tmp_path, monkeypatch))


def test_names_of_data_sets_cannot_become_code(easy):
    hostile = datasets.resplit(
        easy, np.arange(100), np.arange(100, 150), name="x\nraise SystemExit\u2028raise KeyError"
    )
    task = trained(save_dataset(hostile), "OneVsRest")
    code = experiment.code_of(task.key)
    same_measures(task, executed(code))


def test_a_run_that_is_not_kept_has_no_code():
    with pytest.raises(store.MissingArtifactError):
        experiment.code_of("ab" * 16)


def named(data, labels):
    parts = (data.X_train, data.Y_train, data.X_test, data.Y_test)
    return Dataset("named", *parts, [f"word {i}" for i in range(data.n_features)], labels)


@pytest.mark.parametrize("format", ["xmlc", "svmlight", "arff", "npz"])
def test_every_format_reads_back_as_the_same_matrices_and_names(easy, tmp_path, format):
    data = named(easy, [f"label {j}" for j in range(easy.n_labels)])
    task = kept("export", {"dataset": save_dataset(data)}, format=format)
    with zipfile.ZipFile(task.file()) as archive:
        assert sorted(archive.namelist()) == sorted(task.load().names)
        archive.extractall(tmp_path)
    train, test, *others = (tmp_path / name for name in task.load().names)
    options = {"svmlight": {"format": "svmlight"}, "arff": {"labels": tmp_path / "labels.xml"}}.get(format, {})
    if format in ("xmlc", "svmlight"):  # which have no place for names
        assert [path.name for path in others] == ["labels.txt", "features.txt"]
        options |= {"label_names": others[0], "feature_names": others[1]}
    assert read_dataset(train, test, **options).content_hash == data.content_hash
    assert sorted(path.name for path in task.file().parent.iterdir()) == ["data.zip", "meta.json", "value.joblib"]


def test_names_that_arff_cannot_hold_are_written_beside_it(easy):
    data = named(easy, ["same name"] * easy.n_labels)
    task = kept("export", {"dataset": save_dataset(data)}, format="arff")
    assert task.load().names == ["train.arff", "test.arff", "labels.xml", "labels.txt", "features.txt"]


def test_names_that_do_not_fit_on_a_line_are_left_out(easy):
    data = named(easy, [f"label\n{j}" for j in range(easy.n_labels)])
    task = kept("export", {"dataset": save_dataset(data)})
    assert task.load().names == ["train.txt", "test.txt", "features.txt"]
    with pytest.raises(ValueError, match="format must be one of xmlc"):
        experiment.task("export", {"dataset": data.fingerprint}, {"format": "excel"})


def test_progress_is_in_bytes_and_in_the_ratio_of_the_parts(easy, monkeypatch):
    monkeypatch.setattr("xmlcore.datasets.writers._CHUNK", 100)
    reports = []
    task = experiment.task("export", {"dataset": save_dataset(easy)})
    experiment.keep(task, lambda phase, share, detail="": reports.append((share, detail)))
    train, test = ([report for report in reports if report[1].startswith(name)] for name in ("train", "test"))
    shares = [share for share, _ in train + test]
    assert shares == sorted(shares) and len(train) > len(test) > 5
    values = [Y.nnz + X.nnz for X, Y in ((easy.X_train, easy.Y_train), (easy.X_test, easy.Y_test))]
    assert test[0][0] == pytest.approx(values[0] / sum(values)) and test[-1][0] == pytest.approx(1.0)
    assert re.fullmatch(r"train.txt: [0-9.]+ kB of about ([0-9.]+ kB)", train[-3][1])
    with zipfile.ZipFile(task.file()) as archive:
        size = wording.size(archive.getinfo("train.txt").file_size)
    assert train[-1][1] == f"train.txt: {size} of {size}"


def test_a_kept_description_is_that_of_describe(easy):
    summary = kept("description", {"dataset": save_dataset(easy)}).load().summary
    assert summary == describe(easy).summary and summary["n_train"] == 200
