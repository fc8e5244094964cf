"""Check the values and arrays of a saved double-sampling model before it is restored."""

import numpy as np

from xmlcore.models.double_sampling.candidates import TreeCandidates
from xmlcore.models.double_sampling.classes import NO_MORE, ClassTerms, check_postings
from xmlcore.models.double_sampling.learning import VALUES, LinearFunction, names_of_features
from xmlcore.models.double_sampling.parameters import DISTANCES, FEATURE_SETS, WEIGHTINGS
from xmlcore.models.saving import ModelFormatError, check_columns, check_types
from xmlcore.validation import INT32_MAX, check_count

DTYPES = dict(
    feature_of_column="int32", ptr="int64", classes="int32", sums="float32", document_counts="int64",
    class_size="int64", sampled_size="int64", weights="float64", scale="float64",
)  # fmt: skip
OF_CLASSES = ClassTerms._fields[:-1]  # those of the sums of the classes


def restored(values: dict, arrays: dict[str, np.ndarray]) -> tuple:
    """Check a saved state, and return the arguments of ``DoubleSampling._set_fitted``."""
    _check_values(values)
    _check_arrays(values, arrays)
    classes = ClassTerms(*(arrays[name] for name in OF_CLASSES), n_rows=values["n_rows"])
    index = classes.index(values["distance"], values["weighting"])
    more = classes.more(index, values["weighting"]) if values["features"] == "extended" else NO_MORE
    tree = values["tree"]
    if tree is not None:
        tree = TreeCandidates.restored(tree, arrays, classes.class_size)
        if tree.plt.n_features_in_ != max(1, classes.feature_of_column.size):
            raise ModelFormatError("its label tree has other features than the model: the file was damaged")
    function = LinearFunction(arrays["weights"], arrays["scale"], values["empirical_risk"])
    return classes, index, more, tree, function, arrays["sampled_size"], {name: values[name] for name in VALUES}


def _check_values(values):
    """Raise an error unless all values of a saved model are within their ranges."""
    for name in ("n_features", "n_labels", "n_rows"):
        check_count(values[name], name, most=INT32_MAX)
    for name in ("n_unlabelled", "n_pairs"):
        check_count(values[name], name, least=0)
    if values["distance"] not in DISTANCES or values["weighting"] not in WEIGHTINGS:
        raise ModelFormatError(f"no model has distances {values['distance']!r:.200} of {values['weighting']!r:.200}")
    if values["features"] not in FEATURE_SETS:
        raise ModelFormatError(f"no model has the features {values['features']!r:.200}")
    if not 0 <= float(values["empirical_risk"]) <= 1:
        raise ModelFormatError(f"no model has an empirical risk of {values['empirical_risk']}")


def _check_arrays(values, arrays):
    """Raise ModelFormatError unless all arrays of a saved model are there, have their types and fit together."""
    check_types(arrays, {name: (dtype, 1) for name, dtype in DTYPES.items()})
    check_columns(arrays["feature_of_column"], values["n_features"])
    check_postings(arrays, values)
    weights, scale, sampled = arrays["weights"], arrays["scale"], arrays["sampled_size"]
    n_weights = len(names_of_features(values["features"], values["tree"] is not None))
    if not (
        weights.size == scale.size == n_weights
        and bool(np.isfinite(weights).all() and np.isfinite(scale).all())
        and sampled.size == values["n_labels"]
        and bool((sampled >= 0).all() and not sampled[arrays["class_size"] == 0].any())
    ):
        raise ModelFormatError("its weights do not fit its features or classes: the file was damaged")
