"""Predictions for the rows of a file: by the model of a kept run, or by a model that was opened from a file."""

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore import store
from xmlcore.arrays import packed, unpacked
from xmlcore.datasets import facts_of_rows, in_use_or_saved, read_new_rows, unlike_test_rows
from xmlcore.datasets.errors import warnings_of_data
from xmlcore.datasets.readers.names import visible
from xmlcore.datasets.texts.reading import texts_with_ids
from xmlcore.experiment.engine import task_files
from xmlcore.experiment.engine.task import KINDS, MADE_BY, Task, load, register
from xmlcore.experiment.engine.times import Work
from xmlcore.experiment.kinds.decide import DECISION, LABELS, deciding, read_labels
from xmlcore.experiment.kinds.packed_files import opened_model
from xmlcore.experiment.kinds.train import kept_run_and_model
from xmlcore.first_use import pd
from xmlcore.models import PackedModel, rules
from xmlcore.parallel import row_blocks
from xmlcore.parameters import REQUIRED, Parameter
from xmlcore.progress import Progress, part_of, silent
from xmlcore.ranking import Ranking, of_known
from xmlcore.typing import DataFrame, Dataset, Ranker
from xmlcore.validation import check_dataset

ROWS, TEXTS, LINES = "rows", "texts", "lines"
OF_FILE = ("files", "of", "first_index", "text")  # parameters that say which file it is, and how it is read
BEGINNING = 200  # characters of each text that are kept with the predictions
GIVEN = "rows.npz"  # the file beside the predictions with the rows, or the whole texts
WORDS_ALONE = "The model was trained with vectors beside the texts; of these texts the words alone count."
CERTAINTIES = ("margin", "top score")


class Decided(NamedTuple):
    """Which labels a model predicts, of those that it ranks."""

    by: str  # see models.rules.decision_of
    ranked: np.ndarray  # bool (n, k): whether a label of the ranking is predicted
    # The labels that are predicted and not among the first k: row, rank (from 1), label, score; by row, best first. Of
    # a label that the model ranks too far down, the rank is 0 and the score nan. Also probability, as below, or nan.
    further: "DataFrame"
    unlike: str | None  # see models.rules.unlike_held_out
    # float (n, k): the probability of each label, nan where the model has none; None where their scores decide
    probability: Any = None


@dataclass(frozen=True)
class Predictions:
    """Labels predicted for the rows of a file."""

    ranking: Ranking  # the first k labels of each row
    missing: Any  # features of the model that the file has no column for
    unknown: list  # names of columns that are no features of the model
    notes: list  # how the file was read. They name the file as :data:`xmlcore.experiment.engine.task_files.NAME` does.
    decided: Decided
    beginnings: list | None = None  # the first characters of each text, if the file has texts
    unlike: Any = None  # see :func:`xmlcore.datasets.unlike_test_rows`; None if the test rows are not here
    ids: list | None = None  # the file's own names of the rows or texts, "" where it has none


def certainty(ranking: Ranking, by: str = "margin") -> "np.ndarray":
    """Return how certain a model is of the first label of each row."""
    if by not in CERTAINTIES:
        raise ValueError(f"by must be one of {CERTAINTIES}, not {by!r:.200}")
    scores = np.where(ranking.labels >= 0, ranking.scores, 0).astype(np.float64)
    first = scores[:, 0]
    return first - scores[:, 1] if by == "margin" and scores.shape[1] > 1 else first


