"""What reading documents and making their words features costs, and which features are best:

    python -m benchmarks.texts FOLDER [--megabytes N]
    python -m benchmarks.texts --features FOLDER ... [--names FEATURES ...] [--most-train N]

FOLDER has train.jsonl.gz, a JSON object with "text" and "labels" in each line. Files of each format are made from its
documents, twelve joined to one, or one each, up to N megabytes, and each is read in a process of its own. Beside it
stand the seconds of vectorising the documents, by xmlcore and by scikit-learn, and of training PLT() on them.

With --features, PLT() is trained on each kind of features, and on those that trials choose, of each folder, which has
test.jsonl.gz as well; api-docs is that of the catalog. Figures that are there already are kept.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from itertools import cycle, islice
from pathlib import Path

from benchmarks.library import command, files, machine, tables
from benchmarks.library.processes import timed
from xmlcore import PLT, datasets, metrics
from xmlcore.datasets import TextVectorizer, read_texts
from xmlcore.datasets.readers.label_cells import label_matrix
from xmlcore.models import words_by_trials
from xmlcore.models.base import warm_up

RESULT = files.RESULTS / "texts.json"
JOINED = {"long": 12, "short": 1}  # documents of the folder that make a document of a file
READ = (("long", "csv"), ("short", "csv"), ("long", "jsonl"), ("long", "parquet"))
NGRAMS = ((1, 1), (1, 2))
TINY = b"text,labels\na,b\n"
KINDS = {  # of features
    "words": {},
    "words in one text or more": {"min_df": 1},
    "words and pairs": {"ngrams": (1, 2)},
    "stems": {"features": "stems"},
    "stems and pairs": {"features": "stems", "ngrams": (1, 2)},
    "letters": {"features": "letters"},
    "words, letters": {"features": "words+letters"},
    "words and pairs, letters": {"features": "words+letters", "ngrams": (1, 2)},
    "stems, letters": {"features": "stems+letters"},
    "stems and pairs, letters": {"features": "stems+letters", "ngrams": (1, 2)},
    "auto": None,
}


def write_file(path, kind, texts, label_lists, megabytes, joined):
    """Write a file of about a size from documents, repeated as needed; return its number of documents."""
    rows, size, of = [], 0, cycle(zip(texts, label_lists))
    while size < megabytes * 1e6:
        part = list(islice(of, joined))
        text, labels = "\n".join(text for text, _ in part), part[0][1]
        rows.append((text, labels))
        size += len(text) + sum(map(len, labels))
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"text": [text for text, _ in rows], "labels": [labels for _, labels in rows]}), path)
        return len(rows)
    with open(path, "w", newline="", encoding="utf-8") as file:
        if kind == "jsonl":
            file.writelines(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in rows)
        else:
            table = csv.writer(file)
            table.writerow(["text", "labels"])
            table.writerows([text, ";".join(labels)] for text, labels in rows)
    return len(rows)


def read_once(path):
    """Read a file, and print the processor time, and by how many bytes the peak of memory rose; in a new process."""
    warnings.simplefilter("ignore")
    read_texts(TINY)
    before, start = machine.memory_peak(), time.process_time()
    texts, _ = read_texts(path)
    seconds, after = time.process_time() - start, machine.memory_peak()
    rise = None if before is None else after - before
    print(json.dumps({"documents": len(texts), "seconds": seconds, "rise": rise}))


def vectorised(texts, ngrams):
    """Return the sizes and the seconds of making words features, by xmlcore and by scikit-learn."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    X, seconds = timed(lambda: TextVectorizer(ngrams=ngrams).fit_transform(texts))
    other = TfidfVectorizer(min_df=2, ngram_range=ngrams, sublinear_tf=True)
    about = {"step": "words", "ngrams": list(ngrams), "features": X.shape[1], "values": X.nnz, "seconds": seconds}
    return about | {"scikit_learn": timed(lambda: other.fit_transform(texts))[1]}


