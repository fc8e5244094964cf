"""The estimators that the contract tests run, and the data they are run on."""

import copy
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import (
    FALS,
    PLT,
    DoubleSampling,
    ExtendedPLT,
    LdSM,
    Mixture,
    NearestRows,
    OneVsRest,
    TextClassifier,
    selection,
)  # fmt: skip
from xmlcore.datasets import TextVectorizer
from xmlcore.models import DenseOutput
from xmlcore.models.base import MultiLabelModel
from xmlcore.models.saving import SAVED_CLASSES, saved_class
from xmlcore.robustness import AdversarialTraining

N_ROWS, N_FEATURES, N_LABELS = 48, 14, 7


@dataclass(frozen=True)
class Case:
    """An estimator with parameters that make it quick, and what it is known to differ in."""

    cls: type
    params: dict = field(default_factory=dict)
    positive: bool = False  # refuses negative values
    rounds: bool = False  # a network: sums of a batch may be rounded otherwise than those of one row
    saves_itself: bool = True  # False: what ``save`` writes is another class

    @property
    def id(self) -> str:
        """The class and the parameters, for the names of tests."""
        params = ",".join(f"{name}={value}" for name, value in self.params.items())
        return f"{self.cls.__name__}({params})"

    def make(self, **params):
        """Return an estimator that is not fitted."""
        return self.cls(**copy.deepcopy(self.params) | params)

    @property
    def takes_texts(self) -> bool:
        """Whether its rows are texts."""
        return self.cls is TextClassifier

    def problem(self):
        """Return what :func:`problem` does, with the rows as texts for an estimator that takes these."""
        return (texts() if self.takes_texts else problem()[0]), problem()[1]

    @property
    def predicts(self) -> bool:
        """Whether it is a model with rankings."""
        return issubclass(self.cls, MultiLabelModel)


WORDS = TextVectorizer(features="words", ngrams=(1, 1), min_df=1)
CASES = [
    Case(PLT, {"max_leaf_labels": 2}),
    Case(PLT, {"n_estimators": 3, "arity": 3, "max_leaf_labels": 1, "collapse_layers": 1}),
    Case(PLT, {"tree": "huffman", "loss": "squared_hinge", "C": 1.0, "beam": 3}),
    Case(ExtendedPLT, {"max_leaf_labels": 2, "sigma": 0.1}),
    Case(LdSM, {"n_estimators": 3, "max_nodes": 15, "n_epochs": 5}),
    Case(LdSM, {"n_estimators": 2, "max_nodes": 15, "arity": 3, "optimizer": "sgd", "rerank_beta": 0.5}),
    Case(OneVsRest),
    Case(OneVsRest, {"loss": "squared_hinge", "weight_threshold": 0.0}),
    Case(PLT, {"max_leaf_labels": 2, "normalize": "standardize"}),
    Case(PLT, {"n_estimators": 2, "max_leaf_labels": 3, "normalize": None}),
    Case(PLT, {"quality": "best", "max_leaf_labels": 3, "normalize": "idf+l2"}),
    Case(OneVsRest, {"normalize": "standardize"}),
    Case(DoubleSampling, {"n_adversarial": 3, "n_candidates": 5}, positive=True),
    Case(
        DoubleSampling, {"features": "extended", "candidates_from": "plt", "adversaries": "candidates"}, positive=True
    ),
    Case(NearestRows, {"n_neighbors": 5}),
    Case(Mixture, {"members": [PLT(max_leaf_labels=2, C=1.0, normalize="l2"), NearestRows(5)]}),
    Case(TextClassifier, {"model": PLT(max_leaf_labels=2), "vectorizer": WORDS}),
    Case(FALS, {"n_epochs": 4, "n_features": 0.3}, rounds=True),
    Case(FALS, {"n_epochs": 4, "pattern": "FAMS", "scoring": "sampled", "n_scored_rows": 16}, rounds=True),
    Case(AdversarialTraining, {"model": PLT(max_leaf_labels=2), "sigma": 0.1}, saves_itself=False),
    Case(DenseOutput, {"model": PLT(max_leaf_labels=2)}, saves_itself=False),
    Case(selection.RandomForestSelection, {"n_estimators": 3}),
    Case(selection.RandomForestSelection, {"n_estimators": 3, "per_label": False}),
    Case(selection.LassoSelection, {"alpha": 0.3}),
    Case(selection.LassoSelection, {"alpha": 0.3, "per_label": False}),
    Case(selection.ChiSquaredSelection, {"n_features": 4}, positive=True),
    Case(selection.MutualInformationSelection, {"per_label": False}),
    Case(selection.BRDT),
    Case(selection.LIFT, {"ratio": 0.3}),
    Case(selection.GradEnFSSelection, {"n_epochs": 2, "n_hidden": 20}),
]

