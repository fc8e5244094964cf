"""xmlcore beside Annif's omikuji backend: python -m benchmarks.annif FOLDER --annif .venv-annif/bin/annif

FOLDER has `train.jsonl.gz` and `test.jsonl.gz` with lines {"text": ..., "labels": [...]}. Annif gets the same documents
as its short-text corpus. Everything is measured by `annif eval`: Annif's own backend, and xmlcore through Annif's http
backend. Three contestants:

omikuji: Annif's omikuji backend, its settings, trained by `annif train`;
same rows: PLT() on the very rows that Annif's vectoriser made for omikuji, in training and for the test documents;
xmlcore: TextClassifier() with a vectoriser of its own, served by `xmlcore serve`.

Times and memory are of whole processes, with their start. Annif needs an environment of its own:

    python3.12 -m venv .venv-annif && .venv-annif/bin/pip install 'annif[omikuji]'
"""

import argparse
import contextlib
import gzip
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

from benchmarks.library import command, files, load, machine, processes, tables

RESULT = files.RESULTS / "annif.json"
LIMIT = 5  # subjects for each document
MEASURES = ("NDCG@5", "F1@5", "Precision@1", "Precision@5")
CONTESTANTS = {
    "omikuji": "Annif's omikuji backend",
    "same rows": "PLT on the rows of Annif's vectoriser",
    "xmlcore": "TextClassifier, served to Annif",
}
URI = "http://example.org/{}"
PUNKT = ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab")
# In Annif's environment: the rows of the test documents by the vectoriser that `annif train` fitted.
VECTORISE = """
import sys
import joblib, scipy.sparse
vectorizer, source, target = joblib.load(sys.argv[1]), sys.argv[2], sys.argv[3]
with open(source, encoding="utf-8") as lines:
    texts = [line.split("\\t")[0] for line in lines]
scipy.sparse.save_npz(target, scipy.sparse.csr_matrix(vectorizer.transform(texts)))
"""


def corpus(source, target, most=None):
    """Write a corpus of Annif, and return its texts and labels."""
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in itertools.islice(lines, most)]
    texts = [" ".join(one["text"].split()) for one in records]
    with open(target, "w", encoding="utf-8") as file:
        for text, one in zip(texts, records):
            file.write(text + "\t" + " ".join(f"<{URI.format(label)}>" for label in one["labels"]) + "\n")
    return texts, [one["labels"] for one in records]


def settings(folder, endpoints):
    """Write the vocabulary's projects: omikuji, and one of the http backend for each endpoint."""
    project = "[{0}]\nname={0}\nlanguage=en\nvocab=subjects\nlimit={1}\nbackend={2}\n{3}\n"
    text = project.format("omikuji", LIMIT, "omikuji", "analyzer=simple\nmin_df=2")
    for name, place in endpoints.items():
        text += project.format(name, LIMIT, "http", f"endpoint={place}")
    (folder / "projects.cfg").write_text(text)


def process(command, folder, **environment):
    """Run a process, and return its seconds, its processor time, and the peak of its memory in bytes."""
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=folder, env=os.environ | environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)  # fmt: skip
    said = child.stdout.read().decode(errors="replace")
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{said[-3000:]}")
    return {"seconds": time.perf_counter() - start, "cpu_s": used.ru_utime + used.ru_stime,
            "peak_bytes": used.ru_maxrss * 1024}  # fmt: skip


class Annif:
    """The program, in a folder of its own."""

    def __init__(self, executable, folder):
        self.executable, self.folder = Path(executable).absolute(), folder
        data = folder / "nltk" / "tokenizers" / "punkt_tab" / "english"
        data.mkdir(parents=True)
        for name in PUNKT:  # sentences end at every full stop: nothing has to be downloaded
            (data / name).touch()

    def __call__(self, *arguments):
        """Run a command, and return what it took."""
        return process([self.executable, *map(str, arguments)], self.folder, NLTK_DATA=str(self.folder / "nltk"))

    def evaluate(self, project):
        """Return the measures of a project on the test documents, and what that took."""
        took = self("eval", "--limit", LIMIT, "--metrics-file", "measures.json", project, "test.tsv")
        return {"measures": json.loads((self.folder / "measures.json").read_text()), "evaluating": took}

    def python(self, code, *arguments):
        """Run code in Annif's environment."""
        return process([self.executable.parent / "python", "-c", code, *map(str, arguments)], self.folder,
                       NLTK_DATA=str(self.folder / "nltk"))  # fmt: skip


