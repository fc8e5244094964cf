"""The four papers: their tables, figures and statements, what was published, and what was found here.

>>> from xmlcore import papers
>>> [claim.title for claim in papers.CLAIMS if claim.verdict == papers.FAILS]                        # doctest: +SKIP

docs/papers.md and the page Papers of the dashboard are made from :data:`CLAIMS`.
"""

from xmlcore.first_use import pd
from xmlcore.papers import double_sampling, extended_plt, fals, ldsm
from xmlcore.papers.claim import FAILS, HOLDS, LOST, OTHER, VERDICTS, Claim, Paper, Repeat
from xmlcore.typing import DataFrame, Dataset

PAPERS = {module.__name__.rpartition(".")[2]: module.PAPER for module in (extended_plt, ldsm, fals, double_sampling)}
CLAIMS: tuple[Claim, ...] = (*extended_plt.CLAIMS, *ldsm.CLAIMS, *fals.CLAIMS, *double_sampling.CLAIMS)
# Claims whose tables have rankings measured on the test rows of published data sets, and the method of their rows.
_RANKINGS = ("ldsm-precision", "ldsm-propensity", "extended-plt-eurlex", "extended-plt-mediamill")

__all__ = ["CLAIMS", "FAILS", "HOLDS", "LOST", "OTHER", "PAPERS", "VERDICTS", "Claim", "Paper", "Repeat", "published"]


def published(dataset: Dataset) -> DataFrame:
    """Return what the papers print for the test rows of a data set that has the published sizes and split.

    A row per method has ``method``, ``source`` and measures such as "P@1", in percent; of other data there are none.

    Parameters
    ----------
    dataset : Dataset
    """
    entry, lines = dataset.published, {}
    if entry is None or entry.n_test != dataset.n_test:
        return pd.DataFrame()
    for claim in (claim for claim in CLAIMS if claim.table in _RANKINGS):
        source, values = f"{PAPERS[claim.paper].title}, {claim.where[-1]}", claim.values()
        of = values[values["dataset"] == entry.name]
        if "σ" not in of:
            for line in of.drop(columns="dataset").to_dict("records"):
                known = lines.setdefault((claim.paper, line["method"]), {})
                known |= line | {"source": f"{known['source']}, {claim.where[-1]}" if known else source}
            continue
        for name, clean in of[of["σ"] == 0].groupby("trained on", sort=False):
            line = {"method": f"PLT, trained on {name}", "source": source.replace(claim.where[-1], claim.where[0])}
            for k, *measured in clean[["k", "P@k", "nDCG@k"]].itertuples(index=False):
                line |= {f"{measure}@{k:.0f}": 100 * value for measure, value in zip(("P", "nDCG"), measured)}
            lines[claim.paper, line["method"]] = line
    return pd.DataFrame(list(lines.values()))
