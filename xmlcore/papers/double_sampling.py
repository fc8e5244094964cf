"""Claims of the paper on double sampling, and what repeats them."""

from xmlcore.papers.claim import Repeat, read_paper

SAMPLED = (("double sampling", "DoubleSampling", "paper", {}),)
TRAINED = Repeat("train", SAMPLED)
BESIDE = Repeat("train", (*SAMPLED, ("one-vs-rest", "OneVsRest", "", {}), ("label tree", "PLT", "", {})))
BALANCE = Repeat("train", (*SAMPLED, ("not balanced", "DoubleSampling", "paper", {"balanced": False})))
SWEEP = Repeat("sampling", SAMPLED, {"n_adversarial": (5, 10, 27, 36, 122), "examples_per_class": (1.0, 2.0)})
CANDIDATES = Repeat("sampling", SAMPLED, {"n_candidates": (1, 2, 5, 10, 20, 50)})
DATA = Repeat("description")
PAPER, CLAIMS = read_paper("double_sampling", globals())