def decided_of(
    model: Ranker, X: sp.csr_array, ranking: Ranking, progress: Progress = silent, allowed: np.ndarray | None = None
) -> Decided:
    """Return which labels a model predicts for rows of which it has ranked the first k, of the labels allowed."""
    ranked, rule, seen = np.zeros(ranking.labels.shape, bool), rules.innermost(model).rule_, rules.Watch()
    by = rules.decision_of(model, allowed)
    probability = np.full(ranked.shape, np.nan) if rules.cuts_another_number(model) else None
    further = [Ranking(ranking.labels[:0], ranking.scores[:0]).to_frame().assign(probability=np.nan)]
    for first, end in row_blocks(X.shape[0], rules.ROWS_AT_ONCE):
        progress("Deciding", first / X.shape[0])
        of_rows = (model, X[first:end], seen, allowed)
        found, every = (rules.decided_scores(*of_rows), None) if probability is None else rules.cut_scores(*of_rows)
        sets = found.astype(bool)
        places = _places(ranking.labels[first:end], sets.shape[1])
        both, others = places.multiply(sets).tocoo(), sets > places.astype(bool)
        ranked[first + both.row, both.data - 1] = True
        if probability is not None:
            all_of = places.tocoo()
            p = _at(every, all_of.row, all_of.col)
            probability[first + all_of.row, all_of.data - 1] = p if rule is None else np.where(p > 0, p, np.nan)
        rows = np.flatnonzero((np.diff(others.indptr) > 0) & (ranking.labels[first:end, 0] >= 0))  # and not of_known()
        if rows.size:
            depth = max(np.diff(sets.indptr).max(), 0 if rule is None else rule.n_candidates)
            deeper = model.predict_topk(X[first + rows], min(depth, sets.shape[1]), labels=allowed)
            row, label = others[rows].nonzero()
            rank = _at(_places(deeper.labels, sets.shape[1]), row, label)
            score = np.where(rank > 0, deeper.scores[row, rank - 1], np.float32(np.nan))
            rank[rank <= ranked.shape[1]] = 0  # a beam ranks more labels in another order
            line = {"row": first + rows[row], "rank": rank, "label": label, "score": score}
            line["probability"] = np.nan if probability is None else _at(found, rows[row], label)
            further.append(pd.DataFrame(line))
    best_first = {"by": ["row", "score"], "ascending": [True, False], "ignore_index": True}
    further = pd.concat(further).sort_values(**best_first)
    return Decided(by, ranked, further, rules.unlike_held_out(model, seen), probability)


def _at(values, row, column):
    return np.asarray(values[row, column]).ravel()


def _places(labels, n_labels) -> sp.csr_array:
    row, place = np.nonzero(labels >= 0)
    return sp.csr_array((place + 1, (row, labels[row, place])), shape=(len(labels), n_labels))


def _lines(ranking, decided) -> "DataFrame":
    """Return a line for each label of each row, also for labels that are predicted and not among the first ones."""
    frame = ranking.to_frame()
    if decided is None:
        return frame
    frame["predicted"] = decided.ranked[ranking.labels >= 0]
    if decided.probability is not None:
        frame["probability"] = decided.probability[ranking.labels >= 0]
    further = decided.further.assign(predicted=True)
    frame = pd.concat([frame, further[[name for name in frame if name in further]]])
    frame["rank"] = frame["rank"].astype("Int64").mask(frame["rank"] == 0)
    if "probability" in frame:
        frame["probability"] = frame["probability"].round(7)
    return frame.sort_values("row", kind="stable", ignore_index=True)


def frame_of(ranking: Ranking, label_name, names=None, decided: Decided | None = None, ids=None) -> "DataFrame":
    """Return a line for each label of each row: whether it is predicted, and by which ``probability``, if known."""
    frame = _lines(ranking, decided)
    shown = {j: label_name(j) for j in frame["label"].unique().tolist()}
    frame.insert(3, "label_name", np.array([shown[j] for j in frame["label"].tolist()], object))
    for column, of_rows in (("name", names), ("id", ids)):
        if of_rows is not None:
            frame.insert(1, column, np.array([of_rows[i] for i in frame["row"].tolist()], object))
    return frame


