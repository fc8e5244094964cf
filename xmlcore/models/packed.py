"""Packed models: a model in one archive, with its vectoriser, names of labels and features, and a model card.

::

    manifest.json                           see :mod:`xmlcore.archives`; ``about`` is the card
    README.md                               the card for people, and how to load the model
    names.json                              names of labels and features, null where there are none, and aliases
    model/params.json, model/arrays.npz     the model, as its method save writes it
    vectorizer/settings.json, arrays.npz    the vectoriser of a model for texts

The classes are looked up in a fixed list.
"""

import io
import json
import os
import platform
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from xmlcore import __version__, archives
from xmlcore.arrays import are_blocks, columns_of_blocks, side_by_side
from xmlcore.artifact_keys import library_versions
from xmlcore.datasets.dataset import name_of
from xmlcore.datasets.texts import TextVectorizer
from xmlcore.label_names import KnownLabels
from xmlcore.models.base import MultiLabelModel
from xmlcore.models.rows import new_rows
from xmlcore.models.rules import among, decided_ranking, decision_of, innermost, rule_of
from xmlcore.models.saving import ARRAYS_FILE, PARAMS_FILE, ModelFormatError, ModelNotFoundError, read_folder
from xmlcore.models.text_classifier import TextClassifier
from xmlcore.ranking import Ranking, of_known
from xmlcore.system import atomic_write
from xmlcore.typing import FilePath, Matrix, SomeLabels, Source
from xmlcore.validation import check_features, check_is, check_names, difference_of_names, feature_names
from xmlcore.wording import COMMAND, hundredths, plain, significant

README, NAMES = "README.md", "names.json"
MODEL = (f"model/{PARAMS_FILE}", f"model/{ARRAYS_FILE}")
VECTORIZER = ("vectorizer/settings.json", "vectorizer/arrays.npz")
_MEMBERS = "|".join(map(re.escape, (README, NAMES, *MODEL, *VECTORIZER)))
USE = archives.Use("model", "packed model", _MEMBERS, ModelFormatError)
_LOAD = """```python
from xmlcore import load_model
model = load_model("model.zip")  # or what this file is called
{}
```

Or behind a URL: `COMMAND serve model.zip`
""".replace("COMMAND", COMMAND)
_ROWS = "model.predict_topk(X, k=5)  # rows with the features of the training data, in the same order"
_TEXTS = 'model.suggest(["A text to label"], k=5)'
_DECIDED = """
from xmlcore.decisions import rule_of
rule_of(model).probabilities({})  # calibrated P of the labels that predict returns; predict_proba is uncalibrated"""
# Sections with a table of names and values: their titles, and the parts of the card.
_SECTIONS = {
    "Parameters": "parameters",
    "Chosen by the model": "chosen",
    "Times": "times",
    "Size": "size",
    "Weights made small": "compact",
    "Versions": "versions",
}


