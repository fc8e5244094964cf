"""From a file of documents to a model that labels new ones, on the command line."""

import csv
import gzip
import json
import re
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT, TextClassifier, datasets, load_model
from xmlcore.models import read_packed

WORDS = {"cat": "a cat purrs and sleeps", "dog": "the dog barks, and runs", "fish": "fish swim; fish are wet"}
SMALL = ("--max-leaf-labels", "2", "--random-state", "1", "--quiet")


@pytest.fixture(scope="module")
def documents():
    """Texts with line breaks, quotation marks and commas, and their labels."""
    rng = np.random.default_rng(0)
    names = [sorted(rng.choice(list(WORDS), rng.integers(1, 3), replace=False).tolist()) for _ in range(40)]
    return ['One "text",\n' + "\n".join(WORDS[name] for name in row) for row in names], names


@pytest.fixture
def files(documents, tmp_path):
    texts, names = documents
    with open(tmp_path / "all.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "body", "topics"])
        writer.writerows([i, text, ";".join(row)] for i, (text, row) in enumerate(zip(texts, names)))
    with gzip.open(tmp_path / "all.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text, "labels": row}) + "\n" for text, row in zip(texts, names))
    return tmp_path


def test_a_csv_of_texts_becomes_a_model_for_new_texts(run, json_of, files, documents):
    got = json_of("train", files / "all.csv", *SMALL[:4], "-o", files / "m.zip")
    assert got["data"]["training rows"] == 32 and got["data"]["labels"] == 3
    data = datasets.read_text_dataset(files / "all.csv", text="body", labels="topics")
    model = PLT(max_leaf_labels=2, random_state=1).fit(data.X_train, data.Y_train)
    want = model.predict_topk(data.X_test, 3)
    packed = read_packed(files / "m.zip")
    found = packed.predict_topk(data.texts_test, 3)
    assert np.array_equal(found.labels, want.labels) and np.array_equal(found.scores, want.scores)
    assert isinstance(load_model(files / "m.zip"), TextClassifier)
    got = run("predict", files / "m.zip", "--text", "my cat purrs", "--text", "xyzzy", "-k", 1, "--quiet")
    assert "no word of 1 of 2 texts" in got.err and "\n1," not in got.out
    lines = got.out.splitlines()
    assert lines[1].split(",")[:4] == ["0", "1", "0", "cat"]
    run("predict", files / "m.zip", files / "all.csv", "-o", files / "out.jsonl", "-k", 1)
    records = [json.loads(line) for line in (files / "out.jsonl").read_text().splitlines()]
    assert len(records) == 40
    assert np.mean([one["labels"][0]["name"] in row for one, row in zip(records, documents[1])]) == 1
    assert [one["id"] for one in records] == [str(i) for i in range(40)]
    said = run("predict", files / "m.zip", files / "all.csv", "-k", 1)
    assert said.out.splitlines()[:2] == ["row,id,rank,label,label_name,score", said.out.splitlines()[1]]
    assert "and ids from column 'id'" in said.err


def test_each_line_of_a_txt_file_is_a_text_to_predict(run, files):
    run("train", files / "all.csv", *SMALL[:4], "-o", files / "m.zip", "--quiet")
    (files / "new.txt").write_text('my cat, a "cat"\na dog\na dog\n')
    got = run("predict", files / "m.zip", files / "new.txt", "-k", 1)
    assert [line.split(",")[3] for line in got.out.splitlines()[1:]] == ["cat", "dog", "dog"]
    assert "is read as one text per line (--text-column names a column instead)" in got.err
    (files / "new.txt").write_text("kept on,story\nno,my cat\n")
    got = run("predict", files / "m.zip", files / "new.txt", "-k", 1, "--text-column", "story")
    assert [line.split(",")[3] for line in got.out.splitlines()[1:]] == ["cat"]


def test_guesses_are_said_and_can_be_changed(run, files):
    said = run("describe", files / "all.csv").err
    assert "the text from column 'body' (--text says another) and the labels from column 'topics'" in said
    said = run("describe", files / "all.csv", "--text", "body", "--labels", "topics", "--separator", ";").err
    assert "read as documents" not in said
    (files / "tags.csv").write_text("body,tags\n" + "a text,<c#><.net>\nmore text,<c#>\n" * 9)
    assert re.search("labels +2\n", run("describe", files / "tags.csv", "--separator", "><").out)
    assert "absent" in run("describe", files / "all.csv", "--text", "absent", status=2).err
    (files / "names.txt").write_text("a\n")
    said = run("describe", files / "all.csv", "--feature-names", files / "names.txt", status=2).err
    assert "--feature-names is for files of rows" in said


def test_held_out_documents_or_all_are_measured(json_of, files, documents):
    trained = json_of("train", files / "all.csv", *SMALL[:4], "-o", files / "m.zip")
    held = json_of("evaluate", files / "m.zip", files / "all.csv")
    assert held["measures"] == trained["measures"] and "held out" in held["which rows"] and held["rows"] == 8
    texts, names = documents
    with open(files / "other.jsonl", "w") as file:
        file.writelines(json.dumps({"text": text, "labels": row}) + "\n" for text, row in zip(texts[:3], names))
    for source, count in ((files / "other.jsonl", 3), (files / "all.jsonl.gz", 8)):
        found = json_of("evaluate", files / "m.zip", source)
        assert found["rows"] == count and found["measures"]["P@k"][0] == 1
    (files / "one.jsonl").write_text('{"text": "a fish, and nothing else", "labels": ["fish"]}\n')
    assert json_of("evaluate", files / "m.zip", files / "one.jsonl")["rows"] == 1


def test_annifs_short_texts_and_vocabulary_are_read(run, json_of, documents, tmp_path):
    texts, names = documents
    rows = zip(texts, names)
    lines = (" ".join(text.split()) + "\t" + " ".join(f"<http://e.org/{name}>" for name in row) for text, row in rows)
    (tmp_path / "docs.tsv").write_text("\n".join(lines) + "\n")
    (tmp_path / "subjects.tsv").write_text("".join(f"<http://e.org/{name}>\t{name}s\n" for name in WORDS))
    json_of("train", tmp_path / "docs.tsv", *SMALL[:4], "-o", tmp_path / "uris.zip")
    assert read_packed(tmp_path / "uris.zip").label_names == [f"http://e.org/{name}" for name in sorted(WORDS)]
    json_of("train", tmp_path / "docs.tsv", "--vocabulary", tmp_path / "subjects.tsv", *SMALL[:4], "-o",
            tmp_path / "names.zip")  # fmt: skip
    assert read_packed(tmp_path / "names.zip").label_names == ["cats", "dogs", "fishs"]


@pytest.mark.filterwarnings("ignore:.*named like a feature")
def test_documents_are_converted_to_rows_of_words(run, files, documents):
    run("convert", files / "all.csv", files / "rows.npz", "--labels", "topics", "--text", "body", "--min-df", "3")
    X, Y, words, names = datasets.read_matrix(files / "rows.npz")
    made = datasets.TextVectorizer(min_df=3)
    assert np.array_equal(X.toarray(), made.fit_transform(documents[0]).toarray())
    assert words == made.get_feature_names_out().tolist() and names == sorted(WORDS)
    assert [[names[j] for j in Y[[i]].indices] for i in range(40)] == documents[1]


def test_documents_in_a_zip_are_told_by_the_ending_within(run, files):
    with zipfile.ZipFile(files / "all.csv.zip", "w") as archive:
        archive.write(files / "all.csv", "all.csv")
    assert "the text from column 'body'" in run("describe", files / "all.csv.zip").err


def test_vectors_beside_documents_are_trained_and_measured(run, json_of, files, documents):
    vectors = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    np.save(files / "v.npy", vectors), np.save(files / "two.npy", vectors[:2])
    sp.save_npz(files / "v.npz", sp.csr_array(vectors))
    got = json_of("train", files / "all.csv", *SMALL[:4], "--vectors", files / "v.npy", "-o", files / "m.zip")
    assert "beside vectors of 3 values" in got["data"]["notes"][-1]
    found = json_of("evaluate", files / "m.zip", files / "all.csv", "--vectors", files / "v.npz")
    assert found["measures"]["P@k"][0] == got["measures"]["P@k"][0]
    ask = "predict", files / "m.zip", "--text", documents[0][0], "--text", documents[0][1], "-k", 1
    lines = run(*ask, "--vectors", files / "two.npy", "--json", "--quiet").out.splitlines()
    want = read_packed(files / "m.zip").predict_topk([documents[0][:2], vectors[:2]], 1)
    assert [json.loads(line)["labels"][0]["label"] for line in lines] == want.labels[:, 0].tolist()
    for given in (ask, ("evaluate", files / "m.zip", files / "all.csv")):
        assert "the model takes vectors beside texts: give their file with --vectors" in run(*given, status=2).err
    wrong = run("train", files / "all.csv", "--vectors", files / "two.npy", status=2).err
    assert "it has 2 rows, but the number of texts is 40. Give a row for each text, in their order (--vectors)" in wrong
