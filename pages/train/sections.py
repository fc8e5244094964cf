"""The sections of the Train page: those of the result shown, and the settings that were tried."""

from pages.shared import format, sections, sweeping
from pages.train import about, labels, measures, tried, trying
from xmlcore import experiment


def of_page(ready) -> dict:
    further = {} if ready.run is None else _of_result(ready)
    can_try = ready.data.Y_train.nnz and (ready.run is not None or sections.is_asked("train", trying.TRIED))
    if sweeping.kept(ready.fingerprint) or can_try:
        further[trying.TRIED] = lambda: tried.show(ready.fingerprint, format.file_name(ready.name))
    return further


def _of_result(ready) -> dict:
    data, run, key, files = ready.data, ready.run, ready.key, ready.files
    measured = {
        "Label by label": lambda: labels.show(data, run, key, files),
        "Confusions": lambda: labels.confusions(data, run, key, files),
        "Single predictions": lambda: labels.row(data, run, key, format.file_name(ready.name)),
        "Measures": lambda: measures.every(run, key, files),
    }
    if run.has_model:
        measured["More data"] = lambda: measures.more_data(run, files)
    if run.model in experiment.MODELS:
        measured["Calibration"] = lambda: measures.calibration(run, key, files)
    if not ready.labelled:
        measured = {"Single predictions": measured["Single predictions"]}
    return measured | {"About this result": lambda: about.show(run, ready.record, files)}
