"""One library, one data set, one run, in a process of its own. `benchmarks.compare` starts it; it stands alone, because
the other libraries live in another Python: it imports NumPy, SciPy and the one library that it measures.

    python contestant.py JOB.json        measure; writes the files that the job names
    python contestant.py --about LIBRARY...   versions as JSON

All contestants go through the same steps: read the training data, train and predict once on a few rows (so that nothing
is loaded, compiled or started for the first time inside a measurement), train, save, predict.
"""
# Long because it stands alone: each library is a class here, and nothing is imported from beside it.

import ctypes
import gc
import importlib.util
import json
import os
import pickle
import platform
import sys
import time
from contextlib import contextmanager
from functools import reduce
from importlib import metadata
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

K = 5
BEAM = 10  # unless the job has another "beam"
SUMMED = 50  # labels of each tree whose scores are added up, of a library that has no ensembles
DENSE_SCORES = 1 << 23  # most scores of a library that returns one for every label, at once: 64 MB
SHORT_S, SHORT_REPEATS = 1.0, 3  # a training shorter than this is done so often, each with another seed
SEED_STEP = 1000  # between the seeds of such repeats: runs have the seeds 0, 1, 2, ...
AS_TRAINED_ROWS = 500  # for a model whose first form is slow to search
BATCH_REPEATS = 5  # at least so many predictions of the whole test set, and
BATCH_SECONDS = 2.0  # as many as fit in this time
BATCH_MOST = 100
ONE_ROW_CALLS = 1000
ONE_ROW_WARM = 50


class Mode(NamedTuple):
    """One way to ask a library for its top labels."""

    search: str  # what is searched: "exact" or "beam 10"
    how: str  # the library's own way of doing it; the fastest counts
    predict: Any  # () -> its answer for all test rows, with all threads
    labels: Any  # that answer -> int array (n, K), -1 where there is none
    predict_one: Any  # row -> its answer for one row, with one thread; None where that is not measured
    rows: Any  # the rows as predict_one takes them


class Library:
    """One library: its name, what it needs, and what it is asked for beside training and predicting."""

    def save(self, model, folder):
        """Write a model as a pickle, as LibMultiLabel's save_pipeline does."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        with (Path(folder) / "model.pickle").open("wb") as file:
            pickle.dump(model, file)

    def extra(self):
        """Return what is known of the process, to be kept with what was measured."""
        return {}


class Xmlcore(Library):
    library = "xmlcore"
    needs = ("xmlcore", "numba", "numpy", "scipy")

    def __init__(self, job):
        from numba.core import event

        self.job, self.Model = job, model_class(job.get("model", "PLT"))
        self.compiling, self.touched = event.TimingListener(), 0

        class Count(event.Listener):
            def on_start(_, event):
                self.touched += 1

            def on_end(_, event):
                pass

        event.register("numba:compile", self.compiling)
        event.register("numba:compiler_lock", Count())  # taken to compile a kernel, and to load one from disk
        model = self.Model(**job["params"])
        if hasattr(model, "warm_up_pieces"):
            from xmlcore.models.base import warm_up

            warm_up(model)  # the toy data reaches all kernels but those of large models

    def read(self, folder, part):
        import scipy.sparse as sp

        X, Y = sp.csr_array(matrix(folder, part, "X")), sp.csr_array(matrix(folder, part, "Y"))
        return X, Y.astype(bool)

    def fit(self, data, folder):
        model = self.Model(**self.job["params"])
        self.set(model, n_jobs=self.job["threads"], random_state=self.job["seed"])
        return model.fit(*data)

    @staticmethod
    def set(model, **params):
        """Set those of the parameters that the model has."""
        known = model.get_params() if hasattr(model, "get_params") else {}
        if known.keys() & params:
            model.set_params(**{name: value for name, value in params.items() if name in known})
        return known.keys() >= params.keys()

    def save(self, model, folder):
        model.save(folder) if hasattr(model, "save") else super().save(model, folder)

    def modes(self, model, folder, X):
        import scipy.sparse as sp

        X = sp.csr_array(X)
        rows = [X[i : i + 1] for i in some_rows(X.shape[0])]

        def one(row):
            return model.predict_topk(row, K)

        def many():
            self.set(model, n_jobs=self.job["threads"])
            found = model.predict_topk(X, K)
            self.set(model, n_jobs=1)
            return found

        for search, beam in (("exact", None), (f"beam {BEAM}", BEAM)):
            self.set(model, n_jobs=1)
            if not self.set(model, beam=beam) and beam is not None:
                break
            yield Mode(search, "predict_topk", many, lambda found: self.ids(found, X.shape[0]), one, rows)

    def ids(self, found, n):
        """Return label ids, filled up with -1, of a Ranking, of another tuple (labels, scores), or of label ids."""
        labels, n_labels = np.asarray(found[0] if isinstance(found, tuple) else found), self.job["n_labels"]
        if labels.ndim != 2 or labels.shape[0] != n or labels.shape[1] > K or labels.dtype.kind not in "iu":
            raise TypeError(
                f"{self.Model.__name__}.predict_topk returned {labels.dtype} of shape {labels.shape}: label ids "
                f"of shape ({n}, {K}) are needed, or a tuple (labels, scores)"
            )
        order = np.sort(labels, axis=1)
        if (labels < -1).any() or (labels >= n_labels).any() or ((np.diff(order) == 0) & (order[:, 1:] >= 0)).any():
            raise ValueError(
                f"{self.Model.__name__}.predict_topk returned a label twice in a row, or one that is not from -1 to "
                f"{n_labels - 1}"
            )
        return np.pad(labels, [(0, 0), (0, K - labels.shape[1])], constant_values=-1)

    def extra(self):
        seconds = self.compiling.duration if self.compiling.done else 0.0
        return {"compile_s": seconds, "kernels_touched": self.touched}


def model_class(name):
    """Return a class of xmlcore, or with the name ``FILE.py:CLASS`` a user's own."""
    path, _, cls = name.rpartition(":")
    if not path:
        return getattr(importlib.import_module("xmlcore"), name)
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # by which its models are pickled
    spec.loader.exec_module(module)
    return getattr(module, cls)


