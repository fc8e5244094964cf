"""Base classes of all estimators: parameters, checks, scikit-learn's protocol, saving."""

import warnings
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ranking import top_k_sparse
from xmlcore.arrays import read_only
from xmlcore.documented import documented
from xmlcore.label_names import KnownLabels, given_classes, read_more_classes, read_more_labels, read_training_labels
from xmlcore.metrics import precision_at_k
from xmlcore.models.compacting import CanBeCompact
from xmlcore.models.compiling import compile_lock
from xmlcore.models.for_scikit_learn import ForScikitLearn
from xmlcore.models.rows import among_allowed, counted, in_parts, labels_given, new_rows, one_matrix, true_ids
from xmlcore.models.rules import Rule, candidates
from xmlcore.models.saving import ModelFormatError, below, check_parts, check_types, under, write_model
from xmlcore.parallel import row_blocks
from xmlcore.parameters import RECOMMENDED, About, HasParameters, Preset, seed_of
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking, check_room, fill_with_zeros
from xmlcore.system import MUCH_FREE, check_memory, return_free_memory
from xmlcore.typing import ArrayLike, FilePath, LabelNames, Labels, Matrix, SomeLabels
from xmlcore.validation import check_count, check_fitted, check_threshold, check_weights, csr_parts

# Attributes that every estimator keeps of its training rows, if they exist.
KEPT = ("feature_names_in_", "label_names_", "label_counts_", "n_rows_seen_", "_one_class", "block_widths_")
LABEL_COUNTS, N_ROWS_SEEN, ONE_CLASS, BLOCKS = "label_counts", "n_rows_seen", "one_class", "blocks"  # when saved
OF_FITTED = ("rule_", "compact_")  # attributes that a new fit removes, as they belong to what was fitted before
RULE = "rule."  # how the names of a rule's arrays begin there
WEIGHED_AT_ONCE = 1 << 22  # most probabilities in memory at a time while labels are weighed


