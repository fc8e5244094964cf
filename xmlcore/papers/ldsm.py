"""Claims of the paper on LdSM, and what repeats them."""

from xmlcore.papers.claim import Repeat, read_paper

LDSM = (("LdSM", "LdSM", "paper", {}),)
_PRESETS = {
    **dict.fromkeys(("bibtex", "mediamill"), "paper-bibtex"),
    "delicious": "paper-delicious",
    "wiki10-31k": "paper-wiki10",
}
TRAINED = Repeat("train", LDSM, presets=_PRESETS)
BESIDE_PARABEL = Repeat("train", (*LDSM, ("Parabel", "PLT", "parabel", {})), presets=_PRESETS)
FASTER = Repeat("train", (*LDSM, ("with 5 epochs", "LdSM", "paper", {"n_epochs": 5})), presets=_PRESETS)
RERANKED = Repeat("train", (*LDSM, ("re-ranked", "LdSM", "paper", {"rerank_beta": 0.8})), presets=_PRESETS)
PARTS = Repeat("prefixes", LDSM, presets=_PRESETS)
DATA = Repeat("description")
PAPER, CLAIMS = read_paper("ldsm", globals())