def train_text_classifier(folder):
    """Train a TextClassifier on the corpus, and write it; runs in a process of its own."""
    from xmlcore import TextClassifier
    from xmlcore.datasets import read_texts
    from xmlcore.models import PackedModel

    texts, label_lists = read_texts(folder / "train.tsv")
    PackedModel(TextClassifier().fit(texts, label_lists)).save(folder / "model.zip")


def train_on_rows(folder):
    """Train a PLT on the rows that Annif wrote for omikuji, and write its labels of the test rows."""
    import numpy as np
    import scipy.sparse as sp

    from xmlcore import PLT
    from xmlcore.datasets import read_matrix

    X, Y, *_ = read_matrix(folder / "data" / "projects" / "omikuji" / "omikuji-train.txt", format="xmlc")
    start = time.perf_counter()
    model = PLT().fit(X, Y)
    fit_s = time.perf_counter() - start
    labels, scores = model.predict_topk(sp.csr_array(sp.load_npz(folder / "test.npz")), LIMIT)
    np.savez(folder / "labels.npz", labels=labels, scores=scores, fit_s=fit_s)


JOBS = {"xmlcore": train_text_classifier, "same rows": train_on_rows}


def job(name, folder):
    """Run a training in a process of its own, and return what it took."""
    return process([sys.executable, "-m", "benchmarks.annif", "--job", name, str(folder)], files.RESULTS.parents[1])


@contextlib.contextmanager
def looked_up(answers):
    """Answer Annif's http backend with subjects that are known for each text; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version, wbufsize = "HTTP/1.1", -1

        def answer(self, value):
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.answer({"is_trained": True, "modification_time": "2020-01-01T00:00:00+00:00"})

        def do_POST(self):
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode(), keep_blank_values=True)
            self.answer({"results": answers.get(form["text"][0].strip(), [])})

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1/projects/rows/suggest"
        server.shutdown()
        thread.join()


def by_text(folder, texts):
    """Return the subjects of each test text from the labels that were written; ids are those of Annif's vocabulary."""
    import numpy as np

    with np.load(folder / "labels.npz") as found:
        labels, scores = found["labels"], found["scores"]
    names = [line.split("\t")[0].strip("<>") for line in (folder / "subjects.tsv").read_text("utf-8").splitlines()]
    return {
        text: [{"uri": names[j], "label": names[j], "score": float(score)} for j, score in zip(*row) if j >= 0]
        for text, *row in zip(texts, labels.tolist(), scores.tolist())
    }


