"""What contestants are given, the steps that each goes through, and ratios and tables of the results."""

import argparse
import json
import re
import shlex
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import compare, precision
from benchmarks.library import comparison, contestant, files, machine, processes
from benchmarks.library import data as library_data
from tests.benchmarks.making import ABOUT, write_data
from xmlcore.datasets import Dataset, read_matrix


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    Y = np.zeros((60, 8), bool)
    Y[np.arange(60), rng.integers(0, 8, 60)] = True
    X = (rng.random((60, 12)) * (rng.random((60, 12)) < 0.5)).astype(np.float32)
    X[:, :8] += 2 * Y
    X[3] = 0
    Y[4] = False
    return Dataset("toy", X[:40], Y[:40], X[40:], Y[40:])


def test_all_contestants_get_the_same_rows_of_length_1(data, tmp_path):
    library_data.prepare(data, tmp_path / "data", texts=True)
    X, Y = (contestant.matrix(tmp_path / "data", "train", which) for which in "XY")
    assert X.dtype == Y.dtype == np.float32 and X.has_sorted_indices
    assert (Y.toarray() == data.Y_train.toarray()).all()
    X_text, Y_text, _, _ = read_matrix(tmp_path / "data" / "train.txt")
    assert (X_text.toarray() == X.toarray()).all() and (Y_text.toarray() == Y.toarray()).all()
    toy = contestant.matrix(tmp_path / "data", "toy", "Y")
    assert (toy.sum(axis=0) > 0).all()  # some libraries do not survive labels without rows
    X = sp.csr_array(np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0]], np.float32))
    assert library_data.normalised(X).toarray().ravel().tolist() == pytest.approx([0.6, 0.8, 0, 0, 0, 1, 0, 0])
    explicit = sp.csr_array((np.zeros(1, np.float32), [0], [0, 1]), shape=(1, 2))
    assert library_data.normalised(explicit).toarray().tolist() == [[0, 0]]


@pytest.mark.slow
def test_xmlcore_takes_all_steps_with_its_usual_model(data, tmp_path, monkeypatch):
    from xmlcore import PLT

    monkeypatch.setattr(contestant, "BATCH_SECONDS", 0)
    monkeypatch.setattr(contestant, "reset_peak", lambda: False)
    library_data.prepare(data, tmp_path / "data", texts=False)
    (tmp_path / "scratch").mkdir()
    job = {"library": "xmlcore", "params": {"max_leaf_labels": 2, "C": 3.0}, "seed": 1, "threads": 2, "n_labels": 8}
    job |= {"data": str(tmp_path / "data"), "scratch": str(tmp_path / "scratch"), "labels": str(tmp_path / "l.npz")}
    written = []
    contestant.measure(job, lambda result: written.append(json.loads(json.dumps(result))))

    assert "searches" not in written[0] and written[0]["train_s"] > 0  # kept, should prediction fail
    assert written[-1]["done"] and written[-1]["model_bytes"] > 0
    assert list(written[-1]["searches"]) == ["exact", "beam 10"]
    model = PLT(random_state=1, max_leaf_labels=2, C=3.0)
    model.fit(library_data.normalised(data.X_train), data.Y_train)
    expected = model.predict_topk(library_data.normalised(data.X_test), 5).labels
    with np.load(tmp_path / "l.npz") as labels:
        assert (labels["exact"] == expected).all() and labels["beam_10"].shape == expected.shape


def test_the_recipe_compares_a_method_of_ones_own(data, tmp_path, monkeypatch):
    text = (machine.ROOT / "docs/benchmarks.md").read_text(encoding="utf-8").split("## Compare your method")[1]
    code, command = re.findall(r"```(?:python|text)\n(.*?)```", text, re.DOTALL)[:2]
    (tmp_path / "mine.py").write_text(code)
    write_data(tmp_path, "bibtex")
    library_data.prepare(data, tmp_path / "data", texts=False)
    (tmp_path / "scratch").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compare, "CONTESTANTS", dict(compare.CONTESTANTS))
    monkeypatch.setattr(sys, "argv", shlex.split(command.replace("FOLDER", "."))[2:])
    mine = compare.CONTESTANTS[compare.read_options().only[-1]]
    job = {"library": mine.library, "params": mine.params, "model": mine.model, "seed": 0, "threads": 1, "n_labels": 8}
    contestant.rank(job | {"data": "data", "scratch": "scratch", "labels": "l.npz"}, lambda found: None)
    with np.load("l.npz") as labels:
        assert (labels["exact"] == np.argsort(-data.Y_train.sum(axis=0), kind="stable")[:5]).all()
    assert not precision.RESULTS.is_relative_to(files.RESULTS)


