"""Short names that tell runs apart, and colours of runs. A run is given as its record in the workspace."""

from collections import Counter

from pages.shared import settings
from xmlcore.experiment.twins import trained_with_noise


def style_model(record: dict) -> str:
    """Return the name under which a run has its colour: a PLT trained with noise is the paper's ExtendedPLT."""
    return "ExtendedPLT" if record["model"] == "PLT" and trained_with_noise(record) else record["model"]


def names(records: list[dict]) -> dict[str, str]:
    """Return a name for each run, by key: the user's, or the shortest by which it differs from all other runs."""
    namings = [
        lambda r: r["model"] + (" trained with noise" if trained_with_noise(r) else ""),
        lambda r: r["model"] + (f" trained with noise σ = {_sigma(r)}" if trained_with_noise(r) else ""),
        lambda r: f"{namings[1](r)} ({_other_settings(r) or 'default settings'})",
    ]
    by_key = {}
    for r in records:
        others = [o for o in records if o["key"] != r["key"]]
        naming = next((f for f in namings if all(f(o) != f(r) for o in others)), namings[-1])
        by_key[r["key"]] = r.get("name") or naming(r)
    often = Counter(by_key.values())  # users may give a name twice, or one that another result has anyway
    return {key: name if often[name] == 1 else f"{name} ({key[:4]})" for key, name in by_key.items()}


def _sigma(record):
    """Return the standard deviation of the noise in training, as text."""
    return f"{record['params']['noise_sigma']:g}"


def _other_settings(record):
    """Return the settings that differ from the defaults, without the noise."""
    return settings.changed(record["model"], {**record["params"], "noise_sigma": 0.0})
