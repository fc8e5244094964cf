"""Claims of the paper on ExtendedPLT, and what repeats them."""

from xmlcore.papers.claim import Repeat, read_paper

CLEAN, NOISY = "trained on clean rows", "trained on noisy copies, too"
TREES = (
    (CLEAN, "PLT", "napkinxc", {}),
    (NOISY, "PLT", "napkinxc", {"noise_sigma": 0.05, "noise_support": "all"}),
)
NOISE = Repeat(
    "robustness",
    TREES,
    {"kind": "gaussian", "levels": (0.01, 0.05, 0.1), "options": {"support": "all"}, "n_repeats": 3},
)
TIMES = Repeat("robustness", TREES, NOISE.params | {"time_each_k": True})
TRAINED = Repeat("train", TREES)
DATA = Repeat("description")
PAPER, CLAIMS = read_paper("extended_plt", globals())
