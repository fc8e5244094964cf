"""Which labels are predicted: a cut between precise and complete, a promise, or the best for a measure."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import actions, format, server, tables, tasks
from pages.shared.figures import charts, examples
from pages.shared.results import decided, predictions
from xmlcore import decisions, experiment, figures, metrics
from xmlcore.experiment.kinds.decide import (
    CHOICES,
    FOUND,
    HELD_OUT,
    PROMISE,
    RISK,
    Decisions,
    can_decide,
)
from xmlcore.models.rules import CUT

BY_CUT, PROMISED = "A cut between precise and complete", "A promise: a share of each row’s true labels"
BOUNDS = {  # of a measure that is to be as large as a least value of another one leaves
    "As much recall as a least precision leaves": ("micro R", "micro P", "precision", 90.0),
    "As much precision as a least recall leaves": ("micro P", "micro R", "recall", 50.0),
}
NOUNS = {"micro P": "Precision", "micro R": "Recall"}
FEWEST = 10  # labels predicted of the test rows at the first cut: of fewer, a precision says little
MEASURED = 2000  # test rows from which an interval is computed
AS_NOW = ""  # looked at in place of a decision where none is kept: what the model predicts without one
LEVEL = 80.0  # of a promise at first, in percent
FEW = 5  # entries in the place of the labels of a larger set
TAKEN = "predict.decide taken"  # key of st.session_state: whether a decision was just kept or forgotten
LOOKED_AT, SHOWN = 300, 3  # test rows among which changed ones are looked for; of them in the table
WHAT = "Precise or complete, frequent or rare labels, all rows or the sure ones: what each choice gives."
CAPTION = (
    "Each point is a cut: labels are predicted whose calibrated probability is at least that. Decisions are learnt "
    "from {} training rows that a twin of the model did not see (held-out rows); the figure shows what they give on "
    "the test rows."
)
ON = "On the test rows, which decide nothing; small, what the model gives there now, or gave before any decision."
LEARNT = "From which decisions are learnt."
OF_CUT = (("Precision", "micro P", 100, " %"), ("Recall", "micro R", 100, " %"), ("Labels a row", "labels", 1, ""))
OF_PROMISE = (("True labels found", FOUND, 100, " %"), *OF_CUT[::2])
OF_LEVEL = (
    "The share of a row's true labels that are in its set, mean over rows, is at least this; the risk that this is "
    f"false is {100 * RISK:.0f} %. It is promised for rows like the held-out ones, and for a twin of the model that "
    "did not see these; the test rows show what came out for this model."
)
FOR_PEOPLE = (
    "Rows are left to people in the order in which the model expects its first label to be wrong. The band is a 95 % "
    "interval."
)


def decide(chosen, prediction) -> None:
    """Show what decisions give on the test rows and for the row in view, and let one be kept with the model."""
    if st.session_state.pop(TAKEN, False):
        st.rerun()  # the whole page, whose answer is by the decision in force
    st.header("Which labels are predicted?")
    if chosen.run is None:
        st.caption("A model from a file has the decision that was written with it. Others are learnt for results.")
        return
    if not can_decide(chosen.data):
        st.caption("Decisions are learnt from training rows and measured on test rows with labels: here are too few.")
        return
    task = experiment.task("decide", {"run": chosen.key})
    found = tasks.ready(task, automatic_below=0, button="Learn decisions", key="predict.decide")
    if found is None:
        st.caption(WHAT)
        examples.show(examples.cuts)
        return
    left, right = st.columns(2, gap="large")
    kept, n_predicted = decided.in_force(chosen.key), (found.cuts["labels"] * chosen.data.n_test).round()
    is_kept_cut = found.cuts.index == found.line(kept).name if (kept or "").startswith(CUT) else False
    cuts = found.cuts[(n_predicted >= FEWEST) | (n_predicted.max() < FEWEST) | is_kept_cut]
    with right:
        name, least = _pick(found, cuts, kept)
        if name is not None:
            _numbers(found, name, kept, chosen.model)
        if name:
            _say_what_came_of(least, chosen, found, name)
            _keep(chosen.key, name)
            if name.startswith(PROMISE):
                _few_entries(chosen, found.rule(name), prediction)
    looked_at = None if name is None else found.line(name or None)
    is_kept = bool(name) and name == kept  # then what it has changed is shown, and else what it would change
    points = {"this decision": looked_at}
    points |= {"without a decision": found.line(None)} if is_kept else {"predict, now": found.line(kept)}
    with left:
        figure = figures.precision_recall(cuts, points, least=least)
        charts.show_figure(figure, cuts, f"{chosen.files}-decisions", CAPTION.format(f"{found.n_held_out:,}"))
    if name:
        _show_changed(chosen, found.rule(name), is_kept)
    with st.expander("Leave unsure rows to people"):
        figure = figures.abstention_curve(found.abstention)
        charts.show_figure(figure, found.abstention, f"{chosen.files}-rows-for-people", FOR_PEOPLE)


def _pick(found: Decisions, cuts, kept: str | None) -> tuple[str | None, dict]:
    """Return the decision looked at, first that in force, or None if there is none such; and the bound asked for."""
    options, is_cut = [BY_CUT, *BOUNDS, PROMISED, *CHOICES], (kept or CUT).startswith(CUT)
    is_promise = not is_cut and kept.startswith(PROMISE)
    by = st.selectbox(
        "Best for",
        options,
        options.index(BY_CUT if is_cut else PROMISED if is_promise else kept),
        format_func=lambda name: f"{CHOICES[name].group}: {name}" if name in CHOICES else name,
        key="predict.decide.by",
        help=_meanings(),
    )
    if by in BOUNDS:
        return _bounded(cuts, *BOUNDS[by])
    if by == PROMISED:
        return _promised(found, 100 * float(kept.removeprefix(PROMISE)) if is_promise else LEVEL), {}
    if by in CHOICES:
        return by, {}
    now = found.line(kept if is_cut else None)
    names = [f"{CUT}{cut}" for cut in cuts["cut"].tolist()]
    right = {name: f"{100 * share:.1f} % right" for name, share in zip(names, cuts["micro P"])}
    right[AS_NOW] = f"{100 * now['micro P']:.1f} % right, as now"
    place = min(int(np.searchsorted(cuts["micro R"], now["micro R"])), len(names) - 1)
    if kept is None:
        names.insert(place, AS_NOW)
    name = st.select_slider(
        "From precise to complete", names, f"{CUT}{now['cut']}" if kept and is_cut else names[place],
        key="predict.decide.cut", format_func=right.get,
        help="Left: few labels, nearly all right. Right: many labels, with nearly all true ones among them.",
    )  # fmt: skip
    return name, {}


def _bounded(cuts, best, bounded, noun, first) -> tuple[str | None, dict]:
    """Return the cut with the best value of a measure on the held-out rows that keeps a bound; and the bound."""
    least = st.number_input(
        f"Least {noun}, %", 1.0, 100.0, first, 1.0, format="%.4g", key=f"predict.decide.least {noun}",
        help="On the held-out rows: for other rows nothing is promised.",
    )  # fmt: skip
    kept = cuts[cuts[HELD_OUT + bounded] >= least / 100]
    if kept.empty:
        most = 100 * cuts[HELD_OUT + bounded].max()
        st.caption(f"No cut has that {noun} on the held-out rows: it is at most {most:.1f} %.")
        return None, {bounded: least / 100}
    cut = kept.sort_values([HELD_OUT + best, HELD_OUT + bounded])["cut"].iloc[-1]
    return f"{CUT}{float(cut)}", {bounded: least / 100}


def _promised(found, first) -> str | None:
    """Return the promise of a share of true labels; None if none can be given."""
    level = st.number_input(
        "True labels found, at least, %", 1.0, 99.9, first, 1.0, format="%.4g", key="predict.decide.promised",
        help=OF_LEVEL,
    )  # fmt: skip
    if found.promised(level / 100):
        return f"{PROMISE}{level / 100:.6g}"
    most = 100 * found.cuts[HELD_OUT + FOUND].max()
    st.caption(
        f"This cannot be promised: with all candidates, {most:.1f} % are found on the {found.n_held_out:,} held-out "
        "rows. Promise less."
    )
    return None


def _meanings() -> str:
    lines = []
    for name, choice in CHOICES.items():
        parts = [choice.measure] if isinstance(choice.measure, str) else choice.measure
        said = ", and ".join(metrics.MEASURES[part.partition("@")[0] + "@k"].meaning for part in parts)
        lines.append(f"**{name}**: {said}" + (", with labels only where they improve it." if choice.at_most else "."))
    return "\n\n".join(lines)


def _numbers(found, name, kept, model) -> None:
    one, other = found.line(name or None), found.line(None if name == kept else kept)

    def small(of, times, unit):
        """Return what the model gives now, or before the decision that is kept; empty where that is not known."""
        if name == AS_NOW:
            return "as now"
        value = times * other.get(of, np.nan)
        return "" if np.isnan(value) else f"{'before' if name == kept else 'now'} {value:.1f}{unit}"

    st.caption("On the test rows:")
    if name in CHOICES:
        cards = [(name, f"{100 * one['decided']:.1f} %", ON, small(name, 100, " %"))]
        if "@" in name:  # what predict gives now has another number of labels
            best = "P" if predictions.are_probabilities(model) else "scores"
            cards.append((f"by the best {best}", f"{100 * one['plain']:.1f} %", ON, name))
        tables.cards(cards)
        return
    shown = OF_PROMISE if name.startswith(PROMISE) else OF_CUT
    tables.cards(
        [(title, f"{times * one[of]:.1f}{unit}", ON, small(of, times, unit)) for title, of, times, unit in shown]
    )
    if name == AS_NOW:
        return
    held = [f"{title.lower()} {times * one[HELD_OUT + of]:.1f}{unit}" for title, of, times, unit in shown]
    st.caption(f"On the held-out rows: {', '.join(held)}.", help=LEARNT)


def _say_what_came_of(least, chosen, found, name) -> None:
    """Say what the held-out rows and the test rows gave of the measure whose bound was asked for."""
    for of, bound in least.items():
        noun, value = NOUNS[of], 100 * found.line(name)[of]
        half = 100 * _standard_error(chosen.key, name, of)
        ends = (f"{end:.1f}" for end in (max(value - 1.96 * half, 0), min(value + 1.96 * half, 100)))
        st.caption(
            f"{noun} of {100 * bound:.4g} % is kept on the held-out rows. The test rows, which decide nothing, gave "
            f"{value:.1f} % (95 %: {'–'.join(ends)})."
        )


@server.shared()
def _standard_error(key: str, name: str, of: str) -> float:
    """Return the standard error over test rows of the micro precision or recall of a decision."""
    data, model = server.dataset(server.run(key).fingerprint), server.model(key)
    X, Y = data.X_test[:MEASURED], data.Y_test[:MEASURED]
    rule = experiment.task("decide", {"run": key}).load().rule(name)
    predicted = rule.decided(model, X).astype(bool)
    right, base = (part.sum(axis=1) for part in (predicted.multiply(Y), predicted if of == "micro P" else Y))
    share = right.sum() / max(base.sum(), 1)
    error = np.sqrt(np.square(right - share * base).sum()) / max(base.sum(), 1)
    return float(error * np.sqrt(len(right) / data.n_test))


def _few_entries(chosen, rule, prediction) -> None:
    """Show a few labels and groups of the label tree in place of a large set of the row in view."""
    if prediction is None or prediction.problem:
        return
    rule = replace(rule, model=chosen.model)
    n, names = rule.predict(prediction.x).nnz, [chosen.packed.label_name(j) for j in range(rule.n_labels)]
    if n <= FEW:
        return
    try:
        (entries,) = decisions.back_off(rule, prediction.x, FEW, names=names)
    except ValueError:  # the model has no tree with groups
        return
    listed = "\n".join(f"- {format.plain(entry.name)}" for entry in entries)
    st.markdown(f"**{n} labels** for {prediction.question.what}. In few words, with all of them:\n\n{listed}")


def _keep(run_key: str, name: str) -> None:
    is_kept = decided.kept(run_key) == name
    with st.container(horizontal=True):
        if is_kept:
            st.markdown(":material/check: Kept with the model")
        actions.button(
            "Forget it" if is_kept else "Keep this decision",
            key="predict.decide.keep",
            on_click=_take,
            args=(run_key, None if is_kept else name),
            help="A packed model (*Save the model*) predicts by it: `predict`, `xmlcore predict --decided`, and "
            '`xmlcore serve` where a request has `"decided": true`, as in the lines of *Serve it*.',
        )


def _take(run_key: str, name: str | None) -> None:
    decided.keep(run_key, name)
    st.session_state[TAKEN] = True


def _show_changed(chosen, rule, is_kept) -> None:
    """Say how many of the first test rows get other labels by a decision, and show some of them."""
    X, Y = chosen.data.X_test[:LOOKED_AT], chosen.data.Y_test[:LOOKED_AT]
    model = server.model(chosen.key) if is_kept else chosen.model
    before, after = model.predict(X), rule.decided(chosen.model, X).astype(bool)
    rows = np.flatnonzero(np.diff((before != after).tocsr().indptr))
    first = "the first " if X.shape[0] < chosen.data.n_test else ""
    of = f"of {first}{format.count(X.shape[0], 'test row')}"
    some = f", of which {SHOWN} are shown" if rows.size > SHOWN else ""
    other = "no decision" if is_kept else "what predict gives now"
    st.caption(f"Compared with {other}, it changes the labels of {rows.size:,} {of}{some}.")
    if not rows.size:
        return

    def names(of, row):
        return format.listed([chosen.packed.label_name(j) for j in of[[row]].indices]) if of[[row]].nnz else ""

    parts = (before > after, after > before, Y)
    lines = [[int(row), *(names(part, row) for part in parts)] for row in rows[:: max(1, rows.size // SHOWN)][:SHOWN]]
    frame = pd.DataFrame(lines, columns=["test row", "no longer predicted", "newly predicted", "true labels"])
    columns = {"test row": tables.number("Test row", 75, "%d")}
    columns |= {name: tables.text(name.capitalize(), 315) for name in frame.columns[1:]}
    tables.show(frame, "predict.decide.changed", columns)
