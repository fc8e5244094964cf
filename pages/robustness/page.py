"""Robustness: how much worse does a model predict when its inputs are noisy or attacked?

Files beside it: ``choices`` (which runs, which noise), ``measured`` (tasks and their results), ``answer`` (sentence,
curves), ``all_measures`` (at one level), ``training`` (twins trained with noise), ``details`` (head, torso and tail
labels; prediction time), ``rows`` (test rows under noise), ``noise`` (kinds of noise in words).
"""

import streamlit as st

from pages.robustness import all_measures, answer, choices, details, measured, noise, rows, training
from pages.shared import begin, format, fragments, sections, tables
from pages.shared.figures import examples
from pages.shared.results import measured as of_results
from pages.shared.results import results, run_names
from xmlcore.robustness.perturbations import CERTIFICATE, KINDS

BESIDE = 3  # levels whose table fits beside the curves; one of more, or of many results, is below them


def main(used) -> None:
    data, fingerprint, name = used
    past = results.usable("runs", fingerprint)
    if not past:
        text = "How do predictions suffer when feature values are noisy or attacked?"
        begin.no_run(used, "robustness", text, example=examples.curves)
        return
    sentence = st.empty()
    left, right = st.columns([2, 1], gap="large")
    with right:
        picked = choices.choose_runs(fingerprint, past)
        runs = [r for r in picked if results.run(r) is not None]  # a damaged run is being made again
        settings = choices.choose_noise(data, fingerprint, runs)
    if not runs:
        if picked:
            sentence.markdown("The answer is here once a result can be read.")
            choices.watch_trainings(fingerprint, past)
        else:
            sentence.markdown("Choose at least one result to see how it holds up under noise.")
            take = {"on_click": choices.remember_runs, "args": (fingerprint, None)}
            left.button("Choose the newest of each model", "robustness.newest", **take)
        return
    silent, changes_rows = of_results.silent(data, name), KINDS[settings.kind].needs != CERTIFICATE
    if silent and changes_rows:
        sentence.markdown(silent)
        return
    titles = run_names.names(past)
    alike, apart = settings.alike(runs), settings.apart(runs, titles)
    if not alike:
        sentence.markdown(apart)
        return
    with left:
        curves, below = st.container(), st.container()
    with right:
        measurements, drawn = measured.measure(alike, titles, settings)
    if measurements is None:
        with below:
            examples.show(examples.curves)
    with right:
        beside = st.container()
        choices.watch_trainings(fingerprint, past)
    files = "-".join([format.file_name(name), "robustness", settings.kind, *(r["key"][:6] for r in alike)])
    if measurements is None:
        models = "do these models" if len(alike) > 1 else "does this model"
        sentence.markdown(
            f"How well {models} predict **{format.plain(name)}** under "
            f"{format.plain(noise.noise_text(settings.kind, settings.options))}? Measure it to see. {apart}"
        )
    else:
        milder = choices.milder_noise(alike, titles, settings)
        waiting = measured.waiting(alike, titles, measurements, settings, drawn)
        said = answer.sentence(name, measurements, drawn)
        older = measured.by_earlier(alike, titles, measurements, drawn)
        sentence.markdown(f"{said} {older}", help=answer.SURELY if "surely" in said or "not sure" in said else None)
        if said := "\n\n".join(filter(None, (waiting, apart, milder))):
            right.caption(said, help=choices.LITTLE if milder else None)
        with curves:
            fragments.alone(answer.curves)(measurements, drawn, files, data)
        if changes_rows:
            is_small = len(drawn.levels) <= BESIDE and len(measurements.results) <= choices.FIRST_RUNS
            with beside if is_small else below:
                answer.kept(measurements, drawn, widest=130 if is_small else tables.WIDEST)
    further = {}
    if measurements is not None and changes_rows:
        further = {
            "At one level": lambda: all_measures.show(measurements, drawn, files),
            "Head, torso and tail": lambda: details.buckets(measurements, drawn, files, data.n_labels),
            "Prediction time": lambda: details.times(measurements, drawn, files),
        }
    if changes_rows:
        further["Single rows"] = lambda: rows.rows(data, runs, titles, settings, files)
    further["Training with noise"] = lambda: training.show(
        data, fingerprint, runs, past, titles, results.K, settings.options.get("support")
    )
    sections.show("robustness", further)


begin.page("Robustness", main, ready="Models can be trained on it and measured", without="there is nothing to measure")
