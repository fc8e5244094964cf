"""The parameters of the rivals of FALS, and what users are told of them."""

from dataclasses import replace

from xmlcore.parameters import N_JOBS, SEED, SEEDS, About, Parameter
from xmlcore.selection.fals.parameters import N_FEATURES
from xmlcore.validation import INT32_MAX

ABOUT_FOREST = About(
    "Random forest",
    "Fits a random forest for each label, and keeps the features that reduce impurity most in its "
    "trees. The paper on FALS compares with it; it is by far the slowest method.",
    "Breiman, Machine Learning 2001",
)


ABOUT_LASSO = About(
    "LASSO",
    "Fits a linear least-squares model with an L1 penalty for each label, and keeps the features with "
    "the largest weights.",
    "Tibshirani, JRSS B 1996",
)


ABOUT_CHI_SQUARED = About(
    "Chi-squared",
    "For each feature, compares its sum over rows with the label and its sum over rows without the "
    "label with the sums that chance would give. Keeps the features that differ most. It takes one "
    "sparse product for all labels; values must not be negative.",
    "As scikit-learn's chi2",
)
ABOUT_MUTUAL_INFORMATION = About(
    "Mutual information",
    "Keeps the features that tell most about the label by being above or below their median. It takes "
    "one sparse product for all labels.",
    "As scikit-learn's mutual_info_classif for features of two values",
)

PER_LABEL = Parameter(
    "per_label", "A set for each label",
    "On: each label has its own set of features. Off: all labels have one set, the features that matter "
    "most to all labels together.",
    "bool", True,
)  # fmt: skip

SHARED = (N_FEATURES, PER_LABEL)

LASSO = (
    *SHARED,
    Parameter(
        "alpha", "Penalty",
        "The penalty on weights, as a share of the smallest penalty that makes all weights of the label 0. A "
        "larger share leaves fewer weights, and is faster.",
        "float", 0.1, minimum=0.0, above_minimum=True, maximum=1.0, offered=(1e-4, 1.0), advanced=True,
        details="One penalty for all labels would leave rare labels without any weight. The paper on FALS states no "
        "penalty.",
    ),
    Parameter(
        "max_iter", "Max rounds",
        "Largest number of rounds of coordinate descent for a label. A warning says if more rounds are needed.",
        "int", 1000, minimum=1, offered=(1, 1_000_000), advanced=True,
    ),
    N_JOBS,
)  # fmt: skip

FOREST = (
    *SHARED,
    Parameter(
        "n_estimators", "Trees",
        "Number of trees in each forest. With more trees importances depend less on chance, and take longer.",
        "int", 100, minimum=1, offered=(1, 10_000),
    ),
    replace(
        SEED,
        maximum=INT32_MAX,
        offered=(0, INT32_MAX),
        details=f"{SEEDS} Each label, and each tree of a shared forest, has random numbers of its own.",
    ),
    N_JOBS,
)  # fmt: skip