class Estimator(ForScikitLearn, HasParameters):
    """Base of models and of feature selections: checks, and what scikit-learn's tools need.

    ``fit`` calls ``_check_params`` first, and sets the fitted attributes at the end, when nothing can fail any more:
    after a stopped ``fit`` the estimator has its earlier fitted state, if any.
    """

    ABOUT: About | None = None  # what users are told of it
    PRESETS: dict[str, Preset] = {}  # published settings by name, beside the defaults, whose name is "recommended"
    NEGATIVE_AS_ZERO = False  # whether predictions replace negative feature values by 0

    _label_bytes = 8  # that each label takes in a fit, at least, also one that no row has

    n_features_in_: int
    n_labels_: int
    feature_names_in_: np.ndarray  # only after a fit to a DataFrame
    label_names_: list  # only after a fit to labels with names
    label_counts_: np.ndarray  # int64 (L,): the number of training rows of each label
    n_rows_seen_: int  # the number of training rows, also of those without labels
    block_widths_: list[int]  # only after a fit to a list of matrices: how many columns each has
    _one_class: bool | None = None  # True after a fit to one class for each row: then classes are predicted

    @documented
    def fit(
        self,
        X: Matrix,
        y: Labels | None = None,
        *,
        Y: Labels | None = None,
        progress: ProgressLike = silent,
        label_names: LabelNames | None = None,
    ) -> Self:
        """Fit the estimator to rows and their labels.

        Parameters
        ----------
        {X_train, y_or_classes, Y, progress, label_names}

        {fitted}
        """
        return self._fit_to(X, labels_given(y, Y), progress, label_names)

    def _fit_to(self, X, Y, progress, label_names, **weights) -> Self:
        """See :meth:`fit`; ``weights`` are further arguments of ``_fit``."""
        progress = to_progress(progress)
        self._check_params()
        Y, label_names, one_class = read_training_labels(Y, label_names, self._n_labels_of(Y))
        self._check_labels_fit(Y.shape[1])
        X, names, widths = one_matrix(X)
        self._fit(X, Y, progress, **weights)
        for name in OF_FITTED:
            vars(self).pop(name, None)
        self._keep(names, label_names, counted(Y), Y.shape[0], one_class or None, widths)
        return_free_memory(MUCH_FREE)  # what training took: the C library keeps it else
        return self

    def _check_labels_fit(self, n_labels) -> None:
        """Raise MemoryError if the labels take more memory than is free."""
        needed = n_labels * self._label_bytes
        check_memory(needed, type(self).__name__, f"{n_labels:,} labels", "leave out labels that no row has")

    def _n_labels_of(self, Y) -> int | None:
        """Return how many labels Y has, if a parameter says so."""
        return None

    def _protect(self) -> None:
        """Mark the arrays of the fitted state as read-only."""
        parameters = {parameter.name for parameter in self.PARAMETERS}
        read_only([value for name, value in vars(self).items() if name not in parameters])

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled estimator; pickle does not keep that arrays are read-only."""
        self.__dict__.update(state)
        self._protect()

    def _fit(self, X, Y, progress) -> None:
        """Set the fitted attributes; Y are ids, neither X nor Y are checked."""
        raise NotImplementedError(f"{type(self).__name__} has no method fit")

    @classmethod
    def presets(cls) -> dict[str, dict[str, Any]]:
        """Return the settings that :meth:`preset` knows, by name: the recommended (the defaults) and published ones.

        A parameter that no published settings name, such as ``random_state``, is in none of them.
        """
        named = {name for preset in cls.PRESETS.values() for name in preset.values}
        recommended = {parameter.name: parameter.default for parameter in cls.PARAMETERS if parameter.name in named}
        return {RECOMMENDED: recommended} | {name: dict(preset.values) for name, preset in cls.PRESETS.items()}

    @classmethod
    def preset(cls, name: str, **params: object) -> Self:
        """Return a new estimator with recommended or with published settings.

        Parameters
        ----------
        name : str
            "recommended" (the defaults) or another name in :meth:`presets`, such as "paper".
        **params : object
            Values of parameters; they replace those of the settings.

        Returns
        -------
        Estimator
            It is not fitted.

        Raises
        ------
        ValueError
            There are no settings of that name; the message lists the names there are.
        TypeError
            There is no parameter of that name.
        """
        known = cls.presets()
        if name not in known:
            raise ValueError(f"{cls.__name__} has no settings named {name!r:.200}: it has {', '.join(known)}")
        return cls(**known[name] | params)

    def _entropy(self) -> int:
        """Return the number on which all random numbers of a fit depend: the seed, or a new one."""
        return seed_of(self.random_state)

    def _refuses_negative(self) -> bool:
        """Return whether ``fit`` raises ValueError for negative features, as the parameters are set."""
        return False

    def _check_fitted(self):
        check_fitted(self)

    def _check_input(self, X: Matrix, k: int = 0, copy: bool = True) -> sp.csr_array:
        """Return the rows of X as canonical CSR; raise if the model is not fitted, or X does not fit the model.

        Raise MemoryError, too, if a ranking of k labels for each row does not fit into memory.
        """
        self._check_fitted()
        X = new_rows(self, X, copy)
        check_room(X.shape[0], k)
        return X

    def _keep(self, *values) -> None:
        """Set the attributes :data:`KEPT`, but none to None, and protect all; ``fit`` calls this at its end."""
        for attribute, value in zip(KEPT, values, strict=True):
            self.__dict__.pop(attribute, None)
            if value is not None:
                setattr(self, attribute, value)
        self._protect()

    def _kept(self) -> tuple:
        return tuple(getattr(self, attribute, None) for attribute in KEPT)

    @staticmethod
    def _param_from_arrays(arrays: dict[str, np.ndarray]):
        """Return the value of a parameter that was saved as the arrays that its method ``to_arrays`` returned."""
        raise ModelFormatError("no parameter of this estimator is saved as arrays")

    def _state(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return the fitted state: values that JSON can hold, and arrays, by name."""
        raise NotImplementedError(f"{type(self).__name__} cannot be saved")

    def _restore(self, values: dict, arrays: dict[str, np.ndarray]) -> None:
        """Set the fitted state that ``_state`` returned; raise ModelFormatError when its parts do not fit together."""
        raise NotImplementedError(f"{type(self).__name__} cannot be loaded")

    def _whole_state(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return what ``_state`` returns, and what all estimators of a kind have."""
        values, arrays = self._state()
        values = values | {N_ROWS_SEEN: self.n_rows_seen_} | ({ONE_CLASS: True} if self._one_class else {})
        values |= {BLOCKS: self.block_widths_} if hasattr(self, "block_widths_") else {}
        return values, arrays | {LABEL_COUNTS: self.label_counts_}

    def _set_state(self, values: dict, arrays: dict[str, np.ndarray]) -> None:
        """Set the fitted state that ``_whole_state`` returned, with arrays that are read-only."""
        self._restore(values, arrays)
        check_types(arrays, {LABEL_COUNTS: (np.int64, (self.n_labels_,))})
        counts, n_rows = arrays[LABEL_COUNTS], check_count(values[N_ROWS_SEEN], N_ROWS_SEEN)
        widths = values.get(BLOCKS)
        check_parts({
            "the numbers of rows of labels": lambda: ((counts >= 0) & (counts <= n_rows)).all(),
            "the widths of blocks": lambda: widths is None
            or (all(type(width) is int and width > 0 for width in widths) and sum(widths) == self.n_features_in_),
        })  # fmt: skip
        self._keep(None, None, counts, n_rows, True if values.get(ONE_CLASS) is True else None, widths)

    def save(self, path: FilePath) -> Path:
        """Write the fitted estimator to a folder, from which :func:`xmlcore.load_model` reads it.

        Parameters
        ----------
        path : str or path-like
            The folder. It is created, or replaced when it holds a saved model and nothing else. The model is written
            beside it and moved there when it is complete.

        Returns
        -------
        pathlib.Path
            The folder: ``params.json`` and ``arrays.npz``.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        FileExistsError
            ``path`` exists and is not a saved model.
        ValueError, TypeError
            A parameter was set, after ``fit``, to a value that ``load_model`` would refuse; the message names it.
        """
        self._check_fitted()
        self._check_params()
        return write_model(self, path)


class MultiLabelModel(CanBeCompact, Estimator):
    """Base of the models, which scikit-learn's tools treat as multi-label classifiers.

    scikit-learn's cross-validation accepts ``cv=5`` only if Y is a matrix. If Y is lists of ids, pass a splitter, such
    as ``cv=KFold(5)``. Where no measure is chosen it compares models by :meth:`score`, the precision at 1.

    A subclass offers ``_fit``, ``predict_proba``, ``_ranked`` or ``predict_topk``, and for saving ``_state`` and
    ``_restore``.
    """

    _estimator_type = "classifier"
    threshold_: float = 0.5  # the probability from which on labels are predicted, where no rule is kept
    rule_: Rule | None = None  # what Rule.keep has kept
    _PRUNES = False  # whether predict_topk itself leaves out labels: it is then given a mask

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "predict_topk" in vars(cls):
            cls.predict_topk = among_allowed(vars(cls)["predict_topk"])
        for name in {"predict_topk", "predict_proba", "_decided"} & vars(cls).keys():
            setattr(cls, name, in_parts(vars(cls)[name]))

    def known_labels(self) -> KnownLabels:
        """Return the labels of the model, by which names are turned into ids."""
        self._check_fitted()
        aliases = None if self.rule_ is None else self.rule_.aliases
        return KnownLabels(self.n_labels_, getattr(self, "label_names_", None), aliases)

    @in_parts
    @among_allowed
    def predict_topk(
        self, X: Matrix, k: int = 5, *, progress: ProgressLike = silent, weights: ArrayLike | None = None,
        labels: SomeLabels | None = None, exclude: SomeLabels | None = None,
    ) -> Ranking:  # fmt: skip
        """Return the k best labels of each row, best first.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        k : int
            May exceed L: rows are padded with label -1 and score 0.
        progress : :class:`xmlcore.progress.Progress` or "bar", optional
        weights : array-like, shape (L,), optional
            What finding each label is worth, 0 or more. Labels are then ranked, exactly, by weight times probability,
            as :meth:`predict_proba` has it, and these products are the scores. With inverse propensities
            (:func:`xmlcore.metrics.inverse_propensity`) this is the ranking that is expected to have the best PSP@k
            (Wydmuch et al., "Propensity-scored probabilistic label trees", SIGIR 2021).
        labels, exclude : list of labels, or bool array of shape (L,), optional
            The labels that may be ranked, by default all, and those that may not: ids or names, or aliases that a kept
            rule has. The ranking is that of all labels without the others. A label tree does not open nodes that have
            no such label below them.

        Returns
        -------
        Ranking
            Of equal scores, compared before they are rounded to float32, the smaller label id comes first.

        Raises
        ------
        NotFittedError
            The model is not fitted.
        ValueError, TypeError
            X does not fit the model, or weights are not a number of 0 or more for each label, one of them positive; or
            ``labels`` or ``exclude`` have a label that there is not, or leave none.
        MemoryError
            k labels for each row would need more memory than is free.
        """
        progress, k = to_progress(progress), check_count(k, "k")
        return self._ranked(X, k, progress) if weights is None else self._heaviest(X, k, weights, progress)

    def _ranked(self, X, k, progress) -> Ranking:
        raise NotImplementedError

    def _whole_state(self):
        values, arrays = super()._whole_state()
        if "threshold_" in vars(self):
            values = values | {"threshold": self.threshold_}
        if self.rule_ is None:
            return values, arrays
        rule, of_rule = self.rule_.state()
        return values | {"rule": rule}, arrays | under(RULE, of_rule)

    def _set_state(self, values, arrays):
        super()._set_state(values, arrays)
        if "threshold" in values:
            self.threshold_ = check_threshold(values["threshold"])
        if "rule" in values:
            self.rule_ = Rule.restored(values["rule"], below(RULE, arrays), self.n_labels_)

    def _checked_weights(self, weights) -> np.ndarray | None:
        self._check_fitted()
        return None if weights is None else check_weights(weights, "weights", self.n_labels_, zero=True)

    def _heaviest(self, X, k, weights, progress, **others) -> Ranking:
        """Rank labels by weight times probability: of all labels, for a part of the rows at a time."""
        for name in (name for name, value in others.items() if value is not None):
            raise ValueError(f"{name} and weights are given, but labels are weighed by the whole model: leave out one")
        weights, X = self._checked_weights(weights), self._check_input(X, k)
        labels, scores = np.empty((X.shape[0], k), np.int32), np.empty((X.shape[0], k))
        blocks = row_blocks(X.shape[0], max(1, WEIGHED_AT_ONCE // self.n_labels_))
        for first, end in blocks:
            progress("Predicting", first / X.shape[0])
            ptr, found, values = csr_parts(self.predict_proba(X[first:end]))
            top_k_sparse(ptr, found, values * weights[found], labels[first:end], scores[first:end])
        labels[scores == 0.0] = -1
        fill_with_zeros(labels[:, : min(k, self.n_labels_)])
        progress("Predicting", 1.0)
        return Ranking(labels, scores.astype(np.float32))

    def predict_proba(self, X: Matrix, threshold: float = 0.0) -> sp.csr_array:
        """Return the probabilities of labels that are at least ``threshold``.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        threshold : float in [0, 1]
            Smaller values are left out. At 0 nearly all n * L may be stored.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n, L)

        Raises
        ------
        NotFittedError
            The model is not fitted.
        ValueError, TypeError
            X does not fit the model.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method predict_proba")

    def size(self) -> dict[str, Any]:
        """Return "n_nodes", "depth", "n_weights", "model_bytes" (of its arrays), and other large counts."""
        raise NotImplementedError(f"{type(self).__name__} has no method size")

    @property
    def classes_(self) -> np.ndarray:
        """The classes, sorted, after a fit to one class for each row, and else label ids: ndarray, shape (L,)."""
        self._check_fitted()
        names = getattr(self, "label_names_", None)
        return np.array(names) if self._one_class and names else np.arange(self.n_labels_)

    def predict(self, X: Matrix, threshold: float | None = None) -> sp.csr_array:
        """Return the labels that are predicted for each row.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        threshold : float in [0, 1], optional
            The labels are returned whose probability is at least this. A smaller value returns more labels, and never
            fewer. At 0, all labels of positive probability. None: what the rule decides that was kept
            (:meth:`xmlcore.decisions.Rule.keep`); without one, those from the model's ``threshold_`` on.

        Returns
        -------
        scipy.sparse.csr_array of bool, shape (n, L)
            ``.toarray()`` makes it dense; :class:`xmlcore.models.DenseOutput` does so for scikit-learn's tools. After a
            fit to one class for each row, and where neither a threshold nor a rule is given: the most probable class,
            ndarray of shape (n,).

        Raises
        ------
        NotFittedError
            The model is not fitted.
        ValueError, TypeError
            X does not fit the model, or ``threshold`` is not a number in [0, 1].
        """
        if self._one_class and threshold is None and self.rule_ is None:
            return self.classes_[self.predict_topk(X, 1).labels[:, 0]]
        return self._decided(X, threshold).astype(bool)

    @in_parts
    def decision_function(self, X: Matrix) -> np.ndarray:
        """Return the scores of all labels, dense: scikit-learn's measures of rankings of labels read them.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)

        Returns
        -------
        ndarray of float32, shape (n, L)
            What :meth:`predict_proba` returns, in 4 n L bytes. After a fit to two classes, one for each row: how much
            larger that of the second one is, shape (n,).
        """
        scores = self.predict_proba(X)
        scores = scores.toarray() if sp.issparse(scores) else scores
        return scores[:, 1] - scores[:, 0] if self._one_class and self.n_labels_ == 2 else scores

    @in_parts
    def _decided(self, X, threshold=None, watch=None) -> sp.csr_array:
        """Return the labels that are predicted, with their probabilities; a rule lets a ``Watch`` see the rows."""
        if threshold is None and self.rule_ is not None:
            return self.rule_.decided(self, self._check_input(X), watch)
        if threshold is None and self._one_class:
            return candidates(self, X, 1)[0]
        return self.predict_proba(X, threshold=self.threshold_ if threshold is None else threshold)

    def score(self, X: Matrix, y: Labels | None = None, *, Y: Labels | None = None) -> float:
        """Return the precision at 1: the share of rows whose first predicted label is a true label.

        scikit-learn's model selection uses it when no other measure is given, as in ``GridSearchCV(PLT(), grid)``. For
        another measure pass ``scoring=metrics.scorer("nDCG@5")``. scikit-learn's classifiers return the accuracy here,
        the share of rows whose labels are all predicted and no others. This share is close to 0 where rows have some of
        many labels, and says little about the first labels of a ranking.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        y : sparse or dense binary, shape (n, L), or lists of label ids
            The true labels of each row. In lists, a label that the training rows did not have counts as never found.
        Y : as y

        Returns
        -------
        float
            In [0, 1], as ``metrics.scorer("P@1")`` returns it; nan if there are no rows. A row without true labels
            counts as 0.

        Raises
        ------
        NotFittedError
            The model is not fitted.
        ValueError, TypeError
            The rows do not fit the model, or the labels do not fit the rows or the model.
        """
        Y = self.label_ids(labels_given(y, Y))
        ranking = self.predict_topk(X, k=1)
        shape = getattr(Y, "shape", ())
        if len(shape) == 2 and shape[1] != self.n_labels_:
            raise ValueError(f"Y has {shape[1]} labels, but {type(self).__name__} was fitted to {self.n_labels_}")
        return float(precision_at_k(Y, ranking, 1)[0])

    def label_ids(self, y: Labels) -> Any:
        """Return true labels with the ids that the model uses; labels and classes that it does not know come last."""
        self._check_fitted()
        return true_ids(self, labels_given(y, None, bool(self._one_class)))

    def _warm_up_params(self) -> dict:
        """Return the parameters, with new values, that :func:`warm_up` changes to fit 20 rows with 8 labels."""
        params = self.get_params(deep=False)
        small = {"arity": 2, "max_leaf_labels": 2, "tol": 1e6, "n_estimators": min(2, params.get("n_estimators", 1))}
        return {name: value for name, value in small.items() if name in params}

    def warm_up_pieces(self) -> dict:
        """Return the functions that :func:`warm_up` calls, by file name; several processes may call them at once."""
        toy = type(self)(**self.get_params(deep=False) | self._warm_up_params())

        def fit_and_predict():
            toy._warm_up_fit()
            toy._warm_up_predict()

        return {type(self).__name__: fit_and_predict}

    def _warm_up_fit(self):
        self.fit(toy_rows(), [[row % 5, 5 + row % 3] for row in range(20)])

    def _warm_up_predict(self):
        """Use, on a few rows, the kernels of prediction, also those that are otherwise used for large data only."""
        X = toy_rows()[:15]  # a label tree searches more dense rows together
        for rows in (X, np.where(np.arange(6) == 0, X, 0)):  # dense rows may have kernels of their own
            self.predict_topk(rows, k=2)
            self.predict_proba(rows, threshold=0.1)


