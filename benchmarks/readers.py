"""How quickly files are read, beside other libraries, and how the cost grows with the file:

    python -m benchmarks.readers --rivals PYTHON [--largest MB]

PYTHON is an interpreter that has liac-arff and scikit-learn (benchmarks/requirements-rivals.txt). The files are made
up: rows of 100 features and 5 labels, or 300 numbers and 10 labels in the dense one, repeated up to the size. Every
measurement has a process of its own, which reads a tiny file first, and then the file a few times. To see how the cost
grows, the process keeps the memory that it frees: the first reading then shows what it costs to get memory from the
system, which on a virtual machine waits for its host, and the later readings what the reader itself costs.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.library import command, files, machine, processes, tables
from xmlcore.datasets import write_matrix

RESULT = files.RESULTS / "readers.json"
JOB = Path(__file__).parent / "library" / "reading.py"
BLOCK_ROWS = 4000  # rows that are made up; larger files repeat them
N_FEATURES, N_LABELS = 10_000, 1_000
TITLES = {"arff": "ARFF, sparse", "dense": "ARFF, dense", "xmlc": "XMLC text", "svmlight": "svmlight"}
RIVALS = {"arff": ("liac-arff",), "dense": ("liac-arff", "scipy"), "xmlc": (), "svmlight": ("scikit-learn",)}
RIVALS_MB = 10  # size of the files that other libraries read too
GROWING = ("xmlc", "arff", "dense")
SIZES_MB = (1, 10, 100, 1000)
KEEPS = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}  # glibc keeps memory that was freed
BASE_MB = 100  # the size whose cost per byte the others are compared with


def block(kind, n_rows=BLOCK_ROWS):
    """Return the head and the rows of a made-up file as bytes; the head of the XMLC text lacks the number of rows."""
    rng = np.random.default_rng(0)
    if kind == "dense":
        head = ["@relation 'dense: -C -10'", *(f"@attribute f{i} numeric" for i in range(300))]
        head += [*(f"@attribute l{i} {{0,1}}" for i in range(10)), "@data", ""]
        values, labels = rng.standard_normal((n_rows // 8, 300)), rng.random((n_rows // 8, 10)) < 0.3
        rows = (",".join([*(f"{v:.6f}" for v in row), *map(str, y)]) for row, y in zip(values, labels.astype(int)))
        return "\n".join(head).encode(), ("\n".join(rows) + "\n").encode()
    X = sp.random_array((n_rows, N_FEATURES), density=100 / N_FEATURES, format="csr", rng=rng, dtype=np.float32)
    Y = sp.random_array((n_rows, N_LABELS), density=5 / N_LABELS, format="csr", rng=rng) > 0
    X.data = np.round(X.data, 5)
    with tempfile.TemporaryDirectory(prefix="xmlcore-readers-") as folder:
        path = Path(folder) / "data.txt"
        write_matrix(path, X, Y, "arff" if kind == "arff" else "xmlc")
        content = path.read_bytes()
    if kind == "arff":
        head, data, rows = content.partition(b"@data\n")
        return head + data, rows
    return b"", content.partition(b"\n")[2]


def write_file(path, kind, megabytes, made):
    """Write a file of about a size, from what :func:`block` returned; return its number of rows."""
    head, rows = made
    lines = rows.splitlines(keepends=True)
    want, ends = max(1, round(megabytes * 1e6) - len(head)), np.cumsum([len(line) for line in lines])
    whole, rest = divmod(want, len(rows))
    more = max(int(np.searchsorted(ends, rest)), 0 if whole else 1)
    n_rows = whole * len(lines) + more
    with open(path, "wb") as file:
        file.write(head if kind != "xmlc" else f"{n_rows} {N_FEATURES} {N_LABELS}\n".encode())
        for _ in range(whole):
            file.write(rows)
        file.write(b"".join(lines[:more]))
    return n_rows


def measure(reader, python, toy, path, keeps):
    """Measure in a new process; with ``keeps`` it keeps the memory that it frees, where its C library is glibc."""
    variables = machine.environment(1) | ({"PYTHONPATH": str(machine.ROOT)} if reader == "xmlcore" else {})
    variables |= KEEPS if keeps else {}
    clock = machine.Clock()
    command = [python, "-P", "-s", str(JOB), reader, str(toy), str(path)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    found = {"failed": machine.complaint(done)} if done.returncode else json.loads(done.stdout)
    return found | {"others_cpu": clock.share_of_others()}


def study(options):
    """Measure all readers and sizes."""
    for kind in TITLES:
        made = block(kind)
        sizes = {size for size in SIZES_MB if size <= options.largest} if kind in GROWING else set()
        with tempfile.TemporaryDirectory(prefix="xmlcore-readers-") as temporary:
            toy, path = Path(temporary) / "toy", Path(temporary) / "file"
            write_file(toy, kind, 0, made)
            for size in sorted(sizes | {options.rivals_mb}):
                n_rows = write_file(path, kind, size, made)
                rivals = RIVALS[kind] if options.rivals else ()
                beside = [(reader, False) for reader in ("xmlcore", *rivals) if size == options.rivals_mb]
                for reader, keeps in beside + [("xmlcore", True)] * (size in sizes):
                    python = sys.executable if reader == "xmlcore" else options.rivals
                    run = {"kind": kind, "reader": reader, "mb": size, "bytes": path.stat().st_size, "rows": n_rows}
                    once = partial(measure, reader, python, toy, path, keeps)
                    run |= {"keeps": keeps} | processes.quietest(once, options.attempts)
                    if run["rows"] != n_rows:
                        raise SystemExit(f"{reader} read {run['rows']:,} rows of {n_rows:,} of {TITLES[kind]}")
                    yield run


def seconds(run):
    """Return the median processor time of a run; of its later readings, if the process kept its memory."""
    return statistics.median(run["seconds"][1:] if run["keeps"] else run["seconds"])


def per_byte(run):
    """Return the nanoseconds of a run per byte of the file."""
    return 1e9 * seconds(run) / run["bytes"]


def memory(run):
    """Return by how much memory rose, in sizes of the file."""
    return "–" if run["rise"] is None else f"{run['rise'] / run['bytes']:.1f}×"


def markdown(results):
    """Return the results as Markdown."""
    runs = [run for run in results["runs"] if "failed" not in run and not run["keeps"]]
    kept = [run for run in results["runs"] if "failed" not in run and run["keeps"]]
    ours = {run["kind"]: run for run in runs if run["reader"] == "xmlcore"}
    beside = [
        [TITLES[run["kind"]], run["reader"], tables.number(seconds(run)),
         tables.number(run["bytes"] / 1e6 / seconds(run)),
         "" if run["reader"] == "xmlcore" else tables.times(seconds(run) / seconds(ours[run["kind"]])), memory(run)]
        for run in runs
    ]  # fmt: skip
    base = {run["kind"]: per_byte(run) for run in kept if run["mb"] == BASE_MB}
    growth = [
        [TITLES[run["kind"]], f"{run['bytes'] / 1e6:,.0f}", tables.number(seconds(run)),
         tables.number(per_byte(run)), tables.times(per_byte(run) / base[run["kind"]]) if run["kind"] in base else "–",
         tables.number(run["seconds"][0]), tables.number(run["system"][0]), memory(run)]
        for run in kept
    ]  # fmt: skip
    failed = [
        f"{TITLES[run['kind']]}, {run['mb']} MB, {run['reader']}: failed, {run['failed']}."
        for run in results["runs"] if "failed" in run
    ]  # fmt: skip
    head = ["file", "MB", "seconds", "ns per byte", f"of that at {BASE_MB} MB", "first reading, seconds"]
    return tables.document(
        "# Reading files",
        f"Processor time of one thread, for files of {results['rivals_mb']:g} MB that the system has in memory. The "
        f"sparse ARFF file has {N_FEATURES + N_LABELS:,} attributes. liac-arff is used as by scikit-learn's "
        "fetch_openml. *Memory* is by how much the peak of the process rose while it read, in sizes of the file. "
        "scikit-learn reads svmlight only, scipy dense ARFF only.",
        tables.table(["file", "reader", "seconds", "MB/s", "time of xmlcore's", "memory"], beside, left=2),
        "How the cost of xmlcore grows with the file. Each file is read a few times by a process of its own that keeps "
        "the memory it frees. *Seconds* are those of the later readings, which find this memory: the reader's own "
        "cost. The *first reading* also gets its memory from the system, as a user's does; *system* is the system's "
        "part of it. On a virtual machine that part includes the host's time and differs from run to run.",
        tables.table([*head, "of these system", "memory"], growth),
        "\n".join(failed),
        tables.measured_text(results),
        *tables.noise_lines(results),
    )


def main():
    parser = command.parser("readers", __doc__)
    parser.add_argument("--rivals", help="interpreter that has liac-arff and scikit-learn")
    parser.add_argument("--rivals-mb", type=float, default=RIVALS_MB, help="size of the files that all readers read")
    parser.add_argument("--largest", type=float, default=SIZES_MB[-1], help="size of the largest file, in MB")
    parser.add_argument("--attempts", type=int, default=3, help="runs that other programs may disturb")
    command.add_files(parser, RESULT)
    options = parser.parse_args()
    about = {"largest_mb": options.largest, "rivals_mb": options.rivals_mb}
    command.measured("readers", options, study(options), markdown, **about)


if __name__ == "__main__":
    main()
