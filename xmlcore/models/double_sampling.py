"""Double sampling: one linear function of (row, class) features, learnt from sampled pairs, ranks nearby classes."""

import numbers
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import double_sampling as kernels
from xmlcore.arrays import columns_of, in_columns, read_only
from xmlcore.models.base import ModelFormatError, MultiLabelModel, check_columns
from xmlcore.models.class_terms import NO_MORE, ClassTerms, check_postings
from xmlcore.models.tree_candidates import CrossFitted, TreeCandidates, as_vectors
from xmlcore.parallel import run_tasks
from xmlcore.progress import Progress, silent
from xmlcore.ranking import Ranking
from xmlcore.system import effective_jobs
from xmlcore.validation import INT32_MAX, check_count, check_features, check_labels, csr_parts

MEANINGS = {
    "log count": "Sum of log(1 + count in the class) over the terms that the row and the class have in common.",
    "log rarity": "Sum of log(1 + all counts / counts of the term) over the common terms: rare terms in common.",
    "idf": "Sum of the inverse document frequencies of the common terms.",
    "share x idf": "Sum over the common terms of their share of the class's counts x inverse document frequency.",
    "log share": "Sum of log(1 + share of the class's counts) over the common terms.",
    "log share x idf": "Sum of log(1 + share of the class's counts x inverse document frequency), over common terms.",
    "log share x rarity": "Sum over the common terms of log(1 + lift): how much more frequent the class has the term "
    "than all rows together.",
    "common terms": "Number of terms that the row and the class have in common.",
    "distance": "Distance of the row to the class's centroid: small means alike.",
    "BM25": "Score of the class for the row by BM25, the rule that search engines rank documents by.",
    "idf covered": "Share of the row's inverse document frequencies that terms in common with the class make up.",
    "rarest term": "Largest inverse document frequency of a common term.",
    "largest lift": "Largest log(1 + lift) of a common term: the one that points to the class most.",
    "log likelihood": "How much likelier the row's terms are in the class, smoothed, than in all rows together, as a "
    "logarithm.",
    "damped distance": "Distance of the row to the class's direction when its counts enter by their logarithms.",
    "other distance": "Distance of the row to the class's direction with the other weights of terms: counts where "
    "centroids use tf-idf, and the reverse.",
    "tree log probability": "Logarithm of the probability that the label tree gives the class.",
}  # a sentence each, by the short names of features
FEATURES = tuple(MEANINGS)[: kernels.N_FEATURES]
MORE_FEATURES = tuple(MEANINGS)[kernels.N_FEATURES : -1]
TREE_FEATURE = tuple(MEANINGS)[-1]
LOSSES = ("logistic", "squared_hinge")
DISTANCES = ("cosine", "euclidean")
WEIGHTINGS = ("tfidf", "counts")
NEGATIVE = ("refuse", "zero")
FEATURE_SETS = ("paper", "extended")
SOURCES = ("centroids", "plt")
ADVERSARIES = ("random", "candidates")
# Streams of random numbers: how often examples are taken, their adversaries, the label tree, those of cross-fitting.
COPIES, DRAWS, TREE, CROSS = 1, 2, 3, 4
BLOCK = 1024  # rows or examples per task
MOST_RANKED = 1 << 21  # candidates ranked at a time: some 60 MB
MAX_ITER, TOLERANCE = 1000, 1e-6
DTYPES = {
    "feature_of_column": ("int32", 1),
    "ptr": ("int64", 1),
    "classes": ("int32", 1),
    "sums": ("float32", 1),
    "document_counts": ("int64", 1),
    "class_size": ("int64", 1),
    "sampled_size": ("int64", 1),
    "weights": ("float64", 1),
    "scale": ("float64", 1),
}


class Sample(NamedTuple):
    """What double sampling draws, M copies of examples."""

    rows: np.ndarray  # int64 (M,), rows of the labelled training rows
    classes: np.ndarray  # int32 (M,), the class that stands for the row in this copy
    adversaries: np.ndarray  # int32 (M, kappa), rising


