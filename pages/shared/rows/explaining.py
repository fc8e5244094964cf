"""Explanations of :mod:`xmlcore.explain` in words: names of features, units, and how bars add up to a score."""

import functools
import html
import math
import textwrap
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
import streamlit as st

from pages.shared import cached, format, tables
from pages.shared.figures import charts
from pages.shared.results import predictions
from pages.shared.rows import row_text
from xmlcore import experiment, explain, figures, metrics
from xmlcore.models.rules import cuts_another_number, decided_scores, row_decided, rule_of

BARS = 10  # features drawn
FAR_OFF = 0.05  # mean significant error of probabilities from which pages say it
ROWS = 500  # test rows on which LdSM's shares are checked
TITLE_LETTERS, LINE_LETTERS = 22, 38  # longest name in the line of a title that says more, and in one of its own
OPTION_LETTERS = 20  # longest name in a list of labels to choose from
DECIDES = "decides"  # kind of a probability that is no score of the model, but decides what it predicts
SUMS = ("share", "part")  # of kinds of scores: contributions, in percentage points, add up to the score itself
HINGE, VOTES = (experiment.MODELS[name].cls.ABOUT.scores_by_loss for name in ("PLT", "NearestRows"))


class Scale(NamedTuple):
    """A kind of score, as all pages call and write it."""

    name: str
    unit: str  # what contributions add up to, as the title of their axis
    about: str  # a sentence on what it is
    percent: bool = False  # whether it is a probability, in percent
    part: str = "feature"  # each of those that contribute

    @property
    def column(self) -> str:
        return (self.name if self.name == "f" else self.name[0].upper() + self.name[1:]) + ", %" * self.percent


SCALES = {
    "log_proba": Scale("P", "log P", "Scores on this page are probabilities P, in percent: the product along the "
    "label’s path in the tree, mean over trees. Contributions add up to log P, its natural logarithm.", True),
    "margin": Scale("P", "the margin", "Scores on this page are probabilities P, in percent, which the sigmoid makes "
    "of the margin of the label’s classifier. Contributions add up to the margin.", True),
    "share": Scale("P", "P, percentage points", "Scores on this page are probabilities P, in percent: the share of "
    "training rows that have the label, in the leaves that the row reaches. The ranks are by LdSM’s own score, in "
    "which a training row with many labels counts less for each, so a label of higher rank can have a lower P.", True),
    "part": Scale("P", "P, percentage points", "Scores on this page are probabilities P, in percent: the weighted "
    "mean of the members’ ones. Contributions are those of the members, and add up to it.", True, "member"),
    "votes": Scale("score", "the score", f"{VOTES[None]} Contributions are those of the training rows that vote, and "
    "add up to the score.", part="training row"),
    "log_score": Scale("score", "log score", f"{HINGE['squared_hinge']} Here it is the product, along the label’s path "
    "in the tree, of factors cut off at 1, mean over trees. Contributions add up to its natural logarithm."),
    "margin_score": Scale("score", "the margin", f"{HINGE['squared_hinge']} Here it is the sigmoid of the margin of "
    "the label’s classifier. Contributions add up to the margin."),
    DECIDES: Scale("decision P", "", "The probabilities, in percent, by which the model decides which labels it "
    "predicts. They are made of its own scores, which are what is explained, and by which files are listed.", True),
    "score": Scale("f", "f", "Scores on this page are values of f, the function that ranks the candidates of a row. "
    "Only differences matter: a label whose f is larger by 1 has 2.7 times the other’s share when the candidates "
    "divide the row."),
}  # fmt: skip
PARTS = ("contribution", "mean_abs", "mean")  # columns with contributions