class LearnsMore(MultiLabelModel):
    """Base of the models that learn further rows after a fit."""

    def partial_fit(
        self,
        X: Matrix,
        y: Labels | None = None,
        *,
        Y: Labels | None = None,
        progress: ProgressLike = silent,
        label_names: LabelNames | None = None,
        classes: object = None,
    ) -> Self:
        """Learn further rows, and new labels, without starting anew; the notes of the class say how.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
            New rows, with the features of the first fit (PLT: or with new ones after them).
        y : sparse or dense binary, shape (n, K), or lists of label ids or of names
            New labels have the ids from ``n_labels_`` on, or names that the model does not have yet. A matrix has
            columns for all labels of the model, and for new ones after them.
        Y : as y
        progress : :class:`xmlcore.progress.Progress` or "bar", optional
        label_names : sequence, shape (K,), optional
            The names of the model's labels, and after them those of new labels: needed where a matrix or ids have new
            labels and the model has names.
        classes : object
            All classes, at the first call with one class for each row. Later calls may bring new ones.

        Returns
        -------
        Estimator
            The model; fitted to these rows if it was not fitted. If the work is stopped or fails, the model stays as it
            was.

        Raises
        ------
        ValueError, TypeError
            The data do not fit the model, or its parameters do not let it learn further rows (PLT: ``learnable``).
        MemoryError
            More memory would be needed for the labels than is free.

        Warns
        -----
        UserWarning
            Rows without labels were left out, or negative values replaced by 0.
        """
        progress = to_progress(progress)
        Y = labels_given(y, Y, bool(self._one_class) or classes is not None)
        self._check_params()
        if not self.__sklearn_is_fitted__():
            Y, label_names, one_class = read_training_labels(Y, label_names, classes=classes)
            self.fit(X, Y, progress=progress, **({} if label_names is None else {"label_names": label_names}))
            self._one_class = one_class or None
            return self
        return self._learn_from(getattr(self, "_check_more", self._check_input)(X), Y, progress, label_names)

    def _learn_from(self, X, Y, progress, label_names, **places) -> Self:
        """Learn further rows, which are checked, and keep what the estimator knows of all rows."""
        features, names, counts, n_rows, one_class, widths = self._kept()
        if one_class and label_names is None and (values := given_classes(Y)) is not None:
            Y, names = read_more_classes(values, self.classes_)
        else:
            Y, names = read_more_labels(Y, self.n_labels_, names, label_names)
        self._check_labels_fit(Y.shape[1])
        self._learn_more(X, Y, progress, **places)
        vars(self).pop("rule_", None)
        seen = np.pad(counts, (0, Y.shape[1] - counts.size)) + counted(Y), n_rows + Y.shape[0]
        self._keep(features, names, *seen, one_class, widths)
        return self

    def _learn_more(self, X, Y, progress) -> None:
        """Set the fitted attributes to those after further rows; X is checked, Y are ids."""
        raise NotImplementedError


def warm_up(model: MultiLabelModel, left_out: tuple[str, ...] = ()) -> None:
    """Compile, or load from disk, the kernels that a model uses, by fitting a copy to a few rows; leave out pieces."""
    for piece, run in model.warm_up_pieces().items():
        if piece in left_out:
            continue
        with compile_lock(piece), warnings.catch_warnings(action="ignore"):  # the fit to real data will warn again
            run()


def toy_rows() -> np.ndarray:
    return np.random.default_rng(0).random((20, 6)).astype(np.float32)
