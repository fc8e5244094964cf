"""Throughput, latency and memory of `xmlcore serve`: python -m benchmarks.serving FOLDER

FOLDER has `train.jsonl.gz` and `test.jsonl.gz` with lines {"text": ..., "labels": [...]}. A TextClassifier is trained
and served. Beside it, the same model is served as a plain scikit-learn pipeline: scikit-learn's TfidfVectorizer with
the same settings, the same model, and a handler of five lines. Both are asked by the same load generator, on this
machine, for the test texts. Then `xmlcore serve` gets good and bad requests mixed for some minutes: each answer must
have the status that it should have, and the memory must not grow.
"""

import contextlib
import gzip
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from benchmarks.library import command, files, load, machine, processes, tables
from benchmarks.library.contestant import memory_now

RESULT = files.RESULTS / "serving.json"
K = 5
SERVERS = {"xmlcore": "xmlcore serve", "plain": "scikit-learn pipeline behind Starlette"}
BATCHES = (1, 100)  # texts in a request
SETTLING = 0.2  # share of the time of mixed requests after which memory is compared with that at the end


def read(path, most=None):
    """Return texts and lists of labels."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in itertools.islice(lines, most)]
    return [one["text"] for one in records], [one["labels"] for one in records]


def train(options, folder):
    """Train the classifier, and write it for both servers; return what it is."""
    import joblib
    from sklearn.feature_extraction.text import TfidfVectorizer

    from xmlcore import TextClassifier
    from xmlcore.models import PackedModel

    texts, label_lists = read(options.folder / "train.jsonl.gz", options.rows)
    start = time.perf_counter()
    model = TextClassifier().fit(texts, label_lists)
    took = time.perf_counter() - start
    PackedModel(model).save(folder / "model.zip")
    ours = model.vectorizer_
    vectorizer = TfidfVectorizer(min_df=ours.min_df, sublinear_tf=ours.sublinear).fit(texts)
    assert list(vectorizer.get_feature_names_out()) == list(ours.get_feature_names_out()), "other words"
    joblib.dump((vectorizer, model.model_, model.labels_), folder / "pipeline.joblib")
    return {
        "texts": len(texts),
        "labels": len(model.labels_),
        "features": ours.n_features_,
        "train_s": took,
        "zip_bytes": (folder / "model.zip").stat().st_size,
    }


@contextlib.contextmanager
def served(what, folder, first=None):
    """Run a server, which is asked a first time; yield its process and port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = {
        "xmlcore": ["-m", "xmlcore", "serve", f"m={folder / 'model.zip'}", "--port", str(port)],
        "plain": ["-m", "benchmarks.library.plain_server", str(folder / "pipeline.joblib"), str(port)],
    }
    process = subprocess.Popen([sys.executable, *command[what]], stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None:
                raise SystemExit(f"the server {what} has ended")
            time.sleep(0.1)
        ask(port, first or {"texts": ["warm up"] * 200, "k": K})
        yield process, port
    finally:
        process.terminate()
        process.wait(20)


def ask(port, what):
    """Return the answer of a server."""
    url, kind = f"http://127.0.0.1:{port}/predict", {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(what).encode(), kind), timeout=300) as answer:
        return json.load(answer)


def good(texts, batch):
    """Return requests for texts, and the status of their answers."""
    parts = [texts[i : i + batch] for i in range(0, len(texts) - batch + 1, batch)]
    return [(load.request("/predict", {"texts": part, "k": K}), (200,)) for part in parts]


