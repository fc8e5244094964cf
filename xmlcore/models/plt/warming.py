"""The kernels of label trees in pieces, which several processes can compile at the same time."""

import numpy as np

from xmlcore._kernels.plt_index import EVERY
from xmlcore._kernels.plt_tree import TreeArrays, dtypes_of
from xmlcore.arrays import read_only
from xmlcore.models.base import toy_rows
from xmlcore.models.plt.label_tree import LabelTree
from xmlcore.models.plt.scaling import UNIT
from xmlcore.models.plt.search import DENSE
from xmlcore.models.plt.shapes import trees_asked_for
from xmlcore.models.plt.training import frame, groups_of, uncompact

TRAINING = "PLT-training"
SEARCH = "PLT-search"
TOGETHER = "PLT-together"  # the search of many rows at once: of dense rows, and in large models


def pieces_of(model) -> dict:
    """Return functions that compile the training and the searches of a PLT, by name; see ``base.warm_up``."""
    trained, searched = (type(model)(**model.get_params(deep=False) | model._warm_up_params()) for _ in range(2))

    def search():
        """Search trees that are not trained, so that no kernel of the training is needed."""
        untrained()._warm_up_predict()

    def together():
        untrained().predict_topk(toy_rows(), k=2, weights=np.ones(8))  # dense rows, and enough of them

    def untrained():
        tree, arrays = _untrained_tree()
        count = trees_asked_for(searched.get_params(deep=False))
        columns, settings = np.arange(6, dtype=np.int32), {"loss": "logistic", "normalize": UNIT}
        searched._set_fitted([tree] * count, [arrays] * count, columns, columns.size, tree.n_labels, settings)
        searched._protect()
        return searched

    return {TRAINING: trained._warm_up_fit, SEARCH: search, TOGETHER: together}


def unneeded(X) -> tuple[str, ...]:
    """Return the pieces that trees which learn from the rows X hardly need, as these are few and sparse."""
    return (TOGETHER,) if X.nnz < min(1 << 20, DENSE / 4 * X.shape[0] * X.shape[1]) else ()


def _untrained_tree() -> tuple[LabelTree, TreeArrays]:
    """Return a tree of 8 labels whose classifiers have no weights, made without a kernel."""
    tree = LabelTree.from_nested([[0, 1, 2], [[3, 4], [5, 6]], 7])
    groups = groups_of(tree, root_has_factor=False)
    arrays = {name: np.empty(0, dtype) for name, dtype in dtypes_of(compact=False).items()}
    arrays |= {
        name: np.zeros(len(groups) + 1, np.int64)
        for name in "column_ptr dense_ptr sparse_ptr entry_at index_at".split()
    }
    arrays |= frame(tree, groups, np.zeros(tree.n_nodes, np.float32)) | uncompact(len(groups))
    arrays |= {"index_shift": np.full(len(groups), EVERY, np.int32), "depth": tree.depth}
    return tree, read_only(TreeArrays(**arrays))
