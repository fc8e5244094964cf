"""The parameters of PLT and ExtendedPLT: the only place where they are described."""

from xmlcore.parameters import N_JOBS, SEED, Parameter
from xmlcore.validation import INT32_MAX

LARGEST = 1e30  # Largest value of tol, weight_threshold and sigma: float32 ends at 3e38.

PARAMETERS = (
    Parameter(
        "loss",
        "Loss of the node classifiers",
        "logistic: each factor is a sigmoid. squared_hinge (Parabel): exp(-max(0, 1 - margin)²); it trains "
        "quicker and leaves a third fewer weights, with P@k within a point either way. Use it with C = 1.",
        "choice",
        "logistic",
        options=("logistic", "squared_hinge"),
        details="squared_hinge converges slowly with the default C of 10.",
    ),
    Parameter(
        "C",
        "C, weight of the loss",
        "A larger value fits the training rows more closely. A smaller value gives smoother classifiers, which helps "
        "where labels are noisy and hurts where they are many and rare. "
        "Published: 10 with the logistic loss (napkinXC), 1 with the squared hinge (Parabel).",
        "float",
        10.0,
        minimum=1e-6,  # in float32, values beyond these bounds would have no further effect
        maximum=1e6,
        offered=(1e-3, 1e4),
        details="The objective is C times the loss, plus |w|^2 / 2.",
    ),
    Parameter(
        "max_leaf_labels",
        "Labels under a last node",
        "A node with at most this many labels is not split: the labels become its leaves. A larger value makes a "
        "shallower tree with fewer factors per label, which takes longer to train. A smaller value makes a deeper tree "
        "and a larger model.",
        "int",
        100,
        minimum=1,
        maximum=INT32_MAX,
        offered=(1, 100_000),
        details="100 is napkinXC's and Parabel's value.",
    ),
    Parameter(
        "arity",
        "Arity",
        "Children of an inner node. 2 is Parabel's binary tree; 16 and more make the wide, shallow trees of "
        "Bonsai (Khandagale et al., 2020): fewer factors per label, often more precise on the tail.",
        "int",
        2,
        minimum=2,
        maximum=INT32_MAX,
        offered=(2, 1024),
    ),
    Parameter(
        "n_estimators",
        "Trees",
        "Trees with different clusterings whose probabilities are averaged. Three bring up to half a point of "
        "P@k for three times the time and memory. Huffman trees have nothing to differ in: one is enough.",
        "int",
        1,
        minimum=1,
        maximum=INT32_MAX,
        offered=(1, 100),
        details="With huffman or a LabelTree, more than one gives a warning.",
    ),
    Parameter(
        "tree",
        "How labels are grouped",
        "kmeans puts labels with similar rows together (Parabel, Prabhu et al., 2018). huffman puts frequent "
        "labels near the root and rare ones deep down (fastText, Joulin et al., 2017); it has one label per "
        "leaf, whatever “Labels under a last node” says. Binary, its models are 2.6 to 3.3 times as large as "
        "those of binary kmeans and 0.4 to 2.7 points of P@5 worse; with arity 16 they are about 1.1 times as "
        "large (up to 1.6 times those of kmeans with arity 16), and within a point. "
        "random is the control: what the tree costs in precision when the grouping knows nothing (up to "
        "1.5 points of P@5 on 16,000 labels).",
        "choice",
        "kmeans",
        options=("kmeans", "random", "huffman"),
        also=("LabelTree",),
        advanced=True,
        details="kmeans is balanced and spherical, on the mean row of each label. A LabelTree is taken as it is, such "
        "as one of trees_ of another model.",
    ),
    Parameter(
        "collapse_layers",
        "Collapsed layers",
        "Number of layers of inner nodes to remove after each kept layer: 3 makes a binary tree 16-ary "
        "(AttentionXML, You et al., 2019; similar to Bonsai, Khandagale et al., 2020). Labels then have fewer factors: "
        "on 16,000 labels, 3 raised P@5 by half a point and halved the times to train and to predict. Nodes "
        "with at most “Labels under a last node” labels are kept, so trees of two layers do not change.",
        "int",
        0,
        minimum=0,
        maximum=INT32_MAX,
        offered=(0, 30),
        advanced=True,
        details="Nodes with at most max_leaf_labels leaves and nothing else stay in any case (not with huffman), as "
        "with omikuji's collapse_every_n_layers. See LabelTree.collapsed.",
    ),
    Parameter(
        "weight_threshold",
        "Drop weights below",
        "Weights with a smaller absolute value are dropped after training. 0.1 makes models up to four times smaller "
        "without a measurable loss of precision; 0 keeps all weights.",
        "float",
        0.1,
        minimum=0.0,
        maximum=LARGEST,
        offered=(0.0, 10.0),
        step=0.05,
        advanced=True,
        details="Biases are never dropped. 0.1 is napkinXC's and Parabel's value.",
    ),
    Parameter(
        "beam",
        "Beam",
        "Empty searches exactly. A number is the largest number of nodes that the search opens at each depth. Such a "
        "search can miss labels; it is about twice as fast for rows on which the model is unsure, and equally fast for "
        "other rows.",
        "int",
        None,
        minimum=1,
        maximum=INT32_MAX,
        offered=(1, 10_000),
        advanced=True,
        optional=True,
        empty="exact",
    ),
    Parameter(
        "tol",
        "Tolerance",
        "Training of a node ends when no row would change its probability by more than this. A smaller value trains "
        "longer; below 0.1 precision rarely changes.",
        "float",
        0.1,
        minimum=0.0,
        above=True,
        maximum=LARGEST,
        offered=(1e-6, 1.0),
        advanced=True,
        details="A node is done after a pass over all its rows in which no margin was further than tol from its "
        "optimum: a difference of probabilities (logistic) or of slacks (squared_hinge).",
    ),
    Parameter(
        "max_iter",
        "Most epochs",
        "Training of a node also ends after this number of passes over its rows; a warning then says so.",
        "int",
        100,
        minimum=1,
        maximum=INT32_MAX,
        offered=(1, 100_000),
        advanced=True,
        details="Passes count on average: rows that are near their optimum are skipped in some passes.",
    ),
    SEED,
    N_JOBS,
)

NOISE_PARAMETERS = (
    Parameter(
        "sigma",
        "Noise in training, σ",
        "Standard deviation of the Gaussian noise in copies of training rows, in the units of the feature values. The "
        "model predicts rows with such noise better, and clean rows often a little worse. The paper (Date and Mehar) "
        "uses 0.05, for values between 0 and 1.",
        "float",
        0.05,
        minimum=0.0,
        above=True,
        maximum=LARGEST,
        in_form=False,
    ),
    Parameter(
        "augment_ratio",
        "Noise in training, copies per row",
        "How many noisy copies are added, as a share of the training rows. The paper uses 1, which doubles the rows.",
        "float",
        1.0,
        minimum=0.0,
        above=True,
        in_form=False,
        details="N rows give m = round(N * augment_ratio) copies.",
    ),
    Parameter(
        "noise_support",
        "Noise in training, on",
        "all: every feature of a copy gets noise, also those that are 0 (the paper); training takes memory and time "
        "for rows times features. nonzero: only the features that the row has get noise, so copies stay sparse; "
        "training takes about twice the time of clean training.",
        "choice",
        "all",
        options=("all", "nonzero"),
        in_form=False,
    ),
)
