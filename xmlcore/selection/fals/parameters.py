"""The parameters of FALS: the only place where they are described."""

from dataclasses import replace

from xmlcore.parameters import N_JOBS, SEED, Parameter

PATTERNS = ("FALS", "FAMS", "FILS", "FIMS")
SHARED = ("FAMS", "FIMS")  # the patterns that give all labels the same features
FISHER = ("FILS", "FIMS")  # the patterns of Fisher information
ACTIVATIONS = ("relu", "sigmoid")
METHODS = ("gradient", "integrated_gradients", "deeplift", "lrp")
SCORING = ("auto", "exact", "sampled")

N_FEATURES = Parameter(
    "n_features",
    "Features kept per label",
    "A share of all features, or a number. A model learns faster from fewer features, and they are easier to read; "
    "with too few, it lacks features that the label depends on. The paper keeps a tenth.",
    "share",
    0.1,
    offered=(1e-6, 1.0),
    step=0.05,
    details="A share is rounded to a number of at least one.",
)

PARAMETERS = (
    Parameter(
        "pattern",
        "Pattern",
        "FALS: squared gradients of the label's output, a set for each label. FILS: the same, but of the Fisher "
        "information: rows of which the network is sure count more than in FALS. FAMS and FIMS are their sums over "
        "labels: one set for all labels.",
        "choice",
        "FALS",
        options=PATTERNS,
        details="Fisher information is the squared gradient divided by f (1 - f), with the output f.",
    ),
    N_FEATURES,
    Parameter(
        "n_epochs",
        "Epochs",
        "Passes over the training rows. The paper finds 10 enough; more fit the training rows closer, and take longer.",
        "int",
        10,
        minimum=1,
        offered=(1, 1000),
        details="The paper also tries 20, 50 and 100.",
    ),
    Parameter(
        "attribution",
        "Attribution",
        "How much of an output is due to a feature. gradient: the slope of the output, the only attribution that can "
        "be computed without a pass over every row, label and feature. integrated_gradients, deeplift and lrp "
        "attribute the output itself, against a row without features: slower, and without Fisher information (FILS, "
        "FIMS).",
        "choice",
        "gradient",
        options=METHODS,
        details="Scores are means of squared attributions, see Notes.",
    ),
    Parameter(
        "scoring",
        "Scores from",
        "exact: all training rows. sampled: a few rows drawn for each label, with a standard error for each score. "
        "auto: exact unless that takes minutes.",
        "choice",
        "auto",
        options=SCORING,
        advanced=True,
        details="auto is exact up to 1e13 multiply-adds; the attribute scoring_ says which it was.",
    ),
    Parameter(
        "n_scored_rows",
        "Rows of sampled scores",
        "Number of drawn rows. More rows make standard errors smaller, and take longer. Empty: 16 for each label, or "
        "1,000 for all labels if the attribution is not the gradient.",
        "int",
        None,
        minimum=2,
        offered=(2, 10_000_000),
        advanced=True,
        optional=True,
        details="Not more than there are training rows. The rows of a label are drawn in proportion to their weights "
        "in its scores.",
    ),
    Parameter(
        "n_hidden",
        "Hidden units",
        "Number of units in a hidden layer. Empty: the square root of features times labels, as in the paper. More "
        "units can learn more, and take longer.",
        "int",
        None,
        minimum=1,
        offered=(1, 1_000_000),
        advanced=True,
        optional=True,
        empty="√(features × labels)",
        details="With several hidden layers, None makes their widths a geometric series from D to L. With binary, "
        "None means the square root of the number of features.",
    ),
    Parameter(
        "n_layers",
        "Layers",
        "2: one hidden layer, as in the paper. 1: logistic regression for each label. Scores of networks with 3 or "
        "more layers take longer.",
        "int",
        2,
        minimum=1,
        maximum=5,
        advanced=True,
        details="It counts the layers of weights.",
    ),
    Parameter(
        "activation",
        "Activation",
        "Activation function of the hidden units. The paper uses relu, whose gradients are faster to add up.",
        "choice",
        "relu",
        options=ACTIVATIONS,
        advanced=True,
    ),
    Parameter(
        "binary",
        "A network for each label (FALSb)",
        "Train a small network for each label, instead of one network for all labels.",
        "bool",
        False,
        advanced=True,
        details="These have two layers.",
    ),
    Parameter(
        "l2",
        "Weight of the L2 penalty",
        "With a larger penalty, weights are smaller and scores differ less between features.",
        "float",
        0.0,
        minimum=0.0,
        offered=(0.0, 10.0),
        advanced=True,
        details="The loss, a sum over labels and a mean over rows, gets l2 / 2 times the squared weights. Then every "
        "step moves all weights, which takes longer on sparse data.",
    ),
    Parameter(
        "dropout",
        "Dropout",
        "Share of hidden units that are left out at random in each training step, against overfitting.",
        "float",
        0.0,
        minimum=0.0,
        maximum=1.0,
        below=True,
        offered=(0.0, 0.95),
        advanced=True,
    ),
    Parameter(
        "batch_size",
        "Rows per step",
        "Number of rows in a training step. With fewer rows, an epoch has more and noisier steps, and takes longer. "
        "Empty: 100 steps per epoch.",
        "int",
        None,
        minimum=1,
        offered=(1, 1_000_000),
        advanced=True,
        optional=True,
        details="These steps have from 32 to 1,024 rows.",
    ),
    Parameter(
        "learning_rate",
        "Step size",
        "Step size of Adam. Training is faster with a larger step, and fails if the step is too large.",
        "float",
        0.001,
        minimum=1e-12,
        offered=(1e-6, 1.0),
        advanced=True,
    ),
    replace(SEED, maximum=2**32 - 1),
    Parameter(
        "max_score_bytes",
        "Memory for scores, in bytes",
        "The scores of all features for all labels, and the standard errors of sampled ones, are kept when they take "
        "no more than this; else only the scores of selected features.",
        "int",
        2 << 30,
        minimum=0,
        in_form=False,
    ),
    Parameter(
        "keep_network",
        "Keep the network",
        "Predictions and attributions of single rows need the network.",
        "bool",
        True,
        in_form=False,
    ),
    N_JOBS,
)
