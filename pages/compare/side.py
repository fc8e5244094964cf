"""Several results on one data set side by side: measures with intervals, head to tail, and settings."""

from typing import NamedTuple

import pandas as pd
import streamlit as st

from pages.compare import answer, listed, of_runs, pairs
from pages.compare import settings as settings_part
from pages.shared import addresses, cached, fields, format, sections, settings, tables
from pages.shared.figures import charts
from pages.shared.results import results
from pages.shared.workspaces import dataset_list, workspace
from xmlcore import experiment, figures
from xmlcore.experiment import side_by_side
from xmlcore.metrics.buckets import MEANING

MOST = 12  # lines side by side
MEASURE = "\u200bmeasure"  # column of the measures; no result can have this name, but one may be named "measure"
NO_LINES = "Nothing is compared: no result matches the filters above."
FIRST = 4  # lines side by side while none is ticked
# Measures of head, torso and tail labels by the column that is drawn: title, and the name of the measure in tables.
OF_BUCKETS = {
    "recall": ("Recall", "micro R"),
    "precision": ("Precision", "micro P"),
    "macro_f1": ("Macro F1", "macro F1"),
}


class Compared(NamedTuple):
    """The lines that are compared, on one data set."""

    fingerprint: str | None
    of: pd.DataFrame  # all lines of the data set
    wanted: pd.DataFrame  # those to compare
    names: dict  # their titles, by the key of a result
    keys: list  # of those that can be read
    several: bool  # whether there is something to compare on the data set
    over: bool  # whether there are several data sets
    ticked: bool  # whether two or more lines of the data set are ticked

    def styled(self) -> pd.DataFrame:
        """Return ``run``, ``model`` and ``place`` of those that can be read, in their order."""
        return of_runs.styled(self.wanted).set_axis(list(self.names)).loc[self.keys].reset_index(drop=True)

    def marks(self) -> dict:
        """Return the mark in the figures on top of each line that they show, by the key of the line."""
        if len(self.of) < 2:
            return {}
        styled = of_runs.styled(self.of)
        marks = figures.run_marks(styled, self.styled())
        return {key: marks[run] for key, run in zip(self.of["key"], styled["run"])}


def compared(chosen, lines, choice, frame) -> Compared:
    """Return the lines to compare, and say which: those that are ticked, or else the best on a data set."""
    with st.container():  # in one place, so that the browser does not draw anew what is below
        heading = st.container()
        chosen = chosen[chosen["P@1"].notna()]  # else no test row of the data set has a label
        fingerprint = _dataset(chosen if len(chosen) else lines)
        of = lines[(lines["fingerprint"] == fingerprint) & lines[choice.measure].notna()]
        chosen = chosen[chosen["fingerprint"] == fingerprint]
        chosen = chosen if len(chosen) > 1 else chosen.iloc[:0]  # one alone has nothing to be compared with
        wanted = chosen if len(chosen) else of.head(FIRST)
        names = {of_runs.middle(line, choice.measure): line["title"] for _, line in wanted.iterrows()}
        keys, unreadable = of_runs.readable(list(names), MOST)
        where = wanted["dataset"].iloc[0] if len(wanted) else ""
        settings_of = frame.drop_duplicates("setting")["fingerprint"]
        several = len(of) > 1 or len(keys) > 1 or bool(settings_of.duplicated().any())
        over = (lines if len(lines) else frame)["fingerprint"].nunique() > 1
        if several or over:
            heading.header(f"{len(keys)} side by side on {format.plain(where)}" if len(keys) > 1 else "Comparison")
        _say_which_are_compared(keys, unreadable, names, wanted, choice.measure if chosen.empty else None)
    return Compared(fingerprint, of, wanted, names, keys, several, over, len(chosen) > 1)


def show(picked: Compared, lines, choice, pictures) -> None:
    fingerprint, of, wanted, names, keys, several, over, _ = picked
    file_name = f"{format.file_name(wanted['dataset'].iloc[0] if len(wanted) else '')}-compared"
    with pictures:
        answer.pictures(of, keys, names, choice, picked.styled(), file_name)

    why = NO_LINES if fingerprint is None else "Tick two or more lines of one data set to put them side by side."
    of_two = lambda draw: draw if len(keys) > 1 else lambda: st.caption(why)  # noqa: E731

    def measures():
        _measures(keys, names, picked.styled(), file_name, listed.further_names(choice.more))
        _settings(keys, names, wanted)

    further = {}
    if several:  # the same tabs whatever is ticked and found: the browser draws anew what other ones have
        further = {
            "Side by side": of_two(measures),
            "Is the difference real?": of_two(lambda: pairs.show(keys, names, choice, file_name)),
            "Head, torso and tail": of_two(lambda: _buckets(keys, names, picked.styled(), file_name)),
        }
        further["Which settings matter"] = lambda: settings_part.show(of, choice.measure, file_name)
    if over:
        further["Over several data sets"] = lambda: (
            settings_part.across(lines, choice.measure) if len(lines) else st.caption(NO_LINES)
        )
    if further:
        sections.show("compare", further)
    else:
        st.caption("A comparison needs two lines of one data set: train a second model, or show more lines above.")


def _dataset(lines) -> str | None:
    names = dict(zip(lines["fingerprint"], lines["dataset"]))
    if not names:
        return None
    used = workspace.get("dataset")
    first = used if used in names else next(iter(names))
    if len(names) == 1:
        return first
    key = f"compare.side.{abs(hash(tuple(names))) & 0xFFFFFF:x}"
    return fields.choice("Results on", names, key, first, width=260)


