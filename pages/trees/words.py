"""Facts of a model and texts that several parts of the Trees page use."""

import math

from xmlcore import wording

MODEL = "LdSM"  # the model whose trees are trained from this page
SHOWN = (MODEL, "PLT")  # models whose trees this page shows
BALANCE = "Balance is of label occurrences: a row counts as often as it has labels."

# Names beside nodes and numbers beside bars have the page's own ink, as the texts of axes have on every page, but for
# the white and black names on the bars of label trees.
STYLE = """<style>
.js-plotly-plot :is(.textpoint text, .bartext, .annotation-text, .colorbar text):not([style*="255, 255, 255"]):not(
  [style*="(0, 0, 0)"]) {
  fill: currentColor !important; fill-opacity: 0.75;
}
</style>"""


def weights(model) -> tuple[float, float]:
    """Return λ1 and λ2, the weights of class integrity and of the multi-way penalty in the objective J."""
    return float(model.integrity_weight), float(model.multiway_weight)


def arity(model) -> int:
    return model.trees_[0].children.shape[1]


def log_labels(data, model) -> float:
    return math.log(max(data.n_labels, 2)) / math.log(arity(model))


def best_objective(model) -> float | None:
    """Return the least J, of a balanced split with each label in one child; None if others can be smaller."""
    # That is Lemma 2 of the paper. With a small λ2 and many children, splits that send rows several ways have smaller
    # J.
    (integrity, multiway), children = weights(model), arity(model)
    return -integrity * (children - 1) if multiway > integrity * (children - 3) else None


def percent(share: float) -> str:
    """Return a share as figures of trees have it, with a no-break space before the sign."""
    return wording.rounded(share).replace(" ", "\u00a0")


def top_labels(frame) -> list[str]:
    return [
        ", ".join(f"{r[f'name_{i}']} {percent(r[f'share_{i}'])}" for i in (1, 2, 3) if r[f"label_{i}"] >= 0)
        for r in frame.to_dict("records")
    ]
