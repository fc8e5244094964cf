"""The parameters of DoubleSampling: the only place where they are described."""

from xmlcore.parameters import N_JOBS, SEED, Parameter
from xmlcore.validation import INT32_MAX

LOSSES = ("logistic", "squared_hinge")
DISTANCES = ("cosine", "euclidean")
WEIGHTINGS = ("tfidf", "counts")
NEGATIVE = ("refuse", "zero")
FEATURE_SETS = ("paper", "extended")
SOURCES = ("centroids", "plt")
ADVERSARIES = ("random", "candidates")

PARAMETERS = (
    Parameter(
        "examples_per_class",
        "Examples per class",
        "Expected number of training examples of each class: small classes are oversampled, large ones cut. The paper "
        "takes 1 or 2; with few classes take more.",
        "float",
        2.0,
        minimum=1e-6,
        maximum=1e6,
        offered=(0.01, 1000.0),
    ),
    Parameter(
        "n_adversarial",
        "Adversarial classes, κ",
        "Other classes that each example is compared with, all different; all others where there are fewer. Training "
        "time and memory grow with it, accuracy hardly. The paper takes 5 to 122.",
        "int",
        10,
        minimum=1,
        maximum=INT32_MAX,
        offered=(1, 10_000),
    ),
    Parameter(
        "n_candidates",
        "Candidates, q",
        "Classes of nearest centroid that a prediction ranks. More contain the right class more often; prediction is "
        "slower, and not always better.",
        "int",
        10,
        minimum=1,
        maximum=INT32_MAX,
        offered=(1, 100_000),
    ),
    Parameter(
        "distance",
        "Distance to centroids",
        "cosine: between directions, so that the length of a row does not matter. euclidean: between the vectors as "
        "they are. The paper does not say which.",
        "choice",
        "cosine",
        options=DISTANCES,
    ),
    Parameter(
        "weighting",
        "Weights of terms",
        "tfidf: rare terms count for more, as is usual for words. counts: values as they are, for features that are "
        "not words.",
        "choice",
        "tfidf",
        options=WEIGHTINGS,
    ),
    Parameter(
        "leave_one_out",
        "Leave the example out of its class",
        "In training, an example's own terms are taken out of its class first, because a new row is not part of its "
        "class either. Examples that are the only one of their class are left out. On wordnet-class macro-F1 rose by 5 "
        "points and accuracy fell by 5. Not in the paper.",
        "bool",
        False,
    ),
    Parameter(
        "adversaries",
        "Adversarial classes from",
        "random: any other classes, as in the paper. candidates: the classes that a prediction would have to tell "
        "apart, with the example taken out of its own class. Training takes some seconds more. Not in the paper; on "
        "held-out rows of wordnet-class macro-F1 rose by 4 points, or, with rows taken equally often, accuracy by 2.6 "
        "and macro-F1 by 3.",
        "choice",
        "random",
        options=ADVERSARIES,
    ),
    Parameter(
        "balanced",
        "Every class equally often",
        "Off: every row is taken equally often in training, so that large classes count for more. Good for accuracy "
        "where small classes matter less. Not in the paper.",
        "bool",
        True,
    ),
    Parameter(
        "features",
        "Features of pairs",
        "paper: the ten of its Table 1. extended: six more, such as a likelihood ratio, and the label tree's "
        "probability when candidates come from one. They need leave_one_out or adversaries from the candidates. On "
        "held-out rows of wordnet-class and aloi accuracy rose by 1.5 to 2 points. Not in the paper.",
        "choice",
        "paper",
        options=FEATURE_SETS,
    ),
    Parameter(
        "candidates_from",
        "Candidates from",
        "centroids: the nearest. plt: the most probable of a label tree (PLT), which is trained too. On aloi these "
        "contain the right class in 95 of 100 rows instead of 88, on wordnet-class in 58 instead of 66. Not in the "
        "paper.",
        "choice",
        "centroids",
        options=SOURCES,
    ),
    Parameter(
        "loss",
        "Loss",
        "Of the classifier over pairs: logistic regression, or a linear support vector machine. The paper does not "
        "name its classifier.",
        "choice",
        "logistic",
        options=LOSSES,
        advanced=True,
    ),
    Parameter(
        "C",
        "C, weight of the loss",
        "The objective is C times the loss, plus half the squared length of the weights of scaled features. A larger "
        "value fits the pairs more closely; with ten weights it hardly matters.",
        "float",
        1.0,
        minimum=1e-9,
        maximum=1e9,
        offered=(1e-6, 1e6),
        advanced=True,
    ),
    Parameter(
        "negative",
        "Negative values in training",
        "refuse: they are an error, because values are amounts. zero: they are replaced by 0, with a warning; training "
        "with noise needs this.",
        "choice",
        "refuse",
        options=NEGATIVE,
        advanced=True,
    ),
    SEED,
    N_JOBS,
)
