"""Which labels are predicted: by a threshold, by a promised recall, or the best for a measure."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import actions, cached, first_results, format, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import decided
from xmlcore import decisions, experiment, figures, metrics
from xmlcore.experiment.kinds.decide import CHOICES, FOUND, HELD_OUT, PROMISE, RISK, Decisions, can_decide
from xmlcore.models.rules import CUT

BY_CUT, PROMISED = "A threshold of the probability", "A promised recall: a share of each row’s true labels"
BOUNDS = {  # title -> the measure to be maximized, and the one that has a minimum, its noun and its first value
    "Highest recall at a minimum precision": ("micro R", "micro P", "precision", 90.0),
    "Highest precision at a minimum recall": ("micro P", "micro R", "recall", 50.0),
}
FEWEST = 10  # labels predicted of the test rows at the first threshold: of fewer, a precision says little
MEASURED = 2000  # test rows from which an interval is computed
LEVEL = 80.0  # percent of true labels that are guaranteed at first
FEW = 5  # entries shown in place of a larger set of labels
TAKEN = "predict.decide taken"  # key of st.session_state: whether a decision was just kept or forgotten
LOOKED_AT, SHOWN = 300, 3  # test rows among which changed ones are looked for; of them in the table
PURPOSE = "Choose which labels are predicted: for precision or recall, frequent or rare labels, all rows or some."
CAPTION = "Each point is a threshold, learnt from {} held-out training rows and measured on test rows."
LEARNT = "Decisions are learnt from these rows."
OF_CUT = (("Precision, %", "micro P", 100), ("Recall, %", "micro R", 100), ("Labels per row", "labels", 1))
OF_PROMISE = (("Recall, mean over rows, %", FOUND, 100), OF_CUT[0], OF_CUT[2])
OF_LEVEL = (
    "On average over rows, at least this share of a row's true labels is predicted. The risk that this fails is "
    f"{100 * RISK:.0f} %. It holds for rows drawn like the held-out ones."
)
OF_ALL = "It is kept for the {} labels allowed, and measured with all labels."
PROMISE_OF_ALL = "A promise is about all labels: those allowed are not kept with it."
FOR_PEOPLE = "Rows whose first label is expected to be wrong are left to people first. The band is a 95 % interval."


def decide(chosen, prediction, allowed: np.ndarray | None = None) -> None:
    """Show what decisions give on test rows and the row in view, and let one, with labels allowed, be kept."""
    if st.session_state.pop(TAKEN, False):
        st.rerun()  # the whole page, whose answer is by the decision in force
    st.header("Which labels are predicted?")
    if chosen.run is None or not can_decide(chosen.data):
        st.caption("Decisions are learnt for results on this data set, from training rows and test rows with labels.")
        return
    task = experiment.task("decide", {"run": chosen.key})
    found = tasks.ready(task, automatic_below=0, button="Learn decision rules", key="predict.decide")
    if found is None:
        st.caption(PURPOSE)
        first_results.comes(chosen.data.fingerprint, "decide", run=chosen.key)
        return
    left, right = st.columns(2, gap="large")
    kept, n_predicted = decided.in_force(chosen.key), (found.cuts["labels"] * chosen.data.n_test).round()
    is_kept_cut = found.cuts.index == found.line(kept).name if (kept or "").startswith(CUT) else False
    cuts = found.cuts[(n_predicted >= FEWEST) | (n_predicted.max() < FEWEST) | is_kept_cut]
    with right:
        name, least = _pick(found, cuts, kept and decided.without_labels(kept))
        if name is not None:
            _show_measures(found, name, kept and decided.without_labels(kept), least, chosen)
            name = decided.among(name, allowed)
            if allowed is not None and not allowed.all():
                st.caption(
                    PROMISE_OF_ALL if decided.AMONG not in name else OF_ALL.format(f"{np.count_nonzero(allowed):,}")
                )
            _keep(chosen.key, name)
            if name.startswith(PROMISE):
                _few_entries(chosen, found.rule(name), prediction)
    is_kept = name is not None and name == kept
    points = {"this decision": None if name is None else found.line(name)}
    points |= {"without a decision": found.line(None)} if is_kept else {"currently predicted": found.line(kept)}
    with left:
        figure = figures.precision_recall(cuts, points, least=least)
        charts.show_figure(figure, cuts, f"{chosen.files}-decisions", CAPTION.format(f"{found.n_held_out:,}"))
    if name is not None:
        _show_changed(chosen, found.rule(name), is_kept)
    with st.expander("Leave uncertain rows to people"):
        figure = figures.abstention_curve(found.abstention)
        charts.show_figure(figure, found.abstention, f"{chosen.files}-rows-for-people", FOR_PEOPLE)


def _pick(learnt: Decisions, cuts, kept: str | None) -> tuple[str | None, dict]:
    """Return the chosen decision, at first that in force, None if none keeps the bound; and the bound asked for."""
    kept = f"{CUT}{_nearest(cuts, learnt.line(None))}" if kept is None else kept
    kind = next((title for start, title in {CUT: BY_CUT, PROMISE: PROMISED}.items() if kept.startswith(start)), kept)
    options = [BY_CUT, *BOUNDS, PROMISED, *CHOICES]
    by = st.selectbox(
        "Decide by",
        options,
        options.index(kind),
        format_func=lambda name: f"{CHOICES[name].group}: {name}" if name in CHOICES else name,
        key="predict.decide.by",
        help=_meanings(),
    )
    if by in BOUNDS:
        return _bounded(cuts, *BOUNDS[by])
    if by == PROMISED:
        return _promised(learnt, 100 * float(kept.removeprefix(PROMISE)) if kind == PROMISED else LEVEL), {}
    if by in CHOICES:
        return by, {}
    right = {f"{CUT}{cut}": f"{100 * share:.1f} % right" for cut, share in zip(cuts["cut"].tolist(), cuts["micro P"])}
    first = kept if kind == BY_CUT else f"{CUT}{_nearest(cuts, learnt.line(kept))}"
    about = "Left: few labels, nearly all of them right. Right: many labels, among them nearly all true ones."
    slider = {"key": "predict.decide.cut", "format_func": right.get, "help": about}
    return st.select_slider("From high precision to high recall", list(right), first, **slider), {}


def _nearest(cuts, now) -> float:
    """Return the threshold whose recall on the test rows is nearest to that of the present predictions."""
    return float(cuts["cut"].loc[(cuts["micro R"] - now["micro R"]).abs().idxmin()])


def _bounded(cuts, best, bounded, noun, first) -> tuple[str | None, dict]:
    """Return the threshold with the best value of a measure on the held-out rows that keeps a bound; and the bound."""
    least = st.number_input(
        f"Minimum {noun}, %", 1.0, 100.0, first, 1.0, format="%.4g", key=f"predict.decide.least {noun}",
        help="On the held-out rows: nothing is promised for other rows.",
    )  # fmt: skip
    kept = cuts[cuts[HELD_OUT + bounded] >= least / 100]
    if kept.empty:
        most = 100 * cuts[HELD_OUT + bounded].max()
        st.caption(f"No threshold has that {noun} on the held-out rows: it is at most {most:.1f} %.")
        return None, {bounded: least / 100}
    cut = kept.sort_values([HELD_OUT + best, HELD_OUT + bounded])["cut"].iloc[-1]
    return f"{CUT}{float(cut)}", {bounded: least / 100}


def _promised(learnt, first) -> str | None:
    """Return the decision that promises a recall; None if all candidates together have less."""
    level = st.number_input(
        "Minimum recall, %", 1.0, 99.9, first, 1.0, format="%.4g", key="predict.decide.promised",
        help=OF_LEVEL,
    )  # fmt: skip
    if learnt.promised(level / 100):
        return f"{PROMISE}{level / 100:.6g}"
    most = 100 * learnt.cuts[HELD_OUT + FOUND].max()
    st.caption(f"This cannot be promised: all candidates reach {most:.1f} % on the held-out rows. Lower the minimum.")
    return None


def _meanings() -> str:
    lines = []
    for name, choice in CHOICES.items():
        parts = [choice.measure] if isinstance(choice.measure, str) else choice.measure
        said = ", and ".join(metrics.MEASURES[part.partition("@")[0] + "@k"].meaning for part in parts)
        lines.append(f"**{name}**: {said}" + (", with labels only where they improve it." if choice.at_most else "."))
    return "\n\n".join(lines)


def _show_measures(learnt, name: str, kept: str | None, least: dict, chosen) -> None:
    """Show the measures of the decision of a name; ``least`` has the bounds asked for, by measure."""
    one, other = learnt.line(name), learnt.line(None if name == kept else kept)
    if name in CHOICES:
        lines = [{"measure": f"{name}, %", "test": 100 * one["decided"], "other": 100 * other.get(name, np.nan)}]
        if "@" in name:  # a measure of the first k, which predict has not: compared with the labels of largest P
            lines.append({"measure": f"{name} by the best scores, %", "test": 100 * one["plain"]})
    else:
        lines = []
        for title, of, times in OF_PROMISE if name.startswith(PROMISE) else OF_CUT:
            values = {"test": (one, of), "other": (other, of), "held_out": (one, HELD_OUT + of)}
            values = {place: times * line.get(column, np.nan) for place, (line, column) in values.items()}
            if of in least:
                half = 196 * _standard_error(chosen.key, name, of)
                values |= {"low": max(values["test"] - half, 0), "high": min(values["test"] + half, 100)}
            lines.append({"measure": title} | values)
    frame = pd.DataFrame(lines).dropna(axis=1, how="all")
    columns = {
        "measure": tables.text("Measure", 180),
        "test": tables.number("Test rows", 80, "%.1f", "Nothing is learnt from these rows."),
        "low": tables.number("From", 60, "%.1f", "95 % interval on the test rows."),
        "high": tables.number("To", 60, "%.1f", "95 % interval on the test rows."),
        "other": tables.number("Compared", 80, "%.1f", "The labels predicted now, or before the decision was kept."),
        "held_out": tables.number("Held-out rows", 95, "%.1f", LEARNT),
    }
    tables.show(frame, "predict.decide.outcome", columns)


@cached.shared()
def _standard_error(key: str, name: str, of: str) -> float:
    """Return the standard error over test rows of the micro precision or recall of a decision."""
    data, model = cached.dataset(cached.run(key).fingerprint), cached.model(key)
    X, Y = data.X_test[:MEASURED], data.Y_test[:MEASURED]
    rule = experiment.task("decide", {"run": key}).load().rule(name)
    predicted = rule.decided(model, X).astype(bool)
    right, base = (part.sum(axis=1) for part in (predicted.multiply(Y), predicted if of == "micro P" else Y))
    share = right.sum() / max(base.sum(), 1)
    error = np.sqrt(np.square(right - share * base).sum()) / max(base.sum(), 1)
    return float(error * np.sqrt(len(right) / data.n_test))


def _few_entries(chosen, rule, prediction) -> None:
    """Show a few labels and groups in place of a large set of the row in view: of a hierarchy, or the label tree."""
    if prediction is None or prediction.problem:
        return
    rule = replace(rule, model=chosen.model)
    n, names = rule.predict(prediction.x).nnz, [chosen.packed.label_name(j) for j in range(rule.n_labels)]
    if n <= FEW:
        return
    try:
        taxonomy = None if chosen.data is None else chosen.data.hierarchy
        (entries,) = decisions.back_off(rule, prediction.x, FEW, taxonomy=taxonomy, names=names)
    except ValueError:  # the model has no tree with groups
        return
    listed = format.listed([format.plain(entry.name) for entry in entries])
    st.markdown(f"The **{n} labels** of {prediction.question.subject} in short: {listed}.")


def _keep(run_key: str, name: str) -> None:
    is_kept = decided.kept(run_key) == name

    def take():
        decided.keep(run_key, None if is_kept else name)
        st.session_state[TAKEN] = True

    with st.container(horizontal=True):
        if is_kept:
            st.markdown(":material/check: Kept with the model")
        actions.button(
            "Forget it" if is_kept else "Keep this decision",
            key="predict.decide.keep",
            on_click=take,
            help="The Explain page and a packed model predict by it, too, also on the command line and behind a URL.",
        )


def _show_changed(chosen, rule, is_kept) -> None:
    """Say how many of the first test rows get other labels by a decision, and show some of them."""
    X, Y = chosen.data.X_test[:LOOKED_AT], chosen.data.Y_test[:LOOKED_AT]
    model = cached.model(chosen.key) if is_kept else chosen.model
    before, after = model.predict(X), rule.decided(chosen.model, X).astype(bool)
    rows = np.flatnonzero(np.diff((before != after).tocsr().indptr))
    than = "without this decision" if is_kept else "now"
    st.caption(f"{rows.size:,} of {format.count(X.shape[0], 'test row')} get other labels by it than {than}.")
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
    of = f", among the first {X.shape[0]:,} of {format.count(chosen.data.n_test, 'test row')}"
    st.caption(f"{format.showing(len(lines), rows.size, 'changed row')}{of * (X.shape[0] < chosen.data.n_test)}.")