class DoubleSampling(MultiLabelModel):
    """Multi-class classification as a binary problem over pairs, doubly sampled: (π, κ)-DS with candidate selection.

    A row x and a class y have ten features φ(x, y), sums over the terms that both have and the distance of x to the
    class's centroid. One linear function f of these ten ranks classes. It is learnt from pairs: a sampled example
    (x, y) should have a larger f with its own class than with each of κ classes drawn at random. A prediction ranks
    the q classes of nearest centroid by f.

    The size of the model, and the time for a row, do not grow with classes times features, but with what rows and
    classes have in common.

    Parameters
    ----------
    examples_per_class : float
        Expected number of examples that each class gives: example i of a class with n rows is taken
        examples_per_class / n times, rounded up or down at random. Small classes are oversampled, large ones cut.
        The paper takes 1 or 2.
    n_adversarial : int
        κ, classes drawn for each example, uniformly, all different and not the example's own; all others where there
        are no more. The paper takes 5 to 122.
    n_candidates : int
        q, classes ranked for a row; a row's own class can be found only among them. All where there are no more.
    random_state : int or None
        Seed. The same seed gives the same model, whatever the number of threads; None draws one.
    loss : {"logistic", "squared_hinge"}
        Of the binary problem. The paper does not name its learner.
    C : float
        Weight of the loss, against half the squared length of the weights of the scaled features.
    distance : {"cosine", "euclidean"}
        To centroids: between directions, or |x - μ|. See Notes.
    weighting : {"tfidf", "counts"}
        What vectors hold from which centroids and distances are made: x_t I_t, or x_t.
    leave_one_out : bool
        Take an example's own part out of its class before training on it, as it will not be there when new rows come;
        examples that are the only one of their class then teach nothing and are left out. Not in the paper.
    features : {"paper", "extended"}
        "extended" adds six features, and the label tree's log probability when candidates come from it. They want
        ``leave_one_out`` or ``adversaries="candidates"``. Not in the paper. See Notes.
    candidates_from : {"centroids", "plt"}
        "plt" takes the q most probable classes of a :class:`~xmlcore.PLT` that is trained beside. Not in the paper.
    adversaries : {"random", "candidates"}
        "candidates" compares an example with up to κ of the other candidates that a prediction would have, drawn at
        random; its own class is taken without it, and examples whose class would be no candidate are left out: f is
        learnt on what it will be asked. Not in the paper.
    balanced : bool
        False takes all examples equally often, ``examples_per_class`` times the number of classes in all: large classes
        then count for more, which serves accuracy at the cost of small classes. Not in the paper.
    negative : {"refuse", "zero"}
        What ``fit`` does about negative values: raises ValueError, or takes them as 0.
    n_jobs : int or None
        Threads; all cores when None or -1.

    Attributes
    ----------
    weights_ : ndarray of float64, shape (p,)
        f(φ) is the product of ``weights_`` with the features as :meth:`pair_features` has them, not scaled.
    feature_scale_ : ndarray of float64, shape (p,)
        Root mean square of each feature's difference over the training pairs; f was learnt on differences divided by
        it. ``weights_ * feature_scale_`` compares features.
    feature_names_ : list of str
        Short names of the p features, 10 unless ``features="extended"``; ``MEANINGS`` of this module has a sentence on
        each.
    empirical_risk_ : float
        The paper's equation (7): share of training pairs in which the own class does not have the larger f.
    n_pairs_ : int
        Pairs it was learnt from: κM, less those of a row's classes among each other.
    n_unlabelled_ : int
        Training rows that were left out.
    multiclass_ : bool
        Whether each training row had exactly one class, apart from those left out.
    class_size_ : ndarray of int64, shape (L,)
        Training rows of each class.
    sampled_size_ : ndarray of int64, shape (L,)
        Copies of examples of each class that were trained on.
    n_features_in_, n_labels_ : int

    Notes
    -----
    The ten features, from the paper's Table 1. Sums go over terms t that the row has and the class has; y_t is the sum
    of x_t over the class's rows, |y| that over all its terms, F_t that over all rows, l_S the sum of all F_t.

    1. ``log count``: Σ log(1 + y_t)
    2. ``log rarity``: Σ log(1 + l_S / F_t)
    3. ``idf``: Σ I_t
    4. ``share x idf``: Σ (y_t / |y|) I_t
    5. ``log share``: Σ log(1 + y_t / |y|)
    6. ``log share x idf``: Σ log(1 + (y_t / |y|) I_t)
    7. ``log share x rarity``: Σ log(1 + (y_t / |y|) (l_S / F_t))
    8. ``common terms``: Σ 1
    9. ``distance``: of the row to the class's centroid
    10. ``BM25``: Σ I_t 2 y_t / (y_t + 0.25 + 0.75 |y| / mean |y|)

    Those that ``features="extended"`` adds; m is the mean of |y|:

    11. ``idf covered``: Σ I_t, over that of all the row's terms
    12. ``rarest term``: max I_t
    13. ``largest lift``: max log(1 + (y_t / |y|) (l_S / F_t))
    14. ``log likelihood``: Σ x_t log(1 + (y_t / m) (l_S / F_t)) - |x| log(1 + |y| / m), the log likelihood ratio of the
        row's terms between the class, smoothed by a Dirichlet prior of mass m, and all rows
    15. ``damped distance``: between the directions of x_t I_t and of log(1 + y_t) I_t
    16. ``other distance``: between directions, of x_t and y_t, or of x_t I_t and y_t I_t with ``weighting="counts"``
    17. ``tree log probability``, with ``candidates_from="plt"``: at least -20. In training it comes from three trees,
        each asked about the third of the rows that it was not trained on.

    Where the paper leaves a choice open:

    - I_t is 1 + log((1 + N) / (1 + N_t)), with N_t of the N training rows having the term.
    - A class's length, in feature 10, is |y|; the mean is over classes that have rows.
    - The paper speaks of a distance to the average of the class's vectors and does not say which. Here rows are vectors
      of x_t I_t (or x_t); the average is taken over the class's rows; the distance is Euclidean between the two scaled
      to length 1, which ranks as the cosine does (or between them as they are, ``distance="euclidean"``).
    - π is said to be a probability and to be proportional to 1 / μ; examples of small classes would then have one above
      1, and they are taken several times, each time with other adversaries.
    - A row with several classes is an example of each, as in the paper's data. Where one of its classes is drawn
      against another, the pair is left out: neither should have the larger f. The paper has no word on that.
    - Classes without training rows are never drawn and never predicted.

    Values are amounts: counts, or weights such as tf-idf, whose sums then take the place of counts. Negative values
    mean nothing as amounts; when predicting they are taken as 0. Features that no training row had are ignored.

    References
    ----------
    B. Joshi, M.-R. Amini, I. Partalas, F. Iutzeler, Y. Maximov, "Aggressive sampling for multi-class to binary
    reduction with applications to text classification", NIPS 2017.

    Examples
    --------
    >>> from xmlcore import DoubleSampling
    >>> X = [[2, 0, 1, 0], [1, 0, 0, 1], [0, 3, 1, 0], [0, 1, 0, 1]]
    >>> model = DoubleSampling().fit(X, [0, 0, 1, 1])
    >>> model.predict_topk([[1, 0, 1, 0]], k=1).labels.tolist()
    [[0]]
    """

    def __init__(
        self,
        examples_per_class=2,
        n_adversarial=10,
        n_candidates=10,
        random_state=0,
        loss="logistic",
        C=1.0,
        distance="cosine",
        weighting="tfidf",
        leave_one_out=False,
        negative="refuse",
        n_jobs=None,
        features="paper",
        candidates_from="centroids",
        adversaries="random",
        balanced=True,
    ):
        self.examples_per_class = examples_per_class
        self.n_adversarial = n_adversarial
        self.n_candidates = n_candidates
        self.random_state = random_state
        self.loss = loss
        self.C = C
        self.distance = distance
        self.weighting = weighting
        self.leave_one_out = leave_one_out
        self.negative = negative
        self.n_jobs = n_jobs
        self.features = features
        self.candidates_from = candidates_from
        self.adversaries = adversaries
        self.balanced = balanced

    def fit(self, X, Y, progress: Progress = silent) -> "DoubleSampling":
        """Learn f on sampled pairs of the rows of X with the classes Y.

        Parameters
        ----------
        X : sparse or dense, shape (N, D)
            Counts, or other amounts of at least 0.
        Y : sparse or dense binary, shape (N, L), lists of class ids, or one class id per row, shape (N,)
        progress : callable, optional
            See :class:`xmlcore.progress.Progress`; an exception from it stops the training.

        Returns
        -------
        DoubleSampling
            Itself. When training is stopped, it stays as it was.

        Raises
        ------
        ValueError, TypeError
            Bad parameters or data; the message names them.

        Warns
        -----
        UserWarning
            When rows without labels were left out, or negative values taken as 0.
        """
        self._check_params()
        X = check_features(X)
        Y = _class_matrix(Y, X.shape[0])
        X = self._amounts(X)
        n_features, n_rows = X.shape[1], X.shape[0]
        labelled = np.flatnonzero(np.diff(Y.indptr))
        if labelled.size == 0:
            raise ValueError("no row of Y has a label: there is nothing to learn")
        if labelled.size < n_rows:
            warnings.warn(
                f"{n_rows - labelled.size:,} of {n_rows:,} training rows have no label and are left out",
                UserWarning,
                stacklevel=2,
            )
            X, Y = X[labelled], Y[labelled]
        classes = ClassTerms.of(X, Y, self.n_jobs, progress)
        if np.count_nonzero(classes.class_size) < 2:
            raise ValueError("all rows of Y have the same class: at least two classes are needed")
        entropy = self.random_state if self.random_state is not None else np.random.SeedSequence().entropy
        index = classes.index(self.distance, self.weighting)
        more = classes.more(index, self.weighting) if self.features == "extended" else NO_MORE
        x = in_columns(csr_parts(X), columns_of(classes.feature_of_column, n_features))
        y = csr_parts(Y)[:2]
        tree = cross = vectors = None
        if self.candidates_from == "plt":
            vectors = as_vectors(x, index.weight)
            tree, cross = self._trees(vectors, Y, entropy, progress)
        sample = self._sample(y, classes.class_size, progress, entropy)
        if self.adversaries == "candidates":
            sample = self._among_candidates(x, sample, classes.class_size, index, vectors, cross, entropy, progress)
        logs = None
        if self.features == "extended" and tree is not None:
            asked = np.concatenate([sample.classes[:, None], sample.adversaries], axis=1)
            logs = cross.log_proba(vectors, sample.rows, asked, self.n_jobs)
        del vectors, cross
        pairs, signs = self._pairs(x, sample, classes.class_size, index, progress, more, logs)
        theirs = _own_classes(sample, Y)
        if theirs is not None:
            pairs, signs = pairs[~theirs.ravel()], signs[~theirs.ravel()]
            sample = Sample(*(part[~theirs.all(axis=1)] for part in sample))
            if signs.size == 0:
                raise ValueError(
                    "every class drawn against an example is another class of the same row: make n_adversarial larger, "
                    "or leave out the classes that all rows have"
                )
        progress("Learning f", 0.0, f"{signs.size:,} pairs")
        weights, scale, risk = self._learn(pairs, signs)
        progress("Learning f", 1.0, f"{signs.size:,} pairs")
        values = {
            "n_features": n_features,
            "n_labels": Y.shape[1],
            "n_rows": labelled.size,
            "n_unlabelled": n_rows - labelled.size,
            "n_pairs": signs.size,
            "empirical_risk": risk,
            "distance": self.distance,
            "weighting": self.weighting,
            "features": self.features,
        }
        sampled_size = np.bincount(sample.classes, minlength=Y.shape[1]).astype(np.int64)
        self._set_fitted(classes, index, more, tree, sampled_size, weights, scale, values)
        return self

    def candidates(self, X, n: int | None = None, progress: Progress = silent) -> np.ndarray:
        """Return the classes that a prediction ranks, from those that have training rows.

        Parameters
        ----------
        X : sparse or dense, shape (n_rows, D)
        n : int, optional
            How many; ``n_candidates`` when None, and never more than there are.
        progress : callable, optional

        Returns
        -------
        ndarray of int32, shape (n_rows, q)
            Those of the nearest centroids, nearest first, or with ``candidates_from="plt"`` the most probable, in the
            order of their probability; the smaller id among equals.
        """
        x = self._rows(X)
        if self._tree is not None:
            return self._tree.top(as_vectors(x, self._index_.weight), self._width(n), self.n_jobs, progress)
        out = np.empty((x[0].size - 1, self._width(n)), np.int32)

        def one_block(block):
            part = _slice(x, *block)
            kernels.nearest_block(*part, self._index_, out[slice(*block)])

        self._in_blocks(one_block, out.shape[0], progress, "Finding candidates")
        return out

    def predict_topk(self, X, k: int = 5, progress: Progress = silent, *, n_candidates: int | None = None) -> Ranking:
        """Return the k candidates of largest f.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        k : int
            May exceed the candidates: rows are padded with label -1 and score 0.
        progress : callable, optional
            See :class:`xmlcore.progress.Progress`.
        n_candidates : int, optional
            Predict as with another q; nothing need be trained for it.

        Returns
        -------
        Ranking
            Scores as :meth:`predict_proba` has them. Equal f is ranked by class id.
        """
        k = check_count(k, "k")
        x, width = self._rows(X), min(k, self._width(n_candidates))
        n = x[0].size - 1
        best, scores = np.full((n, k), -1, np.int32), np.zeros((n, k), np.float32)
        step = max(BLOCK, MOST_RANKED // self._width(n_candidates))  # so that all candidates of all rows never are
        for first in range(0, max(n, 1), step):
            last = min(first + step, n)
            labels, f = self._ranked(_slice(x, first, last), n_candidates, _part(progress, first, last, n))
            best[first:last, :width], scores[first:last, :width] = labels[:, :width], _softmax(f)[:, :width]
        return Ranking(best, scores)

    def predict_proba(self, X, threshold: float = 0.0) -> sp.csr_array:
        """Share each row out over its candidates: exp(f) over the sum of exp(f).

        With the logistic loss 1 / (1 + exp(f' - f)) is the model's probability that one class is right rather than
        another, and these shares are in that proportion. They are no calibrated probabilities: f is learnt against
        random classes, the candidates are alike. They sum to 1 also where a row has several classes, or one that is
        not among the candidates.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        threshold : float in [0, 1]

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n, L)
            Classes that are no candidates are 0.
        """
        if not isinstance(threshold, numbers.Real) or not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be in [0, 1], not {threshold!r}")
        labels, f = self._ranked(self._rows(X))
        shares = _softmax(f)
        shares[shares < threshold] = 0.0
        return self._matrix(labels, shares)

    def predict(self, X) -> sp.csr_array:
        """Classes of rows.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)

        Returns
        -------
        scipy.sparse.csr_array of bool, shape (n, L)
            The best candidate of each row when each training row had one class; else the classes that have at least
            half of :meth:`predict_proba`, so one or none.
        """
        if not self.__sklearn_is_fitted__() or not self.multiclass_:
            return super().predict(X)
        labels = self.predict_topk(X, 1).labels
        return self._matrix(labels, np.ones(labels.shape, bool))

    def pair_features(self, X, classes) -> np.ndarray:
        """The features of each row with some classes.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        classes : ndarray of int, shape (n, q)
            Class ids; -1 where there is none, as in a ranking. A class without training rows has the features of an
            empty one.

        Returns
        -------
        ndarray of float64, shape (n, q, p)
            As ``feature_names_`` names them, not scaled; nan for -1. Their product with ``weights_`` is f.

        Raises
        ------
        ValueError, TypeError
            Classes that are no ids, or not one row of them for each row of X.
        """
        x = self._rows(X)
        classes = np.asarray(classes)
        if classes.dtype.kind not in "iu":
            raise TypeError(f"classes holds {classes.dtype} values: class ids are whole numbers")
        if classes.ndim != 2 or classes.shape[0] != x[0].size - 1:
            raise ValueError(
                f"classes has the shape {classes.shape}: a row of class ids for each of the {x[0].size - 1} rows of X"
            )
        if classes.size and not (classes.min() >= -1 and classes.max() < self.n_labels_):
            raise ValueError(
                f"classes holds {classes.min()} to {classes.max()}: ids go from 0 to {self.n_labels_ - 1}, -1 is none"
            )
        classes = np.array(classes, np.int32, order="C")
        out = np.empty((*classes.shape, self.weights_.size))

        def one_block(block):
            own = slice(*block)
            kernels.feature_block(*_slice(x, *block), classes[own], self._index_, self._more, out[own])

        self._in_blocks(one_block, out.shape[0])
        if self._asks_tree:
            out[..., -1] = self._tree.log_proba(as_vectors(x, self._index_.weight), classes, self.n_jobs)
        return out

    def size(self) -> dict:
        """Size of the fitted model: "n_classes" with rows, "n_postings", "n_weights", "model_bytes" (of its arrays)."""
        self._check_fitted()
        arrays = [*self._index_, *self._columns, self.feature_of_column_, self.class_size_, self.document_counts_]
        arrays += [*self._more, self.sampled_size_]
        tree_bytes = self._tree.plt.size()["model_bytes"] if self._tree is not None else 0
        return {
            "n_classes": int(np.count_nonzero(self.class_size_)),
            "n_postings": int(self._index_.classes.size),
            "n_weights": int(np.count_nonzero(self.weights_)),
            "model_bytes": int(tree_bytes + sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))),
        }

    # Parameters -----------------------------------------------------------------------------------------------------

    def _check_params(self):
        check_count(self.n_adversarial, "n_adversarial", most=INT32_MAX)
        check_count(self.n_candidates, "n_candidates", most=INT32_MAX)
        if self.random_state is not None:
            check_count(self.random_state, "random_state", least=0)
        effective_jobs(self.n_jobs)
        for name, least, most in (("examples_per_class", 1e-6, 1e6), ("C", 1e-9, 1e9)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise TypeError(f"{name} must be a number, not {value!r}")
            if not least <= value <= most:
                raise ValueError(f"{name} must be from {least:g} to {most:g}, not {value}")
        for name, options in (
            ("loss", LOSSES),
            ("distance", DISTANCES),
            ("weighting", WEIGHTINGS),
            ("negative", NEGATIVE),
            ("features", FEATURE_SETS),
            ("candidates_from", SOURCES),
            ("adversaries", ADVERSARIES),
        ):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in options:
                raise ValueError(f"{name} must be one of {', '.join(options)}, not {value!r}")
        for name in ("leave_one_out", "balanced"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if self.adversaries == "candidates" and self.n_candidates < 2:
            raise ValueError("adversaries='candidates' needs n_candidates of at least 2: the own class and another")

    def _amounts(self, X):
        """X with values of at least 0, or an error that names the first that is not."""
        negative = np.flatnonzero(X.data < 0)
        if negative.size == 0:
            return X
        row = int(np.searchsorted(X.indptr, negative[0], side="right")) - 1
        where = (
            f"X holds {negative.size:,} negative value(s), the first {X.data[negative[0]]} at row {row}, "
            f"column {int(X.indices[negative[0]])}"
        )
        if self.negative == "refuse":
            raise ValueError(
                f"{where}: the features of this model are sums of amounts. Scale each feature to start at 0, or, when "
                "negative values are noise, say negative='zero'"
            )
        warnings.warn(f"{where}: negative values are taken as 0", UserWarning, stacklevel=3)
        X.data[negative] = 0
        X.eliminate_zeros()
        return X

    # Training -------------------------------------------------------------------------------------------------------

    @property
    def _leaves_out(self):
        """Whether an example is taken out of its class."""
        return bool(self.leave_one_out) or self.adversaries == "candidates"

    def _trees(self, vectors, Y, entropy, progress):
        """The label tree, and those that judge training rows where it takes them."""
        if self.features == "paper" and self.adversaries == "random":
            return TreeCandidates.fit(vectors, Y, _seed(entropy, TREE), self.n_jobs, progress), None
        cross = CrossFitted.fit(vectors, Y, _seed(entropy, CROSS), self.n_jobs, lambda p, f, d: progress(p, 0.7 * f, d))
        report = lambda p, f, d: progress(p, 0.7 + 0.3 * f, d)  # noqa: E731
        return TreeCandidates.fit(vectors, Y, _seed(entropy, TREE), self.n_jobs, report), cross

    def _sample(self, y, class_size, progress, entropy=None) -> Sample:
        """Draw examples, and adversaries of each."""
        entropy = self.random_state if entropy is None else entropy
        label_ptr, labels = y
        m, blocks = labels.size, _blocks(labels.size)
        copies = np.zeros(m, np.int64)
        n_present = np.count_nonzero(class_size)
        size = np.maximum(class_size, 1) if self.balanced else np.full(class_size.size, m / n_present)
        expected, seed = self.examples_per_class / size, _seed(entropy, COPIES)

        def one_count(block):
            kernels.draw_copies(labels, expected, seed, *block, copies)

        run_tasks(one_count, blocks, [b - a for a, b in blocks], self.n_jobs)
        if self._leaves_out:
            copies[class_size[labels] == 1] = 0
        if not copies.any():
            raise ValueError(
                f"no example was drawn with examples_per_class={self.examples_per_class}"
                + (f" and {self._leaving_out}, which needs classes of two rows" if self._leaves_out else "")
                + ": make it larger"
            )
        start = np.concatenate([[0], np.cumsum(copies)]).astype(np.int64)
        present = np.flatnonzero(class_size).astype(np.int32)
        place = np.full(class_size.size, -1, np.int32)
        place[present] = np.arange(present.size, dtype=np.int32)
        rows = np.repeat(np.arange(label_ptr.size - 1), np.diff(label_ptr))
        kappa = min(self.n_adversarial, present.size - 1)
        if self.adversaries == "candidates":
            return Sample(np.repeat(rows, copies), np.repeat(labels, copies), np.empty((int(start[-1]), 0), np.int32))
        adversaries, seed = np.empty((int(start[-1]), kappa), np.int32), _seed(entropy, DRAWS)

        def one_draw(block):
            kernels.draw_adversaries(labels, start, present, place, seed, *block, adversaries)

        costs = [start[b] - start[a] + 1 for a, b in blocks]
        run_tasks(one_draw, blocks, costs, self.n_jobs, progress, "Drawing pairs", "blocks of examples")
        return Sample(np.repeat(rows, copies), np.repeat(labels, copies), adversaries)

    @property
    def _leaving_out(self):
        return "adversaries='candidates'" if self.adversaries == "candidates" else "leave_one_out"

    def _among_candidates(self, x, sample, class_size, index, vectors, cross, entropy, progress) -> Sample:
        """Examples whose class is a candidate even without them, against up to κ of the other candidates."""
        m, q = sample.rows.size, min(self.n_candidates, index.order.size)
        blocks = _blocks(m)
        if cross is None:
            others, kept, by_class = np.empty((m, q - 1), np.int32), np.empty(m, bool), _by_class(index)

            def one_block(block):
                kernels.near_others(*x, sample.rows, sample.classes, *block, class_size, by_class, index, others, kept)

            costs = [b - a for a, b in blocks]
            run_tasks(one_block, blocks, costs, self.n_jobs, progress, "Finding adversaries", "blocks of examples")
        else:
            top = cross.top(vectors, sample.rows, q, self.n_jobs)
            own = top == sample.classes[:, None]
            kept = own.any(axis=1)
            own[~kept, -1] = True
            others = top[~own].reshape(m, q - 1)
        rows, classes, others = sample.rows[kept], sample.classes[kept], others[kept]
        if rows.size == 0:
            raise ValueError(
                f"no example's own class is among its {q} candidates without it: raise n_candidates or "
                "examples_per_class, or say adversaries='random'"
            )
        if self.n_adversarial < q - 1:
            random = np.random.default_rng(_seed(entropy, DRAWS))
            drawn = np.argsort(random.random(others.shape), axis=1, kind="stable")[:, : self.n_adversarial]
            others = np.take_along_axis(others, drawn, axis=1)
        return Sample(rows, classes, np.sort(others, axis=1))

    def _pairs(self, x, sample, class_size, index, progress, more=NO_MORE, logs=None):
        """Differences of features, float64 (pairs, p), and signs, int8.

        ``logs`` are the tree's of the own class and the adversaries, float64 (M, kappa + 1).
        """
        m, kappa = sample.adversaries.shape
        n_features = kernels.N_FEATURES + (kernels.N_MORE if more is not NO_MORE else 0) + (logs is not None)
        pairs, signs = np.empty((m * kappa, n_features)), np.empty(m * kappa, np.int8)
        by_class, logs = _by_class(index), np.empty((0, 0)) if logs is None else logs

        def one_block(block):
            kernels.pair_block(
                *x, *sample, *block, self._leaves_out, class_size, by_class, index, more, logs, pairs, signs
            )

        blocks = _blocks(m)
        costs = [b - a for a, b in blocks]
        run_tasks(one_block, blocks, costs, self.n_jobs, progress, "Features of pairs", "blocks of examples")
        return pairs, signs

    def _learn(self, pairs, signs):
        """Learn f; scales the pairs in place.

        Returns weights for features as they are, the scale of each feature, and the empirical risk.
        """
        scale = np.sqrt(np.einsum("ij,ij->j", pairs, pairs) / signs.size)
        scale[~(scale > 0)] = 1.0
        pairs /= scale
        Z, target, share = pairs, signs, None
        if (signs == signs[0]).all():  # scikit-learn wants both kinds; a pair turned round is the same pair
            Z, target = np.concatenate([pairs, -pairs]), np.concatenate([signs, -signs])
            share = np.full(target.size, 0.5)
        if self.loss == "logistic":
            from sklearn.linear_model import LogisticRegression

            # Hard pairs take hundreds of passes of L-BFGS, and a few of Newton's method, which copies them. The paper's
            # pairs are nearly separable, whatever the solver some 15 passes.
            is_hard = self.features == "extended" or self.adversaries == "candidates"
            learner = LogisticRegression(
                C=float(self.C),
                fit_intercept=False,
                solver="newton-cholesky" if is_hard else "lbfgs",
                max_iter=MAX_ITER,
                tol=TOLERANCE,
            )
        else:
            from sklearn.svm import LinearSVC

            learner = LinearSVC(C=float(self.C), fit_intercept=False, dual=False, max_iter=MAX_ITER, tol=TOLERANCE)
        w = learner.fit(Z, target, sample_weight=share).coef_[0].astype(np.float64)
        return w / scale, scale, float(np.mean(signs * (pairs @ w) <= 0))

    def _set_fitted(self, classes, index, more, tree, sampled_size, weights, scale, values):
        self.feature_of_column_ = classes.feature_of_column
        self.document_counts_, self.class_size_ = classes.document_counts, classes.class_size
        self.sampled_size_ = sampled_size
        self._columns = columns_of(classes.feature_of_column, values["n_features"])
        self._index_, self._more, self._tree = index, more, tree
        self._features = values["features"]
        self.weights_, self.feature_scale_ = weights, scale
        self.feature_names_ = _names(values["features"], tree is not None)
        self.n_rows_, self.n_unlabelled_, self.n_pairs_ = values["n_rows"], values["n_unlabelled"], values["n_pairs"]
        self.empirical_risk_ = values["empirical_risk"]
        self.multiclass_ = bool(int(classes.class_size.sum()) == values["n_rows"])
        self._space = values["distance"], values["weighting"]
        self.n_features_in_, self.n_labels_ = values["n_features"], values["n_labels"]

    # Saving ---------------------------------------------------------------------------------------------------------

    def __setstate__(self, state):
        self.__dict__.update(state)
        for arrays in (self.__dict__.get(name, ()) for name in ("_index_", "_more", "_columns")):
            read_only(arrays)  # which pickle does not keep

    def _state(self):
        arrays = {
            "feature_of_column": self.feature_of_column_,
            "ptr": self._index_.ptr,
            "classes": self._index_.classes,
            "sums": self._index_.sums,
            "document_counts": self.document_counts_,
            "class_size": self.class_size_,
            "sampled_size": self.sampled_size_,
            "weights": self.weights_,
            "scale": self.feature_scale_,
        }
        values = {
            "n_features": self.n_features_in_,
            "n_labels": self.n_labels_,
            "n_rows": self.n_rows_,
            "n_unlabelled": self.n_unlabelled_,
            "n_pairs": self.n_pairs_,
            "empirical_risk": self.empirical_risk_,
            "distance": self._space[0],
            "weighting": self._space[1],
            "features": self._features,
            "tree": None,
        }
        if self._tree is not None:
            values["tree"], own = self._tree.state()
            arrays |= own
        return values, arrays

    def _restore(self, values, arrays):
        for name in ("n_features", "n_labels", "n_rows"):
            check_count(values[name], name, most=INT32_MAX)
        for name in ("n_unlabelled", "n_pairs"):
            check_count(values[name], name, least=0)
        if values["distance"] not in DISTANCES or values["weighting"] not in WEIGHTINGS:
            raise ModelFormatError(f"no model has distances {values['distance']!r} of {values['weighting']!r}")
        if values["features"] not in FEATURE_SETS:
            raise ModelFormatError(f"no model has the features {values['features']!r}")
        if not 0 <= float(values["empirical_risk"]) <= 1:
            raise ModelFormatError(f"no model has an empirical risk of {values['empirical_risk']}")
        for name, (dtype, ndim) in DTYPES.items():
            if name not in arrays:
                raise ModelFormatError(f"{name} is missing from its arrays: an older version wrote it. Train it anew")
            if arrays[name].dtype != dtype or arrays[name].ndim != ndim:
                raise ModelFormatError(
                    f"{name} in its arrays is {arrays[name].dtype} with {arrays[name].ndim} dimensions, not {dtype}"
                )
        check_columns(arrays["feature_of_column"], values["n_features"])
        check_postings(arrays, values)
        n_weights = len(_names(values["features"], values["tree"] is not None))
        if not (
            arrays["weights"].size == arrays["scale"].size == n_weights
            and bool(np.isfinite(arrays["weights"]).all() and np.isfinite(arrays["scale"]).all())
            and arrays["sampled_size"].size == values["n_labels"]
            and bool(
                (arrays["sampled_size"] >= 0).all() and not arrays["sampled_size"][arrays["class_size"] == 0].any()
            )
        ):
            raise ModelFormatError("its weights do not fit its features or classes: the file was damaged")
        classes = ClassTerms(*(arrays[name] for name in ClassTerms._fields[:-1]), n_rows=values["n_rows"])
        index = classes.index(values["distance"], values["weighting"])
        more = classes.more(index, values["weighting"]) if values["features"] == "extended" else NO_MORE
        tree = values["tree"]
        if tree is not None:
            tree = TreeCandidates.restored(tree, arrays, classes.class_size)
            if tree.plt.n_features_in_ != max(1, classes.feature_of_column.size):
                raise ModelFormatError("its label tree is of other features: the file was damaged")
        self._set_fitted(classes, index, more, tree, *(arrays[n] for n in ("sampled_size", "weights", "scale")), values)

    # Prediction -----------------------------------------------------------------------------------------------------

    def _rows(self, X):
        """Rows in columns; negative values and features that no training row had are left out."""
        X = self._check_input(X)
        if (X.data < 0).any():
            X.data[X.data < 0] = 0
            X.eliminate_zeros()
        return in_columns(csr_parts(X), self._columns)

    def _width(self, n):
        n = self.n_candidates if n is None else check_count(n, "n_candidates")
        return min(n, self._index_.order.size)

    @property
    def _asks_tree(self):
        """Whether the last feature is the label tree's."""
        return self._tree is not None and self._features == "extended"

    def _ranked(self, x, n_candidates=None, progress=silent):
        """Candidates of rows in columns by f: int32 (n, q), and f, float64."""
        labels = np.empty((x[0].size - 1, self._width(n_candidates)), np.int32)
        f, given, logs = np.empty(labels.shape), self._tree is not None, np.empty((0, 0))
        if given:
            vectors = as_vectors(x, self._index_.weight)
            labels = np.sort(self._tree.top(vectors, labels.shape[1], self.n_jobs, progress), axis=1)
            progress = silent  # all but the search of the tree is little
        if self._asks_tree:
            logs = self._tree.log_proba(vectors, labels, self.n_jobs)

        def one_block(block):
            own = slice(*block)
            kernels.rank_block(
                *_slice(x, *block), self._index_, self._more, given, logs[own], self.weights_, labels[own], f[own]
            )

        self._in_blocks(one_block, labels.shape[0], progress)
        return labels, f

    def _in_blocks(self, function, n, progress=silent, phase="Predicting"):
        blocks = _blocks(n)
        run_tasks(function, blocks, [b - a for a, b in blocks], self.n_jobs, progress, phase, "blocks of rows")

    def _matrix(self, labels, values):
        """CSR (n, L) of the labels of each row."""
        ptr = np.arange(0, labels.size + 1, labels.shape[1])
        matrix = sp.csr_array((values.ravel(), labels.ravel(), ptr), shape=(labels.shape[0], self.n_labels_))
        matrix.sort_indices()
        matrix.eliminate_zeros()
        return matrix


def _class_matrix(Y, n_rows):
    """Y as :func:`~xmlcore.validation.check_labels` has it; one class id per row will do."""
    one_dimension = getattr(Y, "ndim", None) == 1 and getattr(Y.dtype, "kind", "") in "iu"
    plain = isinstance(Y, Sequence) and len(Y) > 0 and all(isinstance(k, (int, np.integer)) for k in Y)
    if not (one_dimension or plain) or (plain and any(isinstance(k, bool) for k in Y)):
        return check_labels(Y, n_rows=n_rows)
    ids = np.asarray(Y)
    if ids.size != n_rows:
        raise ValueError(f"Y has {ids.size} class ids, but the features have {n_rows} rows: one id each")
    if ids.min(initial=0) < 0 or ids.max(initial=0) >= INT32_MAX:
        bad = int(np.flatnonzero((ids < 0) | (ids >= INT32_MAX))[0])
        raise ValueError(f"Y row {bad} has the class id {ids[bad]}: ids go from 0 to {INT32_MAX - 1}")
    shape = (ids.size, int(ids.max(initial=0)) + 1)
    return sp.csr_array((np.ones(ids.size, bool), ids.astype(np.int32), np.arange(ids.size + 1)), shape=shape)


def _own_classes(sample, Y):
    """Which adversaries are other classes of the same row, bool (M, kappa); None where there are none."""
    several = np.flatnonzero(np.diff(Y.indptr)[sample.rows] > 1)
    keys = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)) * np.int64(Y.shape[1]) + Y.indices  # rising
    found = np.zeros(sample.adversaries.shape, bool)
    for first in range(0, several.size, BLOCK):
        part = several[first : first + BLOCK]
        wanted = sample.rows[part, None] * np.int64(Y.shape[1]) + sample.adversaries[part]
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        found[part] = keys[at] == wanted
    return found if found.any() else None


