"""The parameters of PLT and ExtendedPLT: the only place where they are described."""

from dataclasses import replace

from xmlcore.parameters import AUTO, N_JOBS, SEED, About, Parameter, Preset
from xmlcore.validation import INT32_MAX

LARGEST = 1e30  # Largest value of tol, weight_threshold and sigma: float32 ends at 3e38.

FAST, BALANCED, BEST = QUALITIES = ("fast", "balanced", "best")
ALTERNATING = ("l2+idf", "idf+l2")  # values of normalize between which the trees of an ensemble alternate

HINGE_SCORES = {
    "squared_hinge": "A score between 0 and 1 that the squared hinge makes. It ranks labels and is no calibrated "
    "probability: a label with a score of 1 can be wrong. The logistic loss makes probabilities."
}
ABOUT = About(
    title="Probabilistic label tree",
    summary=(
        "The labels are the leaves of a tree with a linear classifier at every node. The probability of a "
        "label is the product of the probabilities on the path from the root to the label. Training and "
        "prediction are fast, and the search always finds the k most probable labels."
    ),
    paper="Jasinska et al., ICML 2016; Prabhu et al., WWW 2018",
    color="#0072B2",
    mark="circle",
    scores_by_loss=HINGE_SCORES,
)

NORMALIZE = Parameter(
    "normalize", "Scaling of rows",
    "How rows are scaled before they are classified. l2: each row to length 1, as is usual for texts. idf: then each "
    "column is also multiplied by its inverse document frequency, so that rare features count more. standardize: "
    "each column is divided by its standard deviation in the training rows, so that columns of large numbers do not "
    "outweigh the others; columns of dense rows are also centred. Empty: values stay as they are. auto: the better of "
    "l2 and idf in trials; for dense rows l2, or the better of it and standardize if a few columns outweigh the rest.",
    "choice", AUTO, options=(AUTO, "l2", "idf", "standardize"),
    option_names=("automatic", "rows of length 1", "rare features weigh more", "standardised columns"),
    optional=True, empty="values as they are", advanced=True,
    details="But for l2, classifiers are trained on values times one number, so that the mean squared length of rows "
    "is 1 and C means the same; fitted ones read rows of length 1 with idf, and values in their own units with "
    "standardize and None. With fewer than 400 training rows nothing is tried: auto is then l2, or standardize.",
)  # fmt: skip
_NORMALIZE_TREES = replace(
    NORMALIZE,
    help=NORMALIZE.help + " l2+idf, idf+l2: the trees of an ensemble alternate.",
    options=(*NORMALIZE.options, *ALTERNATING),
    option_names=(*NORMALIZE.option_names, "alternating, first of length 1", "alternating, first rare features"),
)

