"""The models and feature selectors that can be run, with what a user should know of each."""

from dataclasses import dataclass
from importlib import import_module

from xmlcore.models.one_vs_rest import OneVsRest
from xmlcore.models.plt import PLT
from xmlcore.parameters import SEED, Parameter, in_form
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
        parameters=(
            Parameter(
                "examples_per_class",
                "Examples per class",
                "Every class gives so many training examples on average: small classes are oversampled, large ones "
                "cut. The paper takes 1 or 2; with few classes take more.",
                "float",
                2.0,
                minimum=0.01,
                maximum=1000.0,
            ),
            Parameter(
                "n_adversarial",
                "Adversarial classes, κ",
                "Other classes that each example is compared with. Training time and memory grow with it, accuracy "
                "hardly.",
                "int",
                10,
                minimum=1,
                maximum=10_000,
            ),
            Parameter(
                "n_candidates",
                "Candidates, q",
                "Classes of nearest centroid that a prediction ranks. More hold the right class more often; prediction "
                "is slower, and not always better.",
                "int",
                10,
                minimum=1,
                maximum=100_000,
            ),
            Parameter(
                "distance",
                "Distance to centroids",
                "cosine: between directions, which does not mind how long a row is. euclidean: between the vectors as "
                "they are. The paper does not say which.",
                "choice",
                "cosine",
                options=("cosine", "euclidean"),
            ),
            Parameter(
                "weighting",
                "Weights of terms",
                "tfidf: rare terms count for more, as is usual for words. counts: values as they are, for features "
                "that are not words.",
                "choice",
                "tfidf",
                options=("tfidf", "counts"),
            ),
            Parameter(
                "leave_one_out",
                "Leave the example out of its class",
                "In training, an example's own terms are taken out of its class first, as they are not there when "
                "predicting. On wordnet-class macro-F1 rose by 5 points and accuracy fell by 5. Not in the paper.",
                "bool",
                False,
            ),
            Parameter(
                "adversaries",
                "Adversarial classes from",
                "random: any other classes, as in the paper. candidates: the classes that a prediction would have to "
                "tell apart, the example's own taken without it. Training takes some seconds more. Not in the paper; "
                "on held-out rows of wordnet-class macro-F1 rose by 4 points, or, with rows taken equally often, "
                "accuracy by 2.6 and macro-F1 by 3.",
                "choice",
                "random",
                options=("random", "candidates"),
            ),
            Parameter(
                "balanced",
                "Every class equally often",
                "Off: every row is taken equally often in training, so that large classes count for more. Good for "
                "accuracy where small classes matter less. Not in the paper.",
                "bool",
                True,
            ),
            Parameter(
                "features",
                "Features of pairs",
                "paper: the ten of its Table 1. extended: six more, such as a likelihood ratio, and the label tree's "
                "probability when candidates come from one; they want the example left out of its class, or "
                "adversaries from the candidates. On held-out rows of wordnet-class and aloi accuracy rose by 1.5 to 2 "
                "points.",
                "choice",
                "paper",
                options=("paper", "extended"),
            ),
            Parameter(
                "candidates_from",
                "Candidates from",
                "centroids: the nearest. plt: the most probable of a label tree, trained beside. On aloi these "
                "hold the right class in 95 of 100 rows instead of 88, on wordnet-class in 58 instead of 66.",
                "choice",
                "centroids",
                options=("centroids", "plt"),
            ),
            Parameter(
                "loss",
                "Loss",
                "Of the classifier over pairs: logistic regression, or a linear support vector machine.",
                "choice",
                "logistic",
                options=("logistic", "squared_hinge"),
                advanced=True,
            ),
            Parameter(
                "C",
                "C, weight of the loss",
                "Larger fits the pairs closer; with ten weights it hardly matters.",
                "float",
                1.0,
                minimum=1e-6,
                maximum=1e6,
                advanced=True,
            ),
            Parameter(
                "negative",
                "Negative values in training",
                "refuse: they are an error, for values are amounts. zero: they are taken as 0, with a warning; "
                "training with noise needs it.",
                "choice",
                "refuse",
                options=("refuse", "zero"),
                advanced=True,
            ),
            *NOISE,
            *in_form((SEED,)),
        ),
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
        parameters=(
            Parameter(
                "pattern",
                "Pattern",
                "FALS: squared gradients of the label's output, a set for each label. FILS: the same, but of the "
                "Fisher information: rows of which the network is sure count more than in FALS. FAMS and FIMS are "
                "their sums over labels: one set for all labels.",
                "choice",
                "FALS",
                options=("FALS", "FAMS", "FILS", "FIMS"),
            ),
            KEPT,
            Parameter(
                "n_epochs",
                "Epochs",
                "Passes over the training rows. The paper finds 10 enough; more fit the training rows closer, and take "
                "longer.",
                "int",
                10,
                minimum=1,
                maximum=1000,
            ),
            Parameter(
                "attribution",
                "Attribution",
                "How much of an output is due to a feature. gradient: its slope, which alone can be computed without "
                "going over every row, label and feature. integrated_gradients, deeplift and lrp attribute the output "
                "itself, against a row without features: slower, and without Fisher information (FILS, FIMS).",
                "choice",
                "gradient",
                options=("gradient", "integrated_gradients", "deeplift", "lrp"),
            ),
            Parameter(
                "scoring",
                "Scores from",
                "exact: all training rows. sampled: a few rows drawn for each label, with a standard error for each "
                "score. auto: exact unless that takes minutes.",
                "choice",
                "auto",
                options=("auto", "exact", "sampled"),
                advanced=True,
            ),
            Parameter(
                "n_scored_rows",
                "Rows of sampled scores",
                "More make standard errors smaller, and take longer. Empty draws 16 for each label, or 1,000 for all "
                "labels where the attribution is not the gradient.",
                "int",
                None,
                minimum=2,
                maximum=10_000_000,
                advanced=True,
                optional=True,
            ),
            Parameter(
                "n_hidden",
                "Hidden units",
                "Empty takes the square root of features times labels, the paper's. More can fit more, and cost more.",
                "int",
                None,
                minimum=1,
                maximum=1_000_000,
                advanced=True,
                optional=True,
                empty="√(features × labels)",
            ),
            Parameter(
                "n_layers",
                "Layers",
                "2 is one hidden layer, the paper's; 1 is logistic regression for each label. Only 2 have the quicker "
                "orders of computation.",
                "int",
                2,
                minimum=1,
                maximum=5,
                advanced=True,
            ),
            Parameter(
                "activation",
                "Activation",
                "Of the hidden units: relu is the paper's, with gradients that are quicker to sum up.",
                "choice",
                "relu",
                options=("relu", "sigmoid"),
                advanced=True,
            ),
            Parameter(
                "binary",
                "A network for each label (FALSb)",
                "Labels then share nothing: training takes as many small networks as there are labels.",
                "bool",
                False,
                advanced=True,
            ),
            Parameter(
                "l2",
                "Weight of the L2 penalty",
                "More keeps weights smaller and scores more even between features.",
                "float",
                0.0,
                minimum=0.0,
                maximum=10.0,
                advanced=True,
            ),
            Parameter(
                "dropout",
                "Dropout",
                "Share of hidden units left out in each step of the training: smooths the network.",
                "float",
                0.0,
                minimum=0.0,
                maximum=0.95,
                advanced=True,
            ),
            Parameter(
                "batch_size",
                "Rows per step",
                "Smaller makes more and noisier steps per epoch, and takes longer. Empty makes 100 steps per epoch.",
                "int",
                None,
                minimum=1,
                maximum=1_000_000,
                advanced=True,
                optional=True,
            ),
            Parameter(
                "learning_rate",
                "Step size",
                "Of Adam. Larger learns faster, until it does not learn at all.",
                "float",
                1e-3,
                minimum=1e-6,
                maximum=1.0,
                advanced=True,
            ),
            *in_form((SEED,)),
        ),
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