@contextlib.contextmanager
def served(folder):
    """Serve the text classifier; yield its process and its address for Annif."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "xmlcore", "serve", f"m={folder / 'model.zip'}", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if server.poll() is not None:
                raise SystemExit("xmlcore serve has ended")
            time.sleep(0.1)
        yield server, f"http://127.0.0.1:{port}/v1/projects/m/suggest"
    finally:
        server.terminate()
        server.wait(20)


def measure(options, folder):
    """Yield the result of each contestant."""
    texts, label_lists = corpus(options.folder / "train.jsonl.gz", folder / "train.tsv", options.rows)
    test_texts, _ = corpus(options.folder / "test.jsonl.gz", folder / "test.tsv", options.test_rows)
    names = sorted({label for row in label_lists for label in row})
    (folder / "subjects.tsv").write_text("".join(f"<{URI.format(name)}>\t{name}\n" for name in names), "utf-8")
    settings(folder, {})
    annif = Annif(options.annif, folder)
    annif("load-vocab", "-L", "en", "subjects", "subjects.tsv")
    sizes = {"texts": len(texts), "test_texts": len(test_texts), "labels": len(names)}

    training = annif("train", "-j", os.cpu_count(), "omikuji", "train.tsv")
    without = annif("train", "-j", os.cpu_count(), "--cached", "omikuji")
    yield {"what": "omikuji", **sizes, "training": training, "cached": without,
           **annif.evaluate("omikuji")}  # fmt: skip
    annif.python(VECTORISE, folder / "data" / "projects" / "omikuji" / "vectorizer", "test.tsv", "test.npz")
    training = job("same rows", folder)
    with looked_up(by_text(folder, test_texts)) as place:
        settings(folder, {"rows": place})
        yield {"what": "same rows", **sizes, "training": training, "measures": annif.evaluate("rows")["measures"]}
    training = job("xmlcore", folder)
    with served(folder) as (server, place):
        settings(folder, {"xmlcore": place})
        found = annif.evaluate("xmlcore")
        memory = load.memory(server.pid)
    yield {"what": "xmlcore", **sizes, "training": training, **found, "server_peak_bytes": memory and memory[1]}


def markdown(results):
    """Return the results as Markdown."""
    first = results["runs"][0]
    rows = []
    for one in results["runs"]:
        evaluating, cached = one.get("evaluating"), one.get("cached")
        memory = one.get("server_peak_bytes") or (evaluating and evaluating["peak_bytes"])
        rows.append([
            CONTESTANTS[one["what"]], *(f"{100 * one['measures'][name]:.2f}" for name in MEASURES),
            f"{one['training']['seconds']:.1f}", f"{one['training']['cpu_s']:.1f}",
            "–" if cached is None else f"{cached['seconds']:.1f}", tables.mebibytes(one["training"]["peak_bytes"]),
            "–" if evaluating is None else f"{evaluating['seconds']:.1f}", tables.mebibytes(memory),
        ])  # fmt: skip
    head = ["", *(f"{name}, %" for name in MEASURES), "training, s", "processor, s", "without vectorising, s",
            "memory, MiB", "evaluating, s", "memory, MiB"]  # fmt: skip
    lines = [
        "# Beside Annif", "",
        f"{first['texts']:,} training documents, {first['test_texts']:,} test documents, {first['labels']:,} subjects. "
        f"All measures are those of `annif eval` with {LIMIT} subjects for each document. Times are of processes: "
        "training reads the corpus, makes rows of it, trains and writes the model. The row “on the rows of Annif's "
        "vectoriser” reads these rows from the file that Annif writes for omikuji, and so has no vectorising; compare "
        "it with omikuji without vectorising. The last memory is that of `annif eval`, in which omikuji runs, or of "
        "the server that it asks.", "", tables.table(head, rows), "",
    ]  # fmt: skip
    return "\n".join([*lines, tables.measured_text(results), ""])


def main():
    parser = command.parser("annif", __doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="folder with train.jsonl.gz and test.jsonl.gz")
    parser.add_argument("--annif", default=".venv-annif/bin/annif", help="Annif's executable")
    parser.add_argument("--rows", type=int, help="train on so many documents only")
    parser.add_argument("--test-rows", type=int, help="evaluate on so many documents only")
    command.add_files(parser, RESULT)
    parser.add_argument("--job", help=argparse.SUPPRESS)  # a measuring process
    options = parser.parse_args()
    if options.job:
        JOBS[options.job](options.folder)
        return
    results = files.read_json(options.out)
    if not options.table:
        if options.folder is None:
            parser.error("name the folder of the documents")
        results = machine.header("annif", os.cpu_count())
        with tempfile.TemporaryDirectory() as folder:
            for run in measure(options, Path(folder)):
                results["runs"].append(run)
                command.keep(results, options)
                found = ", ".join(f"{name} {100 * run['measures'][name]:.2f} %" for name in MEASURES)
                processes.say(f"{run['what']}: {found}; {run['training']['seconds']:.1f} s")
    command.show(markdown(results), options)


if __name__ == "__main__":
    main()
