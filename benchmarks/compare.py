"""xmlcore's label trees beside napkinXC, omikuji and PECOS, on the same data, threads and machine, in turns.

    python -m benchmarks.compare FOLDER [--data bibtex delicious ...] [--runs 3] [--threads 2] [--rivals PYTHON]
                                        [--model FILE.py:CLASS ...]
    python -m benchmarks.compare --table FILE

FOLDER holds data sets, each a folder with train.txt.gz and test.txt.gz. PYTHON is the interpreter of an environment
with the other libraries, which need an older NumPy (benchmarks/requirements-rivals.txt). docs/benchmarks.md tells what
is measured, and how. Everything is written to a JSON file and, as tables, to a Markdown file beside it. Only the full
line-up (every data set and contestant, three runs or more) goes to results/comparison.json.
"""

import argparse
import ast
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import xmlcore
from benchmarks.library import command, comparison, files, machine
from benchmarks.library.data import described, prepare
from benchmarks.library.processes import quietest, say
from xmlcore import metrics
from xmlcore.datasets import read_dataset
from xmlcore.system import kernel_cache_root

LIBRARY = Path(__file__).resolve().parent / "library"
SETTINGS = LIBRARY.parent / "settings.json"
DATA = ("bibtex", "delicious", "wordnet-hyper", "wordnet-class", "aloi")
WIDE_DATA = ("delicious", "wordnet-class")  # where ensembles are compared, and settings chosen for ours
FULL_RUNS = 3  # fewer are no full line-up
ATTEMPTS = 3  # of a run that other programs disturbed, or in which a kernel was compiled


class Contestant(NamedTuple):
    name: str  # as in the tables
    library: str  # as in contestant.LIBRARIES
    kind: str  # "single": one tree; "ensemble": three
    params: dict | str  # for the library; "single", "wide": as chosen for the data set
    model: str = "PLT"  # of xmlcore: a class of it, or FILE.py:CLASS


PARABEL = {"arity": 2, "max_leaf_labels": 100, "loss": "squared_hinge", "C": 1.0}
BONSAI = {"n_trees": 3, "cluster_balanced": False, "cluster_k": 100, "max_depth": 3}  # omikuji's README
CONTESTANTS = {
    "xmlcore": Contestant("xmlcore", "xmlcore", "single", "single"),
    "xmlcore-parabel": Contestant("xmlcore, rivals' setting", "xmlcore", "single", PARABEL),
    "xmlcore-default": Contestant("xmlcore, default", "xmlcore", "single", {}),
    "napkinxc": Contestant("napkinXC PLT", "napkinxc", "single", {}),
    "omikuji": Contestant("omikuji, 1 tree", "omikuji", "single", {"n_trees": 1}),
    "pecos": Contestant("PECOS XR-Linear", "libpecos", "single", {}),
    "libmultilabel": Contestant("LibMultiLabel tree", "libmultilabel", "single", {}),
    "xmlcore-wide": Contestant("xmlcore, 3 wide trees", "xmlcore", "ensemble", "wide"),
    "omikuji-bonsai": Contestant("omikuji, Bonsai-like, 3 trees", "omikuji", "ensemble", BONSAI),
}
EVERY = tuple(CONTESTANTS)


def kinds_on(name):
    """Return the kinds of contestants that are compared on a data set."""
    return ("single", "ensemble") if name in WIDE_DATA else ("single",)


def run_once(python, contestant, job, folder, options, kernels):
    """Measure a contestant in a process of its own.

    Returns
    -------
    found : dict
        What the process measured, as far as it came; "failed": the reason or None; "others_cpu": the share of the
        machine's processor time that other programs took.
    labels : dict of ndarray
        The predicted labels for each way of searching.
    """
    folder.mkdir(parents=True)
    paths = {name: str(folder / name) for name in ("scratch", "result", "labels.npz")}
    Path(paths["scratch"]).mkdir()
    job = job | {"scratch": paths["scratch"], "result": paths["result"], "labels": paths["labels.npz"]}
    (folder / "job.json").write_text(json.dumps(job))
    is_xmlcore = contestant.library == "xmlcore"
    found, clock = {}, machine.Clock()
    try:
        done = subprocess.run(
            [python, *machine.ALONE[is_xmlcore], str(LIBRARY / "contestant.py"), str(folder / "job.json")],
            env=machine.environment(options.threads, kernels if is_xmlcore else None),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=options.timeout,
        )
        failed = machine.complaint(done) if done.returncode else None
    except subprocess.TimeoutExpired:
        failed = f"stopped after {options.timeout} s"
    others = clock.share_of_others()
    if Path(paths["result"]).is_file():
        found = json.loads(Path(paths["result"]).read_text())
    labels = {}
    if Path(paths["labels.npz"]).is_file():
        with np.load(paths["labels.npz"], allow_pickle=False) as stored:
            labels = {name.replace("_", " "): stored[name] for name in stored.files}
    shutil.rmtree(folder)
    return found | {"failed": failed, "others_cpu": others}, labels


