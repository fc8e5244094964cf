"""The parameters of FALS: the only place where they are described."""

from dataclasses import replace

from xmlcore.parameters import N_JOBS, SEED, About, Parameter, Preset

PATTERNS = ("FALS", "FAMS", "FILS", "FIMS")
SHARED = ("FAMS", "FIMS")  # the patterns that give all labels the same features
FISHER = ("FILS", "FIMS")  # the patterns of Fisher information
ACTIVATIONS = ("relu", "sigmoid")
METHODS = ("gradient", "integrated_gradients", "deeplift", "lrp")
SCORING = ("auto", "exact", "sampled")

N_FEATURES = Parameter(
    "n_features", "Features kept per label",
    "A share of all features, or a number. A model learns faster from fewer features, and they are easier to read; "
    "with too few, it lacks features that the label depends on. The paper keeps a tenth.",
    "share", 0.1, offered=(1e-6, 1.0), step=0.05, details="A share is rounded to a number of at least one.",
)  # fmt: skip

ABOUT = About(
    title="Label-specific selection by attribution",
    summary=(
        "Trains one small network for all labels. For each label, it keeps the features to which the "
        "label's output is most sensitive, on average over the training rows."
    ),
    paper="FALS: Feature attribution for label-specific feature selection in multi-label learning",
    color="#E69F00",
    mark="circle",
)

PARAMETERS = (
    Parameter(
        "pattern", "Pattern",
        "How features are scored. FALS: by squared gradients of a label's output, with a set of features for "
        "each label. FILS: by Fisher information instead, where rows count more if the network is certain of "
        "them. FAMS and FIMS: by the sums of the scores of FALS and FILS over all labels, with one set for "
        "all labels.",
        "choice", "FALS", options=PATTERNS,
        details="Fisher information is the squared gradient of the output f, divided by f (1 - f).",
    ),
    N_FEATURES,
    Parameter(
        "n_epochs", "Epochs",
        "Number of passes over the training rows. The paper finds 10 enough. More passes fit the training "
        "rows more closely, and take longer.",
        "int", 10, minimum=1, offered=(1, 1000), details="The paper also tries 20, 50 and 100.",
    ),
    Parameter(
        "attribution", "Attribution",
        "How the part of a feature in a label's output is measured. gradient: by the slope of the output. "
        "Only these scores can be computed without a step for every row, label and feature. "
        "The others: by the share of the feature in the output itself, compared "
        "with the output for a row without features. They are slower, and cannot be used with Fisher "
        "information (FILS, FIMS).",
        "choice", "gradient", options=METHODS, option_names=("gradient", "integrated gradients", "DeepLIFT", "LRP"),
        details="Scores are means of squared attributions, see Notes.",
    ),
    Parameter(
        "scoring", "Scores from",
        "exact: scores are computed on all training rows. sampled: they are computed on a few rows drawn for "
        "each label, and every score has a standard error. auto: exact unless that takes minutes.",
        "choice", "auto", options=SCORING, option_names=("automatic", "all training rows", "a sample for each label"),
        advanced=True,
        details="auto is exact up to 1e13 multiply-adds. The attribute scoring_ is the choice that was made.",
    ),
    Parameter(
        "n_scored_rows", "Rows of sampled scores",
        "Number of drawn rows. More rows make standard errors smaller, and take longer. Empty: 16 for each label, or "
        "1,000 for all labels if the attribution is not the gradient.",
        "int", None, minimum=2, offered=(2, 10_000_000), advanced=True, optional=True,
        details="Not more than there are training rows. The rows of a label are drawn in proportion to their weights "
        "in its scores.",
    ),
    Parameter(
        "n_hidden", "Hidden units",
        "Number of units in a hidden layer. Empty: the square root of features times labels, as in the paper. More "
        "units can learn more, and take longer.",
        "int", None, minimum=1, offered=(1, 1_000_000), advanced=True, optional=True, empty="√(features × labels)",
        details="With several hidden layers, None makes their widths a geometric series from D to L. With binary, "
        "None means the square root of the number of features.",
    ),
    Parameter(
        "n_layers", "Layers",
        "Number of layers of weights. 2 is one hidden layer, as in the paper. 1 is logistic regression for "
        "each label. Scores of networks with 3 or more layers take longer.",
        "int", 2, minimum=1, maximum=5, advanced=True,
        details="Only networks with 2 layers have the faster orders of computation.",
    ),
    Parameter(
        "activation", "Activation",
        "Activation function of the hidden units. The paper uses ReLU, whose gradients are faster to add up.",
        "choice", "relu", options=ACTIVATIONS, option_names=("ReLU", "sigmoid"), advanced=True,
    ),
    Parameter(
        "binary", "A network for each label (FALSb)",
        "On: a small network of its own is trained for each label, so that labels share nothing. Off: one "
        "network is trained for all labels.",
        "bool", False, advanced=True, details="The small networks have two layers.",
    ),
    Parameter(
        "l2", "Weight of the L2 penalty",
        "A larger weight keeps the weights of the network smaller, and makes the scores of features more even.",
        "float", 0.0, minimum=0.0, offered=(0.0, 10.0), advanced=True,
        details="l2 / 2 times the sum of squared weights is added to the loss, which is a sum over labels and a mean "
        "over rows. With l2 above 0 every step changes all weights, which takes longer on sparse data.",
    ),
    Parameter(
        "dropout", "Dropout",
        "Share of hidden units that are left out at random in each training step, against overfitting.",
        "float", 0.0, minimum=0.0, maximum=1.0, below_maximum=True, offered=(0.0, 0.95), advanced=True,
    ),
    Parameter(
        "batch_size", "Rows per step",
        "Number of rows per training step. A smaller number makes more and noisier steps per epoch, and takes "
        "longer. Empty: 100 steps per epoch.",
        "int", None, minimum=1, offered=(1, 1_000_000), advanced=True, optional=True,
        details="With None, a step has 32 to 1,024 rows.",
    ),
    Parameter(
        "learning_rate", "Step size",
        "Step size of the optimiser Adam. A larger step learns faster; too large a step does not learn at all.",
        "float", 0.001, minimum=1e-12, offered=(1e-6, 1.0), advanced=True,
    ),
    replace(SEED, maximum=2**32 - 1),
    Parameter(
        "max_score_bytes", "Memory for scores, in bytes",
        "The scores of all features for all labels, with the standard errors of sampled scores, are kept if "
        "they need at most this many bytes. Otherwise only the scores of selected features are kept.",
        "int", 2 << 30, minimum=0, in_form=False,
    ),
    Parameter(
        "keep_network", "Keep the network",
        "Whether to keep the network, which predictions and attributions of single rows need.",
        "bool", True, in_form=False,
    ),
    N_JOBS,
)  # fmt: skip

PRESETS = {
    "paper": Preset(
        "Paper's",
        "The paper's section on experiments: a tenth of the features, 10 epochs, two layers with √(features × labels) "
        "hidden units, relu. Its optimiser and step size are not named: they are Adam's usual ones.",
        {
            "pattern": "FALS", "n_features": 0.1, "n_epochs": 10, "attribution": "gradient", "scoring": "auto",
            "n_scored_rows": None, "n_hidden": None, "n_layers": 2, "activation": "relu", "binary": False, "l2": 0.0,
            "dropout": 0.0, "batch_size": None, "learning_rate": 0.001,
        },
    )
}  # fmt: skip
