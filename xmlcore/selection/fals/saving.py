"""Conversion of a fitted FALS to values and arrays that can be saved, and back, with checks."""

import numbers

import numpy as np

from xmlcore.models.saving import ModelFormatError, check_types
from xmlcore.selection.fals.network import Network
from xmlcore.selection.fals.orders import ORDERS
from xmlcore.selection.fals.parameters import ACTIVATIONS, SCORING
from xmlcore.selection.fals.selecting import are_features, is_finite
from xmlcore.validation import check_count

# Fitted attributes that are saved as JSON.
VALUES = (
    "n_selected_",
    "order_",
    "scoring_",
    "n_scored_",
    "costs_",
    "layer_sizes_",
    "binary_",
    "shared_",
    "seed_",
    "n_features_in_",
    "n_labels_",
    "n_rows_",
)


def state(model) -> tuple[dict, dict[str, np.ndarray]]:
    """Return the fitted state of a FALS: values for JSON, and arrays."""
    values = {name.rstrip("_"): getattr(model, name) for name in VALUES}
    arrays = {
        "selected": model.selected_[:1] if model.shared_ else model.selected_,
        "selected_scores": model.selected_scores_[:1] if model.shared_ else model.selected_scores_,
    }
    for name in ("scores_", "standard_error_"):
        if name in model.__dict__:
            arrays[name.rstrip("_")] = getattr(model, name)
    if model.network_ is not None:
        values["activation"] = model.network_.activation
        for i, (weight, bias) in enumerate(zip(model.network_.weights, model.network_.biases)):
            arrays |= {f"weight_{i}": weight, f"bias_{i}": bias}
    return values, arrays


def restored(values: dict, arrays: dict[str, np.ndarray]) -> dict:
    """Check a state that :func:`state` returned and that was saved; return the fitted attributes by name."""
    _check_values(values)
    L, k = values["n_labels"], values["n_selected"]
    layers = range(len(values["layer_sizes"]) - 1) if "activation" in values else range(0)
    _check_arrays(values, arrays, layers)
    network = None
    if "activation" in values:
        weights = tuple(arrays[f"weight_{i}"] for i in layers)
        network = Network(weights, tuple(arrays[f"bias_{i}"] for i in layers), values["activation"])
    fitted = {f"{name}_": value for name, value in values.items() if name != "activation"}
    fitted["network_"] = network
    for name in ("scores", "standard_error"):
        if name in arrays:
            fitted[f"{name}_"] = arrays[name]
    for name in ("selected", "selected_scores"):
        fitted[f"{name}_"] = np.broadcast_to(arrays[name], (L, k)) if values["shared"] or L == 1 else arrays[name]
    return fitted


def _check_values(values):
    least = dict.fromkeys(("n_labels", "n_features_in", "n_selected", "n_rows", "n_scored"), 1) | {"seed": 0}
    for name, count in least.items():
        check_count(values[name], name, count)
    costs, sizes, n_features = (values[name] for name in ("costs", "layer_sizes", "n_features_in"))
    ends = [n_features, 1 if values["binary"] else values["n_labels"]]
    is_right = {
        "binary": isinstance(values["binary"], bool),
        "shared": isinstance(values["shared"], bool),
        "scoring": values["scoring"] in SCORING[1:],
        "order": values["order"] in ORDERS,
        "activation": "activation" not in values or values["activation"] in ACTIVATIONS,
        "costs": isinstance(costs, dict) and all(isinstance(cost, numbers.Real) for cost in costs.values()),
        "layer_sizes": isinstance(sizes, list)
        and 2 <= len(sizes) <= 6
        and all(isinstance(size, int) and size > 0 for size in sizes)
        and [sizes[0], sizes[-1]] == ends,
        "n_selected": values["n_selected"] <= n_features,
    }
    for name, holds in is_right.items():
        if not holds:
            raise ModelFormatError(f"{name} is {values[name]!r:.200}, which a selection by FALS cannot have")


def _check_arrays(values, arrays, layers):
    L, D, k = values["n_labels"], values["n_features_in"], values["n_selected"]
    rows = 1 if values["shared"] else L
    types = {"selected": ("int32", (rows, k)), "selected_scores": ("float32", (rows, k))}
    types |= {name: ("float32", (rows, D)) for name in ("scores", "standard_error") if name in arrays}
    if ("activation" in values) != ("weight_0" in arrays):
        raise ModelFormatError("of its network, either the weights or the activation is missing")
    sizes, networks = values["layer_sizes"], (L,) if values["binary"] else ()
    for i in layers:
        types[f"weight_{i}"] = ("float32", (*networks, sizes[i], sizes[i + 1]))
        last_of_binary = values["binary"] and i == len(sizes) - 2
        types[f"bias_{i}"] = ("float32", (L,) if last_of_binary else (*networks, sizes[i + 1]))
    check_types(arrays, types)
    for name, (dtype, _) in types.items():
        if dtype == "float32" and not is_finite(arrays[name]):
            raise ModelFormatError(f"{name} in its arrays has values that are not finite")
    if not are_features(arrays["selected"], D):
        raise ModelFormatError("the selected features in its arrays are no features, or one is there twice")
