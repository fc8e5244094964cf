"""The parameters of LdSM: what each does, what it accepts, and what a form offers."""

from xmlcore.parameters import N_JOBS, SEED, Parameter
from xmlcore.validation import INT32_MAX

MOST_CHILDREN = 8  # largest arity M: in training, 2^M - 1 sets of children are compared for each row
MOST_GAMMA = 1e30  # largest rerank_gamma

PARAMETERS = (
    Parameter(
        "n_estimators",
        "Trees",
        "Number of trees, which differ by their random start; their predictions are averaged. Time, memory and the "
        "size of the model grow with it. The paper uses 50 and finds that 10 (20 on Bibtex) gain most of it.",
        "int",
        10,
        minimum=1,
        maximum=INT32_MAX,
        offered=(1, 1000),
    ),
    Parameter(
        "max_nodes",
        "Most nodes of a tree",
        "T_max in the paper, leaves included. More nodes make leaves of fewer rows: predictions get finer, until the "
        "rows are too few to count labels by. The Trees page shows what fewer nodes would have brought, without "
        "training again.",
        "int",
        1000,
        minimum=1,
        maximum=INT32_MAX,
        offered=(1, 10_000_000),
    ),
    Parameter(
        "arity",
        "Arity",
        "M in the paper: children of an inner node. 4 makes shallower trees than 2, and rows go to several children "
        "more often. In training each row is tried in 2^M - 1 sets of children. The paper has 2 and 4.",
        "int",
        2,
        minimum=2,
        maximum=MOST_CHILDREN,
    ),
    Parameter(
        "n_epochs",
        "Epochs",
        "Passes over a node's rows. Training time grows with it; the paper uses up to 20.",
        "int",
        20,
        minimum=1,
        maximum=INT32_MAX,
        offered=(1, 1000),
    ),
    Parameter(
        "learning_rate",
        "Learning rate",
        "Length of the regressors' steps. The paper tries 0.001 to 1.",
        "float",
        0.1,
        minimum=1e-9,
        maximum=1e6,
        offered=(1e-6, 100.0),
    ),
    Parameter(
        "integrity_weight",
        "Weight of class integrity, λ1",
        "A larger weight keeps the rows of a label together, at the cost of balance: trees get deeper. The balance "
        "itself has weight 1. The paper tries 0.5 to 4.",
        "float",
        2.0,
        minimum=0.0,
        maximum=1e6,
        offered=(0.0, 1000.0),
    ),
    Parameter(
        "multiway_weight",
        "Weight of the multi-way penalty, λ2",
        "A larger weight sends fewer rows to several children. A smaller one makes leaves overlap, and training and "
        "prediction slower. The paper tries 0.5 to 4.",
        "float",
        1.0,
        minimum=0.0,
        maximum=1e6,
        offered=(0.0, 1000.0),
    ),
    Parameter(
        "n_attempts",
        "Attempts at a split",
        "A split that sends all rows one way, or none, is undone. With 1, as in the paper, the node then stays a leaf. "
        "With a larger number, the split is tried up to this many times, each time with half the weight of class "
        "integrity. With few labels 5 can matter much: P@1 on tmc2007-500 rose from 66 to 83. Not in the paper.",
        "int",
        1,
        minimum=1,
        maximum=64,
    ),
    Parameter(
        "optimizer",
        "Optimiser",
        "nag: normalised adaptive gradient (Ross, Mineiro and Langford, UAI 2013), which needs no scaling of features. "
        "sgd: plain steps on features with mean 0 and variance 1 in each node, for dense data. auto takes sgd when "
        "more than half of all feature values are not 0.",
        "choice",
        "auto",
        options=("auto", "nag", "sgd"),
        advanced=True,
    ),
    Parameter(
        "rerank_beta",
        "Re-ranking, β",
        "1 ranks labels by their share in the leaves. With a smaller value, the nearness of the row to the mean of the "
        "label's training rows counts as well, which favours rare labels (Jain, Prabhu and Varma, KDD 2016). The paper "
        "uses 0.8 on Amazon-670K.",
        "float",
        1.0,
        minimum=0.0,
        maximum=1.0,
        step=0.05,
        advanced=True,
        details="A label's score is β · share + (1 - β) / (1 + exp(γ |x - μ|² / 2)), where x is the row and μ the mean "
        "of the label's training rows, for the labels of the leaves that the row reaches.",
    ),
    Parameter(
        "rerank_gamma",
        "Re-ranking, γ",
        "How quickly a label's score falls with the distance from the mean, where β is below 1. The paper has 0.0001; "
        "with the space idf, 1 to 8 is usual.",
        "float",
        1e-4,
        minimum=0.0,
        maximum=MOST_GAMMA,
        offered=(0.0, 1e6),
        advanced=True,
    ),
    Parameter(
        "rerank_space",
        "Re-ranking, space",
        "Where the distance from the mean is taken, if β is below 1. raw: between features as they are, as in the "
        "paper. idf: features are weighted by inverse document frequency, and rows and means have unit length, as is "
        "usual for words; with β = 0.1 and γ = 2 it brought 4 points of P@1 on Bibtex. Not in the paper.",
        "choice",
        "raw",
        options=("raw", "idf"),
        advanced=True,
    ),
    Parameter(
        "min_error",
        "Learn from errors of at least",
        "A regressor learns from a row only if its probability differs from the target by at least this value. With 0 "
        "it always learns, as in the paper. On Bibtex, training with 0.3 took three quarters of the time, and P@1 was "
        "a point higher. Not in the paper.",
        "float",
        0.0,
        minimum=0.0,
        maximum=0.5,
        step=0.05,
        advanced=True,
        details="With 0.3 a regressor does not learn from rows whose margin is beyond ±0.85 on the right side; the "
        "threshold that sends rows to children is 0.5.",
    ),
    Parameter(
        "weight_decay",
        "Weight decay",
        "Share that the weights of a row's features lose whenever a regressor learns from the row: it smooths the "
        "regressors. Not in the paper, which has 0.",
        "float",
        0.0,
        minimum=0.0,
        maximum=0.999,
        offered=(0.0, 0.5),
        advanced=True,
    ),
    SEED,
    N_JOBS,
)