class Scored:
    """A row and its model, whose decision counts: its labels have the same scores on all pages.

    They are what decides, or where the model has no other, what is explained. ``allowed`` is which labels may be
    predicted, None where that is as the model has it.
    """

    def __init__(self, model, x, allowed: np.ndarray | None = None):
        self.model, self.x, self.allowed = model, x, allowed

    @functools.cached_property
    def scale(self) -> str:
        kind = explain.kind_of(self.model)
        decides = rule_of(self.model) is not None or kind == "score" and cuts_another_number(self.model)
        return DECIDES if decides else kind

    @functools.cached_property
    def deciding(self) -> tuple[np.ndarray, np.ndarray]:
        """By label, the probability that decides, and the cut; nan where the score decides, and where nothing cuts."""
        return row_decided(self.model, self.x, self.allowed)

    @functools.cached_property
    def decided(self) -> dict[int, float]:
        """The labels that the model predicts, by its decision, with the probabilities or scores that decide."""
        found = decided_scores(self.model, self.x, allowed=self.allowed)
        return dict(zip(found.indices.tolist(), found.data.tolist()))

    def of(self, labels) -> np.ndarray:
        """Return the scores of labels; nan of one that is none of the candidates of a decision."""
        if self.scale == DECIDES:
            return self.deciding[0][labels]
        return explain.label_values(self.model, self.x, np.asarray(labels, np.int64), allowed=self.allowed)

    def text(self, label: int) -> str:
        return score(self.scale, float(self.of([label])[0]))

    def table(self, ranked: np.ndarray, name, true) -> pd.DataFrame:
        """Return the table of ranked labels for :func:`show_labels`; ``true`` are the true ones, None if unknown."""
        frame = pd.DataFrame(
            {
                "rank": np.arange(1, ranked.size + 1),
                "name": [name(label) for label in ranked],
                "decided": ["yes" if j in self.decided else "no" for j in ranked.tolist()],
                "cut": column(self.scale, self.deciding[1][ranked]),
                "score": column(self.scale, self.of(ranked)),
                "label": ranked,
            }
        )
        right = [predictions.RIGHT if int(j) in (true or ()) else predictions.WRONG for j in ranked]
        return frame if true is None else frame.assign(correct=right)


def named(frame: pd.DataFrame, data, kind: str | None = None) -> pd.DataFrame:
    """Return the frame with a ``name`` for each feature behind its id, unless it has names of its own."""
    found = frame.copy()
    if "name" not in frame.columns:
        found.insert(1, "name", [data.feature_name(int(j)) for j in frame["feature"]])
    if kind in SUMS:
        for column in set(PARTS) & set(frame.columns):
            found[column] = 100 * frame[column]
    return found


def score(kind: str, value: float) -> str:
    """Return a label’s score on the scale of the page with the name of the scale: ``P = 12.3 %``, ``f = +1.23``."""
    return f"{SCALES[kind].name}\u00a0=\u00a0{_written(kind, value)}"


def _written(kind, value) -> str:
    return format.signed(value) if kind == "score" else format.score(value, SCALES[kind].percent)


def total(kind: str, value: float) -> str:
    """Return the sum of contributions, written as :func:`score` writes a label’s score."""
    return f"{SCALES[kind].name}\u00a0=\u00a0{_of_sum(kind, value)}"


def column(kind: str, values) -> np.ndarray:
    return np.asarray(values, np.float64) * (100.0 if SCALES[kind].percent else 1.0)


def column_config(kind: str, values, title: str | None = None, width: int = 62):
    """Return the settings of a column of scores, given all that stand in it or beside it; see :func:`signs`."""
    form = None if kind == "score" else _form(kind, values)
    scale = SCALES[kind]
    return st.column_config.NumberColumn(title or scale.column, format=form, width=width, help=scale.about)


def _form(kind, values) -> str:
    return (tables.percent_format if SCALES[kind].percent else tables.score_format)(values)


def signs(kind: str, *columns: str) -> dict:
    """Return the formats of columns of scores that may be negative, for :func:`pages.shared.tables.show`."""
    return dict.fromkeys(columns, "{:+.2f}") if kind == "score" else {}