def bad():
    """Return requests that must be refused, and how."""
    predict, suggest = "/predict", "/v1/projects/m/suggest"
    form = "application/x-www-form-urlencoded"
    return [
        (load.request(predict, b"{"), (400,)),
        (load.request(predict, b"[" * 50_000), (400,)),
        (load.request(predict, b'{"text": "\xff"}'), (400,)),
        (load.request(predict, {}), (422,)),
        (load.request(predict, {"text": 3}), (422,)),
        (load.request(predict, {"text": "a", "k": -1}), (422,)),
        (load.request(predict, {"rows": [{"no such feature": 1}]}), (422,)),
        (load.request(predict, {"row": {"0": 1e300}}), (422,)),
        (load.request(predict, {"texts": ["a"] * 1001}), (413,)),
        (load.request(predict, b" " * (17 << 20)), (413, None)),  # refused before it is sent to its end
        (load.request(predict, {"text": "a"}, "text/plain"), (415,)),
        (load.request("/v1/models/none/predict", {"text": "a"}), (404,)),
        (load.request("/nowhere", {"text": "a"}), (404,)),
        (load.request("/health", {}), (405,)),
        (load.request(suggest, b"limit=3", form), (422,)),
        (load.request(suggest, b"text=a&limit=x", form), (422,)),
        (b"NOT HTTP AT ALL\r\n\r\n", (400, None)),
        (b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", (400, None)),
        (load.request(predict, {"text": "strange \x00 \u202e text " * 1000}), (200,)),
        (load.request(suggest, b"text=a+text&limit=3", form), (200,)),
    ]


def measure(what, texts, options, folder):
    """Measure a server, and yield a result for each size of requests."""
    with served(what, folder) as (process, port):
        idle = memory_now(process.pid)
        for batch in BATCHES:
            requests = good(texts, batch)
            load.run("127.0.0.1", port, requests, min(2, options.seconds), options.connections)  # not measured
            found = load.run("127.0.0.1", port, requests, options.seconds, options.connections)
            memory = memory_now(process.pid)
            yield {
                "what": what,
                "batch": batch,
                **found,
                "texts_per_s": batch * found["requests"] / found["seconds"],
                "idle_bytes": idle and idle[0],
                "peak_bytes": memory and memory[1],
            }


def mixed(texts, options, folder):
    """Send good and bad requests for some minutes, and return what was not as expected, and how memory went."""
    seen = []
    with served("xmlcore", folder) as (process, port):
        wrong = bad()
        requests = [one for pair in zip(good(texts, 1)[: 20 * len(wrong)], itertools.cycle(wrong)) for one in pair]
        end = load.run(
            "127.0.0.1", port, requests, 60 * options.minutes, options.connections,
            watch=lambda: seen.append((memory_now(process.pid) or [None])[0]),
        )  # fmt: skip
        alive = process.poll() is None
    settled = seen[int(SETTLING * len(seen))] if seen else None
    memory = {
        "settled_bytes": settled,
        "end_bytes": seen[-1] if seen else None,
        "memory_bytes": seen[:: len(seen) // 100 + 1],
    }
    return {"what": "mixed", "minutes": options.minutes, **end, **memory, "alive": alive}


def beside(texts, options, folder):
    """Ask honestly for some minutes while others are hostile; return how both were answered."""
    seconds = 60 * options.hostile
    with served("xmlcore", folder) as (process, port), load.hostile(port, seconds) as hostile_answers:
        found = load.run("127.0.0.1", port, good(texts, 1), seconds, options.connections)
        others, memory, alive = hostile_answers(), memory_now(process.pid), process.poll() is None
    said = found["statuses"] | others
    return {
        "what": "hostile", "minutes": options.hostile, **found, "others": others, "alive": alive,
        "peak_bytes": memory and memory[1], "5xx": sum(n for how, n in said.items() if how.split()[-1][0] == "5"),
    }  # fmt: skip


def markdown(results):
    """Return the results as Markdown."""
    about = results["model"]
    lines = [
        "# Serving", "",
        f"{about['texts']:,} training texts, {about['labels']:,} labels, {about['features']:,} words; the packed model "
        f"takes {about['zip_bytes'] / 1e6:.0f} MB. {results['connections']} connections, each with one request at a "
        f"time; the load generator runs on the same {results['machine']['cores']} cores. The {K} best labels of each "
        "text are returned.", "",
    ]  # fmt: skip
    timed = [one for one in results["runs"] if one["what"] in SERVERS]
    rows = [
        [SERVERS[one["what"]], f"{one['batch']}", f"{one['requests'] / one['seconds']:,.0f}",
         f"{one['texts_per_s']:,.0f}", f"{one['p50_ms']:.1f}", f"{one['p99_ms']:.1f}",
         tables.mebibytes(one["idle_bytes"]), tables.mebibytes(one["peak_bytes"]), f"{len(one['problems'])}"]
        for one in timed
    ]  # fmt: skip
    head = ["", "texts in a request", "requests/s", "texts/s", "p50, ms", "p99, ms", "memory at rest, MiB", "peak, MiB",
            "errors"]  # fmt: skip
    lines += [tables.table(head, rows), ""] if rows else []
    for one in results["runs"]:
        if one["what"] == "mixed":
            counts = ", ".join(f"{count:,} times {status}" for status, count in sorted(one["statuses"].items()))
            lines += [
                f"Good and bad requests in turn for {one['minutes']:g} minutes: {one['requests']:,} requests, "
                f"{len(one['problems'])} answers with another status than they should have ({counts}; None: the "
                f"connection was closed). Memory {tables.mebibytes(one['settled_bytes'])} MiB after {SETTLING:.0%} of "
                f"the time, {tables.mebibytes(one['end_bytes'])} MiB at the end.", "",
            ]  # fmt: skip
        if one["what"] == "hostile":
            counts = ", ".join(f"{count:,} times {how}" for how, count in sorted(one["others"].items()))
            lines += [
                f"Beside hostile clients for {one['minutes']:g} minutes: {one['requests']:,} honest requests, p50 "
                f"{one['p50_ms']:.1f} ms, p99 {one['p99_ms']:.1f} ms, {len(one['problems'])} problems; {one['5xx']} "
                f"answers of 5xx in all; peak of the memory {tables.mebibytes(one['peak_bytes'])} MiB. The hostile "
                f"ones ({counts}; None: no answer was waited for, or the connection was closed).", "",
            ]  # fmt: skip
        if one["what"] not in SERVERS:
            lines += [f"- {problem}" for problem in one["problems"][:20]]
    return "\n".join([*lines, tables.measured_text(results), ""])


def main():
    parser = command.parser("serving", __doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="folder with train.jsonl.gz and test.jsonl.gz")
    parser.add_argument("--rows", type=int, help="train on so many texts only")
    parser.add_argument("--seconds", type=float, default=20, help="for each server and size of requests; 0: none")
    parser.add_argument("--minutes", type=float, default=10, help="of good and bad requests; 0: none")
    parser.add_argument("--hostile", type=float, default=30, help="minutes beside hostile clients; 0: none")
    parser.add_argument("--connections", type=int, default=4)
    command.add_files(parser, RESULT)
    options = parser.parse_args()
    results = files.read_json(options.out)
    if not options.table:
        if options.folder is None:
            parser.error("name the folder of the texts")
        texts, _ = read(options.folder / "test.jsonl.gz")
        results = machine.header("serving", os.cpu_count()) | {"connections": options.connections}
        with tempfile.TemporaryDirectory() as folder:
            results["model"] = train(options, Path(folder))
            for what in SERVERS if options.seconds else ():
                for run in measure(what, texts, options, Path(folder)):
                    results["runs"].append(run)
                    processes.say(f"{what}, {run['batch']} texts: {run['texts_per_s']:.0f} texts/s, p99 "
                                  f"{run['p99_ms']:.1f} ms, {len(run['problems'])} problems")  # fmt: skip
            if options.minutes:
                results["runs"].append(mixed(texts, options, Path(folder)))
            if options.hostile:
                results["runs"].append(beside(texts, options, Path(folder)))
        command.keep(results, options)
    command.show(markdown(results), options)


if __name__ == "__main__":
    main()
