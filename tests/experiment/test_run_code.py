"""The code that makes a kept run again: it is executed here, and gives the same measures."""

from types import SimpleNamespace

import numpy as np
import pytest
from making import kept, of_file

from xmlcore import datasets, experiment, store
from xmlcore.datasets import save_dataset, write_matrix
from xmlcore.datasets.registry import catalog as registry

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
