"""Ratios and tables of the benchmark, from results made by hand."""

from benchmarks.library import comparison
from tests.benchmarks.making import ABOUT


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
        "cold_start": None,
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
    cold = {"empty": {"import_s": 1, "fit_s": 1, "predict_s": 1, "rest_s": 50, "compile_s": 60.0}, "data": "a"}
    once = {"first_fit_s": 3.0, "second_fit_s": 1.5, "first_predict_s": 1, "second_predict_s": 1, "import_s": 1}
    cold["filled"] = [once | {"compile_s": 0.0}, once | {"first_fit_s": 4.0, "compile_s": 0.0}]
    found = results(run("a", "xmlcore", 0, 1.0), cold_start=cold)
    assert target(found, "new process").worst == "2.5 s" and target(found, "new process").met is False
    assert target(found, "compiling").met is False
    from xmlcore import PLT

    assert comparison.DEFAULTS.items() <= PLT().get_params().items()


def test_stopped_partial_and_mixed_results_say_so_at_the_top():
    found = results(run("a", "xmlcore", 0, 1.0), complete=False, planned=12, full=False, xmlcore_code_end="def")
    first, second, third = comparison.markdown(found).split("\n\n")[:3]
    assert first == "**Stopped after 1 of 12 runs.**"
    assert "Not the full line-up" in second
    assert "changed while this was measured (abc at the start, def at the end)" in third
    whole = results(run("a", "xmlcore", 0, 1.0), complete=True, planned=1, full=True, xmlcore_code_end="abc")
    assert comparison.markdown(whole).startswith("**Targets.**")
