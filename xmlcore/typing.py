"""Types of arguments that many public functions share, for editors and type checkers."""

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NewType, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from xmlcore.ranking import Ranking

if TYPE_CHECKING:
    from pandas import DataFrame

    from xmlcore.datasets import Dataset

    ArrayLike: TypeAlias = npt.ArrayLike
    # Rows of features: sparse, or whatever numpy.asarray makes a matrix of numbers of, such as a pandas DataFrame.
    OneMatrix: TypeAlias = sp.sparray | sp.spmatrix | ArrayLike
    # A list of matrices for models: blocks of columns of the same rows.
    Matrix: TypeAlias = OneMatrix | Sequence[OneMatrix]
    # Texts, or a list of texts and of matrices that have a row for each.
    Texts: TypeAlias = Iterable[str] | Sequence[OneMatrix]
    # Labels of rows: a binary matrix, or a list of labels for each row.
    Labels: TypeAlias = OneMatrix | Sequence[Collection[int]] | Sequence[Collection[Hashable]]
    # Names of labels: strings, or other values that can be hashed, such as the members of an Enum.
    LabelNames: TypeAlias = Sequence[Hashable] | npt.NDArray[Any]
    # Labels that may be predicted, or may not: one or several, by their ids or names, or a bool for each label.
    SomeLabels: TypeAlias = Hashable | Collection[Hashable] | npt.NDArray[Any]
    # Compared with the true labels by a measure: a ranking, or as Labels, with scores in place of 0 and 1.
    Predictions: TypeAlias = Ranking | Labels
    # Seed of random numbers; a generator is drawn from, so that it gives another seed each time.
    RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
else:  # help() and the reference write these names, not what they stand for; to import pandas takes half a second
    _NAMES = ("ArrayLike", "Matrix", "Texts", "Labels", "LabelNames", "SomeLabels", "Predictions", "RandomState")
    _OF_DOCUMENTS = [NewType(name, object) for name in _NAMES]
    ArrayLike, Matrix, Texts, Labels, LabelNames, SomeLabels, Predictions, RandomState = _OF_DOCUMENTS
    DataFrame = Dataset = Any

Auto: TypeAlias = Literal["auto"]  # what stands for a value that the estimator chooses
FilePath: TypeAlias = str | PathLike[str]
# Input of readers: the path of a file, its content, or an open file.
Source: TypeAlias = FilePath | bytes | BinaryIO


class Perturbation(Protocol):
    """Something that changes rows, such as :class:`xmlcore.robustness.GaussianNoise`."""

    @property
    def apply(self) -> Callable[..., sp.csr_array]:
        """The method that returns changed rows, given them, numbers of their random streams and a seed."""
        ...


class Ranker(Protocol):
    """Something that ranks labels: a model, a classifier of texts, a packed model, or a class of the user's own."""

    @property
    def predict_topk(self) -> Callable[..., Ranking]:
        """The method that returns the k best labels of rows or texts, given them and k."""
        ...