@dataclass(frozen=True)
class PackedModel:
    """A fitted model with all that is needed to use it elsewhere.

    Parameters
    ----------
    model : fitted estimator
        Such as a fitted :class:`xmlcore.PLT`. From a fitted :class:`xmlcore.TextClassifier` its model, vectoriser and
        labels are taken.
    label_names : list of str, optional
        In the order of the ids in a Ranking; by default the names with which the model was fitted.
    feature_names : list of str, optional
        In the order of the columns; by default those of the vectoriser, or those with which the model was fitted.
    vectorizer : fitted TextVectorizer, optional
        Turns texts into rows; None for a model that takes rows only.
    card : dict, optional
        What people should know of the model, as JSON can hold it: see :func:`xmlcore.experiment.pack_run`. What any
        model tells of itself is added.
    aliases : dict of str to label, optional
        Further names of labels, beside those of a kept rule.

    Raises
    ------
    ValueError, TypeError
        The model cannot predict, or the number of names is wrong.
    """

    model: object
    label_names: list[str] | None = None
    feature_names: list[str] | None = None
    vectorizer: object | None = None
    card: dict = field(default_factory=dict)
    aliases: dict | None = None

    def __post_init__(self):
        model = self.model
        if hasattr(model, "vectorizer_"):
            self._set("vectorizer", model.vectorizer_)
            self._set("model", model := model.model_)
        if not hasattr(model, "predict_topk"):
            raise TypeError(f"a {type(model).__name__} does not predict labels: give a model such as PLT()")
        model._check_fitted()
        if self.label_names is None and hasattr(model, "label_names_"):
            self._set("label_names", [str(name) for name in model.label_names_])
        if self.is_text:
            if self.vectorizer.n_features_ != self.n_features:
                made = self.vectorizer.n_features_
                raise ValueError(f"the vectoriser makes {made:,} features, but the model has {self.n_features:,}")
            hashed = getattr(self.vectorizer, "hashing_bits", None) is not None  # features are numbers then
            self._set("feature_names", None if hashed else [*map(str, self.vectorizer.get_feature_names_out())])
        elif self.feature_names is None:
            self._set("feature_names", getattr(model, "feature_names_in_", None))
        for name, count in (("label_names", self.n_labels), ("feature_names", self.n_features)):
            if (names := getattr(self, name)) is not None:
                self._set(name, check_names(names, name, count))
        self._set("aliases", KnownLabels(self.n_labels, self.label_names).aliases(self.aliases or {}))
        if self.is_text and self.label_names is not None:
            self._set("model", model := self._named(model))
        facts = {"model": type(model).__name__, "features": self.n_features, "labels": self.n_labels}
        self._set("card", json.loads(archives.as_json(facts | _own_card(model) | dict(self.card or {}) | facts)))

    def _set(self, name, value):
        """Set an attribute, although the class is frozen."""
        object.__setattr__(self, name, value)

    def __repr__(self):
        rows = "texts" if self.is_text else f"rows of {self.n_features:,} features"
        return f"PackedModel({type(self.model).__name__} for {rows}, {self.n_labels:,} labels)"

    @property
    def is_text(self) -> bool:
        """Whether the model takes texts."""
        return self.vectorizer is not None

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return int(self.model.n_labels_)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.model.n_features_in_)

    @property
    def estimator(self) -> "MultiLabelModel | Any":
        """The model as an estimator: a TextClassifier if it takes texts, else :attr:`model`."""
        if not self.is_text:
            return self.model

        return TextClassifier.from_parts(self.model, self.vectorizer)

    def _named(self, model):
        """Return the model, or a copy of it that has the names of the labels, if it has others or none."""
        if [str(name) for name in getattr(model, "label_names_", None) or ()] == self.label_names:
            return model
        return TextClassifier.from_parts(model, self.vectorizer, self.label_names).model_

    def label_name(self, j: int) -> str:
        """Return the name of a label, or ``"label j"`` if there are no names."""
        return name_of(self.label_names, j, self.n_labels, "label")

    def feature_name(self, j: int) -> str:
        """Return the name of a feature, or ``"feature j"`` if there are no names."""
        return name_of(self.feature_names, j, self.n_features, "feature")

    def rows(self, rows_or_texts: Matrix | Sequence[str]) -> Matrix:
        """Return rows of features for the model: texts (a list of str) are vectorised, rows are returned as they are.

        A DataFrame has columns with the names of the features, in their order (ValueError otherwise). If the model was
        fitted without names, the rows are returned without them. A model that does not take texts raises TypeError. Of
        a model that was fitted to a list of matrices, these are scaled, also where they stand side by side in one.
        """
        if isinstance(rows_or_texts, (str, bytes)):
            raise TypeError("one text is given: give a list of texts")
        if not _are_texts(rows_or_texts):
            return self._without_names(rows_or_texts)
        if not self.is_text:
            raise TypeError(f"this model takes rows of {self.n_features:,} features, not texts: it has no vectoriser")
        return self.vectorizer.transform(rows_or_texts if are_blocks(rows_or_texts) else list(rows_or_texts))

    def _without_names(self, X):
        """Return X without the names of its columns, if only this class, and not its model, knows those names."""
        if (widths := getattr(self.model, "block_widths_", None)) is not None:
            X = new_rows(self.model, X)
            return side_by_side(columns_of_blocks(X, widths))
        names = feature_names(X)
        if names is None or self.feature_names is None or hasattr(self.model, "feature_names_in_"):
            return X  # the model looks at the names
        if list(names) != self.feature_names:
            raise ValueError(difference_of_names(self.feature_names, names))
        return check_features(X, self.n_features, model=type(self.model).__name__)

    def allowed(
        self, labels: SomeLabels | None = None, exclude: SomeLabels | None = None
    ) -> npt.NDArray[np.bool_] | None:
        """Return which labels may be predicted.

        Parameters
        ----------
        labels, exclude : list of labels, optional
            Those that may, by default all, and those that may not: ids, names, or aliases of a kept rule.

        Returns
        -------
        ndarray of bool, shape (L,), or None
            Of these labels, those that a kept rule allows; None: all labels.

        Raises
        ------
        ValueError
            There is no such label, or none is left.
        """
        rule = getattr(innermost(self.model), "rule_", None)
        known = KnownLabels(self.n_labels, self.label_names, self.aliases | ({} if rule is None else rule.aliases))
        return among(None if rule is None else rule.allowed, known, labels, exclude)

    def predict_topk(
        self, rows_or_texts: Matrix | Sequence[str], k: int = 5, *,
        labels: SomeLabels | None = None, exclude: SomeLabels | None = None,
    ) -> Ranking:  # fmt: skip
        """Return the k best labels of each row or text, but none of a text of which the model knows no word.

        Parameters
        ----------
        rows_or_texts : sparse or dense, shape (n, D), or list of str
            Texts only if :attr:`is_text`.
        k : int
        labels, exclude : list of labels, optional
            See :meth:`allowed`.

        Returns
        -------
        Ranking

        Raises
        ------
        ValueError, TypeError
            The rows do not fit the model.
        """
        rows = self.rows(rows_or_texts)
        allowed = self.allowed(labels, exclude)
        ranking = self.model.predict_topk(rows, k=k, **({} if allowed is None else {"labels": allowed}))
        return of_known(ranking, rows) if _are_texts(rows_or_texts) else ranking

    def decided(
        self, rows_or_texts: Matrix | Sequence[str], most: int | None = None, *,
        labels: SomeLabels | None = None, exclude: SomeLabels | None = None,
    ) -> Ranking:  # fmt: skip
        """Return the labels that the model's ``predict`` returns, best first: at most ``most`` for each row or text.

        ``labels`` and ``exclude`` are those of :meth:`allowed`.
        """
        rows = self.rows(rows_or_texts)
        ranking = decided_ranking(self.model, rows, most, allowed=self.allowed(labels, exclude))
        return of_known(ranking, rows) if _are_texts(rows_or_texts) else ranking

    def describe(self) -> str:
        """Return the card as Markdown, with the lines of code that load the model.

        Returns
        -------
        str
        """
        text = card_text(self.card, self.is_text, decision_of(self.model), rule_of(self.model) is not None)
        beside = self.is_text and self.vectorizer.widths_beside_
        return text.replace('["A text to label"]', '[["A text to label"], vectors]') if beside else text

    def save(self, path: FilePath) -> Path:
        """Write the packed model to one zip file.

        Parameters
        ----------
        path : str or path-like
            The file. It is written beside its place and moved there when it is complete; a file that is there already
            is replaced.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        IsADirectoryError
            ``path`` is a folder.
        OSError
            The file cannot be written.
        """
        target = Path(path).resolve()
        if target.is_dir():
            raise IsADirectoryError(f"{target} is a folder: name a file, such as {target.name}.zip")
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target) as file:
            self._write(file)
        return target

    def to_bytes(self) -> bytes:
        """Return the content of the file that :meth:`save` writes."""
        made = io.BytesIO()
        self._write(made)
        return made.getvalue()

    def _write(self, file):
        names = {"labels": self.label_names, "features": None if self.is_text else self.feature_names}
        names |= {"aliases": self.aliases} if self.aliases else {}
        with (
            archives.writing(file, USE, self.card) as archive,
            tempfile.TemporaryDirectory(prefix="xmlcore-tmp-") as folder,
        ):
            archive.text(README, self.describe())
            archive.json(NAMES, names)
            if self.is_text:
                settings, arrays = self.vectorizer.to_plain()
                archive.json(VECTORIZER[0], settings)
                archive.arrays(VECTORIZER[1], arrays)
            self.model.save(Path(folder) / "model")
            for name in MODEL:
                archive.file(name, Path(folder) / name)