def trained(texts, label_lists):
    """Return the seconds of training ``PLT()`` on the words of documents."""
    X = TextVectorizer().fit_transform(texts)
    names = sorted({label for row in label_lists for label in row})
    Y = label_matrix(label_lists, names)
    warm_up(PLT())
    return {"step": "training", "labels": len(names), "seconds": timed(lambda: PLT().fit(X, Y))[1]}


def texts_of(folder, most_train):
    """Return the training texts and their labels, the test texts and theirs, and the names of labels."""
    if folder.name == "api-docs":
        data = datasets.load("api-docs")
        return data.texts_train, data.Y_train, data.texts_test, data.Y_test, data.label_names
    (train, lists), (test, others) = (read_texts(folder / f"{part}.jsonl.gz") for part in ("train", "test"))
    names = sorted({label for row in (*lists, *others) for label in row})
    train, lists = train[:most_train], lists[:most_train]
    return train, label_matrix(lists, names), test, label_matrix(others, names), names


def with_features(kind, train, Y_train, test, Y_test):
    """Return the measures, the sizes and the seconds of ``PLT()`` on features of a kind."""
    chosen, both = TextVectorizer(**KINDS[kind] or {}), 0.0
    if KINDS[kind] is None:
        (made, _), both = timed(lambda: words_by_trials()(train, Y_train))
        chosen = TextVectorizer(**made.get_params())
    X, seconds = timed(lambda: chosen.fit_transform(train))
    model, training = timed(lambda: PLT().fit(X, Y_train))
    ranking, predicting = timed(lambda: model.predict_topk(chosen.transform(test), 5))
    values = metrics.precision_at_k(Y_test, ranking, 5)
    scaled = metrics.psprecision_at_k(Y_test, ranking, 5, inv_ps=metrics.inverse_propensity(Y_train))
    run = {"step": "features", "kind": kind, "features": X.shape[1], "values": X.nnz, "seconds": seconds}
    run |= {"training": training, "predicting": predicting, "chosen": chosen.settings_}
    run |= {f"P@{k}": float(values[k - 1]) for k in (1, 3, 5)} | {"PSP@5": float(scaled[4])}
    return run if KINDS[kind] is not None else run | {"trials": max(both - seconds, 0.0)}


def compare_features(options, results):
    """Measure what is not in the results yet."""
    warm_up(PLT())
    results.setdefault("features", [])
    results["features_by"] = machine.header("texts", os.cpu_count())
    for folder in options.features:
        texts = texts_of(folder, options.most_train)[:4]
        name = folder.name if options.most_train is None else f"{folder.name}, first {options.most_train:,}"
        about = {"set": name, "documents": len(texts[0]), "labels": texts[1].shape[1]}
        for kind in options.names:
            if not any((run["set"], run["kind"]) == (name, kind) for run in results["features"]):
                results["features"].append(about | with_features(kind, *texts))
                files.write(options.out, files.as_json(results))


def study(options, features):
    """Measure what texts cost, and return the results."""
    texts, label_lists = read_texts(options.folder / "train.jsonl.gz")
    results = machine.header("texts", os.cpu_count()) | {"documents": len(texts), "runs": []} | features
    for length, kind in READ:
        with tempfile.TemporaryDirectory(prefix="xmlcore-texts-") as folder:
            path = Path(folder) / f"documents.{kind}"
            write_file(path, kind, texts, label_lists, options.megabytes, JOINED[length])
            command = [sys.executable, "-m", "benchmarks.texts", "--read", str(path)]
            done = subprocess.run(command, cwd=machine.ROOT, capture_output=True, text=True, check=True)
            run = {"step": "reading", "kind": kind, "length": length, "bytes": path.stat().st_size}
            results["runs"].append(run | json.loads(done.stdout))
    results["runs"] += [vectorised(texts, ngrams) for ngrams in NGRAMS]
    results["runs"].append(trained(texts, label_lists))
    return results | {"xmlcore_code_end": machine.code_now()}


