"""How the decision trees of LdSM have grown: depth, the objective J, and what fewer or smaller trees reach."""

import streamlit as st

from pages.shared import cached, fields, format, fragments, tasks
from pages.shared.figures import charts
from pages.shared.results import results
from xmlcore import experiment, figures
from xmlcore.models.ldsm import frames

TEXTS = {
    "n_trees": ("Fewer trees", "The first trees of the ensemble alone; the last point is the whole model."),
    "max_nodes": ("Smaller trees", "All trees, cut to their first nodes; the last point is the whole model."),
}
LEMMAS = {  # measure of splits -> its name, and what it is
    "beta": ("Imbalance β", "The largest difference of a child’s share from the mean share: 0 is balanced."),
    "alpha": ("Impurity α", "How much of the labels is in more than one child: 0 is pure."),
}


def depth(view) -> None:
    t, trees = view.t, view.model.trees_
    first_column, second_column = st.columns(2, gap="large", vertical_alignment="bottom")
    every = True
    if view.several:
        # "The selected tree" without its number: to Streamlit, a radio with other options would be a new widget.
        choices = {"all": f"All {len(trees):,} trees", "one": "The selected tree"}
        every = fields.radio("Trees", choices, "trees.scope", "all", place=first_column) == "all"
    chosen, whose = (trees, f"all {len(trees)} trees") if every and view.several else ([trees[t]], f"tree {t + 1}")
    parts = {part: part[:1].upper() + part[1:] for part in (frames.OBJECTIVE, *frames.PARTS)}
    part = fields.radio("J or a part of it", parts, "trees.part", place=second_column)
    left, right = st.columns(2, gap="large")
    with left:
        depths, arity = frames.depth_frame(chosen), trees[0].children.shape[1]
        charts.show_figure(
            figures.leaf_depths(depths, view.data.n_labels, arity, f"Depth of the leaves, {whose}"),
            depths,
            f"{view.files}-depth-{'all' if every else 'one'}",
            "Dotted: the depth of a balanced tree with a leaf for each label, and 3 times that, as in the paper.",
        )
    with right:
        objective(view, chosen, part, whose, f"{view.files}-objective-{'all' if every else 'one'}")
    _training(view, chosen, part, whose)
    _lemmas(view, t if len(chosen) == 1 else None, whose)


def _training(view, trees, part: str, whose: str) -> None:
    frame = frames.training_by_depth(trees, view.weights)
    if len(frame):
        charts.show_figure(
            figures.objective_at_depths(frame, part, f"{part[:1].upper()}{part[1:]} in training, {whose}"),
            frame,
            f"{view.files}-training",
            "Estimates after each epoch: mean over the nodes of a depth, in a band from the least to the greatest.",
            counted="depths",
        )


@cached.shared()
def splits(key: str, t: int | None, weights: tuple[float, float]):
    """Return α and β of the splits of a tree, or of all trees, beside their bounds."""
    trees = cached.model(key).trees_
    return frames.lemmas_frame(trees if t is None else [trees[t]], weights)


def _lemmas(view, t: int | None, whose: str) -> None:
    """Draw the imbalance β and the impurity α of splits beside the bounds of lemmas 3 and 4."""
    frame = splits(view.key, t, view.weights)
    places = st.columns(2, gap="large") if len(frame) else ()
    for place, (measure, (name, about)) in zip(places, LEMMAS.items()):
        mine = frame[frame["measure"] == measure]
        figure, bounded = figures.lemma_bounds(mine, measure, f"{name}, {whose}"), int(mine["bound"].notna().sum())
        said = f"{figure.layout.meta['above']:,} of {format.count(bounded, 'split')} exceed the bound of the paper."
        with place:
            charts.show_figure(
                figure,
                mine,
                f"{view.files}-{measure}",
                f"{about} {said if bounded else 'With these λ1 and λ2 the paper has no bound.'}",
                counted="splits",
            )


def objective(view, trees, part: str, whose: str, file: str) -> None:
    frame = frames.objective_by_depth(trees, view.weights)
    if frame.empty:
        st.caption("There is no split, so there is no J.")
        return
    charts.show_figure(
        figures.objective_by_depth(frame, part, f"{part[:1].upper()}{part[1:]} of the splits, {whose}"),
        frame,
        file,
        "The mean over the splits at each depth, in a band from least to greatest, with sign and weight in J.",
    )


def parts_of_model(view) -> None:
    tasks.shown(
        experiment.task("prefixes", {"run": view.key}),
        lambda found: fragments.alone(_curves)(found.measures, view),
        button="Measure parts of the model",
        key="trees.measure",
    )


def _curves(frame, view) -> None:
    offered = [m for m in ("P@k", "nDCG@k", "PSP@k") if (frame["measure"] == m).any()]
    settings = {"widget": "pills", "selection_mode": "multi"}
    chosen = fields.several("Measures", offered, "trees.measures", offered[:2], **settings) or offered[:1]
    measures, ks = [m for m in offered if m in chosen], results.ks(view.model.n_labels_)
    for place, (axis, (title, text)) in zip(st.columns(2, gap="large"), TEXTS.items()):
        with place:
            figure, file = figures.measures_of_prefixes(frame, axis, measures, ks, title), title.lower()
            drawn = frame[frame["axis"] == axis]
            charts.show_figure(figure, drawn, f"{view.files}-{file.replace(' ', '-')}", text)
