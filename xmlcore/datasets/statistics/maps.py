"""A map: places of the rows, or of the labels, of a data set in the plane, where those that are alike lie together."""

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import unit_rows
from xmlcore.datasets.dataset import Dataset
from xmlcore.progress import Progress, silent
from xmlcore.validation import INT32_MAX, check_count, check_dataset, check_known

OF = {"rows": "rows", "labels": "labels"}  # of what there are maps
LANDMARKS, FITTED = 5_000, 20_000  # points laid out by t-SNE; rows from which directions are learnt, at most
DIRECTIONS = 200  # of rows of unit length, in which these are compared
NEAREST = 3  # landmarks between which a point is placed
TINY = 1e-4  # added to distances, of which a point on a landmark has none
FEW = 5  # points; fewer are placed by their first two directions
BLOCK = 1024  # points that are compared with all landmarks at a time


def map_of(dataset: Dataset, of: str = "rows", random_state: int = 0, progress: Progress = silent) -> np.ndarray:
    """Place rows or labels in the plane, so that those with like features lie together.

    Rows of unit length are projected on the 200 main directions (truncated SVD) of at most 20,000 rows. A label is the
    mean direction of its rows. At most 5,000 of the points are landmarks, which t-SNE lays out; every point is placed
    between the three landmarks to which it is most similar, by the inverse square of 1 - cosine. So equal rows have
    equal places.

    Parameters
    ----------
    dataset : Dataset
    of : {"rows", "labels"}, default="rows"
        Test rows follow the training rows; labels are placed by the rows of both parts.
    random_state : int, default=0
        The same seed gives the same map, with any number of threads.
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`.

    Returns
    -------
    ndarray of float32, shape (n, 2)
        NaN for a row without features (or only with some that none of the 20,000 rows has), or a label without rows.

    Raises
    ------
    ValueError, TypeError
        An argument is none of the above.

    References
    ----------
    L. van der Maaten, G. Hinton: Visualizing data using t-SNE. JMLR 9, 2008. V. de Silva, J. B. Tenenbaum: Sparse
    multidimensional scaling using landmark points. Stanford, 2004.
    """
    from sklearn.utils.extmath import randomized_svd
    from threadpoolctl import threadpool_limits

    check_dataset(dataset)
    check_known(OF, of, "map")
    rng = np.random.default_rng(check_count(random_state, "random_state", 0, INT32_MAX))
    X = unit_rows(sp.vstack([dataset.X_train, dataset.X_test], format="csr")).astype(np.float32)
    Y = sp.vstack([dataset.Y_train, dataset.Y_test], format="csr")
    n, filled = X.shape[0], np.flatnonzero(np.diff(X.indptr))
    if filled.size == 0:
        return np.full((n if of == "rows" else Y.shape[1], 2), np.nan, np.float32)
    with threadpool_limits(1):  # sums of several threads differ in their last digits, of which t-SNE makes other maps
        progress("Looking for the main directions", 0.0)
        fitted = X[np.sort(rng.permutation(filled)[:FITTED])]
        _, _, V = randomized_svd(fitted, min(DIRECTIONS, *fitted.shape), n_iter=2, random_state=random_state)
        V = np.ascontiguousarray(V.T, np.float32)
        if of == "rows":
            return _placed(lambda ids: _unit(X[ids] @ V), n, rng, progress)
        sums = np.zeros((Y.shape[1], V.shape[1]), np.float32)
        for start in range(0, n, FITTED):
            sums += Y[start : start + FITTED].T.astype(np.float32) @ (X[start : start + FITTED] @ V)
        sums = _unit(sums)
        return _placed(lambda ids: sums[ids], len(sums), rng, progress)


def _unit(vectors) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > TINY)


def _placed(vectors, n, rng, progress) -> np.ndarray:
    """Place n points, of which ``vectors(ids)`` returns those of length 1, or 0 for points that have no place."""
    from sklearn.neighbors import KNeighborsRegressor

    progress("Laying out landmarks", 0.1)
    marks = vectors(np.sort(rng.permutation(n)[:LANDMARKS]))
    marks = np.unique(marks[marks.any(axis=1)], axis=0)  # two equal ones would be laid out apart
    if len(marks) == 0:
        return np.full((n, 2), np.nan, np.float32)
    weights = lambda apart: (apart**2 / 2 + TINY) ** -2.0  # noqa: E731  # half the square is 1 - cosine
    near = KNeighborsRegressor(min(NEAREST, len(marks)), weights=weights, algorithm="brute")
    near.fit(marks, _laid_out(marks))
    places = np.full((n, 2), np.nan, np.float32)
    for start in range(0, n, BLOCK):
        progress("Placing points", 0.5 + 0.5 * start / n)
        block = vectors(slice(start, start + BLOCK))
        places[start : start + BLOCK] = np.where(block.any(axis=1, keepdims=True), near.predict(block), np.nan)
    return places


def _laid_out(marks) -> np.ndarray:
    from sklearn.manifold import TSNE

    if len(marks) < FEW or marks.shape[1] < 2:
        return np.pad(marks, ((0, 0), (0, 1)))[:, :2]
    return TSNE(perplexity=min(30.0, (len(marks) - 1) / 3), max_iter=500, random_state=0).fit_transform(marks)
