"""Ratios and tables of the benchmark, from results made by hand."""

import pytest

from benchmarks import report


def run(data, contestant, number, train_s, precision=50.0, ms=1.0, search="exact", memory=(100, 200), **more):
    quality = dict.fromkeys(report.MEASURES, precision)
    ways = [{"how": "slow", "ms_per_row": 2 * ms}, {"how": "quick", "ms_per_row": ms, "one_row_p50_ms": ms}]
    return {
        "data": data,
        "contestant": contestant,
        "run": number,
        "params": {"C": 1.0},
        "train_s": train_s,
        "train_cpu_s": 2 * train_s,
        "memory_before": memory[0],
        "memory_peak": memory[1],
        "model_bytes": 1 << 20,
        "searches": {search: {"ways": ways, "quality": quality}},
        "done": True,
        "failed": None,
        "others_cpu": 0.01,
    } | more


def results(*runs, **more):
    names = {"xmlcore": "ours", "omikuji": "omikuji, 1 tree", "pecos": "PECOS", "napkinxc": "napkinXC"}
    names |= {"xmlcore-wide": "wide", "omikuji-bonsai": "bonsai"}
    about = dict(n_train=10, n_test=5, n_features=3, n_labels=4, nonzeros_per_row=1.5, labels_per_row=1.0)
    return {
        "date": "2020-01-01",
        "machine": {"cpu": "a processor", "cores": 2, "memory_gib": None, "system": "Linux"},
        "threads": 2,
        "runs_each": 2,
        "versions": {"python": "3.12", "python of the others": "3.11"},
        "xmlcore_code": "abc",
        "missing": {},
        "data": {name: about for name in dict.fromkeys(r["data"] for r in runs)},
        "cold_start": None,
        "contestants": {key: {"name": name} for key, name in names.items()},
        "runs": list(runs),
    } | more


def test_a_ratio_is_of_medians_against_the_rival_with_the_least_and_its_range_is_of_neighbouring_runs():
    found = results(
        *(run("a", "xmlcore", i, s) for i, s in enumerate([1.0, 2.0, 9.0])),
        *(run("a", "omikuji", i, s) for i, s in enumerate([4.0, 4.0, 6.0])),
        *(run("a", "pecos", i, s) for i, s in enumerate([1.0, 5.0, 5.0])),  # once the fastest, but not by its median
    )
    ratio = report.ratio(found, "a", "xmlcore", report.FAST_TRAINERS, report.train_s)
    assert ratio == {"ratio": 0.5, "low": 0.25, "high": 1.5, "rival": "omikuji"}


def test_what_was_not_measured_gives_no_ratio():
    found = results(run("a", "xmlcore", 0, 1.0), run("b", "pecos", 0, 1.0))
    assert report.ratio(found, "a", "xmlcore", ("pecos",), report.train_s) is None
    assert report.ratio(found, "b", "xmlcore", ("pecos",), report.train_s) is None
    assert report.difference(found, "a", "xmlcore", ("pecos",), "P@1") is None
    assert report.as_ratio(None) == "–"


def test_precision_is_compared_with_the_best_rival_in_means():
    found = results(
        *(run("a", "xmlcore", i, 1.0, precision=p) for i, p in enumerate([50.0, 51.0])),
        *(run("a", "pecos", i, 1.0, precision=p, search="beam 10") for i, p in enumerate([51.0, 52.0])),
        *(run("a", "napkinxc", i, 1.0, precision=p) for i, p in enumerate([49.0, 52.0])),
    )
    assert report.difference(found, "a", "xmlcore", report.SINGLE_RIVALS, "P@1") == pytest.approx(-1.0)


def test_a_failed_run_is_in_no_figure_but_is_told():
    whole = [run("a", "xmlcore", 0, 1.0), run("a", "omikuji", 0, 2.0)]
    broken = run("a", "omikuji", 1, 0.1, failed="ended by signal 6", done=False)
    text = report.markdown(results(*whole, broken))
    assert report.ratio(results(*whole, broken), "a", "xmlcore", ("omikuji",), report.train_s)["ratio"] == 0.5
    assert "omikuji, 1 tree on a, run 2" in text and "ended by signal 6" in text


def test_a_missing_library_is_told():
    text = report.markdown(results(run("a", "xmlcore", 0, 1.0), missing={"PECOS": "libpecos is not there"}))
    assert "**PECOS** did not take part: libpecos is not there" in text


def test_the_fastest_way_of_a_search_counts():
    one = run("a", "pecos", 0, 1.0, ms=3.0, search="beam 10")
    assert report.fastest_way(one, "beam 10")["how"] == "quick"
    assert report.fastest_way(one, "exact") is None
    assert report.searching("beam 10", "one_row_p50_ms")(one) == 3.0


def test_memory_is_compared_whole_and_by_its_rise():
    found = results(
        run("a", "xmlcore", 0, 1.0, memory=(300, 330)),
        run("a", "napkinxc", 0, 1.0, memory=(60, 110)),
        run("a", "omikuji", 0, 1.0, memory=(90, 120)),
    )
    whole = report.ratio(found, "a", "xmlcore", report.SINGLE_RIVALS, report.memory_peak)
    rise = report.ratio(found, "a", "xmlcore", report.SINGLE_RIVALS, report.memory_rise)
    assert (whole["rival"], whole["ratio"]) == ("napkinxc", 3.0)
    assert (rise["rival"], rise["ratio"]) == ("omikuji", 1.0)


def test_a_busy_machine_is_told():
    text = report.markdown(results(run("a", "xmlcore", 0, 1.0, others_cpu=0.5)))
    assert "take no times from these tables" in text
    assert "take no times" not in report.markdown(results(run("a", "xmlcore", 0, 1.0)))


def test_tables_are_whole_markdown():
    found = results(
        *(run("a", key, i, 1.0 + i) for key in ("xmlcore", "napkinxc") for i in range(2)),
        *(run("a", key, i, 1.0 + i, search="beam 10") for key in ("omikuji", "pecos") for i in range(2)),
        run("a", "xmlcore-wide", 0, 1.0),
        run("a", "omikuji-bonsai", 0, 1.0),
    )
    rows = [line for line in report.markdown(found).splitlines() if line.startswith("|")]
    assert len(rows) > 15
    heads = [i for i, line in enumerate(rows) if line.startswith("|---")]
    assert len(heads) == 4
    for first, last in zip(heads, [h - 1 for h in heads[1:]] + [len(rows)]):
        assert len({line.count("|") for line in rows[first - 1 : last]}) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1.5, "1.5"), (0.012345, "0.0123"), (0.0000123, "0.0000123"), (1234.5, "1234"), (0.9996, "1")],
)
def test_numbers_have_the_digits_that_mean_something_and_no_powers_of_ten(value, text):
    assert report.number(value) == text


def test_a_section_of_a_page_is_replaced_and_the_rest_stays(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- begin: x -->\nold\n<!-- end: x -->\nafter\n")
    report.write_section(page, "x", r"new \1")
    report.write_section(page, "x", r"newer \1")
    assert page.read_text() == "before\n<!-- begin: x -->\nnewer \\1\n<!-- end: x -->\nafter\n"
    with pytest.raises(ValueError, match="page.md needs the marks"):
        report.write_section(page, "y", "new")
