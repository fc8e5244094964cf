"""The parameters of OneVsRest: the only place where they are described."""

from xmlcore.models.plt.parameters import HINGE_SCORES, NORMALIZE
from xmlcore.parameters import AUTO, N_JOBS, About, Parameter
from xmlcore.validation import INT32_MAX

LOSSES = ("logistic", "squared_hinge")
CHOSEN = ("C", "normalize")  # the parameters that can be "auto"

ABOUT = About(
    title="One classifier per label",
    summary=(
        "A linear classifier for every label, each trained on all rows: the baseline for data with few "
        "labels. Training time grows with rows times labels: thousands of labels take seconds to minutes."
    ),
    paper="Yu, Huang, Lin 2011 (dual coordinate descent); Babbar and Schölkopf, WSDM 2017",
    color="#8C8C8C",
    mark="cross",
    scores_by_loss=HINGE_SCORES,
)

PARAMETERS = (
    Parameter(
        "loss", "Loss",
        "logistic: the probability of a label is the sigmoid of its margin. squared_hinge: linear support "
        "vector machines, which rank as well, but whose probabilities are not reliable.",
        "choice", "logistic", options=LOSSES, option_names=("logistic", "squared hinge"),
        details="With squared_hinge, predict_proba returns sigmoids of margins that were not fitted to be "
        "probabilities. Training does not reward margins beyond 1, so most of these values are too near to "
        "1/2.",
    ),
    Parameter(
        "C", "C, weight of the loss",
        "Weight of the loss, against a penalty on large weights. A larger value fits the training rows more "
        "closely; a smaller value gives smoother classifiers. Automatic: chosen by trials on a sample of the training "
        "rows.",
        "float", AUTO, others=(AUTO,), minimum=1e-6, maximum=1e6, offered=(1e-3, 1e4),
        details="The objective is C times the loss, plus |w|^2 / 2. With fewer than 400 training rows nothing is "
        "tried: C is 10 with the logistic loss, and 1 with the squared hinge.",
    ),
    NORMALIZE,
    Parameter(
        "weight_threshold", "Drop weights below",
        "Weights with a smaller absolute value are removed after training. DiSMEC uses 0.01; 0 keeps all weights.",
        "float", 0.01, minimum=0.0, maximum=1e30, offered=(0.0, 10.0), step=0.01, advanced=True,
        details="Biases are never removed. DiSMEC: Babbar and Schölkopf, WSDM 2017.",
    ),
    Parameter(
        "tol", "Tolerance",
        "Training of a label stops when no row would change its probability by more than this. A smaller value trains "
        "longer.",
        "float", 0.1, minimum=1e-12, maximum=1e30, offered=(1e-6, 1.0), advanced=True,
        details="With the squared hinge it is a difference of slacks. Sixteen labels are trained together, until none "
        "would change by more.",
    ),
    Parameter(
        "max_iter", "Max epochs",
        "Training of a label also stops after this many passes over the rows, and then gives a warning.",
        "int", 1000, minimum=1, maximum=INT32_MAX, offered=(1, 100_000), advanced=True,
    ),
    N_JOBS,
)  # fmt: skip
