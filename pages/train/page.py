"""The Train page: how well does a model predict this data set's labels?

answer.py has the sentence, the cards and the figures of a run (one model, trained and measured), controls.py the form
that trains a model (next_model.py has the choice of it), listed.py the choice of the run shown. In sections stand
labels.py (labels, pairs of them, single rows), measures.py (all measures, calibration, what more data would give) and
about.py (its size and settings). trying.py tries settings, tried.py shows what came of it.
"""

import streamlit as st

from pages.shared import actions, begin, format, fragments, jobs, sections, sweeping
from pages.shared.figures import examples
from pages.shared.results import measured, results, run_names
from pages.shared.workspaces import workspace
from pages.train import about, answer, controls, labels, listed, measures, tried, trying
from xmlcore import experiment


def main(used) -> None:
    data, fingerprint, name = used
    runs = results.kept("runs", fingerprint)
    record = listed.to_show(fingerprint, runs)
    run = results.run(record) if record else None
    if run is not None or record is None:  # a record without a run is damaged, and results.run has said so
        answer.sentence(data, name, run, run_names.names(runs).get(record["key"]) if record else None)
    file_name = "" if run is None else f"{format.file_name(name)}-{run.model}-{record['key'][:6]}"
    if run is not None:
        answer.show(run, record)
    if actions.refused():
        listed.choose(runs, record)
        begin.watch_training(fingerprint)
        _figures(data, run, record, runs, file_name)
    else:
        with st.container(key="controls-first"):  # on a phone the button comes first: see pages/shared/frame.py
            right, left = st.columns([1, 3], gap="medium")
        with left:
            _figures(data, run, record, runs, file_name)
        with right:
            listed.choose(runs, record)
            # A fragment, so that typing does not draw the results again.
            fragments.alone(controls.show)(data, fingerprint, record)
    data_file = format.file_name(name)
    further = {} if run is None else _of_result(data, run, record, data_file, file_name)
    can_try = not workspace.only_looks() and (run is not None or sections.is_asked("train", trying.TRIED))
    if sweeping.kept(fingerprint) or can_try and data.Y_train.nnz:
        further[trying.TRIED] = lambda: tried.show(fingerprint, data_file)
    if further:
        sections.show("train", further)


def _figures(data, run, record, runs, file_name):
    if run is None:
        if jobs.active("train"):
            st.caption("The result appears here when the training is done. You can look at other pages meanwhile.")
        else:
            examples.show(examples.buckets)
        return
    if measured.silent(data, ""):
        return
    left, right = st.columns(2, gap="medium")
    with left:
        answer.buckets(record["key"], file_name)
    with right:
        if sum(not results.is_given(r) for r in runs) > 1:
            listed.frontier(runs, data.n_test, file_name)
        else:
            answer.measures(run, file_name, "train.measures")


def _of_result(data, run, record, data_file, file_name):
    key = record["key"]
    of_result = {
        "Label by label": lambda: labels.show(data, run, key, file_name),
        "Confusions": lambda: labels.confusions(data, run, key, file_name),
        "Single predictions": lambda: labels.row(data, run, key, data_file),
        "Measures": lambda: measures.every(run, key, file_name),
    }
    if run.has_model:
        of_result["More data"] = lambda: measures.more_data(run, file_name)
    if run.model in experiment.MODELS:
        of_result["Calibration"] = lambda: measures.calibration(run, key, file_name)
    if measured.silent(data, ""):
        of_result = {"Single predictions": of_result["Single predictions"]}
    return of_result | {"About this result": lambda: about.show(run, record, file_name)}


begin.page("Train", main, ready="Training can begin", without="there is nothing to train on")
