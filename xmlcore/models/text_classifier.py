"""TextClassifier: a vectoriser and a model in one, with texts and label names in, label names out."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from xmlcore.datasets.texts import TextVectorizer
from xmlcore.datasets.texts.packed import packed, unpacked
from xmlcore.datasets.texts.text_datasets import label_matrix
from xmlcore.datasets.texts.vectorizer import check_texts
from xmlcore.label_names import ids_of_names
from xmlcore.metrics import precision_at_k
from xmlcore.models.base import Estimator, MultiLabelModel
from xmlcore.models.plt import PLT
from xmlcore.models.saving import ModelFormatError, model_from_parts, parts_of_model, write_model
from xmlcore.parameters import Parameter, described
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import FilePath, Ranker

PARAMETERS = (
    Parameter(
        "model", "Model",
        "Any model of xmlcore; it is copied before it is fitted. Empty is a PLT with its defaults.",
        "estimator", None, optional=True, in_form=False,
    ),
    Parameter(
        "vectorizer", "Vectoriser",
        "Turns texts into rows. It is copied before it is fitted. Empty is a TextVectorizer with its defaults.",
        "estimator", None, optional=True, in_form=False,
    ),
)  # fmt: skip


@described
class TextClassifier(Estimator):
    """Predict the labels of texts.

    Texts are turned into rows by a :class:`xmlcore.datasets.texts.TextVectorizer`, and a model is fitted to them. Works
    in scikit-learn's cross-validation and grid search: the grid's names are ``model__C`` and ``vectorizer__min_df``.

    {parameters}

    Attributes
    ----------
    labels_ : list of str
        The names of the labels, sorted: the id of a label in a :class:`xmlcore.Ranking` is its place in this list.
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
    def from_parts(cls, model: Ranker, vectorizer: TextVectorizer, labels: list[str]) -> "TextClassifier":
        """Return a fitted classifier made of a fitted model and a fitted vectoriser, which are not copied.

        ``labels`` are names in the order of the model's ids, which they keep. ValueError if the parts do not fit
        together.
        """
        if vectorizer.n_features_ != model.n_features_in_ or len(labels) != model.n_labels_:
            raise ValueError(
                f"the vectoriser has {vectorizer.n_features_} features and there are {len(labels)} labels, but the "
                f"model has {model.n_features_in_} features and {model.n_labels_} labels"
            )
        made = cls(type(model)(**model.get_params(deep=False)), TextVectorizer(**vectorizer.get_params()))
        made._set_fitted(vectorizer, model, list(labels))
        return made

    def __sklearn_tags__(self):
        """Return the tags by which scikit-learn's tools learn what the classifier accepts."""
        # It is not called a classifier there, because scikit-learn refuses lists of names as classes.

        tags = super().__sklearn_tags__()
        tags.input_tags = replace(tags.input_tags, string=True, two_d_array=False, sparse=False)
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    @property
    def n_labels_(self) -> int:
        """Number of labels."""
        self._check_fitted()
        return len(self.labels_)

    @property
    def n_features_in_(self) -> int:
        """Number of features of the model."""
        self._check_fitted()
        return self.vectorizer_.n_features_

    def fit(
        self, texts: Iterable[str], label_lists: Iterable[Collection[str]], progress: ProgressLike = silent
    ) -> "TextClassifier":
        """Fit the vectoriser and the model.

        Parameters
        ----------
        texts : list or pandas Series of str
        label_lists : list or pandas Series of lists of str
            Names of the labels of each text; a list may be empty.
        progress : :class:`xmlcore.progress.Progress` or "bar", optional

        Returns
        -------
        TextClassifier
            The classifier.

        Raises
        ------
        TypeError
            A text or a label is not a string; the message says which.
        ValueError
            There are not as many texts as lists of labels, or no labels, or no word is in enough texts.
        """
        progress = to_progress(progress)
        self._check_params()
        texts, label_lists = check_texts(texts), check_label_lists(label_lists)
        if len(texts) != len(label_lists):
            raise ValueError(f"there are {len(texts)} texts, but {len(label_lists)} lists of labels: give one for each")
        labels = sorted({label for row in label_lists for label in row})
        if not labels:
            raise ValueError("no text has a label: give at least one")
        vectorizer = _copy(self.vectorizer, TextVectorizer)
        X = vectorizer.fit_transform(texts, progress=part_of(progress, 0.0, 0.2))
        model = _copy(self.model, PLT).fit(X, label_matrix(label_lists, labels), progress=part_of(progress, 0.2, 1.0))
        self._set_fitted(vectorizer, model, labels)
        return self

    def predict_topk(
        self, texts: Iterable[str], k: int = 5, *, progress: ProgressLike = silent, weights: npt.ArrayLike | None = None
    ) -> Ranking:
        """Return the k best labels of each text, as ids: places in ``labels_``.

        Parameters
        ----------
        texts : list or pandas Series of str
        k : int
        progress : :class:`xmlcore.progress.Progress` or "bar", optional
        weights : array-like, shape (L,), optional
            What finding each label is worth: see :class:`PLT`.

        Returns
        -------
        Ranking
        """
        progress = to_progress(progress)
        X = self._rows(texts, part_of(progress, 0.0, 0.2))
        return self.model_.predict_topk(X, k, progress=part_of(progress, 0.2, 1.0), weights=weights)

    def predict_proba(self, texts: Iterable[str], threshold: float = 0.0) -> sp.csr_array:
        """Return the probabilities of labels that are at least ``threshold``.

        Parameters
        ----------
        texts : list or pandas Series of str
        threshold : float

        Returns
        -------
        csr_array of float32, shape (number of texts, L)
            Columns are places in ``labels_``.
        """
        return self.model_.predict_proba(self._rows(texts), threshold)

    def predict(self, texts: Iterable[str]) -> list[list[str]]:
        """Return the names of the labels that the model's ``predict`` decides for, the most probable first.

        Parameters
        ----------
        texts : list or pandas Series of str

        Returns
        -------
        list of list of str
        """
        found = self.model_._decided(self._rows(texts))
        names = []
        for row in range(found.shape[0]):
            part = slice(found.indptr[row], found.indptr[row + 1])
            order = np.lexsort((found.indices[part], -found.data[part]))
            names.append([self.labels_[j] for j in found.indices[part][order]])
        return names

    def suggest(self, texts: Iterable[str], k: int = 5) -> list[list[tuple[str, float]]]:
        """Return the names and the scores of the k best labels of each text, best first.

        Parameters
        ----------
        texts : list or pandas Series of str
        k : int

        Returns
        -------
        list of list of (str, float)
        """
        labels, scores = self.predict_topk(texts, k)
        return [
            [(self.labels_[j], score) for j, score in zip(*row) if j >= 0]
            for row in zip(labels.tolist(), scores.tolist())
        ]

    def score(self, texts: Iterable[str], label_lists: Iterable[Collection[str]]) -> float:
        """Return the precision at 1: the share of texts whose first predicted label is one of theirs.

        scikit-learn's tools use it when no other measure is given, such as ``scoring=metrics.scorer("nDCG@5")``.

        Parameters
        ----------
        texts : list or pandas Series of str
        label_lists : list or pandas Series of lists of str
            A label that the training texts did not have counts as never found.

        Returns
        -------
        float
        """
        return float(precision_at_k(self.label_ids(label_lists), self.predict_topk(texts, 1), 1)[0])

    def label_ids(self, label_lists: Iterable[Collection[str]]) -> list[list[int]]:
        """Return the ids of labels: places in ``labels_``. Names that are not there get the ids after the last."""
        self._check_fitted()
        return ids_of_names(check_label_lists(label_lists), self.labels_, name="label_lists")

    def size(self) -> dict[str, Any]:
        """Return the size of the model, with the arrays of the vectoriser in "model_bytes"."""
        self._check_fitted()
        _, arrays = self.vectorizer_.to_plain()
        size = self.model_.size()
        return size | {"model_bytes": size["model_bytes"] + sum(array.nbytes for array in arrays.values())}

    def save(self, path: FilePath) -> Path:
        self._check_fitted()
        return write_model(self, path)

    def _rows(self, texts, progress=silent) -> sp.csr_array:
        self._check_fitted()
        return self.vectorizer_.transform(texts, progress)

    def _check_params(self) -> None:
        """Raise a ValueError or TypeError that names the first parameter with a value that ``fit`` cannot use."""
        super()._check_params()
        if self.vectorizer is not None and not isinstance(self.vectorizer, TextVectorizer):
            raise TypeError(
                f"vectorizer must be a TextVectorizer, not {type(self.vectorizer).__name__}: others cannot be saved "
                "without pickle. TextVectorizer has the settings of scikit-learn's TfidfVectorizer for words"
            )
        if self.model is not None and not isinstance(self.model, MultiLabelModel):
            raise TypeError(f"model must be a model of xmlcore, such as PLT(), not {self.model!r:.200}")

    def _saved_params(self) -> dict:
        """Return no parameters: the saved model and vectoriser say what they were fitted with."""
        return {}

    def _state(self):
        settings, vectorizer_arrays = self.vectorizer_.to_plain()
        model, model_arrays = parts_of_model(self.model_)
        labels, label_ends = packed(self.labels_)
        arrays = {"labels": labels, "label_ends": label_ends}
        arrays |= {f"vectorizer.{name}": array for name, array in vectorizer_arrays.items()}
        arrays |= {f"model.{name}": array for name, array in model_arrays.items()}
        return {"vectorizer": settings, "model": model}, arrays

    def _whole_state(self):
        return self._state()  # the model in it has the counts of labels

    def _set_state(self, values, arrays):
        try:
            labels = unpacked(arrays["labels"], arrays["label_ends"])
            vectorizer = TextVectorizer.from_plain(values["vectorizer"], _named(arrays, "vectorizer."))
            model = model_from_parts(values["model"], _named(arrays, "model."))
            self.__dict__.update(vars(self.from_parts(model, vectorizer, labels)))
        except ModelFormatError:
            raise
        except ValueError as error:
            raise ModelFormatError(str(error)) from error

    def _set_fitted(self, vectorizer, model, labels):
        self.vectorizer_, self.model_, self.labels_ = vectorizer, model, labels


def check_label_lists(label_lists) -> list[list[str]]:
    """Return lists of label names as lists, or raise TypeError that says which one has something else."""
    remedy = "give a list of label names for each text"
    if isinstance(label_lists, (str, bytes)) or not hasattr(label_lists, "__iter__"):
        raise TypeError(f"label_lists is {label_lists!r:.60}: {remedy}")
    rows = []
    for i, row in enumerate(label_lists):
        if isinstance(row, (str, bytes, dict)) or not hasattr(row, "__iter__"):
            raise TypeError(f"label_lists[{i}] is {row!r:.60}: {remedy}, such as [['art', 'music'], ['law'], []]")
        row = sorted(row) if isinstance(row, (set, frozenset)) else list(row)
        for label in row:
            if not isinstance(label, str):
                raise TypeError(f"label_lists[{i}] has {label!r:.60}: names of labels are strings")
        rows.append(row)
    return rows


def _copy(part, default):
    """Return a new, not fitted estimator with the parameters of ``part``, or the default one."""
    return default() if part is None else type(part)(**part.get_params(deep=False))


def _named(arrays, prefix) -> dict:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
