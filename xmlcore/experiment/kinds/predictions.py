"""Predictions for the rows of a file: by the model of a kept run, or by a model that was opened from a file."""

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore import store
from xmlcore.datasets import (
    DatasetFormatError,
    DatasetWarning,
    facts_of_rows,
    guess_columns,
    in_use_or_saved,
    read_new_rows,
    read_texts,
    unlike_test_rows,
)
from xmlcore.datasets.readers.visible import visible
from xmlcore.datasets.texts.packed import packed, unpacked
from xmlcore.experiment.engine import given
from xmlcore.experiment.engine.inputs import kept_run_and_model
from xmlcore.experiment.engine.task import KINDS, MADE_BY, Estimate, Task, load, register
from xmlcore.experiment.kinds.packed_files import opened_model
from xmlcore.models import PackedModel
from xmlcore.models.rules import unlike_held_out
from xmlcore.parameters import REQUIRED, Parameter
from xmlcore.progress import part_of, silent
from xmlcore.ranking import Ranking
from xmlcore.typing import DataFrame, Dataset, Ranker

START, READ_BYTE = 0.5, 1e-7  # seconds to begin, and to read a byte of a file
VALUE_BYTES = 12  # bytes of a feature and its value in a file of text
ROWS, TEXTS = "rows", "texts"
BEGINNING = 200  # characters of each text that are kept with the predictions
GIVEN = "rows.npz"  # the file beside the predictions with the rows, or the whole texts
CERTAINTIES = ("margin", "top score")


@dataclass(frozen=True)
class Predictions:
    """Labels predicted for the rows of a file."""

    ranking: Ranking  # the first k labels of each row
    missing: Any  # features of the model that the file has no column for
    unknown: list  # names of columns that are no features of the model
    notes: list  # how the file was read. They name the file as :data:`xmlcore.experiment.engine.given.NAME` does.
    beginnings: list | None = None  # the first characters of each text, if the file has texts
    unlike: Any = None  # see :func:`xmlcore.datasets.unlike_test_rows`; None if the test rows are not here


def certainty(ranking: Ranking, by: str = "margin") -> "np.ndarray":
    """Return how certain a model is of the first label of each row."""
    if by not in CERTAINTIES:
        raise ValueError(f"by must be one of {CERTAINTIES}, not {by!r:.200}")
    scores = np.where(ranking.labels >= 0, ranking.scores, 0).astype(np.float64)
    first = scores[:, 0]
    return first - scores[:, 1] if by == "margin" and scores.shape[1] > 1 else first


def frame_of(ranking: Ranking, label_name, names: list[str] | None = None) -> "DataFrame":
    """Return predictions as a table with a line for each label of each row."""
    shown = {int(j): label_name(int(j)) for j in np.unique(ranking.labels) if j >= 0}
    most = max(shown, default=-1) + 1
    return ranking.to_frame([shown.get(j, "") for j in range(most)], names)


def json_lines(ranking: Ranking, label_name, names: list[str] | None = None) -> Iterator[str]:
    """Yield a line of JSON for each row: ``{"row": 0, "labels": [{"label": 3, "name": "red", "score": 0.9}]}``."""
    for i, (labels, scores) in enumerate(zip(ranking.labels.tolist(), ranking.scores.tolist())):
        listed = [
            {"label": j, "name": label_name(j), "score": float(f"{score:.7g}")}
            for j, score in zip(labels, scores)
            if j >= 0
        ]
        row = {"row": i} | ({} if names is None else {"name": names[i]}) | {"labels": listed}
        yield json.dumps(row, ensure_ascii=False) + "\n"


def with_names(model: Ranker, dataset: "Dataset") -> PackedModel:
    """Return a model with the names and the vectoriser of the data set that it was trained on."""
    return PackedModel(model, dataset.label_names, dataset.feature_names, dataset.vectorizer)


