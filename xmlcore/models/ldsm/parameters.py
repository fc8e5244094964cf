"""The parameters of LdSM: what each does, what it accepts, and what a form offers."""

from xmlcore._kernels.ldsm_training import NAG, SGD
from xmlcore.parameters import N_JOBS, SEED, About, Parameter, Preset
from xmlcore.validation import INT32_MAX

OPTIMIZERS = {"nag": NAG, "sgd": SGD}
MOST_CHILDREN = 8  # largest arity M: in training, 2^M - 1 sets of children are compared for each row
MOST_ATTEMPTS = 64  # largest n_attempts
MOST_GAMMA = 1e30  # largest rerank_gamma

ABOUT = About(
    title="Streaming decision trees",
    summary=(
        "Decision trees that divide the rows. During training, every node learns to which children rows "
        "go, by an objective J that favours children of equal weight and keeps the rows of a label "
        "together. A leaf predicts the labels of its training rows. The Trees page shows the trees and J."
    ),
    paper="Majzoubi and Choromanska, AISTATS 2020",
    color="#D55E00",
    mark="square",
    scores=(
        "The score by which LdSM ranks labels: a label’s share of all label occurrences in a leaf, mean over the "
        "leaves that the row reaches. The Explain page has P, the share of training rows that have the label."
    ),
)

PARAMETERS = (
    Parameter(
        "n_estimators", "Trees",
        "Number of decision trees. They differ by their random start, and their predictions are averaged. "
        "Time, memory and the size of the model grow with this number. The paper uses 50, and finds that 10 "
        "trees (20 on Bibtex) bring most of the gain.",
        "int", 20, minimum=1, maximum=INT32_MAX, offered=(1, 1000),
    ),
    Parameter(
        "max_nodes", "Max nodes per tree",
        "Largest number of nodes of a tree, leaves included (T_max in the paper). With more nodes, leaves "
        "have fewer rows and predictions are finer, until leaves have too few rows to estimate how frequent "
        "each label is. The Trees page shows what trees with fewer nodes predict, without training again.",
        "int", 1000, minimum=1, maximum=INT32_MAX, offered=(1, 10_000_000),
    ),
    Parameter(
        "arity", "Arity",
        "Number of children of an inner node (M in the paper). Trees of arity 4 are shallower than binary "
        "ones, and send a row to several children more often. Training tries 2^M - 1 sets of children for "
        "each row. The paper uses 2 and 4.",
        "int", 2, minimum=2, maximum=MOST_CHILDREN,
    ),
    Parameter(
        "n_epochs", "Epochs",
        "Number of passes over the rows of a node. Training time grows with this number. The paper uses up to 20. "
        "On held-out rows of ten data sets, more trees with 5 epochs were better in the same time.",
        "int", 5, minimum=1, maximum=INT32_MAX, offered=(1, 1000),
    ),
    Parameter(
        "learning_rate", "Learning rate",
        "Step size of the regressors, the linear functions that decide to which children a row goes. The "
        "paper tries 0.001 to 1.",
        "float", 0.1, minimum=1e-9, maximum=1e6, offered=(1e-6, 100.0),
    ),
    Parameter(
        "integrity_weight", "Weight of class integrity, λ1",
        "A larger weight keeps the rows of a label together, but makes children less balanced and trees "
        "deeper. The weight of the balance is 1. The paper tries 0.5 to 4.",
        "float", 2.0, minimum=0.0, maximum=1e6, offered=(0.0, 1000.0),
    ),
    Parameter(
        "multiway_weight", "Weight of the multi-way penalty, λ2",
        "A larger weight sends fewer rows to several children. With a smaller weight leaves share more rows, "
        "and training and prediction take longer. The paper tries 0.5 to 4.",
        "float", 1.0, minimum=0.0, maximum=1e6, offered=(0.0, 1000.0),
    ),
    Parameter(
        "n_attempts", "Attempts at a split",
        "How often a split is tried at most while it is degenerate: a child gets all rows, or none. Each further "
        "attempt has half the weight of class integrity. This can matter much if there are few labels: with 5, P@1 on "
        "held-out rows of tmc2007-500 rises from 70 to 82. The paper and its authors' program try once; the paper "
        "keeps such splits, which brings 80 there.",
        "int", 5, minimum=1, maximum=MOST_ATTEMPTS,
    ),
    Parameter(
        "degenerate_splits", "Degenerate splits",
        "undo: if the last attempt at a split is degenerate, too, the node stays a leaf, as in the authors' program. "
        "keep: the split is made, as in the paper, and a child with all rows is split again, from other random "
        "weights, until the tree has its largest number of nodes: with one attempt, in 1 to 36 times the time.",
        "choice", "undo", options=("undo", "keep"), option_names=("undone", "kept (as published)"),
    ),
    Parameter(
        "optimizer", "Optimiser",
        "nag: each feature has its own step size (NAG: Ross, Mineiro and Langford, UAI 2013), so features need no "
        "scaling. sgd: equal steps (SGD) on features with mean 0 and variance 1 in each node, for dense data. auto: "
        "plain steps if more than half of all feature values are not 0.",
        "choice", "auto", options=("auto", "nag", "sgd"),
        option_names=("automatic", "normalised adaptive gradient", "plain gradient"), advanced=True,
    ),
    Parameter(
        "rerank_beta", "Re-ranking, β",
        "1: labels are ranked by their share in the leaves that a row reaches. Below 1, a label also gains if "
        "the row is near the mean of the label's training rows, which favours rare labels (Jain, Prabhu and "
        "Varma, KDD 2016). The paper does so on Amazon-670K; its authors' program has 0.8.",
        "float", 1.0, minimum=0.0, maximum=1.0, step=0.05, advanced=True,
        details="The score of a label in the leaves that a row reaches is β · share + (1 - β) / (1 + exp(γ |x - μ|² / "
        "2)), where x is the row and μ is the mean of the label's training rows.",
    ),
    Parameter(
        "rerank_gamma", "Re-ranking, γ",
        "How fast the score of a label falls with the distance between the row and the mean of the label's "
        "training rows. It has no effect if β is 1. The authors' program has 0.0001; with the space idf, 1 to 8 "
        "is usual.",
        "float", 1e-4, minimum=0.0, maximum=MOST_GAMMA, offered=(0.0, 1e6), advanced=True,
    ),
    Parameter(
        "rerank_space", "Re-ranking, space",
        "How the distance between a row and the mean of a label's training rows is measured, if β is below 1. "
        "raw: on the feature values as they are, as in the paper. idf: features are multiplied by their "
        "inverse document frequency, and rows and means are scaled to length 1, as is usual for words. On "
        "Bibtex, this with β = 0.1 and γ = 2 gained 4 points of P@1; it is not in the paper.",
        "choice", "raw", options=("raw", "idf"), option_names=("feature values (as published)", "tf-idf"),
        advanced=True,
    ),
    Parameter(
        "min_error", "Learn from errors of at least",
        "A regressor learns from a row only if the predicted probability differs from the target by at least "
        "this much. 0: it learns from every row, as in the paper. On Bibtex, training with 0.3 took three "
        "quarters of the time, and P@1 was one point higher. Values above 0 are not in the paper.",
        "float", 0.3, minimum=0.0, maximum=0.5, step=0.05, advanced=True,
        details="With 0.3, a row is skipped when its margin is beyond ±0.85 on the right side. The threshold of 0.5 "
        "then sends the row to the right children.",
    ),
    Parameter(
        "weight_decay", "Weight decay",
        "Whenever a regressor learns from a row, the weights of the row's features shrink by this share. This "
        "makes regressors smoother. The paper uses 0; other values are not in the paper.",
        "float", 0.0, minimum=0.0, maximum=0.999, offered=(0.0, 0.5), advanced=True,
    ),
    SEED,
    N_JOBS,
)  # fmt: skip

