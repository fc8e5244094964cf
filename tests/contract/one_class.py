"""Our estimators with a class per row in place of labels, for scikit-learn's checks."""

import functools

import numpy as np
from contract.estimators import dense
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from xmlcore.models.base import MultiLabelModel
from xmlcore.progress import silent


class FitsOneClassPerRow:
    """Mixed into an estimator's class: ``fit`` takes a class per row, as scikit-learn's checks have it."""

    def fit(self, X, y, progress=silent, **names):
        """Fit the estimator to lists that hold the number of each row's class."""
        if names:  # it is partial_fit that calls, with labels
            return super().fit(X, y, progress, **names)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        classes, ids = np.unique(y, return_inverse=True)
        super().fit(X, [[i] for i in ids], progress)
        self.own_classes_ = classes
        return self

    @property
    def classes_(self):
        """The classes, sorted."""
        return self.own_classes_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output, tags.target_tags.two_d_labels = True, False
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_class, tags.classifier_tags.multi_label = True, False
        return tags


class OneClassPerRow(FitsOneClassPerRow):
    """Mixed into a model's class: takes a class per row, and predicts one."""

    def predict(self, X):
        """Return the most probable class of each row."""
        best = self.predict_topk(X, k=1).labels[:, 0]
        return self.own_classes_[best]

    def predict_proba(self, X, threshold=0.0):
        """Return the shares of the classes: probabilities of labels, divided by their sum in the row."""
        found = dense(super().predict_proba(X, threshold)).astype(float)
        sums = found.sum(axis=1, keepdims=True)
        return np.divide(found, sums, out=np.full(found.shape, 1 / found.shape[1]), where=sums > 0)

    def score(self, X, y):
        """Return the share of rows whose class is the most probable one."""
        at = {c: i for i, c in enumerate(self.own_classes_)}
        return super().score(X, [[at[c]] if c in at else [] for c in y])


class LearnsOneClassPerRow(OneClassPerRow):
    """Mixed into the class of a model that learns further rows."""

    def partial_fit(self, X, y, classes=None):
        """Learn further rows; the first call names all classes."""
        if classes is not None:
            self.own_classes_ = np.unique(classes)
        return super().partial_fit(X, [[i] for i in np.searchsorted(self.own_classes_, y)])


class OneTreePerClass(FitsOneClassPerRow):
    """Mixed into the class of decision trees: predicts the class of the tree with the largest share."""

    def predict(self, X):
        """Return the most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.own_classes_[best]


@functools.cache
def one_class(cls):
    """Return an estimator's class that takes a class per row; pickles find it in this module."""
    mixin = FitsOneClassPerRow
    if issubclass(cls, MultiLabelModel):
        mixin = LearnsOneClassPerRow if hasattr(cls, "partial_fit") else OneClassPerRow
    elif hasattr(cls, "predict_proba"):
        mixin = OneTreePerClass
    made = type(f"OneClass{cls.__name__}", (mixin, cls), {"__module__": __name__, "__doc__": cls.__doc__})
    globals()[made.__name__] = made
    return made