class NapkinXC(Library):
    library = "napkinxc"
    needs = ("napkinxc", "numpy", "scipy")

    def __init__(self, job):
        from napkinxc.models import PLT

        self.job, self.PLT = job, PLT

    def read(self, folder, part):
        return matrix(folder, part, "X"), matrix(folder, part, "Y")

    def fit(self, data, folder):
        # Its fit always writes the model to its folder, and leaves nothing in memory.
        model = self.PLT(
            str(folder), seed=self.job["seed"], threads=self.job["threads"], verbose=False, **self.job["params"]
        )
        model.fit(*data)
        return model

    def save(self, model, folder):
        pass

    def modes(self, model, folder, X):
        rows = [X[i : i + 1] for i in some_rows(X.shape[0])]
        beam = {"tree_search_type": "beam", "beam_search_width": BEAM}
        ways = [
            ("exact", {}, "weights in hash maps (default)"),
            (f"beam {BEAM}", beam, "weights in hash maps (default)"),
        ]
        # Last: nothing is lost if memory does not suffice. Its third way, "sparse", was never the fastest, and crashed.
        dense_bytes = 4 * self.job["n_labels"] * X.shape[1]  # twice, for the two objects below
        if 2 * dense_bytes <= free_memory() / 2:
            ways.append(("exact", {"load_as": "dense"}, "dense weights"))
        for search, options, how in ways:
            many = self.PLT(str(folder), threads=self.job["threads"], verbose=False, **self.job["params"], **options)
            one = self.PLT(str(folder), threads=1, verbose=False, **self.job["params"], **options)
            many.load()
            one.load()
            yield Mode(
                search,
                how,
                lambda model=many: model.predict(X, top_k=K),
                from_lists,
                lambda row, model=one: model.predict(row, top_k=K),
                rows,
            )
            many.unload()
            one.unload()