def _seed(entropy, stream):
    return int(np.random.SeedSequence([entropy, stream]).generate_state(1, np.uint32)[0])


def _names(features, has_tree):
    """Short names of the features of a model."""
    more = (*MORE_FEATURES, *([TREE_FEATURE] if has_tree else [])) if features == "extended" else ()
    return [*FEATURES, *more]


def _by_class(index):
    """The terms of each class, rising, and their sums: CSR parts."""
    by_term = sp.csc_array((index.sums, index.classes, index.ptr), shape=(index.length.size, index.ptr.size - 1))
    return csr_parts(sp.csr_array(by_term))


def _part(progress, first, last, n):
    """Progress of rows first to last - 1 as that of all n."""

    def report(phase, fraction, detail=""):
        progress(phase, (first + fraction * (last - first)) / n, detail)

    return report if (first, last) != (0, n) else progress


def _softmax(f):
    """Shares of each row, float32."""
    if f.size == 0:
        return np.empty(f.shape, np.float32)
    shares = np.exp(f - f.max(axis=1, keepdims=True))
    return (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)


def _blocks(n):
    return [(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]


def _slice(x, first, last):
    """Rows first to last - 1 of CSR parts."""
    ptr, terms, values = x
    a, b = ptr[first], ptr[last]
    return ptr[first : last + 1] - a, terms[a:b], values[a:b]