def quality(data, weights, labels):
    """Return the measures of a ranking by name, in percent; ``weights`` are inverse propensities of labels."""
    precision = metrics.precision_at_k(data.Y_test, labels, 5)
    found = {f"P@{i}": precision[i - 1] for i in (1, 3, 5)}
    found["nDCG@5"] = metrics.ndcg_at_k(data.Y_test, labels, 5)[4]
    found["PSP@5"] = metrics.psprecision_at_k(data.Y_test, labels, 5, inv_ps=weights)[4]
    return {name: 100 * float(value) for name, value in found.items()}


def ask_versions(python, libraries, threads, kernels=None):
    """Return the versions of libraries in a Python, or the errors where they do not work."""
    done = subprocess.run(
        [python, *machine.ALONE[kernels is not None], str(LIBRARY / "contestant.py"), "--about", *libraries],
        env=machine.environment(threads, kernels),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"the Python of --rivals does not run contestant.py, {machine.complaint(done)}")
    return json.loads(done.stdout)


def line_up(options, versions, settings):
    """Find out who can take part on which data, and why the others cannot.

    Returns
    -------
    taking_part : list of (key, Contestant)
    missing : dict
        Reasons by name of contestant.
    """
    taking_part, missing = [], {}
    for key in options.only:
        contestant = CONTESTANTS[key]
        error = versions[contestant.library]["error"]
        if error:
            missing[contestant.name] = f"{contestant.library} is not there: {machine.without_paths(error)}"
            continue
        meant = [name for name in options.data if contestant.kind in kinds_on(name)]
        without = [name for name in meant if params_on(contestant, name, settings) is None]
        if without:
            missing[contestant.name] = f"no setting for {', '.join(without)} in {SETTINGS.name}"
        if len(without) < len(meant):
            taking_part.append((key, contestant))
    return taking_part, missing


def params_on(contestant, name, settings):
    """Return the parameters of a contestant on a data set; None where none have been chosen."""
    params = contestant.params
    return settings.get(name, {}).get(params) if isinstance(params, str) else params


def runners(name, taking_part, settings):
    """Return (key, contestant, params) of those that run on a data set."""
    found = [(key, contestant, params_on(contestant, name, settings)) for key, contestant in taking_part]
    return [one for one in found if one[1].kind in kinds_on(name) and one[2] is not None]


def is_full(options, missing):
    """Return whether this is the whole comparison: every data set and contestant, and enough runs."""
    everything = set(DATA) <= set(options.data) and set(EVERY) <= set(options.only)
    return everything and options.runs >= FULL_RUNS and not missing


def run_data(name, data, work, taking_part, settings, pythons, kernels, options, keep):
    """Measure all contestants on one data set, in turns, as often as the options say; ``keep`` gets each run."""
    weights = metrics.inverse_propensity(data.Y_train)
    for run in range(options.runs):
        for key, contestant, params in runners(name, taking_part, settings):
            job = {"library": contestant.library, "params": params, "model": contestant.model}
            job |= {"seed": run, "threads": options.threads}
            job |= {"data": str(work / name), "n_labels": data.n_labels}
            began = time.perf_counter()

            def once(given=(pythons[contestant.library], contestant, job, work / "run", options, kernels)):
                found, labels = run_once(*given)
                return found | {"labels": labels}

            found = quietest(once, ATTEMPTS, f"{name}, {contestant.name}")
            labels = found.pop("labels")
            for search, ways in found.get("searches", {}).items():
                found["searches"][search] = {"ways": ways, "quality": quality(data, weights, labels[search])}
            keep({"data": name, "contestant": key, "run": run, "params": params} | found)
            said = found["failed"] or f"training {found['train_s']:.2f} s"
            say(f"{name}, run {run + 1} of {options.runs}, {contestant.name}: {said} "
                f"({time.perf_counter() - began:.0f} s in all)")  # fmt: skip


