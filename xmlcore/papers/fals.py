"""Claims of the paper on FALS, and what repeats them."""

from xmlcore.papers.claim import Repeat, read_paper


def _compared(*selections, shares=(0.1,)) -> Repeat:
    """Return the comparison of selections, each a method and its settings, beside all features."""
    return Repeat("compare_selections", params={"selections": [None, *map(list, selections)], "shares": shares})


FALS = ("FALS", {})
SELECTED = Repeat("select", params={"method": "FALS", "params": {}})
RIVALS = _compared(FALS, ("RandomForest", {}), ("Lasso", {}), ("LIFT", {}))
PATTERNS = _compared(*(("FALS", {"pattern": name}) for name in ("FALS", "FILS", "FAMS", "FIMS")))
VARIANTS = _compared(
    FALS,
    *(("FALS", {"n_epochs": n}) for n in (20, 50, 100)),
    ("FALS", {"l2": 0.0001}),
    ("FALS", {"dropout": 0.5}),
    ("FALS", {"binary": True}),
    *(("FALS", {"attribution": name}) for name in ("integrated_gradients", "deeplift", "lrp")),
)
SHARES = _compared(FALS, shares=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7))
NETWORKS = _compared(
    *(("FALS", {"n_layers": n}) for n in (1, 2, 3, 4, 5)),  # one layer has no hidden units, so no activation
    *(("FALS", {"n_layers": n, "activation": "sigmoid"}) for n in (2, 3, 4, 5)),
    *(("FALS", {"n_hidden": size}) for size in ("D", "C")),  # numbers of the data set, see Repeat.on
)
DATA = Repeat("description")
PAPER, CLAIMS = read_paper("fals", globals())