def table_of_features(runs):
    """Return the lines of Markdown on the features of one set of texts."""
    lines = []
    for run in runs:
        kind, chosen = run["kind"], run["chosen"]
        if kind == "auto":
            kind += f": {chosen['features']}, {chosen['ngrams'][1]} in a row, in {chosen['min_df']} texts"
        lines.append([
            kind, *(f"{100 * run[name]:.2f}" for name in ("P@1", "P@3", "P@5", "PSP@5")), f"{run['features']:,}",
            tables.number(run["values"] / run["documents"]), tables.number(run["seconds"]),
            tables.number(run["training"]), tables.number(run["trials"]) if "trials" in run else "–",
        ])  # fmt: skip
    head = ["features", "P@1", "P@3", "P@5", "PSP@5", "number", "of a text", "words, s", "training, s", "trials, s"]
    title = f"**{runs[0]['set']}**: {runs[0]['documents']:,} training texts, {runs[0]['labels']:,} labels."
    return [title, tables.table(head, lines)]


def markdown(results):
    """Return the results as Markdown."""
    of = {step: [run for run in results["runs"] if run["step"] == step] for step in ("reading", "words", "training")}
    read = [
        [run["kind"], f"{run['documents']:,}", tables.number(run["bytes"] / 1e6), tables.number(run["seconds"]),
         "–" if run["rise"] is None else tables.number(run["rise"] / 1e6)]
        for run in of["reading"]
    ]  # fmt: skip
    words = [
        ["single words" if run["ngrams"][1] == 1 else f"up to {run['ngrams'][1]} words", f"{run['features']:,}",
         f"{run['values']:,}", tables.number(run["seconds"]), tables.number(run["scikit_learn"])]
        for run in of["words"]
    ]  # fmt: skip
    (training,) = of["training"]
    features = []
    for name in dict.fromkeys(run["set"] for run in results.get("features", [])):
        features += table_of_features([run for run in results["features"] if run["set"] == name])
    if features:
        about = "Precision of `PLT()` in %, and processor time; trials choose on training texts."
        features = ["## Features", about, *features, tables.measured_text(results["features_by"])]
    share = of["words"][0]["seconds"] / (of["words"][0]["seconds"] + training["seconds"])
    return tables.document(
        "# Texts",
        "Reading files of documents, each in a process of its own: processor time, and by how much the peak of the "
        "process's memory rose.",
        tables.table(["format", "documents", "MB", "seconds", "memory, MB"], read),
        f"Words of {results['documents']:,} documents as features; processor time, one core.",
        tables.table(["features are", "features", "values not 0", "seconds", "scikit-learn, seconds"], words),
        f"Training `PLT()` on the single words, for {training['labels']:,} labels, takes "
        f"{tables.number(training['seconds'])} s of processor time: words are {100 * share:.0f} % of both.",
        tables.measured_text(results),
        *features,
    )


def main():
    parser = command.parser("texts", __doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="folder with train.jsonl.gz")
    parser.add_argument("--megabytes", type=float, default=200, help="size of the files that are read")
    command.add_files(parser, RESULT)
    parser.add_argument("--features", type=Path, nargs="+", default=[], help="folders to compare features on")
    parser.add_argument("--names", nargs="+", choices=KINDS, default=list(KINDS), help="features to compare")
    parser.add_argument("--most-train", type=int, help="training texts that are read, at most")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read is not None:
        read_once(options.read)
        return
    if options.folder is None and not (options.table or options.features):
        parser.error("name the folder with train.jsonl.gz")
    results = files.read_json(options.out) if options.out.exists() else machine.header("texts", os.cpu_count())
    if options.folder is not None:
        results = study(options, {name: results[name] for name in ("features", "features_by") if name in results})
    if options.features:
        compare_features(options, results)
    files.write(options.out, files.as_json(results))
    command.show(markdown(results), options)


if __name__ == "__main__":
    main()
