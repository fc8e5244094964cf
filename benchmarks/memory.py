"""The memory that training a label tree takes, with rows in memory and in files, and what is said of it before.

    python -m benchmarks.memory FOLDER ... [--amazon-670k]

A FOLDER has train.txt.gz or, of texts, train.jsonl.gz. Each training runs in a process of its own. Memory is that of
the process alone, without pages of files (RssAnon), above what it took with the data. Rows in files are those of the
training rows twice, within --limit-gb (RLIMIT_DATA).
"""

import hashlib
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.library import command, files, machine, processes, tables
from benchmarks.library.contestant import settle_memory
from benchmarks.library.data import read_real
from xmlcore import PLT
from xmlcore.datasets import TextVectorizer, make_synthetic
from xmlcore.datasets.texts.text_datasets import read_text_dataset
from xmlcore.mapped import open_rows, write_rows
from xmlcore.models.base import warm_up


def own_memory():
    """Return the bytes of memory that this process has for itself, without pages of files."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("RssAnon:")[1].split()[0])


def read(name):
    """Return training rows and labels, of files or made."""
    folder = Path(name)
    if name == "amazon-670k":
        data = make_synthetic("amazon-670k", n_test=1)
    elif (folder / "train.jsonl.gz").exists():
        data = read_text_dataset(
            folder / "train.jsonl.gz", folder / "test.jsonl.gz", vectorizer=TextVectorizer(features="words", min_df=2)
        )
    else:
        data = read_real(folder)
    return data.X_train, data.Y_train


def highest_memory(work):
    """Return what ``work()`` returns, the most bytes that it takes above those of before, and its processor time."""
    settle_memory()
    before, highest, done = own_memory(), [0], threading.Event()

    def watch():
        while not done.wait(0.01):
            highest[0] = max(highest[0], own_memory() - before)

    watching, cpu = threading.Thread(target=watch), time.process_time()
    watching.start()
    value = work()
    cpu = time.process_time() - cpu
    done.set()
    watching.join()
    return value, highest[0], cpu


def digest(model):
    arrays = [np.ascontiguousarray(part) for tree in model.fitted_ for part in tree]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in arrays)).hexdigest()


def train_toy(**params):
    """Train on a few rows, so that nothing is compiled or loaded later."""
    toy = make_synthetic(n_train=800, n_test=1, n_labels=300, n_jobs=1)
    PLT(**params).fit(toy.X_train, toy.Y_train)


def measure(job):
    """Train on a data set and return bytes and seconds."""
    X, Y = read(job["source"])
    if job["twice"]:
        X, Y = (sp.csr_array(sp.vstack([matrix, matrix], format="csr")) for matrix in (X, Y))
    if job["in_files"]:
        folder = Path(job["data"]) / Path(job["source"]).name
        X = open_rows(folder) if folder.exists() else write_rows(X, folder)
    model = PLT(n_jobs=job["threads"])
    warm_up(model)
    train_toy(n_jobs=job["threads"])
    said = model.estimate(X, Y)
    settle_memory()
    machine.limit_memory(job["limit_bytes"])
    before, wall = own_memory(), time.perf_counter()
    _, peak, cpu = highest_memory(lambda: model.fit(X, Y))
    wall = time.perf_counter() - wall
    data = sum(part.nbytes for matrix in (X, Y) for part in (matrix.indptr, matrix.indices, matrix.data))
    return {
        "rows": X.shape[0], "labels": Y.shape[1], "data": data, "model": model.size()["model_bytes"],
        "peak": peak, "after": own_memory() - before, "said": said.peak, "seconds": wall, "cpu_s": cpu,
        "arrays": digest(model),
    }  # fmt: skip


def runs(options):
    """Train in all ways on all data sets."""
    sources = [*options.folders, *(["amazon-670k"] if options.amazon_670k else [])]
    texts = [source for source in options.folders if (Path(source) / "train.jsonl.gz").exists()]
    ways = [(source, False, False) for source in sources]
    ways += [(source, True, in_files) for source in texts for in_files in (False, True)]
    with tempfile.TemporaryDirectory(prefix="xmlcore-memory-") as folder:
        for source, twice, in_files in ways:
            limit = round(options.limit_gb * 2**30) if in_files else None
            job = processes.job_of("measure", Path(folder), options, source=source, twice=twice, in_files=in_files,
                                   limit_bytes=None)  # fmt: skip
            if in_files:  # a process that has read them once needs no more memory than their files
                processes.run_process(job, Path(folder), options, "benchmarks.memory")
            run = processes.run_process(job | {"limit_bytes": limit}, Path(folder), options, "benchmarks.memory")
            yield run | {"name": f"{Path(source).name}{', twice' * twice}{', in files' * in_files}"}


def markdown(results):
    head = ["data", "rows", "labels", "data, MiB", "model, MiB", "peak, MiB", "3 data + 1.5 model", "after, MiB",
            "said before, MiB", "processor s"]  # fmt: skip
    lines = []
    for run in results["runs"]:
        bound = 3 * run["data"] + 1.5 * run["model"]
        sizes = map(tables.mebibytes, (run["data"], run["model"], run["peak"]))
        lines.append([run["name"], f"{run['rows']:,}", f"{run['labels']:,}", *sizes, f"{run['peak'] / bound:.2f}",
                      *map(tables.mebibytes, (run["after"], run["said"])), tables.seconds(run["cpu_s"])])  # fmt: skip
    pairs = [(a, b) for a in results["runs"] for b in results["runs"] if b["name"] == f"{a['name']}, in files"]
    same = [f"{b['name']}: {'the same' if a['arrays'] == b['arrays'] else 'ANOTHER'} model, "
            f"{b['cpu_s'] / a['cpu_s']:.2f} times the processor time" for a, b in pairs]  # fmt: skip
    about = "Peak and what is left after it are above the data, which the process has before; the bound is its share."
    in_files = f"With rows in files, within {results['limit_gb']:g} GiB: {'; '.join(same)}."
    parts = ["# Memory of trainings", tables.measured_text(results), about, tables.table(head, lines), in_files]
    return "\n\n".join(parts) + "\n"


def main():
    parser = command.parser("memory", __doc__)
    parser.add_argument("folders", nargs="*", help="of data sets")
    parser.add_argument("--amazon-670k", action="store_true", help="also a made data set of that size")
    parser.add_argument("--limit-gb", type=float, default=1.5, help="GiB for trainings with rows in files")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--job", type=Path)
    command.add_files(parser, files.RESULTS / "memory.json")
    options = parser.parse_args()
    if options.job:
        return processes.run_job(options.job, {"measure": measure})
    command.measured("memory", options, runs(options), markdown, options.threads, limit_gb=options.limit_gb)
    return None


if __name__ == "__main__":
    sys.exit(main())