def read_packed(source: Source, *, mmap: bool = False) -> PackedModel:
    """Read a packed model.

    Parameters
    ----------
    source : str, path-like, bytes or binary file object
        What :meth:`PackedModel.save` wrote, or a folder that the method ``save`` of a model wrote.
    mmap : bool
        See :func:`load_model`.

    Returns
    -------
    PackedModel
        Its predictions are exactly those of the model that was packed.

    Raises
    ------
    ModelFormatError
        The file is damaged, is something else, was made by a later version, or is too large for the memory of this
        machine; the message says what was found. If there is nothing at this path, it is a :class:`ModelNotFoundError`.
    """
    check_is(mmap, bool, "mmap", "True or False")
    name = "the file"
    if isinstance(source, (bytes, bytearray, memoryview)):
        source = io.BytesIO(source)
    elif not hasattr(source, "read"):
        source = Path(source)
        name = str(source)
        if source.is_dir():
            if (source / archives.MANIFEST).exists():
                raise ModelFormatError(f"{source} is an unpacked zip: give the zip file itself")
            return PackedModel(read_folder(source, mmap))
        if not source.exists():
            raise ModelNotFoundError(f"there is no file or folder {source}")
        if not source.is_file():  # reading a pipe would wait for whoever writes to it
            raise ModelFormatError(f"{source} is neither a file nor a folder: write the model to a file first")
    with archives.reading(source, USE, name) as archive:
        names = archive.json(NAMES)
        has_arrayizer = any(member in archive.members for member in VECTORIZER)
        parts = (archive.json(VECTORIZER[0]), archive.arrays(VECTORIZER[1])) if has_arrayizer else None
        folder = [archive.extract(member) for member in MODEL][0].parent
        try:
            model, vectorizer = read_folder(folder), TextVectorizer.from_plain(*parts) if parts else None
            if not isinstance(names, dict):
                raise ModelFormatError(f"{NAMES} has no names of labels and features")
            others = vectorizer, archive.about, names.get("aliases")
            return PackedModel(model, names.get("labels"), names.get("features"), *others)
        except MemoryError:
            raise
        except Exception as error:  # the parsers can raise nearly any exception on files of any form
            found = str(error).replace(f"{folder.parent}{os.sep}", "") or type(error).__name__
            raise ModelFormatError(f"{name} cannot be read: {found}") from error