class _OfFile(Task):
    """Predictions for the rows or the texts of a file."""

    result = Predictions
    doing = "Predicting a file with a model of {dataset}"
    can_be_made_again = False
    on_cluster = False  # the file is here

    PARAMETERS = (
        Parameter("files", "File", "See ``given.described``.", "files", REQUIRED, options=("rows",)),
        Parameter("k", "k", "Labels predicted for each row.", "int", 5, minimum=1),
        Parameter("of", "Kind", "What the file has.", "choice", ROWS, options=(ROWS, TEXTS)),
        Parameter("first_index", "First id", "Smallest id in XMLC or svmlight.", "int", 0, minimum=0, maximum=1),
        Parameter("text", "Column", "The column of texts. Empty: it is guessed.", "any", None, optional=True),
    )

    def estimate(self) -> Estimate:
        n_bytes = self.params["files"]["rows"]["bytes"]
        return Estimate(START + n_bytes * (READ_BYTE + self.seconds_per_byte()), 6 * n_bytes)

    def seconds_per_byte(self) -> float:
        """Return how long the prediction takes for each byte of the file."""
        return READ_BYTE

    def model(self, progress) -> PackedModel:
        raise NotImplementedError

    def unlike(self, X, ranking, texts):
        """Return in what the rows are unlike the test rows of the model; None if these are not here."""
        return None

    def run(self, progress=silent, files=None):
        progress("Reading the model", 0.0)
        model = self.model(progress)
        reader = self._texts if self.params["of"] == TEXTS else self._rows
        with given.taken(self.key, ("rows",)) as paths:
            X, texts, kept, notes = reader(paths["rows"], model, progress)
        of_rows = part_of(progress, 0.0, 1.0, phase="Predicting")
        ranking = model.model.predict_topk(X, self.params["k"], progress=of_rows)
        if files is not None:
            files[GIVEN] = lambda path: _write_given(path, X, texts)
        if (others := unlike_held_out(model.model, X)) is not None:
            notes = [*notes, others]
        kept |= {"notes": notes, "unlike": self.unlike(X, ranking, texts) if X.shape[0] else None}
        return {"ranking": {"labels": ranking.labels, "scores": ranking.scores}} | kept

    def _rows(self, path, model, progress):
        of_file = part_of(progress, 0.0, 1.0, phase="Reading the rows")
        of_file("", 0.0)
        options = {"first_index": self.params["first_index"], "max_bytes": given.MAX_TEXT, "progress": of_file}
        names = model.feature_names, model.label_names
        rows, notes = _with_notes(lambda: read_new_rows(path, model.n_features, *names, **options))
        kept = {"missing": rows.missing, "unknown": rows.unknown}
        return rows.X, None, kept, rows.notes(model.feature_names) + notes

    def _texts(self, path, model, progress):
        """Return the texts of the file as rows, the texts, what is kept of them, and notes on how they were read."""
        if not model.is_text:
            raise ValueError("this model takes rows of features, not texts: it was trained on data without texts")
        of_file = part_of(progress, 0.0, 1.0, phase="Reading the texts")
        of_file("", 0.0)
        column = self.params["text"]
        if column is None:
            guess = guess_columns(path)
            column = guess.text
            if column is None:
                reason = f"none of its columns seems to have texts: {', '.join(guess.columns[:10])}"
                raise DatasetFormatError(path.name, reason, "Say which column has the texts.")
        options = {"labels": None, "max_bytes": given.MAX_TEXT, "progress": of_file}
        (texts, _), notes = _with_notes(lambda: read_texts(path, column, **options))
        X = model.vectorizer.transform(texts, progress=part_of(progress, 0.0, 1.0, phase="Finding words"))
        if (unknown := int(np.count_nonzero(np.diff(X.indptr) == 0))) > 0:
            have = "text has no word" if unknown == 1 else "texts have no word"
            notes.append(f"{unknown:,} {have} that the model knows.")
        beginnings = [visible(text[:BEGINNING]) for text in texts]
        return X, texts, {"missing": np.empty(0, np.int64), "unknown": [], "beginnings": beginnings}, notes


def given_rows(kind: str, key: str) -> "sp.csr_array | list[str]":
    store.info(KINDS[kind].folder, key)  # raises an error that says that it is gone
    with np.load(store.folder(KINDS[kind].folder, key) / GIVEN, allow_pickle=False) as arrays:
        if "texts" in arrays:
            return unpacked(arrays["texts"], arrays["ends"])
        return sp.csr_array(
            tuple(arrays[name] for name in ("data", "indices", "indptr")), shape=tuple(arrays["shape"].tolist())
        )


def _write_given(path, X, texts):
    """Write the rows that were predicted, or their texts if there are texts, to a file."""
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    if texts is not None:
        arrays = dict(zip(("texts", "ends"), packed(texts)))
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def _with_notes(read):
    """Return what ``read()`` returns, and the warnings about the data that it gave."""
    with warnings.catch_warnings(record=True, action="always", category=DatasetWarning) as caught:
        result = read()
    return result, [str(warning.message) for warning in caught if issubclass(warning.category, DatasetWarning)]


@register
class PredictFile(_OfFile):
    """Predict the labels of the rows or texts of a file with the model of a kept run. Inputs: ``run``."""

    kind, folder, needs = "predict", "predictions", ("run",)

    def seconds_per_byte(self):
        run = load("train", self.inputs["run"])
        data = in_use_or_saved(run.fingerprint)
        row_bytes = 1 + VALUE_BYTES * data.X_test.nnz / data.n_test
        return run.times["predict_ms_per_row"] / 1000 / row_bytes

    def model(self, progress):
        run, model = kept_run_and_model(self.inputs["run"], progress)
        return with_names(model, in_use_or_saved(run.fingerprint))

    def unlike(self, X, ranking, texts):
        run = load("train", self.inputs["run"])
        data = in_use_or_saved(run.fingerprint)
        if not data.n_test:
            return None
        texts = texts if data.texts_test is not None else None  # else test rows have features only
        test = facts_of_rows(data, data.X_test, run.ranking, None if texts is None else data.texts_test)
        return unlike_test_rows(facts_of_rows(data, X, ranking, texts), test)


@register
class PredictFileOpened(_OfFile):
    """Predict the labels of the rows of a file with a model that was opened from a file."""

    kind, folder, needs = "predict_opened", "opened-predictions", ("packed",)

    def dataset_name(self):
        try:
            return store.info(KINDS[MADE_BY["packed"]].folder, self.inputs["packed"])["summary"]["name"]
        except (store.StoreError, KeyError, TypeError):
            return "a file"

    def model(self, progress):
        return opened_model(self.inputs["packed"])
