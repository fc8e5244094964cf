"""The class :class:`Dataset`."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import read_only
from xmlcore.artifact_keys import plain
from xmlcore.datasets.columns import check_columns, codes_of
from xmlcore.datasets.registry.entries import CatalogEntry, of_sizes, propensity_of
from xmlcore.datasets.texts.vectorizer import TextVectorizer
from xmlcore.hierarchy import Hierarchy
from xmlcore.label_names import KnownLabels, are_names, read_label_names, with_names
from xmlcore.metrics import inverse_propensity
from xmlcore.validation import check_count, check_features, check_labels, check_names

if TYPE_CHECKING:
    from xmlcore.typing import DataFrame, Labels, Matrix

_NAMED = ("feature_names", "label_names", "row_names_train", "row_names_test", "texts_train", "texts_test")
_OF_ROWS, _PARTS = _NAMED[2:], ("train", "test")
_OF_LABELS = ("label_parents", "label_aliases")
_CONTENT_VERSION, _FINGERPRINT_VERSION = b"xmlcore data set 1", b"xmlcore data set 2"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Training and test rows of a multi-label problem.

    The matrices are checked and brought into canonical form when the data set is made. They are copies with read-only
    arrays, so that the fingerprint stays valid.

    Parameters
    ----------
    name : str
        Shown to users.
    X_train : sparse or array_like, shape (n_train, D)
        Features of the training rows.
    Y_train : sparse, array_like of 0 and 1, or lists of label ids or of names, shape (n_train, L)
        Labels of the training rows. If they are lists of ids (in a list, or in a pandas Series), L is the number of
        label names, or the largest id + 1 if there are no names. If they are lists of names, ``label_names`` is by
        default the sorted names of the training rows, and after them the sorted names that only test rows have; if
        they are a DataFrame, its columns.
    X_test : sparse or array_like, shape (n_test, D)
        Features of the test rows.
    Y_test : sparse, array_like of 0 and 1, or lists of label ids or of names, shape (n_test, L)
        Labels of the test rows.
    feature_names, label_names : sequence of str, optional
        D and L names.
    row_names_train, row_names_test : sequence of str, optional
        Names of the rows, for display.
    notes : sequence of str
        Facts about the origin of the data that a user should know, such as the random split.
    texts_train, texts_test : sequence of str, optional
        The text of each row, where rows are made from texts; for display, and for the words in it.
    vectorizer : TextVectorizer, optional
        What made the rows from the texts: new texts become rows in the same way.
    label_parents : dict of str to str, or to sequence of str, optional
        The label or group, or those, in which each label or group is: see :class:`xmlcore.metrics.Hierarchy`.
    label_aliases : dict of str to str, optional
        Further names of labels, with the names of these. Lists of names in ``Y_train`` and ``Y_test`` may have them.
    columns : DataFrame or dict of str to sequence, optional
        What else is known of each row, training rows first, such as its language or year: rows of a value are groups.
        Numbers become float64, all others categories of texts. Models do not learn from them.

    Attributes
    ----------
    X_train, X_test : scipy.sparse.csr_array of float32
        In canonical form: sorted indices, no duplicates, no stored zeros.
    Y_train, Y_test : scipy.sparse.csr_array of bool
        In canonical form; only True is stored.
    """

    name: str
    X_train: sp.csr_array
    Y_train: sp.csr_array
    X_test: sp.csr_array
    Y_test: sp.csr_array
    feature_names: list[str] | None = None
    label_names: list[str] | None = None
    row_names_train: list[str] | None = None
    row_names_test: list[str] | None = None
    notes: tuple[str, ...] = ()
    texts_train: list[str] | None = None
    texts_test: list[str] | None = None
    vectorizer: TextVectorizer | None = None
    label_parents: dict[str, tuple[str, ...]] | None = None
    label_aliases: dict[str, str] | None = None
    columns: "DataFrame | None" = None

    if TYPE_CHECKING:  # what it is made from has more types than what it holds

        def __init__(
            self,
            name: str,
            X_train: Matrix,
            Y_train: Labels,
            X_test: Matrix,
            Y_test: Labels,
            feature_names: Sequence[str] | np.ndarray | None = None,
            label_names: Sequence[str] | np.ndarray | None = None,
            row_names_train: Sequence[str] | np.ndarray | None = None,
            row_names_test: Sequence[str] | np.ndarray | None = None,
            notes: Sequence[str] = (),
            texts_train: Sequence[str] | np.ndarray | None = None,
            texts_test: Sequence[str] | np.ndarray | None = None,
            vectorizer: TextVectorizer | None = None,
            label_parents: Mapping[str, str | Sequence[str]] | None = None,
            label_aliases: Mapping[str, str] | None = None,
            columns: DataFrame | Mapping[str, Sequence[object] | np.ndarray] | None = None,
        ) -> None: ...

    def __post_init__(self):
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, not {self.name!r:.200}")
        for field in _NAMED:
            self._set(field, _check_names(getattr(self, field), field))
        if self.vectorizer is not None and not isinstance(self.vectorizer, TextVectorizer):
            raise TypeError(f"vectorizer must be a TextVectorizer, not {type(self.vectorizer).__name__}")
        if isinstance(self.notes, str):
            raise TypeError("notes is a string: give a sequence of strings")
        self._set("notes", tuple(str(note) for note in self.notes))

        X = [check_features(getattr(self, f"X_{part}"), name=f"X_{part}") for part in _PARTS]
        self._check_aliases()
        Y_train, Y_test = (with_names(Y, self.label_aliases) for Y in (self.Y_train, self.Y_test))
        Y_train, Y_test, names = _without_names(Y_train, Y_test, self.label_names)
        self._set("label_names", _check_names(names, "label_names"))
        width = None if _is_matrix(Y_train) or self.label_names is None else len(self.label_names)
        Y_train = check_labels(Y_train, n_labels=width, name="Y_train")
        width = None if _is_matrix(Y_test) else Y_train.shape[1]
        Y = [Y_train, check_labels(Y_test, n_labels=width, name="Y_test")]
        for letter, noun, (train, test) in (("X", "features", X), ("Y", "labels", Y)):
            if train.shape[1] != test.shape[1]:
                differ = f"{letter}_train has {train.shape[1]} {noun}, but {letter}_test has {test.shape[1]}"
                raise ValueError(f"{differ}: both need the same {noun} in the same order")
        counts = {"feature_names": (X[0].shape[1], "features"), "label_names": (Y[0].shape[1], "labels")}
        for part, called, rows, labels in zip(_PARTS, ("training rows", "test rows"), X, Y):
            n_rows = rows.shape[0]
            if n_rows != labels.shape[0]:
                differ = f"X_{part} has {n_rows} rows, but Y_{part} has {labels.shape[0]}"
                raise ValueError(f"{differ}: every row needs its labels")
            if n_rows == 0:
                raise ValueError(f"X_{part} has no rows")
            counts |= {f"row_names_{part}": (n_rows, called), f"texts_{part}": (n_rows, called)}
            self._set(f"X_{part}", rows)
            self._set(f"Y_{part}", labels)
        for field, (count, noun) in counts.items():
            names = getattr(self, field)
            if names is not None and len(names) != count:
                each = "texts" if field.startswith("texts") else "names"
                raise ValueError(f"{field} has {len(names)} {each}, but there are {count} {noun}")
        for field in _OF_LABELS:
            if getattr(self, field) is not None and self.label_names is None:
                raise ValueError(f"{field} has names, and the labels have none: give label_names")
        if self.columns is not None:
            self._set("columns", check_columns(self.columns, self.n_train + self.n_test))
        self._check_aliases()
        if self.label_parents is not None:
            self._set("label_parents", Hierarchy(self.label_parents, self.label_names).parents)
        made = getattr(self.vectorizer, "n_features_", "no")
        if self.vectorizer is not None and made != self.n_features:
            raise ValueError(f"the vectorizer makes {made} features, but X_train has {self.n_features}")
        self._freeze()

    def _check_aliases(self):
        if self.label_aliases is not None and self.label_names is not None:
            ids = KnownLabels(len(self.label_names), self.label_names).aliases(self.label_aliases)
            self._set("label_aliases", {alias: self.label_names[j] for alias, j in ids.items()})

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._freeze()  # arrays from a pickle can be written to

    def _freeze(self):
        for matrix in (self.X_train, self.Y_train, self.X_test, self.Y_test):
            read_only((matrix.indptr, matrix.indices, matrix.data))

    def _set(self, field, value):
        object.__setattr__(self, field, value)  # although the class is frozen

    def __repr__(self):
        return (
            f"Dataset({self.name!r}: {self.n_train} training rows, {self.n_test} test rows, "
            f"{self.n_features} features, {self.n_labels} labels)"
        )

    @property
    def n_train(self) -> int:
        """Number of training rows."""
        return self.X_train.shape[0]

    @property
    def n_test(self) -> int:
        """Number of test rows."""
        return self.X_test.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features, D."""
        return self.X_train.shape[1]

    @property
    def n_labels(self) -> int:
        """Number of labels, L."""
        return self.Y_train.shape[1]

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all that the data set has, under which it is kept: 32 hex digits.

        Data sets share it only if everything is equal that is shown of them or used: the content (see
        ``content_hash``), ``name``, ``notes``, names, texts and columns of rows, ``vectorizer``, and what is said of
        labels.
        """
        settings, arrays = (None, {}) if self.vectorizer is None else self.vectorizer.to_plain()
        shown = [self.content_hash, self.name, self.notes, settings]
        shown += [{field: value} for field in _OF_LABELS if (value := getattr(self, field)) is not None]
        digest = hashlib.blake2b(_FINGERPRINT_VERSION, digest_size=16)
        _add_texts(digest, [json.dumps(plain(shown), sort_keys=True)])
        for field in _OF_ROWS:
            _add_texts(digest, getattr(self, field))
        for name in () if self.columns is None else self.columns:
            numbers, texts = codes_of(self.columns[name])
            _add_texts(digest, [name, *texts])
            digest.update(numbers.astype("<f8").tobytes())
        for name in sorted(arrays):
            array = arrays[name]
            digest.update(array.size.to_bytes(8, "little"))
            digest.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).data)
        return digest.hexdigest()

    @cached_property
    def content_hash(self) -> str:
        """Hash of what models learn from: matrices, feature names and label names; 32 hex digits.

        The same content gives the same hash on every machine, whatever types it had and whatever it is called. It is
        computed at the first use, in about 1 s per GB.
        """
        digest = hashlib.blake2b(_CONTENT_VERSION, digest_size=16)
        matrices = (self.X_train, self.Y_train, self.X_test, self.Y_test)
        for matrix, value_type in zip(matrices, ("<f4", "?") * 2):
            digest.update(np.array([*matrix.shape, matrix.nnz], dtype="<i8").tobytes())
            for array, kind in ((matrix.indptr, "<i8"), (matrix.indices, "<i4"), (matrix.data, value_type)):
                digest.update(np.ascontiguousarray(array, dtype=kind).data)
        for names in (self.feature_names, self.label_names):
            _add_texts(digest, names)
        return digest.hexdigest()

    @cached_property
    def hierarchy(self) -> Hierarchy | None:
        """What is above each label, for hierarchical measures; None if ``label_parents`` is."""
        return None if self.label_parents is None else Hierarchy(self.label_parents, self.label_names)

    @property
    def published(self) -> CatalogEntry | None:
        """The published data set of the catalog that has as many rows in all, features and labels."""
        return of_sizes(self.n_train + self.n_test, self.n_features, self.n_labels)

    @property
    def propensity(self) -> tuple[float, float]:
        """A and B of :func:`xmlcore.metrics.inverse_propensity`: those of the published data set, or else the usual."""
        return propensity_of(self.n_train, self.n_test, self.n_features, self.n_labels)

    def inverse_propensity(self) -> np.ndarray:
        """Return the weight of each label in propensity-scored measures, shape (L,), with A and B of this data set."""
        return inverse_propensity(self.Y_train, *self.propensity)

    def label_name(self, j: int) -> str:
        """Return the name of a label, or ``"label j"`` when there are no names."""
        return name_of(self.label_names, j, self.n_labels, "label")

    def feature_name(self, j: int) -> str:
        """Return the name of a feature, or ``"feature j"`` when there are no names."""
        return name_of(self.feature_names, j, self.n_features, "feature")


