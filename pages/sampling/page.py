"""Sampling: what does double sampling learn from so few examples, and how does it pick a class?

Files beside this one: ``view`` (the result shown), ``answer`` (sentence and cards), ``studies`` (other numbers of
adversaries, examples and candidates), ``buckets`` (head, torso and tail labels), ``row`` (why a row gets its label),
``learned`` (what was drawn, and the weights of f).
"""

import streamlit as st

from pages.sampling import answer, buckets, learned, row, studies
from pages.sampling.view import MODEL, SampledRun
from pages.shared import begin, sections, server, settings
from pages.shared.figures import examples
from pages.shared.results import measured, results, run_names

HELP = f"All results of {MODEL} in this workspace on this data set, newest first."


def main(used) -> None:
    data, fingerprint, name = used
    past = results.kept("runs", fingerprint)
    runs = [r for r in past if r["model"] == MODEL]
    if not runs:
        text = "What does a model learn from a sample of rows (π), each compared with some other labels (κ)?"
        problem = settings.needs_amounts(MODEL) if server.has_negative_values(fingerprint) else ""
        words = {"train": MODEL, "others": "Other settings on the Train page", "subject": f"No {MODEL} has"}
        begin.no_run(used, "sampling", text, **words, problem=problem, model=MODEL, example=examples.candidates)
        return
    key, names = results.chosen("sampling.run", fingerprint, runs), run_names.names(past)
    record = next(r for r in runs if r["key"] == key)
    both = results.run_and_model(record)
    if both is None:
        results.choose("sampling.run", fingerprint, runs, names, key, HELP)
        begin.watch_training(fingerprint, model=MODEL)
        return
    view = SampledRun(data, name, *both, record)
    answer.sentence(view, names[key])
    cards = st.container()
    results.choose("sampling.run", fingerprint, runs, names, key, HELP)
    results.mark(record)
    results.say_warnings(view.run)
    begin.watch_training(fingerprint, model=MODEL)
    further, study = {}, None
    if not measured.silent(data, name):
        left, right = st.columns(2, gap="large")
        with left:
            studies.sweep(view, names[key])
        with right:
            study = studies.candidates(view)
        further = {"Head, torso and tail": lambda: buckets.buckets(view, study, past, names)}
    with cards:
        answer.cards(view, study)
    further |= {
        "A test row": lambda: row.row(view),
        "Weights of f": lambda: learned.weights(view),
        "Drawn copies": lambda: learned.class_sizes(view),
    }
    sections.show("sampling", further)


begin.page("Sampling", main, ready="Double sampling can be trained on it", without="there is nothing to sample")
