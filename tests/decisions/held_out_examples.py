"""A model and rows that it was not fitted to."""

from functools import cache

from xmlcore import PLT, datasets


@cache
def parts():
    """Return a fitted model, held-out rows and test rows, each as X and Y."""
    data = datasets.make_synthetic(n_train=1500, n_test=500, n_features=300, n_labels=40, random_state=0)
    model = PLT(max_leaf_labels=10, C=1.0, loss="squared_hinge").fit(data.X_train[:900], data.Y_train[:900])
    return model, (data.X_train[900:], data.Y_train[900:]), (data.X_test, data.Y_test)
