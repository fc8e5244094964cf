"""Progress is reported, rises to the end, and stops the work without a trace."""

import numpy as np
import pytest
from contract.estimators import CASES, assert_same, each_model_once, each_once, every_case, fitted, results

from xmlcore.datasets import make_synthetic
from xmlcore.models import PLT, OneVsRest
from xmlcore.progress import Cancelled


class Recorder:
    """A progress callback that keeps the reports, and stops the work at one of them."""

    def __init__(self, stop_at=None):
        self.reports, self.stop_at = [], stop_at

    def __call__(self, phase, fraction, detail=""):
        self.reports.append((phase, fraction, detail))
        if self.stop_at is not None and len(self.reports) > self.stop_at:
            raise Cancelled


def reports_of_fit(case):
    recorder = Recorder()
    case.make(**one_worker(case)).fit(*case.problem(), progress=recorder)
    return recorder.reports


def one_worker(case):
    return {"n_jobs": 1} if "n_jobs" in case.make().get_params() else {}


def assert_rising(reports):
    assert reports
    last = 0.0  # over all phases: they are parts of one work
    for phase, fraction, detail in reports:
        assert isinstance(phase, str) and phase and isinstance(detail, str)
        assert last - 1e-9 <= fraction <= 1 + 1e-9, (phase, fraction, last)
        last = fraction
    assert reports[-1][1] == pytest.approx(1.0)


@every_case
def test_progress_of_fitting_rises_to_the_end(case):
    assert_rising(reports_of_fit(case))


@pytest.mark.parametrize("model", [OneVsRest(), PLT(), PLT(n_estimators=3)], ids=str)
def test_settings_that_are_chosen_first_are_a_part_of_the_work(model):
    data, recorder = make_synthetic(n_train=600, n_features=200, n_labels=40, features_per_row=15), Recorder()
    model.fit(data.X_train, data.Y_train, progress=recorder)
    assert recorder.reports[0][0] == "Choosing settings"
    assert_rising(recorder.reports)


PHASES = {
    "PLT": ["Clustering labels", "Training nodes of trees"],
    "LdSM": ["Growing trees"],
    "DoubleSampling": [
        "Adding up labels", "Finding adversaries", "Features of pairs", "Learning from pairs of a row and a label",
    ],
    "FALS": ["Training the network", "Comparing rows", "Scoring features"],
    "BRDT": ["Growing trees"],
}  # fmt: skip


@pytest.mark.parametrize("name", PHASES)
def test_phases_of_fitting_have_these_names(name):
    case = next(case for case in CASES if case.cls.__name__ == name)
    assert list(dict.fromkeys(phase for phase, *_ in reports_of_fit(case))) == PHASES[name]


@each_model_once
def test_progress_of_predicting_rises_to_the_end_and_can_stop_it(case):
    with pytest.raises(Cancelled):
        fitted(case).predict_topk(case.problem()[0], k=3, progress=Recorder(stop_at=0))
    recorder = Recorder()
    found = fitted(case).predict_topk(case.problem()[0], k=3, progress=recorder)
    assert_rising(recorder.reports)
    assert np.array_equal(found.labels, results(fitted(case))["labels"])


@each_once
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_stopping_leaves_the_estimator_as_it_was(case, n_jobs):
    X, Y = case.problem()
    workers = {"n_jobs": n_jobs} if one_worker(case) else {}
    if not workers and n_jobs > 1:
        pytest.skip("it has one worker")
    n_reports = len(reports_of_fit(case))
    old = case.make(**workers).fit(X, Y)
    kept, before = dict(vars(old)), results(old)
    for stop_at in sorted({0, 1, n_reports // 2, n_reports - 1}):
        new = case.make(**workers)
        for estimator, rows in ((new, slice(None)), (old, slice(0, 30))):
            with pytest.raises(Cancelled):
                estimator.fit(X[rows], Y[rows], progress=Recorder(min(stop_at, 1) if rows.stop else stop_at))
        assert not [name for name in vars(new) if name.endswith("_")]
        assert vars(old).keys() == kept.keys()
        assert_same(results(old), before)