def looks_packed(path: FilePath) -> bool:
    """Return whether a path is that of a packed or saved model, by the names of the files in it."""
    path = Path(path)
    if path.is_dir():
        return all((path / name).is_file() for name in (PARAMS_FILE, ARRAYS_FILE))
    return path.is_file() and archives.holds(path, USE)


def load_model(path: FilePath, *, mmap: bool = False) -> "MultiLabelModel | Any":  # or a TextClassifier
    """Read a model that :meth:`MultiLabelModel.save` or :meth:`PackedModel.save` wrote.

    Nothing in the files is executed: the class is looked up in a fixed list and arrays are read without pickle.

    Parameters
    ----------
    path : str or path-like
        The folder of a saved model, or the zip file of a packed model.
    mmap : bool
        Whether the arrays of a saved model stay in their file, which is mapped: all processes that load it share the
        memory of its arrays, but not of what is computed from them, such as the indexes of PLT and the vocabulary of a
        TextClassifier. Weights of a compact tree are not compared with their checksum then. The file must not be
        changed meanwhile; ``save`` replaces the folder, which does no harm, and Windows refuses it. A packed model is
        compressed, and its arrays are read all the same, as are those of a folder from before they were aligned.

    Returns
    -------
    MultiLabelModel or TextClassifier, or an estimator of :mod:`xmlcore.selection`
        A fitted model; its predictions are exactly those of the saved model. The card and the names that a packed
        model has are read by :func:`read_packed`.

    Raises
    ------
    ModelFormatError
        The files are damaged, the class is unknown, or the format is not this version's; the message says which. If the
        file or the folder does not exist, or a file is missing in it, it is a :class:`ModelNotFoundError`, which is a
        FileNotFoundError as well.
    """
    check_is(mmap, bool, "mmap", "True or False")
    return read_packed(path).estimator if Path(path).is_file() else read_folder(path, mmap)


def _are_texts(given) -> bool:
    """Return whether a list, an array or a Series holds texts; an empty list does not."""
    given = given[0] if are_blocks(given) else given
    kind = getattr(getattr(given, "dtype", None), "kind", None)
    if not isinstance(given, Sequence) and not (kind in ("O", "U") and getattr(given, "ndim", 0) == 1):
        return hasattr(given, "str") and getattr(given, "ndim", 0) == 1  # a Series of texts of a type of pandas
    return len(given) > 0 and isinstance(next(iter(given)), str)


