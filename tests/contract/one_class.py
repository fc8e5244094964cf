"""Our models as classifiers of one class per row, for scikit-learn's checks."""

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from xmlcore import PLT, DoubleSampling, ExtendedPLT, LdSM, OneVsRest
from xmlcore.progress import silent


class OneClassPerRow:
    """Mixed into a model's class: takes a class per row, as scikit-learn's checks have it, and predicts one."""

    def fit(self, X, y, progress=silent):
        """Fit the model to lists that hold the number of each row's class."""
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

    def predict(self, X):
        """Return the most probable class of each row."""
        best = self.predict_topk(X, k=1).labels[:, 0]
        return self.own_classes_[best]

    def predict_proba(self, X, threshold=0.0):
        """Return the probabilities as a dense array."""
        return super().predict_proba(X, threshold).toarray()

    def score(self, X, y):
        """Return the share of rows whose class is the most probable one."""
        at = {c: i for i, c in enumerate(self.own_classes_)}
        return super().score(X, [[at[c]] if c in at else [] for c in y])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output, tags.target_tags.two_d_labels = True, False
        tags.classifier_tags.multi_class, tags.classifier_tags.multi_label = True, False
        return tags


class OneClassPLT(OneClassPerRow, PLT):
    """PLT."""


class OneClassLdSM(OneClassPerRow, LdSM):
    """LdSM."""


class OneClassOneVsRest(OneClassPerRow, OneVsRest):
    """OneVsRest."""


class OneClassDoubleSampling(OneClassPerRow, DoubleSampling):
    """DoubleSampling."""


class OneClassExtendedPLT(OneClassPerRow, ExtendedPLT):
    """ExtendedPLT."""