def json_lines(ranking: Ranking, label_name, names=None, decided: Decided | None = None, ids=None) -> Iterator[str]:
    """Yield a line of JSON for each row, such as ``{"row": 0, "labels": [{"label": 3, "name": "red", "score": 0.9}]}``.

    Labels also have ``"predicted"`` and, where it decides, ``"probability"``, if these are known.
    """
    frame = _lines(ranking, decided)
    ends = np.searchsorted(frame["row"], np.arange(ranking.labels.shape[0] + 1)).tolist()
    columns = [frame[name].tolist() for name in ("label", "score", "predicted", "probability") if name in frame]
    for i, (first, end) in enumerate(itertools.pairwise(ends)):
        listed = [
            {"label": j, "name": label_name(j), "score": None if math.isnan(score) else float(f"{score:.7g}")}
            | {name: value for name, value in zip(("predicted", "probability"), known) if value == value}
            for j, score, *known in zip(*(column[first:end] for column in columns))
        ]
        own = {name: of_rows[i] for name, of_rows in (("id", ids), ("name", names)) if of_rows is not None}
        yield json.dumps({"row": i, **own, "labels": listed}, ensure_ascii=False) + "\n"


def with_names(model: Ranker, dataset: "Dataset") -> PackedModel:
    """Return a model with the names and the vectoriser of the data set that it was trained on."""
    check_dataset(dataset)
    of_data = dataset.label_names, dataset.feature_names, dataset.vectorizer
    return PackedModel(model, *of_data, aliases=dataset.label_aliases)


class _OfFile(Task):
    result = Predictions
    doing = "Predicting a file with a model of {dataset}"
    can_be_made_again = False
    on_cluster = False  # the file is here

    PARAMETERS = (
        Parameter("files", "File", "See ``task_files.described``.", "files", REQUIRED, options=("rows",)),
        Parameter("k", "k", "Labels predicted for each row.", "int", 5, minimum=1),
        Parameter("of", "Kind", "What the file has.", "choice", ROWS, options=(ROWS, TEXTS, LINES)),
        Parameter("first_index", "First id", "Smallest id in XMLC or svmlight.", "int", 0, minimum=0, maximum=1),
        Parameter("text", "Column", "The column of texts. Empty: it is guessed.", "any", None, optional=True),
        Parameter(
            "again", "Again", "Key of predictions whose rows are taken. Empty: none.", "text", None, optional=True
        ),
        Parameter(
            "labels", "Labels allowed", f"{LABELS} Empty: all, or those of the decision.", "text", None, optional=True
        ),
    )

    def params_in_key(self):
        return {name: value for name, value in self.params.items() if name != "again"}

    @classmethod
    def view(cls, value):
        return super().view(value | ({"decided": Decided(**value["decided"])} if "decided" in value else {}))

    def work(self):
        n_bytes = self.params["files"]["rows"]["bytes"]
        return Work(self.kind, n_bytes, 6 * n_bytes, self.inputs)

    def model(self, progress) -> PackedModel:
        raise NotImplementedError

    def unlike(self, X, ranking, texts):
        """Return how the rows differ from the test rows of the model; None if these are not here."""
        return None

    def run(self, progress=silent, files=None):
        progress("Reading the model", 0.0)
        model = self.model(progress)
        if self.params["again"] is None:
            reader = self._rows if self.params["of"] == ROWS else self._texts
            with task_files.taken(self.key, ("rows",)) as paths:
                X, texts, kept, notes = reader(paths["rows"], model, progress)
        else:
            X, texts, kept, notes = self._again(model, progress)
        of_rows = part_of(progress, 0.0, 1.0, phase="Predicting")
        allowed = model.allowed(*read_labels(self.params["labels"], model.label_names or ()))
        ranking = model.model.predict_topk(X, self.params["k"], progress=of_rows, labels=allowed)
        ranking = ranking if texts is None else of_known(ranking, X)
        if files is not None:
            files[GIVEN] = lambda path: _write_given(path, X, texts)
        decided = decided_of(model.model, X, ranking, progress, allowed)
        kept |= {"notes": notes, "unlike": self.unlike(X, ranking, texts) if X.shape[0] else None}
        return {"ranking": ranking._asdict(), "decided": decided._asdict()} | kept

    def _again(self, model, progress):
        """Return the rows of a file that was read for earlier predictions, as the readers do."""
        before = store.info(self.folder, self.params["again"])["params"]
        if any(before.get(name, value) != value for name, value in self.params.items() if name in OF_FILE):
            raise ValueError(
                f"the predictions {self.params['again']} are of another file, or it was read in another way"
            )
        earlier, rows = load(self.kind, self.params["again"]), given_rows(self.kind, self.params["again"])
        texts = rows if isinstance(rows, list) else None
        X = rows if texts is None else self._features(texts, model, progress)
        kept = {name: getattr(earlier, name) for name in ("missing", "unknown", "beginnings", "ids")}
        return X, texts, kept, earlier.notes

    def _features(self, texts, model, progress):
        progress = part_of(progress, 0.0, 1.0, phase="Finding words")
        return model.vectorizer.transform(model.vectorizer.without_vectors(texts), progress)

    def _rows(self, path, model, progress):
        of_file = part_of(progress, 0.0, 1.0, phase="Reading the rows")
        of_file("", 0.0)
        options = {"first_index": self.params["first_index"], "max_bytes": task_files.MAX_TEXT, "progress": of_file}
        names = model.feature_names, model.label_names
        with warnings_of_data() as notes:
            rows = read_new_rows(path, model.n_features, *names, **options)
        kept = {"missing": rows.missing, "unknown": rows.unknown, "ids": rows.ids}
        return model.rows(rows.X), None, kept, rows.notes(model.feature_names) + notes

    def _texts(self, path, model, progress):
        if not model.is_text:
            raise ValueError("this model takes rows of features, not texts: it was trained on data without texts")
        of_file = part_of(progress, 0.0, 1.0, phase="Reading the texts")
        of_file("", 0.0)
        of_lines = self.params["of"] == LINES
        options = {"format": LINES if of_lines else "auto", "max_bytes": task_files.MAX_TEXT, "progress": of_file}
        with warnings_of_data() as notes:
            texts, ids = texts_with_ids(path, self.params["text"], **options)
        X = self._features(texts, model, progress)
        if without := int(np.sum(np.diff(X.indptr) == 0)):
            notes.append(f"The model knows no word of {without:,} of {len(texts):,} texts, so they get no labels.")
        notes[:0] = ["Read as one text per line."] if of_lines else []
        notes += [WORDS_ALONE] if model.vectorizer.widths_beside_ else []
        kept = {"beginnings": [visible(text[:BEGINNING]) for text in texts], "ids": ids}
        return X, texts, {"missing": np.empty(0, np.int64), "unknown": [], **kept}, notes


