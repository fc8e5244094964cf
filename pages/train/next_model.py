"""The model to train next: what the user chose beside the result shown, or else the model of that result."""

from datetime import UTC, datetime

from pages.shared import fields
from pages.shared.results import results
from pages.shared.workspaces import workspace
from xmlcore import experiment

KEY = "train.model"  # in the workspace's "widgets": the model chosen last, data set and result it was beside, and when


def choose(fingerprint: str, shown: dict | None) -> str:
    """Show the choice of the model, and return what is chosen; ``shown`` is the record of the result shown."""
    models = experiment.MODELS
    help = "  \n".join(f"**{name}**: {info.cls.ABOUT.title}" for name, info in models.items())
    options, value = dict(zip(models, models)), _chosen(fingerprint, shown)
    return fields.pick("Model to train", options, KEY, value, lambda model: take(fingerprint, shown, model), help=help)


def take(fingerprint: str, shown: dict | None, model: str) -> None:
    """Choose a model beside a result that is shown."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")  # as records of results say when they were made
    workspace.remember(KEY, [model, fingerprint, shown["key"] if shown else "", now])


def _chosen(fingerprint, shown):
    kept = workspace.get("widgets").get(KEY)
    is_whole = isinstance(kept, list) and [*map(type, kept)] == 4 * [str]
    model, data, beside, when = kept if is_whole else 4 * [""]
    if shown is not None and not results.is_given(shown):
        # A result that comes after a choice does not change it.
        if data != fingerprint or beside != shown["key"] and when >= str(shown["created"]):
            model = shown["model"]
    return model if model in experiment.MODELS else next(iter(experiment.MODELS))
