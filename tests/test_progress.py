"""Reports of a part of the work are passed on as reports of the whole."""

import pytest

from xmlcore.progress import Cancelled, part_of, silent


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


def test_a_phase_is_replaced_and_a_detail_is_put_before_that_of_the_part():
    reports, report = collected(phase="Comparing", detail="seed 1")
    report("Training", 0.5, "3 of 7")
    report("Training", 0.5)
    assert [(phase, detail) for phase, _, detail in reports] == [
        ("Comparing", "seed 1: 3 of 7"),
        ("Comparing", "seed 1"),
    ]


def test_parts_of_parts_multiply():
    reports, report = collected()
    part_of(report, 0.5, 1.0)("Inner", 0.5)
    assert reports == [("Inner", pytest.approx(0.2 + 0.4 * 0.75), "")]


def test_an_exception_of_the_callback_stops_the_part():
    def stop(phase, fraction, detail=""):
        raise Cancelled

    with pytest.raises(Cancelled):
        part_of(stop, 0.0, 1.0)("Training", 0.1)
    assert silent("Training", 0.1) is silent("Training", 0.1, "detail") is None