def show_labels(frame: pd.DataFrame, kind: str, key: str, explained: int | None) -> None:
    """Show labels that are ranked: ``rank, name, score, label`` and, if known, ``correct``, ``decided`` and ``cut``."""
    told, about = tables.without_repeated(frame, "label", "name", "label"), "Whether the model predicts the label."
    form = _form(kind, told[["score", "cut"] if "cut" in told else ["score"]])
    if "cut" in told and told["cut"].nunique(dropna=False) == 1:
        threshold = told.pop("cut").iloc[0]
        about += "" if np.isnan(threshold) else f" It does from {form % threshold}."
    bar = tables.bar(SCALES[kind].column, 96, SCALES[kind].about, form, 100 if SCALES[kind].percent else 1)
    names = [f"→ {name}" if label == explained else name for name, label in zip(frame["name"], frame["label"])]
    columns = {  # a phone shows all to the score, whatever it shows after it
        "rank": tables.number("Rank", 50, "%d"),
        "name": tables.text("Label"),
        "score": column_config(kind, frame["score"]) if kind == "score" else bar,
        "correct": tables.text("Right?", 66),
        "decided": tables.text("Predicted", 72, about),
        "cut": tables.number("Threshold", 80, form, "The score from which the model predicts the label."),
        "label": tables.number("Id", 52, "%d"),
    }
    tables.show(told.assign(name=names), key, columns, signs=signs(kind, "score"))
    if kind == "share" and not frame.sort_values("rank")["score"].is_monotonic_decreasing:
        st.caption("LdSM ranks by its own score, not by P: rows with many labels count less in it.")


def show_ranked(scored: Scored, ranked: np.ndarray, names, true, k: int, key: str, explained) -> None:
    """Show the labels that are ranked for a row, and say which of the true ones, None if unknown, are missing."""
    if not ranked.size:
        st.caption("The model ranks no label for this row.")
    else:
        show_labels(scored.table(ranked, names.label_name, true), scored.scale, key, explained)
    missing = sorted(set(true or ()) - set(ranked.tolist()))
    predictions.say_missed([names.label_name(label) for label in missing], len(true or ()), k)


@cached.shared()
def far_off(key: str, kind: str) -> float:
    """Return the mean error of a run's probabilities on test rows; 0 if it is small or not significant."""
    run = cached.run(key)
    data, ranking = cached.dataset(run.fingerprint), run.ranking
    Y = data.Y_test
    if kind == "share":  # LdSM ranks by other scores
        labels = ranking.labels[:ROWS]
        shares = sp.csr_array(cached.model(key).predict_proba(data.X_test[:ROWS]))
        scores = shares[np.arange(len(labels))[:, None], np.maximum(labels, 0)].toarray()
        Y, ranking = Y[:ROWS], ranking._replace(labels=labels, scores=scores)
    bins = metrics.reliability(Y, ranking)
    beyond = np.maximum(bins["observed_low"] - bins["predicted"], bins["predicted"] - bins["observed_high"])
    significant = float((beyond.clip(lower=0) * bins["n"]).sum() / max(bins["n"].sum(), 1))
    return metrics.calibration_error(bins).expected if significant > FAR_OFF else 0.0


def say_far_off(key: str, kind: str) -> None:
    """Say how far the probabilities of a run are off, where that is much."""
    if SCALES[kind].percent and (error := far_off(key, kind)):
        more = "" if kind == "share" else ": *Calibration* on the Train page"
        st.caption(f"On test rows, P is {100 * error:.0f}\u00a0points off on average{more}.")


def label_options(names, ranked, true) -> dict[int, str]:
    """Return the labels that can be explained with texts: those predicted, then the true ones that are not."""
    ranked = [int(label) for label in ranked]
    options = {label: names.label_name(label) for label in [*ranked, *sorted((true or set()) - set(ranked))]}
    cut = figures.cut_apart(options.values(), OPTION_LETTERS)
    for place, label in enumerate(ranked, 1):
        right = "" if true is None else ", right" if label in true else ", wrong"
        options[label] = f"{cut[options[label]]} – {format.ordinal(place)}{right}"
    return options | {label: f"{cut[name]} – missed" for label, name in options.items() if label not in ranked}


def agreement_cards(spearman: float, overlap: float, top: int, of: str) -> list:
    order = f"Spearman’s rank correlation of contributions {of}; 1 is the same order, 0 is no relation."
    same = f"The {top} features that contribute most {of}: the number of those in both, divided by those in either."
    correlation = ("Rank correlation of features", format.number(spearman), order)
    cards = [correlation, (f"Jaccard index of top {top}", format.number(overlap), same)]
    return cards[: 1 + math.isfinite(overlap)]  # it is not known where all features are among the first ones