def _add_texts(digest, texts) -> None:
    digest.update(np.array([-1 if texts is None else len(texts)], dtype="<i8").tobytes())
    for text in texts or ():
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)


def _is_matrix(Y):
    """Return whether Y is a matrix with a width, and not lists of ids in a list, a Series or an array."""
    return len(getattr(Y, "shape", ())) == 2


def name_of(names, j: int, count: int, noun: str) -> str:
    """Return the name of a label or feature, as ``noun`` says, or "<noun> <id>" if there are no names."""
    check_count(j, f"j, the id of a {noun},", 0, count - 1)
    return f"{noun} {j}" if names is None else names[j]


def _without_names(Y_train, Y_test, names):
    """Return the labels with matrices in the place of lists of names, and the names of labels or None."""
    columns = [list(Y.columns) if hasattr(Y, "iloc") and hasattr(Y, "columns") else None for Y in (Y_train, Y_test)]
    if None not in columns and columns[0] != columns[1]:
        raise ValueError("the columns of Y_train and Y_test differ: both need the same labels in the same order")
    if names is None and columns[0] is not None and all(isinstance(column, str) for column in columns[0]):
        names = columns[0]
    if names is None and are_names(Y_train):
        names = read_label_names(Y_train, name="Y_train")[1]
        if are_names(Y_test):
            names = list(dict.fromkeys(names + read_label_names(Y_test, name="Y_test")[1]))
    if names is None and are_names(Y_test):
        raise ValueError("Y_test has names of labels, and Y_train has none: give label_names")
    given = {"Y_train": Y_train, "Y_test": Y_test}
    found = (read_label_names(Y, names, name=name)[0] if are_names(Y) else Y for name, Y in given.items())
    return *found, names


def _check_names(names, field):
    if names is None:
        return None
    if isinstance(names, (str, bytes)) or not (isinstance(names, Sequence) or hasattr(names, "tolist")):
        raise TypeError(f"{field} must be a list of strings, not {type(names).__name__}")
    return check_names(names.tolist() if hasattr(names, "tolist") else names, field)