class Omikuji(Library):
    library = "omikuji"
    needs = ("omikuji",)

    def __init__(self, job):
        with silence():
            import omikuji
            from omikuji._libomikuji import ffi, lib
        self.job, self.omikuji, self.ffi, self.lib = job, omikuji, ffi, lib
        self.pool = omikuji._ThreadPoolHandle(job["threads"])

    def read(self, folder, part):
        # It trains from a file; loading is kept apart from training, which the Python class does in one call.
        path = str(Path(folder) / f"{part}.txt").encode()
        with silence():
            data = self.lib.load_omikuji_data_set(self.ffi.new("char[]", path), self.pool.ptr)
        if data == self.ffi.NULL:
            raise RuntimeError("omikuji cannot read its training file")
        return self.ffi.gc(data, self.lib.free_omikuji_data_set)

    def fit(self, data, folder):
        params = self.omikuji.Model.default_hyper_param()
        for name, value in self.job["params"].items():
            setattr(params, name, value)
        with silence():  # it draws progress bars, in the timed part; nobody has to wait for a terminal or a file
            model = self.lib.train_omikuji_model(data, params, self.pool.ptr)
        if model == self.ffi.NULL:
            raise RuntimeError("omikuji did not train")
        return self.omikuji.Model(model, self.pool)

    def save(self, model, folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
        with silence():
            model.save(str(folder))

    def modes(self, model, folder, X):
        from concurrent.futures import ThreadPoolExecutor

        n, threads = X.shape[0], self.job["threads"]
        indptr, indices, values = X.indptr.tolist(), X.indices.astype(np.uint32), X.data
        labels, scores = np.empty((n, K), np.uint32), np.empty((n, K), np.float32)
        counts = np.zeros(n, np.int64)
        buffer = self.ffi.from_buffer
        at_index, at_value = buffer("uint32_t[]", indices), buffer("float[]", values)
        at_label, at_score = buffer("uint32_t[]", labels), buffer("float[]", scores)

        # Its Python class predicts one row a call. All rows go to the C function beneath it, straight from the arrays
        # and from several threads: quicker than anything the class offers.
        def span(start, end):
            for i in range(start, end):
                first, stop = indptr[i], indptr[i + 1]
                counts[i] = self.lib.omikuji_predict(
                    model._model_ptr,
                    BEAM,
                    stop - first,
                    at_index + first,
                    at_value + first,
                    K,
                    at_label + K * i,
                    at_score + K * i,
                    self.pool.ptr,
                )

        def result(_):
            return np.where(np.arange(K) < counts[:, None], labels.astype(np.int64), -1)

        executor = ThreadPoolExecutor(threads)
        block = max(1, min(256, n // (4 * threads)))
        starts = range(0, n, block)

        def from_threads():
            list(executor.map(span, starts, [min(start + block, n) for start in starts]))

        rows = [
            list(zip(X.indices[a:b].tolist(), X.data[a:b].tolist()))
            for a, b in ((X.indptr[i], X.indptr[i + 1]) for i in some_rows(n))
        ]

        def one(row):
            return model.predict(row, beam_size=BEAM, top_k=K)

        several, alone = self.pool, self.omikuji._ThreadPoolHandle(1)
        for density in (None, 0.1):  # 0.1 is what its command-line program uses to predict
            if density is not None:
                with silence():
                    model.densify_weights(density, threads)
            weights = "sparse weights" if density is None else f"densified from {density:g}"
            model._thread_pool = alone
            yield Mode(f"beam {BEAM}", f"{weights}, C function, {threads} threads", from_threads, result, one, rows)
            yield Mode(f"beam {BEAM}", f"{weights}, C function, one caller", lambda: span(0, n), result, None, None)
            model._thread_pool = several
        executor.shutdown()


class Pecos(Library):
    library = "libpecos"
    needs = ("libpecos", "numpy", "scipy", "scikit-learn")

    def __init__(self, job):
        from pecos.xmc import Indexer, LabelEmbeddingFactory
        from pecos.xmc.xlinear.model import XLinearModel

        self.job, self.Indexer, self.Embedding, self.Model = job, Indexer, LabelEmbeddingFactory, XLinearModel

    def read(self, folder, part):
        return matrix(folder, part, "X"), matrix(folder, part, "Y").tocsc()

    def fit(self, data, folder):
        X, Y = data
        params = {"n_trees": 1, "threads": self.job["threads"]} | self.job["params"]
        embedding, trees = self.Embedding.create(Y, X, method="pifa", threads=params["threads"]), []
        for seed in range(self.job["seed"], self.job["seed"] + params.pop("n_trees")):
            chain = self.Indexer.gen(embedding, indexer_type="hierarchicalkmeans", seed=seed, **params)
            trees.append(self.Model.train(X, Y, C=chain, **params))
        return trees

    def save(self, trees, folder):
        for number, tree in enumerate(trees):
            tree.save(str(Path(folder) / str(number)))

    def modes(self, trees, folder, X):
        rows = [X[i : i + 1] for i in some_rows(X.shape[0])]
        threads, depth = self.job["threads"], K if len(trees) == 1 else SUMMED
        # As trained it predicts slowly; saved and loaded again for prediction only, quickly.
        for kind in ("BINARY_SEARCH_CHUNKED", "HASH_CHUNKED"):
            paths = [str(Path(folder) / str(number)) for number in range(len(trees))]
            loaded = [self.Model.load(path, is_predict_only=True, weight_matrix_type=kind) for path in paths]

            def ask(rows, threads, trees=loaded):
                found = [tree.predict(rows, beam_size=BEAM, only_topk=depth, threads=threads) for tree in trees]
                return reduce(add, found)

            yield Mode(
                f"beam {BEAM}",
                f"predict-only, {kind}",
                lambda ask=ask: ask(X, threads),
                from_scores,
                lambda row, ask=ask: ask(row, 1),
                rows,
            )

    def as_trained(self, trees, rows):
        """Predict with the first tree that training returned, as it is."""
        return trees[0].predict(rows, beam_size=BEAM, only_topk=K, threads=self.job["threads"])


class LibMultiLabel(Library):
    library = "libmultilabel"
    needs = ("libmultilabel", "liblinear-multicore", "sparsekmeans", "numpy", "scipy", "scikit-learn")

    def __init__(self, job):
        os.environ["NUMBA_NUM_THREADS"] = str(job["threads"])  # of its k-means; read at the import
        from libmultilabel import linear

        self.job, self.linear = job, linear

    def read(self, folder, part):
        return matrix(folder, part, "X").astype(np.float64), matrix(folder, part, "Y").astype(np.float64)

    def fit(self, data, folder):
        X, Y = data
        np.random.seed(self.job["seed"])  # noqa: NPY002 - its k-means draws from there
        params = {"verbose": False} | self.job["params"]
        options = f"-m {self.job['threads']} {params.pop('options', '')}"
        with silence():
            if "n_trees" in params:
                return self.linear.train_ensemble_tree(Y, X, options, seed=self.job["seed"], **params)
            return self.linear.train_tree(Y, X, options, **params)

    def modes(self, model, folder, X):
        yield dense_mode(
            f"beam {BEAM}",
            "predict_values, in blocks of rows",
            lambda rows: model.predict_values(rows, beam_width=BEAM),
            X.astype(np.float64),
            self.job["n_labels"],
        )


class ScikitLearn(Library):
    library = "scikit-learn"
    needs = ("scikit-learn", "numpy", "scipy")

    def __init__(self, job):
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.svm import LinearSVC

        self.job, self.OneVsRest, self.LinearSVC = job, OneVsRestClassifier, LinearSVC

    def read(self, folder, part):
        return matrix(folder, part, "X").astype(np.float64), matrix(folder, part, "Y")

    def fit(self, data, folder):
        svc = self.LinearSVC(random_state=self.job["seed"], **self.job["params"])
        return self.OneVsRest(svc, n_jobs=self.job["threads"]).fit(*data)

    def modes(self, model, folder, X):
        yield dense_mode(
            "exact",
            "decision_function, in blocks of rows",
            lambda rows: model.decision_function(rows),
            X.astype(np.float64),
            self.job["n_labels"],
        )


LIBRARIES = {cls.library: cls for cls in (Xmlcore, NapkinXC, Omikuji, Pecos, LibMultiLabel, ScikitLearn)}
MODULES = {  # where it is not the library's name
    "libpecos": "pecos.xmc.xlinear.model",
    "napkinxc": "napkinxc.models",
    "libmultilabel": "libmultilabel.linear",
    "scikit-learn": "sklearn.svm",
}


def matrix(folder, part, which):
    """Return one of the matrices that were prepared for everybody, as csr_matrix float32 with sorted indices."""
    import scipy.sparse as sp

    with np.load(Path(folder) / f"{part}-{which}.npz", allow_pickle=False) as stored:
        arrays = stored["data"], stored["indices"], stored["indptr"]
        return sp.csr_matrix(arrays, shape=tuple(stored["shape"].tolist()))


def some_rows(n):
    """Return row numbers for calls with one row, spread over the test set of n rows."""
    return np.linspace(0, n - 1, min(n, ONE_ROW_CALLS)).astype(int).tolist()


def from_lists(found):
    """Return lists of labels as an array, -1 where there is none."""
    labels = np.full((len(found), K), -1, np.int64)
    for row, best in zip(labels, found):
        row[: len(best)] = best[:K]
    return labels


def from_scores(found):
    """Return the best labels of each row of a sparse matrix of scores; equal scores are ordered by label id."""
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    order = np.lexsort((found.indices, -found.data, rows))
    place = np.arange(order.size) - np.repeat(found.indptr[:-1], np.diff(found.indptr))
    labels = np.full((found.shape[0], K), -1, np.int64)
    kept = place < K
    labels[rows[kept], place[kept]] = found.indices[order[kept]]
    return labels


def dense_mode(search, how, ask, X, n_labels):
    """Return the mode of a library that answers with a score for every label, asked for blocks of rows."""
    block = max(1, DENSE_SCORES // n_labels)

    def many():
        scores = (ask(X[start : start + block]) for start in range(0, X.shape[0], block))
        return np.concatenate([np.argsort(-part, axis=1, kind="stable")[:, :K] for part in scores])

    def padded(found):
        labels = np.full((found.shape[0], K), -1, np.int64)
        labels[:, : found.shape[1]] = found
        return labels

    return Mode(search, how, many, padded, ask, [X[i : i + 1] for i in some_rows(X.shape[0])])


@contextmanager
def silence():
    """Discard whatever a library prints from now on, from compiled code too."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for number, copy in zip((1, 2), kept):
            os.dup2(copy, number)
            os.close(copy)
        os.close(nowhere)


def settle_memory():
    """Give free memory back to the system, so that it does not hide what training needs."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        pass


def memory_now(pid="self"):
    """Return the resident memory of a process now, and its peak since the last reset, in bytes.

    None where the system does not tell.
    """
    try:
        lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return tuple(1024 * int(lines[name].split()[0]) for name in ("VmRSS", "VmHWM"))
    except (OSError, KeyError):
        return None


def free_memory():
    """Return the bytes of memory that are free; 0 where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 0


def reset_peak():
    """Let the system forget the peak of this process's memory; return whether that worked."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return True
    except OSError:
        return False


def folder_bytes(folder):
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def time_batch(mode):
    """Predict the whole test set several times; return the seconds of each time, and the labels.

    One prediction before these is not counted.
    """
    labels = np.array(mode.labels(mode.predict()))
    seconds = []
    while len(seconds) < BATCH_REPEATS or (sum(seconds) < BATCH_SECONDS and len(seconds) < BATCH_MOST):
        start = time.perf_counter()
        mode.predict()
        seconds.append(time.perf_counter() - start)
    return seconds, labels


def time_rows(mode):
    """Predict some rows one by one; return the milliseconds of each call."""
    for row in mode.rows[:ONE_ROW_WARM]:
        mode.predict_one(row)
    milliseconds = np.empty(len(mode.rows))
    for i, row in enumerate(mode.rows):
        start = time.perf_counter()
        mode.predict_one(row)
        milliseconds[i] = 1000 * (time.perf_counter() - start)
    return milliseconds


def train(library, data, scratch, first_done):
    """Train once, or several times if that is short.

    ``first_done`` is called after the first training, before anything else takes memory. Returns the first model, and
    the seconds of wall time and of processor time of each training.
    """
    seed, wall, cpu, model = library.job["seed"], [], [], None
    while not wall or (wall[0] < SHORT_S and len(wall) < SHORT_REPEATS):
        library.job["seed"] = seed + SEED_STEP * len(wall)
        folder = scratch / ("model" if not wall else f"model-{len(wall)}")
        cpu_start, start = time.process_time(), time.perf_counter()
        trained = library.fit(data, folder)
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
        if model is None:
            model = trained
            first_done()
        del trained
    library.job["seed"] = seed
    return model, wall, cpu


def measure(job, write):
    """Do all steps with the library of the job; ``write`` gets what is measured, after each step."""
    scratch = Path(job["scratch"])
    library = LIBRARIES[job["library"]](job)

    toy = library.read(job["data"], "toy")
    model = library.fit(toy, scratch / "toy")
    library.save(model, scratch / "toy")
    for mode in library.modes(model, scratch / "toy", matrix(job["data"], "toy", "X")):
        mode.predict()
        if mode.predict_one is not None:
            mode.predict_one(mode.rows[0])
    del toy, model, mode

    data = library.read(job["data"], "train")
    settle_memory()
    reset = reset_peak()
    before, touched = memory_now(), library.extra().get("kernels_touched", 0)
    memory = []
    model, wall, cpu = train(library, data, scratch, lambda: memory.append(memory_now()))
    after, middle = memory[0], int(np.argsort(wall)[len(wall) // 2])
    result = {"train_s": wall[middle], "train_cpu_s": cpu[middle], "trains_s": wall}
    if "kernels_touched" in library.extra():
        result["kernels_touched_in_training"] = library.extra()["kernels_touched"] - touched
    if reset and before and after:
        result |= {"memory_before": before[0], "memory_peak": after[1]}
    library.save(model, scratch / "model")
    result["model_bytes"] = folder_bytes(scratch / "model")
    del data
    write(result)  # what is known stays known, should prediction fail

    X = matrix(job["data"], "test", "X")
    result["searches"], found = {}, {}
    for mode in library.modes(model, scratch / "model", X):
        seconds, labels = time_batch(mode)
        ways = result["searches"].setdefault(mode.search, [])
        way = {"how": mode.how, "ms_per_row": 1000 * float(np.median(seconds)) / X.shape[0], "repeats": len(seconds)}
        if mode.predict_one is not None:
            p50, p99 = np.percentile(time_rows(mode), [50, 99]).tolist()
            way |= {"one_row_p50_ms": p50, "one_row_p99_ms": p99}
        # Ways of one search are the same model: how many rows they rank otherwise is for the reader to see.
        way["rows_ranked_otherwise"] = int((labels != found.setdefault(mode.search, labels)).any(axis=1).sum())
        ways.append(way)
        np.savez(job["labels"], **{search.replace(" ", "_"): labels for search, labels in found.items()})
        write(result)
    if hasattr(library, "as_trained"):
        rows = X[: min(X.shape[0], AS_TRAINED_ROWS)]
        library.as_trained(model, rows[:20])
        start = time.perf_counter()
        library.as_trained(model, rows)
        result["as_trained_ms_per_row"] = 1000 * (time.perf_counter() - start) / rows.shape[0]
    result |= {"extra": library.extra(), "done": True}
    write(result)


def rank(job, write):
    """Train and predict once, for what is ranked: a time is that of a process in which nothing has run before."""
    scratch, library = Path(job["scratch"]), LIBRARIES[job["library"]](job)
    data = library.read(job["data"], "train")
    start = time.perf_counter()
    model = library.fit(data, scratch / "model")
    train_s = time.perf_counter() - start
    library.save(model, scratch / "model")
    X = matrix(job["data"], "test", "X")
    mode = next(library.modes(model, scratch / "model", X))
    start = time.perf_counter()
    found = mode.predict()
    way = {"how": mode.how, "ms_per_row": 1000 * (time.perf_counter() - start) / X.shape[0]}
    np.savez(job["labels"], **{mode.search.replace(" ", "_"): mode.labels(found)})
    write({"train_s": train_s, "searches": {mode.search: [way]}, "done": True})


def about(names):
    """Return the version of each library here, and the error where it does not work."""
    found = {"python": platform.python_version()}
    for name in names:
        cls = LIBRARIES[name]
        entry = {"version": None, "error": None, "with": {}}
        try:
            entry["version"] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass  # a checkout
        try:
            with silence():
                importlib.import_module(MODULES.get(name, name))
        except Exception as error:
            entry["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
        for other in cls.needs:
            if other != name:
                try:
                    entry["with"][other] = metadata.version(other)
                except metadata.PackageNotFoundError:
                    entry["with"][other] = None
        found[name] = entry
    return found


def main():
    global BEAM
    if sys.argv[1] == "--about":
        print(json.dumps(about(sys.argv[2:])))
        return
    job = json.loads(Path(sys.argv[1]).read_text())
    BEAM = job.get("beam", BEAM)

    def write(result):
        part = Path(job["result"] + ".part")
        part.write_text(json.dumps(result))
        os.replace(part, job["result"])

    (rank if job.get("once") else measure)(job, write)


if __name__ == "__main__":
    main()
