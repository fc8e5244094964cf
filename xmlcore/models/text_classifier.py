"""TextClassifier: a vectoriser and a model in one, with texts and label names in, label names out."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.texts import TextVectorizer
from xmlcore.datasets.texts.vectorizer import texts_and_blocks
from xmlcore.documented import documented
from xmlcore.label_names import read_training_labels
from xmlcore.models.base import MultiLabelModel
from xmlcore.models.choosing_words import words_by_trials
from xmlcore.models.for_scikit_learn import RoutesWeights
from xmlcore.models.plt import PLT
from xmlcore.models.rows import labels_given
from xmlcore.models.saving import below, model_from_parts, parts_of_model, under, write_model
from xmlcore.models.wrapping import MODEL, WrapsModel
from xmlcore.parameters import Parameter, described
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.ranking import Ranking, of_known
from xmlcore.typing import ArrayLike, FilePath, LabelNames, Labels, Ranker, SomeLabels, Texts

PARAMETERS = (
    MODEL,
    Parameter(
        "vectorizer", "Vectoriser",
        "Turns texts into rows. It is copied before it is fitted, and trials choose what is \"auto\" in it. Empty is a "
        "TextVectorizer with its defaults.",
        "estimator", None, optional=True, in_form=False,
    ),
)  # fmt: skip
LEARNT = {  # what only some models can learn, by their method, and which
    "partial_fit": "further texts: LdSM, DoubleSampling, learnable PLTs",
    "correct": "corrected texts: learnable PLTs",
}


@described
class TextClassifier(RoutesWeights, WrapsModel):
    """Predict the labels of texts.

    Texts are turned into rows by a :class:`xmlcore.datasets.texts.TextVectorizer`, and a model is fitted to them. It
    has the methods of the models, with a list, an array or a Series of texts in place of their rows ``X``; or with
    ``[texts, vectors]``: texts and a sparse or dense matrix that has a row for each, such as embeddings. Works in
    scikit-learn's cross-validation and grid search: the grid's names are ``model__C`` and ``vectorizer__min_df``.

    {parameters}

    Attributes
    ----------
    labels_ : list
        The names of the labels, sorted, or their ids where they have no names: the id of a label in a
        :class:`xmlcore.Ranking` is its place in this list.
    vectorizer_ : TextVectorizer
    model_ : MultiLabelModel

    Examples
    --------
    >>> from xmlcore import TextClassifier
    >>> from xmlcore.datasets import TextVectorizer
    >>> texts, label_lists = ["a cat", "a dog", "cat and dog"], [["cat"], ["dog"], ["cat", "dog"]]
    >>> model = TextClassifier(vectorizer=TextVectorizer(min_df=1)).fit(texts, label_lists)
    >>> model.suggest(["my cat"], k=1)[0][0][0]
    'cat'
    """

    PARAMETERS = PARAMETERS
    _PARTS = {"model": PLT, "vectorizer": TextVectorizer}

    model: "MultiLabelModel | None" = None
    vectorizer: TextVectorizer | None = None

    @classmethod
    def from_parts(cls, model: Ranker, vectorizer: TextVectorizer, labels: list[str] | None = None) -> "TextClassifier":
        """Return a fitted classifier made of a fitted model and a fitted vectoriser, whose arrays are not copied.

        ``labels`` are names in the order of the model's ids, which they keep; None: those that the model has.
        ValueError if the parts do not fit together.
        """
        n_labels = model.n_labels_ if labels is None else len(labels)
        if vectorizer.n_features_ != model.n_features_in_ or n_labels != model.n_labels_:
            raise ValueError(
                f"the vectoriser has {vectorizer.n_features_} features and there are {n_labels} labels, but the "
                f"model has {model.n_features_in_} features and {model.n_labels_} labels"
            )
        made = cls(type(model)(**model.get_params(deep=False)), TextVectorizer(**vectorizer.get_params()))
        made.vectorizer_, made.model_ = vectorizer, model if labels is None else copy.copy(model)
        features, names, *of_rows = model._kept()
        made._keep(features, names if labels is None else list(labels), *of_rows)
        return made

    def __sklearn_tags__(self):
        """Return the tags by which scikit-learn's tools learn what the classifier accepts."""
        tags = super().__sklearn_tags__()
        tags.input_tags = replace(tags.input_tags, string=True, two_d_array=False, sparse=False)
        return tags

    @property
    def _estimator_type(self) -> str | None:
        # scikit-learn's cross-validation refuses lists of names as the labels of a classifier.
        return "classifier" if self.__sklearn_is_fitted__() and not self._predicts_names() else None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    @property
    def n_labels_(self) -> int:
        """Number of labels."""
        self._check_fitted()
        return self.model_.n_labels_

    @property
    def n_features_in_(self) -> int:
        """Number of features of the model."""
        self._check_fitted()
        return self.vectorizer_.n_features_

    @property
    def labels_(self) -> list:
        """The names of the labels, or their ids where they have no names."""
        self._check_fitted()
        return getattr(self, "label_names_", None) or list(range(self.n_labels_))

    @documented
    def fit(
        self,
        X: Texts,
        y: Labels | None = None,
        *,
        Y: Labels | None = None,
        progress: ProgressLike = silent,
        label_names: LabelNames | None = None,
        sample_weight: ArrayLike | None = None,
        label_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the vectoriser and the model.

        Parameters
        ----------
        X : list, array or Series of str, or [texts, vectors]
        {y_or_classes, Y, progress, label_names}
        sample_weight, label_weight : array-like, optional
            What each text, and each label, counts in the training of the model: see :class:`xmlcore.PLT`.

        Returns
        -------
        TextClassifier
            The classifier. If ``fit`` is stopped or fails, its earlier fitted state is kept.

        Raises
        ------
        TypeError
            A text is not a string, or the model takes no weights; the message says which.
        ValueError
            There are not as many texts as labels, or no labels, or no word is in enough texts.
        """
        self._check_params()
        weights = {"sample_weight": sample_weight, "label_weight": label_weight}
        weights = {name: weight for name, weight in weights.items() if weight is not None}
        model, vectorizer = self._new("model"), self._new("vectorizer")
        if missing := sorted(weights.keys() - getattr(model, "_WEIGHTS", ())):
            raise TypeError(f"{type(model).__name__} takes no {' and '.join(missing)}: leave it out")
        X, y = _texts_and_labels(X, y, Y)
        Y, _, _ = read_training_labels(y, label_names)  # raises for bad labels before words are counted
        progress = to_progress(progress)
        vectorizer, rows = words_by_trials(vectorizer)(X, Y, part_of(progress, 0.0, 0.2))
        model.fit(rows, y, progress=part_of(progress, 0.2, 1.0), label_names=label_names, **weights)
        self.vectorizer_, self.model_ = vectorizer, model
        self._keep(*model._kept())
        return self

    @documented
    def partial_fit(
        self,
        X: Texts,
        y: Labels | None = None,
        *,
        Y: Labels | None = None,
        progress: ProgressLike = silent,
        label_names: LabelNames | None = None,
        classes: object = None,
    ) -> Self:
        """Learn further texts, by the words that the first ones had, as the model learns further rows.

        Parameters
        ----------
        X : list, array or Series of str
        {y_or_classes, Y, progress, label_names}
        classes : object
            All classes, at the first call with one class for each text.

        Returns
        -------
        TextClassifier
            The classifier. If the work is stopped or fails, it stays as it was.

        Raises
        ------
        TypeError
            The model cannot learn further rows: LdSM and DoubleSampling can, and PLT with ``learnable=True``.
        """
        self._check_params()
        return self._learn("partial_fit", X, y, Y, progress, label_names=label_names, classes=classes)

    @documented
    def correct(
        self,
        at: ArrayLike,
        X: Texts,
        y: Labels | None = None,
        *,
        Y: Labels | None = None,
        progress: ProgressLike = silent,
        label_names: LabelNames | None = None,
    ) -> Self:
        """Learn texts that replace texts which the model has learnt, such as those with corrected labels.

        Parameters
        ----------
        at : array of int, shape (n,)
            The texts that are replaced, numbered from 0 in the order in which the model got them.
        X : list, array or Series of str
        {y_or_classes, Y, progress, label_names}

        Returns
        -------
        TextClassifier
            The classifier. If the work is stopped or fails, it stays as it was.

        Raises
        ------
        TypeError
            The model keeps no rows: PLT with ``learnable=True`` does.
        """
        self._check_fitted()
        return self._learn("correct", X, y, Y, progress, at, label_names=label_names)

    def _learn(self, how, X, y, Y, progress, *places, **known) -> Self:
        """Have a copy of the model learn texts by its method ``how``, and keep it."""
        fitted = self.__sklearn_is_fitted__()
        model = copy.copy(self.model_) if fitted else self._new("model")
        if not hasattr(model, how):
            raise TypeError(f"{type(model).__name__} does not learn {LEARNT[how]} do")
        X, y = _texts_and_labels(X, y, Y)
        progress = to_progress(progress)
        vectorizer = self.vectorizer_ if fitted else self._new("vectorizer")
        transform = vectorizer.transform if fitted else vectorizer.fit_transform
        rows, rest = transform(X, progress=part_of(progress, 0.0, 0.2)), part_of(progress, 0.2, 1.0)
        getattr(model, how)(*places, rows, y, progress=rest, **known)
        self.vectorizer_, self.model_ = vectorizer, model
        self._keep(*model._kept())
        return self

    def predict_topk(
        self, X: Texts, k: int = 5, *, progress: ProgressLike = silent, weights: ArrayLike | None = None,
        labels: SomeLabels | None = None, exclude: SomeLabels | None = None,
    ) -> Ranking:  # fmt: skip
        progress = to_progress(progress)
        rows = self._rows(X, part_of(progress, 0.0, 0.2))
        rest = part_of(progress, 0.2, 1.0)
        return of_known(self.model_.predict_topk(rows, k, progress=rest, weights=weights, labels=labels), rows)

    def predict(
        self, X: Texts, threshold: float | None = None
    ) -> "list[list[Any]] | sp.csr_array | np.ndarray":  # as the labels were given
        """Return the labels that the model's ``predict`` decides for.

        Parameters
        ----------
        X : list, array or Series of str
        threshold : float in [0, 1], optional
            As the models take it.

        Returns
        -------
        list of list, or csr_array of bool, or ndarray
            The names of the labels of each text, the most probable first, and none of a text without a known word.
            After a fit to labels without names, or to one class for each text: what the models return.
        """
        rows = self._rows(X)
        if not self._predicts_names():
            return self.model_.predict(rows, threshold)
        found, names, n_words = self.model_._decided(rows, threshold), [], np.diff(rows.indptr)
        for row in range(found.shape[0]):
            part = slice(found.indptr[row], found.indptr[row + 1])
            order = np.lexsort((found.indices[part], -found.data[part]))
            names.append([self.labels_[j] for j in found.indices[part][order]] if n_words[row] else [])
        return names

    def suggest(self, X: Texts, k: int = 5) -> list[list[tuple[Any, float]]]:
        """Return the names, or the ids of labels without names, and the scores of the k best labels of each text.

        Parameters
        ----------
        X : list, array or Series of str
        k : int

        Returns
        -------
        list of list of (str, float)
            Best first.
        """
        labels, scores = self.predict_topk(X, k)
        return [
            [(self.labels_[j], score) for j, score in zip(*row) if j >= 0]
            for row in zip(labels.tolist(), scores.tolist())
        ]

    def size(self) -> dict[str, Any]:
        """Return the size of the model, with the arrays of the vectoriser in "model_bytes"."""
        self._check_fitted()
        _, arrays = self.vectorizer_.to_plain()
        size = self.model_.size()
        return size | {"model_bytes": size["model_bytes"] + sum(array.nbytes for array in arrays.values())}

    def save(self, path: FilePath) -> Path:
        self._check_fitted()
        return write_model(self, path)

    def _rows(self, X, progress=silent) -> sp.csr_array:
        self._check_fitted()
        return self.vectorizer_.transform(X, progress)

    def warm_up_pieces(self) -> dict:
        return self._new("model").warm_up_pieces()

    def _predicts_names(self) -> bool:
        self._check_fitted()
        return hasattr(self, "label_names_") and not self._one_class

    def _keep(self, *values) -> None:
        super()._keep(*values)
        self.model_._keep(*values)

    def _check_params(self) -> None:
        """Raise a ValueError or TypeError that names the first parameter with a value that ``fit`` cannot use."""
        super()._check_params()
        if self.vectorizer is not None and not isinstance(self.vectorizer, TextVectorizer):
            raise TypeError(
                f"vectorizer must be a TextVectorizer, not {type(self.vectorizer).__name__}: others cannot be saved "
                "without pickle. TextVectorizer has the settings of scikit-learn's TfidfVectorizer for words"
            )
        if self.model is not None and (
            not isinstance(self.model, MultiLabelModel) or isinstance(self.model, TextClassifier)
        ):
            raise TypeError(f"model must be a model of xmlcore, such as PLT(), not {self.model!r:.200}")

    def _saved_params(self) -> dict:
        """Return no parameters: the saved model and vectoriser say what they were fitted with."""
        return {}

    def _state(self):
        settings, vectorizer_arrays = self.vectorizer_.to_plain()
        model, model_arrays = parts_of_model(self.model_)
        arrays = under("vectorizer.", vectorizer_arrays) | under("model.", model_arrays)
        return {"vectorizer": settings, "model": model}, arrays

    def _whole_state(self):
        return self._state()  # the model in it has the counts of labels

    def _set_state(self, values, arrays):
        vectorizer = TextVectorizer.from_plain(values["vectorizer"], below("vectorizer.", arrays))
        model = model_from_parts(values["model"], below("model.", arrays))
        self.__dict__.update(vars(self.from_parts(model, vectorizer)))


def _texts_and_labels(X, y, Y) -> tuple:
    """Return texts and their labels; ValueError if there are not as many of both."""
    (texts, beside), y = texts_and_blocks(X), labels_given(y, Y)
    if isinstance(y, (str, bytes)) or not hasattr(y, "__iter__"):
        raise TypeError(f"y is {y!r:.60}: give a list of labels for each text, such as [['art', 'music'], ['law'], []]")
    y = y if hasattr(y, "shape") else list(y)
    n_rows = y.shape[0] if hasattr(y, "shape") else len(y)
    if len(texts) != n_rows:
        raise ValueError(f"there are {len(texts)} texts, but {n_rows} lists of labels: give one for each")
    return [texts, *beside] if beside else texts, y
