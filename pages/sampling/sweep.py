"""Accuracy against training time, with other numbers of adversaries, κ, and of examples per label, π."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.sampling import tradeoff, values
from pages.sampling.measured import if_kept, measured, too_large
from pages.sampling.view import MODEL, one_class
from pages.shared import fields, format, settings, tasks
from pages.shared.figures import charts
from xmlcore import figures
from xmlcore.metrics.calibration import wilson

MOST_REPEATS = 20  # trainings per value
LARGE = 1 << 30  # bytes; a warning is shown when a training needs more memory


def sweep(view, name) -> None:
    """Draw the result, called ``name``, among trainings with other settings, and let the user have these trained."""
    place = st.container()
    kappas, examples, n_repeats = _choose(view)
    kappas, examples = values.with_own(kappas, view.kappa), values.with_own(examples, view.examples)
    expected = values.estimate(view, kappas, examples, (), n_repeats)
    if expected.bytes > LARGE and too_large(expected.bytes) is None:
        st.warning(f"The largest of these trainings takes about {format.size(expected.bytes)} of memory for its pairs.")
    # The own settings are in both; before all, one training warms up.
    button = f"Train {format.count(n_repeats * (len(kappas) + len(examples) - 1), 'time')}, varying κ, then π"
    task = view.task(kappas, examples, (), n_repeats)
    study = measured(
        task,
        expected.bytes,
        "Choose smaller values of κ and of examples per label, as memory grows with both; or free memory.",
        button,
        "sweep",
    )
    free = ("n_adversarial", "examples_per_class", "n_repeats")
    is_before = study is None and (study := if_kept(task, *free)) is not None  # while others are trained, they stay
    frame = _as_trained(view) if study is None else study.sweep
    frame = frame.assign(margin=_margin(view.data, frame["accuracy"]))
    with place:
        for text in failures(study) if study else ():
            st.warning(text)
        figure = figures.sampling_sweep(frame, (view.kappa, view.examples))
        charts.show_figure(
            figure,
            frame,
            f"{view.files}-sweep",
            _caption(format.plain(name), study, figure.layout.meta["processor_time"]),
            key="sampling.sweep",
        )
        if is_before:
            st.caption("These settings are not trained together yet, so earlier ones are shown.")
        if study and (answer := tradeoff.in_words(frame)):
            st.markdown(answer)


def _caption(name, study, processor_time) -> str:
    text = f"The settings of {name} (dotted) are trained and measured anew with the others."
    if not study:
        text = f"{name} is alone until others are trained."
    text += " One of κ, labels that each row is compared with, and π, examples per label, is varied; the other stays as"
    text += " trained. Bars of micro R@1 are 95\u00a0% intervals: what other test rows would change"
    is_repeated = bool(study) and study.n_repeats > 1
    text += ", or seeds if that is more; those of the time are least and most of the seeds." if is_repeated else "."
    if processor_time:
        text += " Processor time adds up over threads, and other work hardly changes it."
    return text


def _margin(data, accuracy) -> np.ndarray:
    """Return half of the 95 % interval of accuracies over test rows, of which each is right or wrong."""
    n_rows, n_true = max(1, np.count_nonzero(np.diff(data.Y_test.indptr))), max(1, data.Y_test.nnz)
    low, high = wilson(accuracy.to_numpy(dtype=np.float64) * n_true / n_rows, np.array(n_rows))
    return (high - low) / 2 * n_rows / n_true


def _as_trained(view):
    """Return the result itself as the frame of a sweep of one κ and one π."""
    accuracy, macro = one_class(view.key)
    own = {"n_adversarial": view.kappa, "examples_per_class": view.examples, "seed": 0}
    times = view.run.times
    own |= {"accuracy": accuracy, "macro_f1": macro, "fit_s": times["fit_s"], "cpu_s": times.get("fit_cpu_s", np.nan)}
    own |= {"pair_bytes": np.nan, "model_bytes": view.run.size["model_bytes"]}
    return pd.DataFrame([own | {"axis": axis} for axis in tradeoff.SIGNS])


def failures(study) -> list[str]:
    """Return a sentence for each value with which trainings failed, with the reason."""
    failed = study.sweep[study.sweep["failed"] != ""]
    text = []
    for axis, sign in tradeoff.SIGNS.items():
        for (value, why), n in failed[failed["axis"] == axis].groupby([axis, "failed"]).size().items():
            some = f" ({n} of {study.n_repeats} trainings)" if n < study.n_repeats else ""
            why = format.plain(settings.in_form(MODEL, why).rstrip("."))
            text.append(f"No result with {sign} = {value:,g}{some}: {why}.")
    return text


def _choose(view):
    short = view.key[:8]

    def seconds(kappas, examples, n_repeats):
        return values.estimate(view, kappas, examples, (), n_repeats).seconds

    first = values.first_sweep(seconds, (view.kappa, view.examples), view.most_kappa, tasks.AUTOMATIC_BELOW)
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="top")
    with left:
        kappas = values.field(
            f"Other κ, up to {view.most_kappa:,}",
            f"sampling.kappa {short}",
            first[0],
            _kappa_help(view),
            whole=True,
            least=1,
            most=view.most_kappa,
        )
    with middle:
        examples = values.field(
            "Other π, examples per label",
            f"sampling.examples {short}",
            first[1],
            "Copies of examples drawn per label, with commas between them; the result’s own is always measured. "
            "Published results use 1 or 2.",
            whole=False,
            least=0.01,
            most=1000,
        )
    n_repeats = fields.whole(
        "Repeats",
        1,
        MOST_REPEATS,
        f"sampling.repeats {short}",
        first[2],
        place=right,
        help="Trainings per value, each with its own seed.",
    )
    return kappas, examples, int(n_repeats)


def _kappa_help(view) -> str:
    text = (
        "Other labels that each copy of an example is compared with, with commas between them; the result’s own is "
        "always measured. Published results use 5 to 122."
    )
    if view.near:
        text += f" Here adversaries are other candidates: {view.most_kappa:,} at most, and all of them from there on."
    if view.fewer:
        text += f" The result has κ = {view.kappa:,}{view.fewer}."
    return text
