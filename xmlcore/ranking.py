"""The result type of all top-k predictions."""

from collections.abc import Hashable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from xmlcore.first_use import pd
from xmlcore.system import check_memory

SHOWN_ROWS, SHOWN_PLACES = 10, 10  # of a ranking in a notebook
SMALL = 1 << 24  # bytes of a ranking that are taken at once: to see how many are free takes a millisecond
KS = (1, 3, 5)  # the numbers of labels at which trials, tables and figures have measures


class Ranking(NamedTuple):
    """The k best labels of each row, best first; labels of equal score are ordered by id.

    Attributes
    ----------
    labels : ndarray of int32, shape (n, k)
        Label ids, padded with -1 where a row has fewer than k.
    scores : ndarray of float32, shape (n, k)
        The labels' scores, largest first in each row, padded with 0.

    Notes
    -----
    In NumPy the index -1 is the last element, so ``names[ranking.labels]`` would give the name of the last label where
    a row has fewer than k labels. :meth:`names` and :meth:`to_frame` do not.
    """

    labels: np.ndarray
    scores: np.ndarray

    def names(self, label_names: Sequence[Hashable] | npt.NDArray[Any], missing: object = None) -> np.ndarray:
        """Return the names of the labels.

        Parameters
        ----------
        label_names : sequence, shape (L,)
            The name of each label, in the order of the ids, such as a model's ``label_names_``, the ``label_names`` of
            a data set, or the ``classes_`` of scikit-learn's ``MultiLabelBinarizer``.
        missing : object
            What stands where a row has fewer than k labels.

        Returns
        -------
        ndarray of object, shape (n, k)

        Examples
        --------
        >>> ranking = Ranking(np.array([[1, 0], [0, -1]]), np.array([[0.9, 0.2], [0.7, 0.0]]))
        >>> ranking.names(["law", "art"]).tolist()
        [['art', 'law'], ['law', None]]
        """
        names = _as_objects(label_names)
        labels = np.asarray(self.labels)
        largest = int(labels.max(initial=-1))
        if largest >= names.size:
            raise ValueError(f"label_names has {names.size} names, but the ranking has the label {largest}")
        found = np.full(labels.shape, missing, dtype=object)
        there = labels >= 0
        found[there] = names[labels[there]]
        return found

    def to_frame(
        self,
        label_names: Sequence[Hashable] | npt.NDArray[Any] | None = None,
        row_names: Sequence[Hashable] | npt.NDArray[Any] | None = None,
    ) -> "pd.DataFrame":
        """Return the ranking as a table with a line for each label of each row.

        Parameters
        ----------
        label_names : sequence, shape (L,), optional
            As for :meth:`names`.
        row_names : sequence, shape (n,), optional
            A name for each row.

        Returns
        -------
        pandas.DataFrame
            ``row`` (from 0), ``name`` if there are names of rows, ``rank`` (from 1), ``label`` (the id), ``label_name``
            if there are names of labels, ``score``. A row without labels has no line.
        """
        row, place = np.nonzero(self.labels >= 0)
        columns = {"row": row}
        if row_names is not None:
            if len(row_names) != len(self.labels):
                raise ValueError(f"row_names has {len(row_names)} names, but the ranking has {len(self.labels)} rows")
            columns["name"] = _as_objects(row_names)[row]
        columns |= {"rank": place + 1, "label": self.labels[row, place]}
        if label_names is not None:
            columns["label_name"] = self.names(label_names)[row, place]
        return pd.DataFrame(columns | {"score": self.scores[row, place]})

    def _repr_html_(self) -> str:
        """Return a table of the first rows for notebooks: in each cell a label's id and score."""
        labels, scores = (np.asarray(part)[:SHOWN_ROWS, :SHOWN_PLACES] for part in self)
        cells = np.vectorize("{} ({:.3g})".format, otypes=[object])(labels, scores)
        cells[labels < 0] = ""
        table = pd.DataFrame(cells, columns=range(1, cells.shape[1] + 1)).to_html()
        (n, k), (rows, places) = np.shape(self.labels), cells.shape
        return f"{table}<p>{rows} of {n:,} rows, {places} of {k:,} places: label (score)</p>"


def of_known(ranking: Ranking, X: sp.csr_array) -> Ranking:
    """Return a ranking of texts without the labels of those that have no known word: any such text would get them."""
    return Ranking(np.where(np.diff(X.indptr)[:, None] > 0, ranking.labels, -1), ranking.scores)


def check_room(n_rows: int, k: int) -> None:
    """Raise MemoryError if a ranking of k labels for each row takes more memory than is free."""
    needed = 8 * n_rows * k
    if needed > SMALL:
        check_memory(needed, "A ranking", f"{n_rows:,} rows of {k:,} labels", "ask for a smaller k")


def fill_with_zeros(labels: np.ndarray, among: np.ndarray | None = None) -> None:
    """Put in place of each -1, behind the labels of a row, a label that the row does not have, the smallest ids first.

    So labels of score 0 are ranked as others of equal score. The rows are int32 (n, k), with k at most L, or at most
    the number of labels ``among`` which these are.
    """
    k = labels.shape[1]
    for i in (labels[:, -1] < 0).nonzero()[0]:
        there = labels[i][labels[i] >= 0]
        others = np.setdiff1d(np.arange(k + there.size) if among is None else among, there)
        labels[i] = np.concatenate([there, others[: k - there.size]])


def _as_objects(names) -> np.ndarray:
    """Return names as an array of object with one dimension, whatever they are: tuples stay tuples."""
    if isinstance(names, (str, bytes, Mapping, Set)) or not hasattr(names, "__len__"):
        raise TypeError(f"names must be a list, not {names!r:.60}")
    found = np.empty(len(names), dtype=object)
    for i, name in enumerate(names.tolist() if isinstance(names, np.ndarray) else names):
        found[i] = name
    return found
