"""What reading documents and making their words features costs:

    python -m benchmarks.texts FOLDER [--megabytes N]

FOLDER has train.jsonl.gz, a JSON object with "text" and "labels" in each line. Files of each format are made from its
documents, twelve joined to one, or one each, up to N megabytes, and each is read in a process of its own. Beside it
stand the seconds of vectorising the documents, by xmlcore and by scikit-learn, and of training PLT() on them.
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
from xmlcore import PLT
from xmlcore.datasets import TextVectorizer, read_texts
from xmlcore.datasets.readers.label_cells import label_matrix
from xmlcore.models.base import warm_up

RESULT = files.RESULTS / "texts.json"
JOINED = {"long": 12, "short": 1}  # documents of the folder that make a document of a file
READ = (("long", "csv"), ("short", "csv"), ("long", "jsonl"), ("long", "parquet"))
NGRAMS = ((1, 1), (1, 2))
TINY = b"text,labels\na,b\n"


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


def timed(work):
    """Return what a function returns, and the processor time that it took."""
    start = time.process_time()
    return work(), time.process_time() - start


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


def study(options):
    """Measure, and return the results."""
    texts, label_lists = read_texts(options.folder / "train.jsonl.gz")
    results = machine.header("texts", os.cpu_count()) | {"documents": len(texts), "runs": []}
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
    share = of["words"][0]["seconds"] / (of["words"][0]["seconds"] + training["seconds"])
    return "\n".join(
        [
            "# Texts",
            "",
            "Reading files of documents, each in a process of its own: processor time, and by how much the peak of the "
            "process's memory rose.",
            "",
            tables.table(["format", "documents", "MB", "seconds", "memory, MB"], read),
            "",
            f"Words of {results['documents']:,} documents as features; processor time, one core.",
            "",
            tables.table(["features are", "features", "values not 0", "seconds", "scikit-learn, seconds"], words),
            "",
            f"Training `PLT()` on the single words, for {training['labels']:,} labels, takes "
            f"{tables.number(training['seconds'])} s of processor time: words are {100 * share:.0f} % of both.",
            "",
            tables.measured_text(results),
            "",
        ]
    )


def main():
    parser = command.parser("texts", __doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="folder with train.jsonl.gz")
    parser.add_argument("--megabytes", type=float, default=200, help="size of the files that are read")
    command.add_files(parser, RESULT)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read is not None:
        read_once(options.read)
        return
    if options.folder is None and not options.table:
        parser.error("name the folder with train.jsonl.gz")
    results = files.read_json(options.out) if options.table else study(options)
    files.write(options.out, files.as_json(results))
    command.show(markdown(results), options)


if __name__ == "__main__":
    main()
