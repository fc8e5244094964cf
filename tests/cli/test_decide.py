"""``xmlcore decide``: a decision is chosen, written with the model, and used by ``predict``."""

import csv
import io
from collections import Counter

from xmlcore import load_model


def sizes(run, model, rows):
    lines = csv.DictReader(io.StringIO(run("predict", model, rows, "--decided", "--quiet").out))
    return Counter(Counter(line["row"] for line in lines).values())


def test_a_decision_is_written_with_the_model_and_predicted(run, json_of, files, tmp_path):
    model, decided = tmp_path / "model.zip", tmp_path / "decided.zip"
    run("train", files / "train.txt", "-o", model, "--quiet")
    told = json_of("decide", model, files / "test.txt", "--measure", "macro F1@7", "-o", decided)
    assert told["measure"] == "macro F1@7" and told["rows"] == 50 and told["value"] >= told["plain"]
    assert sizes(run, decided, files / "test.txt") == {7: 50} and load_model(model).rule_ is None
    answer = run("decide", model, files / "test.txt", "--recall", 0.5, "--quiet")
    assert answer.out.startswith("recall of at least 0.5: ") and load_model(model).rule_.about["level"] == 0.5
    assert sizes(run, model, files / "test.txt") != {7: 50}
    decides, *raw = (run("predict", decided, files / "test.txt", *more, "--quiet")
                     for more in ((), ("--scores",), ("-k", 5)))  # fmt: skip
    assert decides.out == run("predict", decided, files / "test.txt", "--decided", "--quiet").out != raw[0].out
    assert raw[0].out == raw[1].out and "macro F1@7" in decides.err and "not by the kept decision" in raw[0].err
    assert "give either" in run("predict", decided, files / "test.txt", "--scores", "--decided", status=2).err
    header, *lines = (files / "test.txt").read_text().splitlines()
    (tmp_path / "held-out.txt").write_text("\n".join([header.replace("50", "200", 1), *4 * lines, ""]))
    run("decide", model, tmp_path / "held-out.txt", "--recall", 0.5, "--quiet")
    (tmp_path / "others.txt").write_text("120 24 12\n" + "0 0:1\n" * 120)
    for rows, unlike in ((files / "train.txt", False), (tmp_path / "others.txt", True)):
        said = run("predict", model, rows, "--decided", "--quiet").err
        assert ("differ significantly from those from which the decision of the model was learnt" in said) == unlike


def test_what_cannot_be_decided_is_said_and_the_model_stays(run, files, tmp_path):
    model = tmp_path / "model.zip"
    run("train", files / "train.txt", "-o", model, "--quiet")
    before = model.read_bytes()
    assert "not a measure to decide for" in run("decide", model, files / "test.txt", "--measure", "F1", status=2).err
    assert "no threshold can promise" in run("decide", model, files / "test.txt", "--recall", 0.9999, status=2).err
    assert "either" in run("decide", model, files / "test.txt", "--recall", 0.5, "--precision", 0.5, status=2).err
    assert "--at-most" in run("decide", model, files / "test.txt", "--recall", 0.5, "--at-most", status=2).err
    for wrong, said in (
        (["micro P"], "'micro P' is no bound: give a measure and a number, such as 'micro P=0.9'"),
        (["micro P=much"], "'micro P=much' is no bound"),
        (["P=0.9"], "least has 'P': known are micro P, micro R, micro F1, samples F1"),
        (["micro P=1.5"], "least['micro P'] must be"),
        (["micro P=0.5", "micro P=0.6"], "there are two bounds of 'micro P'"),
    ):
        given = [part for bound in wrong for part in ("--least", bound)]
        found = run("decide", model, files / "test.txt", "--measure", "micro R", *given, status=2).err
        assert said in " ".join(found.replace("│", "").split()), found
    assert "--least" in run("decide", model, files / "test.txt", "--recall", 0.5, "--least", "micro P=1", status=2).err
    assert model.read_bytes() == before


def test_the_most_recall_at_a_precision_and_the_reverse(run, json_of, files, tmp_path):
    model = tmp_path / "model.zip"
    run("train", files / "train.txt", "-o", model, "--quiet")
    found = {}
    for bounds in (["micro P=0.3"], ["micro P=0.3", "samples F1 = 0.3"]):
        given = [part for bound in bounds for part in ("--least", bound)]
        told = json_of("decide", model, files / "test.txt", "--measure", "micro R", *given, "-o", tmp_path / "d.zip")
        found[len(bounds)] = told["value"]
    assert told["measure"] == "micro R with micro P ≥ 0.3 with samples F1 ≥ 0.3" and 0 < found[2] <= found[1]
    told = json_of("decide", model, files / "test.txt", "--measure", "micro P", "--least", f"micro R={found[1]}")
    assert told["measure"].startswith("micro P with micro R ≥ ") and told["value"] >= 0.3


def test_labels_are_allowed_and_excluded(run, files, tmp_path):
    model, decided, some = tmp_path / "model.zip", tmp_path / "decided.zip", tmp_path / "some.txt"
    run("train", files / "train.txt", "-o", model, "--quiet")
    some.write_text("0\n3\nlabel 5\n")

    def labels(model, *options, rows=files / "test.txt"):
        lines = csv.DictReader(io.StringIO(run("predict", model, rows, *options, "--quiet").out))
        return {int(line["label"]) for line in lines}

    assert labels(model, "--labels", some, "-k", 12) == {0, 3, 5} == labels(model, "--labels", "7", "--labels", some,
                                                                            "--exclude", "7")  # fmt: skip
    (tmp_path / "aliases.tsv").write_text("three\t3\n")
    run("decide", model, files / "test.txt", "--measure", "P@2", "--allow", some, "--exclude", "5", "--aliases",
        tmp_path / "aliases.tsv", "-o", decided, "--quiet")  # fmt: skip
    assert labels(decided) == {0, 3} == labels(decided, "-k", 9) and labels(decided, "--labels", "three") == {3}
    assert "'four', which is no label" in run("predict", model, files / "test.txt", "--labels", "four", status=2).err
