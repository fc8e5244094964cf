"""How much sampling is enough: trainings with other numbers of adversaries, κ, and of examples per label."""

import streamlit as st

from pages.sampling import values, words
from pages.sampling.measured import measured, too_large
from pages.shared import fields, format, tasks
from pages.shared.figures import charts
from xmlcore import figures

MOST_REPEATS = 20  # trainings per value
LARGE = 1 << 30  # bytes; a warning is shown when a training needs more memory


def sweep(view) -> None:
    st.header("How much sampling is enough")
    answer = st.container()
    kappas, examples, n_repeats = _choose(view)
    limit = _kappa_limit(view)
    if limit:
        st.caption(limit)
    kappas, examples = values.with_own(kappas, view.kappa), values.with_own(examples, view.examples)
    expected = values.estimate(view, kappas, examples, (), n_repeats)
    trainings = format.count(n_repeats * (len(kappas) + len(examples)), "training")
    st.caption(
        f"{trainings}, varying one of the two at a time: about {format.seconds(expected.seconds)}, once, as results "
        f"are kept. The largest needs about {format.size(expected.bytes)} for its pairs."
    )
    if expected.bytes > LARGE and too_large(expected.bytes) is None:
        st.warning(f"The largest of these trainings takes about {format.size(expected.bytes)} of memory for its pairs.")
    with answer:
        study = measured(
            view.task(kappas, examples, (), n_repeats),
            expected.bytes,
            "Choose smaller values of κ and of examples per label, as memory grows with both; or free memory.",
            f"Train {format.count(n_repeats * (len(kappas) + len(examples)), 'time')}",
            "sweep",
        )
        if study is None:
            st.caption(
                "This shows accuracy, F1 of means, training time and memory for other κ and other examples per label."
            )
        else:
            _show(view, study)


def _choose(view):
    short = view.key[:8]

    def seconds(kappas, examples, n_repeats):
        return values.estimate(view, kappas, examples, (), n_repeats).seconds

    first = values.first_sweep(seconds, (view.kappa, view.examples), view.most_kappa, tasks.AUTOMATIC_BELOW)
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="top")
    with left:
        kappas = values.field(
            f"Adversarial labels, κ, up to {view.most_kappa:,}",
            f"sampling.kappa {short}",
            first[0],
            "Other labels that each copy of an example is compared with. Values with commas between them; the "
            "result’s own is always measured. Published results use 5 to 122.",
            whole=True,
            least=1,
            most=view.most_kappa,
        )
    with middle:
        examples = values.field(
            "Examples per label, π",
            f"sampling.examples {short}",
            first[1],
            "Expected copies of examples that each label gives, with commas between them; the result’s own is always "
            "measured. Published results use 1 or 2.",
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
        help="Trainings per value, each with its own seed. The bands are 95\u00a0% intervals over seeds; one "
        "training has none.",
    )
    return kappas, examples, int(n_repeats)


def _kappa_limit(view) -> str | None:
    """Return a sentence on the largest κ, when that is not simply the number of other classes; else None."""
    requested, most = view.run.params["n_adversarial"], view.most_kappa
    if view.near:
        text = (
            f"Adversaries are other candidates of the example, so with q = {view.q:,} there are {most:,} at most. "
            f"With κ = {most:,} each example is compared with all of them, and none are drawn; a larger κ gives the "
            "same training. In the paper, adversaries are drawn from all other labels."
        )
    elif requested > most:
        text = f"There are {format.count(most, 'other label')}: a larger κ gives the same training."
    else:
        return None
    return text + (
        f" The result was requested with κ = {requested:,}, so κ = {most:,} was used." if requested > most else ""
    )


def _show(view, study):
    for text in words.failures(study):
        st.warning(text)
    succeeded = study.sweep[study.sweep["failed"] == ""]
    if succeeded.empty:
        return
    st.markdown(words.sweep_sentence(succeeded))
    bands = (
        " Bands are 95\u00a0% intervals over seeds."
        if study.n_repeats > 1
        else " One training per point, so there are no intervals."
    )
    fixed = (f"Examples per label: {view.examples:g}.", f"κ = {view.kappa:,}.")
    for place, axis, value, text in zip(st.columns(2, gap="large"), words.AXES, (view.kappa, view.examples), fixed):
        with place:
            charts.show_figure(
                figures.sampling_sweep(study.sweep, axis, value),
                study.sweep[study.sweep["axis"] == axis],
                f"{view.files}-{axis.replace('_', '-')}",
                f"{text} Memory is that of the pairs and of the model. Times depend on what else the machine did."
                f"{bands}",
                key=f"sampling.{axis}",
            )