def show_contributions(frame, attrs: dict, name: str, file: str) -> None:
    title = f"Contributions to {in_title(name)}"
    figure = figures.contribution_bars(frame, BARS, unit=SCALES[attrs["kind"]].unit, title=title, start=start(attrs))
    part = SCALES[attrs["kind"]].part
    others = " The last bars are the sums of all others; two features of each sign always have bars." * bool(
        figure.layout.meta["others"]
    )
    charts.show_figure(
        figure,
        frame,
        f"{file}-contributions",
        f"The part that each {part} adds to the score of {format.bold(name)}. {adds_up(attrs)}{others} The number "
        f"beside a name is the {part}’s value; equal parts stand in the order of the {part}s.",
        counted=f"{part}s",
    )


def in_title(name: str) -> str:
    """Return a label’s name for the end of the title of a figure: in lines of its own where it is long."""
    lines = [name] if len(name) <= TITLE_LETTERS else ["", *textwrap.wrap(name, LINE_LETTERS, max_lines=3)]
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def share(value: float) -> str:
    return f"{100 * value:.0f}\u00a0%" if math.isfinite(value) else "–"


def start(attrs: dict) -> tuple[str, float]:
    return "without features", (100 if attrs["kind"] in SUMS else 1) * attrs["baseline"]


def adds_up(attrs: dict) -> str:
    """Return a sentence on how bars add up to the score; ``attrs`` are those of contributions."""
    kind, baseline = attrs["kind"], attrs["baseline"]
    if kind in explain.NOT_OF_FEATURES:
        return f"The bars add up to {total(kind, attrs['total'])} of the row and this label."
    before = total(kind, max(baseline, 0.0) if kind == "share" else baseline)
    after = total(kind, attrs["total"])
    return f"In {SCALES[kind].unit}, the bars add up from {before} of a row without features to {after}.{divided(kind)}"


def divided(kind: str) -> str:
    """Return a sentence on how bars differ from removing a feature, after a space; empty where they do not."""
    if kind in ("log_proba", "log_score"):
        return (
            " They divide the difference from a row without features: without some of them, the score may change by "
            "more or less. See *What if*."
        )
    if kind != "share":
        return ""
    return (
        " They divide what the steps down the trees change among the features that favour these steps. A row without "
        "one of them may go another way, and P change by more or less: see *What if*."
    )


def totals(before: dict, after: dict) -> str:
    kind = before["kind"]
    before_text, other = (_of_sum(kind, attrs["total"]) for attrs in (before, after))
    return f"{'f' if kind == 'score' else f'The label’s {SCALES[kind].name}'} goes from {before_text} to {other}."


def range_of_totals(attrs: dict, scores) -> str:
    """Return a clause on the values between which a score lies over noisy copies, and what it is without noise."""
    kind, low, high = attrs["kind"], float(scores.min()), float(scores.max())
    noun = "f" if kind == "score" else f"the label’s {SCALES[kind].name}"
    low, high, without = (_of_sum(kind, score) for score in (low, high, attrs["total"]))
    return f"{noun} lies between {low} and {high}; without noise it is {without}"


def _of_sum(kind, score) -> str:
    return _written(kind, score if kind == "score" else explain.probability(kind, score))


def round_size(value: float) -> float:
    """Return a size rounded to one significant digit, the first value of a field; 0.05 if the size is not positive."""
    return float(f"{value:.1g}") if value > 0 and math.isfinite(value) else 0.05


def marks_words(text: str | None, kind: str) -> bool:
    """Return whether words of a text can be marked: some models give a single word no contribution."""
    return text is not None and kind not in explain.NOT_OF_FEATURES


def show_text(text: str, vectorizer, frame, name: str, kind: str) -> None:
    """Show a text with the words marked that speak for and against a label; ``frame`` has their contributions."""
    given = dict(zip(frame["feature"].tolist(), frame["contribution"].tolist()))
    try:
        spans = vectorizer.spans(text)
    except ValueError as error:  # the data set has a pattern of words that takes too long
        st.error(f"The words of the text cannot be found: {format.plain(str(error))}")
        return
    st.html(row_text.page(text, spans, given, name, SCALES[kind].unit))
    words = row_text.words(text, spans, given)
    with st.expander(f"The {format.count(len(words), 'known word')} as a table"):
        columns = {"word": tables.text("Word"), "times": tables.number("Times")}
        columns |= {"contribution": tables.number("Contribution", help=f"To {SCALES[kind].unit}")}
        tables.show(words, "words Text", columns, signs={"contribution": format.signed})