@pytest.mark.parametrize("name, message", [
    ("mine.py:Nope", "mine.py has no class Nope"), ("mine.py:", "has no class"), ("mine.py", "no model of xmlcore"),
    ("Foo", "no model of xmlcore"), ("metrics", "no model"), ("no.py:Mine", "no file"), ("bad.py:Mine", "not Python"),
])  # fmt: skip
def test_a_model_that_is_not_there_is_refused_at_the_start(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("class Mine:\n    pass\n")
    (tmp_path / "bad.py").write_text("class Mine")
    with pytest.raises(argparse.ArgumentTypeError, match=message):
        compare.model_there(name)
    assert compare.model_there("mine.py:Mine").endswith("mine.py:Mine") and compare.model_there("LdSM") == "LdSM"


@pytest.mark.parametrize("found, message", [
    (([[0, 1], [2, 0]], [[0.2, 0.1], [0.2, 0.1]]), None), (np.array([[0, 1], [2, 0]]), None),
    ([[0.5, 0.1], [0.2, 0.1]], "Mine.predict_topk returned float64"), ([[0, 1]], r"Mine.*of shape \(1, 2\)"),
    ([[0, 9], [1, 2]], "from -1 to 3"), ([[0, 0], [1, 2]], "Mine.predict_topk returned a label twice"),
])  # fmt: skip
def test_what_a_method_of_ones_own_returns_is_checked(found, message):
    mine = SimpleNamespace(Model=type("Mine", (), {}), job={"n_labels": 4})
    if message is None:
        assert contestant.Xmlcore.ids(mine, found, 2).tolist() == [[0, 1, -1, -1, -1], [2, 0, -1, -1, -1]]
        return
    with pytest.raises((TypeError, ValueError), match=message):
        contestant.Xmlcore.ids(mine, found, 2)


def test_answers_and_failures_have_one_form_without_paths():
    scores = sp.csr_matrix(np.array([[0.1, 0, 0.7, 0.7, 0.2, 0.3, 0.6], [0, 0.5, 0, 0, 0, 0, 0]]))
    expected = [[2, 3, 6, 5, 4], [1, -1, -1, -1, -1]]
    assert contestant.from_scores(scores).tolist() == expected
    assert contestant.from_lists([[2, 3, 6, 5, 4, 0], [1]]).tolist() == expected
    done = subprocess.CompletedProcess([], 1, "", "Traceback\n  ...\nOSError: cannot read '/home/me/data/train.txt'\n")
    assert machine.complaint(done) == "exit code 1: OSError: cannot read 'train.txt'"
    assert machine.complaint(subprocess.CompletedProcess([], -11, "", "")) == "ended by signal 11"


def test_measuring_processes_leave_kernels_to_blas(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    variables = machine.environment(2)
    assert "OPENBLAS_CORETYPE" not in variables
    assert variables["OPENBLAS_NUM_THREADS"] == "2"
    assert machine.blas() and "Prescott" not in machine.blas()


def test_of_repeated_runs_the_quietest_counts(capsys):
    def best(*runs, where=""):
        waiting = iter({"failed": None, "number": number} | run for number, run in enumerate(runs))
        found = processes.quietest(lambda: next(waiting), 3, where)
        return found["number"], found["attempts"]

    busy, busier, calm = {"others_cpu": 0.3}, {"others_cpu": 0.5}, {"others_cpu": 0.05}
    assert best(busy, calm, where="api-docs") == (1, 2)
    assert "api-docs: other programs took 30 % of the machine; once more" in capsys.readouterr().err
    assert best(busier, busy, busier) == (1, 3)
    assert best({"others_cpu": None}) == (0, 1)
    compiled = calm | {"extra": {"compile_s": 3.0}}
    assert best(compiled, busy, busier)[0] == 1  # rather disturbed than with compiling in it
    assert best(calm | {"failed": "too large", "others_cpu": 0.9}) == (0, 1)
    assert best(busy, busy | {"failed": "too large"})[0] == 0


@pytest.mark.parametrize(("seconds", "seeds"), [(0.3, [2, 1002, 2002]), (1.5, [2])])
def test_short_trainings_are_repeated_with_other_seeds(seconds, seeds, tmp_path, monkeypatch):
    clock, used, peaks = [0.0], [], []
    monkeypatch.setattr(contestant.time, "perf_counter", lambda: clock[0])

    def fit(data, folder):
        used.append((library.job["seed"], folder.name))
        clock[0] += seconds + 0.1 * len(used)
        return f"model of seed {library.job['seed']}"

    library = SimpleNamespace(job={"seed": 2}, fit=fit)
    model, wall, cpu = contestant.train(library, None, tmp_path, lambda: peaks.append(len(used)))
    assert model == "model of seed 2" and [seed for seed, _ in used] == seeds
    assert len({folder for _, folder in used}) == len(used) == len(wall) == len(cpu)
    assert wall[0] == pytest.approx(seconds + 0.1)
    assert peaks == [1] and library.job["seed"] == 2


def run(data, contestant, number, train_s, precision=50.0, ms=1.0, search="exact", memory=(100, 200), **more):
    quality = dict.fromkeys(comparison.MEASURES, precision)
    ways = [{"how": "slow", "ms_per_row": 2 * ms}, {"how": "quick", "ms_per_row": ms, "one_row_p50_ms": ms}]
    return {
        "data": data, "contestant": contestant, "run": number, "params": {"C": 1.0}, "train_s": train_s,
        "train_cpu_s": 2 * train_s, "memory_before": memory[0], "memory_peak": memory[1], "model_bytes": 1 << 20,
        "searches": {search: {"ways": ways, "quality": quality}}, "done": True, "failed": None, "others_cpu": 0.01,
    } | more  # fmt: skip


def results(*runs, **more):
    names = {"xmlcore": "ours", "omikuji": "omikuji, 1 tree", "pecos": "PECOS", "napkinxc": "napkinXC"}
    names |= {"xmlcore-wide": "wide", "omikuji-bonsai": "bonsai"}
    about = dict(n_train=10, n_test=5, n_features=3, n_labels=4, nonzeros_per_row=1.5, labels_per_row=1.0)
    return {
        **ABOUT,
        "runs_each": 2,
        "versions": {"python": "3.12", "python of the others": "3.11"},
        "missing": {},
        "data": {name: about for name in dict.fromkeys(r["data"] for r in runs)},
        "contestants": {key: {"name": name} for key, name in names.items()},
        "runs": list(runs),
    } | more


def test_failures_are_told_and_in_no_figure():
    found = results(run("a", "xmlcore", 0, 1.0), run("b", "pecos", 0, 1.0))
    assert comparison.ratio(found, "a", "xmlcore", ("pecos",), comparison.train_s) is None
    assert comparison.ratio(found, "b", "xmlcore", ("pecos",), comparison.train_s) is None
    assert comparison.difference(found, "a", "xmlcore", ("pecos",), "P@1") is None
    assert comparison.as_ratio(None) == "–"
    whole = [run("a", "xmlcore", 0, 1.0), run("a", "omikuji", 0, 2.0)]
    broken = run("a", "omikuji", 1, 0.1, failed="ended by signal 6", done=False)
    text = comparison.markdown(results(*whole, broken))
    assert comparison.ratio(results(*whole, broken), "a", "xmlcore", ("omikuji",), comparison.train_s)["ratio"] == 0.5
    assert "omikuji, 1 tree on a, run 2" in text and "ended by signal 6" in text


def target(found, start):
    return next(one for one in comparison.targets(found) if one.point.startswith(start))


def test_ensembles_are_judged_on_their_data_sets_only():
    wide = [run(data, "xmlcore-wide", 0, 1.0) for data in "ab"]
    rival = [run(data, "omikuji-bonsai", 0, s, search="beam 10") for data, s in (("a", 2.0), ("b", 0.5))]
    training = target(results(*wide, *rival, wide_data=["a"]), "three wide trees: training")
    assert training.worst == "0.50×" and training.met and training.absent == ()
    alone = results(run("a", "xmlcore", 0, 1.0), wide_data=["c"])
    row = "| three wide trees: training time (of omikuji's, Bonsai-like) | ≤ 1.0× | – | – | not measured |"
    assert row in comparison.markdown(alone)


def test_limits_that_are_reached_are_not_met():
    assert comparison.judge("p", "< 0.2", {"a": (0.2, "")}, comparison.BELOW_ONE_ROW, str).met is False
    assert comparison.judge("p", "<= 2", {"a": (2.0, "")}, 2.0, str).met is True
    from xmlcore import PLT

    assert comparison.DEFAULTS.items() <= PLT().get_params().items()


def test_stopped_partial_and_mixed_results_say_so_at_the_top():
    found = results(run("a", "xmlcore", 0, 1.0), complete=False, planned=12, full=False, xmlcore_code_end="def")
    first, second, third = comparison.markdown(found).split("\n\n")[:3]
    assert first == "**Stopped after 1 of 12 runs.**"
    assert "Not the full line-up" in second
    assert "changed while this was measured (abc, def at the end)" in third
    whole = results(run("a", "xmlcore", 0, 1.0), complete=True, planned=1, full=True, xmlcore_code_end="abc")
    assert comparison.markdown(whole).startswith("**Targets.**")