PARAMETERS = (
    Parameter(
        "quality", "Quality",
        "fast: settings that are automatic get fixed values, without trials. balanced: they are chosen by trials on a "
        "sample of the training rows. best: so they are, and if a tree has several levels, three or more are trained, "
        "which differ in their groups of labels and in how rows are scaled: in two to three times the time.",
        "choice", BALANCED, options=QUALITIES, option_names=QUALITIES,
        details="The three trees alternate in normalize, if it is auto and rows are sparse: l2+idf or idf+l2.",
    ),
    Parameter(
        "loss", "Loss of the node classifiers",
        "The loss that the classifiers of the nodes minimise. logistic: the probability at a node is the "
        "sigmoid of a margin, and probabilities are better. squared_hinge: it is exp(-max(0, 1 - margin)²), as in "
        "Parabel; this trains faster, keeps a third fewer weights, and mostly ranks as well or better. auto: the "
        "squared hinge, or the better of the two in a trial if C is given.",
        "choice", "auto", options=("auto", "logistic", "squared_hinge"),
        option_names=("automatic", "logistic", "squared hinge"),
        details="squared_hinge converges slowly with a C of 10 and more. With fewer than 400 training rows nothing is "
        "tried: the squared hinge is used.",
    ),
    Parameter(
        "C", "C, weight of the loss",
        "Weight of the loss, against a penalty on large weights. A larger value fits the training rows more "
        "closely. A smaller value gives smoother classifiers: better if labels are noisy, worse if there are "
        "many rare labels. Published values: 10 with the logistic loss (napkinXC), 1 with the squared hinge "
        "(Parabel). Automatic: chosen by trials on a sample of the training rows.",
        # In float32, values beyond these bounds would have no further effect.
        "float", "auto", others=("auto",), minimum=1e-6, maximum=1e6, offered=(1e-3, 1e4),
        details="The objective is C times the loss, plus |w|^2 / 2.",
    ),
    Parameter(
        "max_leaf_labels", "Max labels per leaf",
        "A node with at most this many labels is not divided further: each of its labels becomes a leaf. A "
        "larger value makes a shallower tree, with fewer factors in the probability of a label, but slower "
        "training. A smaller value makes a deeper tree and a larger model. Automatic: as many as trains quickly "
        "enough.",
        "int", "auto", others=("auto",), minimum=1, maximum=INT32_MAX, offered=(1, 100_000),
        details="napkinXC and Parabel use 100.",
    ),
    Parameter(
        "arity", "Arity",
        "Number of children of an inner node. 2 makes a binary tree, as in Parabel. 16 and more make the "
        "wide, shallow trees of Bonsai (Khandagale et al., 2020): the probability of a label has fewer "
        "factors, and rare labels are often predicted more precisely. Automatic: 2, or so many children that "
        "the tree has few levels, if that is better in a trial.",
        "int", "auto", others=("auto",), minimum=2, maximum=INT32_MAX, offered=(2, 1024),
    ),
    Parameter(
        "n_estimators", "Trees",
        "Number of label trees. Each tree groups the labels differently, and the probabilities of all trees are "
        "averaged. Three trees gain half a point of P@k to two, most with many rare labels, and take three times the "
        "memory and nearly the time. Where the chosen shape has one level, those with one scaling of rows would be "
        "equal, and one of them is trained. So are Huffman trees: use one.",
        "int", 1, minimum=1, maximum=INT32_MAX, offered=(1, 100),
        details='More than one tree with tree="huffman", or with a LabelTree, gives a warning.',
    ),
    Parameter(
        "tree", "How labels are grouped",
        "kmeans: labels with similar rows are put together (Parabel, Prabhu et al., 2018). huffman: frequent "
        "labels are near the root and rare labels deep down (fastText, Joulin et al., 2017). Each leaf then "
        "has one label, and “Max labels per leaf” has no effect. Models with a binary Huffman tree are "
        "2.6 to 3.3 times as large as models with a binary k-means tree, and 0.4 to 2.7 points of P@5 worse. "
        "With arity 16 they are about 1.1 times as large (up to 1.6 times as large as with k-means and arity "
        "16), and P@5 differs by at most one point. random: labels are grouped at random, to see how much the "
        "grouping matters (up to 1.5 points of P@5 on 16,000 labels).",
        "choice", "kmeans", options=("kmeans", "random", "huffman"),
        option_names=("by similarity (k-means)", "at random", "by frequency (Huffman)"), also=("LabelTree",),
        advanced=True,
        details="kmeans is balanced spherical k-means on the mean training row of each label. A LabelTree, such as an "
        "item of ``trees_`` of another model, is used without changes.",
    ),
    _NORMALIZE_TREES,
    Parameter(
        "collapse_layers", "Collapsed layers",
        "After each layer of inner nodes that is kept, this many layers are removed. 3 makes a binary tree "
        "16-ary (AttentionXML, You et al., 2019; similar to Bonsai, Khandagale et al., 2020). The probability "
        "of a label then has fewer factors. On 16,000 labels, 3 gained half a point of P@5, and training and "
        "prediction took about half the time. Nodes with at most “Max labels per leaf” labels are always "
        "kept, so trees of two layers do not change.",
        "int", 0, minimum=0, maximum=INT32_MAX, offered=(0, 30), advanced=True,
        details="A node that has only leaves as children, at most max_leaf_labels of them, is always kept (but not "
        "with huffman), as by omikuji's collapse_every_n_layers. See LabelTree.collapsed.",
    ),
    Parameter(
        "weight_threshold", "Drop weights below",
        "Weights with a smaller absolute value are removed after training. On held-out training rows of ten data sets, "
        "0.02 made models up to 17 times smaller and cost at most 0.02 points of P@5; 0.1, which napkinXC and Parabel "
        "use, made them smaller by another factor of 1 to 8 and cost up to 0.5 points. 0 keeps all weights.",
        "float", 0.02, minimum=0.0, maximum=LARGEST, offered=(0.0, 10.0), step=0.01, advanced=True,
        details="Biases are never removed.",
    ),
    Parameter(
        "beam", "Beam",
        "Empty: the search is exact. A number: the search opens at most this many nodes at each depth, and "
        "never more than the exact search would open. This takes the same time where the model is certain and "
        "about half the time where it is not, but can miss labels.",
        "int", None, minimum=1, maximum=INT32_MAX, offered=(1, 10_000), advanced=True, optional=True, empty="exact",
    ),
    Parameter(
        "tol", "Tolerance",
        "Training of a node stops when no row would change its probability by more than this. A smaller value "
        "trains longer; below 0.1 precision rarely changes.",
        "float", 0.1, minimum=0.0, above_minimum=True, maximum=LARGEST, offered=(1e-6, 1.0), advanced=True,
        details="Training of a node stops after a pass over all its rows in which the margin of no row was further "
        "than tol from its optimum. The distance is a difference of probabilities (logistic) or of slacks "
        "(squared_hinge).",
    ),
    Parameter(
        "max_iter", "Max epochs",
        "Training of a node also stops after this many passes over its rows, and then gives a warning.",
        "int", 100, minimum=1, maximum=INT32_MAX, offered=(1, 100_000), advanced=True,
        details="The number of passes is an average over rows: rows near their optimum are skipped in some passes.",
    ),
    Parameter(
        "learnable", "Learns on",
        "The model keeps its training rows, and learns further rows, corrections and new labels by partial_fit.",
        "bool", False, in_form=False, details="A saved model has the rows, too.",
    ),
    SEED,
    N_JOBS,
)  # fmt: skip

