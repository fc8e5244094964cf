"""The model that predicts: that of a kept result, or one that was opened from a file."""

from dataclasses import dataclass
from typing import Any

from pages.shared import format, selectors
from pages.shared.view import DIGITS, look
from pages.shared.workspaces import workspace
from pages.shared.workspaces.tab_view import FILES
from xmlcore import datasets, explain
from xmlcore.models import PackedModel
from xmlcore.models.rules import decision_of

CHOSEN = "predict.model"  # key of the select box, and in the workspace's "widgets" how the name of the choice begins


@dataclass(frozen=True)
class Predictor:
    """A model with all that the page needs to know of it."""

    key: str  # of the run, or of the task that opened the file
    title: str
    packed: PackedModel  # with names and, if it takes texts, its vectoriser
    data: datasets.Dataset | None  # the one in use, if the model was trained on it
    run: Any
    files: str  # how names of downloads begin

    @property
    def model(self):
        return self.packed.model

    @property
    def kind(self) -> str:
        """The kind of its scores: see :data:`pages.shared.rows.explaining.SCALE`."""
        return explain.kind_of(self.model)

    @property
    def decision(self) -> str:
        """What decides which labels it predicts, to go after "it predicts"."""
        return format.unbroken(decision_of(self.model))

    @property
    def of_files(self) -> str:
        """The kind of the task that predicts files."""
        return "predict_opened" if self.run is None else "predict"

    @property
    def inputs(self) -> dict:
        return {"packed": self.key} if self.run is None else {"run": self.key}

    def predicted_files(self) -> list[dict]:
        """Return the files it has predicted, newest first: ``key`` (of the predictions), ``name``, ``decision``."""
        return _files(workspace.get("widgets").get(self.list_of_files))

    @property
    def list_of_files(self) -> str:
        """Where the workspace's "widgets" list these files."""
        return f"{FILES}{self.key}"


def _files(kept) -> list[dict]:
    kept = kept if isinstance(kept, list) else []
    return [file for file in kept if isinstance(file, dict) and {"key", "name"} <= file.keys()]


def all_predicted_files() -> list[dict]:
    """Return the files that all models have predicted, as :meth:`Predictor.predicted_files`, with the key of each."""
    lists = {name: kept for name, kept in workspace.get("widgets").items() if name.startswith(FILES)}
    return [file | {"by": name.removeprefix(FILES)} for name, kept in lists.items() for file in _files(kept)]


def ask(fingerprint: str | None, file: dict, key: str) -> None:
    """Let the model of a key predict, and look at a file, given as the view has it."""
    take(fingerprint, key)
    shown = workspace.get("shown").get(fingerprint) or ""  # said here, as a view of another result has no file
    look(result=shown[:DIGITS], **file)


def take(fingerprint: str | None, key: str) -> None:
    def change(data):
        data["widgets"][name_of_choice(fingerprint)] = key
        if key in {record["key"] for record in data["runs"]}:
            data["shown"][fingerprint] = key

    selectors.stay_at_row(fingerprint)
    workspace.update(change)


def name_of_choice(fingerprint) -> str:
    return f"{CHOSEN} {fingerprint}"
