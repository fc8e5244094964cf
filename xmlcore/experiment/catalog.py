"""The models and feature selectors that can be run, with their descriptions for users."""

from dataclasses import dataclass, replace
from importlib import import_module

from xmlcore.models.double_sampling import DoubleSampling
from xmlcore.models.ldsm import LdSM
from xmlcore.models.one_vs_rest import OneVsRest
from xmlcore.models.plt import PLT
from xmlcore.parameters import Parameter, Preset, filled, in_form
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
    """A model or feature selector that can be run: the place of its class, and its description for users.

    Attributes
    ----------
    location : str
        ``"module:Class"``; :attr:`cls` imports it.
    title, summary, paper : str
        Name, description and reference for users.
    parameters : tuple of Parameter
    """

    location: str
    title: str
    summary: str
    paper: str
    parameters: tuple[Parameter, ...]

    def filled(self, name: str, params: dict | None) -> dict:
        """Return parameters with the defaults filled in, checked, in the spelling that is kept.

        A value is accepted if the estimator accepts it, also when the form does not offer it.
        """
        return filled(self.accepted, params or {}, name)

    @property
    def accepted(self) -> tuple[Parameter, ...]:
        """The parameters as the estimator accepts them, which may be more than a form offers."""
        accepted = {p.name: p for p in (*NOISE_ACCEPTED, *self.cls.PARAMETERS)}
        return tuple(accepted.get(p.name, p) for p in self.parameters)

    @property
    def defaults(self) -> dict:
        """The defaults by name."""
        return {p.name: p.default for p in self.parameters}

    @property
    def presets(self) -> dict[str, Preset]:
        """Published settings by name; empty if the estimator has none."""
        return self.cls.PRESETS

    @property
    def cls(self) -> type:
        """The estimator."""
        module, name = self.location.split(":")
        return getattr(import_module(module), name)


def _noise() -> tuple[Parameter, ...]:
    """Return the parameters of training with noise, renamed for models: ``sigma`` becomes ``noise_sigma``."""
    table = {p.name: replace(p, in_form=True, advanced=True) for p in AdversarialTraining.PARAMETERS}
    sigma = table["sigma"]
    return (
        replace(
            sigma,
            name="noise_sigma",
            help=f"{sigma.help} 0 trains on the rows as they are.",
            default=0.0,
            above=False,
            offered=(0.0, 1e6),
        ),
        replace(table["augment_ratio"], name="noise_ratio", offered=(0.01, 100.0)),
        table["noise_support"],
    )


# Training on noisy copies of rows beside the clean rows, which every model can: what is accepted, and what forms offer.
NOISE_ACCEPTED = _noise()
NOISE = in_form(NOISE_ACCEPTED)

MODELS = {
    "PLT": ModelInfo(
        location="xmlcore.models.plt:PLT",
        title="Probabilistic label tree",
        summary=(
            "The labels are the leaves of a tree with a linear classifier at every node. The probability of a "
            "label is the product of the probabilities on the path from the root to the label. Training and "
            "prediction are fast, and the search is sure to find the k most probable labels."
        ),
        paper="Jasinska et al., ICML 2016; Prabhu et al., WWW 2018",
        parameters=(*in_form(PLT.PARAMETERS), *NOISE),
    ),
    "LdSM": ModelInfo(
        location="xmlcore.models.ldsm:LdSM",
        title="Streaming decision trees",
        summary=(
            "Decision trees that divide the rows. During training, every node learns to which children rows "
            "go, by an objective J that favours children of equal weight and keeps the rows of a label "
            "together. A leaf predicts the labels of its training rows. The Trees page shows the trees and J."
        ),
        paper="Majzoubi and Choromanska, AISTATS 2020",
        parameters=(*in_form(LdSM.PARAMETERS), *NOISE),
    ),
    "OneVsRest": ModelInfo(
        location="xmlcore.models.one_vs_rest:OneVsRest",
        title="One classifier per label",
        summary=(
            "A linear classifier for every label, each trained on all rows: the baseline for data with few "
            "labels. Training time grows with rows times labels, so thousands of labels take minutes to hours."
        ),
        paper="Fan et al., JMLR 2008 (liblinear); Babbar and Schölkopf, WSDM 2017",
        parameters=(*in_form(OneVsRest.PARAMETERS), *NOISE),
    ),
    "DoubleSampling": ModelInfo(
        location="xmlcore.models.double_sampling:DoubleSampling",
        title="Ranking by sampling",
        summary=(
            "Turns a problem with many labels into one binary problem over pairs of a row and a label, each "
            "described by some ten features. A prediction ranks the labels with the nearest centroids. It "
            "is made for rows with one label; a row with several counts as one example of each. Values must not be "
            "negative: counts of words, tf-idf weights or other amounts. It learns one weight for each feature of "
            "pairs, whatever the number of labels."
        ),
        paper="Joshi et al., NIPS 2017",
        parameters=(*in_form(DoubleSampling.PARAMETERS), *NOISE),
    ),
}

# --- selections of features ---

# The feature selectors of xmlcore.selection. Forms set n_features as a share; a number of features is also accepted.
SELECTORS = {
    "FALS": ModelInfo(
        location="xmlcore.selection.fals:FALS",
        title="Label-specific selection by attribution",
        summary=(
            "Trains one small network for all labels. For each label, it keeps the features to which the "
            "label's output is most sensitive, on average over the training rows."
        ),
        paper="FALS: Feature attribution for label-specific feature selection in multi-label learning",
        parameters=in_form(FALS.PARAMETERS),
    ),
    "ChiSquared": ModelInfo(
        location="xmlcore.selection.rivals:ChiSquaredSelection",
        title="Chi-squared",
        summary=(
            "For each feature, compares its sum over rows with the label and its sum over rows without the "
            "label with the sums that chance would give. Keeps the features that differ most. It takes one "
            "sparse product for all labels; values must not be negative."
        ),
        paper="As scikit-learn's chi2",
        parameters=in_form(ChiSquaredSelection.PARAMETERS),
    ),
    "MutualInformation": ModelInfo(
        location="xmlcore.selection.rivals:MutualInformationSelection",
        title="Mutual information",
        summary=(
            "Keeps the features that tell most about the label by being above or below their median. It takes "
            "one sparse product for all labels."
        ),
        paper="As scikit-learn's mutual_info_classif for features of two values",
        parameters=in_form(MutualInformationSelection.PARAMETERS),
    ),
    "Lasso": ModelInfo(
        location="xmlcore.selection.rivals:LassoSelection",
        title="LASSO",
        summary=(
            "Fits a linear least-squares model with an L1 penalty for each label, and keeps the features with "
            "the largest weights."
        ),
        paper="Tibshirani, JRSS B 1996",
        parameters=in_form(LassoSelection.PARAMETERS),
    ),
    "RandomForest": ModelInfo(
        location="xmlcore.selection.rivals:RandomForestSelection",
        title="Random forest",
        summary=(
            "Fits a random forest for each label, and keeps the features that reduce impurity most in its "
            "trees. The paper on FALS compares with it; it is by far the slowest method."
        ),
        paper="Breiman, Machine Learning 2001",
        parameters=in_form(RandomForestSelection.PARAMETERS),
    ),
}