NOISE_PARAMETERS = (
    Parameter(
        "sigma", "Noise in training, σ",
        "Standard deviation of the Gaussian noise in copies of training rows, in the units of the feature values. The "
        "model predicts rows with such noise better, and clean rows often a little worse. The paper (Date and Mehar) "
        "uses 0.05, for values between 0 and 1.",
        "float", 0.05, minimum=0.0, above_minimum=True, maximum=LARGEST, in_form=False,
    ),
    Parameter(
        "augment_ratio", "Noise in training, copies per row",
        "Number of noisy copies per training row. The paper uses 1, which doubles the number of rows.",
        "float", 1.0, minimum=0.0, above_minimum=True, in_form=False,
        details="N rows give m = round(N * augment_ratio) copies.",
    ),
    Parameter(
        "noise_support", "Noise in training, on",
        "Noise on all features, also those that are 0, is the paper's: training then takes memory and time "
        "for rows times features. Noise on the features that the row has keeps copies sparse, and training "
        "takes about twice as long as without noise.",
        "choice", "all", options=("all", "nonzero"),
        option_names=("all features (as published)", "present features only"), in_form=False,
    ),
)  # fmt: skip

_BINARY = {
    "quality": BALANCED, "tree": "kmeans", "arity": 2, "max_leaf_labels": 100, "collapse_layers": 0,
    "normalize": "l2", "weight_threshold": 0.1, "tol": 0.1, "max_iter": 100,
}  # fmt: skip
PRESETS = {
    "napkinxc": Preset(
        "As in napkinXC (library)",
        "The defaults of napkinXC (Jasinska-Kobus et al., 2020): one binary tree with at most 100 labels under a last "
        "node, the logistic loss with C = 10, exact search. Tolerance and epochs are xmlcore's.",
        _BINARY | {"n_estimators": 1, "loss": "logistic", "C": 10.0, "beam": None},
    ),
    "parabel": Preset(
        "As in Parabel (paper)",
        "Prabhu et al. (WWW 2018): three binary trees with at most 100 labels per leaf, the squared hinge "
        "loss with C = 1, a beam of 10. Tolerance and epochs are xmlcore's.",
        _BINARY | {"n_estimators": 3, "loss": "squared_hinge", "C": 1.0, "beam": 10},
    ),
}
# ExtendedPLT has those of PLT and its own paper's, which says that napkinXC's defaults were used.
EXTENDED_PRESETS = PRESETS | {
    "paper": Preset(
        "Paper's",
        "Date and Mehar (2025): napkinXC's PLT with no setting named, so its defaults. Noise of σ = 0.05 on all "
        "features, and one noisy copy per row. Tolerance and epochs are xmlcore's.",
        PRESETS["napkinxc"].values | {"sigma": 0.05, "augment_ratio": 1.0, "noise_support": "all"},
    )
}
