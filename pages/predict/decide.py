"""Which labels are predicted: a cut between precise and complete, or the best for a measure."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import actions, format, tables, tasks
from pages.shared.figures import charts
from pages.shared.workspaces import workspace
from xmlcore import experiment, figures, metrics
from xmlcore.experiment.kinds.decide import AS_IT_IS, HELD_OUT, MEASURES, Decisions, can_decide
from xmlcore.models.rules import CUT

BY_CUT, AT_LEAST = "A cut between precise and complete", "As much recall as a least precision leaves"
KEPT = "predict.decision"  # in the workspace's "widgets", how the name of a result's kept decision begins
TAKEN = "predict.decide taken"  # key of st.session_state: whether a decision was just kept or forgotten
LOOKED_AT, SHOWN = 300, 3  # test rows among which changed ones are looked for; of them in the table
WHAT = "Precise or complete, frequent or rare labels, all rows or the sure ones: what each choice gives."
CAPTION = (
    "Each point is a cut: labels are predicted whose probability is at least that. Decisions are learnt from {} "
    "training rows that a twin of the model did not see (held-out rows); the figure shows what they give on the test "
    "rows."
)
ON = "On the test rows, which decide nothing; small, on the held-out rows from which decisions are learnt."
OF_CUT = (("Precision", "micro P", 100, " %"), ("Recall", "micro R", 100, " %"), ("Labels a row", "labels", 1, ""))
FOR_PEOPLE = (
    "Rows are left to people in the order in which the model expects its first label to be wrong. The band is a 95 % "
    "interval."
)


def kept(run_key: str) -> str | None:
    """Return the decision that is kept with the model of a result: a measure, or a cut."""
    return workspace.get("widgets").get(f"{KEPT} {run_key}")


def in_force(run_key: str) -> str | None:
    """Return the decision that is kept with the model of a result, if it has been learnt."""
    return kept(run_key) if experiment.task("decide", {"run": run_key}).exists() else None


def decide(chosen) -> None:
    """Show what decisions give on the test rows, and let one be kept with the model."""
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
        return
    left, right = st.columns([3, 2], gap="large")
    with right:
        name = _pick(found, kept(chosen.key))
        _numbers(found, name)
        _keep(chosen.key, name)
    points = {"this decision": _line(found, name), "predict, now": _line(found, kept(chosen.key))}
    with left:
        figure = figures.precision_recall(found.cuts, points)
        charts.show_figure(figure, found.cuts, f"{chosen.files}-decisions", CAPTION.format(f"{found.n_held_out:,}"))
    changed = _changed(chosen, found.rule(name))
    if changed is not None:
        st.caption("Test rows whose labels change:")
        columns = {"test row": tables.number("Test row", 90, "%d")}
        columns |= {name: tables.text(name.capitalize(), 260) for name in changed.columns[1:]}
        tables.show(changed, "predict.decide.changed", columns)
    with st.expander("Rows for people"):
        figure = figures.abstention_curve(found.abstention)
        charts.show_figure(figure, found.abstention, f"{chosen.files}-rows-for-people", FOR_PEOPLE)


def _pick(found: Decisions, kept: str | None) -> str:
    """Return the decision looked at; at first the kept one."""
    is_cut = (kept or CUT).startswith(CUT)
    options = [BY_CUT, AT_LEAST, *MEASURES]
    by = st.selectbox(
        "Best for", options, 0 if is_cut else options.index(kept), key="predict.decide.by", help=_meanings()
    )
    if by not in (BY_CUT, AT_LEAST):
        return by
    cuts = found.cuts["cut"].to_numpy()
    if by == AT_LEAST:
        least = st.number_input(
            "Least precision, %", 1.0, 100.0, 90.0, 1.0, format="%.4g", key="predict.decide.least",
            help="On the held-out rows: for other rows nothing is promised.",
        )  # fmt: skip
        precise = found.cuts[HELD_OUT + "micro P"].to_numpy() >= least / 100
        if not precise.any():
            most = 100 * found.cuts[HELD_OUT + "micro P"].max()
            st.caption(f"No cut is that precise on the held-out rows: at most {most:.1f} %.")
        place = np.flatnonzero(precise)[-1] if precise.any() else 0
        return f"{CUT}{float(cuts[place])}"
    at = np.abs(found.cuts["micro R"] - _line(found, kept if is_cut else None)["micro R"])
    place = st.select_slider(
        "From precise to complete", range(len(cuts)), int(at.argmin()), key="predict.decide.cut",
        format_func=lambda at: f"{100 * found.cuts['micro P'].iloc[at]:.1f} % right",
        help="Left: few labels, nearly all right. Right: many labels, with nearly all true ones among them.",
    )  # fmt: skip
    return f"{CUT}{float(cuts[place])}"


def _line(found: Decisions, name: str | None) -> pd.Series:
    """Return what a decision gives on the test rows; without one, what ``predict`` gives as it comes."""
    if name is not None and name.startswith(CUT):
        return found.cuts.loc[(found.cuts["cut"] - float(name.removeprefix(CUT))).abs().idxmin()]
    return found.measures.set_index("measure").loc[name or AS_IT_IS]


def _meanings() -> str:
    known = metrics.MEASURES
    return "\n\n".join(f"**{name}**: {known[name.partition('@')[0] + '@k'].meaning}." for name in MEASURES)


def _numbers(found, name) -> None:
    one = _line(found, name)
    if name.startswith(CUT):
        tables.cards([
            (title, f"{times * one[of]:.1f}{unit}", ON, f"held-out {times * one[HELD_OUT + of]:.1f}{unit}")
            for title, of, times, unit in OF_CUT
        ])  # fmt: skip
        return
    without = "by the best scores" if "@" in name else "cut at 0.5"
    tables.cards([(name, f"{100 * one['decided']:.1f} %", ON), (without, f"{100 * one['plain']:.1f} %", ON)])


def _keep(run_key: str, name: str) -> None:
    is_kept = kept(run_key) == name
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
    def change(data):
        data["widgets"].pop(f"{KEPT} {run_key}", None)
        if name is not None:
            data["widgets"][f"{KEPT} {run_key}"] = name

    workspace.update(change)
    st.session_state[TAKEN] = True


def _changed(chosen, rule):
    """Return a table of test rows whose labels come or go; None if there is none among those looked at."""
    X, Y = chosen.data.X_test[:LOOKED_AT], chosen.data.Y_test[:LOOKED_AT]
    before, after = chosen.model.predict(X), rule.decided(chosen.model, X).astype(bool)
    rows = np.flatnonzero(np.diff((before != after).tocsr().indptr))
    if not rows.size:
        return None

    def names(of, row):
        return format.listed([chosen.packed.label_name(j) for j in of[[row]].indices]) if of[[row]].nnz else ""

    parts = (before > after, after > before, Y)
    lines = [[int(row), *(names(part, row) for part in parts)] for row in rows[:: max(1, rows.size // SHOWN)][:SHOWN]]
    return pd.DataFrame(lines, columns=["test row", "no longer predicted", "newly predicted", "true labels"])
