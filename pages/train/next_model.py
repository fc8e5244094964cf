"""The model to train next: what the user chose beside the result shown, or else the model of that result."""

from datetime import UTC, datetime

from pages.shared import fields
from pages.shared.results import results
from pages.shared.workspaces import workspace
from xmlcore import experiment

KEY = "train.model"  # key of the choice; in the workspace's "widgets": the model chosen last, on any data set


def choose(fingerprint: str, shown: dict | None) -> str:
    """Show the choice of the model, and return what is chosen; ``shown`` is the record of the result shown."""
    models = experiment.MODELS
    help = "  \n".join(f"**{name}**: {info.cls.ABOUT.title}" for name, info in models.items())
    options, value = dict(zip(models, models)), _chosen(fingerprint, shown)
    return fields.pick("Model to train", options, KEY, value, lambda model: take(fingerprint, shown, model), help=help)


def take(fingerprint: str, shown: dict | None, model: str) -> None:
    """Choose a model beside a result that is shown."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")  # as records of results say when they were made

    def change(data):
        data["widgets"][KEY] = model
        data["widgets"][_name(fingerprint)] = _kept(data["widgets"], fingerprint) | {_key(shown): [model, now]}

    workspace.update(change)


def _name(fingerprint):
    """Return where the workspace's "widgets" have the choices on a data set: result -> [model, time of the choice]."""
    return f"{KEY} {fingerprint}"


def _key(shown):
    return shown["key"] if shown else ""


def _kept(widgets, fingerprint):
    """Return the choices on a data set; none if they are damaged."""
    kept = widgets.get(_name(fingerprint))
    choices = kept.values() if isinstance(kept, dict) else [None]
    whole = all(isinstance(choice, list) and [*map(type, choice)] == [str, str] for choice in choices)
    return kept if whole else {}


def _chosen(fingerprint, shown):
    widgets = workspace.get("widgets")
    own = _kept(widgets, fingerprint)
    last, when = max(own.values(), key=lambda choice: choice[1], default=("", "none"))
    if _key(shown) in own:
        wanted = own[_key(shown)][0]
    elif shown is None or results.is_given(shown):
        wanted = widgets.get(KEY)
    else:  # a result that comes after a choice does not change it
        wanted = last if when < str(shown["created"]) else shown["model"]
    return wanted if wanted in experiment.MODELS else next(iter(experiment.MODELS))
