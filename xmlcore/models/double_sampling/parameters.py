"""The parameters of DoubleSampling: the only place where they are described."""

from xmlcore.parameters import N_JOBS, SEED, About, Parameter, Preset
from xmlcore.validation import INT32_MAX

LOSSES = ("logistic", "squared_hinge")
DISTANCES = ("cosine", "euclidean")
WEIGHTINGS = ("tfidf", "counts")
NEGATIVE = ("refuse", "zero")
FEATURE_SETS = ("paper", "extended")
SOURCES = ("centroids", "plt")
ADVERSARIES = ("random", "candidates")

ABOUT = About(
    title="Ranking by sampling",
    summary=(
        "Turns a problem with many labels into one binary problem over pairs of a row and a label, each "
        "described by some ten features. A prediction ranks the labels with the nearest centroids. It "
        "is made for rows with one label; a row with several counts as one example of each. Values must not be "
        "negative: counts of words, tf-idf weights or other amounts. It learns one weight for each feature of "
        "pairs, whatever the number of labels."
    ),
    paper="Joshi et al., NIPS 2017",
    color="#009E73",
    mark="triangle-up",
    scores=(
        "Share of the label when the candidates divide the row: exp f, divided by the sum of exp f over all "
        "candidates. The Explain page has f."
    ),
)

PARAMETERS = (
    Parameter(
        "examples_per_class", "Examples per label, π",
        "Expected number of training examples drawn per label: of each label if every label is used equally often, "
        "else on average. With other candidates as adversarial labels, examples whose own label is no candidate are "
        "then left out. The paper uses 1 or 2; use more if there are few labels.",
        "float", 2.0, minimum=1e-6, maximum=1e6, offered=(0.01, 1000.0),
    ),
    Parameter(
        "n_adversarial", "Adversarial labels, κ",
        "Number of other labels that each example is compared with. They are all different; if there are "
        "fewer other labels, all are used. Other candidates are at most q - 1: from κ = q - 1 on, each example "
        "is compared with all of them, and none are drawn. A larger number takes more time and memory in "
        "training, and hardly changes accuracy. The paper uses 5 to 122.",
        "int", 10, minimum=1, maximum=INT32_MAX, offered=(1, 10_000),
    ),
    Parameter(
        "n_candidates", "Candidates, q",
        "Number of labels that a prediction ranks: those with the nearest centroids, unless “Candidates "
        "from” is a label tree. More candidates contain the right label more often, but prediction is slower, and not "
        "always better.",
        "int", 10, minimum=1, maximum=INT32_MAX, offered=(1, 100_000),
    ),
    Parameter(
        "distance", "Distance to centroids",
        "cosine: distance between directions, so that the length of a row does not matter. euclidean: "
        "distance between the vectors as they are. The paper does not name its distance.",
        "choice", "cosine", options=DISTANCES, option_names=("cosine", "Euclidean"),
    ),
    Parameter(
        "weighting", "Weights of terms",
        "tfidf: rare terms get larger weights, as is usual for words. counts: values are used as they are, "
        "for features that are not words.",
        "choice", "tfidf", options=WEIGHTINGS, option_names=("tf-idf", "counts as they are"),
    ),
    Parameter(
        "leave_one_out", "Leave the example out of its label",
        "In training, the terms of an example are first removed from its label, because a new row is not part "
        "of its label either. Examples that are the only row of their label are left out. On wordnet-class "
        "the paper's macro-F1 rose by 5 points and accuracy fell by 5. Not in the paper.",
        "bool", False,
    ),
    Parameter(
        "adversaries", "Adversarial labels from",
        "How adversarial labels are chosen. candidates: the labels that a prediction would rank for the "
        "example, after the example is removed from its own label. random: any other labels, as in the paper; "
        "this trains faster. On held-out rows of wordnet-class other candidates gained 4 points of macro-F1, or, with "
        "every row used equally often, 2.6 points of accuracy and 3 of macro-F1. This is not in the paper, and "
        "needs labels of two rows and more.",
        "choice", "candidates", options=ADVERSARIES, option_names=("at random (as published)", "other candidates"),
    ),
    Parameter(
        "balanced", "Every label equally often",
        "On: every label is used equally often in training, as in the paper. Off: every row is used equally "
        "often, so that large labels count for more. Off is good for accuracy if small labels matter less. "
        "Off is not in the paper; on held-out rows of seven data sets it was better or as good.",
        "bool", False,
    ),
    Parameter(
        "features", "Features of pairs",
        "The features that describe a pair of a row and a label. extended: those of the paper and six more, "
        "such as a likelihood ratio, and also the label tree's probability if candidates come from a label "
        "tree: on held-out rows of wordnet-class and aloi this gained 1.5 to 2 points of accuracy. paper: the "
        "ten of Table 1 in the paper; choose them if adversaries are random and examples are not left out, "
        "where six more gain little.",
        "choice", "extended", options=FEATURE_SETS, option_names=("ten (as published)", "ten and six more"),
    ),
    Parameter(
        "candidates_from", "Candidates from",
        "centroids: the labels with the nearest centroids, as in the paper. plt: the most probable labels "
        "of a label tree (PLT), which is trained as well; this is not in the paper. On aloi the candidates of the "
        "tree contain the right label for 95 of 100 rows, and those of centroids for 88. On wordnet-class it is "
        "58 with the tree and 66 with centroids.",
        "choice", "centroids", options=SOURCES, option_names=("nearest centroids (as published)", "a label tree"),
    ),
    Parameter(
        "loss", "Loss",
        "Loss of the classifier of pairs. logistic: logistic regression. squared_hinge: a linear support "
        "vector machine. The paper does not name its classifier.",
        "choice", "logistic", options=LOSSES, option_names=("logistic", "squared hinge"), advanced=True,
    ),
    Parameter(
        "C", "C, weight of the loss",
        "Weight of the loss, against half the squared length of the weights of scaled features. A larger "
        "value fits the pairs more closely. With so few weights, it hardly matters.",
        "float", 1.0, minimum=1e-9, maximum=1e9, offered=(1e-6, 1e6), advanced=True,
    ),
    Parameter(
        "negative", "Negative values in training",
        "refuse: a negative value is an error, because values are amounts. zero: negative values are replaced "
        "by 0, with a warning. Training with noise needs that.",
        "choice", "refuse", options=NEGATIVE, option_names=("refused", "taken as 0"), advanced=True,
    ),
    SEED,
    N_JOBS,
)  # fmt: skip

PRESETS = {
    "paper": Preset(
        "Paper's",
        "Joshi et al. (NIPS 2017), Table 4: 10 candidates; 1 or 2 examples per label and 5 to 122 adversarial labels, "
        "by data set; 2 and 10 are taken here. The paper does not name its distance, its weights of terms and its "
        "classifier: they are xmlcore's choice.",
        {
            "examples_per_class": 2.0, "n_adversarial": 10, "n_candidates": 10, "distance": "cosine",
            "weighting": "tfidf", "leave_one_out": False, "adversaries": "random", "balanced": True,
            "features": "paper", "candidates_from": "centroids", "loss": "logistic", "C": 1.0,
        },
    ),
}  # fmt: skip
