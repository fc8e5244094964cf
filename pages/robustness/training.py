"""Training with noise: the twin of a run, with the same settings but trained on noisy copies of its rows, too."""

import math

import streamlit as st

from pages.robustness import choices
from pages.shared import actions, fields, format, jobs, server, tasks
from pages.shared.results import results
from pages.shared.workspaces import workspace
from xmlcore import robustness
from xmlcore.experiment.catalog import NOISE
from xmlcore.experiment.catalog import NOISE_SUPPORTS as SUPPORTS
from xmlcore.experiment.kept_runs import trained_with_noise

LARGE = 1 << 30  # bytes; a warning is shown when the noisy copies need more memory
SIGMA, RATIO, SUPPORT = NOISE  # parameters of training with noise, with the ranges that forms offer
LEAST_SIGMA = 1e-6  # units of the feature values; sigma 0 is not offered, because a twin is trained with noise


def show(ready, runs, measured) -> None:
    """Offer a twin of one of the results; ``measured`` is on which features there is noise above."""
    data, fingerprint, past, titles = ready.data, ready.fingerprint, ready.records, ready.titles
    plain = [r for r in runs if not trained_with_noise(r) and results.can_be_made(r)]
    if not plain:
        st.caption("There is no result without such training whose twin could be trained.")
        return
    record, sigma, ratio, support = _choose(data, fingerprint, plain, titles)
    params = {**record["params"], "noise_sigma": sigma, "noise_ratio": ratio, "noise_support": support}
    task = tasks.train_task(fingerprint, record["model"], params, results.K)
    # Search by settings: a result of an earlier version has another key than today's task.
    same = (r["key"] for r in past if r["model"] == record["model"] and r["params"] == params)
    key = next(same, task.key)
    kept = key in {r["key"] for r in past} or task.exists()
    chosen = [r["key"] for r in runs]
    with st.container(horizontal=True, vertical_alignment="center"):
        actions.button(
            "Show the twin" if kept else f"Train the twin{tasks.time_in_brackets(task, False)}",
            key="robustness.twin.train",
            on_click=_train,
            args=(fingerprint, task, key, chosen),
            disabled=key in chosen or bool(jobs.active(key=task.key)),
        )
        if key in chosen and kept:
            st.caption("This twin is shown above.")
    if measured not in (None, support):
        learnt, above = (SUPPORTS[one].split(" (")[0] for one in (support, measured))
        st.caption(f"The twin learns from noise on {learnt}; the figures above have it on {above}.")
    needed = _needed(data, ratio, support)
    if support == "all" and needed > LARGE:
        st.warning(f"Noise on all features makes dense copies: training takes about {format.size(needed)} of memory.")


def _choose(data, fingerprint, plain, titles):
    times = {r["key"]: server.run(r["key"]).times.get("fit_s", math.inf) for r in plain}
    by_key = {r["key"]: r for r in sorted(plain, key=lambda r: times[r["key"]])}  # the quickest first
    first_sigma = robustness.training_sigma(server.value_scale(fingerprint))
    least, most = min(LEAST_SIGMA, first_sigma), max(SIGMA.maximum, first_sigma)  # also of tiny or large values
    first, second, third, fourth = st.columns([2, 1, 1, 2], vertical_alignment="bottom")
    key = first.selectbox(
        "Twin of",
        list(by_key),
        format_func=titles.get,
        key="robustness.twin.of",
        help="A twin is the same model with the same settings, trained on the rows and on noisy copies of them. Date "
        "and Mehar (2025) call this adversarial training; a PLT trained this way is their ExtendedPLT. Once trained, "
        "the twin is added to the figures and tables of this page.",
    )
    sigma_key = f"robustness.twin.sigma {fingerprint[:8]}"
    sigma = fields.real("σ", least, most, sigma_key, first_sigma, place=second, help=SIGMA.help)
    ends = RATIO.minimum, RATIO.maximum
    ratio = fields.real("Copies per row", *ends, "robustness.twin.ratio", RATIO.default, place=third, help=RATIO.help)
    support = fields.choice(
        "Features with noise",
        SUPPORT.options,
        f"robustness.twin.support {fingerprint[:8]}",
        "all" if _needed(data, ratio, "all") <= LARGE else "nonzero",  # "all" as in the paper
        place=fourth,
        format_func=SUPPORTS.get,
        help=SUPPORT.help,
    )
    return by_key[key], sigma, ratio, support


def _needed(data, ratio, support) -> int:
    """Return the bytes of the noisy copies."""
    return robustness.augmented_bytes(data.n_train, data.n_features, data.X_train.nnz, ratio, support)


def _train(fingerprint, task, key, chosen):
    # The twin is chosen before it exists, so that it joins the figures as soon as it is trained.
    choices.remember_runs(fingerprint, [*chosen, *([] if key in chosen else [key])])
    if not any(r["key"] == key for r in workspace.get("runs")):
        tasks.start(task)
