"""The tasks that repeat a claim of a paper, see :mod:`xmlcore.papers`, on a data set."""

from xmlcore.experiment.catalog import MODELS
from xmlcore.experiment.engine.task import Task, task
from xmlcore.papers import Repeat

TRAIN = "train"


def trainings(repeat: Repeat, fingerprint: str, k: int = 5) -> dict[str, Task]:
    """Return the trainings that a claim is measured on, by title."""
    return {
        title: task(
            TRAIN,
            {"dataset": fingerprint},
            {"model": model, "params": MODELS[model].cls.presets().get(preset, {}) | settings, "k": k},
        )
        for title, model, preset, settings in repeat.models
    }


def repetitions(repeat: Repeat, fingerprint: str, k: int = 5) -> dict[str, Task]:
    """Return the tasks that repeat a claim, by title; of models, those that are trained already."""
    trained = trainings(repeat, fingerprint, k)
    if repeat.kind == TRAIN:
        return trained
    if not trained:
        return {"": task(repeat.kind, {"dataset": fingerprint}, repeat.params)}
    return {title: task(repeat.kind, {"run": one.key}, repeat.params) for title, one in trained.items() if one.exists()}
