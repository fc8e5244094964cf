"""Reports of a part of the work are passed on as reports of the whole."""

import sys
from pathlib import Path

import pytest

import xmlcore
from xmlcore import PLT, OneVsRest
from xmlcore.extras import MissingExtraError
from xmlcore.progress import Bar, Cancelled, of_phases, part_of, silent, to_progress


def collected(**options):
    reports = []
    return reports, part_of(lambda *report: reports.append(report), 0.2, 0.6, **options)


def test_fractions_of_a_part_lie_between_its_start_and_end():
    reports, report = collected()
    for fraction in (0.0, 0.25, 1.0):
        report("Training", fraction, "3 of 7")
    assert [phase for phase, *_ in reports] == ["Training"] * 3
    assert [fraction for _, fraction, _ in reports] == pytest.approx([0.2, 0.3, 0.6])
    assert [detail for *_, detail in reports] == ["3 of 7"] * 3


def test_a_phase_and_a_detail_of_a_part_are_put_in():
    reports, report = collected(phase="Comparing", detail="seed 1")
    report("Training", 0.5, "3 of 7")
    report("Training", 0.5)
    assert [(phase, detail) for phase, _, detail in reports] == [
        ("Comparing", "seed 1: 3 of 7"),
        ("Comparing", "seed 1"),
    ]


def test_an_exception_of_the_callback_stops_the_part():
    def stop(phase, fraction, detail=""):
        raise Cancelled

    with pytest.raises(Cancelled):
        part_of(stop, 0.0, 1.0)("Training", 0.1)
    assert silent("Training", 0.1) is silent("Training", 0.1, "detail") is None


def bars(monkeypatch):
    """Replace tqdm by a record: each bar is the list of what it showed, as (phase, share, detail)."""
    made = []

    class Recorded:
        def __init__(self, desc, total, **options):
            self.n, self.shown, self.desc, self.detail, self.closed = 0.0, [], desc, "", False
            made.append(self)

        def set_description(self, desc, refresh):
            self.desc = desc

        def set_postfix_str(self, detail, refresh):
            self.detail = detail

        def update(self, more):
            assert more >= 0 and not self.closed
            self.n += more
            self.shown.append((self.desc, round(self.n, 6), self.detail))

        def close(self):
            self.closed = True

    monkeypatch.setattr("tqdm.auto.tqdm", Recorded)
    return made


def test_phases_of_one_work_share_a_bar(monkeypatch):
    made, bar = bars(monkeypatch), to_progress("bar")
    for report in [
        ("Clustering", 0.0), ("Clustering", 0.2, "2 of 4"), ("Training", 0.5), ("Training", 0.4), ("Training", 1.0),
        ("Training", 1.0), ("Predicting", 0.0), ("Predicting", 0.6), ("Measuring", 0.1), ("Measuring", 1.5),
    ]:  # fmt: skip
        bar(*report)
    assert [one.shown for one in made] == [
        [("Clustering", 0.0, ""), ("Clustering", 0.2, "2 of 4"), ("Training", 0.5, ""), ("Training", 0.5, ""),
         ("Training", 1.0, "")],
        [("Predicting", 0.0, ""), ("Predicting", 0.6, "")],
        [("Measuring", 0.1, ""), ("Measuring", 1.0, "")],
    ]  # fmt: skip
    assert all(one.closed for one in made)


@pytest.mark.parametrize(("reports", "reached"), [
    ([("first", 0.5), ("first", 1.0), ("second", 0.0), ("second", 0.5), ("third", 1.0)], [0.1, 0.2, 0.2, 0.35, 1.0]),
    ([("second", 0.5), ("second", 1.0), ("third", 0.5)], [0.1875, 0.375, 0.6875]),
    ([("first", 1.0), ("unnamed", 0.5), ("unnamed", 1.0)], [0.2, 0.6, 1.0]),
    ([("first", 1.0), ("second", 1.0), ("first", 0.0)], [0.2, 0.5, 0.5]),
], ids=["all", "one is left out", "one without a share", "one comes twice"])  # fmt: skip
def test_phases_go_on_where_the_one_before_has_ended(reports, reached):
    found = []
    report = of_phases(lambda phase, fraction, detail: found.append(fraction), {"first": 2, "second": 3, "third": 5})
    for phase, fraction in reports:
        report(phase, fraction)
    assert found == pytest.approx(reached)


def test_a_bar_is_written_by_tqdm(capsys):
    model = PLT(max_leaf_labels=2).fit([[1.0, 0.0], [0.0, 1.0]] * 4, [[0], [1]] * 4, progress="bar")
    found = capsys.readouterr().err
    assert "Training" in found and "100%|" in found
    model.predict_topk([[1.0, 0.0]], 1, progress=Bar(disable=True))
    assert "Predicting" not in capsys.readouterr().err


def test_without_tqdm_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(MissingExtraError, match=r"\(progress=.bar.\) need tqdm.*pip install 'xmlcore\[bars\]'$"):
        PLT().fit([[1.0], [0.0]], [[0], [1]], progress="bar")


@pytest.mark.parametrize("progress", ["bars", True, 3])
def test_other_progress_is_refused(progress):
    with pytest.raises(TypeError, match='progress must be a function, .* or "bar", not'):
        OneVsRest().fit([[1.0], [0.0]], [[0], [1]], progress=progress)


def test_none_and_functions_stay_what_they_are():
    assert to_progress(None) is silent and to_progress(print) is print
    for few in (lambda phase: None, lambda phase, fraction: None, lambda phase, fraction, detail, more: None):
        with pytest.raises(TypeError, match="progress is called with a phase, a fraction and a detail"):
            to_progress(few)


PASS_IT_ON = {"base.py", "dense.py", "columns.py", "weights.py"}  # whatever they get, to the fit of another class


def test_every_public_function_with_progress_takes_a_bar():
    found = []
    for path in sorted((Path(xmlcore.__file__).parent).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "progress: ProgressLike" in text and "to_progress(" not in text and path.name not in PASS_IT_ON:
            found.append(path.name)
    assert not found