_PROGRAM = {
    "n_estimators": 10, "max_nodes": 1000, "arity": 2, "n_epochs": 20, "learning_rate": 0.1, "integrity_weight": 2.0,
    "multiway_weight": 1.0, "n_attempts": 1, "degenerate_splits": "undo", "optimizer": "auto", "rerank_beta": 1.0,
    "rerank_gamma": 1e-4, "rerank_space": "raw", "min_error": 0.0, "weight_decay": 0.0,
}  # fmt: skip
_PAPER = _PROGRAM | {"n_estimators": 50, "max_nodes": 2000, "degenerate_splits": "keep"}
_SOURCE = (
    "50 trees of up to {:,} nodes with {} children each, 20 epochs, degenerate splits kept: Algorithm 1 and the "
    "supplement of Majzoubi and Choromanska (AISTATS 2020){}. They print grids of learning rate, λ1 and λ2: these are "
    "the program's."
)
PRESETS = {
    "paper": Preset("Paper's", _SOURCE.format(2000, 2, ", for AmazonCat-13K, Delicious-200K and Amazon-670K"), _PAPER),
    "paper-bibtex": Preset(
        "Paper's for Bibtex and Mediamill", _SOURCE.format(64000, 4, ""), _PAPER | {"max_nodes": 64000, "arity": 4}
    ),
    "paper-delicious": Preset(
        "Paper's for Delicious", _SOURCE.format(32000, 4, ""), _PAPER | {"max_nodes": 32000, "arity": 4}
    ),
    "paper-wiki10": Preset("Paper's for Wiki10-31K", _SOURCE.format(2000, 4, ""), _PAPER | {"arity": 4}),
    "program": Preset(
        "Authors' program", "The settings with which the program that the authors published was measured.", _PROGRAM
    ),
}