def main():
    options = read_options()
    if options.table is not None:
        results = json.loads(options.table.read_text(encoding="utf-8"))
        print(comparison.markdown(results))
        return
    settings = json.loads(SETTINGS.read_text(encoding="utf-8"))["chosen"] if SETTINGS.is_file() else {}
    rivals = sorted({CONTESTANTS[key].library for key in options.only} - {"xmlcore"})
    with tempfile.TemporaryDirectory(prefix="xmlcore-benchmark-") as temporary:
        work = Path(temporary)
        kernels = kernel_cache_root()
        versions = ask_versions(sys.executable, ["xmlcore"], options.threads, kernels)
        ours = versions.pop("python")
        versions |= ask_versions(options.rivals, rivals, options.threads)
        versions |= {"python": ours, "python of the others": versions["python"]}
        pythons = {"xmlcore": sys.executable} | dict.fromkeys(rivals, options.rivals)
        taking_part, missing = line_up(options, versions, settings)
        full = is_full(options, missing)
        if options.out is None:
            options.out = default_out(full)
        results = machine.header("comparison", options.threads) | {
            "format": 2,
            "full": full,
            "complete": False,
            "planned": options.runs * sum(len(runners(name, taking_part, settings)) for name in options.data),
            "wide_data": list(WIDE_DATA),
            "runs_each": options.runs,
            "versions": versions,
            "missing": missing,
            "data": {},
            "contestants": {key: contestant._asdict() for key, contestant in taking_part},
        }

        def keep(run):
            results["runs"].append(run)
            files.write_results(options.out, results, comparison.markdown(results))

        texts = any(contestant.library == "omikuji" for _, contestant in taking_part)
        for name in options.data:
            data = read_dataset(
                options.folder / name / "train.txt.gz", options.folder / name / "test.txt.gz", name=name
            )
            results["data"][name] = described(data)
            prepare(data, work / name, texts)
            run_data(name, data, work, taking_part, settings, pythons, kernels, options, keep)
            shutil.rmtree(work / name)
    results |= {"complete": True, "xmlcore_code_end": machine.code_now()}
    files.write_results(options.out, results, comparison.markdown(results))
    print(comparison.markdown(results))
    say(f"written to {options.out} and {options.out.with_suffix('.md').name}")


FULL = f"all of {', '.join(DATA)}, every contestant, --runs {FULL_RUNS} or more"


def default_out(full):
    """Return the file of results: that of the full line-up, or a temporary one for anything less."""
    if full:
        return files.RESULTS / "comparison.json"
    out = Path(tempfile.mkdtemp(prefix="xmlcore-comparison-")) / "comparison.json"
    say(f"not the full line-up ({FULL}): results go to {out}")
    return out


def add_model(parser):
    """Add the option for models that are no contestants here."""
    parser.add_argument(
        "--model", nargs="+", default=[], metavar="FILE.py:CLASS", type=model_there,
        help="models of your own, or other classes of xmlcore, with their defaults; docs/benchmarks.md has an example",
    )  # fmt: skip


def model_there(name):
    """Return a name of a model with the whole path of its file; an error if there is no such file or class."""
    path, _, cls = name.rpartition(":")
    if not path:
        if not hasattr(getattr(xmlcore, name, None), "predict_topk"):
            raise argparse.ArgumentTypeError(f"{name} is no model of xmlcore: name one, such as LdSM, or FILE.py:CLASS")
    elif not Path(path).is_file():
        raise argparse.ArgumentTypeError(f"there is no file {path}")
    elif cls not in bound_names(Path(path)):
        raise argparse.ArgumentTypeError(f"{path} has no class {cls}")
    return f"{Path(path).resolve()}:{cls}" if path else name


def bound_names(path):
    """Return the names that a file of Python gives to classes and other values; the file is not run."""
    try:
        nodes = ast.walk(ast.parse(path.read_bytes()))
    except (SyntaxError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{path} is not Python: {error}") from error
    return {getattr(node, "asname", None) or getattr(node, "name", None) or getattr(node, "id", None)
            for node in nodes if isinstance(node, (ast.ClassDef, ast.alias, ast.Name))}  # fmt: skip


def read_options():
    """Return the options of the command line; end the program with a message if they are wrong."""
    parser = command.parser("compare", __doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="data sets: NAME/train.txt.gz and NAME/test.txt.gz")
    parser.add_argument("--data", nargs="+", default=list(DATA), help="names of data sets")
    parser.add_argument("--runs", type=int, default=3, help="runs of each contestant, each with another seed")
    parser.add_argument("--threads", type=int, default=2, help="threads of each library")
    parser.add_argument("--rivals", default=sys.executable, help="Python that has the other libraries (default: this)")
    parser.add_argument("--only", nargs="+", choices=EVERY, default=EVERY, metavar="NAME", help=", ".join(EVERY))
    add_model(parser)
    parser.add_argument(
        "--out", type=Path,
        help="results, as JSON (default: benchmarks/results/comparison.json; less than everything: a temporary file)",
    )  # fmt: skip
    parser.add_argument("--timeout", type=float, default=3600, help="seconds that one process may take")
    parser.add_argument("--table", type=Path, metavar="FILE", help="measure nothing: print the tables of a JSON file")
    options = parser.parse_args()
    own = {model.rpartition(":")[2]: model for model in options.model}
    CONTESTANTS.update({name: Contestant(name, "xmlcore", "single", {}, model) for name, model in own.items()})
    options.only = [*options.only, *own]
    if options.table is None:
        if options.folder is None:
            parser.error("name the FOLDER with the data sets, or a --table to print")
        absent = [name for name in options.data if not (options.folder / name / "train.txt.gz").is_file()]
        if absent:
            parser.error(f"no train.txt.gz for {', '.join(absent)} in {options.folder}")
        if shutil.which(options.rivals) is None:
            parser.error(f"--rivals {options.rivals} is no program")
    for name in ("runs", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    return options


if __name__ == "__main__":
    main()