def _say_which_are_compared(keys, unreadable, names, wanted, measure) -> None:
    sentences = []
    if len(keys) > 1 and measure is not None:
        sentences.append(f"The {len(keys)} best in {measure}: tick lines to compare others.")
    if len(wanted) > len(keys) + len(unreadable):
        sentences.append(f"Showing {len(keys)} of {len(wanted)} lines.")
    if len(keys) > 1 and (wanted["n"] > 1).any():
        sentences.append("Of several seeds, the result nearest to their mean stands for all.")
    if sentences:
        st.caption(" ".join(sentences))
    for key, reason in unreadable.items():
        st.warning(f"{format.bold(names[key])} is left out, because it cannot be read: {format.plain(reason)}.")
    if keys:
        with st.popover("Details", type="tertiary", icon=":material/info:"):
            fingerprint = wanted["fingerprint"].iloc[0]
            here = {record["key"] for record in results.kept("runs", fingerprint)}  # none archived
            for key in filter(here.__contains__, keys):
                look = {"type": "tertiary", "icon": ":material/open_in_new:"}
                if st.button(format.plain(names[key]), f"compare.open.{key}", **look):
                    dataset_list.use_dataset(fingerprint)
                    results.take(fingerprint, key)
                    sections.go_to("train", addresses.ABOUT)
                    addresses.switch("Train")


def _measures(keys, names, compared, file_name, further) -> None:
    """Show measures with intervals as a table and a figure; ``further`` ones are in the table and the files only."""
    frame = of_runs.named(of_runs.measures(keys, further), names)
    shown, best = _wide(frame)
    heads = of_runs.heads(best.columns)
    tables.show(
        shown,
        "compare.measures",
        {MEASURE: tables.text("%", 95, pinned=True)}
        | {name: tables.text(head, None, format.plain(name)) for name, head in heads.items()},
        height="content",
        best=best,
        column_order=list(shown),  # all that are ticked
    )
    charts.file_button(
        "Measures, LaTeX",
        lambda: experiment.latex_table(frame).encode("utf-8"),
        f"{file_name}-measures.tex",
        "A table with booktabs, with intervals",
    )
    charts.show_figure(
        figures.measures_compared(frame[frame["measure"].isin(side_by_side.DRAWN)], compared=compared),
        frame,
        f"{file_name}-measures",
        "Points are measures over all test rows, lines 95\u00a0% intervals; bold values in the table are significantly "
        "best. Intervals may overlap although a difference is real: see *Is the difference real?*.",
        of=keys,
    )


def _wide(frame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table with a line per measure, and which of its values are significantly the best of their line."""
    text = [
        "" if v != v else f"{100 * v:.2f} ({100 * low:.1f}–{100 * high:.1f})" if low == low else f"{100 * v:.2f}"
        for v, low, high in zip(frame["value"], frame["low"], frame["high"])
    ]
    named = frame.assign(text=text, at=frame["measure"].str.replace("@k", "@", regex=False) + frame["k"].astype(str))
    wide = named.pivot(index="at", columns="run", values=["text", "best"]).loc[list(dict.fromkeys(named["at"]))]
    best, shown = (wide[of][list(dict.fromkeys(named["run"]))] for of in ("best", "text"))
    return shown.reset_index(names=MEASURE), best.reset_index(drop=True).astype(bool)


def _settings(keys, names, wanted) -> None:
    """Show in which settings the results differ, and what models chose by themselves."""
    by_key = {key: line for _, line in wanted.iterrows() for key in line["keys"]}
    own = pd.DataFrame([by_key[key] for key in keys])
    differing, lines = experiment.parameters(own, seed=False), []
    for key, (_, line) in zip(keys, own.iterrows()):
        present = {name: line["params"][name] for name in differing if name in line["params"]}
        words, run = settings.words if present else settings.changed, cached.run(key)
        by_hand = words(line["model"], present or line["params"])
        by_itself = settings.chosen_words(run.model, run.chosen, run.size)
        lines.append({"run": names[key], "by_hand": by_hand, "by_itself": by_itself})
    columns = {"run": "Result", "by_hand": "Settings", "by_itself": "Chosen by the model"}
    tables.show(pd.DataFrame(lines), "compare.settings", {name: tables.text(title) for name, title in columns.items()})


def _buckets(keys, names, compared, file_name) -> None:
    with st.container(horizontal=True, gap="medium"):
        titles = {column: title for column, (title, _) in OF_BUCKETS.items()}
        measure = fields.radio("Measure of the labels", titles, "compare.buckets", "recall")
        ks = of_runs.ks(keys[0])
        k = fields.radio("Labels predicted", ks, "compare.buckets.k", ks[-1])
    left, right = st.columns(2, gap="medium")
    with left:
        frame = of_runs.named(of_runs.compared("buckets_side_by_side", keys, k), names)
        charts.show_figure(
            figures.buckets_compared(frame, measure, compared=compared),
            frame,
            f"{file_name}-buckets-at-{k}",
            f"{MEANING} Recall is of the true labels, precision of the predicted ones.",
            of=keys,
        )
    with right:
        title, name = OF_BUCKETS[measure]
        frame = of_runs.named(of_runs.compared("differences_of_buckets", keys, f"{name}@{k}"), names)
        (first,) = figures.cut_apart([names[keys[0]]], of_runs.NAME).values()
        charts.show_figure(
            figures.differences(frame, f"{title}, better or worse than {first}", compared),
            frame,
            f"{file_name}-{format.file_name(title)}-of-buckets-at-{k}",
            answer.OF_DIFFERENCES.format(how=side_by_side.how_tested(frame)),
            of=keys,
        )
