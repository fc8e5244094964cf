"""The models and feature selectors that can be run, with what a user should know of each."""

from dataclasses import dataclass, replace
from importlib import import_module

from xmlcore.models.double_sampling import DoubleSampling
from xmlcore.models.ldsm import LdSM
from xmlcore.models.one_vs_rest import OneVsRest
from xmlcore.models.plt import PLT
from xmlcore.parameters import Parameter, in_form
from xmlcore.robustness import AdversarialTraining
from xmlcore.selection.fals import FALS
from xmlcore.selection.rivals import (
    ChiSquaredSelection,
    LassoSelection,
    MutualInformationSelection,
    RandomForestSelection,
)


@dataclass(frozen=True)
class ModelInfo:
    """A model that can be run: where its class is, and what a user should know.

    Attributes
    ----------
    location : str
        ``"module:Class"``; :attr:`cls` imports it.
    title, summary, paper : str
    parameters : tuple of Parameter
    """

    location: str
    title: str
    summary: str
    paper: str
    parameters: tuple[Parameter, ...]

    def filled(self, name: str, params: dict | None) -> dict:
        """Parameters with the defaults of those that are not given.

        Raises
        ------
        ValueError
            One that is not there; ``name`` is what to call this in it.
        """
        defaults = {p.name: p.default for p in self.parameters}
        unknown = set(params or {}) - set(defaults)
        if unknown:
            raise ValueError(f"{name} has no parameter {', '.join(sorted(unknown))}: it has {', '.join(defaults)}")
        return {**defaults, **(params or {})}

    @property
    def cls(self) -> type:
        """The estimator."""
        module, name = self.location.split(":")
        return getattr(import_module(module), name)


def _noise() -> tuple[Parameter, ...]:
    """Return the parameters of training with noise under the names and bounds of a form."""
    table = {p.name: replace(p, in_form=True, advanced=True) for p in AdversarialTraining.PARAMETERS}
    sigma = table["sigma"]
    return (
        replace(
            sigma,
            name="noise_sigma",
            help=f"{sigma.help} 0 trains on the rows as they are.",
            default=0.0,
            above=False,
            maximum=1e6,
        ),
        replace(table["augment_ratio"], name="noise_ratio", minimum=0.01, maximum=100.0, above=False),
        table["noise_support"],
    )


# Training on noisy copies of rows beside the clean rows, which every model can.
NOISE = _noise()

MODELS = {
    "PLT": ModelInfo(
        location="xmlcore.models.plt:PLT",
        title="Probabilistic label tree",
        summary=(
            "The labels are the leaves of a tree with a linear classifier at every node; the probability of a label "
            "is the product along its path. Quick to train and to search, exact top-k."
        ),
        paper="Jasinska et al., ICML 2016; Prabhu et al., WWW 2018",
        parameters=(*in_form(PLT.PARAMETERS), *NOISE),
    ),
    "LdSM": ModelInfo(
        location="xmlcore.models.ldsm:LdSM",
        title="Log-depth streaming multi-label trees",
        summary=(
            "Decision trees over rows: every node learns on the fly where to send them, by an objective J that wants "
            "children of equal weight and labels that stay together. A leaf predicts what its training rows had. The "
            "Trees page shows the trees and J."
        ),
        paper="Majzoubi and Choromanska, AISTATS 2020",
        parameters=(*in_form(LdSM.PARAMETERS), *NOISE),
    ),
    "OneVsRest": ModelInfo(
        location="xmlcore.models.one_vs_rest:OneVsRest",
        title="One classifier per label",
        summary=(
            "A linear classifier for every label, each trained on all rows: the baseline where labels are few. "
            "Training time grows with rows times labels, so thousands of labels take minutes to hours."
        ),
        paper="Fan et al., JMLR 2008 (liblinear); Babbar and Schölkopf, WSDM 2017",
        parameters=(*in_form(OneVsRest.PARAMETERS), *NOISE),
    ),
    "DoubleSampling": ModelInfo(
        location="xmlcore.models.double_sampling:DoubleSampling",
        title="Double sampling for many classes",
        summary=(
            "Turns many classes into one binary problem over pairs of a row and a class, described by ten features; a "
            "prediction ranks the classes of nearest centroid. For rows of one class each, and values that count "
            "something. Learns ten weights, whatever the number of classes."
        ),
        paper="Joshi et al., NIPS 2017",
        parameters=(*in_form(DoubleSampling.PARAMETERS), *NOISE),
    ),
}

# --- selections of features ---

# The classes of xmlcore.selection, as MODELS: their n_features may also be a whole number, a count.
SELECTORS = {
    "FALS": ModelInfo(
        location="xmlcore.selection.fals:FALS",
        title="Label-specific selection by attribution",
        summary=(
            "Trains one small network for all labels, and keeps for each label the features to which the label's "
            "output is most sensitive, on average over the training rows."
        ),
        paper="FALS: Feature attribution for label-specific feature selection in multi-label learning",
        parameters=in_form(FALS.PARAMETERS),
    ),
    "ChiSquared": ModelInfo(
        location="xmlcore.selection.rivals:ChiSquaredSelection",
        title="Chi-squared",
        summary=(
            "Keeps the features whose sums over rows with the label and over rows without differ most from what chance "
            "would give. One sparse product for all labels; values must not be negative."
        ),
        paper="As scikit-learn's chi2",
        parameters=in_form(ChiSquaredSelection.PARAMETERS),
    ),
    "MutualInformation": ModelInfo(
        location="xmlcore.selection.rivals:MutualInformationSelection",
        title="Mutual information",
        summary=(
            "Keeps the features that say most about the label by being above or below their median. One sparse product "
            "for all labels."
        ),
        paper="As scikit-learn's mutual_info_classif for features of two values",
        parameters=in_form(MutualInformationSelection.PARAMETERS),
    ),
    "Lasso": ModelInfo(
        location="xmlcore.selection.rivals:LassoSelection",
        title="LASSO",
        summary="Keeps the features of largest weight in a linear least-squares model with L1 penalty for each label.",
        paper="Tibshirani, JRSS B 1996",
        parameters=in_form(LassoSelection.PARAMETERS),
    ),
    "RandomForest": ModelInfo(
        location="xmlcore.selection.rivals:RandomForestSelection",
        title="Random forest",
        summary=(
            "Keeps the features that lower impurity most in the trees of a random forest, one for each label: the "
            "paper's rival, and by far the slowest."
        ),
        paper="Breiman, Machine Learning 2001",
        parameters=in_form(RandomForestSelection.PARAMETERS),
    ),
}
