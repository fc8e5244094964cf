"""A kept data set is written to an archive that reads back as the same data."""

import re
import zipfile

import pytest
from making import kept

from xmlcore import experiment, wording
from xmlcore.datasets import Dataset, describe, read_dataset, save_dataset


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
