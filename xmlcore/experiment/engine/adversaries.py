"""The largest number of adversaries in double sampling, which limits trainings and their estimates."""

from typing import Any


def most_adversaries(params: dict[str, Any], n_classes: int) -> int:
    """Return the largest number of adversaries that an example can have.

    A larger ``n_adversarial`` gives the same training as this number.

    Parameters
    ----------
    params : dict
        Parameters of a run of DoubleSampling.
    n_classes : int
        Classes with training rows.

    Returns
    -------
    int
        All other classes, or all other candidates with ``adversaries="candidates"``; at least 1.
    """
    among = n_classes
    if params.get("adversaries", "random") == "candidates":
        among = min(among, int(params["n_candidates"]))
    return max(1, among - 1)