# What is saved has a case, a new estimator one with its defaults.
_LISTED = {case.cls.__name__ for case in CASES}
CASES += [Case(saved_class(name)) for name in SAVED_CLASSES if name not in _LISTED]

MODELS = [case for case in CASES if case.predicts]


def of(cases):
    """Return a mark that runs a test with each case."""
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.id)


# What concerns the class and not the numbers is tested with the first case of each.
_FIRST = list({case.cls: case for case in reversed(CASES)}.values())[::-1]
every_case, every_model, each_once = of(CASES), of(MODELS), of(_FIRST)
each_model_once = of([case for case in _FIRST if case.predicts])
# Those that take rows of numbers.
case_of_rows = of([case for case in CASES if not case.takes_texts])
each_of_rows = of([case for case in _FIRST if not case.takes_texts])
model_of_rows = of([case for case in _FIRST if case.predicts and not case.takes_texts])
every_class = pytest.mark.parametrize("cls", dict.fromkeys(case.cls for case in CASES), ids=lambda cls: cls.__name__)


@cache
def problem():
    """Return X, float64 counts (N_ROWS, N_FEATURES), and Y, bool (N_ROWS, N_LABELS): each label has its own feature."""
    rng = np.random.default_rng(3)
    Y = rng.random((N_ROWS, N_LABELS)) < 0.3
    Y[np.arange(N_ROWS), rng.integers(0, N_LABELS, N_ROWS)] = True
    X = np.where(rng.random((N_ROWS, N_FEATURES)) < 0.2, rng.integers(1, 4, (N_ROWS, N_FEATURES)), 0).astype(float)
    X[:, :N_LABELS] += 2 * Y
    X.setflags(write=False)
    Y.setflags(write=False)
    return X, Y


@cache
def texts() -> np.ndarray:
    """Return the rows of :func:`problem` as texts, with a word for each feature, as often as it counts."""
    rows = problem()[0].astype(int)
    return np.array([" ".join(f"word{j:02}" for j in np.repeat(np.arange(N_FEATURES), row)) for row in rows])


@cache
def _fitted(index):
    X, Y = CASES[index].problem()
    return CASES[index].make().fit(X if CASES[index].takes_texts else sp.csr_array(X), Y)


def fitted(case):
    """Return the fitted estimator of a case; it is shared by tests and must not be changed."""
    return _fitted(CASES.index(case))


def dense(matrix) -> np.ndarray:
    """Return a sparse or dense matrix as an array."""
    return matrix.toarray() if sp.issparse(matrix) else matrix


def results(estimator, X=None) -> dict[str, np.ndarray]:
    """Return all that the estimator gives for rows, and what it has selected, as arrays by name."""
    if X is None:
        X = texts() if hasattr(estimator, "vectorizer_") else problem()[0]
    found = {}
    if hasattr(estimator, "predict_topk"):
        ranking = estimator.predict_topk(X, k=3)
        found |= {"labels": ranking.labels, "scores": ranking.scores}
    if hasattr(estimator, "predict_proba"):
        found["probabilities"], found["predicted"] = dense(estimator.predict_proba(X)), dense(estimator.predict(X))
        if isinstance(found["predicted"], list):  # of names
            found["predicted"] = np.array([[name in row for name in estimator.labels_] for row in found["predicted"]])
    for name in ("selected_", "scores_"):
        if hasattr(estimator, name):
            found[name] = getattr(estimator, name)
    assert found
    return found


def assert_same(found: dict, expected: dict, *, rounded=False) -> None:
    """Assert that two :func:`results` are the same to the last bit, or nearly so where sums are rounded otherwise."""
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape, name
        if rounded and array.dtype.kind == "f":
            np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(found[name], array, err_msg=name)
