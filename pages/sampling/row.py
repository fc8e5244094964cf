"""Why a test row gets its label: its candidates, their features, and what each adds to f."""

import numpy as np
import streamlit as st

from pages.shared import format, selectors, tables
from pages.shared.figures import charts
from pages.shared.rows import row_text
from xmlcore import figures
from xmlcore.explain.candidates import CandidateRanking
from xmlcore.models.double_sampling import MEANINGS

DRAWN = 12  # most candidates of a row in the figure
DRAWN_MISSED = 4  # most true classes that are no candidates in the figure
LISTED = 100  # most lines of the table


def row(view) -> None:
    data, model = view.data, view.model
    answer = st.empty()
    with st.columns([3, 2])[0]:
        i = selectors.choose_test_row(data, view.run, "sampling.row")
    ranking = CandidateRanking(model, data, i)
    left, right = st.columns([2, 3], gap="large")
    with left:
        row_text.show(data, "test", i)
        _features(data, ranking, i)
    answer.markdown(sentence(data, ranking, i))
    with right:
        _contributions(view, ranking, i)
    _table(view, ranking, i)


def sentence(data, ranking, i) -> str:
    """Say which candidate has the largest f, and how many true labels could not win."""
    names, n_missed = tables.part(data, "test")[2], ranking.missed.size
    name = f"test row {i:,}" + (f" ({names[i]})" if names is not None else "")
    text = (
        f"Of {format.count(ranking.q, 'candidate')} for {format.plain(name)}, {format.bold(ranking.names[0])} "
        f"has the largest f: {'a' if ranking.right[0] else 'not a'} true label."
    )
    missed = f"{n_missed} of {format.count(ranking.true.size, 'true label')}"
    return f"{text} Missing among the candidates: **{missed}**." if n_missed else text


def _features(data, ranking, i):
    if ranking.true.size:
        names = [
            format.plain(data.label_name(int(j))) + (" (no candidate)" if j in ranking.missed else "")
            for j in ranking.true
        ]
        st.markdown(f"**True {'label' if len(names) == 1 else 'labels'}:** " + ", ".join(names))
    none = ", so nothing in it tells labels apart"
    tables.show_features(tables.features(data, data.X_test, i), "sampling.row.features", 360, none)


def _contributions(view, ranking, i):
    drawn = ranking.tidy(DRAWN, DRAWN_MISSED)
    charts.show_figure(
        figures.candidate_features(drawn),
        lambda: ranking.tidy(),
        f"{view.files}-row{i}-contributions",
        "Weight × feature, relative to the mean of the candidates: blue raises f, orange lowers it, the largest sum "
        f"wins. ✓ is a true label, * one that is no candidate. {min(DRAWN, ranking.q)} of {ranking.q} are drawn.",
        key="sampling.contributions",
    )


def _table(view, ranking, i):
    whole = ranking.wide()
    shown = whole.head(LISTED)
    right = np.where(shown["true"], "✓ true", "")
    table = shown.assign(true=np.where(shown["rank"].isna(), "✓ no candidate", right))
    by = "the label tree’s probability." if view.by_tree else "distance to the label’s centroid."
    tables.show(
        table,
        "sampling.row.candidates",
        {
            "rank": tables.number("Rank", 50, "%d", pinned=True),
            "name": tables.text("Candidate", pinned=True),
            "true": tables.text("True?"),
            "f": tables.number("f", 70, "%.3f", "Only differences between values of f matter."),
            "share": tables.number("Score", 65, "%.3f", "exp f, divided by the sum of exp f over all candidates."),
            "nearness": tables.number(
                "By tree" if view.by_tree else "Nearest",
                70,
                "%d",
                f"Place among the candidates before f ranks them: by {by}",
            ),
            **{
                name: tables.number(name, 80, tables.value_format(table[name]), MEANINGS.get(name))
                for name in ranking.feature_names
            },
            "label": tables.number("Id", 70, "%d"),
        },
        first=("rank", "name", "true", "f", "share", "nearness"),
        most=560,
    )
    after = "candidates by f first, with the values of their features, which f weights."
    tables.counted(len(shown), len(whole), "line", after)
    charts.csv_button(
        "Candidates of the row, CSV",
        whole,
        f"{view.files}-row{i}-candidates",
        "Every candidate, and true labels that are no candidates, with f and all features",
    )
