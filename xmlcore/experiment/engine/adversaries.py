"""The largest number of adversaries in double sampling, which limits trainings and their estimates."""

from typing import Any


def most_adversaries(params: dict[str, Any], n_classes: int) -> int:
    """Return the largest number of adversaries that an example can have."""
    among = n_classes
    if params.get("adversaries", "random") == "candidates":
        among = min(among, int(params["n_candidates"]))
    return max(1, among - 1)