def given_rows(kind: str, key: str) -> "sp.csr_array | list[str]":
    store.info(KINDS[kind].folder, key)  # raises an error that says that it is gone
    with np.load(store.folder(KINDS[kind].folder, key) / GIVEN, allow_pickle=False) as arrays:
        if "texts" in arrays:
            return unpacked(arrays["texts"], arrays["ends"])
        return sp.csr_array(
            tuple(arrays[name] for name in ("data", "indices", "indptr")), shape=tuple(arrays["shape"].tolist())
        )


def _write_given(path, X, texts):
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    if texts is not None:
        arrays = dict(zip(("texts", "ends"), packed(texts)))
    with open(path, "wb") as file:
        np.savez(file, **arrays)


@register
class PredictFile(_OfFile):
    """Predict the labels of the rows or texts of a file with the model of a kept run. Inputs: ``run``."""

    kind, folder, needs, version = "predict", "predictions", ("run",), 5
    PARAMETERS = (*_OfFile.PARAMETERS, DECISION)

    def model(self, progress):
        run, model = kept_run_and_model(self.inputs["run"], progress)
        model = deciding(model, self.inputs["run"], self.params["decision"], progress)
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

    kind, folder, needs, version = "predict_opened", "opened-predictions", ("packed",), 5

    def dataset_name(self):
        try:
            return store.info(KINDS[MADE_BY["packed"]].folder, self.inputs["packed"])["summary"]["name"]
        except (store.StoreError, KeyError, TypeError):
            return "a file"

    def model(self, progress):
        return opened_model(self.inputs["packed"])