def _own_card(model) -> dict:
    params = {name: written for name, value in model.get_params(deep=False).items()
              if (written := _card_value(value)) is not None or value is None}  # fmt: skip
    return {
        "parameters": params,
        "chosen": {
            name: _card_value(value)
            for name, value in getattr(model, "settings_", {}).items()
            if params.get(name) == "auto"
        },
        "versions": {"xmlcore": __version__, "Python": platform.python_version()}
        | library_versions()
        | {"scikit-learn": metadata.version("scikit-learn")},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _card_value(value):
    """Return a parameter as JSON can hold it; None if it cannot, such as a label tree, which is saved as arrays."""
    return plain(value, lambda leaf: leaf if isinstance(leaf, (str, bool, int, float)) else None)


def card_text(card: dict, is_text: bool, decision: str, has_rule: bool) -> str:
    takes = "texts" if is_text else f"rows of {_count(card.get('features'))} features"
    code = _TEXTS if is_text else _ROWS
    code += _DECIDED.format('["A text to label"]' if is_text else "X") if has_rule else ""
    lines = [f"# {_inline(card.get('name') or card.get('model') or 'Model')}", "",
             f"A model of the class {_inline(card.get('model'))}. It takes {takes} and ranks "
             f"{_count(card.get('labels'))} labels. `predict` returns {_inline(decision)}.",
             "", "## Load it", "", _LOAD.format(code)]  # fmt: skip
    known = {name: value for name, value in _dict(card.get("data")).items() if value not in ("", None)}
    lines += _section("Data", ("what", "value"), known.items())
    listed = card.get("measures")
    measures = _measures([line for line in listed if isinstance(line, dict)] if isinstance(listed, list) else [])
    lines += _section("Measures", *measures, "On the test rows, in %; in brackets 95 % intervals over test rows.")
    decided = _dict(card.get("decided")).items()
    values = [(name, value if name == "labels" else _percent(value)) for name, value in decided]
    note = "On the test rows: their number for a row, the rest in %."
    lines += _section("Labels that predict returns", ("measure", "value"), values, note)
    for title, part in _SECTIONS.items():
        lines += _section(title, ("name", "value"), _dict(card.get(part)).items())
    return "\n".join(lines + ([f"Made at {_inline(card['created'])}.", ""] if card.get("created") else []))


def _section(title, head, rows, note=None) -> list[str]:
    """Return the lines of a section with a table; none without rows."""
    return [f"## {title}", "", *([note, ""] if note else []), *_table(head, rows)] if rows else []


def _dict(value) -> dict:
    return value if isinstance(value, dict) else {}


def _measures(lines) -> tuple:
    """Return the head and the rows of a table: a row for each measure, and columns for 1, 3, 5 and the largest k."""
    found = {(str(line.get("measure")), line.get("k")): line for line in lines if isinstance(line.get("k"), int)}
    most = max((k for _, k in found), default=0)
    ks = sorted({1, 3, 5, most} & {k for _, k in found})
    names = dict.fromkeys(name for name, _ in found)
    rows = [(name.removesuffix("@k"), *(_measure(found.get((name, k), {})) for k in ks)) for name in names]
    return ("measure", *(f"at {k}" for k in ks)), rows


def _measure(line) -> str:
    """Return a value with its interval, as far as they are known."""
    known = all(isinstance(line.get(part), (int, float)) for part in ("low", "high"))
    return _percent(line.get("value")) + (
        f" ({hundredths(line['low'])} to {hundredths(line['high'])})" if known else ""
    )


def _percent(value) -> str:
    return hundredths(value if isinstance(value, (int, float)) else None, "not defined")


def _count(value) -> str:
    """Return a number with separators of thousands, anything else as text."""
    return f"{value:,}" if isinstance(value, int) else _inline(value)


def _table(head, rows) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(_inline(cell) for cell in row) + " |" for row in rows] + [""]


def _inline(value) -> str:
    """Return a value as one line of text in which nothing is markup."""
    if isinstance(value, bool) or value is None:
        value = {True: "yes", False: "no", None: "none"}[value]
    elif isinstance(value, int):
        value = f"{value:,}"
    elif isinstance(value, float):
        value = significant(value, 6)
    return re.sub(r"([\\`*_\[\]<>|$#])", r"\\\1", " ".join(str(value)[:1000].split()))
