"""The models and feature selectors that can be run, with what a user should know of each."""

from dataclasses import dataclass
from importlib import import_module

from xmlcore.models.double_sampling import DoubleSampling
from xmlcore.models.one_vs_rest import OneVsRest
from xmlcore.models.plt import PLT
from xmlcore.parameters import SEED, Parameter, in_form
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


# Training on noisy rows beside the clean ones, which every model can (xmlcore.robustness.AdversarialTraining).
NOISE = (
    Parameter(
        "noise_sigma",
        "Noise in training, σ",
        "0 trains on the rows as they are. More adds copies of rows with Gaussian noise of this standard deviation, in "
        "the units of the feature values: the model holds up better under such noise, and is often a little worse "
        "without it. The paper (Date and Mehar) has 0.05, for values between 0 and 1.",
        "float",
        0.0,
        minimum=0.0,
        maximum=1e6,
        advanced=True,
    ),
    Parameter(
        "noise_ratio",
        "Noise in training, copies per row",
        "How many noisy copies are added, as a share of the training rows. 1 doubles them, the paper's.",
        "float",
        1.0,
        minimum=0.01,
        maximum=100.0,
        advanced=True,
    ),
    Parameter(
        "noise_support",
        "Noise in training, on",
        "all: every feature of a row gets noise, also those that are 0 (the paper): training takes memory and time for "
        "rows times features. nonzero: only the features that a row has, at about twice the time of clean training.",
        "choice",
        "all",
        options=("all", "nonzero"),
        advanced=True,
    ),
)

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
        parameters=(
            Parameter(
                "n_estimators",
                "Trees",
                "Trees that differ by their random start; predictions are averaged. Time, memory and the model grow "
                "with it. The paper uses 50 and finds that most is gained by 10 (20 on Bibtex).",
                "int",
                10,
                minimum=1,
                maximum=1000,
            ),
            Parameter(
                "max_nodes",
                "Most nodes of a tree",
                "T_max, leaves included. More nodes make leaves of fewer rows: finer, until they are too few to count "
                "labels by. The Trees page shows what fewer nodes would have brought, without training again.",
                "int",
                1000,
                minimum=1,
                maximum=10_000_000,
            ),
            Parameter(
                "arity",
                "Arity",
                "M, children of an inner node. 4 makes shallower trees, and rows more often go several ways; each row "
                "is tried in 2^M - 1 sets of children while training.",
                "int",
                2,
                minimum=2,
                maximum=8,
            ),
            Parameter(
                "n_epochs",
                "Epochs",
                "Passes over a node's rows. Training time grows with it; the paper uses up to 20.",
                "int",
                20,
                minimum=1,
                maximum=1000,
            ),
            Parameter(
                "learning_rate",
                "Learning rate",
                "Steps of the node regressors. The paper looks between 0.001 and 1.",
                "float",
                0.1,
                minimum=1e-6,
                maximum=100.0,
            ),
            Parameter(
                "integrity_weight",
                "Weight of class integrity, λ1",
                "Larger keeps the rows of a label together, at the cost of balance: trees get deeper. The paper tries "
                "0.5 to 4.",
                "float",
                2.0,
                minimum=0.0,
                maximum=1000.0,
            ),
            Parameter(
                "multiway_weight",
                "Weight of the multi-way penalty, λ2",
                "Larger sends fewer rows to several children; smaller makes leaves overlap, and training and "
                "prediction slower. The paper tries 0.5 to 4.",
                "float",
                1.0,
                minimum=0.0,
                maximum=1000.0,
            ),
            Parameter(
                "n_attempts",
                "Attempts at a split",
                "A split that sends all rows one way is undone, and the node is a leaf for good: the paper's, 1. Up to "
                "so many attempts halve the weight of class integrity each time. With few labels 5 can decide: P@1 on "
                "tmc2007-500 went from 66 to 83. Not in the paper.",
                "int",
                1,
                minimum=1,
                maximum=64,
            ),
            Parameter(
                "optimizer",
                "Optimiser",
                "nag: normalised adaptive gradient (Ross et al., UAI 2013), which needs no scaling of features. sgd: "
                "plain steps on features standardised in every node, for dense data. auto takes sgd when more than "
                "half of all feature values are not zero.",
                "choice",
                "auto",
                options=("auto", "nag", "sgd"),
                advanced=True,
            ),
            Parameter(
                "rerank_beta",
                "Re-ranking, β",
                "1 is without. Smaller mixes a label's share in the leaves with how near the row is to the mean of "
                "the label's training rows, which favours rare labels. The paper has 0.8 on Amazon-670K.",
                "float",
                1.0,
                minimum=0.0,
                maximum=1.0,
                step=0.05,
                advanced=True,
            ),
            Parameter(
                "rerank_gamma",
                "Re-ranking, γ",
                "How quickly distance from the mean counts, where β is below 1. The paper has 0.0001; with the space "
                "idf, 1 to 8.",
                "float",
                1e-4,
                minimum=0.0,
                maximum=1e6,
                advanced=True,
            ),
            Parameter(
                "rerank_space",
                "Re-ranking, space",
                "Where distance is taken, if β is below 1. raw: features as they are (the paper). idf: weighted by "
                "inverse document frequency and of unit length, as is usual for words; with β = 0.1 and γ = 2 it "
                "brought 4 points of P@1 on Bibtex. Not in the paper.",
                "choice",
                "raw",
                options=("raw", "idf"),
                advanced=True,
            ),
            Parameter(
                "min_error",
                "Learn from errors of at least",
                "A regressor leaves a row alone once its probability is so near the target. 0 is the paper's; 0.3 "
                "trained in three quarters of the time on Bibtex and was a point of P@1 better. Not in the paper.",
                "float",
                0.0,
                minimum=0.0,
                maximum=0.5,
                step=0.05,
                advanced=True,
            ),
            Parameter(
                "weight_decay",
                "Weight decay",
                "Share that weights lose when they are learnt with: smooths the regressors. Not in the paper.",
                "float",
                0.0,
                minimum=0.0,
                maximum=0.5,
                advanced=True,
            ),
            *NOISE,
            *in_form((SEED,)),
        ),
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

KEPT = Parameter(
    "n_features",
    "Features kept per label",
    "A share of all features, or a count. Fewer are quicker to learn from and to read; too few lose what the label "
    "depends on. The paper keeps a tenth.",
    "float",
    0.1,
    minimum=1e-6,
    maximum=1.0,
    step=0.05,
)

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
